"""A benchmark says where it came from, and warns of what is odd about it."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.building.counting import table_one
from assent.building.origin import Counted, digest, origin_of, outline_of
from assent.building.recipe import build
from assent.core.facts import KnowledgeBase, Source

CROWD = toy.crowd(seed=4, num_entities=30, num_relations=3, facts_each=6)


def test_settings_source_and_counts_are_told():
    source = Source("crowd.tsv", duplicates=2, left_out={"literals": 7})
    kb = replace(CROWD, source=source)
    benchmark = build(kb, removed=4, held_out=0.2, seed=9)
    origin = benchmark.origin
    assert origin["settings"] == {"removed": 4, "held_out": 0.2, "deal": "by-fact", "seed": 9}
    assert origin["source"] == {
        "name": "crowd.tsv",
        "sha256": digest(kb),
        "facts": len(kb.facts),
        "entities": 30,
        "duplicates": 2,
        "left_out": {"literals": 7},
        "types": "derived",
    }
    assert origin["counts"]["queries"] == table_one(benchmark)
    assert origin["counts"]["entities"] == 26
    assert origin["counts"]["removed_entities"] == 4
    assert origin["counts"]["train_facts"] == len(benchmark.train)
    assert origin["warnings"] == []
    assert json.loads(json.dumps(origin)) == origin, "it fits a manifest"


def test_a_graph_with_splits_has_no_share_and_a_list_of_names_is_not_repeated():
    benchmark = build(toy.typed(toy.split()), removed=["dan", "oslo"], deal="by-query")
    assert benchmark.origin["settings"]["held_out"] is None
    assert benchmark.origin["settings"]["removed"] == "list"
    assert benchmark.origin["source"]["types"] == "given"


def test_facts_add_up():
    benchmark = build(toy.split(), removed=["dan", "oslo"], deal="by-query")
    counts = benchmark.origin["counts"]
    assert counts["answer_facts"] == 3
    assert counts["lost_facts"] == 8
    assert counts["train_facts"] == 32 - 3 - 8 - 2  # two facts had both ends removed


@given(toy.crowds(), st.randoms(use_true_random=False))
def test_the_digest_is_that_of_the_graph_and_not_of_its_order(kb, random):
    places = random.sample(range(len(kb.facts)), len(kb.facts))
    shuffled = KnowledgeBase.of_ids(
        kb.vocabulary, kb.facts[places], kb.splits[places], types=kb.types
    )
    assert digest(shuffled) == digest(kb)


def test_the_digest_tells_names_facts_splits_and_types_apart():
    whole = toy.whole()
    renamed = replace(
        whole,
        vocabulary=replace(
            whole.vocabulary, entities=tuple(f"{name}!" for name in whole.vocabulary.entities)
        ),
    )
    fewer = KnowledgeBase.of_ids(whole.vocabulary, whole.facts[1:])
    graphs = [whole, renamed, fewer, toy.split(), toy.typed(whole), toy.typed(toy.split())]
    assert len({digest(kb) for kb in graphs}) == len(graphs)
    assert digest(replace(whole, source=Source("another name"))) == digest(whole)


def test_a_relation_that_lost_all_its_train_facts_is_named():
    # Everyone admires ada, and nobody else; without her, nobody knows what admiring is.
    train = [*toy.facts_in(toy.TRAIN), ("ben", "admires", "ada"), ("cleo", "admires", "ada")]
    kb = toy.of_names(train, toy.facts_in(toy.VALID), toy.facts_in(toy.TEST))
    benchmark = build(kb, removed=["ada"], held_out=0.1, deal="by-query")
    assert "1 relation has no train fact left: admires" in benchmark.origin["warnings"]


def test_relations_that_lost_all_their_train_facts_go_by_their_labels():
    lost = [("ben", "P1", "ada"), ("cleo", "P1", "ada"), ("ben", "P2", "ada")]
    kb = toy.of_names(
        [*toy.facts_in(toy.TRAIN), *lost], toy.facts_in(toy.VALID), toy.facts_in(toy.TEST)
    )
    names = kb.vocabulary
    labels = {"P1": "admires", "P2": "envies"}
    names = replace(names, relation_labels=tuple(labels.get(r, r) for r in names.relations))
    benchmark = build(replace(kb, vocabulary=names), removed=["ada"], held_out=0.1, deal="by-query")
    assert "2 relations have no train fact left: admires, envies" in benchmark.origin["warnings"]


def test_missing_fakes_are_counted():
    # Everyone knows everyone: nobody violates anything, so there are no fakes at all.
    names = [f"friend{number}" for number in range(8)]
    kb = toy.of_names([(one, "knows", other) for one in names for other in names])
    benchmark = build(kb, removed=2)
    queries = benchmark.origin["counts"]["queries"]
    none = queries["N"]["total"]
    answered = queries["C"]["total"] + queries["I"]["total"] - none
    assert queries["F"]["total"] == 0
    (warning,) = benchmark.origin["warnings"]
    assert warning.partition(" fewer fake queries than wanted: ")[2] == (
        "the types, learned from the graph itself, leave too few anchors that violate a relation; "
        "there are none, so precision on C and F is that on C"
    )
    wanted = int(warning.split()[0].replace(",", ""))
    assert answered // 2 <= wanted <= answered


def test_missing_fakes_are_no_fault_of_the_graph_where_types_were_given():
    kb = toy.typed(toy.whole())
    counts = Counted(4, np.ones(kb.vocabulary.num_relations), 0, 0, {"F": {"total": 2}}, 3)
    assert origin_of(outline_of(kb), "", counts, {}, 1)["warnings"] == [
        "1 fewer fake query than wanted: the types leave too few anchors that violate a relation; "
        "there are 2, so precision on C and F is nearer to that on C"
    ]


@pytest.mark.parametrize("deal", ["by-fact", "by-query"])
def test_without_cause_there_is_no_warning(deal):
    assert build(CROWD, deal=deal).origin["warnings"] == []


def test_names_that_read_as_a_slip_are_warned_of():
    facts = [*toy.named_facts(CROWD.facts, CROWD.vocabulary), ("head", "relation", "tail")]
    facts.append((" ada", "knows", "ben "))
    warnings = build(toy.of_names(facts)).origin["warnings"]
    assert "2 names begin or end with a space, such as ' ada', 'ben '" in warnings
    assert "a fact is head, relation, tail: if that is a header, remove its line" in warnings
