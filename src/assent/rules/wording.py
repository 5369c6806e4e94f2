"""Facts and rules as people would say them, from the labels of relations and the names of types.

Names that are no labels are split into words first: has_capital, hasCapital, ex:hasCapital.
"""

import re
from collections.abc import Sequence

import numpy as np

from assent.core.arrays import Ids
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary, last_part
from assent.rules.phrases import Phrase, about_any, about_many, noun_before, phrase_of, put
from assent.rules.words import article, is_person, is_plural, plural, readable

THOSE = "entities"  # where no type is known that they share
NAMED = 3  # entities of a list, of which there may be more
SHARED = 0.95  # of the entities that are to be named must have a type, if it is to name them


class Wording:
    """The facts of a vocabulary in words."""

    def __init__(self, names: Vocabulary, types: Types | None, facts: Ids) -> None:
        self.names = names
        self._types = types
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
        kind = self.kind(slot)
        said = self._group(slot, kind)
        if end is None:
            return about_any(said, kind, _who(kind), self._kinds.one_of_slot(self.back(slot)))
        return put(said, self.entity(end), kind=kind, who=_who(kind))

    def group_of_group(self, slot: int, last: int, end: int) -> str:
        """All who have this slot with any of a group: `people born in cities in Norway`."""
        kind = self.kind(slot)
        said = self._group(slot, kind)
        others, noun = self.kind(last), noun_before(said)
        if others == THOSE and noun:
            others = plural(noun)
        those = put(self._group(last, others), self.entity(end), kind=others, who=_who(others))
        return about_many(said, kind, _who(kind), those)

    def claim(self, many: str, slot: int, end: int) -> str:
        """That several have the slot with an entity: `3 of 4 ports are cities in Norway`."""
        backwards, relation = divmod(slot, self.names.num_relations)
        said = self._phrase(relation).claim(bool(backwards))
        if said.startswith("{many}"):
            many = many[:1].upper() + many[1:]
        return put(said, self.entity(end), many=many)

    def kind(self, slot: int) -> str:
        """What those are who have this slot: `countries`, or `entities`."""
        one = self._kinds.one_of_slot(slot)
        return (one if is_plural(one) else plural(one)) if one else THOSE

    def case(self, fact: tuple[int, int, int], others: Sequence[int]) -> str:
        """What a fact like this one says of its ends: `the film was produced in the country`.

        So only if types tell its ends from each other and from those who have the slots `others`.
        Else it is told as it is: `a fact like “Mali borders Niger” is known`.
        """
        head, tail = (self._kinds.one_of_slot(slot) for slot in self.names.slots_of(fact[1]))
        between = {self._kinds.one_of_slot(slot) for slot in others}
        apart = head != tail and not between & {head, tail}
        if not (head and tail and apart) or is_plural(head) or is_plural(tail):
            return f"a fact like “{self.told(*fact)}” is known"
        told = self._phrase(fact[1]).told
        told = told.replace(f" {article(head)} {head} ", " ")  # the city is a city in ...
        return put(told, f"the {tail}", h=f"the {head}")

    def is_person(self, entity: int) -> bool:
        """Whether a type says that this is a person."""
        if self._types is None:
            return False
        low, high = self._types.entity_offsets[entity : entity + 2]
        return any(
            is_person(self._types.names[kind]) for kind in self._types.entity_types[low:high]
        )

    def named(self, entities: Sequence[int]) -> str:
        """`Oslo`, `Oslo and Bergen`, `Oslo, Bergen and Moss`, `Oslo, Bergen, Moss and 4 more`."""
        names = [self.entity(entity) for entity in entities[:NAMED]]
        if len(entities) > NAMED:
            names.append(f"{len(entities) - NAMED:,} more")
        return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

    def told_of_all(self, anchor: int, slot: int, ends: Sequence[int]) -> str:
        """The facts of an anchor with all its answers, of which the first few are named."""
        backwards, relation = divmod(slot, self.names.num_relations)
        if len(ends) == 1:
            return self.step(anchor, slot, ends[0])[0]
        name, named, phrase = self.entity(anchor), self.named(ends), self._phrase(relation)
        if backwards:
            return put(phrase.are_heads, name, many=named)
        return put(phrase.told, named, h=name)

    def _group(self, slot: int, kind: str) -> str:
        """The words for all who have this slot with an entity, where they are of this kind."""
        backwards, relation = divmod(slot, self.names.num_relations)
        said = self._phrase(relation).group(bool(backwards))
        before, as_, noun = said.rpartition(" as ")
        if backwards and as_ and plural(noun) == kind:  # holidays that Peru observes as holiday
            return before
        return said

    def back(self, slot: int) -> int:
        """The slot of those at the other end."""
        return (slot + self.names.num_relations) % self.names.num_slots

    def _phrase(self, relation: int) -> Phrase:
        if relation not in self._phrases:
            self._phrases[relation] = phrase_of(self.relation(relation))
        return self._phrases[relation]


def _who(kind: str) -> str:
    return "who" if is_person(kind) else "that"


class _Kinds:
    """What those who have a slot are called: by the narrowest type that nearly all have."""

    def __init__(self, types: Types | None, facts: Ids, num_relations: int) -> None:
        self.types, self.facts, self.num_relations = types, facts, num_relations
        self._known: dict[int, str] = {}

    def one_of_slot(self, slot: int) -> str:
        """What one of them is: `country`; empty if they share no type that is a word."""
        if slot not in self._known:
            self._known[slot] = self._found(slot)
        return self._known[slot]

    def _found(self, slot: int) -> str:
        if self.types is None:
            return ""
        backwards, relation = divmod(slot, self.num_relations)
        mine = self.facts[self.facts[:, 1] == relation]
        members = np.unique(mine[:, 2 if backwards else 0])
        if not len(members):
            return ""
        offsets, types = self.types.entity_offsets, self.types.entity_types
        lists = [types[offsets[one] : offsets[one + 1]] for one in members.tolist()]
        share = np.bincount(np.concatenate(lists), minlength=len(self.types.names)) / len(members)
        sizes = np.bincount(types, minlength=len(self.types.names))
        for kind in np.lexsort((sizes, share < SHARED)).tolist():
            if share[kind] < SHARED:
                break
            name = readable(self.types.names[kind])
            if re.fullmatch(r"[^\W\d]+( [^\W\d]+)*", name):
                return name.lower()
        return ""
