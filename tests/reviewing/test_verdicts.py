"""What the labels of all reviewers come to."""

import numpy as np
import pytest

from assent.reviewing.labels import Label
from assent.reviewing.verdicts import Recalibration, recalibrated, verdicts_of


def verdicts(*said):
    """Each: place, verdict, and how it was chosen; every label by another reviewer."""
    labels = [
        Label(number, 0.0, str(place), verdict, f"r{number}", chosen, "", "{}", None)
        for number, (place, verdict, chosen) in enumerate(said)
    ]
    return verdicts_of(labels, {str(place): place for place in range(10)})


def test_right_is_what_everyone_called_right():
    found = verdicts((0, "right", "drawn"), (1, "right", "drawn"), (1, "wrong", "drawn"))
    assert found.audited == {0: True, 1: False}
    assert found.right == {0} and found.refused == {1}


def test_do_not_know_never_counts_as_right():
    found = verdicts((0, "unknown", "drawn"), (1, "right", "drawn"), (1, "unknown", "probable"))
    assert found.audited == {0: False, 1: False} and found.refused == {0, 1}
    assert not found.looked_at and not found.right


def test_a_skip_says_nothing():
    found = verdicts((0, "skip", "drawn"), (1, "right", "drawn"), (1, "skip", "drawn"))
    assert found.audited == {1: True} and not found.refused


@pytest.mark.parametrize("chosen", ["batch", "probable", "teaches", "import"])
def test_only_drawn_labels_are_audited(chosen):
    assert not verdicts((0, "right", chosen), (1, "wrong", chosen)).audited


def test_a_label_that_was_not_drawn_can_only_speak_against_a_drawn_one():
    against = verdicts((0, "right", "drawn"), (0, "wrong", "probable"))
    in_favour = verdicts((0, "wrong", "drawn"), (0, "right", "batch"))
    assert against.audited == in_favour.audited == {0: False}


def test_a_batch_looks_at_nothing():
    found = verdicts((0, "right", "batch"), (1, "right", "batch"), (1, "right", "probable"))
    assert found.batched == {0} and found.right == {1} and found.looked_at == {1: True}


def test_planted_facts_are_no_part_of_the_verdicts():
    label = Label(0, 0.0, "planted", "right", "ann", "planted", "", "{}", None)
    assert verdicts_of([label], {"other": 0}) == verdicts_of([], {"other": 0})


def test_without_labels_probabilities_stay():
    kept = Recalibration().of(np.array([0.2, 0.9]), ["r", "s"])
    assert np.allclose(kept, [0.2, 0.9])
    assert recalibrated(np.array([]), [], []) == Recalibration()


def test_labels_move_their_relation_most_and_keep_its_order():
    before = np.linspace(0.1, 0.9, 12)
    found = recalibrated(np.full(20, 0.5), ["bad"] * 20, [False] * 20)
    bad, other = found.of(before, ["bad"] * 12), found.of(before, ["other"] * 12)
    assert (bad < other).all() and (other < before).all()
    assert (np.diff(bad) > 0).all() and (np.diff(other) > 0).all()


def test_many_labels_bring_probabilities_to_the_share_that_is_right():
    rng = np.random.default_rng(0)
    shown = rng.uniform(0.2, 0.8, 2000)
    truth = rng.random(2000) < 1 / (1 + np.exp(-(1 + np.log(shown / (1 - shown)))))
    found = recalibrated(shown, ["r"] * 2000, truth.tolist()).of(shown, ["r"] * 2000)
    for low, high in ((0, 0.6), (0.6, 0.8), (0.8, 1)):
        inside = (found >= low) & (found < high)
        assert abs(found[inside].mean() - truth[inside].mean()) < 0.04
