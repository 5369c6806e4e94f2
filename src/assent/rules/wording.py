"""Facts and rules as people would say them, from the labels of relations and the names of types.

Names that are no labels are split into words first: has_capital, hasCapital, ex:hasCapital.
"""

import re
from collections.abc import Sequence

import numpy as np

from assent.core.arrays import Ids
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary, last_part
from assent.rules.phrases import Phrase, about_any, phrase_of, put
from assent.rules.words import plural, readable

THOSE = "entities"  # where no type is known that they share
SHARED = 0.95  # of the entities that are to be named must have a type, if it is to name them


class Wording:
    """The facts of a vocabulary in words."""

    def __init__(self, names: Vocabulary, types: Types | None, facts: Ids) -> None:
        self.names = names
        self._kinds = _Kinds(types, facts, names.num_relations)
        self._phrases: dict[int, Phrase] = {}

    def entity(self, entity: int) -> str:
        label = self.names.entity(entity)
        return last_part(label) if label == self.names.entities[entity] else label

    def relation(self, relation: int) -> str:
        """A relation as it stands in a sentence."""
        return readable(self.names.relation(relation % self.names.num_relations))

    def told(self, head: int, relation: int, tail: int) -> str:
        """A fact: `Oslo is a city in Norway`."""
        return put(self._phrase(relation).told, self.entity(tail), h=self.entity(head))

    def asked(self, anchor: int, slot: int) -> str:
        """A query: `Oslo is a city in ?`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        head, tail = ("?", self.entity(anchor)) if backwards else (self.entity(anchor), "?")
        return put(self._phrase(relation).told, tail, h=head)

    def step(self, start: int, slot: int, end: int) -> tuple[str, int]:
        """The fact that leads from start to end, and the entity that its sentence begins with."""
        backwards, relation = divmod(slot, self.names.num_relations)
        head, tail = (end, start) if backwards else (start, end)
        return self.told(head, relation, tail), head

    def group(self, slot: int, end: int | None) -> str:
        """All who have this slot with an entity, or with any: `cities in Norway`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        kind, said = self._kinds.of_slot(slot), self._phrase(relation).group(bool(backwards))
        before, as_, noun = said.rpartition(" as ")
        if backwards and as_ and plural(noun) == kind:  # holidays that Peru observes as holiday
            said = before
        return about_any(said, kind) if end is None else put(said, self.entity(end), kind=kind)

    def claim(self, many: str, slot: int, end: int) -> str:
        """That several have the slot with an entity: `3 of 4 ports are cities in Norway`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        said = self._phrase(relation).claim(bool(backwards))
        if said.startswith("{many}"):
            many = many[:1].upper() + many[1:]
        return put(said, self.entity(end), many=many)

    def kind(self, slot: int) -> str:
        """What those are who have this slot: `countries`, or `entities`."""
        return self._kinds.of_slot(slot)

    def named(self, entities: Sequence[int]) -> str:
        """`Oslo`, `Oslo and Bergen`, `Oslo, Bergen and Tromsø`."""
        names = [self.entity(entity) for entity in entities]
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def _phrase(self, relation: int) -> Phrase:
        if relation not in self._phrases:
            self._phrases[relation] = phrase_of(self.relation(relation))
        return self._phrases[relation]


class _Kinds:
    """What those who have a slot are called: by the narrowest type that nearly all have."""

    def __init__(self, types: Types | None, facts: Ids, num_relations: int) -> None:
        self.types, self.facts, self.num_relations = types, facts, num_relations
        self._known: dict[int, str] = {}

    def of_slot(self, slot: int) -> str:
        if slot not in self._known:
            self._known[slot] = self._found(slot)
        return self._known[slot]

    def _found(self, slot: int) -> str:
        if self.types is None:
            return THOSE
        backwards, relation = divmod(slot, self.num_relations)
        mine = self.facts[self.facts[:, 1] == relation]
        members = np.unique(mine[:, 2 if backwards else 0])
        if not len(members):
            return THOSE
        offsets, types = self.types.entity_offsets, self.types.entity_types
        lists = [types[offsets[one] : offsets[one + 1]] for one in members.tolist()]
        share = np.bincount(np.concatenate(lists), minlength=len(self.types.names)) / len(members)
        sizes = np.bincount(types, minlength=len(self.types.names))
        for kind in np.lexsort((sizes, share < SHARED)).tolist():
            if share[kind] < SHARED:
                break
            name = readable(self.types.names[kind])
            if re.fullmatch(r"[^\W\d]+( [^\W\d]+)*", name):
                return plural(name.lower())
        return THOSE
