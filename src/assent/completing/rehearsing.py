"""The rehearsal: what the facts that were held out say about the candidates that are new.

Valid and test hold facts that the model has not seen. When every query of the graph is asked, they
are candidates like all others, and they are right. A new candidate may be right as well: the graph
lacks facts that nobody wrote down. How many it lacks no held-out fact can tell, so it is supposed
that `missing` facts are missing for each one held out, and that they score alike. Where there are
`h` held-out and `n` new candidates of about one score, `missing * h` of the new ones are then
right: a share of `missing * h / n`. If more facts are missing than supposed, more of them are
right, so the share is a bound from below. (Elkan & Noto, 2008: positive and unlabelled examples.)

What is said for a candidate comes from the model and from the rules of the graph. A sigmoid of all
relations turns the model's score into log-odds; the log-odds of the rules are added with a weight.
Then each relation has a sigmoid of its own.

`assent build` holds out only facts whose two entities no train fact joins. Candidates whose
entities a train fact joins score differently, and no held-out fact is like them. Their sigmoid has
the slope of the others; its intercept is such that as many of them are right as the graph lacks, if
it lacks facts of both kinds equally often.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from assent.core.arrays import Ids, Keys, Mask
from assent.core.probabilities import near, sigmoid

# The weight of what rules say. Model and rules know the same facts, so that both whole would count
# these twice. Of 0, 1/4, 1/2 and 1, halves found most facts (world graph and UMLS, three draws
# each: `benchmarks/hiding.py`).
RULES = 0.5
SHIFT, STRETCH = 1.0, 10.0  # how firmly a relation is held to the sigmoid of all relations
HARDLY = 0.01  # the same for the sigmoid of all relations, which is held to sigmoid(score)
FLATTEST = 0.05  # the lowest slope: a higher score is always more probable
HIGHEST = 2.0  # how far the intercept of joined candidates may lie above that of the others
STEP = 1.0  # the longest step of the search for a sigmoid, so that it cannot overshoot
TURNS = 200  # steps of the search, at most; some 20 are enough
CLOSE = 1e-9  # the search ends when no number moves farther
HALVINGS = 64  # of the range in which an intercept is looked for
FARTHEST = 60.0  # intercepts lie between -FARTHEST and FARTHEST
FOLDS = (
    5  # each held-out fact is looked for with sigmoids that the facts of its fold had no part in
)
GROWTH = 1.3  # of the numbers of surest candidates that `most_missing` looks at
FEWEST = 10  # held-out facts among these candidates, at least
SURE = 0.95  # the confidence with which fewer facts are missing than supposed

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


@dataclass(frozen=True, slots=True, eq=False)
class Rehearsal:
    """The probability that a new candidate is right, by its relation, its kind and what is said."""

    missing: float  # facts supposed to be missing for each one held out
    refuted: bool  # whether more were supposed at first, and the surest candidates spoke against it
    start: float  # the intercept of the sigmoid of all relations, by the model's score alone
    slope: float  # and its slope
    alone: Values  # (relation,)   intercepts of the sigmoids
    joined: Values  # (relation,)  intercepts for candidates of the other kind
    slopes: Values  # (relation,)  of both

    def said(self, candidates: Candidates) -> Values:  # (candidate,)
        """What model and rules say to a candidate, as log-odds, whatever its relation."""
        return _said(candidates, self.start, self.slope)

    def probability(self, candidates: Candidates) -> Values:  # (candidate,)
        relations = candidates.relations
        starts = np.where(candidates.joined, self.joined[relations], self.alone[relations])
        return sigmoid(starts + self.slopes[relations] * self.said(candidates))

    def said_at(self, probability: float, relations: Ids, joined: Mask) -> Values:
        """What must be said to a candidate of this relation and kind for this probability."""
        if not 0 < probability < 1:
            return np.full(len(relations), np.inf if probability > 0 else -np.inf)
        starts = np.where(joined, self.joined[relations], self.alone[relations])
        said: Values = (np.log(probability / (1 - probability)) - starts) / self.slopes[relations]
        return said


def rehearsed(candidates: Candidates, known: Known, missing: float = 1.0) -> Rehearsal:
    """Fits the sigmoids, with fewer facts missing where the surest candidates demand it."""
    first = _fitted(candidates, known, missing)
    alone = candidates.take(~candidates.joined)
    supposed = missing * _share_alone(known)
    allowed = most_missing(first.probability(alone), alone.held_out)
    if allowed >= supposed:
        return first
    return replace(_fitted(candidates, known, missing * allowed / supposed), refuted=True)


def rehearsed_by_others(
    candidates: Candidates, known: Known, missing: float, folds: Keys
) -> Values:  # (candidate,)
    """The probability of each candidate by sigmoids fitted to the candidates of the other folds."""
    probabilities = np.zeros(len(candidates))
    for fold in range(FOLDS):
        mine = folds == fold
        sigmoids = _fitted(candidates.take(~mine), known, missing)
        probabilities[mine] = sigmoids.probability(candidates.take(mine))
    return probabilities


def most_missing(probabilities: Values, held_out: Mask) -> float:
    """How many facts can be missing for each one held out, at most.

    Among the surest candidates all missing facts are new candidates. So if `n` new and `h` held-out
    facts are among them, no more than `n / h` are missing for each one held out. The smallest of
    these bounds counts; with confidence SURE all of them hold.
    """
    order = np.argsort(-probabilities, kind="stable")
    falling, found = probabilities[order], np.cumsum(held_out[order])
    # Candidates of equal probability are taken together.
    ends = np.flatnonzero(np.diff(falling, append=-1.0) != 0)
    sizes = FEWEST * GROWTH ** np.arange(np.log(max(len(order), 1) / FEWEST) / np.log(GROWTH))
    places = np.searchsorted(ends, sizes - 1)
    looked_at = np.unique(ends[places[places < len(ends)]])
    looked_at = looked_at[found[looked_at] >= FEWEST]
    if not len(looked_at):
        return np.inf
    right = found[looked_at].astype(np.float64)
    new = looked_at + 1 - right
    # Each look has its share of the errors. They are at nested sets and err together, so that with
    # twice the share still fewer than 1 - SURE of all graphs have a bound that does not hold.
    sure = 1 - (1 - SURE) * min(2 / len(looked_at), 1)
    shares = betaincinv(new + 1, right, sure)  # Clopper & Pearson's upper bound of new / all
    return float((shares / (1 - shares)).min())


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


def folds_of(facts: Ids) -> Keys:  # (candidate,)
    """The fold of each fact; a fact and its reverse are in one fold."""
    low, high = np.minimum(facts[:, 0], facts[:, 2]), np.maximum(facts[:, 0], facts[:, 2])
    mixed = (low.astype(np.uint64) << np.uint64(32) | high.astype(np.uint64)) * np.uint64(
        0x9E3779B97F4A7C15
    )
    return ((mixed >> np.uint64(33)) % np.uint64(FOLDS)).astype(np.int64)


def _share_alone(known: Known) -> float:
    return float(known.alone.sum() / max(known.alone.sum() + known.joined.sum(), 1))


def _fitted(candidates: Candidates, known: Known, missing: float) -> Rehearsal:
    size, alone = len(known.alone), candidates.take(~candidates.joined)
    found, total = int(alone.held_out.sum()), int(known.alone.sum() + known.joined.sum())
    if not found or not missing:
        nothing = np.full(size, -FARTHEST)
        return Rehearsal(missing, False, 0.0, 1.0, nothing, nothing, np.full(size, FLATTEST))
    # All that are missing are spread over both kinds as the known facts are.
    ratio = missing * _share_alone(known)
    everything = np.zeros_like(alone.relations)
    (start,), (slope,) = sigmoids_of(
        near(alone.scores), everything, alone.held_out, 1, (HARDLY, HARDLY), ratio
    )
    said = _said(alone, start, slope)
    (shift,), (stretch,) = sigmoids_of(said, everything, alone.held_out, 1, (HARDLY, HARDLY), ratio)
    starts, slopes = sigmoids_of(
        shift + stretch * said, alone.relations, alone.held_out, size, (SHIFT, STRETCH), ratio
    )
    starts, slopes = starts + slopes * shift, slopes * stretch
    expected = known.joined.astype(np.float64) * (missing * found / total)  # (relation,)
    other = candidates.take(candidates.joined)
    slanted = slopes[other.relations] * _said(other, start, slope)
    # Where more are expected than there are candidates, all of them would be taken for right.
    matched = np.minimum(intercepts_of(slanted, other.relations, expected), starts + HIGHEST)
    return Rehearsal(missing, False, float(start), float(slope), starts, matched, slopes)


def _said(candidates: Candidates, start: float, slope: float) -> Values:  # (candidate,)
    said: Values = start + slope * near(candidates.scores) + RULES * candidates.rules
    return said


def sigmoids_of(
    scores: Values, groups: Ids, held_out: Mask, size: int, held: tuple[float, float], ratio: float
) -> tuple[Values, Values]:
    """Intercepts and slopes (group,) of the sigmoids that give a new candidate's probability p.

    If `ratio` facts are missing for each one held out, a candidate is held out with probability
    p / (ratio + p). The sigmoids are the likeliest under that, held to sigmoid(score) as by a
    normal prior with the two precisions `held`; found by Fisher scoring.
    """
    a, b = np.zeros(size), np.ones(size)
    for _ in range(TURNS):
        p = sigmoid(a[groups] + b[groups] * scores)
        q = p / (ratio + p)
        steep = ratio / (ratio + p) ** 2 * p * (1 - p)  # dq / d(logit of p)
        spread = np.maximum(q * (1 - q), 1e-300)
        gap, weight = (q - held_out) / spread * steep, steep**2 / spread
        slope_a = np.bincount(groups, gap, size) + held[0] * a
        slope_b = np.bincount(groups, gap * scores, size) + held[1] * (b - 1)
        aa = np.bincount(groups, weight, size) + held[0]
        ab = np.bincount(groups, weight * scores, size)
        bb = np.bincount(groups, weight * scores * scores, size) + held[1]
        size_of = aa * bb - ab * ab
        step_a = (bb * slope_a - ab * slope_b) / size_of
        step_b = (aa * slope_b - ab * slope_a) / size_of
        longest = np.maximum(np.maximum(np.abs(step_a), np.abs(step_b)) / STEP, 1.0)
        before = b
        a, b = a - step_a / longest, np.maximum(b - step_b / longest, FLATTEST)
        if max(np.abs(step_a).max(), np.abs(b - before).max()) < CLOSE:
            break
    return a, b


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
