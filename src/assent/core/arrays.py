"""Read-only arrays, and the ragged ones that are offsets plus values."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Integer = TypeVar("Integer", bound=np.integer[Any])

Ids = NDArray[np.int32]
Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]


def frozen(values: ArrayLike, dtype: type = np.int32) -> NDArray[Any]:
    """A read-only view of `values`; the caller's own array stays writable."""
    view: NDArray[Any] = np.asarray(values, dtype=dtype).view()
    view.flags.writeable = False
    return view


def offsets_of(counts: ArrayLike) -> Keys:
    """Where segments of these lengths start, one after another, and where the last one ends."""
    counts = np.asarray(counts, dtype=np.int64)
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def rows_of(offsets: Keys) -> Keys:
    """The segment that each value of a ragged array belongs to."""
    return np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))


def places_in(offsets: Keys, rows: ArrayLike) -> Keys:
    """The places of all values of the given segments of a ragged array, segment after segment."""
    rows = np.asarray(rows, dtype=np.int64)
    starts = offsets[rows]
    lengths = offsets[rows + 1] - starts
    shifts = starts - offsets_of(lengths)[:-1]
    places: Keys = np.arange(int(lengths.sum()), dtype=np.int64) + np.repeat(shifts, lengths)
    return places


def distinct(keys: NDArray[Integer]) -> NDArray[Integer]:
    """The keys in ascending order, each once: what np.unique gives, several times faster."""
    ascending = np.sort(keys)
    return ascending[np.append(True, np.diff(ascending) != 0)] if len(keys) else ascending


def found_in(sorted_keys: Keys, keys: Keys) -> Mask:
    """Which of `keys` are among `sorted_keys`, which ascend."""
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    places = np.searchsorted(sorted_keys, keys)
    found: Mask = sorted_keys[np.minimum(places, len(sorted_keys) - 1)] == keys
    return found


def pair_keys(firsts: NDArray[Any], seconds: NDArray[Any], num_seconds: int) -> Keys:
    """One number for each pair of ids, ascending by the first id, then by the second.

    `num_seconds` is how many different second ids there are.
    """
    keys: Keys = np.asarray(firsts, np.int64) * num_seconds + seconds
    return keys
