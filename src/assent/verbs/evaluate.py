"""evaluate: decisions on one split of the benchmark, or about removed entities, measured."""

from collections.abc import Sequence

from assent.building.about_removed import REMOVED, about_removed
from assent.core.benchmark import SPLITS
from assent.core.checking import refuse_unknown
from assent.core.decider import Decider
from assent.core.queries import SETS, Sets, sets_about_new
from assent.core.scores import Collector, QueriesDone, collect
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import Above
from assent.errors import ConfigError
from assent.measuring.evaluation import Evaluation, measures_of
from assent.measuring.measure import Decided
from assent.reporting.progress import minutes_of_queries
from assent.reporting.showing import shown
from assent.scoring import Scored, score_split
from assent.verbs.removed import widened
from assent.verbs.tune import Asked


def evaluate(
    run: Scored,
    decider: Decider,
    split: str = "test",
    progress: QueriesDone | bool = True,
    also: Sequence[Collector] = (),
) -> Evaluation:
    """Decides about the queries of one split, and measures the decisions and the ranking.

    The split "removed" are queries about the entities that building removed, by a model that knows
    them by their texts; thresholds are those found among known entities.

    `also` are collectors that look on in the same pass over the scores.
    """
    refuse_unknown(split, (*SPLITS, REMOVED), "split")
    if split == REMOVED:
        first_new = run.benchmark.vocabulary.num_entities
        asked = _about_removed(run, decider)
        return _measured(asked, decider, "test", REMOVED, sets_about_new(first_new), progress, also)
    return _measured(run, decider, split, split, SETS, progress, also)


def _about_removed(run: Scored, decider: Decider) -> Asked:
    """The queries about removed entities, and a model that knows these."""
    benchmark = about_removed(run.benchmark)
    if decider.needs_spread:
        raise ConfigError(
            "a judge decides only about entities that its models were trained on; use thresholds: "
            "`assent tune RUN --rule per-relation --out thresholds.json`, then `--decider "
            "thresholds.json`"
        )
    return Asked(benchmark, widened(run))


def _measured(
    run: Scored,
    decider: Decider,
    split: str,
    name: str,
    sets: Sets,
    progress: QueriesDone | bool,
    also: Sequence[Collector],
) -> Evaluation:
    """The measures of one split, which results name as this, and tell for these sets."""
    benchmark, queries = run.benchmark, run.benchmark.queries(split)
    above = Above(queries, decider.floors, decider.needs_spread)
    measures = measures_of(benchmark, split)
    collectors: list[Collector] = [above, *measures.values(), *also]
    if (probabilities := decider.probabilities) is not None:
        collectors.append(probable := Above(queries, Thresholds.of(probabilities.floors)))
    with shown(progress, minutes_of_queries) as told:
        collect(score_split(run, split, told), *collectors)
    shortlist = above.result()
    decided = Decided(
        name,
        decider.rule,
        benchmark.vocabulary,
        shortlist,
        decider.accept(shortlist),
        probabilities,
        None if probabilities is None else probable.result(),
        sets,
    )
    return Evaluation.of(decided, measures)
