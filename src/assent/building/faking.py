"""Fake queries: the types of their anchor are not those that the relation takes."""

from collections.abc import Callable

import numpy as np

from assent.building.asking import Quota
from assent.core.arrays import Ids, Keys, distinct, found_in, pair_keys
from assent.core.hashing import hashes_of, lowest
from assent.core.queries import Queries, Subset
from assent.core.types import Types

SMALL = 1_000_000  # pairs of anchor and slot: up to so many, all are tried
PATIENCE = 10  # rounds of drawing that may bring next to nothing before drawing ends

# Recipe 2
ROUNDS = 25  # of drawing at most; the first brings enough in most graphs
CELLS = 1 << 20  # a slot is drawn as a cell of a table: as many as the queries, or these


def fakes_like(
    real: Queries, taken: Keys, types: Types, wanted: Quota, rng: np.random.Generator
) -> Queries:
    """Up to so many fakes for tails, and then for heads, as are wanted."""
    num_slots = len(types.slot_offsets) - 1
    tails, heads = range(num_slots // 2), range(num_slots // 2, num_slots)
    return Queries.joined(
        [
            fake(real, taken, types, wanted.tails, tails, rng),
            fake(real, taken, types, wanted.heads, heads, rng),
        ]
    )


def fake(
    real: Queries, taken: Keys, types: Types, count: int, side: range, rng: np.random.Generator
) -> Queries:
    """Up to `count` queries, with slots of one `side`, that violate the types.

    Anchors and slots are drawn from the real queries, independently, so that neither of them alone
    gives a fake away. `taken` are the keys, ascending, of queries that have an answer anywhere.
    """
    anchors = real.anchors
    relations = real.relations[(real.relations >= side.start) & (real.relations < side.stop)]
    pairs = len(distinct(anchors)) * len(distinct(relations))
    choose = _choose_from_all if pairs <= SMALL else _choose_by_drawing
    keys = choose(anchors, relations, taken, types, count, rng)
    relation_ids, anchor_ids = np.divmod(keys, len(types.entity_offsets) - 1)
    return Queries.empty(anchor_ids, relation_ids, Subset.FAKE)


def _choose_from_all(
    anchors: Ids, relations: Ids, taken: Keys, types: Types, count: int, rng: np.random.Generator
) -> Keys:
    """Drawn without replacement from all pairs that violate the types.

    Pairs are weighted by how often their anchor and their slot occur. The highest of
    log(weight) + Gumbel noise are such a draw.
    """
    anchor_ids, anchor_times = np.unique(anchors, return_counts=True)
    relation_ids, relation_times = np.unique(relations, return_counts=True)
    a, r = (ids.ravel() for ids in np.meshgrid(anchor_ids, relation_ids, indexing="ij"))
    weights = np.log(np.outer(anchor_times, relation_times).ravel())
    keys = _free(a, r, taken, types)
    wrong = keys >= 0
    heights = weights[wrong] + rng.gumbel(size=int(wrong.sum()))
    return np.sort(keys[wrong][np.argsort(heights)[::-1][:count]])


def _choose_by_drawing(
    anchors: Ids, relations: Ids, taken: Keys, types: Types, count: int, rng: np.random.Generator
) -> Keys:
    """Drawn again and again until there are enough: in a large graph most pairs violate types."""
    found = np.empty(0, dtype=np.int64)
    idle = 0
    while len(found) < count and idle < PATIENCE:
        missing = count - len(found)
        size = 2 * missing + 64
        a = anchors[rng.integers(len(anchors), size=size)]
        r = relations[rng.integers(len(relations), size=size)]
        keys = _free(a, r, taken, types)
        new = distinct(keys[keys >= 0])
        new = rng.permutation(new[~found_in(found, new)])[:missing]
        idle = 0 if 100 * len(new) > missing else idle + 1
        found = np.sort(np.append(found, new))
    return found


def _free(anchors: Ids | Keys, relations: Ids | Keys, taken: Keys, types: Types) -> Keys:
    """The key of each query that violates the types and has no answer; -1 for the others."""
    keys = pair_keys(relations, anchors, len(types.entity_offsets) - 1)
    free = types.violate(anchors, relations) & ~found_in(taken, keys)
    return np.where(free, keys, -1)


def fakes_by_hash(
    real: Queries,
    taken: Keys,
    types: Types,
    wanted: Quota,
    seed: int,
    hashes: Callable[[Keys, Keys], Keys],
) -> Queries:
    """Up to so many fakes for tails, and then for heads, as are wanted; hashes choose them.

    `hashes` gives the hash of each query, from slots and anchors.
    """
    num_entities, num_slots = len(types.entity_offsets) - 1, len(types.slot_offsets) - 1
    slots, anchors = np.divmod(distinct(real.keys(num_entities)), num_entities)
    own, everyone = hashes(slots, anchors), distinct(anchors)
    times = np.bincount(slots, minlength=num_slots)

    def fakes_of(side: str, first: int, count: int) -> Keys:
        """In each round, queries propose their anchor with a slot drawn as slots occur."""
        found = np.empty(0, dtype=np.int64)
        there = times[first : first + num_slots // 2]
        cells = first + cells_of(there)

        def add(anchors: Keys, slots: Keys, missing: int) -> int:
            nonlocal found
            keys = distinct(_free(anchors, slots, taken, types))
            keys = keys[(keys >= 0) & ~found_in(found, keys)]
            keys = keys[lowest(hashes(*np.divmod(keys, num_entities)), missing)]
            found = np.sort(np.append(found, keys))
            return len(keys)

        def propose(number: int, missing: int) -> int:
            drawn = hashes_of(f"{seed}/fake/{side}/{number}/{one}" for one in own.tolist())
            drawn %= len(cells) * len(own)
            mine = drawn < len(cells) * proposals(missing)
            return add(anchors[mine], cells[drawn[mine] % len(cells)], missing)

        missing = count - draw_rounds(propose, count if len(cells) else 0)
        some = first + np.flatnonzero(there)
        if missing > 0 and len(everyone) * len(some) <= SMALL:
            a, r = (ids.ravel() for ids in np.meshgrid(everyone, some, indexing="ij"))
            add(a, r, missing)
        return found

    tails = fakes_of("tail", 0, wanted.tails)
    heads = fakes_of("head", num_slots // 2, wanted.heads)
    slots, anchors = np.divmod(np.concatenate([tails, heads]), num_entities)
    return Queries.empty(anchors, slots, Subset.FAKE)


def cells_of(times: Keys) -> Keys:  # (cell,)
    """A table to draw slots from: each has cells for how often it occurs, and one at least."""
    total = max(int(times.sum()), 1)
    cells = np.where(times > 0, np.maximum(times * min(total, CELLS) // total, 1), 0)
    return np.repeat(np.arange(len(times)), cells)


def proposals(missing: int) -> int:
    """How many proposals a round makes where so many fakes are missing: some will not do."""
    return 2 * missing + 64


def draw_rounds(propose: Callable[[int, int], int], count: int) -> int:
    """Draws until there are `count`, or a round brings next to nothing. Returns how many.

    `propose` takes the number of the round and how many are missing, and returns how many it found.
    """
    found = 0
    for number in range(ROUNDS):
        missing = count - found
        if missing <= 0:
            break
        new = propose(number, missing)
        found += new
        if 100 * new <= missing:
            break
    return found
