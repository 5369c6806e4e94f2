"""Score blocks by hand and at random, with ties, empty answer sets and masked candidates."""

import numpy as np
from hypothesis import strategies as st

from assent.core.arrays import frozen, offsets_of
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock


def block(scores, answers):
    """Scores (query, entity), and the answers of each query."""
    count = len(answers)
    queries = Queries(
        frozen(np.arange(count)),
        frozen(np.zeros(count)),
        frozen(offsets_of([len(row) for row in answers]), np.int64),
        frozen([answer for row in answers for answer in row]),
        frozen(np.zeros(count)),
    )
    return ScoreBlock(queries, np.array(scores, dtype=np.float32).reshape(count, -1))


@st.composite
def blocks(draw):
    """One to three blocks over the same few entities; few different scores, so many ties."""
    entities = draw(st.integers(1, 6))
    made = []
    for _ in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 4))
        rows, answers = [], []
        for _ in range(count):
            row = draw(st.lists(st.integers(-3, 3), min_size=entities, max_size=entities))
            mine = draw(st.sets(st.integers(0, entities - 1)))
            masked = draw(st.sets(st.integers(0, entities - 1))) - mine
            rows.append([-np.inf if e in masked else float(s) for e, s in enumerate(row)])
            answers.append(sorted(mine))
        made.append(block(rows, answers))
    return made
