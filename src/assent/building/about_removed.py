"""Queries about the entities that building removed, which no model was trained on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from assent.core.arrays import Ids, Keys, distinct, found_in, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset, both_ways
from assent.errors import DataError

REMOVED = "removed"  # how people name these queries where they name a split


class _Rows(NamedTuple):
    """Facts as single (anchor, slot, answer) rows."""

    anchors: Ids
    slots: Ids
    answers: Ids


def about_removed(benchmark: Benchmark, seed: int = 0) -> Benchmark:
    """A benchmark whose test queries have a removed entity at the anchor, or among the answers.

    Candidates are all entities, known and removed. Where the anchor is removed, the answers are
    known entities; where the answers are, the anchor is known. What is true and no answer is
    masked, as train facts: those of train, valid and test, and those between two removed entities.

    For each query there is one about the same anchor that has no answer: another slot is drawn, in
    which no fact about a removed entity has the anchor. Where there is no such slot, there is none.
    """
    if benchmark.removed is None:
        raise DataError(
            "the benchmark keeps no entities that building removed, so there is nothing to ask "
            "about; `assent build --removed N` makes one that does"
        )
    names, known = benchmark.removed.vocabulary, benchmark.vocabulary.num_entities
    rows = _Rows(*both_ways(benchmark.removed.facts, names.num_relations))
    test = Queries.joined(list(_asked(rows, known, names.num_slots, seed)))
    if not len(test):
        raise DataError(
            "no fact joins an entity that building removed with a known one, so there is nothing "
            "to ask about"
        )
    both_new = (benchmark.removed.facts[:, [0, 2]] >= known).all(axis=1)
    true = [benchmark.train, benchmark.facts("valid"), benchmark.facts("test")]
    true.append(benchmark.removed.facts[both_new])
    return replace(
        benchmark,
        vocabulary=names,
        train=KnowledgeBase.of_ids(names, np.concatenate(true)).facts,
        valid=Queries.empty([], [], Subset.COMPLETE),
        test=test,
        masks_other_split=False,
        types=benchmark.removed.types,
        removed=None,
    )


def _asked(rows: _Rows, known: int, num_slots: int, seed: int) -> Iterator[Queries]:
    """The queries about removed anchors, then those with removed answers; each with their empty."""
    taken = distinct(pair_keys(rows.anchors, rows.slots, num_slots))
    at_anchor, at_answer = rows.anchors >= known, rows.answers >= known
    for new in (at_anchor & ~at_answer, at_answer & ~at_anchor):
        asked = Queries.grouped(*(column[new] for column in rows))
        yield asked
        yield _unanswered(asked, taken, num_slots, seed)


def _unanswered(asked: Queries, taken: Keys, num_slots: int, seed: int) -> Queries:
    """For each query one about the same anchor, of a slot in which no fact here has it."""
    slots = np.random.default_rng(seed).integers(0, num_slots, len(asked))
    for _ in range(num_slots):
        again = found_in(taken, pair_keys(asked.anchors, slots, num_slots))
        slots = np.where(again, (slots + 1) % num_slots, slots)
    free = ~found_in(taken, pair_keys(asked.anchors, slots, num_slots))
    return Queries.empty(asked.anchors[free], slots[free], Subset.FAKE)
