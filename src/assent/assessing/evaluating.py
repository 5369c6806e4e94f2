"""What decisions are worth: made on one half of the benchmark, and measured."""

from collections.abc import Sequence

from assent.assessing.scored import Scored, heard, scored, unheard
from assent.core.scores import Collector, QueriesDone, collect
from assent.core.thresholds import Thresholds
from assent.deciding.rules import Decider
from assent.deciding.shortlisting import Above
from assent.judging.hearing import Hearing
from assent.judging.judge import Judge
from assent.judging.spreads import Spreads
from assent.measuring.evaluation import Evaluation, measures_of
from assent.measuring.measure import Decided


def evaluate(
    run: Scored,
    decider: Decider | Judge,
    split: str = "test",
    progress: QueriesDone = unheard,
    others: Sequence[Scored] = (),
    also: Sequence[Collector] = (),
) -> Evaluation:
    """Decides on one half of the benchmark, and measures the decisions and the ranking.

    `others` are the runs that a judge heard when it was trained; `also` look on in the same pass.
    """
    benchmark, queries = run.benchmark, run.benchmark.queries(split)
    above = Above(queries, decider.thresholds)
    measures = measures_of(benchmark, split)
    collectors: list[Collector] = [above, *measures.values(), *also]
    if isinstance(decider, Judge):
        hearing = Hearing(decider, benchmark, heard([run, *others]))
        collectors.append(spreads := Spreads(queries))
    if (probabilities := decider.probabilities) is not None:
        collectors.append(probable := Above(queries, Thresholds.of(probabilities.floors)))
    collect(scored(run, split, progress), *collectors)
    shortlist = above.result()
    if isinstance(decider, Judge):
        accepted = decider.accept(hearing.judged(shortlist, spreads))
    else:
        accepted = decider.accept(shortlist)
    decided = Decided(
        split,
        decider.rule,
        benchmark.vocabulary,
        shortlist,
        accepted,
        probabilities,
        None if probabilities is None else probable.result(),
    )
    return Evaluation.of(decided, measures)
