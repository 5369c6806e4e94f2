"""A stream of scores -> the candidates that a decision can be about, in one pass.

F1 = 2 correct / (accepted + relevant), so a threshold that accepts more than `2 relevant / f1`
candidates cannot reach `f1`; and in the best of all decisions no relation's share of the
candidates is larger than that of its own answers. So only the highest candidates, a number in
proportion to the answers, can matter. They are kept; the rest is forgotten as it streams by.
"""

import numpy as np

from assent.core.arrays import Ids, found_in, frozen, rows_of
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock, Scores
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.geometry import scans

PER_ANSWER = 40  # candidates kept for each answer: every F1 of .05 and more is exact
FEWEST = 1024  # kept in any case

LOWEST = np.float32(-np.inf)

Room = tuple[Ids, Ids, Scores]


class Above:
    """Keeps every candidate that scores higher than the threshold of its relation."""

    def __init__(self, queries: Queries, thresholds: Thresholds) -> None:
        # Rounded to float32 a threshold may move upwards, past a score that it accepts.
        values = thresholds.values.astype(np.float32)
        rounded_up = values > thresholds.values
        self.floors = np.where(rounded_up, np.nextafter(values, LOWEST), values)  # (slot,)
        self.kept = _Kept(queries)

    def add(self, block: ScoreBlock) -> None:
        floors = self.floors[block.queries.relations]
        found, size = 1 << 16, 0
        while found > size:
            size = found
            room = _room(size)
            found = scans.passing(block.scores, floors, *room)
        self.kept.add(block, room, found)

    def result(self) -> Shortlist:
        return self.kept.shortlist(self.floors)


class Highest:
    """Keeps the highest candidates, of each relation and of all, in proportion to the answers."""

    def __init__(self, queries: Queries, num_slots: int, per_answer: int = PER_ANSWER) -> None:
        relevant = np.bincount(queries.relations, queries.num_answers, num_slots)
        most = per_answer * relevant.astype(np.int64)
        self.most = np.append(most, max(int(most.sum()), FEWEST))  # (slot + 1,)  the last: of all
        self.shift = scans.bits_ignored(num_slots + 1)
        self.counts = np.zeros((num_slots + 1, 1 << (32 - self.shift)), np.int32)
        self.above = np.zeros(num_slots + 1, np.int64)
        self.cursors = np.zeros(num_slots + 1, np.int64)
        # Where there are no answers, only what is high among all candidates counts.
        self.floors = np.append(np.where(most > 0, LOWEST, np.inf), LOWEST).astype(np.float32)
        self.kept = _Kept(queries)
        self.limit = 8 * int(self.most[-1])  # candidates in memory, before the lowest are dropped

    def add(self, block: ScoreBlock) -> None:
        room = _room(max(1 << 18, block.scores.shape[1]))
        row = 0
        while row < len(block.queries):
            row, found = scans.keep(
                block.scores,
                block.queries.relations,
                row,
                self.most,
                self.counts,
                self.shift,
                self.above,
                self.cursors,
                self.floors,
                *room,
            )
            self.kept.add(block, room, found)
        if self.kept.size > self.limit:
            self.kept.drop(self._floors())
            self.limit = max(self.limit, 2 * self.kept.size)

    def result(self) -> Shortlist:
        """The same however the stream was cut: floors depend on the scores alone."""
        self.kept.drop(self._floors())
        return self.kept.shortlist(self._floors())

    def _floors(self) -> Scores:  # (slot,)
        floors: Scores = np.minimum(self.floors[:-1], self.floors[-1])
        return floors


class _Kept:
    """Candidates: query, entity, score."""

    def __init__(self, queries: Queries) -> None:
        self.queries = queries
        self.num_entities = 1
        self.size = 0
        self.parts = [_room(0)]

    def add(self, block: ScoreBlock, room: Room, found: int) -> None:
        rows, entities, scores = room
        self.num_entities = block.scores.shape[1]
        self.parts.append(
            (rows[:found] + np.int32(block.first), entities[:found].copy(), scores[:found].copy())
        )
        self.size += found

    def drop(self, floors: Scores) -> None:
        """Drops what is not higher than the floor of its slot."""
        rows, entities, scores = self._joined()
        still = scores > floors[self.queries.relations[rows]]
        self.parts = [(rows[still], entities[still], scores[still])]
        self.size = len(self.parts[0][0])

    def shortlist(self, floors: Scores) -> Shortlist:
        rows, entities, scores = self._joined()
        answers = rows_of(self.queries.offsets) * self.num_entities + self.queries.answers
        places = rows.astype(np.int64) * self.num_entities + entities
        return Shortlist(
            self.queries,
            frozen(rows),
            frozen(entities),
            frozen(scores, np.float32),
            frozen(found_in(np.sort(answers), places), np.bool_),
            frozen(floors, np.float32),
        )

    def _joined(self) -> Room:
        rows, entities, scores = zip(*self.parts, strict=True)
        return np.concatenate(rows), np.concatenate(entities), np.concatenate(scores)


def _room(size: int) -> Room:
    return np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.float32)
