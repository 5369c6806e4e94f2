"""What labels prove, against exact fractions, all orders of small sets, and repeated reviews."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reviewing_oracles as oracles
from assent.reviewing.bounds import Audit, fewest_right
from assent.reviewing.drawing import Design

CONFIDENCE = 0.95


@st.composite
def samples(draw):
    size = draw(st.integers(1, 40))
    drawn = draw(st.integers(0, size))
    return size, drawn, draw(st.integers(0, drawn)), draw(st.integers(-2, size + 2))


@given(samples(), st.sampled_from([0.5, 0.05, 0.01, 0.0005]))
def test_the_bound_is_that_of_exact_fractions(sample, failure):
    found, exact = fewest_right(*sample, failure), oracles.fewest_right(*sample, failure)
    assert found == exact


@pytest.mark.parametrize("hoped", [0, 4, 6])
@pytest.mark.parametrize("right", range(8))
def test_over_all_orders_the_bound_is_ever_wrong_in_no_larger_a_share(right, hoped):
    failure = 0.2
    labels = [1] * right + [0] * (7 - right)

    def fails(order):
        sums = np.cumsum(order)
        return any(
            fewest_right(7, n, int(sums[n - 1]), hoped, failure) > right for n in range(1, 8)
        )

    assert oracles.share_of_orders(labels, fails) <= failure


def test_a_set_that_is_labelled_wholly_is_known_exactly():
    assert fewest_right(12, 12, 7, 9, 0.05) == 7
    assert fewest_right(12, 0, 0, 9, 0.05) == 0


def audit_of(probabilities, relations=None, seed=0, precision=0.8, relation=None):
    probabilities = np.sort(np.asarray(probabilities, float))[::-1]
    relations = np.zeros(len(probabilities), int) if relations is None else relations
    design = Design(probabilities, relations, seed)
    return Audit(design, design.family(relation), precision, CONFIDENCE)


def label_all(audit, truth, checks=None):
    done = 0
    while (checks is None or done < checks) and len(drawn := audit.next()):
        for place in drawn[:5].tolist():  # as the page loads them ahead
            audit.add(place, bool(truth[place]))
            done += 1
    return done


def test_where_all_are_right_a_few_labels_accept_everything():
    audit = audit_of(np.linspace(0.99, 0.9, 400))
    done = label_all(audit, np.ones(400, bool))
    assert len(audit.accepted()) == 400 and done < 60


def test_where_all_are_wrong_nothing_is_ever_accepted():
    audit = audit_of(np.linspace(0.99, 0.5, 60))
    label_all(audit, np.zeros(60, bool), 60)
    assert not len(audit.accepted())


def test_without_proposals_there_is_nothing_to_label_or_to_accept():
    audit = audit_of([])
    assert not len(audit.next()) and not len(audit.accepted()) and audit.plan() is None


def test_a_relation_without_proposals_is_promised_nothing():
    audit = audit_of([0.9, 0.8], relation=7)
    label_all(audit, [True, True])
    assert not len(audit.accepted()) and not audit.proved()


def test_one_proposal_is_accepted_if_it_is_right():
    audit = audit_of([0.9])
    label_all(audit, [True])
    assert audit.accepted().tolist() == [0]


def test_what_was_labelled_wrong_is_never_accepted():
    truth = np.random.default_rng(3).random(300) < 0.9
    audit = audit_of(np.linspace(0.99, 0.8, 300))
    label_all(audit, truth, 120)
    wrong = set(np.flatnonzero(audit.labels == 0).tolist())
    assert len(audit.accepted()) > 100 and wrong and not wrong & set(audit.accepted().tolist())


def test_nothing_is_promised_before_the_pilot_is_labelled():
    audit = audit_of(np.full(200, 0.99))
    for place in range(200):
        if place != audit.design.pilot[0]:
            audit.add(place, True)
    assert not len(audit.accepted())
    audit.add(int(audit.design.pilot[0]), True)
    assert len(audit.accepted()) == 200


def test_the_order_in_which_labels_come_does_not_matter():
    rng = np.random.default_rng(5)
    truth = rng.random(150) < 0.9
    first = audit_of(np.linspace(0.99, 0.3, 150))
    label_all(first, truth, 90)
    places = np.flatnonzero(first.labels != -1)
    again = audit_of(np.linspace(0.99, 0.3, 150))
    for place in rng.permutation(places).tolist():
        again.add(place, bool(truth[place]))
    assert again.accepted().tolist() == first.accepted().tolist()
    assert again.proved() == first.proved()


def test_labels_beyond_a_gap_prove_nothing():
    audit = audit_of(np.full(100, 0.99))
    for place in audit.design.pilot.tolist():
        audit.add(place, True)
    before = audit.proved()
    largest = audit.family.drawn[-1]
    first_of_sets = {int(drawn[0]) for drawn in audit.family.drawn if len(drawn)}
    for place in largest.tolist():
        if place not in first_of_sets:
            audit.add(place, True)
    assert audit.proved() == before
    audit.add(int(largest[0]), True)
    assert audit.proved()[-1].right > before[-1].right


def failures(truth, probabilities, precision, repeats, checks, relation=None, relations=None):
    """The share of reviews that accept a set with a lower precision than promised."""
    failed = accepted = 0
    for seed in range(repeats):
        audit = audit_of(probabilities, relations, seed, precision, relation)
        label_all(audit, truth, checks)
        found = truth[audit.accepted()]
        accepted += len(found) > 0
        failed += len(found) > 0 and found.mean() < precision
    return failed / repeats, accepted / repeats


@pytest.mark.parametrize("checks", [40, 90])
def test_promises_fail_in_no_larger_a_share_than_allowed(checks):
    """On populations where accepting is tempting: each set is just below the precision."""
    precision, size = 0.8, 160
    truth = np.ones(size, bool)
    truth[::5] = False  # 4 of 5, from the first on: 0.8 at most in every set
    truth[1] = False
    failed, _ = failures(truth, np.linspace(0.95, 0.6, size), precision, 200, checks)
    assert failed <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)


def test_a_review_without_its_random_order_would_fail_far_more_often():
    """So that the test above can fail: the best-looking members first, not a random sample."""
    size = 160
    truth = np.ones(size, bool)
    truth[::5] = truth[1] = False
    wins = 0
    for _ in range(20):
        labels = np.sort(truth)[::-1]
        wins += fewest_right(size, 60, int(labels[:60].sum()), 128, 0.05) > truth.sum()
    assert wins == 20


def test_promises_hold_for_relations_too():
    rng = np.random.default_rng(0)
    relations = rng.integers(0, 2, 240)
    truth = np.where(relations == 0, rng.random(240) < 0.6, rng.random(240) < 0.97)
    probabilities = np.linspace(0.95, 0.5, 240)
    failed, bought = failures(truth, probabilities, 0.8, 60, 80, 1, relations)
    assert failed <= 0.1 and bought > 0.8
    failed, _ = failures(truth, probabilities, 0.8, 60, 80, 0, relations)
    assert failed <= 0.1
