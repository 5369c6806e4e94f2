"""The queries of a benchmark whose facts changed: old ones as far as they hold, and new ones."""

from typing import NamedTuple

import numpy as np

from assent.building.asking import (
    TEST,
    VALID,
    ask_nothing,
    deal_evenly,
    deal_queries,
    fakes_wanted,
)
from assent.building.faking import fakes_like
from assent.building.fitting import fitting_types, seen_in
from assent.building.growing import Grown
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen, pair_keys, rows_of
from assent.core.benchmark import Benchmark
from assent.core.facts import fact_keys
from assent.core.queries import Queries, Subset, both_ways


class Parts(NamedTuple):
    """The facts of a changed benchmark, by what they are used for, in the new ids."""

    train: Ids  # (fact, 3)  old and new
    removed: Ids  # (fact, 3)  about removed entities, old and new
    held_out: Ids  # (fact, 3)  new ones that are asked for
    forced: Ids  # (held-out fact,)  VALID or TEST where its split is given, else -1
    taken_back: Keys  # (fact,)  keys of facts that are no longer there, ascending


class Rows(NamedTuple):
    """Single answers to queries."""

    anchors: Ids  # (row,)
    slots: Ids  # (row,)
    answers: Ids  # (row,)

    def take(self, mask: Mask) -> "Rows":
        return Rows(*(column[mask] for column in self))

    def keys(self, entities: int) -> Keys:
        """The keys of the queries about the first `entities` of all, ascending, each once."""
        kept = self.anchors < entities
        return distinct(pair_keys(self.slots[kept], self.anchors[kept], entities))


def ask_again(
    old: Benchmark, grown: Grown, parts: Parts, rng: np.random.Generator
) -> tuple[tuple[Queries, Mask], tuple[Queries, Mask]]:
    """The queries of valid and of test, and which of them the new facts brought, (query,) each.

    Among the new queries, as many have no answer as have one: some of them lost all answers with a
    removed entity, others do not fit their relation, as in a benchmark that is built.
    """
    names = grown.vocabulary
    entities = names.num_entities
    new = _dealt(old, grown, parts, rng)
    rows = [
        Rows(*(np.concatenate(both) for both in zip(_left(part, grown, parts), more, strict=True)))
        for part, more in zip((old.valid, old.test), new, strict=True)
    ]
    train, removed = (Rows(*both_ways(facts, names.num_relations)) for facts in parts[:2])
    lost = removed.take(removed.answers >= entities).keys(entities)
    answered = [Queries.grouped(*part) for part in rows]
    answered_keys = distinct(np.concatenate([part.keys(entities) for part in answered]))
    taken = distinct(np.concatenate([part.keys(entities) for part in (*rows, train, removed)]))
    keeps = (lost, answered_keys, taken)
    stay = [_without_answer(part, old, entities, keeps) for part in (old.valid, old.test)]
    brought = _empty(old, grown, parts, new, stay, keeps, rng)
    made = []
    for mine, part, more, nothing, empty in zip(
        (old.valid, old.test), answered, new, stay, brought, strict=True
    ):
        keys = part.keys(entities)
        incomplete = found_in(lost, keys)
        if old.removed is None:  # which facts were lost is not known: marks stay
            marked = mine.take(mine.subsets == Subset.INCOMPLETE).keys(entities)
            incomplete |= found_in(distinct(marked), keys)
        part = part.marked(np.where(incomplete, Subset.INCOMPLETE, Subset.COMPLETE))
        fresh = found_in(more.keys(entities), keys)
        joined = Queries.joined([part, nothing, empty])
        fresh = np.concatenate([fresh, np.zeros(len(nothing), bool), np.ones(len(empty), bool)])
        order = np.lexsort((joined.subsets, joined.anchors, joined.relations))
        made.append((joined.take(order), frozen(fresh[order], np.bool_)))
    return made[0], made[1]


def _dealt(
    old: Benchmark, grown: Grown, parts: Parts, rng: np.random.Generator
) -> tuple[Rows, Rows]:
    """The held-out facts from both sides, for valid and for test.

    Where splits mask each other, a fact is asked for in one of them; else a query is asked in one.
    """
    entities = grown.kept
    rows = Rows(*both_ways(parts.held_out, grown.whole.num_relations))
    if old.masks_other_split:
        dealt = deal_evenly(parts.held_out[:, 1], rng)
        dealt = np.where(parts.forced >= 0, parts.forced, dealt)
        dealt = np.concatenate([dealt, dealt])
    else:
        keys, places = np.unique(pair_keys(rows.slots, rows.anchors, entities), return_inverse=True)
        of_key = deal_evenly(keys // max(entities, 1), rng)
        for split, part in ((VALID, old.valid), (TEST, old.test)):
            of_key[found_in(distinct(part.keys(entities)), keys)] = split
        dealt = of_key[places]
    return rows.take(dealt == VALID), rows.take(dealt == TEST)


def _left(part: Queries, grown: Grown, parts: Parts) -> Rows:
    """The answers of old queries that were not taken back."""
    of = rows_of(part.offsets)
    facts = part.facts(grown.whole.num_relations)
    stays = ~found_in(parts.taken_back, fact_keys(facts, grown.whole))
    return Rows(part.anchors[of], part.relations[of], part.answers).take(stays)


def _without_answer(
    part: Queries, old: Benchmark, entities: int, keeps: tuple[Keys, Keys, Keys]
) -> Queries:
    """Old queries that have no answer now: N whose loss still holds, and fakes that still are."""
    lost, answered, taken = keeps
    keys = part.keys(entities)
    none = found_in(lost, keys) if old.removed is not None else part.is_none
    none = (part.subsets == Subset.INCOMPLETE) & none & ~found_in(answered, keys)
    fake = (part.subsets == Subset.FAKE) & ~found_in(taken, keys)
    return Queries.joined(
        [
            Queries.empty(part.anchors[mine], part.relations[mine], subset)
            for mine, subset in ((none, Subset.INCOMPLETE), (fake, Subset.FAKE))
        ]
    )


def _empty(
    old: Benchmark,
    grown: Grown,
    parts: Parts,
    new: tuple[Rows, Rows],
    stay: list[Queries],
    keeps: tuple[Keys, Keys, Keys],
    rng: np.random.Generator,
) -> tuple[Queries, Queries]:
    """New queries without an answer, for valid and for test: as many as new ones have answers."""
    lost, answered, taken = keeps
    names, entities = grown.vocabulary, grown.kept
    asked = Queries.joined([Queries.grouped(*rows) for rows in new])
    there = distinct(np.concatenate([part.keys(entities) for part in stay]))
    about_new = lost[(lost % max(entities, 1) >= grown.first_new) & ~found_in(there, lost)]
    none = ask_nothing(about_new, answered, entities)
    seen = seen_in(parts.train, names.num_relations)
    types = fitting_types(grown.types_of_kept(), seen, names, old.schema)
    wanted = fakes_wanted(asked, none, names)
    real = Queries.joined([asked, none])
    fakes = fakes_like(real, distinct(np.append(taken, there)), types, wanted, rng)
    none = none.take(rng.permutation(len(none))[: max(len(asked) - len(fakes), 0)])
    dealt = [deal_queries(part, rng) for part in (none, fakes)]
    valid, test = (Queries.joined(part) for part in zip(*dealt, strict=True))
    return valid, test
