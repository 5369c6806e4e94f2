"""New facts in words, each relation in turn; the most probable ones, against a sort of all."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.completing.completing import Completion
from assent.core.arrays import frozen
from assent.core.new_facts import Evidence, NewFacts, Reason
from assent.core.vocabulary import Vocabulary
from assent.reporting import new_facts
from assent.reporting.new_facts import facts_in_words, probable_facts

# (head, relation, tail), probability, what speaks for it; None: no rule
FACTS = [
    ((0, 0, 1), 0.9, "7 of 9 say so"),
    ((0, 0, 2), 0.8, "6 of 9 say so"),
    ((0, 0, 3), 0.95, None),
    ((1, 1, 2), 0.5, "5 of 9 say so"),
]


def completion(facts, accepted=True):
    zeros = frozen(np.zeros(len(facts)), np.float64)
    evidence = Evidence.of(
        [[] if said is None else [Reason("head", 0.5, 7, 9, said)] for *_, said in facts]
    )
    new = NewFacts(
        toy.vocabulary_of(4, 2),
        frozen(toy.triples(fact for fact, *_ in facts)),
        frozen(np.full(len(facts), accepted), np.bool_),
        frozen([probability for _, probability, *_ in facts], np.float64),
        frozen(zeros, np.float32),
        zeros,
        zeros,
        frozen(np.ones(len(facts))),
        evidence,
    )
    return Completion(new, (), 2, promises=True)


def test_each_relation_in_turn_the_surest_first():
    names = toy.vocabulary_of(4, 2)
    e, r = names.entities, names.relations
    lines = list(facts_in_words(completion(FACTS).accepted))
    assert lines == [
        f"  {e[0]} {r[0]} {e[3]}   (0.95)",
        "      by similarity alone: no rule speaks for it",
        f"  {e[1]} {r[1]} {e[2]}   (0.50)",
        "      5 of 9 say so",
        f"  {e[0]} {r[0]} {e[1]}   (0.90)",
        "      7 of 9 say so",
        f"  {e[0]} {r[0]} {e[2]}   (0.80)",
        "      6 of 9 say so",
    ]


def test_only_so_many_as_asked_for():
    assert len(list(facts_in_words(completion(FACTS).accepted, most=1))) == 2
    assert list(facts_in_words(completion(FACTS, accepted=False).accepted)) == []


def test_a_fact_without_evidence_says_so():
    facts = completion(FACTS).accepted
    bare = replace(facts, evidence=Evidence.nothing(len(facts)))
    assert all("by similarity alone" in line for line in list(facts_in_words(bare))[1::2])


DRAWN = st.lists(
    st.tuples(
        st.sampled_from(["r1", "r2", "r3"]),
        st.sampled_from(["accepted", "review"]),
        st.sampled_from([0.1, 0.5, 0.5, 0.9]),
    ),
    max_size=40,
)


@given(DRAWN, st.integers(1, 12))
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
        patch.setattr(new_facts, "MOST_FACTS", most)
        found = {found.decision: found for found in probable_facts(facts)}
    assert set(found) == {decision for _, decision, _ in drawn}
    for decision, mine in found.items():
        falling = sorted(
            ((p, f"head {place}", r) for place, (r, d, p) in enumerate(drawn) if d == decision),
            key=lambda row: -row[0],
        )
        kept = [
            one
            for place, one in enumerate(falling)
            if sum(other[2] == one[2] for other in falling[:place]) < new_facts.MOST_PER_RELATION
        ]
        shown = [(row[0].text, row[1].value) for row in mine.grid.rows]
        assert shown == [(f"{head} · {r} · tail", p) for p, head, r in kept[:most]]
        assert mine.total == len(falling)
        assert mine.relations == len({relation for *_, relation in falling})
        assert mine.expected == pytest.approx(sum(p for p, *_ in falling))
