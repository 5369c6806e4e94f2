"""A stream of scores -> the candidates that a decision can be about, in one pass.

F1 = 2 correct / (accepted + relevant), so a threshold that accepts more than `2 relevant / f1`
candidates cannot reach `f1`; and in the best of all decisions no relation's share of the
candidates is larger than that of its own answers. So only the highest candidates, a number in
proportion to the answers, can matter. They are kept; the rest is forgotten as it streams by.
"""

from collections.abc import Iterator
from typing import NoReturn

import numpy as np

from assent.core.arrays import Ids, Keys, found_in, frozen, pair_keys, rows_of
from assent.core.columns import Candidates, Columns
from assent.core.memory import memory
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock, Scores
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.spread import Spreading
from assent.errors import ConfigError
from assent.geometry import scans, threads

PER_ANSWER = 20  # candidates kept for each answer: every F1 of .1 and more is exact
FEWEST = 1024  # kept in any case
FIRST_ROOM = 1 << 17
SHARE = 4  # one in so many bytes of the machine's memory may hold candidates
BYTES = 100  # of a candidate, while it is counted
BYTES_OF_FACT = 400  # of a candidate of which a fact is made, with what speaks for it

LOWEST = np.float32(-np.inf)

Room = Candidates  # or places in a block: query, entity, score


class Above:
    """Keeps every candidate that scores higher than the floor of its slot.

    With `spread`, the shortlist also says how the scores of each query are spread. Floors that
    nearly everything exceeds would fill the memory: beyond what `each` candidate's bytes allow, an
    error says how many there would be.
    """

    def __init__(
        self, queries: Queries, floors: Thresholds, spread: bool = False, each: int = BYTES
    ) -> None:
        self.most = memory() // SHARE // each
        self.floors = rounded_down(floors)  # (slot,)
        self.kept = _Kept(queries)
        self.spreading = Spreading(queries) if spread else None

    def add(self, block: ScoreBlock) -> None:
        floors = self.floors[block.queries.relations]
        if self.spreading is not None:
            self.spreading.add(block)

        def passing(part: int, parts: int) -> tuple[Room, int]:
            rows = threads.share(len(floors), part, parts)
            found, size = FIRST_ROOM, 0
            while found > size:
                room, size = _room(found), found
                found = scans.passing(block.scores, floors, *rows, *room)
            return room, found

        for room, found in threads.side_by_side(passing):
            self.kept.add(block, room, found)
        size = int(block.columns.added(np.array([self.kept.size]))[0])
        if size > self.most:
            self._refuse(size, block.first + len(block.queries))

    def _refuse(self, size: int, seen: int) -> NoReturn:
        asked = len(self.kept.queries)
        about = size * asked // max(seen, 1)
        raise ConfigError(
            f"too many candidates pass their thresholds: {size:,} of the first {seen:,} "
            f"of {asked:,} queries, about {about:,} of all, and this machine has memory for "
            f"{self.most:,}; choose thresholds that accept less (another --rule of `assent tune`, "
            "a higher --precision or --review-above), or fewer --relations at a time"
        )

    def result(self) -> Shortlist:
        self.kept.join()
        return self.kept.shortlist(self.floors, self.spreading)


class Highest:
    """Keeps the highest candidates, of each slot and of all, in proportion to the answers.

    With `spread`, the shortlist also says how the scores of each query are spread.
    """

    def __init__(
        self, queries: Queries, num_slots: int, per_answer: int = PER_ANSWER, spread: bool = False
    ) -> None:
        relevant = np.bincount(queries.relations, queries.num_answers, num_slots)
        most = per_answer * relevant.astype(np.int64)
        self.most = np.append(most, max(int(most.sum()), FEWEST))  # (slot + 1,)  the last: of all
        self.floors = _open(self.most)  # (slot + 1,)  what a candidate must exceed
        self.bins: list[_Bins] = []  # one for each part of the relations
        self.kept = _Kept(queries)
        self.limit = 6 * int(self.most[-1])  # candidates in memory, before the lowest are dropped
        self.spreading = Spreading(queries) if spread else None

    def add(self, block: ScoreBlock) -> None:
        slots = block.queries.relations
        if self.spreading is not None:
            self.spreading.add(block)
        # By relation: the more of its candidates a part sees, the sooner its floor rises.
        order = np.argsort(slots, kind="stable")

        def keep(part: int, parts: int) -> list[tuple[Room, int]]:
            rows = order[slice(*threads.share(len(order), part, parts))]
            return list(self.bins[part].kept_of(block.scores, slots, rows))

        self.bins = self.bins or threads.side_by_side(lambda part, parts: _Bins(self.most))
        for found in threads.side_by_side(keep):
            for room, size in found:
                self.kept.add(block, room, size)
        self._share_floors()
        if self.kept.size > self.limit:
            self._drop_below()
            if self.kept.size > self.limit // 2:  # many score nearly the same
                self._drop()
                self._share_floors()

    def result(self) -> Shortlist:
        """The highest candidates; the same however the stream was cut into blocks."""
        self._drop()
        if (columns := self.kept.join()) is not None:
            self.floors = columns.highest(self.floors)
            self._drop()
        floors = np.minimum(self.floors[:-1], self.floors[-1])
        return self.kept.shortlist(floors, self.spreading)

    def _share_floors(self) -> None:
        """What one part of the candidates exceeds often enough, all of them do."""
        for bins in self.bins:
            self.floors = np.maximum(self.floors, bins.floors)
        for bins in self.bins:
            bins.floors = self.floors.copy()

    def _drop_below(self) -> None:
        self.kept.drop(np.minimum(self.floors[:-1], self.floors[-1]))

    def _drop(self) -> None:
        """Drops all but the highest, and raises the floors to the last of them.

        Where many score the same there may be none left: they could only be accepted together,
        and so many are too many.
        """
        self._drop_below()  # so that there is less to sort
        slots, scores = self.kept.slots(), self.kept.scores()
        keys = np.empty(len(scores), np.int64)
        scans.order_keys(slots, scores, keys)
        keys.sort()
        ends = np.searchsorted(keys, np.arange(1, len(self.most)) << 32)
        places = np.append(ends - self.most[:-1], -1)
        full = (self.most > 0) & (places >= np.append(0, ends)) & (places >= 0)
        found = np.empty(int(full.sum()), np.float32)
        scans.scores_in(keys[places[full]], found)
        # What was dropped before is not there to be counted again, so floors never fall.
        self.floors[full] = np.maximum(self.floors[full], found)
        if (place := len(scores) - int(self.most[-1])) >= 0:
            self.floors[-1] = max(self.floors[-1], np.partition(scores, place)[place])
        self._drop_below()


class _Bins:
    """How many candidates of each score were kept, of each relation and of all."""

    def __init__(self, most: Keys) -> None:
        self.most = most  # (slot + 1,)
        self.shift = scans.bits_ignored(len(most))
        self.counts = np.zeros((len(most), 1 << (32 - self.shift)), np.int32)
        self.above = np.zeros(len(most), np.int64)
        self.cursors = np.zeros(len(most), np.int64)
        self.floors = _open(most)

    def kept_of(self, scores: Scores, slots: Ids, rows: Keys) -> Iterator[tuple[Room, int]]:
        """The candidates of these rows that exceed the floors, which rise as it goes."""
        while len(rows):
            room = _room(max(FIRST_ROOM, scores.shape[1]))
            done, found = scans.keep(
                scores,
                slots,
                rows,
                self.most,
                self.counts,
                self.shift,
                self.above,
                self.cursors,
                self.floors,
                *room,
            )
            rows = rows[done:]
            yield room, found


class _Kept:
    """Candidates: query, entity, score."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.columns = Columns(1)
        self.size = 0
        self.parts = [_room(0)]

    def add(self, block: ScoreBlock, room: Room, found: int) -> None:
        rows, places, scores = room
        self.columns = block.columns
        entities = self.columns.entities(places[:found].copy())
        self.parts.append((rows[:found] + np.int32(block.first), entities, scores[:found].copy()))
        self.size += found

    def join(self) -> Columns | None:
        """Holds what all processes kept; returns the columns, if they were of one of several."""
        if (columns := self.columns).alone:
            return None
        self.parts = [columns.joined(self._join())]
        self.columns, self.size = Columns(columns.num_entities), len(self.parts[0][0])
        return columns

    def drop(self, floors: Scores) -> None:
        """Drops what is not higher than the floor of its slot."""
        parts, self.parts, self.size = self.parts, [], 0
        for rows, entities, scores in parts:
            left = scans.still_passing(rows, entities, scores, self.queries.relations, floors)
            self.parts.append((rows[:left].copy(), entities[:left].copy(), scores[:left].copy()))
            self.size += left

    def slots(self) -> Ids:
        return self.queries.relations[self._join()[0]]

    def scores(self) -> Scores:
        return self._join()[2]

    def shortlist(self, floors: Scores, spreading: Spreading | None) -> Shortlist:
        rows, entities, scores = self._in_order()
        queries, size = self.queries, self.columns.num_entities
        answers = pair_keys(rows_of(queries.offsets), queries.answers, size)
        places = pair_keys(rows, entities, size)
        return Shortlist(
            self.queries,
            frozen(rows),
            frozen(entities),
            frozen(scores, np.float32),
            frozen(found_in(np.sort(answers), places), np.bool_),
            frozen(floors, np.float32),
            None if spreading is None else spreading.result(),
        )

    def _in_order(self) -> Room:
        """By query: relations may have been looked at side by side."""
        rows, entities, scores = self._join()
        order = np.argsort(rows, kind="stable")
        return rows[order], entities[order], scores[order]

    def _join(self) -> Room:
        """All parts as one."""
        if len(self.parts) > 1:
            rows, entities, scores = zip(*self.parts, strict=True)
            self.parts = [(np.concatenate(rows), np.concatenate(entities), np.concatenate(scores))]
        return self.parts[0]


def _open(most: Keys) -> Scores:  # (slot + 1,)
    """Floors that let all pass; without answers, only what is high among all candidates counts."""
    return np.where(most > 0, LOWEST, np.float32(np.inf))


def _room(size: int) -> Room:
    return np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.float32)


def rounded_down(thresholds: Thresholds) -> Scores:  # (slot,)
    """Thresholds in float32 that accept exactly the scores that the given ones accept.

    Rounded to the nearest float32, a threshold may move upwards, past a score that it accepts.
    """
    with np.errstate(over="ignore"):  # to inf, which is rounded up as well
        values = thresholds.values.astype(np.float32)
    rounded_up = values > thresholds.values
    floors: Scores = np.where(rounded_up, np.nextafter(values, LOWEST), values)
    return floors
