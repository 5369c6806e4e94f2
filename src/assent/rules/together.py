"""What all the rules that fire for a candidate say together: one probability, as log-odds.

The surest rule counts whole, the next half, the next a quarter, as rules that fire together mostly
know the same. Rules about slots weigh a tenth.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

import numpy as np
from numba import njit

from assent.rules.falling import enter
from assent.rules.spoken import KINDS, SLOTS, Confidences

DISCOUNT = 0.5  # of each rule after the surest
SLOTS_WEIGHT = 0.1  # of rules about whom an entity has some slot with
COUNTED = 8  # of the confidences of all kinds, the highest
FAINT = 1e-6  # the probability of a candidate that nothing speaks for


def weights_of_kinds(slots_weight: float = SLOTS_WEIGHT) -> Confidences:  # (kind,)
    """How much the rules of each kind weigh."""
    weights = np.ones(len(KINDS), np.float32)
    weights[SLOTS] = slots_weight
    return weights


def together(best: Confidences) -> Confidences:  # (candidate,)
    """The log-odds of candidates, by the highest confidences (candidate, kind, kept) for each."""
    out = np.empty(len(best), np.float32)
    _fill(best, weights_of_kinds(), DISCOUNT, out)
    return out


@njit(nogil=True, cache=True)
def _fill(best, weights, discount, out):
    top = np.empty(COUNTED, np.float32)
    for i in range(len(best)):
        out[i] = as_log_odds((1.0 - FAINT) * against(best[i], weights, discount, top))


@njit(nogil=True, cache=True)
def against(best, weights, discount, top):
    """The probability that no rule is right: the surest counts whole, each next one less."""
    top[:] = 0
    for kind in range(best.shape[0]):
        for k in range(best.shape[1]):
            if enter(top, weights[kind] * best[kind, k]) < 0:
                break
    left, believed = 1.0, 1.0
    for k in range(len(top)):
        left *= 1.0 - believed * top[k]
        believed *= discount
    return left


@njit(nogil=True, cache=True)
def as_log_odds(against):
    return np.log((1.0 - against) / against)
