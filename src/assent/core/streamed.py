"""A benchmark that comes in blocks: what is written to a folder, whoever holds it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from assent.core.arrays import Ids
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.queries import Queries
from assent.core.schema import Schema
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary

FactBlocks = Callable[[], Iterable[Ids]]  # (fact, 3) each
QueryBlocks = Callable[[], Iterable[Queries]]


class Removed(NamedTuple):
    """The facts about removed entities, whose ids come after those of the others."""

    vocabulary: Vocabulary
    facts: FactBlocks
    types: Types | None


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """All parts of a benchmark; facts and queries ascend from block to block."""

    vocabulary: Vocabulary
    train: FactBlocks
    queries: Mapping[str, QueryBlocks]  # one of the SPLITS -> its queries
    masks_other_split: bool
    types: Types | None
    schema: Schema
    removed: Removed | None
    origin: Mapping[str, Any]

    @classmethod
    def of(cls, benchmark: Benchmark) -> Self:
        """A benchmark in memory is one block of each."""
        kb = benchmark.removed
        return cls(
            benchmark.vocabulary,
            lambda: [benchmark.train],
            {split: _one(benchmark.queries(split)) for split in SPLITS},
            benchmark.masks_other_split,
            benchmark.types,
            benchmark.schema,
            Removed(kb.vocabulary, lambda: [kb.facts], kb.types) if kb else None,
            benchmark.origin,
        )


def _one(queries: Queries) -> QueryBlocks:
    return lambda: [queries]
