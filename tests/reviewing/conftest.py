"""A review of a small graph, with 300 proposals that are right or wrong by a rule."""

import pytest

from assent.verbs.review import review
from served_reviews import make_review


@pytest.fixture
def opened(tmp_path):
    """A review that nobody has decided in; the most probable of its proposals are right."""
    made = review(make_review(tmp_path, 300), precision=0.8)
    yield made
    made.close()


@pytest.fixture
def truth(opened):
    """By key: the first 200 proposals are right but for every twentieth; planted as known."""
    right = {key: i < 200 and i % 20 != 7 for i, key in enumerate(opened.proposals.keys)}
    planted = opened.proposals.planted
    known = dict(zip(opened.proposals.planted_keys, planted.accepted.tolist(), strict=True))
    return {**right, **known}


@pytest.fixture
def label(opened, truth):
    """Labels so many proposals as they are drawn, truly."""

    def label(count, reviewer="ann", order="drawn", **more):
        for _ in range(count):
            if (card := opened.next(reviewer, order=order, **more)) is None:
                return
            verdict = "right" if truth[card.key] else "wrong"
            opened.decide(card.key, verdict, reviewer, order=card.order)

    return label
