"""The best single threshold is the best of all."""

import numpy as np
import pytest
from hypothesis import given

from assent.deciding import curves
from assent.deciding.curves import best_global
from score_blocks import block, blocks


def f1_at(threshold, made):
    """Micro-F1 of accepting what scores strictly higher, counted one by one."""
    correct = accepted = relevant = 0
    for part in made:
        for query, row in enumerate(part.scores):
            first, last = part.queries.offsets[query : query + 2]
            answers = set(part.queries.answers[first:last].tolist())
            taken = {entity for entity, score in enumerate(row) if score > threshold}
            correct += len(answers & taken)
            accepted += len(taken)
            relevant += len(answers)
    return 2 * correct / (accepted + relevant) if accepted + relevant else 0.0


def relevant_in(made):
    return sum(len(part.queries.answers) for part in made)


@given(blocks())
def test_the_best_threshold_equals_brute_force(made):
    best = best_global(made, relevant_in(made))
    levels = {float(s) for part in made for s in part.scores.ravel() if np.isfinite(s)}
    possible = [f1_at(level - 0.5, made) for level in levels] + [0.0]
    assert best.f1 == pytest.approx(max(possible))
    assert f1_at(best.threshold, made) == pytest.approx(best.f1)


@given(blocks())
def test_forgetting_low_candidates_changes_nothing(made):
    relevant = relevant_in(made)
    best = best_global(made, relevant)
    if best.f1 >= 0.5:
        patch = pytest.MonkeyPatch()
        with patch.context() as context:
            context.setattr(curves, "LOWEST_F1", 0.5)
            assert best_global(made, relevant) == best


def test_without_answers_nothing_is_accepted():
    best = best_global([block([[1.0, 2.0]], [[]])], 0)
    assert best.f1 == 0 and best.threshold == np.inf


def test_answers_that_are_never_candidates_still_count_as_missed():
    made = [block([[3.0, 1.0]], [[0]])]
    assert best_global(made, 1).f1 == 1
    assert best_global(made, 3).f1 == pytest.approx(2 / 4)


def test_the_threshold_lies_between_the_last_accepted_and_the_next_lower_one():
    assert 1 < best_global([block([[3.0, 1.0, 3.0]], [[0, 2]])], 2).threshold < 3
