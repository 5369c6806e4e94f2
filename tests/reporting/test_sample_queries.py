"""The candidates that are shown of a query, against a sort of all of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.special import expit

import assent
import toy
from assent.core.decider import Decider
from assent.core.thresholds import Thresholds
from assent.reporting.rendering import markdown
from assent.reporting.sample_queries import (
    MOST_CANDIDATES,
    Candidate,
    Candidates,
    best_candidates,
    candidates_grid,
)


class Rounded:
    """Few different scores, so many ties."""

    def __init__(self, num_entities):
        self.num_entities = num_entities

    def scores(self, anchors, relations):
        entities = torch.arange(self.num_entities)
        mixed = (7 * anchors[:, None] + 3 * relations[:, None] + 5 * entities[None]) % 11
        return mixed.float() - 5


@pytest.mark.parametrize("split", ["valid", "test"])
@pytest.mark.parametrize("threshold", [-np.inf, -5.0, 0.0, 2.5, np.inf])
def test_the_best_candidates_are_those_of_a_sort_with_known_ones_marked(split, threshold):
    benchmark = toy.built(toy.crowd(3, 30, 3, 8, splits=True), seed=2)
    names, asked = benchmark.vocabulary, benchmark.queries(split)
    size, known = names.num_entities, benchmark.known(split)
    decider = Decider.of_thresholds("global", "f1", Thresholds.single(threshold, names.num_slots))
    rows = [len(asked) - 1, 0, len(asked) // 2]
    said = best_candidates(Rounded(size), decider, benchmark, rows, split)
    for row, found in zip(rows, said, strict=True):
        anchor, relation = asked.anchors[[row]], asked.relations[[row]]
        scores = Rounded(size).scores(torch.tensor(anchor), torch.tensor(relation))[0].tolist()
        best = sorted(range(size), key=lambda entity: (-scores[entity], entity))[:MOST_CANDIDATES]
        answers = asked.answers[asked.offsets[row] : asked.offsets[row + 1]].tolist()
        same = (known.anchors == anchor) & (known.relations == relation)
        told = known.take(same).answers.tolist()
        assert found.row == row and [one.entity for one in found.best] == best
        assert [one.is_answer for one in found.best] == [entity in answers for entity in best]
        assert [one.is_known for one in found.best] == [entity in told for entity in best]
        shown = [one.probability for one in found.best]
        assert shown == pytest.approx([expit(scores[entity]) for entity in best])
        assert found.threshold == expit(threshold)
        assert found.above == sum(score > threshold for score in scores)


def test_what_stands_above_the_threshold_is_what_evaluation_accepts_of_a_judge_too(hostile_runs):
    run = assent.load_run(next(iter(hostile_runs.values())))
    test = run.benchmark.test
    rows = np.arange(0, len(test), 3)
    for decider in (assent.tune(run, "judge"), assent.tune(run, "per-relation")):
        evaluation = assent.evaluate(run, decider)
        found, some = evaluation.shortlist, 0
        for said in best_candidates(run.model, decider, run.benchmark, rows):
            mine = evaluation.accepted & (found.rows == said.row)
            above = [one for one in said.best[: said.above] if not one.is_known]
            expected = set(found.entities[mine].tolist())
            assert {one.entity for one in above} <= expected
            assert said.above > MOST_CANDIDATES or len(above) == len(expected)
            some += len(above)
        assert some > 0


def test_a_candidate_below_the_floor_is_never_above_the_threshold():
    """A rescorer may like what it is never shown."""

    class Turned:
        def logits(self, shortlist):
            return -shortlist.scores

    benchmark = toy.built(toy.crowd(3, 30, 3, 8, splits=True), seed=2)
    names = benchmark.vocabulary
    plain = Decider.of_thresholds("global", "f1", Thresholds.single(0.0, names.num_slots))
    floors = Thresholds.single(3.5, names.num_slots)
    turned = replace(plain, floors=floors, thresholds=Thresholds.of(floors.values - 8))
    turned = replace(turned, rescorer=Turned())
    (said,) = best_candidates(Rounded(names.num_entities), turned, benchmark, [0])
    (same,) = best_candidates(
        Rounded(names.num_entities), replace(plain, floors=floors), benchmark, [0]
    )
    highest = [round(float(-np.log(1 / one.probability - 1))) for one in said.best[: said.above]]
    assert set(highest) == {-4}  # of the scores 4 and 5, the one that is above -4.5 when turned
    assert said.above < same.above


def column(said):
    """The cells of a query that only one run was asked, as Markdown."""
    table = markdown(candidates_grid("query", {"here": said}, "abcdefghijklmno".__getitem__))
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]


def candidates(*probabilities, threshold=0.5, above=0):
    best = [Candidate(place, value, False, False) for place, value in enumerate(probabilities)]
    return Candidates(0, best, threshold, above)


def test_the_threshold_stands_between_what_is_accepted_and_what_is_not():
    cells = column(candidates(0.9, 0.6, 0.2, threshold=0.029, above=2))
    assert cells == [["a", ".900"], ["b", ".600"], ["threshold", ".029"], ["c", ".200"]]


def test_a_threshold_below_all_that_is_shown_says_how_many_more_are_accepted():
    cells = column(candidates(0.9, 0.8, threshold=0.0, above=1234))
    assert cells[-2:] == [["… 1,232 more", ""], ["threshold", ".000"]]


def test_a_threshold_that_nothing_can_reach_is_told_in_words():
    assert column(candidates(0.9, threshold=1.0))[0] == ["accepts nothing", ""]


def test_answers_are_bold_and_what_is_known_is_italic():
    best = [Candidate(0, 0.9, True, False), Candidate(1, 0.8, True, True)]
    cells = column(Candidates(0, best, 1.0, 0))
    assert cells[1:] == [["**a**", "**.900**"], ["*b*", "*.800*"]]
