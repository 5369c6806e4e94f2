"""A path as the slots of its steps: as one number, and walked from its other end."""

import numpy as np

from assent.core.arrays import Ids, Keys, frozen

NONE = -1  # instead of a step that is not there
STEPS = 3  # of the longest paths


def path_codes(steps: Ids, num_slots: int) -> Keys:  # (path,)
    """Paths (path, 3) as numbers."""
    base = codes_base(num_slots)
    codes: Keys = (steps.astype(np.int64) + 1) @ base ** np.arange(STEPS, dtype=np.int64)
    return codes


def steps_of_codes(codes: Keys, num_slots: int) -> Ids:  # (path, 3)
    """The steps of paths that are given as numbers."""
    base = codes_base(num_slots)
    return np.stack([codes // base**k % base - 1 for k in range(STEPS)], axis=1).astype(np.int32)


def codes_base(num_slots: int) -> int:
    """What each step of a path is multiplied by, once more than the one before it."""
    return num_slots + 1


def reversed_steps(steps: Ids, num_slots: int) -> Ids:  # (rule, 3)
    """The same paths walked from the other end."""
    inverse = np.where(steps == NONE, NONE, (steps + num_slots // 2) % num_slots)
    lengths = (steps != NONE).sum(axis=1)
    places = lengths[:, None] - 1 - np.arange(STEPS)
    turned = np.take_along_axis(inverse, np.maximum(places, 0), axis=1)
    return frozen(np.where(places >= 0, turned, NONE))
