"""Why a fact is refused: what the stated schema, or the habit of its relation, says against it."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from assent.completing.ground import Ground
from assent.rules.words import one_of, readable

HABIT = "second"  # no schema says that there is only one answer, but the known facts show it
LIFTED = "--no-functional would allow another"


class Objection(NamedTuple):
    """One thing that a fact contradicts."""

    reason: str  # one of those of the law, or HABIT
    sentence: str


class Objections:
    """Says in words why facts of a graph, known or not, are refused as new ones."""

    def __init__(self, ground: Ground) -> None:
        self.ground, self.law, self.names = ground, ground.law, ground.names
        self.words = ground.explainer.words

    def of(self, head: int, relation: int, tail: int) -> list[Objection]:
        """All that a fact contradicts by itself, whatever other new facts there are."""
        return [
            *self._of_types(head, relation, tail),
            *self.of_query(head, relation, but=tail),
            *self.of_query(tail, relation + self.names.num_relations, but=head),
        ]

    def of_query(self, anchor: int, slot: int, but: int | None = None) -> list[Objection]:
        """That the anchor of a query has its only answer, where that is not the entity `but`."""
        relation = slot % self.names.num_relations
        asks_head = slot != relation
        found = []
        for end in self.law.ends[relation]:
            if end.only_one and end.is_head != asks_head:
                known = self._known(end.slot, anchor)
                lost = not known and bool(np.isin(anchor, self.law.answered[end.slot]))
                if lost or (known and but not in known):
                    told = self._told_already(anchor, slot, known)
                    found.append(Objection("functional", f"{told}, and the schema allows only one"))
        taken = self.ground.taken(relation)[asks_head]
        known = [one for way in self._ways(slot) for one in self.ground.answers(anchor, way)]
        if taken is not None and taken[anchor] and but not in known:
            told = self._told_already(anchor, slot, known)
            found.append(Objection(HABIT, f"{told}, and there is only one as a rule; {LIFTED}"))
        return list(dict.fromkeys(found))

    def _of_types(self, head: int, relation: int, tail: int) -> Iterator[Objection]:
        entities = self.law.entities
        for end in self.law.ends[relation]:
            entity = head if end.is_head else tail
            name, stands = self.words.entity(entity), self._stands(end.slot)
            fits = entities.untyped | entities.with_any(end.types)
            if end.types and not fits[entity]:
                right = " or ".join(one_of(kind) for kind in end.types)
                said = f"the schema says that {stands} is {right}, which {name} is not"
                yield Objection("domain" if end.is_head else "range", said)
            for kind, foe in self._foes(end.gives, entity):
                said = f"the schema says that {stands} is {one_of(kind)}, and that none is "
                yield Objection("disjoint", f"{said}{one_of(foe)}, which {name} is")
        if relation in self.law.typing:
            for kind, foe in self._foes(self.law.closed([self.names.entities[tail]]), head):
                none = f"the schema says that nothing is {one_of(kind)} and {one_of(foe)}"
                yield Objection("disjoint", f"{none}, and {self.words.entity(head)} is the latter")

    def _foes(self, given: frozenset[str], entity: int) -> Iterator[tuple[str, str]]:
        """A type that is given to the entity, and one that it has and that is disjoint with it."""
        for kind in sorted(given):
            for foe in sorted(self.law.foes_of([kind])):
                if self.law.has_any(frozenset([foe]))[entity]:
                    yield kind, foe
                    return

    def _stands(self, slot: int) -> str:
        """`the head of “capital”`: where the anchor of a slot of the schema stands."""
        backwards, place = divmod(slot, len(self.law.relations))
        if place < self.names.num_relations:
            name = self.words.relation(place)
        else:
            name = readable(self.law.relations[place])
        return f"the {('head', 'tail')[backwards]} of “{name}”"

    def _known(self, slot: int, anchor: int) -> list[int]:
        """The answers that an anchor of a slot of the schema has by the known facts."""
        size, pairs = self.names.num_entities, self.law.known_pairs[slot]
        low, high = np.searchsorted(pairs, [anchor * size, (anchor + 1) * size])
        answers: list[int] = (pairs[low:high] - anchor * size).tolist()
        return answers

    def _ways(self, slot: int) -> list[int]:
        """The slot, and its inverse if both mean the same."""
        relation = slot % self.names.num_relations
        both = self.ground.schema.symmetric[relation]
        return [slot, *(other for other in self.names.slots_of(relation) if both and other != slot)]

    def _told_already(self, anchor: int, slot: int, known: list[int]) -> str:
        for way in self._ways(slot):
            if own := [one for one in self.ground.answers(anchor, way) if one in known]:
                return f"{self.words.told_of_all(anchor, way, own)} already"
        name = self.words.entity(anchor)
        if known:  # by another relation, from which this one follows
            return f"{name} has {self.words.named(known)} in this place already"
        return f"{name} has an answer already, which building removed"
