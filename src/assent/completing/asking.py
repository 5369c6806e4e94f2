"""Every query that the graph may ask: each relation, both ways, about the entities that fit it."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from assent.building.fitting import derived, learned, seen_in
from assent.core.arrays import Ids, Keys, Mask, offsets_of, places_in, rows_of
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary, last_part


class Fitting:
    """Which entities a query about a slot may be asked about: those that no type rules out.

    The types are the benchmark's own. A slot that they say nothing about takes the entities that
    the graph has in it, and those of slots that share enough entities with it.
    """

    def __init__(self, benchmark: Benchmark, facts: Ids) -> None:
        names = benchmark.vocabulary
        seen = seen_in(facts, names.num_relations)
        tables = [_Table(derived(seen, names))]
        if benchmark.types is not None:
            tables.insert(0, _Table(learned(benchmark.types, seen, names, benchmark.schema)))
        self.tables = tables  # the first table that has types for a slot decides about it

    def anchors(self, slot: int) -> Mask:  # (entity,)
        """The entities that fit as anchors of this slot."""
        table = next((one for one in self.tables if one.knows(slot)), self.tables[-1])
        return table.anchors(slot)


class _Table:
    """The entities of each type, so that those of a slot are found without a loop over all."""

    def __init__(self, types: Types) -> None:
        self.types = types
        self.untyped = np.diff(types.entity_offsets) == 0  # (entity,)
        order = np.argsort(types.entity_types, kind="stable")
        self.entities = rows_of(types.entity_offsets)[order]  # (entity's type,)  by type
        counts = np.bincount(types.entity_types, minlength=len(types.names))
        self.offsets: Keys = offsets_of(counts)  # (type + 1,)

    def knows(self, slot: int) -> bool:
        """Whether there are types for this slot."""
        return bool(self.types.slot_offsets[slot] < self.types.slot_offsets[slot + 1])

    def anchors(self, slot: int) -> Mask:  # (entity,)
        """Entities with a type that the slot takes, and entities without any type."""
        if not self.knows(slot):
            return np.ones_like(self.untyped)
        first, last = self.types.slot_offsets[slot : slot + 2]
        fits: Mask = self.untyped.copy()
        fits[self.entities[places_in(self.offsets, self.types.slot_types[first:last])]] = True
        return fits


def asked(slots: Sequence[int], about: Sequence[Mask]) -> Queries:
    """One query for each slot and each entity under the mask (entity,) of that slot.

    The queries come without answers.
    """
    anchors = [np.flatnonzero(mask) for mask in about]
    repeated = np.repeat(slots, [len(some) for some in anchors])
    return Queries.empty(np.concatenate(anchors), repeated, Subset.COMPLETE)


def relations_named(wanted: Iterable[str] | None, names: Vocabulary) -> list[int]:
    """The ids of the relations with these names, labels or last parts of addresses, ascending.

    None: all relations. What is no name by itself may be several, with commas between them.
    """
    if wanted is None:
        return list(range(names.num_relations))
    short = map(last_part, names.relations)
    right = dict.fromkeys([*names.relations, *names.relation_labels, *short])
    chosen = set[int]()
    for given in wanted:
        for name in [given] if given in right else map(str.strip, given.split(",")):
            refuse_unknown(name, right, "relation")
            chosen.add(names.relation_named(name))
    return sorted(chosen)


def entities_named(wanted: Iterable[str], names: Vocabulary) -> list[int]:
    """The ids of the entities with these names, or with these labels if only one has each."""
    times = Counter(names.entity_labels)
    places = {label: place for place, label in enumerate(names.entity_labels) if times[label] == 1}
    places |= {name: place for place, name in enumerate(names.entities)}
    return [places[name] if name in places else names.entity_named(name) for name in wanted]
