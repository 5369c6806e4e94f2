"""All that is measured of the decisions about one split of a benchmark."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

from assent.core.arrays import Mask
from assent.core.benchmark import Benchmark
from assent.core.counts import METRICS
from assent.core.probabilities import Probabilities
from assent.core.queries import Queries
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.measuring.abstaining import Abstaining, Tops
from assent.measuring.calibration import Calibration, Calibrations, Reliability
from assent.measuring.classification import Classification, Classified, Classifying, Interval
from assent.measuring.measure import Decided, MakeMeasure, Measure, Result
from assent.measuring.plain import plain
from assent.measuring.ranking import Ranked, Ranks, Standings


def measures_of(benchmark: Benchmark, split: str) -> dict[str, Measure]:
    """A new measure of every kind, to look at the scores of one split."""
    return {name: make(benchmark, split) for name, make in MEASURES.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The decisions, candidate by candidate, and the result of every measure by its name."""

    decided: Decided
    results: Mapping[str, Result]

    def __repr__(self) -> str:
        return f"Evaluation({self.rule} on {self.split}: F1 {self.f1():.3f}, MRR {self.mrr:.3f})"

    @classmethod
    def of(cls, decided: Decided, measures: Mapping[str, Measure]) -> Self:
        """The results of measures that have seen the scores of all queries decided about."""
        return cls(decided, {name: each.result(decided) for name, each in measures.items()})

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is undefined is null."""
        document: dict[str, Any] = {"split": self.split, "rule": self.rule}
        for result in self.results.values():
            document |= result.to_json()
        return plain(document)

    def lines(self) -> dict[str, Mapping[str, float]]:
        """The first numbers of every measure, for tables: measure -> name of a number -> number."""
        return {name: result.lines() for name, result in self.results.items()}

    @property
    def split(self) -> str:
        return self.decided.split

    @property
    def rule(self) -> str:
        return self.decided.rule

    @property
    def vocabulary(self) -> Vocabulary:
        return self.decided.vocabulary

    @property
    def shortlist(self) -> Shortlist:
        return self.decided.shortlist

    @property
    def accepted(self) -> Mask:  # (candidate,)
        return self.decided.accepted

    @property
    def probabilities(self) -> Probabilities | None:
        return self.decided.probabilities

    @property
    def queries(self) -> Queries:
        return self.decided.queries

    # Classification

    @property
    def classified(self) -> Classified:
        return self._classification.classified

    @property
    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Name of a set -> metric -> bootstrap interval over queries."""
        return self._classification.intervals

    def f1(self, name: str = "full") -> float:
        """The F1 of one of the sets of queries."""
        return float(METRICS["f1"](self.classified.of(name)))

    # Ranking

    @property
    def mrr(self) -> float:
        """Of every answer of every query, filtered: other true answers are no candidates."""
        return self._ranked.mrr

    @property
    def unfiltered_mrr(self) -> float:
        """Only what is known is no candidate."""
        return self._ranked.unfiltered_mrr

    @property
    def ranks(self) -> Ranks:
        return self._ranked.ranks

    @property
    def filtered(self) -> Ranks:
        return self._ranked.filtered

    @property
    def ranking(self) -> dict[str, dict[str, dict[str, float]]]:
        """Filtered: side -> ties -> metric, under PyKEEN's names."""
        return self._ranked.by_side

    # Abstaining and calibration

    @property
    def abstaining(self) -> Abstaining:
        return cast(Abstaining, self.results["abstaining"])

    @property
    def calibration(self) -> Calibration:
        """Of the sigmoids of the scores."""
        return self._calibrations.as_scored.candidates

    @property
    def calibrated(self) -> Calibration | None:
        """Of the probabilities that the decider has, if it has any."""
        mine = self._calibrations.calibrated
        return None if mine is None else mine.candidates

    @property
    def accepted_calibration(self) -> tuple[Calibration, Calibration | None]:
        """Both of the accepted candidates alone."""
        mine = self._calibrations.calibrated
        return self._calibrations.as_scored.accepted, None if mine is None else mine.accepted

    @property
    def _classification(self) -> Classification:
        return cast(Classification, self.results["classification"])

    @property
    def _ranked(self) -> Ranked:
        return cast(Ranked, self.results["ranking"])

    @property
    def _calibrations(self) -> Calibrations:
        return cast(Calibrations, self.results["calibration"])


# A measure gets a line here; its keys then stand in the JSON, in this order.
MEASURES: dict[str, MakeMeasure] = {
    "classification": Classifying.of,
    "ranking": Standings.of,
    "abstaining": Tops.of,
    "calibration": Reliability.of,
}
