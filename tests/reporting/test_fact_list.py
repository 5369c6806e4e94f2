"""The list of new facts on a page: which of them it has room for, and what is said of them all."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.arrays import frozen
from assent.core.new_facts import DECISIONS, ENTAILED, STATED, Evidence, NewFacts, Reason
from assent.core.vocabulary import Vocabulary
from assent.files.completions import Kept, OfRelation
from assent.reporting import fact_list as page_list
from assent.reporting.expecting import Found, expectation, headline
from assent.reporting.fact_list import fact_list, listed
from assent.reporting.grid import at_least

RELATIONS = ("r1", "r2", "r3")
DRAWN = st.lists(
    st.tuples(
        st.sampled_from(RELATIONS),
        st.booleans(),
        st.sampled_from([0.1, 0.5, 0.5, 0.9]),
    ),
    max_size=40,
)


def new_facts(drawn):
    """A fact for each (relation, accepted, probability), each of a head of its own."""
    names = Vocabulary((*(f"head {place}" for place in range(len(drawn))), "tail"), RELATIONS)
    zeros = frozen(np.zeros(len(drawn)), np.float64)
    return NewFacts(
        names,
        frozen(toy.triples((i, RELATIONS.index(r), len(drawn)) for i, (r, *_) in enumerate(drawn))),
        frozen([accepted for _, accepted, _ in drawn], np.bool_),
        frozen([probability for *_, probability in drawn], np.float64),
        frozen(zeros, np.float32),
        zeros,
        frozen(zeros + np.nan, np.float64),
        frozen(np.ones(len(drawn))),
        Evidence.nothing(len(drawn)),
    )


def kept(decided="rehearsal", precision=0.7):
    counts = (OfRelation("r1", 2, 1, 0.8, 30, 10), OfRelation("r2", 1, 0, math.nan, 5, 0))
    return Kept("sha", decided, precision, ("a line",), "It rests on that.", counts)


@given(DRAWN)
def test_every_fact_is_listed_the_surest_first(drawn):
    found = fact_list(Found(new_facts(drawn), "facts.jsonl"), 1)
    rows, entities = found.data["rows"], found.data["entities"]
    expected = sorted(enumerate(drawn), key=lambda row: -row[1][2])
    assert [(entities[row[0]], *row[1:5]) for row in rows] == [
        ([f"head {place}"], RELATIONS.index(relation), len(drawn), probability, int(not accepted))
        for place, (relation, accepted, probability) in expected
    ]
    assert len(found.notes) == 1


@given(DRAWN)
def test_relations_are_counted_and_the_one_with_most_accepted_comes_first(drawn):
    rows = fact_list(Found(new_facts(drawn), "facts.jsonl"), 1).relations.rows
    by_hand = {}
    for relation, accepted, probability in drawn:
        mine = by_hand.setdefault(relation, [[], 0])
        mine[0].extend([probability] * accepted)
        mine[1] += not accepted
    assert {row[0].text for row in rows} == set(by_hand)
    for name, accepted, review, mean in rows:
        sure, left = by_hand[name.text]
        assert (accepted.value, review.value) == (len(sure), left)
        assert mean.value == (pytest.approx(sum(sure) / len(sure)) if sure else None)
    assert [-row[1].value for row in rows] == sorted(-row[1].value for row in rows)


@given(DRAWN, st.integers(0, 3000))
def test_a_page_has_room_for_the_surest_and_says_how_many_it_leaves_out(drawn, room):
    facts = new_facts(sorted(drawn, key=lambda row: -row[2]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_list, "MOST_BYTES", room)
        data, notes = listed(facts, "facts.jsonl")
    whole, _ = listed(facts, "facts.jsonl")
    assert data["rows"] == whole["rows"][: len(data["rows"])]
    assert set(data["entities"]) == {row[end] for row in data["rows"] for end in (0, 2)}
    left = len(drawn) - len(data["rows"])
    said = [int(n) for note in notes for n in re.findall(r"([\d]+) less sure", note)]
    assert said == ([left] if left else [])
    assert all("facts.jsonl" in note for note in notes)


FEW = [("r1", True, 0.9), ("r1", True, 0.6), ("r2", True, 0.6), ("r1", False, 0.4)]


def test_an_estimate_says_its_share_its_number_and_what_it_rests_on():
    first, rehearsal, review = expectation(Found(new_facts(FEW), "f", "run", kept()))
    assert first == (
        "By estimate, at least 70\u00a0% of the accepted facts of each relation are right, and "
        "about 2 of all 3. It rests on that."
    )
    assert rehearsal == (
        "In the rehearsal, 10 of 35 hidden facts were accepted again: about 29\u00a0% of what is "
        "missing may be found."
    )
    assert review == "1 more, of a probability of .40 or above, are left for a person to review."
    assert headline(Found(new_facts(FEW), "f", "run", kept())) == (
        "3 new facts, at least 70\u00a0% of them right by estimate"
    )


@pytest.mark.parametrize("decided", ["promise", "decider"])
def test_thresholds_of_valid_are_no_estimate(decided):
    said = " ".join(expectation(Found(new_facts(FEW), "f", "run", kept(decided, math.nan))))
    assert "about 2 of the 3 accepted facts are right; it may be fewer" in said
    assert "at least" not in said and "--precision" in said
    assert headline(Found(new_facts(FEW), "f", "run", kept(decided))) == "3 new facts"


def test_a_fact_left_at_more_than_an_accepted_one_is_explained():
    facts = new_facts([("r1", True, 0.24), ("r2", False, 0.96)])
    said = expectation(Found(facts, "f", "run", kept("decider")))
    assert "accepted at .24, and one of another left to review at .96" in said[-1]
    assert "threshold of its own, found on valid" in said[-1]
    said = expectation(Found(facts, "f", "run", kept("rehearsal")))
    assert "threshold of its own, so that the precision holds in each" in said[-1]


def test_nothing_accepted_says_why():
    nothing = Found(new_facts([("r1", False, 0.6)]), "f", "run", kept())
    assert headline(nothing) == "No new facts"
    assert "none are so probable that 70\u00a0% of them" in expectation(nothing)[0]
    assert "above the threshold" in expectation(nothing._replace(kept=kept("decider")))[0]


def test_a_review_heads_the_facts_with_its_promise():
    facts = new_facts([("r1", True, 0.3), ("r1", False, 0.9)])
    found = Found(facts, "facts.jsonl", "run", kept("review", precision=0.9))
    assert headline(found) == f"1 new fact, at least {at_least(0.9)} of them right by a review"
    assert expectation(found) == ["A line."]


def test_entailed_facts_are_told_from_guesses():
    """Two guesses, of which one is accepted, and a fact that the schema entails."""
    facts = new_facts([("r1", True, 0.9), ("r1", False, 0.5), ("r2", True, 0.5)])
    stated = [Reason(STATED, 1.0, 1, 1, "stated")]
    facts = replace(
        facts,
        evidence=Evidence.of([[], [], stated]),
        probabilities=frozen([0.9, 0.5, 1.0], np.float64),
    )
    found = Found(facts, "facts.jsonl", kept=kept())
    assert headline(found) == (
        "1 new fact, at least 90\xa0% of them right by estimate; "
        "1 more entailed by the stated schema"
    )
    assert any("1 fact more is entailed" in sentence for sentence in expectation(found))
    made = fact_list(found, 1)
    assert [DECISIONS[row[4]] for row in made.data["rows"]] == [ENTAILED, "accepted", "review"]
    assert [column.heading for column in made.relations.columns][1:4] == [
        "accepted", "to review", "entailed",
    ]  # fmt: skip
    assert {row[0].text: [cell.text for cell in row[1:4]] for row in made.relations.rows} == {
        "r1": ["1", "1", "0"],
        "r2": ["0", "0", "1"],
    }
    assert made.few.rows[0][1].text == ENTAILED
    alone = Found(facts.take([2]), "facts.jsonl", kept=kept())
    assert headline(alone) == "1 new fact, entailed by the stated schema"
