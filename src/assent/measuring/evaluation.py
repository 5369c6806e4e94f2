"""All that is measured of a decision on one half of a benchmark."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from assent.core.arrays import Mask, rows_of
from assent.core.counts import METRICS
from assent.core.probabilities import Probabilities
from assent.core.queries import SETS, Queries
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.measuring.abstaining import Abstaining
from assent.measuring.calibration import Calibration, sigmoid, stated
from assent.measuring.classification import Classified, Interval, intervals
from assent.measuring.plain import plain
from assent.measuring.ranking import Ranks, mean_reciprocal_rank, ranking


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The decision, candidate by candidate, and what it is worth."""

    split: str
    rule: str
    vocabulary: Vocabulary
    shortlist: Shortlist
    accepted: Mask  # (candidate,)
    ranks: Ranks  # among all candidates
    filtered: Ranks  # among those not known to be true
    abstaining: Abstaining
    calibration: Calibration  # of the raw scores
    probabilities: Probabilities | None = None  # that the decider has
    calibrated: Calibration | None = None  # of these

    @property
    def queries(self) -> Queries:
        return self.shortlist.queries

    @cached_property
    def classified(self) -> Classified:
        return Classified(self.queries, self.shortlist.counts(self.accepted))

    @property
    def mrr(self) -> float:
        """Of every answer of every query, filtered: no other true answer stands in its way."""
        return mean_reciprocal_rank(self.filtered.realistic())

    @property
    def unfiltered_mrr(self) -> float:
        """With only known answers left out."""
        return mean_reciprocal_rank(self.ranks.realistic())

    def f1(self, name: str = "full") -> float:
        return float(METRICS["f1"](self.classified.of(name)))

    @cached_property
    def accepted_calibration(self) -> tuple[Calibration, Calibration | None]:
        """Of the accepted facts alone: by the raw scores, and by the decider's probabilities."""
        scores = self.shortlist.scores[self.accepted]
        slots, right = self.shortlist.relations[self.accepted], self.shortlist.right[self.accepted]
        size = 2 * self.vocabulary.num_relations
        raw = stated(sigmoid(scores).astype(np.float64), right, slots, size)
        if self.probabilities is None:
            return raw, None
        return raw, stated(self.probabilities.of(scores, slots), right, slots, size)

    @cached_property
    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Set -> metric -> bootstrap interval over queries."""
        return intervals(self.classified)

    @cached_property
    def ranking(self) -> dict[str, dict[str, dict[str, float]]]:
        """Filtered: side -> ties -> metric, under PyKEEN's names."""
        asked = self.queries.relations[rows_of(self.queries.offsets)]
        return ranking(self.filtered, asked >= self.vocabulary.num_relations)

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is undefined is null."""
        raw, mine = self.accepted_calibration
        return plain(
            {
                "split": self.split,
                "rule": self.rule,
                "classification": {name: self._of_set(name) for name in SETS},
                "macro": self.classified.macro(2 * self.vocabulary.num_relations),
                "mrr": self.mrr,
                "unfiltered_mrr": self.unfiltered_mrr,
                **self.ranking,
                "abstaining": asdict(self.abstaining),
                "calibration": _of_probabilities(self.calibration, raw),
                "calibrated": (
                    None
                    if self.calibrated is None or mine is None
                    else _of_probabilities(self.calibrated, mine)
                ),
            }
        )

    def _of_set(self, name: str) -> dict[str, Any]:
        counts = self.classified.of(name)
        spans = self.intervals[name]
        return {
            "queries": int(SETS[name](self.queries).sum()),
            "correct": counts.correct,
            "accepted": counts.accepted,
            "relevant": counts.relevant,
            **{metric: of(counts) for metric, of in METRICS.items()},
            **{f"{metric}_interval": list(span) for metric, span in spans.items()},
            "accepted_per_query": self.classified.per_query(name),
            "left_empty": self.classified.left_empty(name),
        }


def _of_probabilities(of_all: Calibration, of_accepted: Calibration) -> dict[str, Any]:
    return {
        "expected_calibration_error": of_all.error(),
        "expected_calibration_error_above_lowest_bin": of_all.error_of_likely(),
        "brier_score": of_all.brier(),
        "reliability": dict(zip(("stated", "true"), of_all.reliability(), strict=True)),
        "accepted": {
            "expected_calibration_error": of_accepted.error(),
            **dict(zip(("stated", "true"), of_accepted.means(), strict=True)),
        },
    }
