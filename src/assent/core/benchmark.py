"""A benchmark: facts to learn from, and queries that may have no answer."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Self

import numpy as np

from assent.core.arrays import Ids, Mask, distinct, found_in, frozen
from assent.core.facts import KnowledgeBase, fact_keys, facts_of
from assent.core.queries import Queries, Subset, both_ways
from assent.core.schema import Schema
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError

SPLITS = ("valid", "test")  # those that queries are asked in


@dataclass(frozen=True, slots=True, eq=False)
class Benchmark:
    """Train facts, valid and test queries, and what is masked when these are scored."""

    vocabulary: Vocabulary
    train: Ids  # (fact, 3)
    valid: Queries
    test: Queries
    masks_other_split: bool  # the answers of valid are no candidates in test, and vice versa
    types: Types | None = None
    origin: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    # What the graph states. Domains and ranges that `types` learned are not among it.
    schema: Schema = field(default_factory=Schema)
    # The facts that building took out with the entities it removed. Its vocabulary (and its types)
    # have the removed entities after those of the benchmark. None: they were not kept.
    removed: KnowledgeBase | None = None

    def __repr__(self) -> str:
        return (
            f"Benchmark({len(self.train):,} train facts, {len(self.valid):,} valid and "
            f"{len(self.test):,} test queries, {self.vocabulary!r})"
        )

    @property
    def has_rdf_terms(self) -> bool:
        """Whether names that read as literals or blank nodes are these: they were kept from RDF."""
        source = self.origin.get("source")
        return isinstance(source, Mapping) and source.get("rdf_terms") is True

    def __post_init__(self) -> None:
        entities, relations = self.vocabulary.num_entities, self.vocabulary.num_relations
        slots = self.vocabulary.num_slots
        for name, ids, limit in (
            ("train", self.train[:, [0, 2]], entities),
            ("train", self.train[:, 1], relations),
            ("valid", self.valid.anchors, entities),
            ("valid", self.valid.answers, entities),
            ("valid", self.valid.relations, slots),
            ("test", self.test.anchors, entities),
            ("test", self.test.answers, entities),
            ("test", self.test.relations, slots),
        ):
            if ids.size and (ids.min() < 0 or ids.max() >= limit):
                raise DataError(f"{name}: an id that the vocabulary has no name for")
        mine = self.vocabulary.entities
        if self.removed and self.removed.vocabulary.entities[: len(mine)] != mine:
            raise DataError("removed: its vocabulary does not begin with that of the benchmark")

    @property
    def lost(self) -> Ids:  # (pair, 2)  anchor, slot
        """The queries that lost an answer with the removed entities."""
        if self.removed is None:
            return frozen(np.empty((0, 2)))
        names = self.vocabulary
        anchors, slots, answers = both_ways(self.removed.facts, names.num_relations)
        lost = (anchors < names.num_entities) & (answers >= names.num_entities)
        return frozen(np.stack([anchors[lost], slots[lost]], axis=1))

    def whole(self) -> Self:
        """All that is known as train facts, removed entities included; no queries are left."""
        names, types = self.vocabulary, self.types
        parts = [self.train, self.facts("valid"), self.facts("test")]
        if self.removed is not None:
            names, types = self.removed.vocabulary, self.removed.types
            parts.append(self.removed.facts)
        facts = KnowledgeBase.of_ids(names, np.concatenate(parts)).facts
        none = Queries.empty([], [], Subset.COMPLETE)
        return replace(
            self, vocabulary=names, train=facts, valid=none, test=none, types=types, removed=None
        )

    def queries(self, split: str) -> Queries:
        """The queries of one of the SPLITS."""
        if split not in SPLITS:
            raise ConfigError(f"unknown split {split!r}; choose from {', '.join(SPLITS)}")
        return self.valid if split == "valid" else self.test

    def facts(self, split: str) -> Ids:  # (fact, 3)
        """The facts that the answers of one split make with their queries, each once."""
        names = self.vocabulary
        keys = fact_keys(self.queries(split).facts(names.num_relations), names)
        return facts_of(distinct(keys), names)

    def holds(self, facts: Ids) -> Mask:  # (fact,)
        """Which of these facts are known to be true, in train, valid or test."""
        names = self.vocabulary
        parts = (self.train, self.facts("valid"), self.facts("test"))
        keys = np.concatenate([fact_keys(part, names) for part in parts])
        return found_in(np.sort(keys), fact_keys(facts, names))

    def digest(self) -> str:
        """A checksum of all that training and evaluation depend on."""
        sha = hashlib.sha256(b"\1" if self.masks_other_split else b"\0")
        for names in (self.vocabulary.entities, self.vocabulary.relations):
            sha.update("\n".join(names).encode() + b"\0")
        sha.update(self.train.astype("<i4").tobytes())
        for part in (self.valid, self.test):
            for ids in (part.anchors, part.relations, part.offsets, part.answers, part.subsets):
                sha.update(ids.astype("<i8").tobytes())
        return sha.hexdigest()

    def truth(self) -> Queries:
        """Everything known to be true, in train, valid and test, grouped by query."""
        names = self.vocabulary
        asked = (part.facts(names.num_relations) for part in (self.valid, self.test))
        keys = [fact_keys(facts, names) for facts in (self.train, *asked)]
        facts = facts_of(distinct(np.concatenate(keys)), names)
        return Queries.grouped(*both_ways(facts, names.num_relations))

    def known(self, split: str) -> Queries:
        """The answers that are no candidates when this split is scored, grouped by query.

        Accepting a train fact would add nothing. Where `masks_other_split`, the answers of the
        other split are masked too: they are true, but would be counted as wrong.
        """
        mine, num_relations = self.queries(split), self.vocabulary.num_relations
        facts = self.train
        if self.masks_other_split:
            other = self.test if mine is self.valid else self.valid
            keys = np.concatenate(
                [
                    fact_keys(facts, self.vocabulary),
                    fact_keys(other.facts(num_relations), self.vocabulary),
                ]
            )
            facts = facts_of(distinct(keys), self.vocabulary)
        return Queries.grouped(*both_ways(facts, num_relations))
