"""What is wrong with a benchmark, and what is only skewed, counted."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from assent.building import findings
from assent.building.findings import FEW_ANSWERS, Finding
from assent.building.fitting import derived, seen_in, stated_types
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.facts import fact_keys, facts_of
from assent.core.pairs import joined
from assent.core.queries import Queries, Subset, both_ways
from assent.core.types import Pairs
from assent.core.vocabulary import Vocabulary

OVERLAP = 0.8  # share of a relation's facts that its twin states as well


class Rows:
    """All queries of both splits, one after another, with what several checks need."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.num_entities = benchmark.vocabulary.num_entities
        self.num_relations = benchmark.vocabulary.num_relations
        self.num_slots = benchmark.vocabulary.num_slots
        self.queries = Queries.joined([benchmark.valid, benchmark.test])
        self.in_valid: Mask = np.arange(len(self.queries)) < len(benchmark.valid)
        self.keys: Keys = self.queries.keys(self.num_entities)
        self.fake: Mask = self.queries.subsets == Subset.FAKE
        self.tail: Mask = ~benchmark.vocabulary.asks_for_head(self.queries.relations)
        self.real_keys: Keys = distinct(self.keys[~self.fake])
        self.collides: Mask = self.fake & found_in(self.real_keys, self.keys)
        anchors, relations, _ = both_ways(benchmark.train, self.num_relations)
        train_keys = pair_keys(relations, anchors, self.num_entities)
        self.known: Mask = found_in(distinct(train_keys), self.keys)  # has answers in train

    def fact_keys(self, split: str) -> Keys:
        """The keys of the facts that the answers of a split make, one for each answer."""
        facts = self.benchmark.queries(split).facts(self.num_relations)
        return fact_keys(facts, self.benchmark.vocabulary)

    def seen(self) -> Pairs:
        """The pairs (entity, slot) of train, and of the anchors and answers of real queries."""
        real = self.queries.take(~self.fake)
        facts = np.concatenate([self.benchmark.train, real.facts(self.num_relations)])
        anchors = np.stack([real.anchors, real.relations], axis=1)
        return np.concatenate([seen_in(facts, self.num_relations), anchors])


class Twins(NamedTuple):
    """How many facts train states already, by another relation that says the same."""

    inverse: int  # by a relation that says the reverse, or by a symmetric one
    same: int  # by a duplicate
    either: int


def facts_with_twin(facts: Ids, train: Ids, vocabulary: Vocabulary) -> Twins:
    """Counts the facts whose relation has a twin that states them, or their reverse, in train."""
    known = np.sort(fact_keys(train, vocabulary))
    inverse = _stated(
        facts[:, ::-1], facts, twin_relations(train, train[:, ::-1], vocabulary), known, vocabulary
    )
    same_pairs = twin_relations(train, train, vocabulary)
    same = _stated(
        facts, facts, same_pairs[same_pairs[:, 0] != same_pairs[:, 1]], known, vocabulary
    )
    return Twins(int(inverse.sum()), int(same.sum()), int(np.sum(inverse | same)))


def twin_relations(facts: Ids, others: Ids, vocabulary: Vocabulary) -> Ids:  # (pair, 2)
    """Pairs of relations (r, s) where s is a twin of r.

    In `others`, it joins nearly all entities that r joins in `facts`, in the same direction.
    """
    num_entities, num_relations = vocabulary.num_entities, vocabulary.num_relations
    pairs = pair_keys(facts[:, 0], facts[:, 2], num_entities)
    other_pairs = pair_keys(others[:, 0], others[:, 2], num_entities)
    order = np.argsort(other_pairs, kind="stable")
    first = np.searchsorted(other_pairs[order], pairs, side="left")
    last = np.searchsorted(other_pairs[order], pairs, side="right")
    times = last - first
    places = np.arange(times.sum()) + np.repeat(first - np.append(0, np.cumsum(times)[:-1]), times)
    r, s = np.repeat(facts[:, 1], times), others[order[places], 1]
    shared = np.bincount(pair_keys(r, s, num_relations), minlength=num_relations**2)
    sizes = np.bincount(facts[:, 1], minlength=num_relations)
    table = shared.reshape(num_relations, num_relations)
    return np.argwhere((table > 0) & (table >= OVERLAP * sizes[:, None])).astype(np.int32)


def _stated(
    said: Ids, facts: Ids, twins: Ids, known: Keys, vocabulary: Vocabulary
) -> Mask:  # (fact,)
    """Whether some twin of a fact's relation states `said`, the fact or its reverse, in train."""
    found = np.zeros(len(facts), dtype=bool)
    for relation, twin in twins:
        rows = np.flatnonzero(facts[:, 1] == relation)
        asked = said[rows].copy()
        asked[:, 1] = twin
        found[rows] |= found_in(known, fact_keys(asked, vocabulary))
    return found


def audit(benchmark: Benchmark) -> list[Finding]:
    """The finding of every check."""
    rows = Rows(benchmark)
    return [check(rows) for check in CHECKS]


def keys_standing_twice(rows: Rows) -> Finding:
    """A query asked twice; a leak-safe benchmark may ask it in both splits, for other answers."""
    keys, has_answers = rows.keys, rows.queries.has_answers
    if rows.benchmark.masks_other_split:
        lone = ~has_answers & found_in(distinct(keys[has_answers]), keys)
        keys = np.where(has_answers | lone, 2 * keys + rows.in_valid, 2 * keys)
        keys = np.where(lone, 2 * rows.keys + ~rows.in_valid, keys)
    unique, place, times = np.unique(keys, return_inverse=True, return_counts=True)
    answered = np.bincount(place, weights=has_answers, minlength=len(unique))
    twice = times > 1
    mixed = int(np.sum(twice & (answered > 0) & (answered < times)))
    without = int(np.sum(twice & (answered == 0)))
    return findings.standing_twice(int(twice.sum()), len(unique), mixed, without)


def keys_in_both_splits(rows: Rows) -> Finding:
    both = np.intersect1d(rows.keys[rows.in_valid], rows.keys[~rows.in_valid])
    safe = rows.benchmark.masks_other_split
    return findings.in_both_splits(len(both), len(distinct(rows.keys)), safe)


def fakes_that_are_real(rows: Rows) -> Finding:
    fakes = rows.keys[rows.collides]
    incomplete = distinct(rows.keys[rows.queries.subsets == Subset.INCOMPLETE])
    of_incomplete = int(found_in(incomplete, fakes).sum())
    return findings.real_fakes(len(fakes), int(rows.fake.sum()), of_incomplete)


def fakes_with_known_answers(rows: Rows) -> Finding:
    lone = rows.fake & ~rows.collides
    count = int(np.sum(lone & rows.known))
    return findings.known_fakes(count, int(lone.sum()))


def fakes_that_fit(rows: Rows) -> Finding:
    """By the types given, or by the domains that the relations' names state."""
    benchmark, lone = rows.benchmark, rows.fake & ~rows.collides
    types = benchmark.types or stated_types(rows.seen(), benchmark.vocabulary)
    if types is None:
        return findings.NO_TYPES
    fits = np.zeros(len(lone), dtype=bool)
    fits[lone] = types.fit(rows.queries.anchors[lone], rows.queries.relations[lone])
    tails = lone & rows.tail
    tails_fit, given = int(np.sum(fits & tails)), benchmark.types is not None
    return findings.fitting_fakes(
        int(fits.sum()), int(lone.sum()), tails_fit, int(tails.sum()), given
    )


def fakes_that_may_fit(rows: Rows) -> Finding:
    """By types derived from the graph, which may be wrong: a suspicion, no proof."""
    benchmark, lone = rows.benchmark, rows.fake & ~rows.collides
    if benchmark.types:
        return findings.TYPES_GIVEN
    types = derived(rows.seen(), benchmark.vocabulary)
    fits = types.fit(rows.queries.anchors[lone], rows.queries.relations[lone])
    return findings.perhaps_fitting_fakes(int(fits.sum()), int(lone.sum()))


def facts_in_both_splits(rows: Rows) -> Finding:
    test = distinct(rows.fact_keys("test"))
    leaked = int(found_in(distinct(rows.fact_keys("valid")), test).sum())
    return findings.leaked_facts(leaked, len(test))


def answers_in_train(rows: Rows) -> Finding:
    train = fact_keys(rows.benchmark.train, rows.benchmark.vocabulary)
    facts = np.concatenate([rows.fact_keys("valid"), rows.fact_keys("test")])
    known = int(found_in(np.sort(train), facts).sum())
    return findings.trained_answers(known, len(facts))


def entities_unseen(rows: Rows) -> Finding:
    seen = np.unique(rows.benchmark.train[:, [0, 2]])
    return findings.unseen_entities(rows.num_entities - len(seen), rows.num_entities)


def relations_unseen(rows: Rows) -> Finding:
    vocabulary = rows.benchmark.vocabulary
    seen = np.bincount(rows.benchmark.train[:, 1], minlength=rows.num_relations) > 0
    unseen = [vocabulary.relation(int(relation)) for relation in np.flatnonzero(~seen)]
    return findings.unseen_relations(unseen, rows.num_relations)


def empty_but_known(rows: Rows) -> Finding:
    none = rows.queries.is_none
    return findings.known_empty(int(np.sum(none & rows.known)), int(none.sum()))


def relations_with_few_answers(rows: Rows) -> Finding:
    valid = rows.benchmark.valid
    answers = np.bincount(valid.relations, weights=valid.num_answers, minlength=rows.num_slots)
    return findings.few_answers(int(np.sum(answers < FEW_ANSWERS)), rows.num_slots)


def answers_of_the_largest(rows: Rows) -> Finding:
    counts = np.sort(rows.queries.num_answers[rows.queries.has_answers])[::-1]
    top = int(np.ceil(len(counts) / 100))
    return findings.answers_of_top(int(counts[:top].sum()), int(counts.sum()))


def test_facts_with_twins(rows: Rows) -> Finding:
    vocabulary = rows.benchmark.vocabulary
    test = facts_of(distinct(rows.fact_keys("test")), vocabulary)
    twins = facts_with_twin(test, rows.benchmark.train, vocabulary)
    return findings.stated_by_twins(twins.either, len(test), twins.inverse, twins.same)


def answers_chosen_by_pairs(rows: Rows) -> Finding:
    shares = joined(rows.benchmark.train, rows.queries, rows.num_entities)
    return findings.held_apart(shares, len(rows.queries.answers))


CHECKS: tuple[Callable[[Rows], Finding], ...] = (
    keys_standing_twice,
    keys_in_both_splits,
    fakes_that_are_real,
    fakes_with_known_answers,
    fakes_that_fit,
    facts_in_both_splits,
    answers_in_train,
    fakes_that_may_fit,
    entities_unseen,
    relations_unseen,
    empty_but_known,
    relations_with_few_answers,
    answers_of_the_largest,
    test_facts_with_twins,
    answers_chosen_by_pairs,
)
