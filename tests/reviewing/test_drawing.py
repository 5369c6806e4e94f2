"""The random design: what it fixes before any label."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import reviewing_oracles as oracles
from assent.reviewing.drawing import PILOT, Design, pilot_of, sizes_of


def design(count, seed=0, relations=None):
    probabilities = np.sort(np.random.default_rng(1).random(count))[::-1]
    relations = np.arange(count) % 3 if relations is None else relations
    return Design(probabilities, relations, seed)


@given(st.integers(0, 5000))
def test_sizes_ascend_and_end_with_all(count):
    sizes = sizes_of(count)
    assert (np.diff(sizes) > 0).all() and (not count or sizes[-1] == count)


@given(st.integers(0, 3000), st.integers(0, 5))
def test_the_pilot_has_each_proposal_at_most_once(count, seed):
    pilot = pilot_of(count, np.random.default_rng(seed))
    assert len(set(pilot.tolist())) == len(pilot) <= PILOT
    assert all(0 <= place < count for place in pilot) and (len(pilot) > 0) == (count > 0)


def test_each_set_is_drawn_in_the_order_of_its_numbers():
    made = design(200)
    for relation in (None, 0, 2):
        family = made.family(relation)
        for size, drawn, pilot in zip(family.sizes, family.drawn, family.pilot, strict=True):
            members = family.members[:size].tolist()
            assert set(drawn) | set(pilot) == set(members) and not set(drawn) & set(pilot)
            labels = dict.fromkeys(members, 1)
            labels = {place: place for place in labels if place not in set(pilot.tolist())}
            assert oracles.leading(made.numbers, labels, labels) == drawn.tolist()


def test_the_same_seed_draws_the_same_and_another_one_does_not():
    first, again, other = design(300), design(300), design(300, seed=1)
    assert first.family().drawn[-1].tolist() == again.family().drawn[-1].tolist()
    assert first.family().drawn[-1].tolist() != other.family().drawn[-1].tolist()


def test_every_member_of_a_set_is_as_probable_to_be_drawn_first():
    firsts = np.zeros(20)
    for seed in range(2000):
        made = Design(np.linspace(0.9, 0.1, 400), np.zeros(400, int), seed)
        drawn = made.family().drawn[3]  # its first 19 or so
        firsts[drawn[0]] += drawn[0] < 20
    inside = firsts[: made.family().sizes[3]]
    expected = 2000 / len(inside)
    assert abs(inside - expected).max() < 5 * np.sqrt(expected)


def test_equal_probabilities_keep_the_order_they_came_in():
    made = Design(np.full(50, 0.5), np.zeros(50, int), 0)
    assert made.family().members.tolist() == list(range(50))
