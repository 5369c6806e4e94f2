"""evaluate: decisions on one split of the benchmark, measured."""

from collections.abc import Sequence

from assent.core.decider import Decider
from assent.core.scores import Collector, QueriesDone, collect, unheard
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import Above
from assent.measuring.abstaining import Tops, abstaining
from assent.measuring.calibration import Reliability, recalibrated
from assent.measuring.evaluation import Evaluation
from assent.measuring.ranking import Standings
from assent.scoring import Scored, score_split


def evaluate(
    run: Scored,
    decider: Decider,
    split: str = "test",
    progress: QueriesDone = unheard,
    also: Sequence[Collector] = (),
) -> Evaluation:
    """Decides about the queries of one split, and measures the decisions and the ranking.

    `also` are collectors that look on in the same pass over the scores.
    """
    benchmark, queries = run.benchmark, run.benchmark.queries(split)
    above = Above(queries, decider.floors, decider.needs_spread)
    standings = Standings(queries, benchmark.truth(), benchmark.vocabulary.num_entities)
    tops, reliability = Tops(queries), Reliability(benchmark.vocabulary.num_slots)
    collectors: list[Collector] = [above, standings, tops, reliability, *also]
    if (probabilities := decider.probabilities) is not None:
        collectors.append(probable := Above(queries, Thresholds.of(probabilities.floors)))
    collect(score_split(run, split, progress), *collectors)
    shortlist, raw = above.result(), reliability.result()
    accepted = decider.accept(shortlist)
    return Evaluation(
        split,
        decider.rule,
        benchmark.vocabulary,
        shortlist,
        accepted,
        standings.ranks(),
        standings.filtered(),
        abstaining(tops, tops.accepted(shortlist, accepted)),
        raw,
        probabilities,
        None if probabilities is None else recalibrated(raw, probable.result(), probabilities),
    )
