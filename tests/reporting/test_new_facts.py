"""New facts in words, each relation in turn."""

from dataclasses import replace

import numpy as np

import toy
from assent.completing.completing import Completion, Outcome, Rehearsed
from assent.completing.refusing import Refused
from assent.core.arrays import frozen
from assent.core.new_facts import STATED, Evidence, NewFacts, Reason
from assent.reporting.new_facts import completion_grid, contents, facts_in_words, summary_lines

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
        f"  {e[0]} {r[0]} {e[3]}   (.95)",
        "      by similarity alone: no rule speaks for it",
        f"  {e[1]} {r[1]} {e[2]}   (.50)",
        "      5 of 9 say so",
        f"  {e[0]} {r[0]} {e[1]}   (.90)",
        "      7 of 9 say so",
        f"  {e[0]} {r[0]} {e[2]}   (.80)",
        "      6 of 9 say so",
    ]


def test_only_so_many_as_asked_for():
    assert len(list(facts_in_words(completion(FACTS).accepted, most=1))) == 2
    assert list(facts_in_words(completion(FACTS, accepted=False).accepted)) == []


def test_a_fact_without_evidence_says_so():
    facts = completion(FACTS).accepted
    bare = replace(facts, evidence=Evidence.nothing(len(facts)))
    assert all("by similarity alone" in line for line in list(facts_in_words(bare))[1::2])


def test_facts_that_are_probably_wrong_are_counted_where_no_precision_was_asked_for():
    doubtful = completion([(fact, p / 2, *others) for fact, p, *others in FACTS])
    (line,) = [line for line in summary_lines(doubtful) if "--precision" in line]
    assert line.startswith("of the accepted facts, 4 are less probable than .5")
    assert not any("--precision" in line for line in summary_lines(completion(FACTS)))


def test_estimates_that_are_those_of_other_relations_are_counted():
    found, rehearsed = completion(FACTS), Rehearsed(0.7, 1.0)
    nothing = Refused.joined([], found.vocabulary)
    outcomes = [
        Outcome(relation, 10, accepted, 0, 0, 0, True, nothing, held_out, found=1)
        for relation, accepted, held_out in ((0, 3, 50), (1, 1, 4))
    ]
    told = summary_lines(replace(found, outcomes=tuple(outcomes), rehearsed=rehearsed))
    (line,) = [line for line in told if "other relations" in line]
    assert line.startswith("of relations with fewer than 5 held-out facts: 1 of them")


def test_facts_that_are_kept_are_told_from_all_that_were_accepted():
    found, rehearsed = completion(FACTS[:1]), Rehearsed(0.7, 1.0)
    nothing = Refused.joined([], found.vocabulary)
    outcome = Outcome(0, 10, 30, 5, 0, 0, True, nothing, 3, found=1)
    told = summary_lines(replace(found, outcomes=(outcome,), rehearsed=rehearsed))
    assert "30 facts accepted, 5 to review; of these, the surest are kept" in told[0]
    assert told[0].endswith("(--max-facts): 1 accepted, 0 to review")
    assert any("of the kept facts" in line for line in told)
    assert any("30 of all that are accepted" in line for line in told)


def with_entailed(guessed, entailed):
    """A completion of one relation with so many facts of either kind."""
    found = completion(
        [((0, 0, place + 1), 0.8, "so it is") for place in range(guessed + entailed)]
    )
    reasons = [
        Reason("head", 0.5, 1, 2, "so it is")
        if place < guessed
        else Reason(STATED, 1, 1, 1, "it is")
        for place in range(guessed + entailed)
    ]
    facts = replace(found.facts, evidence=Evidence.of([[one] for one in reasons]))
    nothing = Refused.joined([], facts.vocabulary)
    outcome = Outcome(0, 9, guessed, 0, 0, 0, True, nothing)._replace(entailed=entailed)
    return replace(found, facts=facts, outcomes=(outcome,), rehearsed=Rehearsed(0.7, 0.5))


def test_entailed_facts_stand_beside_guesses_and_are_told_from_them():
    found = with_entailed(0, 2)
    grid = completion_grid(found)
    row = dict(zip([column.heading for column in grid.columns], grid.rows[0], strict=True))
    assert (row["entailed"].text, row["accepted as guesses"].text) == ("2", "0")
    lines = summary_lines(found)
    assert "0 facts accepted as guesses" in lines[0]
    assert any("no guesses are so probable" in line for line in lines)
    assert any(line.startswith("entailed by the stated schema") for line in lines)
    assert contents(found.accepted) == " (0 accepted as guesses, 2 entailed)"


def test_without_entailed_facts_nothing_is_said_of_them():
    found = with_entailed(1, 0)
    headings = [column.heading for column in completion_grid(found).columns]
    assert "accepted" in headings and "entailed" not in headings
    assert not any("entailed" in line or "guess" in line for line in summary_lines(found))
    assert contents(found.accepted) == ""


def test_estimates_are_about_guesses_alone():
    found = with_entailed(1, 2)
    assert len(found.guessed) == 1 and len(found.accepted) == 3
    assert repr(found) == "Completion(1 accepted, 0 review, 2 entailed)"
    (estimate,) = [line for line in summary_lines(found) if line.startswith("right, by estimate")]
    assert "at least 80\xa0% of the accepted facts" in estimate
