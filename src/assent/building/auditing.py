"""What is wrong with a benchmark, and what is merely skewed, counted."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assent.building.fitting import SHARED, derived, seen_in, stated_types
from assent.building.twins import facts_with_twin
from assent.core.arrays import Keys, Mask, distinct, found_in
from assent.core.benchmark import Benchmark
from assent.core.facts import fact_keys, facts_of
from assent.core.pairs import joined
from assent.core.queries import Queries, Subset, both_ways
from assent.core.types import Pairs

FEW_ANSWERS = 5  # a threshold found on fewer valid answers is luck


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked for: how often it was found, among how many, and more in words."""

    name: str
    wrong: bool  # if found at all; else it is a skew that one should know of
    count: int
    among: int
    detail: str = ""

    @property
    def failed(self) -> bool:
        return self.wrong and self.count > 0

    @property
    def verdict(self) -> str:
        """`wrong`, `skewed`, `fine`, or `not looked for` where there was nothing to look at."""
        if not self.among:
            return "not looked for"
        return "wrong" if self.failed else "skewed" if self.count else "fine"


class Rows:
    """All queries of both halves side by side, with what the checks ask of them."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.num_entities = benchmark.vocabulary.num_entities
        self.num_relations = benchmark.vocabulary.num_relations
        self.queries = Queries.joined([benchmark.valid, benchmark.test])
        self.in_valid: Mask = np.arange(len(self.queries)) < len(benchmark.valid)
        self.keys: Keys = self.queries.keys(self.num_entities)
        self.fake: Mask = self.queries.subsets == Subset.FAKE
        self.tail: Mask = self.queries.relations < self.num_relations
        self.real_keys: Keys = distinct(self.keys[~self.fake])
        self.collides: Mask = self.fake & found_in(self.real_keys, self.keys)
        anchors, relations, _ = both_ways(benchmark.train, self.num_relations)
        train_keys = relations.astype(np.int64) * self.num_entities + anchors
        self.known: Mask = found_in(distinct(train_keys), self.keys)  # has answers in train

    def fact_keys(self, split: str) -> Keys:
        """The facts that the answers of a half make, one for each answer."""
        facts = self.benchmark.queries(split).facts(self.num_relations)
        return fact_keys(facts, self.benchmark.vocabulary)

    def seen(self) -> Pairs:
        """Who stands where: in train, or as the anchor or an answer of a real query."""
        real = self.queries.take(~self.fake)
        facts = np.concatenate([self.benchmark.train, real.facts(self.num_relations)])
        anchors = np.stack([real.anchors, real.relations], axis=1)
        return np.concatenate([seen_in(facts, self.num_relations), anchors])


def audit(benchmark: Benchmark) -> list[Finding]:
    """Everything we know to look for, whether found or not."""
    rows = Rows(benchmark)
    return [check(rows) for check in CHECKS]


def keys_standing_twice(rows: Rows) -> Finding:
    """A leak-safe benchmark may ask a query in both halves, for different answers."""
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
    detail = f"{mixed:,} with and without answers, {without:,} without twice"
    return Finding("queries that stand twice", True, int(twice.sum()), len(unique), detail)


def keys_in_both_halves(rows: Rows) -> Finding:
    """In a leak-safe benchmark these are the queries whose answers were dealt to both halves."""
    safe = rows.benchmark.masks_other_split
    both = np.intersect1d(rows.keys[rows.in_valid], rows.keys[~rows.in_valid])
    detail = "for different answers, those of the other half masked" if safe else ""
    return Finding(
        "queries in both valid and test", not safe, len(both), len(distinct(rows.keys)), detail
    )


def fakes_that_are_real(rows: Rows) -> Finding:
    fakes = rows.keys[rows.collides]
    incomplete = distinct(rows.keys[rows.queries.subsets == Subset.INCOMPLETE])
    of_incomplete = int(found_in(incomplete, fakes).sum())
    detail = f"{len(fakes) - of_incomplete:,} complete, {of_incomplete:,} incomplete"
    return Finding("fakes that are a real query", True, len(fakes), int(rows.fake.sum()), detail)


def fakes_with_known_answers(rows: Rows) -> Finding:
    lone = rows.fake & ~rows.collides
    count = int(np.sum(lone & rows.known))
    return Finding("fakes with answers in train", True, count, int(lone.sum()))


def fakes_that_fit(rows: Rows) -> Finding:
    """By the types given, or by the domains that the relations' names state."""
    benchmark, lone = rows.benchmark, rows.fake & ~rows.collides
    types = benchmark.types or stated_types(rows.seen(), benchmark.vocabulary)
    name = "fakes that fit the types"
    if types is None:
        return Finding(name, True, 0, 0, "no types known")
    fits = np.zeros(len(lone), dtype=bool)
    fits[lone] = types.fit(rows.queries.anchors[lone], rows.queries.relations[lone])
    tails = lone & rows.tail
    share = np.sum(fits & tails) / max(int(tails.sum()), 1)
    source = "types given" if benchmark.types else "domains stated in the relations' names"
    detail = f"{source}; {share:.1%} of the tail fakes"
    return Finding(name, True, int(fits.sum()), int(lone.sum()), detail)


def fakes_that_may_fit(rows: Rows) -> Finding:
    """Judged by who stands where: suspicion, not proof."""
    benchmark, lone = rows.benchmark, rows.fake & ~rows.collides
    name = "fakes that may fit"
    if benchmark.types:
        return Finding(name, False, 0, 0, "types are given")
    types = derived(rows.seen(), benchmark.vocabulary)
    fits = types.fit(rows.queries.anchors[lone], rows.queries.relations[lone])
    detail = f"their anchor stands in a slot that shares {SHARED} entities or more with this one"
    return Finding(name, False, int(fits.sum()), int(lone.sum()), detail)


def facts_in_both_halves(rows: Rows) -> Finding:
    test = distinct(rows.fact_keys("test"))
    leaked = int(found_in(distinct(rows.fact_keys("valid")), test).sum())
    detail = f"{leaked / max(len(test), 1):.1%} of the test facts"
    return Finding("test facts that valid asks for as well", True, leaked, len(test), detail)


def answers_in_train(rows: Rows) -> Finding:
    train = fact_keys(rows.benchmark.train, rows.benchmark.vocabulary)
    facts = np.concatenate([rows.fact_keys("valid"), rows.fact_keys("test")])
    known = int(found_in(np.sort(train), facts).sum())
    return Finding("answers that stand in train", True, known, len(facts))


def entities_unseen(rows: Rows) -> Finding:
    seen = np.unique(rows.benchmark.train[:, [0, 2]])
    return Finding(
        "entities without a train fact", False, rows.num_entities - len(seen), rows.num_entities
    )


def relations_unseen(rows: Rows) -> Finding:
    vocabulary = rows.benchmark.vocabulary
    seen = np.bincount(rows.benchmark.train[:, 1], minlength=rows.num_relations) > 0
    detail = ", ".join(vocabulary.relation(int(relation)) for relation in np.flatnonzero(~seen))
    return Finding(
        "relations without a train fact", False, int(np.sum(~seen)), rows.num_relations, detail
    )


def empty_but_known(rows: Rows) -> Finding:
    """An empty answer set says that nothing new is to be found, not that nothing is true."""
    none = rows.queries.is_none
    count = int(np.sum(none & rows.known))
    detail = f"{count / max(int(none.sum()), 1):.1%} of N"
    return Finding(
        "empty queries whose answers are all known", False, count, int(none.sum()), detail
    )


def relations_with_few_answers(rows: Rows) -> Finding:
    valid = rows.benchmark.valid
    answers = np.bincount(
        valid.relations, weights=valid.num_answers, minlength=2 * rows.num_relations
    )
    few = int(np.sum(answers < FEW_ANSWERS))
    detail = "each relation and its inverse"
    name = f"relations with fewer than {FEW_ANSWERS} valid answers"
    return Finding(name, False, few, 2 * rows.num_relations, detail)


def answers_of_the_largest(rows: Rows) -> Finding:
    counts = np.sort(rows.queries.num_answers[rows.queries.has_answers])[::-1]
    top = int(np.ceil(len(counts) / 100))
    held, total = int(counts[:top].sum()), int(counts.sum())
    detail = f"{held / max(total, 1):.1%} of the answers"
    return Finding("answers held by the top 1 % of queries", False, held, total, detail)


def test_facts_with_twins(rows: Rows) -> Finding:
    vocabulary = rows.benchmark.vocabulary
    test = facts_of(distinct(rows.fact_keys("test")), vocabulary)
    twins = facts_with_twin(test, rows.benchmark.train, vocabulary)
    detail = f"{twins.inverse:,} by an inverse or symmetric relation, {twins.same:,} by a duplicate"
    return Finding(
        "test facts that a twin relation states in train", False, twins.either, len(test), detail
    )


def answers_chosen_by_pairs(rows: Rows) -> Finding:
    """Then a fact between two entities speaks against another one, in the benchmark alone."""
    shares = joined(rows.benchmark.train, rows.queries, rows.num_entities)
    answers = len(rows.queries.answers)
    detail = (
        f"train joins the entities of {shares.answers:.1%} of them, "
        f"and those of {shares.train:.1%} of its own facts by another"
    )
    name = "answers whose entities were held apart"
    return Finding(name, False, answers if shares.held_out else 0, answers, detail)


CHECKS: tuple[Callable[[Rows], Finding], ...] = (
    keys_standing_twice,
    keys_in_both_halves,
    fakes_that_are_real,
    fakes_with_known_answers,
    fakes_that_fit,
    facts_in_both_halves,
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
