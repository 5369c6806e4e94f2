"""What a measure is: it looks at every block of scores, then at the decisions, and gives a result.

A new measure is a file with such a class, and its line in the table `MEASURES` of `evaluation.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from assent.core.arrays import Mask
from assent.core.benchmark import Benchmark
from assent.core.probabilities import Probabilities
from assent.core.queries import SETS, Queries, Sets
from assent.core.scores import ScoreBlock
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What was decided about the queries of one split."""

    split: str
    rule: str
    vocabulary: Vocabulary
    shortlist: Shortlist  # the candidates that were decided about
    accepted: Mask  # (candidate,)
    probabilities: Probabilities | None = None  # those of the decider
    probable: Shortlist | None = None  # the candidates above the floors of these probabilities
    sets: Sets = field(default_factory=lambda: SETS)  # those that results are told for

    @property
    def queries(self) -> Queries:
        return self.shortlist.queries


class Result(Protocol):
    """What one measure found."""

    def to_json(self) -> Mapping[str, Any]:
        """Its keys in the JSON of an evaluation; nan where a number is undefined."""
        ...

    def lines(self) -> Mapping[str, float]:
        """The numbers that people read first, by what they are called."""
        ...


class Measure(Protocol):
    """A collector of scores that gives a result once the decisions are made."""

    def add(self, block: ScoreBlock) -> None: ...

    def result(self, decided: Decided) -> Result: ...


MakeMeasure = Callable[[Benchmark, str], Measure]  # of a benchmark and the name of a split
