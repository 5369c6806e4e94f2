"""A trained model -> all that the report says of it, in five passes over its scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assent.core.arrays import rows_of
from assent.core.benchmark import Benchmark
from assent.core.counts import Counts, f1, precision, ratio, recall
from assent.core.decider import Decider
from assent.core.queries import Queries, both_ways
from assent.core.scores import Collector, collect
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest
from assent.measuring.classification import Classified
from assent.measuring.plain import plain
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.measuring.separation import Separation
from assent.reproducing.accepting import Accepting
from assent.reproducing.paper_numbers import SETS
from assent.reproducing.samples import asked_samples
from assent.scoring import score
from assent.verbs.runs import Run
from assent.verbs.tune import tune

DRAWS, SEED = 1000, 0  # of the bootstrap; one seed, so that all models see the same queries
CURVE_POINTS = 160
RULES = ("global", "per-relation", "paper-global", "paper-relation")

Columns = NDArray[np.float64]  # (column, query)


def measured(run: Run) -> dict[str, Any]:
    """As plain values, ready for JSON."""
    deciders = tuned(run)
    found: dict[str, Any] = {"mrr": {}, "unfiltered_mrr": {}, "counts": {}}
    separation = Separation()
    highest = Highest(run.benchmark.test, _num_slots(run))
    for split, more in (("valid", ()), ("test", (separation, highest))):
        decided = _decided(run, split, deciders, more)
        standings = _ranked(run, split)
        found["mrr"][split] = mean_reciprocal_rank(standings.filtered().realistic())
        found["unfiltered_mrr"][split] = mean_reciprocal_rank(standings.ranks().realistic())
        found["counts"][split] = {rule: _of_sets(accepting) for rule, accepting in decided.items()}
    return plain(
        {
            **found,
            "thresholds": {rule: _statistics(run, d) for rule, d in deciders.items()},
            "curve": _curve(highest),
            "separation": separation.counts,
            "samples": asked_samples(run, deciders),
            "draws": _draws(run.benchmark.test, standings, decided),
        }
    )


def tuned(run: Run) -> dict[str, Decider]:
    """Thresholds by the rules that the paper's tables are made with."""
    return {rule: tune(run, rule) for rule in RULES}


def _decided(
    run: Run, split: str, deciders: dict[str, Decider], more: tuple[Collector, ...]
) -> dict[str, Accepting]:
    queries = run.benchmark.queries(split)
    decided = {rule: Accepting(queries, decider.thresholds) for rule, decider in deciders.items()}
    collect(score(run.model, queries, run.benchmark.known(split)), *decided.values(), *more)
    return decided


def _ranked(run: Run, split: str) -> Standings:
    queries, benchmark = ranking_queries(run.benchmark, split), run.benchmark
    standings = Standings(queries, benchmark.truth(), benchmark.vocabulary.num_entities)
    collect(score(run.model, queries, benchmark.known(split)), standings)
    return standings


def ranking_queries(benchmark: Benchmark, split: str) -> Queries:
    """The facts that a half's answers make, each asked for from both of its sides (§4)."""
    return Queries.grouped(*both_ways(benchmark.facts(split), benchmark.vocabulary.num_relations))


def _of_sets(accepting: Accepting) -> dict[str, list[int]]:
    """Set -> correct, accepted, relevant."""
    classified = Classified(accepting.queries, accepting.counts())
    totals = {name: classified.of(name) for name in SETS}
    return {name: [c.correct, c.accepted, c.relevant] for name, c in totals.items()}


def _statistics(run: Run, decider: Decider) -> dict[str, float]:
    """As probabilities, over the relations that valid asks about; 1 accepts nothing."""
    asked = np.unique(run.benchmark.valid.relations)
    values = expit(decider.thresholds.values[asked])
    return {"mean": values.mean(), "min": values.min(), "max": values.max()}


def _curve(highest: Highest) -> dict[str, Columns]:
    """Precision and recall on test as one threshold for all falls; some of the points."""
    chosen = Curves.overall(highest.result()).spread(CURVE_POINTS)
    return {"recall": recall(chosen).round(4), "precision": precision(chosen).round(4)}


def _draws(
    queries: Queries, standings: Standings, decided: dict[str, Accepting]
) -> dict[str, NDArray[np.float64]]:
    """MRR and each rule's F1 on random samples of what is ranked, and of the queries."""
    ranked = standings.queries
    gained = np.bincount(rows_of(ranked.offsets), 1 / standings.filtered().realistic(), len(ranked))
    found = {"mrr": ratio(*drawn(np.array([gained, ranked.num_answers], np.float64)))}
    columns = [queries.num_answers]
    for accepting in decided.values():
        columns += [accepting.correct, accepting.accepted]
    relevant, *totals = drawn(np.array(columns, np.float64))
    for rule, correct, accepted in zip(decided, totals[::2], totals[1::2], strict=True):
        found[rule] = f1(Counts(correct, accepted, relevant))
    return {name: values.round(5) for name, values in found.items()}


def drawn(columns: Columns, draws: int = DRAWS, seed: int = SEED) -> Columns:  # (column, draw)
    """Totals of random samples of queries; each is drawn a Poisson number of times."""
    rng = np.random.default_rng(seed)
    totals = [columns @ rng.poisson(1.0, columns.shape[1]) for _ in range(draws)]
    return np.array(totals).T


def _num_slots(run: Run) -> int:
    return 2 * run.benchmark.vocabulary.num_relations
