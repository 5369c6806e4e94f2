"""The rehearsal: what the facts that were held out say about the candidates that are new.

Valid and test hold facts that the model has not seen. When every query of the graph is asked, they
are candidates like all others, and they are right. A new candidate may be right as well: the graph
lacks facts that nobody wrote down. If `missing` facts of a relation are missing for each one held
out, and score alike, then `missing * h` of the new candidates are right where there are `h`
held-out ones of about that score (Elkan & Noto, 2008: positive and unlabelled examples). How many
are missing is estimated for each relation (`lacking.py`), never more than the caller says.

What is said for a candidate comes from the model and from the rules of the graph. A sigmoid of all
relations turns the model's score into log-odds; the log-odds of the rules are added with a weight.
Then each relation has sigmoids of its own, one for each number of facts that it may lack.

`assent build` holds out only facts whose two entities no train fact joins. Candidates whose
entities a train fact joins score differently, and no held-out fact is like them. Their sigmoids
have the slopes of the others; the intercepts are such that as many of them are right as the
relation lacks, if it lacks facts of both kinds equally often.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.completing.holes import NO_HOLES, Holes
from assent.completing.lacking import HARDLY, lacking, sigmoids_of
from assent.core.arrays import Ids, Keys, Mask
from assent.core.probabilities import near, sigmoid

# The weight of what rules say. Model and rules know the same facts, so that both whole would count
# these twice. Of 0, 1/4, 1/2 and 1, halves found most facts (world graph and UMLS, three draws
# each: `benchmarks/hiding.py`).
RULES = 0.5
HIGHEST = 2.0  # how far the intercept of joined candidates may lie above that of the others
HALVINGS = 64  # of the range in which an intercept is looked for
FARTHEST = 60.0  # intercepts lie between -FARTHEST and FARTHEST
LOUDEST = 1e4  # nothing that is said is farther from 0
FOLDS = (
    5  # each held-out fact is looked for with sigmoids that the facts of its fold had no part in
)

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Candidate facts, each once, with one score from both of its ends."""

    facts: Ids  # (candidate, 3)
    scores: Values  # (candidate,)  the model's
    rules: Values  # (candidate,)   log-odds that the rules add up to; 0 if they are not heard
    held_out: Mask  # (candidate,)  an answer of valid or test
    joined: Mask  # (candidate,)    of the kind that no held-out fact is like

    @classmethod
    def joined_up(cls, parts: Sequence[Self]) -> Self:
        """The candidates of all parts, one after another."""
        return cls(
            np.concatenate([part.facts for part in parts]),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.rules for part in parts]),
            np.concatenate([part.held_out for part in parts]),
            np.concatenate([part.joined for part in parts]),
        )

    def take(self, rows: Mask | Keys) -> Self:
        """The candidates at these places, or under this mask."""
        return type(self)(
            self.facts[rows],
            self.scores[rows],
            self.rules[rows],
            self.held_out[rows],
            self.joined[rows],
        )

    def __len__(self) -> int:
        return len(self.facts)

    @property
    def relations(self) -> Ids:  # (candidate,)
        return self.facts[:, 1]


class Known(NamedTuple):
    """How many facts of each relation are known, those held out among them."""

    alone: Keys  # (relation,)   of the kind that is held out
    joined: Keys  # (relation,)  of the other kind
    holes: Holes = NO_HOLES  # who has no known answer where others have one


@dataclass(frozen=True, slots=True, eq=False)
class Rehearsal:
    """The probability that a new candidate is right, by its relation, its kind and what is said.

    It is the mean over all numbers of facts that the relation may lack, as probable as each is.
    """

    start: float  # the intercept of the sigmoid of all relations, by the model's score alone
    slope: float  # and its slope
    numbers: Values  # (number,)            facts missing for each one held out
    weights: Values  # (number, relation)   how probable each number is
    alone: Values  # (number, relation)     intercepts of the sigmoids
    joined: Values  # (number, relation)    intercepts for candidates of the other kind
    slopes: Values  # (number, relation)    of both
    rate: float  # of the known facts, those that were held out and found among the candidates

    @property
    def missing(self) -> Values:  # (relation,)
        """Facts missing for each one held out, as is to be expected."""
        missing: Values = self.numbers @ self.weights
        return missing

    def lacks(self, held_out: float) -> Values:  # (relation,)
        """Of all facts of a relation, the share that is missing, as is to be expected.

        `held_out` is the share of the known facts that were held out, found again or not.
        """
        missing = self.missing * held_out
        lacks: Values = missing / (1 + missing)
        return lacks

    def said(self, candidates: Candidates) -> Values:  # (candidate,)
        """What model and rules say to a candidate, as log-odds, whatever its relation."""
        return _said(candidates, self.start, self.slope)

    def probability(self, candidates: Candidates) -> Values:  # (candidate,)
        return self._probability(self.said(candidates), candidates.relations, candidates.joined)

    def _probability(self, said: Values, relations: Ids, joined: Mask) -> Values:
        total = np.zeros(len(said))
        for weights, alone, other, slopes in zip(
            self.weights, self.alone, self.joined, self.slopes, strict=True
        ):
            starts = np.where(joined, other[relations], alone[relations])
            total += weights[relations] * sigmoid(starts + slopes[relations] * said)
        return total

    def said_at(self, probability: float, relations: Ids, joined: Mask) -> Values:
        """What must be said to a candidate of this relation and kind for this probability."""
        low, high = np.full(len(relations), -np.inf), np.full(len(relations), np.inf)
        if not 0 < probability < 1:
            return high if probability > 0 else low
        low, high = np.full(len(relations), -LOUDEST), np.full(len(relations), LOUDEST)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = self._probability(middle, relations, joined) > probability
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        return np.where(high == LOUDEST, np.inf, high)


def rehearsed(candidates: Candidates, known: Known, missing: float = 2.0) -> Rehearsal:
    """Fits the sigmoids for all that relations may lack: at most `missing` for each held out."""
    size, alone = len(known.alone), candidates.take(~candidates.joined)
    found = int(alone.held_out.sum())
    if not found:
        nothing = np.full((1, size), -FARTHEST)
        ones = np.ones((1, size))
        return Rehearsal(0.0, 1.0, np.zeros(1), ones, nothing, nothing, ones, 0.0)
    everything = np.zeros_like(alone.relations)
    (start,), (slope,), _ = sigmoids_of(
        near(alone.scores), everything, alone.held_out, 1, 1.0, HARDLY
    )
    said = _said(alone, start, slope)
    # What a relation lacks is spread over both kinds as its known facts are.
    shares = _shares_alone(known)
    lacks = lacking(said, alone.relations, alone.held_out, shares, missing, known.holes)
    with np.errstate(divide="ignore"):
        starts = np.maximum(lacks.starts + np.log(lacks.numbers[:, None] * shares), -FARTHEST)
    other = candidates.take(candidates.joined)
    rate = found / max(int(known.alone.sum() + known.joined.sum()), 1)
    said = _said(other, start, slope)
    matched = []
    for number, intercepts, slopes in zip(lacks.numbers, starts, lacks.slopes, strict=True):
        slanted = slopes[other.relations] * said
        # Where more are expected than there are candidates, all of them would be taken for right.
        mine = intercepts_of(slanted, other.relations, known.joined * (number * rate))
        matched.append(np.minimum(mine, intercepts + HIGHEST))
    return Rehearsal(
        float(start),
        float(slope),
        lacks.numbers,
        lacks.probabilities,
        starts,
        np.array(matched),
        lacks.slopes,
        float(rate),
    )


def rehearsed_by_others(
    candidates: Candidates, known: Known, missing: float, folds: Keys
) -> Values:  # (candidate,)
    """The probability of each candidate by sigmoids fitted to the candidates of the other folds."""
    probabilities = np.zeros(len(candidates))
    for fold in range(FOLDS):
        mine = folds == fold
        sigmoids = rehearsed(candidates.take(~mine), known, missing)
        probabilities[mine] = sigmoids.probability(candidates.take(mine))
    return probabilities


def lowest_threshold(probabilities: Values, precision: float) -> float:
    """The lowest probability so that of the candidates above it this share is right; inf: none is.

    Half-way between the last that is accepted and the first that is not.
    """
    falling = np.sort(probabilities)[::-1]
    means = np.cumsum(falling) / np.arange(1, len(falling) + 1)
    ends = np.diff(falling, append=-1.0) != 0  # equal ones are accepted together
    enough = np.flatnonzero(ends & (means >= precision))
    if not len(enough):
        return np.inf
    last = int(enough[-1])
    below = falling[last + 1] if last + 1 < len(falling) else 0.0
    return float((falling[last] + below) / 2)


def lowest_thresholds(
    probabilities: Values, relations: Ids, num_relations: int, precision: float
) -> Values:  # (relation,)
    """A threshold for each relation, so that this share of what it accepts is right; inf: none is.

    None is lower than the one that would serve all candidates (candidate,) together. Otherwise a
    sure relation would make up for facts that are hardly probable at all.
    """
    thresholds: Values = np.full(num_relations, np.inf)
    order = np.argsort(relations, kind="stable")
    ends = np.cumsum(np.bincount(relations, minlength=num_relations))
    for relation, mine in enumerate(np.split(order, ends[:-1])):
        if len(mine):
            thresholds[relation] = lowest_threshold(probabilities[mine], precision)
    thresholds = np.maximum(thresholds, lowest_threshold(probabilities, precision))
    return thresholds


def folds_of(facts: Ids) -> Keys:  # (candidate,)
    """The fold of each fact; a fact and its reverse are in one fold."""
    low, high = np.minimum(facts[:, 0], facts[:, 2]), np.maximum(facts[:, 0], facts[:, 2])
    mixed = (low.astype(np.uint64) << np.uint64(32) | high.astype(np.uint64)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    return ((mixed >> np.uint64(33)) % np.uint64(FOLDS)).astype(np.int64)


def _shares_alone(known: Known) -> Values:  # (relation,)
    """Of what each relation lacks, the share that is of the kind that is held out.

    It is that of its known facts; of a relation with few facts, closer to that of all.
    """
    every = known.alone + known.joined
    shares: Values = (known.alone + known.alone.sum() / max(every.sum(), 1)) / (every + 1)
    return shares


def _said(candidates: Candidates, start: float, slope: float) -> Values:  # (candidate,)
    said: Values = start + slope * near(candidates.scores) + RULES * candidates.rules
    return said


def intercepts_of(slanted: Values, groups: Ids, expected: Values) -> Values:  # (group,)
    """The intercepts with which the sigmoids of each group add up to the number expected there.

    `slanted` (candidate,) are the scores times the slope of their group. A group without candidates
    was never rehearsed, so that whatever comes up in it later is not probable.
    """
    low, high = np.full(len(expected), -FARTHEST), np.full(len(expected), FARTHEST)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        sums = np.bincount(groups, sigmoid(middle[groups] + slanted), len(expected))
        too_few = sums < expected
        low, high = np.where(too_few, middle, low), np.where(too_few, high, middle)
    return np.where(np.bincount(groups, minlength=len(expected)) > 0, low, -FARTHEST)
