"""Decisions measured by subset, by relation and by query: counted one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.queries import SETS
from assent.core.thresholds import Thresholds
from assent.measuring.classification import Classified
from score_blocks import NUM_SLOTS, block, blocks, shortlist

LETTERS = {"full": "CINF", "C": "C", "C+F": "CF", "I": "IN", "N": "N", "F": "F"}
LINES = st.sampled_from([-np.inf, -1.5, 0.5, 2.5, np.inf])


def classified(made, line):
    kept = shortlist(made)
    return Classified(kept.queries, kept.counts(kept.accepted(Thresholds.single(line, NUM_SLOTS))))


def one_by_one(made, line, letters="CINF"):
    """The counts of each query of these subsets."""
    return [
        oracles.count([query], lambda _, score: score > line)
        for query in oracles.asked(made)
        if query.letter in letters
    ]


def metrics(counted):
    correct, accepted, relevant = counted
    return {
        "precision": oracles.ratio(correct, accepted),
        "recall": oracles.ratio(correct, relevant),
        "f1": oracles.ratio(2 * correct, accepted + relevant),
    }


def test_every_set_has_its_letters():
    assert list(SETS) == list(LETTERS)


@given(blocks(), LINES)
def test_sets_are_unions_of_subsets_and_their_counts_are_sums(made, line):
    found = classified(made, line)
    for name, letters in LETTERS.items():
        counts = one_by_one(made, line, letters)
        total = found.of(name)
        assert (total.correct, total.accepted, total.relevant) == oracles.total(
            [(0, 0, 0), *counts]
        )


@given(blocks(), LINES)
def test_accepted_facts_a_query_and_queries_left_empty(made, line):
    found = classified(made, line)
    for name, letters in LETTERS.items():
        taken = [accepted for _, accepted, _ in one_by_one(made, line, letters)]
        assert found.per_query(name) == pytest.approx(oracles.mean(taken), nan_ok=True)
        empty = [not accepted for accepted in taken]
        assert found.left_empty(name) == pytest.approx(oracles.mean(empty), nan_ok=True)


@given(blocks(), LINES)
def test_macro_averages_leave_out_what_is_undefined(made, line):
    found = classified(made, line).macro(NUM_SLOTS)
    groups = oracles.by_relation(oracles.asked(made)).values()
    of_relations = [oracles.count(mine, lambda _, score: score > line) for mine in groups]
    for name, counts in (("relation", of_relations), ("query", one_by_one(made, line))):
        for metric in ("precision", "recall", "f1"):
            expected = oracles.mean([metrics(counted)[metric] for counted in counts])
            assert found[name][metric] == pytest.approx(expected, nan_ok=True)


@given(blocks(), LINES)
def test_counts_of_relations_are_sums_over_their_queries(made, line):
    found, groups = classified(made, line), oracles.by_relation(oracles.asked(made))
    counts = found.by_relation(NUM_SLOTS)
    for slot in range(NUM_SLOTS):
        mine = counts.take(slot)
        assert (mine.correct, mine.accepted, mine.relevant) == oracles.count(
            groups.get(slot, []), lambda _, score: score > line
        )


def test_an_empty_set_has_nothing_to_average():
    found = classified([block([[1.0]], [[0]])], 0.0)
    assert np.isnan(found.per_query("F")) and np.isnan(found.left_empty("N"))
