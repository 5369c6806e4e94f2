"""A stated schema is law: which facts contradict it, or each other, and why."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, pair_keys, places_in, rows_of
from assent.core.schema import ENDS, Schema, upwards
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary

REASONS = ("domain", "range", "functional", "disjoint")
KEPT = -1  # in place of a reason

Values = NDArray[np.float64]
Verdicts = NDArray[np.int8]  # (fact,)  place in REASONS, or KEPT


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """What a fact says about one of its ends, or what one of the facts that follow from it says."""

    is_head: bool  # of the new fact
    slot: int  # of the schema; the end is its anchor
    types: tuple[
        str, ...
    ]  # an entity with stated types has one of these; none: any may stand there
    only_one: bool  # an anchor of the slot has one answer at most
    gives: frozenset[str]  # types that an anchor of the slot has


class Law:
    """A schema made ready for the facts of a graph.

    A fact also says what follows from it by symmetry, inverse relations and wider relations: of
    all that it must not contradict the schema. Types are those that entities are stated to have;
    an entity without any has the types that its known facts give it.
    """

    def __init__(
        self,
        schema: Schema,
        types: Types | None,
        known: Ids,
        names: Vocabulary,
        symmetric: Mask,
        lost: Ids | None = None,
    ) -> None:
        """`known` (fact, 3); `symmetric` (relation,) adds to what the schema states.

        `lost` (pair, 2) are anchors and slots of facts that are known as well, but whose other end
        is no entity any more.
        """
        self.names = names
        self.above = schema.supertypes()
        self.entities = _Entities(types, names.num_entities)
        self.foes = _foes(schema)
        self.relations = [*names.relations, *sorted({*schema.relations()} - {*names.relations})]
        self._follows = self._slots_that_follow(schema, symmetric)
        self._anchor_types = self._types_of_slots(schema)
        self._one_answer = self._slots_with(schema, "functional", "inverseFunctional")
        typing = set(schema.subjects("typeRelation"))
        self.typing = [place for place, name in enumerate(names.relations) if name in typing]
        self.ends = [self._ends_of(relation) for relation in range(names.num_relations)]
        self.known_pairs = self._pairs_known(known)
        self.answered = self._anchors_answered(np.empty((0, 2), int) if lost is None else lost)
        self._given = self._given_by(known)

    def verdicts(self, facts: Ids, probabilities: Values, accepted: Mask) -> Verdicts:  # (fact,)
        """For each fact the first of the REASONS to refuse it, or KEPT."""
        verdicts = self.contradictions(facts)
        self._refuse_rivals(facts, probabilities, accepted, verdicts)
        return verdicts

    def contradictions(self, facts: Ids) -> Verdicts:  # (fact,)
        """For each fact the first reason that types or known facts give to refuse it, or KEPT."""
        verdicts = np.full(len(facts), KEPT, np.int8)
        for relation in np.unique(facts[:, 1]).tolist():
            rows = np.flatnonzero(facts[:, 1] == relation)
            heads, tails = facts[rows, 0], facts[rows, 2]
            for reason, wrong in self._wrong(relation, heads, tails):
                mine, place = rows[wrong], REASONS.index(reason)
                verdicts[mine[(verdicts[mine] == KEPT) | (verdicts[mine] > place)]] = place
        return verdicts

    def _wrong(self, relation: int, heads: Ids, tails: Ids) -> Iterable[tuple[str, Mask]]:
        """Each reason, and which of these facts it speaks against."""
        for end in self.ends[relation]:
            mine, other = (heads, tails) if end.is_head else (tails, heads)
            if end.types:
                fits = self.entities.untyped | self.entities.with_any(end.types)
                yield ENDS[0 if end.is_head else 1], ~fits[mine]
            if end.only_one:
                keys = pair_keys(mine, other, self.names.num_entities)
                known = found_in(self.known_pairs[end.slot], keys)
                answered = found_in(self.answered[end.slot], mine.astype(np.int64))
                yield "functional", answered & ~known
            if foes := self.foes_of(end.gives):
                yield "disjoint", self.has_any(foes)[mine]
        if relation in self.typing:
            wrong = np.zeros(len(heads), bool)
            for tail in np.unique(tails).tolist():
                foes = self.foes_of(self.closed([self.names.entities[tail]]))
                wrong |= (tails == tail) & self.has_any(foes)[heads]
            yield "disjoint", wrong

    def _refuse_rivals(
        self, facts: Ids, probabilities: Values, accepted: Mask, verdicts: Verdicts
    ) -> None:
        """Refuses facts that contradict a fact which comes before them."""
        rivals = np.isin(facts[:, 1], [r for r in range(len(self.ends)) if self._has_rivals(r)])
        pairs = np.sort(facts[:, [0, 2]], axis=1)  # a fact stands next to its reverse
        order = np.lexsort((facts[:, 1], *pairs.T[::-1], -probabilities, ~accepted))
        answers: dict[tuple[int, int], set[int]] = defaultdict(set)
        given: dict[int, set[str]] = defaultdict(set)
        for place in order[(verdicts == KEPT)[order] & rivals[order]].tolist():
            head, relation, tail = facts[place].tolist()
            takes, gives = self._claims(head, relation, tail)
            if any(answers[slot, anchor] - {answer} for slot, anchor, answer in takes):
                verdicts[place] = REASONS.index("functional")
            elif any(types & self.foes_of(given[entity] | types) for entity, types in gives):
                verdicts[place] = REASONS.index("disjoint")
            else:
                for slot, anchor, answer in takes:
                    answers[slot, anchor].add(answer)
                for entity, types in gives:
                    given[entity] |= types

    def _has_rivals(self, relation: int) -> bool:
        """Whether facts of this relation can contradict other new facts."""
        ends = self.ends[relation]
        return relation in self.typing or any(end.only_one or end.gives for end in ends)

    def _claims(
        self, head: int, relation: int, tail: int
    ) -> tuple[list[tuple[int, int, int]], list[tuple[int, frozenset[str]]]]:
        """The only answers that a fact gives (slot, anchor, answer), and types (entity, types)."""
        takes, gives = [], []
        for end in self.ends[relation]:
            mine, other = (head, tail) if end.is_head else (tail, head)
            if end.only_one:
                takes.append((end.slot, mine, other))
            if end.gives:
                gives.append((mine, end.gives))
        if relation in self.typing:
            gives.append((head, self.closed([self.names.entities[tail]])))
        types: dict[int, frozenset[str]] = defaultdict(frozenset)
        for entity, kinds in gives:
            types[entity] |= kinds
        return takes, list(types.items())

    # What follows from a fact. The schema has slots of its own, about all relations that it
    # speaks of: slot r is relation r from its head, slot r + count from its tail.

    def _inverse(self, slot: int) -> int:
        return (slot + len(self.relations)) % (2 * len(self.relations))

    def _slots_that_follow(self, schema: Schema, symmetric: Mask) -> list[list[int]]:
        """For each relation, the slots that hold of (head, tail) where the relation does."""
        count = len(self.relations)
        place = {name: number for number, name in enumerate(self.relations)}
        steps = [(place[low], place[high]) for low, high in schema.about("subPropertyOf")]
        for one, other in schema.about("inverseOf"):
            steps += [(place[one], place[other] + count), (place[other], place[one] + count)]
        both = {*np.flatnonzero(symmetric).tolist(), *map(place.get, schema.subjects("symmetric"))}
        steps += [(number, number + count) for number in both if number is not None]
        steps += [(self._inverse(low), self._inverse(high)) for low, high in steps]
        closed = upwards((str(low), str(high)) for low, high in steps)
        return [
            sorted({relation, *map(int, closed.get(str(relation), ()))})
            for relation in range(self.names.num_relations)
        ]

    def _slots_with(self, schema: Schema, head: str, tail: str) -> set[int]:
        """The slots of relations with a property, one for each direction."""
        place = {name: number for number, name in enumerate(self.relations)}
        return {place[name] for name in schema.subjects(head)} | {
            self._inverse(place[name]) for name in schema.subjects(tail)
        }

    def _types_of_slots(self, schema: Schema) -> dict[int, list[str]]:
        place = {name: number for number, name in enumerate(self.relations)}
        types: dict[int, list[str]] = defaultdict(list)
        for turn, end in enumerate(ENDS):
            for relation, kind in schema.about(end):
                types[place[relation] + turn * len(self.relations)].append(kind)
        return types

    def _ends_of(self, relation: int) -> list[_End]:
        """What is to be looked at when a fact of this relation is judged."""
        found = []
        for slot in self._follows[relation]:
            for is_head, its in ((True, slot), (False, self._inverse(slot))):
                types = tuple(self._anchor_types.get(its, ()))
                only_one = its in self._one_answer
                if types or only_one:
                    found.append(_End(is_head, its, types, only_one, self._shared(types)))
        return found

    # Types, and what the known facts say.

    def closed(self, types: Iterable[str]) -> frozenset[str]:
        """These types and all above them."""
        types = frozenset(types)
        return types.union(*(self.above.get(kind, ()) for kind in types))

    def _shared(self, types: tuple[str, ...]) -> frozenset[str]:
        """What an entity is, whichever of these types it has; only types that have foes."""
        if not types:
            return frozenset()
        shared = frozenset.intersection(*(self.closed([kind]) for kind in types))
        return frozenset(kind for kind in shared if kind in self.foes)

    def foes_of(self, types: Iterable[str]) -> frozenset[str]:
        """The types that nothing has which has one of these."""
        return frozenset[str]().union(*(self.foes.get(kind, ()) for kind in types))

    def has_any(self, types: frozenset[str]) -> Mask:  # (entity,)
        """Entities with one of these types; where none is stated, by their known facts."""
        mask = self.entities.with_any(types)
        for gives, entities in self._given:
            if gives & types:
                mask[entities] = True
        return mask

    def _pairs_known(self, known: Ids) -> dict[int, Keys]:
        """For each slot with one answer, the known pairs (anchor, answer) as keys, ascending."""
        size, found = self.names.num_entities, defaultdict[int, list[Keys]](list)
        for slot in self._one_answer:
            found[slot] = [np.empty(0, np.int64)]
        for relation, ends in enumerate(self.ends):
            if not any(end.only_one for end in ends):
                continue
            heads, _, tails = known[known[:, 1] == relation].T
            for end in ends:
                if end.only_one:
                    mine, other = (heads, tails) if end.is_head else (tails, heads)
                    found[end.slot].append(pair_keys(mine, other, size))
        return {slot: np.unique(np.concatenate(parts)) for slot, parts in found.items()}

    def _anchors_answered(self, lost: Ids) -> dict[int, Keys]:
        """For each slot with one answer, the anchors that have an answer, ascending."""
        size, count = max(self.names.num_entities, 1), self.names.num_relations
        found = {slot: [pairs // size] for slot, pairs in self.known_pairs.items()}
        slots = distinct(lost[:, 1].astype(np.int64))
        for slot in slots.tolist():
            anchors = lost[lost[:, 1] == slot, 0].astype(np.int64)
            for end in self.ends[slot % count]:
                if end.only_one and end.is_head == (slot < count):
                    found[end.slot].append(anchors)
        return {slot: distinct(np.concatenate(parts)) for slot, parts in found.items()}

    def _given_by(self, known: Ids) -> list[tuple[frozenset[str], Keys]]:
        """Types, and the entities without stated types that known facts give them to."""
        found = []
        for relation, ends in enumerate(self.ends):
            if not any(end.gives for end in ends):
                continue
            heads, _, tails = known[known[:, 1] == relation].T
            for end in ends:
                if end.gives:
                    mine = np.unique(heads if end.is_head else tails).astype(np.int64)
                    found.append((end.gives, mine[self.entities.untyped[mine]]))
        return found


class _Entities:
    """The entities of each stated type."""

    def __init__(self, types: Types | None, num_entities: int) -> None:
        self.num_entities = num_entities
        self.places: dict[str, int] = {}
        self.untyped = np.ones(num_entities, bool)
        if types is not None:
            self.places = {name: place for place, name in enumerate(types.names)}
            self.untyped = np.diff(types.entity_offsets) == 0
            order = np.argsort(types.entity_types, kind="stable")
            self.entities = rows_of(types.entity_offsets)[order]  # (entity's type,)  by type
            counts = np.bincount(types.entity_types, minlength=len(types.names))
            self.offsets = np.concatenate([[0], np.cumsum(counts)])  # (type + 1,)

    def with_any(self, types: Iterable[str]) -> Mask:  # (entity,)
        """The entities that have at least one of these types."""
        mask = np.zeros(self.num_entities, bool)
        known = [self.places[kind] for kind in types if kind in self.places]
        if known:
            mask[self.entities[places_in(self.offsets, known)]] = True
        return mask


def _foes(schema: Schema) -> dict[str, set[str]]:
    """For each type, those that it is stated to be disjoint with."""
    foes: dict[str, set[str]] = defaultdict(set)
    for one, other in schema.about("disjointWith"):
        foes[one].add(other)
        foes[other].add(one)
    return foes
