"""What the labels of drawn proposals prove: which sets of proposals may be accepted.

**One set.** Its members are drawn at random, without replacement. How many of them are right is
bounded from below, for all moments together at which a person may stop: a number R is refuted when
the labels have become 1 / failure times as probable under a mixture of other numbers as under R. If
R is the truth, that ratio is a martingale that starts at 1, so the probability that it ever gets
there is at most `failure` (Ville, 1939; Waudby-Smith & Ramdas, 2020, section 2).

**Nested sets.** The probability of failure is spread over the sets in shares that depend on the
pilot alone. A set that is shown to keep the precision hands its share to the next larger one (the
fallback procedure, Wiens, 2003). So no set of a family is accepted wrongly with more than that
probability.

**What is accepted** is the largest set that is proved, without the members that were labelled as
not right. So it need only be proved that enough is right for the smaller set that remains.
"""

from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from assent.core.arrays import Keys
from assent.reviewing.drawing import Design, Family

UNLABELLED, NOT_RIGHT, IS_RIGHT = -1, 0, 1
# Logits may have to be corrected by an intercept and a slope. A rehearsal's probabilities are
# bounds from below, so beforehand a positive intercept is more probable. Only plans and shares
# depend on what is supposed here, never whether a promise holds.
INTERCEPTS = np.linspace(-3.0, 5.0, 33)
SLOPES = np.linspace(0.4, 1.6, 7)
INTERCEPT, INTERCEPT_SPREAD = 1.25, 1.5  # mean and standard deviation, before any label
SLOPE_SPREAD = 0.35  # the mean is 1
OTHERS_WORTH = 0.25  # of a label of another relation, for the calibration of this one
AFFORDABLE = 180  # checks that a set may need to be aimed at from the beginning
APART = 4  # the sets that are aimed at from the beginning: every fourth
EVERYWHERE = 0.05  # of the probability of failure that is spread over all sets alike
PATIENCE = 200  # checks that people have time for, at a time
CAREFUL = 0.8  # of what is left of them: more checks than that are not planned for one set
FAR = 100  # checks added to each plan, so that one large set is preferred to many small steps
DRAWN_PARTS = np.append(np.geomspace(0.002, 0.97, 40), 1.0)  # of a set, when checks are planned

Values = NDArray[np.floating]


@lru_cache(maxsize=1 << 18)
def fewest_right(size: int, drawn: int, right: int, hoped: int, failure: float) -> int:
    """The smallest number of right members of a set of this size that is not refuted.

    So many were drawn at random, and so many of these are right. The mixture that numbers are
    compared with is over all from `hoped` on, equally.
    """
    wrong, hoped = drawn - right, min(max(hoped, 0), size)
    logs = _log_factorials(1 << (size + 1).bit_length())

    def log_likelihood(numbers: Keys | int) -> Values:
        """Of so many right ones in the set: C(R, right) C(size - R, wrong), up to a constant."""
        left = size - numbers
        found: Values = logs[numbers] - logs[numbers - right] + logs[left] - logs[left - wrong]
        return found

    possible = np.arange(max(hoped, right), size - wrong + 1)
    if not drawn or not len(possible):
        return right
    terms = log_likelihood(possible)
    top = terms.max()
    mixture = top + np.log(np.exp(terms - top).sum()) - np.log(size - hoped + 1)
    refuted = mixture + np.log(failure)  # so is a number with this likelihood or a smaller one
    # The likelihood rises up to its mode, which is never refuted.
    low, high = right - 1, min(right * (size + 1) // drawn, size - wrong)
    while high - low > 1:
        middle = (low + high) // 2
        if log_likelihood(middle) <= refuted:
            low = middle
        else:
            high = middle
    return high


class Proved(NamedTuple):
    """What is known about one set."""

    right: int  # so many of its members are, at least
    level: float  # the probability of failure that was granted to it
    enough: bool  # whether it may be accepted, without the members labelled as not right


class Plan(NamedTuple):
    """A set that is worth checking."""

    place: int  # of the set in its family
    checks: int  # about so many more labels prove it
    gains: int  # about so many more facts are accepted then


class Audit:
    """The labels of drawn proposals, and what they prove of one family of sets."""

    def __init__(self, design: Design, family: Family, precision: float, confidence: float) -> None:
        self.design, self.family = design, family
        self.precision, self.failure = precision, 1 - confidence
        self.labels = np.full(len(design), UNLABELLED)  # (proposal,)
        # Of each set: how many are right of the first 0, 1, 2, ... members drawn.
        self._paths: list[list[int]] = [[0] for _ in family.sizes]
        self._bounds: dict[tuple[int, float], tuple[int, int]] = {}
        self._proved: list[Proved] | None = None
        self._granted: Values | None = None
        self._beliefs = beliefs_before()  # (calibration,)  log probabilities, up to a constant

    def add(self, place: int, right: bool) -> None:
        """A proposal that the design drew is labelled."""
        self.labels[place] = IS_RIGHT if right else NOT_RIGHT
        self._proved, self._granted = None, self._granted if place not in self._pilot else None
        self._beliefs += self._told(place)
        for path, drawn in zip(self._paths, self.family.drawn, strict=True):
            while len(path) <= len(drawn) and self.labels[drawn[len(path) - 1]] != UNLABELLED:
                path.append(path[-1] + int(self.labels[drawn[len(path) - 1]]))

    @property
    def pilot_left(self) -> Keys:
        """Proposals of the pilot without a label; nothing is proved before all have one."""
        pilot = self.design.pilot
        left: Keys = pilot[self.labels[pilot] == UNLABELLED]
        return left

    def proved(self) -> list[Proved]:  # (set,)
        """What the labels prove of each set; nothing of any before the pilot is labelled."""
        if self._proved is None:
            begun = len(self.family) and not len(self.pilot_left)
            self._proved = self._proofs() if begun else []
        return self._proved

    def accepted(self) -> Keys:
        """The members of the largest set that is proved, but for those labelled as not right."""
        enough = [place for place, proof in enumerate(self.proved()) if proof.enough]
        members = self.family.members[: self.family.sizes[enough[-1]] if enough else 0]
        kept: Keys = members[self.labels[members] != NOT_RIGHT]
        return kept

    def next(self) -> Keys:
        """The proposals to label next, in their order; none: there is nothing left to prove."""
        if len(self.pilot_left):
            return self.pilot_left
        plan = self.plan()
        if plan is None:
            return np.empty(0, np.int64)
        drawn = self.family.drawn[plan.place]
        left: Keys = drawn[self.labels[drawn] == UNLABELLED]
        return left

    def plan(self) -> Plan | None:
        """The set that brings most facts a check.

        None before the pilot is labelled, or if all is proved.
        """
        family, proved = self.family, self.proved()
        enough = [place for place, proof in enumerate(proved) if proof.enough]
        first = enough[-1] + 1 if enough else 0
        if not len(proved):
            return None
        shares = normal(self._beliefs) @ self._curves
        levels = np.array([proof.level for proof in proved])
        done = int((self.labels != UNLABELLED).sum())
        patience = PATIENCE - done % PATIENCE
        accepted, best, most = len(self.accepted()), None, (False, -np.inf)
        needed = checks_needed(family.sizes, shares, self.precision, levels)
        for place in range(first, len(family)):
            unlabelled = self.labels[family.drawn[place]] == UNLABELLED
            if not unlabelled.any():
                continue
            checks = max(int(unlabelled[: int(needed[place])].sum()), 1)
            gains = family.sizes[place] - (1 - shares[place]) * needed[place] - accepted
            within = checks <= CAREFUL * patience
            worth = within, gains / (checks + FAR * within)
            if worth > most:
                best, most = Plan(place, checks, max(int(gains), 0)), worth
        return best

    def _proofs(self) -> list[Proved]:
        found, level = list[Proved](), 0.0
        for place, (size, share) in enumerate(zip(self.family.sizes, self._shares(), strict=True)):
            level += share * self.failure
            pilot = self.labels[self.family.pilot[place]]
            path, known = self._paths[place], int(pilot.sum())
            wrong = len(pilot) - known + len(path) - 1 - path[-1]
            right = known + self._bound(place, known, level)
            found.append(Proved(right, level, right >= self.precision * (size - wrong)))
            # To hand on its share, a set must keep the precision as it is, wrong members and all:
            # whether it does was settled before any label, as the procedure supposes.
            if right < self.precision * size:
                level = 0.0
        return found

    def _bound(self, place: int, known: int, level: float) -> int:
        """How many members of a set are right outside the pilot, at least; the best so far."""
        path, size = self._paths[place], int(self.family.sizes[place])
        rest = size - len(self.family.pilot[place])
        hoped = int(np.ceil(self.precision * size)) - known
        done, best = self._bounds.get((place, level), (0, 0))
        for drawn in range(done + 1, len(path)):
            best = max(best, fewest_right(rest, drawn, path[drawn], hoped, level))
        self._bounds[place, level] = (len(path) - 1, best)
        return best

    @cached_property
    def _pilot(self) -> frozenset[int]:
        return frozenset(self.design.pilot.tolist())

    def _shares(self) -> Values:  # (set,)
        """Of the probability of failure, what each set gets; depends on the pilot alone.

        That is how probable it is, by the pilot, that the set is the largest that can be proved
        with the checks that are AFFORDABLE.
        """
        if self._granted is not None:
            return self._granted
        needed = checks_needed(self.family.sizes, self._curves, self.precision, self.failure / 2)
        affordable = needed <= AFFORDABLE
        largest = np.where(affordable, np.arange(len(self.family)), 0).max(axis=1, initial=0)
        weights = normal(beliefs_before() + sum(map(self._told, self.design.pilot.tolist())))
        shares = np.bincount(largest - largest % APART, weights, len(self.family))
        self._granted = (1 - EVERYWHERE) * shares + EVERYWHERE / len(self.family)
        return self._granted

    def _told(self, place: int) -> Values:  # (calibration,)
        """What the label of a proposal adds to the log probability of each calibration."""
        intercepts, slopes = calibrations()
        corrected = intercepts + slopes * self.design.logits[place]
        sign = 1 if self.labels[place] == IS_RIGHT else -1
        other = self.family.relation not in (None, self.design.relations[place])
        told: Values = -np.logaddexp(0, -sign * corrected) * (OTHERS_WORTH if other else 1)
        return told

    @cached_property
    def _curves(self) -> Values:  # (calibration, set)
        """The share of each set that is right, under each calibration."""
        intercepts, slopes = calibrations()
        logits, sizes = self.design.logits[self.family.members], self.family.sizes
        sums = np.cumsum(expit(intercepts[:, None] + slopes[:, None] * logits), axis=1)
        return sums[:, sizes - 1] / sizes


@cache
def calibrations() -> tuple[Values, Values]:  # (calibration,) each
    """Intercepts and slopes by which logits may have to be corrected."""
    intercepts, slopes = np.meshgrid(INTERCEPTS, SLOPES)
    return intercepts.ravel(), slopes.ravel()


def beliefs_before() -> Values:  # (calibration,)
    """The log probability of each calibration before any label, up to a constant."""
    intercepts, slopes = calibrations()
    before: Values = ((intercepts - INTERCEPT) / INTERCEPT_SPREAD) ** 2 + (
        (slopes - 1) / SLOPE_SPREAD
    ) ** 2
    return -0.5 * before


def normal(beliefs: Values) -> Values:
    """Probabilities, from their logarithms up to a constant."""
    weights: Values = np.exp(beliefs - beliefs.max())
    weights /= weights.sum()
    return weights


def checks_needed(
    sizes: Keys, shares: Values, precision: float, failure: Values | float
) -> Values:  # (..., set)
    """About how many of each set must be drawn until it is proved, if this share of it is right.

    By the divergence of the share that is right from the one that must be refuted; only plans
    depend on it.
    """
    shares = np.clip(shares, 1e-3, 1 - 1e-3)[..., None]
    least = precision * (1 - (1 - shares) * DRAWN_PARTS)
    gap = shares * np.log(shares / least) + (1 - shares) * np.log((1 - shares) / (1 - least))
    with np.errstate(divide="ignore"):
        wealth = sizes[:, None] * DRAWN_PARTS * np.where(shares > least, gap, 0) / (1 - DRAWN_PARTS)
    enough = wealth >= (1 - np.log(np.asarray(failure)))[..., None]
    enough[..., -1] = True
    needed: Values = np.ceil(DRAWN_PARTS[enough.argmax(axis=-1)] * sizes)
    return needed


@lru_cache(maxsize=32)
def _log_factorials(count: int) -> Values:
    """log 0!, log 1!, ..."""
    return np.asarray(gammaln(np.arange(count) + 1.0))
