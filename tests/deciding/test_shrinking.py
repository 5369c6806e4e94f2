"""How much sparse relations are drawn to the others is judged on queries that were not seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.deciding import shrinking
from assent.deciding.shortlisting import Highest
from assent.deciding.shrinking import FOLDS, SHRINKS, cross_validated, shrunk
from score_blocks import NUM_SLOTS, block, blocks, joined, one_by_one, queries_of, shortlist


@settings(max_examples=25)
@given(blocks(), st.integers(0, 3), st.sampled_from([0.5, 1.0, 2.0]))
def test_cross_validation_is_a_loop_over_the_folds(made, seed, beta):
    kept, queries = shortlist(made), oracles.asked(made)
    folds = np.random.default_rng(seed).permutation(len(queries)) % FOLDS
    for shrink, f in cross_validated(kept, beta, seed):
        counts = [(0, 0, 0)]
        for fold in range(FOLDS):
            thresholds = shrunk(kept.take(folds != fold), beta, shrink)
            inside = [query for query, mine in zip(queries, folds, strict=True) if mine == fold]
            counts.append(oracles.count(inside, oracles.above(thresholds)))
        total = oracles.total(counts)
        if total[1] + total[2]:
            assert f == oracles.f_beta(beta)(total)
        else:
            assert np.isnan(f)


@given(
    blocks(),
    st.sampled_from([*SHRINKS[:-1], 0.1, 1e6]),
    st.sampled_from([0.5, 1.0, 2.0]),
)
def test_a_relation_that_is_lent_all_others_decides_as_by_trying_every_score(made, shrink, beta):
    queries = oracles.asked(made)
    chosen = oracles.shrunk(queries, beta, shrink)
    found = shrunk(shortlist(made), beta, shrink)
    for query in queries:
        assert oracles.accepted(query, oracles.above(found)) == oracles.accepted(
            query, lambda relation, score: score >= chosen[relation]
        )
    unasked = [slot for slot in range(NUM_SLOTS) if slot not in chosen]
    assert (found[unasked] == shrunk(shortlist(made), beta, np.inf)[unasked]).all()


@settings(max_examples=15)
@given(blocks())
def test_the_same_seed_judges_the_same(made):
    one, other = (cross_validated(shortlist(part), 1.0, 7) for part in (made, [joined(made)]))
    assert np.array_equal(one, other, equal_nan=True)
    assert [trial.shrink for trial in one] == list(SHRINKS)


@given(blocks(), st.sampled_from([0.0, 0.5, 8.0]))
def test_thresholds_do_not_depend_on_the_order_of_the_queries(made, shrink):
    whole = joined(made)
    order = np.random.default_rng(0).permutation(len(whole.queries))
    queries = whole.queries.take(order)
    answers = np.split(queries.answers, queries.offsets[1:-1])
    turned = block(whole.scores[order], [row.tolist() for row in answers], queries.relations)
    one, other = (shrunk(shortlist(part), 1.0, shrink) for part in (made, one_by_one([turned])))
    assert one.tolist() == other.tolist()


def test_a_sparse_relation_follows_the_others_more_and_more():
    # Forty answers at 5 and wrong ones at 4; one relation has a single answer, at 1.
    rows, answers, relations = [[5.0, 4.0, 0.0]] * 40, [[0]] * 40, [0] * 40
    made = [block([*rows, [2.0, 1.0, 0.0]], [*answers, [1]], [*relations, 1])]
    alone, drawn = (shrunk(shortlist(made), 1.0, shrink) for shrink in (0.0, 64.0))
    assert alone[1] < 1 and 4 < alone[0] < 5
    assert 4 < drawn[1] < 5 and drawn[0] == alone[0]


@given(blocks())
def test_a_coarser_grid_leaves_thresholds_without_shrinkage_as_good(made):
    queries = oracles.asked(made)
    fine = shrunk(shortlist(made), 1.0, 0.0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shrinking, "GRID", 2)
        coarse = shrunk(shortlist(made), 1.0, 0.0)
    one, other = (
        oracles.f_beta()(oracles.count(queries, oracles.above(values))) for values in (fine, coarse)
    )
    assert one == other
    assert len(fine) == NUM_SLOTS


def test_relations_have_thresholds_where_their_answers_are_too_low_among_all():
    made = [block([[0.0], [1.0]], [[0], []], [1, 0])]
    collector = Highest(queries_of(made), NUM_SLOTS, per_answer=2)
    collector.most[-1] = 2  # so that the answer is on the floor of all, and above its own
    collect(made, collector)
    found = shrunk(collector.result(), 1.0, 0.0)
    assert found[1] < 0 and found[0] == np.inf


def test_no_queries_at_all_leave_nothing_to_accept():
    nothing = shortlist([block(np.empty((0, 3)), [])])
    assert (shrunk(nothing, 1.0, 1.0) == np.inf).all()
    assert all(np.isnan(trial.f) for trial in cross_validated(nothing, 1.0))
