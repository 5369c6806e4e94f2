"""How scores lie, counted one by one."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.measuring import separation
from assent.measuring.separation import EDGES, GROUPS, Separation
from score_blocks import ANY, NUM_SLOTS, block, blocks

FLOORS = st.lists(
    st.sampled_from([-math.inf, -2.0, -0.25, 0.0, 1.5, math.inf]),
    min_size=NUM_SLOTS,
    max_size=NUM_SLOTS,
)


def counted(made, floors):
    """Group -> the place of the bin of each of its scores, in a loop over all candidates."""
    found = {name: [] for name in GROUPS}

    def note(name, score, slot):
        height = score - floors[slot]
        if math.isfinite(height):
            below = sum(edge <= height for edge in EDGES) - 1
            found[name].append(min(max(below, 0), len(EDGES) - 2))

    for query in oracles.asked(made):
        for entity, score in query.scores.items():
            if entity in query.answers:
                note("answers", score, query.relation)
            elif entity % separation.STRIDE == 0:
                note("non-answers", score, query.relation)
        if query.scores and query.letter in "NF":
            kind = {"N": "best of an empty query", "F": "best of a fake query"}[query.letter]
            note(kind, max(query.scores.values()), query.relation)
    return found


@pytest.mark.parametrize("stride", [1, 2, 61])
@given(made=blocks(ANY), floors=FLOORS)
def test_every_score_falls_into_the_bin_of_its_height(stride, made, floors):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(separation, "STRIDE", stride)
        collector = Separation(np.array(floors))
        collect(made, collector)
        expected = counted(made, floors)
    for name in GROUPS:
        bins = np.bincount(expected[name], minlength=len(EDGES) - 1)
        assert collector.counts[name].tolist() == bins.tolist()


def test_without_floors_scores_are_taken_as_they_are():
    one = block([[1.2, -3.0]], [[0]], relations=[2])
    plain, shifted = Separation(), Separation(np.zeros(NUM_SLOTS))
    for collector in (plain, shifted):
        collector.add(one)
    assert all((plain.counts[name] == shifted.counts[name]).all() for name in GROUPS)


def test_shares_of_a_group_sum_to_one_and_of_an_empty_one_to_nothing():
    collector = Separation()
    collector.add(block([[1.2, -3.0], [0.0, 0.1]], [[0], [1]]))
    sums = {name: share.sum() for name, share in collector.shares().items()}
    assert sums["answers"] == 1 and sums["best of a fake query"] == 0
