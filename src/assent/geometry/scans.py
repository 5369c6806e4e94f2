"""Compiled loops over the scores of whole rows: what passes a floor, and how many pass an answer.

A row is read while the processor still has it at hand, and nothing as large as a row is made.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import numpy as np
from numba import njit

CHUNK = 64  # scores looked at together: most chunks hold nothing of interest
CELLS = 1 << 23  # bins of all slots together, 32 MB
FINEST = 18  # bits of a score that a bin does not tell apart: scores within 3 % may share one

_scan = njit(nogil=True, cache=True)
# Sums and maxima may be taken in any order, so that they are taken in vectors.
_count = njit(nogil=True, cache=True, fastmath={"reassoc", "nnan", "nsz"})


@_count
def _highest(row):
    highest = np.float32(-np.inf)
    for score in row:
        highest = max(highest, score)
    return highest


def bits_ignored(num_slots: int) -> int:
    """How many bits of a score its bin leaves out, so that the bins of all slots stay few."""
    return FINEST + max(0, int(np.ceil(np.log2(num_slots / (CELLS >> (32 - FINEST))))))


@_scan
def _bin(score, shift):
    """The bin of a score; higher scores never have lower ones."""
    bits = np.float32(score + np.float32(0)).view(np.int32)
    rising = np.int64(~bits if bits < 0 else bits ^ np.int32(-(2**31))) & 0xFFFFFFFF
    return rising >> shift


@_scan
def _lower_edge(place, shift):
    """Just below the lowest score of a bin."""
    rising = np.int64(place << shift)
    bits = rising - (1 << 31) if rising >= 1 << 31 else ~rising
    return np.nextafter(np.int32(bits).view(np.float32), np.float32(-np.inf))


@_scan
def passing(scores, floors, rows, entities, values):
    """Writes where scores (query, entity) are higher than the floor of their row, and which.

    Returns how many there are; they are written as far as there is room.
    """
    count, width = 0, scores.shape[1]
    for i in range(len(scores)):
        row, floor = scores[i], floors[i]
        for start in range(0, width, CHUNK):
            chunk = row[start : start + CHUNK]
            if _highest(chunk) <= floor:
                continue
            for j in range(len(chunk)):
                if chunk[j] > floor:
                    if count < len(rows):
                        rows[count], entities[count] = i, start + j
                        values[count] = chunk[j]
                    count += 1
    return count


@_scan
def keep(scores, slots, first, most, counts, shift, above, cursors, floors, rows, entities, values):
    """Keeps the highest scores of each slot and of all, the last slot, in one pass.

    `counts` (slot, bin) holds what was kept, `above` how many of it lie in the bins from
    `cursors` upwards, `floors` what a score must exceed. A floor rises by whole bins, so that it
    never passes the `most` highest. Begins at row `first` and ends where there might not be room;
    returns the row to go on with, and how many were kept.
    """
    kept, width, all_slots = 0, scores.shape[1], len(most) - 1
    for i in range(first, len(scores)):
        if kept + width > len(rows):
            return i, kept
        slot, row = slots[i], scores[i]
        floor = min(floors[slot], floors[all_slots])
        for start in range(0, width, CHUNK):
            chunk = row[start : start + CHUNK]
            if _highest(chunk) <= floor:
                continue
            for j in range(len(chunk)):
                score = chunk[j]
                if score > floor:
                    rows[kept], entities[kept] = i, start + j
                    values[kept] = score
                    kept += 1
                    place = _bin(score, shift)
                    counts[slot, place] += 1
                    counts[all_slots, place] += 1
                    above[slot] += place >= cursors[slot]
                    above[all_slots] += place >= cursors[all_slots]
        for s in (np.int64(slot), all_slots):
            while most[s] and above[s] - counts[s, cursors[s]] >= most[s]:
                above[s] -= counts[s, cursors[s]]
                cursors[s] += 1
                floors[s] = _lower_edge(cursors[s], shift)
    return len(scores), kept


@_count
def _passed(row, score):
    higher, equal = 0, 0
    for other in row:
        higher += other > score
        equal += other == score
    return higher, equal


@_scan
def standings(scores, offsets, answers, higher, equal):
    """How many scores of its row are higher than each answer's, and how many are the same."""
    for i in range(len(scores)):
        for place in range(offsets[i], offsets[i + 1]):
            higher[place], equal[place] = _passed(scores[i], scores[i, answers[place]])


@_scan
def standings_among(values, value_offsets, scores, offsets, higher, equal):
    """The same among a few values of each row: `values` and `scores` are ragged."""
    for i in range(len(offsets) - 1):
        others = values[value_offsets[i] : value_offsets[i + 1]]
        for place in range(offsets[i], offsets[i + 1]):
            higher[place], equal[place] = _passed(others, scores[place])
