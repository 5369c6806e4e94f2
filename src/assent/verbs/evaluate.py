"""evaluate: decisions on one split of the benchmark, measured."""

from collections.abc import Sequence

from assent.core.decider import Decider
from assent.core.scores import Collector, QueriesDone, collect
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import Above
from assent.measuring.evaluation import Evaluation, measures_of
from assent.measuring.measure import Decided
from assent.reporting.progress import minutes_of_queries
from assent.reporting.showing import shown
from assent.scoring import Scored, score_split


def evaluate(
    run: Scored,
    decider: Decider,
    split: str = "test",
    progress: QueriesDone | bool = True,
    also: Sequence[Collector] = (),
) -> Evaluation:
    """Decides about the queries of one split, and measures the decisions and the ranking.

    `also` are collectors that look on in the same pass over the scores.
    """
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
        split,
        decider.rule,
        benchmark.vocabulary,
        shortlist,
        decider.accept(shortlist),
        probabilities,
        None if probabilities is None else probable.result(),
    )
    return Evaluation.of(decided, measures)
