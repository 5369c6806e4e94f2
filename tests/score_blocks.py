"""Score blocks by hand and at random, with ties, empty answer sets and masked candidates."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from assent.core.arrays import frozen, offsets_of
from assent.core.queries import Queries, Subset
from assent.core.scores import ScoreBlock, collect
from assent.core.shortlist import Shortlist
from assent.deciding.shortlisting import Highest

NUM_SLOTS = 6  # three relations, and their inverses
LETTERS = {
    "C": Subset.COMPLETE,
    "I": Subset.INCOMPLETE,
    "N": Subset.INCOMPLETE,
    "F": Subset.FAKE,
}

FEW = st.just([-3.0, -2.0, -1.0, -0.0, 0.0, 1.0, 2.0, 3.0])
ANY = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=8)
"""Any float32 numbers, but only a few different ones, so that there are ties."""


def block(scores, answers, relations=None, subsets=None, anchors=None, first=0):
    """Scores (query, entity), and the answers of each query."""
    count = len(answers)
    queries = Queries(
        frozen(np.arange(count) if anchors is None else anchors),
        frozen(np.zeros(count) if relations is None else relations),
        frozen(offsets_of([len(row) for row in answers]), np.int64),
        frozen([answer for row in answers for answer in row]),
        frozen(np.zeros(count) if subsets is None else subsets),
    )
    return ScoreBlock(queries, np.array(scores, np.float32), first)


@st.composite
def blocks(draw, levels=FEW, most_queries=10, most_entities=6, most_slots=4, listed=False):
    """A stream of blocks over the same few entities; no query stands twice.

    Few different scores, so many ties. Some slots are never asked about, fake queries and those
    of N have no answers. An answer may be no candidate, unless all are to be `listed`.
    """
    entities = draw(st.integers(1, most_entities))
    slots = draw(st.lists(st.integers(0, NUM_SLOTS - 1), min_size=1, max_size=most_slots))
    letters = sorted(draw(st.sets(st.sampled_from("CINF"), min_size=1)))
    masked = draw(st.sampled_from([0.0, 0.3]))
    values = np.array(draw(levels), np.float32)
    count = draw(st.integers(1, most_queries))
    # One number instead of one for each score: hundreds of them are slow to draw.
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    asked = np.unique(slots)[:, None] * entities + np.arange(entities)
    keys = rng.permutation(asked.ravel())[:count]
    scores = rng.choice(values, (len(keys), entities))
    kinds = rng.choice(letters, len(keys))
    answers = [_answers(rng, entities) if kind in "CI" else [] for kind in kinds]
    for row, mine in zip(scores, answers, strict=True):
        hidden = np.flatnonzero(rng.random(entities) < masked)
        row[np.setdiff1d(hidden, mine) if listed else hidden] = -np.inf
    subsets = [LETTERS[kind] for kind in kinds]
    whole = block(scores, answers, keys // entities, subsets, keys % entities)
    return cut(whole, draw(st.lists(st.integers(1, 4), max_size=3)))


def _answers(rng, entities):
    return np.sort(rng.permutation(entities)[: rng.integers(1, entities + 1)]).tolist()


def cut(whole: ScoreBlock, sizes: Sequence[int]) -> list[ScoreBlock]:
    """The same scores in blocks of so many queries; the last one has the rest."""
    ends = np.unique(
        np.minimum(np.append(np.cumsum(sizes), len(whole.queries)), len(whole.queries))
    )
    return [
        ScoreBlock(
            whole.queries.take(np.arange(first, end)), whole.scores[first:end].copy(), int(first)
        )
        for first, end in zip(np.append(0, ends[:-1]).astype(int), ends.astype(int), strict=True)
    ]


def queries_of(made: Sequence[ScoreBlock]) -> Queries:
    """The queries of all blocks."""
    return Queries.joined([part.queries for part in made])


def joined(made: Sequence[ScoreBlock]) -> ScoreBlock:
    """The same scores in one block."""
    return ScoreBlock(queries_of(made), np.concatenate([part.scores for part in made]))


def one_by_one(made: Sequence[ScoreBlock]) -> list[ScoreBlock]:
    """The same scores, a block for each query."""
    whole = joined(made)
    return cut(whole, [1] * len(whole.queries))


def shortlist(made: Sequence[ScoreBlock]) -> Shortlist:
    """All candidates: they are too few to forget one."""
    highest = Highest(queries_of(made), NUM_SLOTS)
    collect(made, highest)
    return highest.result()
