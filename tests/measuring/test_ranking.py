"""Ranks of answers, among all candidates and among those not known to be true."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.queries import Queries
from assent.core.scores import collect
from assent.measuring.ranking import Ranks, Standings, mean_reciprocal_rank, ranking
from score_blocks import ANY, block, blocks, joined, one_by_one, queries_of


def grouped(true):
    """The truth, from (anchor, relation, entity)."""
    return Queries.grouped(*np.array(sorted(true), np.int32).reshape(-1, 3).T)


def standings(made, true):
    collector = Standings(queries_of(made), grouped(true), made[0].scores.shape[1])
    collect(made, collector)
    return collector


@st.composite
def with_truth(draw):
    """Blocks and what is true: the answers, and more, asked about or not, candidates or not."""
    made = draw(blocks(ANY))
    more, entities = draw(st.randoms(use_true_random=False)), made[0].scores.shape[1]
    true = {(e, 5, 0) for e in range(entities)}
    for query in oracles.asked(made):
        known = query.answers | {e for e in range(entities) if more.random() < 0.3}
        true |= {(query.anchor, query.relation, e) for e in known}
    return made, true


def pairs(ranks):
    return list(zip(ranks.higher.tolist(), ranks.equal.tolist(), strict=True))


@given(with_truth())
def test_each_answer_stands_among_all_candidates_other_answers_too(given_truth):
    made, true = given_truth
    entities = range(made[0].scores.shape[1])
    expected = [
        oracles.standing(query, answer, entities)
        for query in oracles.asked(made)
        for answer in sorted(query.answers)
    ]
    assert pairs(standings(made, true).ranks()) == expected


@given(with_truth())
def test_filtered_other_true_answers_do_not_stand_in_the_way(given_truth):
    made, true = given_truth
    entities = range(made[0].scores.shape[1])
    expected = [
        oracles.standing(query, answer, [e for e in entities if (*query[:2], e) not in true])
        for query in oracles.asked(made)
        for answer in sorted(query.answers)
    ]
    assert pairs(standings(made, true).filtered()) == expected


@given(with_truth())
def test_ranks_do_not_depend_on_the_blocks(given_truth):
    made, true = given_truth
    found = standings(made, true)
    for other in ([joined(made)], one_by_one(made)):
        again = standings(other, true)
        assert pairs(again.ranks()) == pairs(found.ranks())
        assert pairs(again.filtered()) == pairs(found.filtered())


def test_three_ways_to_count_those_that_score_the_same():
    ranks = standings([block([[5.0, 3.0, 3.0, 3.0, 1.0]], [[1]])], {(0, 0, 1)}).ranks()
    assert ranks.optimistic().tolist() == [2]
    assert ranks.realistic().tolist() == [3]
    assert ranks.pessimistic().tolist() == [4]


def test_an_answer_that_is_no_candidate_stands_behind_all_that_are():
    found = standings([block([[2.0, -np.inf, 1.0, -np.inf]], [[1]])], {(0, 0, 1), (0, 0, 3)})
    assert pairs(found.ranks()) == [(2, 2)]
    assert pairs(found.filtered()) == [(2, 1)]


def test_a_first_and_a_second_place_make_three_quarters():
    assert mean_reciprocal_rank(np.array([1.0, 2.0])) == 0.75


def test_the_mean_of_no_ranks_is_not_a_number():
    assert np.isnan(mean_reciprocal_rank(np.empty(0)))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 4), st.booleans())))
def test_metrics_of_each_side_are_averages_over_its_answers(rows):
    higher, equal, head = np.array(rows, np.int64).reshape(-1, 3).T
    found = ranking(Ranks(higher, equal), head.astype(bool))
    for side, chosen in (("head", (True,)), ("tail", (False,)), ("both", (False, True))):
        mine = [(h, e) for h, e, at_head in rows if at_head in chosen]
        for ties, ranks in (
            ("optimistic", [h + 1 for h, _ in mine]),
            ("realistic", [h + (e + 1) / 2 for h, e in mine]),
            ("pessimistic", [h + e for h, e in mine]),
        ):
            expected = {
                "inverse_harmonic_mean_rank": oracles.mean([1 / rank for rank in ranks]),
                "arithmetic_mean_rank": oracles.mean(ranks),
                "median_rank": float(np.median(ranks)) if ranks else np.nan,
                **{
                    f"hits_at_{k}": oracles.mean([rank <= k for rank in ranks])
                    for k in (1, 3, 5, 10)
                },
                "count": len(ranks),
            }
            assert found[side][ties] == pytest.approx(expected, nan_ok=True)
