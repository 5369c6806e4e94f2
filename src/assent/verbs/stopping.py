"""What a training is measured by on valid, to keep its best weights and to stop."""

from collections.abc import Callable

import numpy as np

from assent.adapters.popularity import Popularity
from assent.core.arrays import Keys
from assent.core.benchmark import Benchmark
from assent.core.counts import f1
from assent.core.queries import Queries, both_ways
from assent.core.scores import Scorer, collect
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.models import Model
from assent.scoring import score
from assent.training.losses import dev_loss
from assent.training.settings import TrainSettings, num_evaluated


def asked_of(benchmark: Benchmark, settings: TrainSettings) -> Queries:
    """The queries of valid that an evaluation asks: all, or some that lie evenly among them."""
    queries = benchmark.valid
    count = num_evaluated(settings, len(queries), benchmark.vocabulary.num_entities)
    return queries if count == len(queries) else queries.take(evenly(len(queries), count))


def evenly(total: int, count: int) -> Keys:  # (place,)
    """So many different places of all, ascending, as far from each other as can be."""
    places: Keys = (2 * np.arange(count, dtype=np.int64) + 1) * total // max(2 * count, 1)
    return places


def popularity(
    benchmark: Benchmark, measure: str, settings: TrainSettings | None = None
) -> float | None:
    """What the baseline without a model reaches on valid; of the dev loss it has none.

    With the settings of a training, it is asked what the evaluations of the training ask.
    """
    asked = None if settings is None else asked_of(benchmark, settings)
    if measure == "dev-loss":
        return None
    return STOPS[measure](benchmark, asked)(Popularity(benchmark))


def valid_f1(benchmark: Benchmark, asked: Queries | None = None) -> Callable[[Scorer], float]:
    """Micro-F1 on valid, or on some of its queries, at the best single threshold."""
    known, num_slots = benchmark.known("valid"), benchmark.vocabulary.num_slots
    queries = benchmark.valid if asked is None else asked

    def f1_of(model: Scorer) -> float:
        highest = Highest(queries, num_slots)
        collect(score(model, queries, known), highest)
        return float(f1(Curves.overall(highest.result()).counts()).max(initial=0.0))

    return f1_of


def valid_mrr(benchmark: Benchmark, asked: Queries | None = None) -> Callable[[Scorer], float]:
    """Mean reciprocal rank of the answers of valid among candidates not known to be true.

    What is true, train and valid say: test is not to be looked at while a model is chosen.
    """
    known, names = benchmark.known("valid"), benchmark.vocabulary
    queries = benchmark.valid if asked is None else asked
    answered = queries.take(queries.has_answers)
    true = Queries.grouped(*both_ways(benchmark.facts("valid"), names.num_relations))

    def mrr_of(model: Scorer) -> float:
        standings = Standings(answered, true, names.num_entities)
        collect(score(model, answered, known), standings)
        return mean_reciprocal_rank(standings.filtered().realistic())

    return mrr_of


def valid_loss(benchmark: Benchmark, asked: Queries | None = None) -> Callable[[Model], float]:
    """The paper's criterion; negative, as higher is to be better."""
    known, queries = benchmark.known("valid"), benchmark.valid if asked is None else asked
    return lambda model: -dev_loss(model, queries, known)


# What training may stop on: a benchmark, and which queries of its valid, if not all -> a model -> a
# number, the higher the better.
STOPS: dict[str, Callable[[Benchmark, Queries | None], Callable[..., float]]] = {
    "f1": valid_f1,
    "mrr": valid_mrr,
    "dev-loss": valid_loss,
}
