"""A knowledge base: facts (head, relation, tail) over a vocabulary."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask, frozen, pair_keys
from assent.core.schema import Schema
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

HEADERS = {  # what tables of facts call their columns
    ("head", "relation", "tail"),
    ("subject", "predicate", "object"),
    ("subject", "relation", "object"),
    ("source", "relation", "target"),
    ("h", "r", "t"),
    ("s", "p", "o"),
}


class Split(IntEnum):
    """The part of a graph that a fact came in."""

    TRAIN = 0
    VALID = 1
    TEST = 2


class Taken(NamedTuple):
    """What the statements of one kind, `rdfs:label` for instance, were taken for."""

    what: str
    statements: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Source:
    """Where a graph came from, and what reading it left out."""

    name: str
    duplicates: int = 0
    left_out: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    taken: tuple[Taken, ...] = ()  # in formats whose statements are not all facts
    rdf_terms: bool = False  # whether names that read as literals or blank nodes are these


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeBase:
    """Facts in ascending order, each once. A graph without splits is all train."""

    vocabulary: Vocabulary
    facts: Ids  # (fact, 3)  head, relation, tail
    splits: NDArray[np.int8]  # (fact,)  Split
    source: Source
    types: Types | None = None
    schema: Schema = field(default_factory=Schema)

    def __repr__(self) -> str:
        return f"KnowledgeBase({len(self.facts):,} facts, {self.vocabulary!r})"

    def __post_init__(self) -> None:
        if self.facts.ndim != 2 or self.facts.shape[1] != 3 or len(self.facts) != len(self.splits):
            raise DataError(f"facts of shape {self.facts.shape}, splits of {self.splits.shape}")
        _check_ids(self.facts, self.splits, self.vocabulary)

    def take(self, facts: Mask) -> Self:  # (fact,)
        """The same graph with only these of its facts."""
        return replace(
            self, facts=frozen(self.facts[facts]), splits=frozen(self.splits[facts], np.int8)
        )

    @classmethod
    def of_ids(
        cls,
        vocabulary: Vocabulary,
        facts: Ids,
        splits: NDArray[np.int8] | None = None,
        source: Source | None = None,
        types: Types | None = None,
    ) -> Self:
        """Sorts the facts and merges those that stand twice.

        A fact that stands in two splits stays in the first of them: what is trained on must not
        be asked for.
        """
        if splits is None:
            splits = np.zeros(len(facts), dtype=np.int8)
        source = source or Source("memory")
        _check_ids(facts, splits, vocabulary)
        # One sort of numbers that hold fact and split is ten times faster than sorting places.
        ascending = np.sort(pair_keys(fact_keys(facts, vocabulary), splits, len(Split)))
        keys, ascending_splits = np.divmod(ascending, len(Split))
        first = np.ones(len(keys), dtype=bool)
        first[1:] = np.diff(keys) != 0
        merged = replace(source, duplicates=source.duplicates + len(keys) - int(first.sum()))
        return cls(
            vocabulary,
            facts_of(keys[first], vocabulary),
            frozen(ascending_splits[first], np.int8),
            merged,
            types,
        )

    @property
    def has_splits(self) -> bool:
        return bool(self.splits.any())

    def part(self, *splits: Split) -> Ids:
        """The facts of these splits."""
        return self.facts[np.isin(self.splits, splits)]


def fact_keys(facts: Ids, vocabulary: Vocabulary) -> Keys:  # (fact,)
    """One number a fact, ascending with (head, relation, tail)."""
    entities, relations = vocabulary.num_entities, vocabulary.num_relations
    if entities * entities * relations * len(Split) >= 2**63:
        raise DataError(f"{entities:,} entities x {relations:,} relations are more than fit a key")
    heads, rels, tails = facts.T
    return pair_keys(pair_keys(heads, rels, relations), tails, entities)


def facts_of(keys: Keys, vocabulary: Vocabulary) -> Ids:  # (fact, 3)
    """The facts of these keys."""
    pairs, tails = np.divmod(keys, max(vocabulary.num_entities, 1))
    heads, relations = np.divmod(pairs, max(vocabulary.num_relations, 1))
    return frozen(np.stack([heads, relations, tails], axis=1))


def translated(kb: KnowledgeBase, vocabulary: Vocabulary) -> Ids:  # (fact, 3)
    """The facts in the ids of another vocabulary, without those that it has no names for."""
    entities, relations = (
        np.array([ids.get(name, -1) for name in names], np.int32)
        for names, ids in (
            (kb.vocabulary.entities, _ids(vocabulary.entities)),
            (kb.vocabulary.relations, _ids(vocabulary.relations)),
        )
    )
    heads, middles, tails = kb.facts.T
    facts = np.stack([entities[heads], relations[middles], entities[tails]], axis=1)
    return frozen(facts[(facts >= 0).all(axis=1)])


def _ids(names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def _check_ids(facts: Ids, splits: NDArray[np.int8], vocabulary: Vocabulary) -> None:
    entities, relations = vocabulary.num_entities, vocabulary.num_relations
    for ids, limit in (
        (facts[:, 0], entities),
        (facts[:, 1], relations),
        (facts[:, 2], entities),
        (splits, len(Split)),
    ):
        if len(ids) and (ids.min() < 0 or ids.max() >= limit):
            raise DataError("facts: an id that has no name, or an unknown split")
