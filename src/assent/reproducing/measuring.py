"""A trained model -> all that the report says of it, as plain values."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assent.core.arrays import rows_of
from assent.core.benchmark import Benchmark
from assent.core.counts import Counts, f1, precision, ratio, recall
from assent.core.decider import Decider
from assent.core.queries import Queries, both_ways
from assent.core.scores import ScoreBlock, collect
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import SIDES, Vocabulary
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest, rounded_down
from assent.files.annotations import find_file, read_labels
from assent.measuring.classification import Classified, drawn
from assent.measuring.plain import plain
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.measuring.separation import Separation
from assent.reporting.sample_queries import Candidates, best_candidates
from assent.reproducing.paper import NAMES, SAMPLES, SETS, Sample
from assent.reproducing.results import all_rules
from assent.scoring import score, score_split
from assent.verbs.runs import Run
from assent.verbs.tune import tune

CURVE_POINTS = 160

Values = NDArray[np.float64]


class Accepting:
    """Counts, query by query, what thresholds accept; a collector of scores.

    `evaluate` keeps every accepted candidate. A poor model accepts so many by the paper's own rules
    that they would not fit into memory, so here they are only counted.
    """

    def __init__(self, queries: Queries, thresholds: Thresholds) -> None:
        self.queries = queries
        self.floors = rounded_down(thresholds)  # (slot,)
        self.correct, self.accepted = np.zeros((2, len(queries)), np.int64)

    def add(self, block: ScoreBlock) -> None:
        asked, rows = block.queries, rows_of(block.queries.offsets)
        floors = self.floors[asked.relations]
        mine = slice(block.first, block.first + len(asked))
        self.accepted[mine] = np.count_nonzero(block.scores > floors[:, None], axis=1)
        right = block.of_answers() > floors[rows]
        self.correct[mine] = np.bincount(rows[right], minlength=len(asked))

    def classified(self) -> Classified:
        counts = Counts(self.correct, self.accepted, self.queries.num_answers)
        return Classified(self.queries, counts)


def measured(run: Run) -> dict[str, Any]:
    """Tuned on valid by every rule; what is then accepted on both splits, and the ranking."""
    deciders = {rule: tune(run, rule) for rule in all_rules()}
    separation = Separation()
    highest = Highest(run.benchmark.test, run.benchmark.vocabulary.num_slots)
    found: dict[str, Any] = {"mrr": {}, "unfiltered_mrr": {}, "counts": {}}
    for split, also in (("valid", ()), ("test", (separation, highest))):
        queries = run.benchmark.queries(split)
        accepting = {rule: Accepting(queries, d.thresholds) for rule, d in deciders.items()}
        collect(score_split(run, split), *accepting.values(), *also)
        decided = {rule: mine.classified() for rule, mine in accepting.items()}
        standings = ranked(run, split)
        found["mrr"][split] = mean_reciprocal_rank(standings.filtered().realistic())
        found["unfiltered_mrr"][split] = mean_reciprocal_rank(standings.ranks().realistic())
        found["counts"][split] = {rule: _of_sets(mine) for rule, mine in decided.items()}
    curve = Curves.overall(highest.result()).spread(CURVE_POINTS)
    return plain(
        {
            **found,
            "thresholds": {rule: _statistics(run, decider) for rule, decider in deciders.items()},
            "curve": {"recall": recall(curve).round(4), "precision": precision(curve).round(4)},
            "separation": separation.counts,
            "samples": sampled(run, deciders),
            "draws": _draws(standings, decided),
        }
    )


def ranked(run: Run, split: str) -> Standings:
    """The ranks of the facts that a split's answers make."""
    queries, benchmark = ranking_queries(run.benchmark, split), run.benchmark
    standings = Standings(queries, benchmark.truth(), benchmark.vocabulary.num_entities)
    collect(score(run.model, queries, benchmark.known(split)), standings)
    return standings


def ranking_queries(benchmark: Benchmark, split: str) -> Queries:
    """The facts that a split's answers make, each asked for from both of its sides (§4)."""
    return Queries.grouped(*both_ways(benchmark.facts(split), benchmark.vocabulary.num_relations))


def _of_sets(classified: Classified) -> dict[str, list[int]]:
    """Set -> correct, accepted, relevant."""
    totals = {of_set: classified.of(of_set) for of_set in SETS}
    return {of_set: [c.correct, c.accepted, c.relevant] for of_set, c in totals.items()}


def _statistics(run: Run, decider: Decider) -> dict[str, float]:
    """Thresholds as probabilities, over the slots that valid asks about; 1 accepts nothing."""
    values = expit(decider.thresholds.values[np.unique(run.benchmark.valid.relations)])
    return {"mean": values.mean(), "min": values.min(), "max": values.max()}


def _draws(standings: Standings, decided: Mapping[str, Classified]) -> dict[str, Values]:
    """MRR and each rule's F1 on random samples of what is ranked, and of the queries.

    The samples are the same for all models: they depend on the number of queries alone.
    """
    queries = standings.queries
    gained = np.bincount(
        rows_of(queries.offsets), 1 / standings.filtered().realistic(), len(queries)
    )
    found = {"mrr": ratio(*drawn(np.array([gained, queries.num_answers], np.float64)))}
    for rule, classified in decided.items():
        counts = classified.counts
        columns = np.array([counts.correct, counts.accepted, counts.relevant], np.float64)
        found[rule] = f1(Counts(*drawn(columns)))
    return {name: values.round(5) for name, values in found.items()}


def sampled(
    run: Run, deciders: Mapping[str, Decider], samples: Sequence[Sample] = SAMPLES
) -> list[dict[str, Any]]:
    """The samples that test has, and the best candidates of each, rule by rule."""
    test, found = run.benchmark.test, []
    for sample in samples:
        if (row := _row(run.benchmark, sample)) is None:
            continue
        answers = test.answers[test.offsets[row] : test.offsets[row + 1]].tolist()
        candidates = {
            rule: _plain_candidates(said)
            for rule, decider in deciders.items()
            for said in best_candidates(run.model, decider, run.benchmark, [row])
        }
        query = {"query": sample.words, "set": sample.kind, "answers": answers}
        found.append({**query, "candidates": candidates})
    return found


def _plain_candidates(said: Candidates) -> dict[str, Any]:
    return {**said._asdict(), "best": [candidate._asdict() for candidate in said.best]}


def _row(benchmark: Benchmark, sample: Sample) -> int | None:
    names, test = benchmark.vocabulary, benchmark.test
    if sample.anchor not in names.entities or sample.relation not in names.relations:
        return None
    slot = names.slots_of(names.relations.index(sample.relation))[SIDES.index(sample.side)]
    same = (test.relations == slot) & (test.anchors == names.entities.index(sample.anchor))
    rows = np.flatnonzero(same)
    return int(rows[0]) if len(rows) else None


def readable(vocabulary: Vocabulary, beside: Path) -> list[str]:  # (entity,)
    """Names of entities: the paper's, then the benchmark's, then those of FB15k-237 beside it."""
    labels: Sequence[str] = vocabulary.entity_labels
    if not labels:
        file = find_file(beside / "fb15k-237", "entity_names")
        labels = read_labels(file, vocabulary.entities) or vocabulary.entities
    return [NAMES.get(name, label) for name, label in zip(vocabulary.entities, labels, strict=True)]
