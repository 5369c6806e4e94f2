"""What an engine does for building: it runs SQL over tables that need not fit into memory."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from numpy.typing import NDArray

from assent.core.facts import Source
from assent.core.schema import Schema
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary

Columns = Mapping[str, NDArray[Any]]


class Engine(Protocol):
    """Runs the SQL that DuckDB and Spark have in common."""

    def hash(self, text: str) -> str:
        """The SQL that computes `hashing.hashes_of` of the text that this SQL gives."""

    def keep(self, name: str, sql: str) -> None:
        """Makes a table of what a query finds."""

    def put(self, name: str, columns: Columns) -> None:
        """Makes a table of columns."""

    def drop(self, *names: str) -> None:
        """Gives the place of tables free."""

    def found(self, sql: str) -> Columns:
        """What a query finds, all at once: for results that are small."""

    def blocks(self, sql: str) -> Iterator[Columns]:
        """What a query finds in its order, a block of rows after another; no block is empty."""


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """A graph whose facts are in an engine's table `facts`: all that is known but these.

    The table has the columns head, relation, tail (ids) and split; each fact stands there once.
    """

    vocabulary: Vocabulary
    num_facts: int
    has_splits: bool
    source: Source
    types: Types | None = None
    schema: Schema = field(default_factory=Schema)
