"""What the labels of all reviewers come to: a verdict about each proposal.

A proposal is right if everyone who decided about it said so. It is not right if anyone called it
wrong, or looked at it and did not know. A skip is no decision.

Only proposals that the random design drew, and that someone looked at, are audited. Whatever else
is said about them can only speak against them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assent.reviewing.drawing import logits_of
from assent.reviewing.labels import RIGHT, SKIP, UNKNOWN, Label

INTERCEPT_SPREAD, SLOPE_SPREAD, RELATION_SPREAD = 2.0, 0.35, 1.0  # standard deviations
LEAST_SLOPE = 0.2  # so that what was more probable stays so
STEPS = 25  # of Newton's method, at most

Values = NDArray[np.floating]


@dataclass(frozen=True)
class Verdicts:
    """By the places of proposals."""

    audited: Mapping[int, bool]  # drawn, and looked at: whether right
    looked_at: Mapping[int, bool]  # looked at one by one, and known: whether right
    right: frozenset[int]  # looked at one by one, and right
    batched: frozenset[int]  # called right by batches alone
    refused: frozenset[int]  # not right


def verdicts_of(labels: Iterable[Label], places: Mapping[str, int]) -> Verdicts:
    """The verdicts by the labels that count; those of planted facts are left out."""
    said: dict[int, list[Label]] = {}
    for label in labels:
        if label.verdict != SKIP and (place := places.get(label.proposal)) is not None:
            said.setdefault(place, []).append(label)
    right = {place for place, rows in said.items() if all(row.verdict == RIGHT for row in rows)}
    known = {place for place, rows in said.items() if all(row.verdict != UNKNOWN for row in rows)}
    alone = {place for place, rows in said.items() if any(row.chosen != "batch" for row in rows)}
    drawn = sorted(place for place, rows in said.items() if any(row.drawn for row in rows))
    return Verdicts(
        {place: place in right for place in drawn},
        {place: place in right for place in sorted(alone & known)},
        frozenset(right & alone),
        frozenset(right - alone),
        frozenset(said.keys() - right),
    )


@dataclass(frozen=True)
class Recalibration:
    """Probabilities corrected by labels: log odds times a slope, plus intercepts.

    The slope is one for all and positive, so the order within a relation stays as it is.
    """

    intercept: float = 0.0
    slope: float = 1.0
    by_relation: Mapping[str, float] | None = None  # what is added for a relation; else 0

    def of(self, probabilities: Values, relations: Sequence[str]) -> Values:
        """The probabilities of facts of these relations, by name."""
        own = self.by_relation or {}
        added = np.array([own.get(relation, 0.0) for relation in relations], np.float64)
        return np.asarray(expit(self.intercept + self.slope * logits_of(probabilities) + added))


def recalibrated(
    probabilities: Values, relations: Sequence[str], right: Sequence[bool]
) -> Recalibration:
    """The most probable correction, given these labels and that it is a small one beforehand."""
    if not len(right):
        return Recalibration()
    names = sorted(set(relations))
    logits, truth = logits_of(probabilities), np.array(right, np.float64)
    columns = np.zeros((len(truth), 2 + len(names)))  # intercept, slope, relations
    columns[:, 0], columns[:, 1] = 1, logits
    columns[np.arange(len(truth)), [2 + names.index(relation) for relation in relations]] = 1
    start = np.zeros(columns.shape[1])
    start[1] = 1
    held = np.array([INTERCEPT_SPREAD, SLOPE_SPREAD, *[RELATION_SPREAD] * len(names)]) ** -2.0
    found = start.copy()
    for _ in range(STEPS):
        guess = expit(columns @ found)
        slope = columns.T @ (truth - guess) - held * (found - start)
        curve = (columns.T * (guess * (1 - guess))) @ columns + np.diag(held)
        step = np.linalg.solve(curve, slope)
        found = found + step * min(1, 2 / max(np.abs(step).max(), 1e-12))
        found[1] = max(found[1], LEAST_SLOPE)
        if np.abs(step).max() < 1e-8:
            break
    intercept, slope_found, *own = found.tolist()
    return Recalibration(intercept, slope_found, dict(zip(names, own, strict=True)))
