"""What is shown of a few queries and a few facts, against loops over all of them."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.arrays import frozen
from assent.core.new_facts import Evidence, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.reporting import proposed as proposing
from assent.reporting.asked import SHOWN, asked
from assent.reporting.proposed import proposed


class Rounded:
    """Few different scores, so many ties."""

    def __init__(self, num_entities):
        self.num_entities = num_entities

    def scores(self, anchors, relations):
        entities = torch.arange(self.num_entities)
        mixed = (7 * anchors[:, None] + 3 * relations[:, None] + 5 * entities[None]) % 11
        return mixed.float() - 5


@pytest.mark.parametrize("split", ["valid", "test"])
def test_the_best_candidates_are_those_of_a_sort_with_known_ones_marked(split):
    benchmark = toy.built(toy.crowd(3, 30, 3, 8, splits=True), seed=2)
    size, half = benchmark.vocabulary.num_entities, benchmark.queries(split)
    scorer, known = Rounded(size), benchmark.known(split)
    rows = [len(half) - 1, 0, len(half) // 2]
    for row, found in zip(rows, asked(scorer, benchmark, rows, split), strict=True):
        anchor, relation = half.anchors[[row]], half.relations[[row]]
        scores = scorer.scores(torch.tensor(anchor), torch.tensor(relation))[0].tolist()
        best = sorted(range(size), key=lambda entity: (-scores[entity], entity))[:SHOWN]
        answers = half.answers[half.offsets[row] : half.offsets[row + 1]].tolist()
        same = (known.anchors == anchor) & (known.relations == relation)
        told = known.take(same).answers.tolist()
        assert found.row == row and found.best.tolist() == best
        assert found.answers.tolist() == [entity in answers for entity in best]
        assert found.known.tolist() == [entity in told for entity in best]
        for line in (-np.inf, -5.0, 0.0, 2.5, np.inf):
            assert found.above(line) == sum(score > line for score in scores)


FACTS = st.lists(
    st.tuples(
        st.sampled_from(["r1", "r2", "r3"]),
        st.sampled_from(["accepted", "review"]),
        st.sampled_from([0.1, 0.5, 0.5, 0.9]),
    ),
    max_size=40,
)


@given(FACTS, st.integers(1, 12))
def test_the_most_probable_facts_are_those_of_a_sort_a_few_of_each_relation(drawn, most):
    relations = ("r1", "r2", "r3")
    names = Vocabulary((*(f"head {place}" for place in range(len(drawn))), "tail"), relations)
    zeros = frozen(np.zeros(len(drawn)), np.float64)
    facts = NewFacts(
        names,
        frozen(toy.triples((i, relations.index(r), len(drawn)) for i, (r, *_) in enumerate(drawn))),
        frozen([decision == "accepted" for _, decision, _ in drawn], np.bool_),
        frozen([probability for *_, probability in drawn], np.float64),
        frozen(zeros, np.float32),
        zeros,
        frozen(zeros + np.nan, np.float64),
        frozen(np.ones(len(drawn))),
        Evidence.nothing(len(drawn)),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(proposing, "MOST", most)
        found = proposed(facts)
    assert set(found) == {decision for _, decision, _ in drawn}
    for decision, mine in found.items():
        falling = sorted(
            ((p, f"head {place}", r) for place, (r, d, p) in enumerate(drawn) if d == decision),
            key=lambda row: -row[0],
        )
        kept = [
            one
            for place, one in enumerate(falling)
            if sum(other[2] == one[2] for other in falling[:place]) < proposing.EACH
        ]
        shown = [(words, probability) for words, probability, *_ in mine.rows()]
        assert shown == [((head, r, "tail"), p) for p, head, r in kept[:most]]
        assert mine.total == len(falling)
        assert mine.relations == len({relation for *_, relation in falling})
        assert mine.likely == pytest.approx(sum(p for p, *_ in falling))
