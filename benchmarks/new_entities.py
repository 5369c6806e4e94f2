"""F1 on entities that nobody trained on: those that building removed, known by their texts alone.

    assent build world --out benchmark
    assent train benchmark --model text --out run
    python benchmarks/new_entities.py run [--seed 0]

The thresholds are those that `assent tune` finds on valid, among known entities. Then queries are
asked in which one entity is new. Where the anchor is new, its answers are known entities; where
the answers are new, the anchor is known. Candidates are all entities, known and new. What is true
and no answer is masked: the facts of train, valid and test, and facts between two new entities.

`answered` are the queries that have an answer. `all` are these, and as many about the same anchors
that have none: another slot is drawn in which no fact about a new entity has the anchor. Beside
them stand the test queries of the benchmark, about known entities: the `answered` ones, and `all`,
a mixture that building made. Popularity scores an entity by how often it answers the slot in
train; it can be asked about a new anchor, but has never seen a new answer.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np

import assent
from assent.adapters.popularity import Popularity
from assent.core.arrays import distinct, found_in, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.counts import Counts, f1
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset, both_ways
from assent.core.scores import Scorer
from assent.errors import DataError
from assent.settings import texts_for

RULES = ("global", "per-relation")


class Asked(NamedTuple):
    """A model, and the queries that it is asked."""

    benchmark: Benchmark
    model: Scorer


def about_new(benchmark: Benchmark, seed: int) -> Iterator[tuple[str, Benchmark]]:
    """Two benchmarks that ask test queries with a new entity: at the anchor, among the answers."""
    if benchmark.removed is None:
        raise DataError("the benchmark kept no removed entities; build it anew")
    names, known = benchmark.removed.vocabulary, benchmark.vocabulary.num_entities
    anchors, slots, answers = both_ways(benchmark.removed.facts, names.num_relations)
    both_new = (benchmark.removed.facts[:, [0, 2]] >= known).all(axis=1)
    parts = [benchmark.train, benchmark.facts("valid"), benchmark.facts("test")]
    parts.append(benchmark.removed.facts[both_new])
    facts = KnowledgeBase.of_ids(names, np.concatenate(parts)).facts
    taken = distinct(pair_keys(anchors, slots, names.num_slots))
    for title, new in (
        ("the anchor is new", (anchors >= known) & (answers < known)),
        ("the answers are new", (anchors < known) & (answers >= known)),
    ):
        asked = Queries.grouped(anchors[new], slots[new], answers[new])
        empty = _unanswered(asked, taken, names.num_slots, seed)
        yield (
            title,
            replace(
                benchmark,
                vocabulary=names,
                train=facts,
                valid=Queries.empty([], [], Subset.COMPLETE),
                test=Queries.joined([asked, empty]),
                masks_other_split=False,
                types=None,
                removed=None,
            ),
        )


def _unanswered(asked: Queries, taken: np.ndarray, num_slots: int, seed: int) -> Queries:
    """For each query one about the same anchor, of a slot in which no fact here has it."""
    slots = np.random.default_rng(seed).integers(0, num_slots, len(asked))
    for _ in range(num_slots):
        again = found_in(taken, pair_keys(asked.anchors, slots, num_slots))
        slots = np.where(again, (slots + 1) % num_slots, slots)
    free = ~found_in(taken, pair_keys(asked.anchors, slots, num_slots))
    return Queries.empty(asked.anchors[free], slots[free], Subset.FAKE)


class Tally(NamedTuple):
    """How many queries were decided about, and how: those with answers, and all of them."""

    answered: int
    asked: int
    of_answered: Counts
    of_all: Counts

    @classmethod
    def of(cls, run: Asked, decider: assent.Decider) -> Self:
        evaluation = assent.evaluate(run, decider)
        counts = evaluation.shortlist.counts(evaluation.accepted)
        answered = run.benchmark.test.has_answers
        total = counts.take(answered).total(), counts.total()
        return cls(int(answered.sum()), len(answered), *total)

    def plus(self, other: Self) -> Self:
        return type(self)(*(one + more for one, more in zip(self, other, strict=True)))

    def line(self, title: str) -> str:
        numbers = "".join(f"{f1(counts):>10.4f}" for counts in (self.of_answered, self.of_all))
        return f"  {title:<24}{self.answered:>9,}{self.asked:>9,}{numbers}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run")
    parser.add_argument("--seed", type=int, default=0, help="of the queries without an answer")
    options = parser.parse_args()
    run = assent.load_run(options.run)
    benchmark = run.benchmark
    asked = list(about_new(benchmark, options.seed))
    names = asked[0][1].vocabulary
    known = benchmark.vocabulary.num_entities
    types = None if benchmark.removed is None else benchmark.removed.types
    texts = texts_for(run.settings, names, types)
    if texts is None:
        raise SystemExit(f"{run.settings.name}: knows no entity that it was not trained on")
    models = {"text": (run.model, run.model.knowing(texts.since(known)))}
    wide = replace(benchmark, vocabulary=names, removed=None)
    models["popularity"] = (Popularity(benchmark), Popularity(wide))
    print(f"{len(names.entities) - known:,} new entities beside {known:,} known ones; F1")
    for rule in RULES:
        print(f"\n{rule:<26}{'answered':>9}{'all':>9}{'answered':>10}{'all':>10}")
        for name, (model, widened) in models.items():
            decider = assent.tune(Asked(benchmark, model), rule)
            print(name)
            print(Tally.of(Asked(benchmark, model), decider).line("known entities, test"))
            tallies = [Tally.of(Asked(part, widened), decider) for _, part in asked]
            for (title, _), tally in zip(asked, tallies, strict=True):
                print(tally.line(title))
            print(Tally.plus(*tallies).line("new entities"))


if __name__ == "__main__":
    main()
