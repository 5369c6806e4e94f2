"""The known facts as links: who is joined to whom, and by which slots."""

from typing import NamedTuple

import numpy as np

from assent.core.arrays import Ids, Keys, offsets_of, places_in, rows_of
from assent.core.queries import both_ways


class Paths(NamedTuple):
    """Two steps each; what they start from stands in `rows`."""

    rows: Keys  # (path,)
    first: Ids  # (path,)  slot
    middles: Ids  # (path,)
    second: Ids  # (path,)  slot
    ends: Ids  # (path,)


class Links:
    """Each fact between two different entities, seen from both ends, by entity."""

    def __init__(self, facts: Ids, num_entities: int, num_relations: int) -> None:
        self.num_entities, self.num_slots = num_entities, 2 * num_relations
        apart = facts[facts[:, 0] != facts[:, 2]]
        starts, slots, ends = both_ways(apart, num_relations)
        order = np.lexsort((slots, ends, starts))
        self.slots, self.ends = slots[order], ends[order]  # (link,)
        self.offsets = offsets_of(np.bincount(starts, minlength=num_entities))  # (entity + 1,)
        # One number for each two entities: ascending, as the links are.
        self.pairs: Keys = starts[order].astype(np.int64) * num_entities + self.ends  # (link,)

    @property
    def degrees(self) -> Keys:  # (entity,)
        return np.diff(self.offsets)

    def between(self, starts: Keys | Ids, ends: Ids) -> tuple[Keys, Ids]:
        """The slots that lead from each start to its end: rows (hit,) and slots (hit,)."""
        keys = starts.astype(np.int64) * self.num_entities + ends
        first = np.searchsorted(self.pairs, keys)
        offsets = offsets_of(np.searchsorted(self.pairs, keys, side="right") - first)
        rows = rows_of(offsets)
        return rows, self.slots[np.arange(offsets[-1]) - offsets[rows] + first[rows]]

    def paths(self, starts: Ids) -> Paths:
        """All ways of two steps from each start to someone else."""
        steps = places_in(self.offsets, starts)
        origins = rows_of(offsets_of(self.degrees[starts]))
        onward = places_in(self.offsets, self.ends[steps])
        from_step = rows_of(offsets_of(self.degrees[self.ends[steps]]))
        rows, ends = origins[from_step], self.ends[onward]
        gone = np.flatnonzero(ends != np.asarray(starts)[rows])  # not back again
        steps = steps[from_step[gone]]
        return Paths(
            rows[gone], self.slots[steps], self.ends[steps], self.slots[onward[gone]], ends[gone]
        )

    def paths_between(self, starts: Ids, ends: Ids) -> Paths:
        """All ways of two steps from each start to its end, found from the end with fewer links."""
        turned = self.degrees[ends] < self.degrees[starts]
        near, far = np.where(turned, ends, starts), np.where(turned, starts, ends)
        steps = places_in(self.offsets, near)
        rows = rows_of(offsets_of(self.degrees[near]))
        middles = self.ends[steps]
        hits, onward = self.between(middles, far[rows])
        rows, slots, middles = rows[hits], self.slots[steps[hits]], middles[hits]
        inverse = (self.num_slots // 2 + np.stack([slots, onward])) % self.num_slots
        back = turned[rows]
        return Paths(
            rows,
            np.where(back, inverse[1], slots),
            middles,
            np.where(back, inverse[0], onward),
            ends[rows],
        )
