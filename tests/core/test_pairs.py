"""Facts between the same two entities, counted by loops."""

import numpy as np
from hypothesis import given

import toy
from assent.core.pairs import Joined, joined
from assent.core.queries import Queries, both_ways


@given(toy.graphs(most_entities=5, most_relations=3, most_facts=14))
def test_shares_are_those_of_slow_loops(kb):
    cut = len(kb.facts) * 2 // 3
    train, late = kb.facts[:cut], kb.facts[cut:].astype(np.int32)
    queries = Queries.grouped(*both_ways(late, kb.vocabulary.num_relations))
    facts = [(int(h), int(r), int(t)) for h, r, t in train]

    def others(head, tail, but=None):
        return [f for f in facts if {f[0], f[2]} == {head, tail} and f != but]

    mine = [bool(others(h, t, but=(h, r, t))) for h, r, t in facts]
    answers = [
        bool(others(int(queries.anchors[row]), int(answer)))
        for row in range(len(queries))
        for answer in queries.answers[queries.offsets[row] : queries.offsets[row + 1]]
    ]
    found = joined(train, queries, kb.vocabulary.num_entities)
    assert found.train == (sum(mine) / len(mine) if mine else 0)
    assert found.answers == (sum(answers) / len(answers) if answers else 0)


def test_answers_were_held_apart_where_far_fewer_of_them_are_joined_than_train_facts():
    assert Joined(answers=0.0, train=0.4).held_out
    assert Joined(answers=0.1, train=0.4).held_out
    assert not Joined(answers=0.3, train=0.4).held_out
    assert not Joined(answers=0.0, train=0.0).held_out
