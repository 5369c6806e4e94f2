"""The names of a benchmark with those that new facts bring: known ids stay, new ones come after."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assent.core.arrays import Ids, Keys, frozen, offsets_of, pair_keys, places_in, rows_of
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Grown:
    """A benchmark's names, the new ones, and the new facts in their ids.

    The entities of the benchmark come first, then the new ones, then those that building removed,
    then those that are new and known by facts about removed entities alone.
    """

    whole: Vocabulary
    kept: int  # entities that are not removed: the first of `whole`
    first_new: int  # id of the first new entity; those before it had the same id before
    added: Ids  # (fact, 3)
    moved: Ids  # (entity,)  the new id of each entity that the old benchmark has a name for
    types: Types | None  # of `whole`
    strangers: Mapping[str, int]  # relation that the benchmark does not have -> its new facts

    @property
    def vocabulary(self) -> Vocabulary:
        """Without the removed entities."""
        return self.whole.with_entities(np.arange(self.kept, dtype=np.int32))

    @property
    def num_new(self) -> int:
        return self.kept - self.first_new

    def types_of_kept(self) -> Types | None:
        if self.types is None:
            return None
        return self.types.with_entities(np.arange(self.kept, dtype=np.int32))

    def renumbered(self, facts: Ids) -> Ids:
        """Facts of the old benchmark, removed entities included, in the new ids."""
        heads, relations, tails = facts.T
        return frozen(np.stack([self.moved[heads], relations, self.moved[tails]], axis=1))


def grow(benchmark: Benchmark, added: KnowledgeBase) -> Grown:
    """Gives the names of new facts an id each; facts of relations that are not known are left."""
    before = benchmark.removed.vocabulary if benchmark.removed else benchmark.vocabulary
    old, known = benchmark.vocabulary.num_entities, before.num_entities
    named, relations = translation(added, before)
    strange = relations[added.facts[:, 1]] < 0
    facts = added.facts[~strange]
    ends = facts[:, [0, 2]]
    removed = (named >= old)[ends].any(axis=1)  # facts about an entity that building removed
    is_new = named < 0
    occurs, stays = np.zeros(len(named), bool), np.zeros(len(named), bool)
    occurs[ends.ravel()] = True
    stays[ends[~removed].ravel()] = True
    new = np.flatnonzero(is_new & stays)  # (new entity,)  places in `added`
    beyond = np.flatnonzero(is_new & occurs & ~stays)
    kept = old + len(new)
    moved = np.arange(known, dtype=np.int32)
    moved[old:] += len(new)
    ids = np.append(moved, -1)[named].astype(np.int32)  # (name of `added`,)
    ids[new] = old + np.arange(len(new))
    ids[beyond] = known + len(new) + np.arange(len(beyond))
    whole = _joined(before, added.vocabulary, old, new, beyond)
    heads, rels, tails = facts.T
    counts = np.bincount(added.facts[strange, 1], minlength=len(relations))
    return Grown(
        whole,
        kept,
        old,
        frozen(np.stack([ids[heads], relations[rels], ids[tails]], axis=1)),
        frozen(moved),
        _types(benchmark, added, moved, ids, np.append(new, beyond), whole),
        {added.vocabulary.relations[r]: int(counts[r]) for r in np.flatnonzero(counts)},
    )


def translation(kb: KnowledgeBase, names: Vocabulary) -> tuple[Keys, Keys]:
    """The ids that a vocabulary has for the entities and the relations of a graph; -1: none."""
    entities, relations = (
        np.array([ids.get(name, -1) for name in mine], np.int64).reshape(-1)
        for mine, ids in (
            (kb.vocabulary.entities, {name: at for at, name in enumerate(names.entities)}),
            (kb.vocabulary.relations, {name: at for at, name in enumerate(names.relations)}),
        )
    )
    return entities, relations


def _joined(before: Vocabulary, more: Vocabulary, old: int, new: Keys, beyond: Keys) -> Vocabulary:
    """The names in the order that `Grown` has them in; an entity without a label has its name."""

    def ordered(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
        first, last = ([theirs[place] for place in places] for places in (new, beyond))
        return (*mine[:old], *first, *mine[old:], *last)

    labels: tuple[str, ...] = ()
    if before.entity_labels or more.entity_labels:
        labels = ordered(
            before.entity_labels or before.entities, more.entity_labels or more.entities
        )
    entities = ordered(before.entities, more.entities)
    return Vocabulary(entities, before.relations, labels, before.relation_labels)


def _types(
    benchmark: Benchmark, added: KnowledgeBase, moved: Ids, ids: Ids, new: Keys, whole: Vocabulary
) -> Types | None:
    """The types of all entities; those of known ones stay, those of new ones come with the facts.

    What the benchmark's schema puts above a type comes with it. A benchmark without types has none
    of new entities either.
    """
    given = benchmark.removed.types if benchmark.removed else benchmark.types
    if given is None:
        return None
    names = {name: place for place, name in enumerate(given.names)}
    pairs = [np.stack([moved[rows_of(given.entity_offsets)], given.entity_types], axis=1)]
    if added.types is not None:
        above = benchmark.schema.supertypes()
        closed = [[name, *sorted(above.get(name, ()))] for name in added.types.names]
        theirs = np.array([names.setdefault(n, len(names)) for some in closed for n in some])
        sizes = np.array(list(map(len, closed)))
        kinds = added.types.entity_types[places_in(added.types.entity_offsets, new)]
        entities = np.repeat(ids[new], np.diff(added.types.entity_offsets)[new])
        mine = theirs[places_in(offsets_of(sizes), kinds)]
        pairs.append(np.stack([np.repeat(entities, sizes[kinds]), mine], axis=1))
    slots = np.stack([rows_of(given.slot_offsets), given.slot_types], axis=1)
    joined = np.concatenate(pairs).astype(np.int64)
    return Types.of_pairs(tuple(names), joined, slots, whole.num_entities, whole.num_slots)


def pairs_of(facts: Ids, num_entities: int) -> Keys:  # (fact,)
    """One number for the two entities of each fact, whichever is its head."""
    ends = facts[:, [0, 2]]
    return pair_keys(ends.min(axis=1), ends.max(axis=1), num_entities)
