"""What a rule is given to find a decider with."""

from collections.abc import Callable
from dataclasses import dataclass

from assent.core.benchmark import Benchmark
from assent.core.probabilities import Probabilities
from assent.core.queries import Queries
from assent.core.scores import Collector
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.deciding.calibrating import Tally, calibrated
from assent.deciding.features import Features
from assent.deciding.objectives import Objective
from assent.deciding.promising import Promise
from assent.deciding.shortlisting import Highest


@dataclass(frozen=True, slots=True)
class Source:
    """A model that a judge was trained with: the folder of its run, and a checksum of its numbers.

    The folder of the judge's own run is "".
    """

    path: str
    sha256: str


@dataclass(frozen=True, slots=True, eq=False)
class Tuning:
    """The valid queries of a benchmark, a way to their scores, and what is wanted of a decider."""

    benchmark: Benchmark
    collect: Callable[..., None]  # (*collectors): one pass over the scores of the valid queries
    objective: Objective
    promise: Promise | None  # instead of the objective, where one is asked for
    features: Callable[[Shortlist], Features]  # what a judge may know of shortlisted candidates
    sources: Callable[[], tuple[Source, ...]]  # the models that the features come from

    @property
    def queries(self) -> Queries:
        return self.benchmark.valid

    @property
    def names(self) -> Vocabulary:
        return self.benchmark.vocabulary

    def shortlisted(self) -> tuple[Shortlist, Probabilities]:
        """The highest candidates of valid, and probabilities calibrated on them."""
        highest = Highest(self.queries, self.names.num_slots)
        tally = Tally(self.names.num_slots)
        collectors: tuple[Collector, ...] = (highest, tally)
        self.collect(*collectors)
        shortlist = highest.result()
        return shortlist, calibrated(shortlist, tally)
