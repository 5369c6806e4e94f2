"""Decisions measured by subset, by relation and by query: counted one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
from assent.core.counts import Counts, f1, precision, recall
from assent.core.queries import SETS, Queries, Subset
from assent.core.thresholds import Thresholds
from assent.measuring.classification import Classified, Difference, Interval, compared, intervals
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


# Bootstrap intervals: the same from the same seed, and as wide as they should be


def counted(correct, accepted, relevant, subset=Subset.COMPLETE):
    """Counts of each query; only their subset matters of the queries."""
    count = len(correct)
    queries = Queries.empty(np.zeros(count), np.zeros(count), subset)
    return Classified(queries, Counts(*map(np.asarray, (correct, accepted, relevant))))


def simulated(rng, count, found=0.6, noise=0.7):
    """Queries with one to four answers, each found with the same chance, and wrong ones."""
    relevant = rng.integers(1, 5, count)
    correct = rng.binomial(relevant, found)
    return counted(correct, correct + rng.poisson(noise, count), relevant)


TRUE_PRECISION = 0.6 * 2.5 / (0.6 * 2.5 + 0.7)
TRUE_F1 = 2 * 0.6 * 2.5 / (0.6 * 2.5 + 0.7 + 2.5)
TRUTH = {"precision": TRUE_PRECISION, "recall": 0.6, "f1": TRUE_F1}


def test_the_same_seed_gives_the_same_interval_and_another_one_another():
    one = simulated(np.random.default_rng(0), 50)
    assert intervals(one, 50)["full"] == intervals(one, 50, seed=0)["full"]
    assert intervals(one, 50)["full"] != intervals(one, 50, seed=1)["full"]


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    covered = dict.fromkeys(TRUTH, 0)
    for seed in range(200):
        found = intervals(simulated(rng, 150), 150, seed)["full"]
        for metric, truth in TRUTH.items():
            covered[metric] += found[metric].low <= truth <= found[metric].high
    for times in covered.values():
        assert 0.88 * 200 <= times <= 0.99 * 200


def test_differences_cover_the_truth_about_as_often_as_they_say():
    rng, covered = np.random.default_rng(1), 0
    better = 2 * 0.8 * 2.5 / (0.8 * 2.5 + 0.3 + 2.5) - TRUE_F1
    for seed in range(200):
        found = compared(simulated(rng, 150), simulated(rng, 150, 0.8, 0.3), draws=150, seed=seed)
        covered += found.interval.low <= better <= found.interval.high
    assert 0.88 * 200 <= covered <= 0.99 * 200


def test_an_interval_lies_around_the_metric_and_narrows_with_more_queries():
    rng = np.random.default_rng(0)
    few, many = simulated(rng, 50), simulated(rng, 5000)
    wide, narrow = (intervals(part, 200)["full"] for part in (few, many))
    for metric, of in (("precision", precision), ("recall", recall), ("f1", f1)):
        for part, (low, high) in ((few, wide[metric]), (many, narrow[metric])):
            assert low < of(part.counts.total()) < high
        widths = [found[metric].high - found[metric].low for found in (wide, narrow)]
        assert widths[1] < 0.3 * widths[0]


@given(st.integers(0, 2**20), st.integers(0, 30))
def test_queries_without_counts_change_nothing(seed, more):
    rng = np.random.default_rng(seed)
    one = simulated(rng, 20)
    columns = np.stack([one.counts.correct, one.counts.accepted, one.counts.relevant])
    padded = np.concatenate([columns, np.zeros((3, more), int)], axis=1)
    order = np.sort(rng.permutation(20 + more)[:20])  # in between, the order kept
    spread = np.zeros_like(padded)
    spread[:, order] = columns
    for other in (counted(*padded), counted(*spread)):
        assert intervals(other, 20)["full"] == intervals(one, 20)["full"]


def test_what_is_undefined_has_no_interval():
    nothing = counted([0, 0], [0, 0], [0, 0])
    for low, high in intervals(nothing, 20)["full"].values():
        assert np.isnan(low) and np.isnan(high)
    none_accepted = intervals(counted([0], [0], [3]), 20)["full"]
    assert np.isnan(none_accepted["precision"].low)
    assert none_accepted["recall"] == none_accepted["f1"] == Interval(0.0, 0.0)


def test_only_queries_of_the_set_are_drawn():
    one = simulated(np.random.default_rng(0), 30)
    assert np.isnan(intervals(one, 20)["F"]["f1"].low)
    assert intervals(one, 20)["C"] == intervals(one, 20)["full"]


def test_the_same_decisions_do_not_differ():
    one = simulated(np.random.default_rng(0), 30)
    found = compared(one, one)
    assert found == Difference(0.0, Interval(0.0, 0.0))
    assert not found.is_clear


def test_a_clear_difference_has_the_sign_of_the_better_one():
    rng = np.random.default_rng(0)
    worse, better = simulated(rng, 500, 0.3, 2.0), simulated(rng, 500, 0.9, 0.1)
    up, down = compared(worse, better, draws=100), compared(better, worse, draws=100)
    assert up.f1 == pytest.approx(f1(better.counts.total()) - f1(worse.counts.total()))
    assert up.is_clear and up.interval.low > 0
    assert down.is_clear and down.interval.high < 0
    assert down.f1 == -up.f1


def test_queries_drawn_together_make_a_difference_clearer():
    rng = np.random.default_rng(0)
    one = simulated(rng, 300)
    slightly = Counts(one.counts.correct, one.counts.accepted + 1, one.counts.relevant)
    found = compared(one, Classified(one.queries, slightly), draws=200)
    alone = intervals(one, 200)["full"]["f1"]
    assert found.is_clear
    assert found.interval.high - found.interval.low < (alone.high - alone.low) / 2
