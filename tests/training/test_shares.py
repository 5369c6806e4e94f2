"""What several processes measure of their own candidates is, put together, what one measures."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from assent.core.queries import Queries, both_ways
from assent.core.scores import collect
from assent.deciding.shortlisting import Highest
from assent.geometry.threads import one_thread
from assent.measuring.ranking import Standings
from assent.scoring import score
from peers_in_threads import in_all

RELATIONS = 2


class Matrix:
    """Scores of all queries, which any process has for its entities."""

    def __init__(self, scores, peers=None):
        self.table, self.peers, self.num_entities = scores, peers, scores.shape[2]

    def scores(self, anchors, relations):
        rows = torch.from_numpy(self.table[anchors, relations].copy())
        return rows if self.peers is None else rows[:, self.peers.rank :: self.peers.size].clone()


@st.composite
def cases(draw):
    """Scores with ties, queries with answers, and known facts that are none of them."""
    entities, size = draw(st.integers(5, 12)), draw(st.integers(2, 4))
    seed, kinds = draw(st.integers(0, 10**6)), draw(st.sampled_from([2, 5, 1000]))
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, kinds, (entities, 2 * RELATIONS, entities)).astype(np.float32)
    ends = rng.integers(0, entities, (2, 30))
    facts = np.stack([ends[0], rng.integers(0, RELATIONS, 30), ends[1]], 1).astype(np.int32)
    facts = np.unique(facts, axis=0)
    cut = draw(st.integers(1, len(facts) - 1))
    order = rng.permutation(len(facts))
    asked, known = (
        Queries.grouped(*both_ways(part, RELATIONS))
        for part in (facts[order[:cut]], facts[order[cut:]])
    )
    return size, scores, asked, known


def shortlisted(highest):
    found = highest.result()
    order = np.lexsort((found.entities, found.rows))
    columns = found.rows, found.entities, found.scores, found.right
    return [column[order].tolist() for column in columns], found.floors.tolist()


@given(cases(), st.integers(1, 3))
def test_the_highest_candidates_of_all_shares_are_the_highest_of_all(case, per_answer):
    size, scores, asked, known = case
    with one_thread():
        alone = Highest(asked, 2 * RELATIONS, per_answer)
        collect(score(Matrix(scores), asked, known), alone)

        def work(peers):
            mine = Highest(asked, 2 * RELATIONS, per_answer)
            collect(score(Matrix(scores, peers), asked, known), mine)
            return shortlisted(mine)

        assert in_all(size, work) == [shortlisted(alone)] * size


@given(cases())
def test_the_ranks_of_answers_are_those_among_all(case):
    size, scores, asked, known = case
    true = Queries.grouped(
        *both_ways(
            np.unique(np.concatenate([asked.facts(RELATIONS), known.facts(RELATIONS)]), axis=0),
            RELATIONS,
        )
    )
    with one_thread():
        alone = Standings(asked, true, scores.shape[2])
        collect(score(Matrix(scores), asked, known), alone)

        def work(peers):
            mine = Standings(asked, true, scores.shape[2])
            collect(score(Matrix(scores, peers), asked, known), mine)
            return ranks(mine)

        assert in_all(size, work) == [ranks(alone)] * size


def ranks(standings):
    both = standings.ranks(), standings.filtered()
    return [(each.higher.tolist(), each.equal.tolist()) for each in both]
