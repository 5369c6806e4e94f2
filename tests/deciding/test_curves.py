"""Curves have the counts of every threshold that can be best, relation by relation and overall."""

import numpy as np
from hypothesis import given

import deciding_oracles as oracles
from assent.core.scores import collect
from assent.deciding import shortlisting
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest
from score_blocks import ANY, NUM_SLOTS, block, blocks, queries_of, shortlist


def points(queries, floor=-np.inf):
    """The counts of accepting the score of an answer, falling, it and the next lower score."""
    kept = [score for score in oracles.scores_in(queries) if score > floor]
    right = {query.scores[e] for query in queries for e in query.answers & set(query.scores)}
    for line in sorted({score for score in right if score > floor}, reverse=True):
        counted = oracles.count(queries, lambda _, score, line=line: score >= line)
        yield counted, line, max((score for score in kept if score < line), default=floor)


def check(curves, group, expected):
    mine = curves.groups == group
    counts = curves.counts().take(mine)
    found = list(
        zip(
            counts.correct.tolist(), counts.accepted.tolist(), counts.relevant.tolist(), strict=True
        )
    )
    assert found == [counted for counted, _, _ in expected]
    for threshold, (_, line, lower) in zip(curves.thresholds[mine], expected, strict=True):
        assert lower < threshold < line


@given(blocks(ANY))
def test_each_relation_has_the_counts_of_all_its_useful_thresholds(made):
    curves, groups = Curves.by_relation(shortlist(made)), oracles.by_relation(oracles.asked(made))
    for slot in range(NUM_SLOTS):
        check(curves, slot, list(points(groups.get(slot, []))))
        relevant = sum(len(query.answers) for query in groups.get(slot, []))
        assert curves.relevant[slot] == relevant


@given(blocks(ANY))
def test_all_relations_together_have_one_curve(made):
    curves = Curves.overall(shortlist(made))
    assert len(curves.relevant) == 1
    check(curves, 0, list(points(oracles.asked(made))))


@given(blocks())
def test_above_the_floors_the_counts_are_exact_and_below_there_are_none(made):
    collector = Highest(queries_of(made), NUM_SLOTS, per_answer=1)
    collector.most[-1] = 3
    collect(made, collector)
    kept, groups = collector.result(), oracles.by_relation(oracles.asked(made))
    for slot, mine in groups.items():
        check(Curves.by_relation(kept), slot, list(points(mine, float(kept.floors[slot]))))
    highest = max(float(kept.floors[slot]) for slot in groups)
    check(Curves.overall(kept), 0, list(points(oracles.asked(made), highest)))


def test_the_last_threshold_of_a_forgetful_list_lies_above_its_floor(monkeypatch):
    monkeypatch.setattr(shortlisting, "FEWEST", 1)
    made = [block([[5.0, 1.0, 0.5]], [[0]])]
    collector = Highest(queries_of(made), 1, per_answer=2)
    collect(made, collector)
    kept = collector.result()
    assert 1 == kept.floors[0] < Curves.overall(kept).thresholds[0] < 5


def test_scores_that_tie_with_an_answer_fall_with_it():
    curves = Curves.overall(shortlist([block([[3.0, 1.0, 3.0, 3.0]], [[0]])]))
    assert curves.accepted.tolist() == [3] and curves.correct.tolist() == [1]
    assert 1 < curves.thresholds[0] < 3


def test_the_best_of_equal_points_is_the_one_that_accepts_least():
    curves = Curves.by_relation(
        shortlist([block([[4.0, 3.0, 2.0], [1.0, 1.0, 0.0]], [[0, 1], [0]], [1, 4])])
    )
    groups, chosen = curves.best(np.zeros(len(curves.groups)))
    assert groups.tolist() == [1, 4]
    assert curves.accepted[chosen].tolist() == [1, 2]


def test_without_answers_there_is_no_threshold_to_choose_from():
    curves = Curves.by_relation(shortlist([block([[1.0, 2.0]], [[]])]))
    assert len(curves.groups) == 0
    assert [len(column) for column in curves.best(np.empty(0))] == [0, 0]


def test_the_points_of_a_drawing_are_some_of_the_curve_with_its_ends():
    made = [block([np.arange(50.0)], [list(range(0, 50, 2))])]
    curves = Curves.overall(shortlist(made))
    some, whole = curves.spread(6), curves.counts()
    assert len(some.correct) == 6 and set(some.correct) <= set(whole.correct)
    assert some.correct[0] == whole.correct[0] and some.accepted[-1] == whole.accepted[-1]
    assert curves.spread(1000).correct.tolist() == whole.correct.tolist()


def test_a_curve_without_points_has_nothing_to_draw():
    assert len(Curves.overall(shortlist([block([[1.0]], [[]])])).spread(10).correct) == 0
