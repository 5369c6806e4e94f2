"""Draws that a number fixes: the same on any number of threads, whatever else is drawn."""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def first_state(seed, number):
    """Where the draws for one number, such as that of an item, begin."""
    return np.uint64(seed) ^ (np.uint64(number) * np.uint64(0x9E3779B97F4A7C15))


@njit(nogil=True, cache=True)
def next_state(state):
    return state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)


@njit(nogil=True, cache=True)
def drawn_below(state, size):
    """A number from 0 to `size` - 1."""
    return np.int64((state >> np.uint64(33)) % np.uint64(size))
