"""What the stated schema entails from known facts: new facts that nobody has to guess.

The reverse of a known fact where its relation is stated to be symmetric; the same fact of a stated
inverse or of a wider relation; the way from end to end where a relation is stated to be transitive.
What follows from such a fact is entailed, too. A fact that contradicts the schema is never
entailed, nor one that joins an entity to itself, which would tell nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assent.completing.law import KEPT, Law
from assent.core.arrays import Ids, Keys, Mask, found_in, frozen, offsets_of, rows_of
from assent.core.facts import fact_keys, facts_of
from assent.core.schema import Schema
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

MOST = 5_000_000  # facts that may be entailed in one step: transitive relations multiply them
NONE = -1  # in place of a second fact that something follows from

Words = Callable[[int], str]  # of a relation
Told = Callable[[int, int, int], str]  # a fact in words


class Step(NamedTuple):
    """A statement by which facts of one relation entail facts of another, or of the same."""

    property: str  # of the schema
    subject: int  # the relation that it is about
    object: int  # the other relation that it names, or the same
    low: int  # facts of this relation
    high: int  # entail facts of this one
    turned: bool  # with head and tail exchanged

    def words(self, relation: Words) -> str:
        """The statement: `“is married to” is symmetric`."""
        return SAID[self.property].format(relation(self.subject), relation(self.object))


SAID = {
    "symmetric": "“{}” is symmetric",
    "transitive": "“{}” is transitive",
    "inverseOf": "“{}” is the inverse of “{}”",
    "subPropertyOf": "what “{}” joins, “{}” joins, too",
}


@dataclass(frozen=True, slots=True, eq=False)
class Entailed:
    """Facts that the schema entails, each once, and what they follow from."""

    names: Vocabulary
    known: Keys  # (known fact,)   ascending
    keys: Keys  # (fact,)          ascending
    by: Keys  # (fact,)            place in `steps`
    sources: Keys  # (fact, 2)     the facts that it follows from; NONE: there is no second one
    steps: tuple[Step, ...]

    @property
    def facts(self) -> Ids:  # (fact, 3)
        return facts_of(self.keys, self.names)

    def __len__(self) -> int:
        return len(self.keys)

    def among(self, facts: Ids) -> Mask:  # (fact,)
        """Which of these facts are entailed."""
        if not len(self):  # most graphs state nothing
            return np.zeros(len(facts), bool)
        return found_in(self.keys, fact_keys(facts, self.names))

    def why(self, fact: Ids, relation: Words, told: Told) -> str:
        """`stated: “is married to” is symmetric, and Ann is married to Ben is known`."""
        place = int(np.searchsorted(self.keys, fact_keys(fact.reshape(1, 3), self.names)[0]))
        sources = self.sources[place][self.sources[place] != NONE]
        said = [f"“{told(*one)}”" for one in facts_of(sources, self.names).tolist()]
        known = found_in(self.known, sources).all()
        follows = "known" if known else "entailed as well"
        verb = "are" if len(said) > 1 else "is"
        statement = self.steps[int(self.by[place])].words(relation)
        return f"stated: {statement}, and {' and '.join(said)} {verb} {follows}"


def entailed(known: Ids, schema: Schema, names: Vocabulary, law: Law | None = None) -> Entailed:
    """All that follows from the facts `known` (fact, 3), none of them against the law."""
    steps = tuple(_steps(schema, names))
    keys = np.unique(fact_keys(known, names)) if steps else np.empty(0, np.int64)
    mine = _Found(*(np.empty(shape, np.int64) for shape in (0, 0, (0, 2))))
    seen = frontier = keys
    while len(frontier):
        every = np.sort(np.concatenate([keys, mine.keys]))
        found = _Found.joined(
            [_follow(step, at, frontier, every, names) for at, step in enumerate(steps)]
        )
        found = found.take(~found_in(seen, found.keys)).once()
        seen = np.sort(np.concatenate([seen, found.keys]))
        if law is not None:
            found = found.take(_lawful(mine.keys, found.keys, law, names))
        mine, frontier = _Found.joined([mine, found]), found.keys
    mine = mine.once()
    return Entailed(names, keys, frozen(mine.keys, np.int64), mine.by, mine.sources, steps)


class _Found(NamedTuple):
    """Facts, by their keys, and what they follow from."""

    keys: Keys  # (fact,)
    by: Keys  # (fact,)
    sources: Keys  # (fact, 2)

    def take(self, rows: Mask | Keys) -> "_Found":
        return _Found(self.keys[rows], self.by[rows], self.sources[rows])

    def once(self) -> "_Found":
        """Each fact once, ascending; of several ways to it the first."""
        return self.take(np.unique(self.keys, return_index=True)[1])

    @classmethod
    def joined(cls, parts: list["_Found"]) -> "_Found":
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _steps(schema: Schema, names: Vocabulary) -> Iterator[Step]:
    """The statements that entail facts of the graph's relations."""
    place = {name: number for number, name in enumerate(names.relations)}
    for named in ("symmetric", "transitive"):
        for subject in schema.subjects(named):
            if subject in place:
                one = place[subject]
                yield Step(named, one, one, one, one, named == "symmetric")
    for named in ("inverseOf", "subPropertyOf"):
        for subject, other in schema.about(named):
            if subject in place and other in place:
                low, high, turned = place[subject], place[other], named == "inverseOf"
                yield Step(named, low, high, low, high, turned)
                if turned:
                    yield Step(named, low, high, high, low, turned)


def _follow(step: Step, at: int, frontier: Keys, every: Keys, names: Vocabulary) -> _Found:
    """What one statement entails of the newest facts; a transitive one, of these with all."""
    new = facts_of(frontier, names)
    new = new[new[:, 1] == step.low]
    if step.property != "transitive":
        sources = np.stack([fact_keys(new, names), np.full(len(new), NONE)], axis=1)
        heads, tails = (new[:, 2], new[:, 0]) if step.turned else (new[:, 0], new[:, 2])
    else:
        facts = facts_of(every, names)
        facts = facts[facts[:, 1] == step.low]
        parts = [_meeting(new, facts), _meeting(facts, new)]
        first, second = (np.concatenate([part[end] for part in parts]) for end in (0, 1))
        sources = np.stack([fact_keys(first, names), fact_keys(second, names)], axis=1)
        heads, tails = first[:, 0], second[:, 2]
    made = np.stack([heads, np.full_like(heads, step.high), tails], axis=1)
    made, sources = made[heads != tails], sources[heads != tails]
    return _Found(fact_keys(made, names), np.full(len(made), at), sources)


def _meeting(first: Ids, second: Ids) -> tuple[Ids, Ids]:
    """All pairs of a fact of the first and one of the second whose head is the tail of it."""
    second = second[np.argsort(second[:, 0], kind="stable")]
    low = np.searchsorted(second[:, 0], first[:, 2])
    counts = np.searchsorted(second[:, 0], first[:, 2], side="right") - low
    if counts.sum() > MOST:
        raise DataError(
            f"the schema entails more than {MOST:,} facts in one step, by a transitive relation; "
            "leave them out (--no-entailed), or what states it"
        )
    offsets = offsets_of(counts)
    rows = rows_of(offsets)
    return first[rows], second[np.arange(offsets[-1]) - offsets[rows] + low[rows]]


def _lawful(before: Keys, keys: Keys, law: Law, names: Vocabulary) -> Mask:  # (key,)
    """Which facts contradict neither the schema, nor those before them, nor each other."""
    together = np.concatenate([before, keys])
    first = np.arange(len(together)) < len(before)
    verdicts = law.verdicts(facts_of(together, names), np.ones(len(together)), first)
    kept: Mask = verdicts[len(before) :] == KEPT
    return kept & ~_disputed(facts_of(keys, names), law, names)


def _disputed(facts: Ids, law: Law, names: Vocabulary) -> Mask:  # (fact,)
    """Facts with an end that may have one answer, and has several by the known facts alone."""
    disputed = np.zeros(len(facts), bool)
    for relation in np.unique(facts[:, 1]).tolist():
        rows = np.flatnonzero(facts[:, 1] == relation)
        for end in law.ends[relation]:
            if end.only_one:
                anchors = law.known_pairs[end.slot] // names.num_entities
                mine = facts[rows, 0 if end.is_head else 2]
                low, high = (np.searchsorted(anchors, mine, side) for side in ("left", "right"))
                disputed[rows[high - low > 1]] = True
    return disputed
