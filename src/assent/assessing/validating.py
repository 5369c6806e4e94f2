"""Numbers on valid by which training stops, and what popularity alone reaches."""

from collections.abc import Callable

from assent.adapters.popularity import Popularity
from assent.core.benchmark import Benchmark
from assent.core.counts import f1
from assent.core.scores import collect
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.models import Model
from assent.scoring import Scorer, score
from assent.training.losses import dev_loss


def popularity(benchmark: Benchmark, measure: str) -> float | None:
    """What the baseline without a model reaches on valid; of the dev loss it has none."""
    if measure not in ("f1", "mrr"):
        return None
    of_scorer = valid_f1(benchmark) if measure == "f1" else valid_mrr(benchmark)
    return of_scorer(Popularity(benchmark))


def valid_f1(benchmark: Benchmark) -> Callable[[Scorer], float]:
    """Micro-F1 on valid at the best single threshold."""
    known, num_slots = benchmark.known("valid"), 2 * benchmark.vocabulary.num_relations

    def f1_of(model: Scorer) -> float:
        highest = Highest(benchmark.valid, num_slots)
        collect(score(model, benchmark.valid, known), highest)
        return float(f1(Curves.overall(highest.result()).counts()).max(initial=0.0))

    return f1_of


def valid_mrr(benchmark: Benchmark) -> Callable[[Scorer], float]:
    known = benchmark.known("valid")
    answered = benchmark.valid.take(benchmark.valid.has_answers)

    def mrr_of(model: Scorer) -> float:
        standings = Standings(answered, known, benchmark.vocabulary.num_entities)
        collect(score(model, answered, known), standings)
        return mean_reciprocal_rank(standings.ranks().realistic())

    return mrr_of


def valid_loss(benchmark: Benchmark) -> Callable[[Model], float]:
    """The paper's criterion; negative, as higher is to be better."""
    known = benchmark.known("valid")
    return lambda model: -dev_loss(model, benchmark.valid, known)


EVALUATIONS: dict[str, Callable[[Benchmark], Callable[[Model], float]]] = {
    "f1": valid_f1,
    "mrr": valid_mrr,
    "dev-loss": valid_loss,
}
