"""Compiled loops over the scores of whole rows: what passes a floor, and how many pass an answer.

A row is read while the processor still has it at hand, and nothing as large as a row is made.
The loops let go of Python's lock, so that `threads.side_by_side` runs them on parts of the rows.
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


def bits_ignored(num_slots: int) -> int:
    """How many bits of a score its bin leaves out, so that the bins of all slots stay few."""
    return FINEST + max(0, int(np.ceil(np.log2(num_slots / (CELLS >> (32 - FINEST))))))


@_scan
def mask(scores, offsets, entities, first, stop):
    """No candidates: the `entities` of each row from `first` to `stop`, which are ragged."""
    for i in range(first, stop):
        for place in range(offsets[i], offsets[i + 1]):
            scores[i, entities[place]] = -np.inf


@_count
def _number_above(scores, floor):
    found = np.int32(0)
    for score in scores:
        found += np.int32(score > floor)
    return found


@_scan
def count_candidates(scores, first, stop, counts):
    """How many candidates each row has, from `first` to `stop`."""
    for i in range(first, stop):
        counts[i] = _number_above(scores[i], np.float32(-np.inf))


@_scan
def passing(scores, floors, first, stop, rows, entities, values):
    """Writes where scores (query, entity) are higher than the floor of their row, and which.

    Looks at the rows from `first` to `stop`. Returns how many there are; they are written as far
    as there is room.
    """
    count, width = 0, scores.shape[1]
    for i in range(first, stop):
        row, floor = scores[i], floors[i]
        for start in range(0, width, CHUNK):
            chunk = row[start : start + CHUNK]
            if not _number_above(chunk, floor):  # counted, not looked for: in vectors
                continue
            for j in range(len(chunk)):
                if chunk[j] > floor:
                    if count < len(rows):
                        rows[count], entities[count] = i, start + j
                        values[count] = chunk[j]
                    count += 1
    return count


@_scan
def still_passing(rows, entities, values, slots, floors):
    """Moves what is higher than the floor of its row's slot to the front; returns how many are."""
    count = 0
    for i in range(len(rows)):
        row, value = rows[i], values[i]
        rows[count], entities[count], values[count] = row, entities[i], value
        count += value > floors[slots[row]]  # no branch: what is to go is overwritten by the next
    return count


@_scan
def _rising(score):
    """A whole number that rises with the score, from 0 to 2^32 - 1."""
    bits = np.float32(score + np.float32(0)).view(np.int32)  # -0 becomes 0, to which it is equal
    return np.int64(~bits if bits < 0 else bits ^ np.int32(-(2**31))) & 0xFFFFFFFF


@_scan
def _score_of(rising):
    """The score that has this number."""
    bits = rising - (1 << 31) if rising >= 1 << 31 else ~rising
    return np.int32(bits).view(np.float32)


@_scan
def _just_below(rising):
    return np.nextafter(_score_of(rising), np.float32(-np.inf))


@_scan
def order_keys(slots, scores, keys):
    """One number for each slot and score: numpy sorts whole numbers faster than anything."""
    for i in range(len(keys)):
        keys[i] = (np.int64(slots[i]) << 32) | _rising(scores[i])


@_scan
def scores_in(keys, scores):
    """The scores that `order_keys` put into these."""
    for i in range(len(keys)):
        scores[i] = _score_of(keys[i] & 0xFFFFFFFF)


@_scan
def _raise(slot, most, counts, shift, above, cursors, floors):
    """Raises a floor by the bins that the `most` highest can do without."""
    cursor = cursors[slot]
    while most[slot] and above[slot] - counts[slot, cursor] >= most[slot]:
        above[slot] -= counts[slot, cursor]
        cursor += 1
    if cursor > cursors[slot]:
        cursors[slot], floors[slot] = cursor, max(floors[slot], _just_below(cursor << shift))


@_scan
def keep(scores, slots, mine, most, counts, shift, above, cursors, floors, rows, entities, values):
    """Keeps the highest scores of each slot and of all, the last slot, in one pass over rows.

    `counts` (slot, bin) holds what was kept, `above` how many of it lie in the bins from
    `cursors` upwards, `floors` what a score must exceed. A floor rises by whole bins, so that it
    never passes the `most` highest. Ends where there might not be room; returns how many of the
    rows `mine` are done, and how many scores were kept.
    """
    kept, width, all_slots = 0, scores.shape[1], len(most) - 1
    for done in range(len(mine)):
        i = mine[done]
        if kept + width > len(rows):
            return done, kept
        slot, row = slots[i], scores[i]
        floor = min(floors[slot], floors[all_slots])
        for start in range(0, width, CHUNK):
            chunk = row[start : start + CHUNK]
            if not _number_above(chunk, floor):  # counted, not looked for: in vectors
                continue
            for j in range(len(chunk)):
                score = chunk[j]
                if score > floor:
                    rows[kept], entities[kept] = i, start + j
                    values[kept] = score
                    kept += 1
                    place = _rising(score) >> shift
                    counts[slot, place] += 1
                    counts[all_slots, place] += 1
                    above[slot] += place >= cursors[slot]
                    above[all_slots] += place >= cursors[all_slots]
            _raise(slot, most, counts, shift, above, cursors, floors)
            _raise(all_slots, most, counts, shift, above, cursors, floors)
            floor = min(floors[slot], floors[all_slots])
    return len(mine), kept


@_count
def _passed(row, score):
    higher, as_high = np.int32(0), np.int32(0)  # half as wide as Python's: twice as many a step
    for other in row:
        higher += np.int32(other > score)
        as_high += np.int32(other >= score)
    return higher, as_high - higher


@_scan
def standings(scores, offsets, values, first, stop, higher, equal):
    """How many scores of its row are higher than each answer's, and how many are the same.

    The scores of the answers are given: they need not stand in the row.
    """
    for i in range(first, stop):
        for place in range(offsets[i], offsets[i + 1]):
            higher[place], equal[place] = _passed(scores[i], values[place])


@_scan
def standings_among(values, value_offsets, scores, offsets, higher, equal):
    """How many of a few values of its row are higher than each answer's score, and how many equal.

    Values and scores are ragged.
    """
    for i in range(len(offsets) - 1):
        others = values[value_offsets[i] : value_offsets[i + 1]]
        for place in range(offsets[i], offsets[i + 1]):
            higher[place], equal[place] = _passed(others, scores[place])
