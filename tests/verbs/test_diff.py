"""What came, went and changed its mind, told alike from every format that completions have."""

import math
from dataclasses import replace

import numpy as np
import pytest

import assent
import toy
from assent.core.arrays import frozen
from assent.core.new_facts import HEAD, STATED, TAIL, Evidence, NewFacts, Reason
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.decided import READERS, read_decided
from assent.files.facts import WRITERS, write_facts
from assent.files.provenance import OWN, PREFIXES, About
from assent.reporting.differences import differences_json, tables

NAMES = Vocabulary(("Q1", "Q2", "Q3"), ("P1",))
BEFORE = {(0, 1): 0.9, (0, 2): 0.8, (1, 2): 0.3}  # head, tail: probability
AFTER = {(0, 1): 0.9, (0, 2): 0.2, (2, 1): 0.7}


def facts(probabilities, threshold=0.0):
    rows = [(head, 0, tail) for head, tail in probabilities]
    values = np.array(list(probabilities.values()))
    scores = np.log(values / (1 - values))
    size = len(rows)
    return NewFacts(
        NAMES,
        frozen(rows),
        frozen(scores > threshold, np.bool_),
        frozen(values, np.float64),
        frozen(scores, np.float32),
        frozen(np.full(size, threshold), np.float64),
        frozen(np.full(size, math.nan), np.float64),
        frozen(np.full(size, TAIL | HEAD)),
        Evidence.nothing(size),
    )


def written(path, given, **about):
    write_facts(path, given, About(**about))
    return path


def kinds(found):
    return {(each.kind, each.head, each.tail) for each in found.facts}


def test_every_format_that_is_written_is_read():
    assert {*READERS} == {*WRITERS}


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".tsv", ".ttl", ".trig", ".kgx"])
def test_formats_that_tell_decisions_tell_who_changed_its_mind(suffix, tmp_path):
    before = written(tmp_path / f"a{suffix}", facts(BEFORE))
    after = written(tmp_path / f"b{suffix}", facts(AFTER))
    found = assent.diff(before, after)
    assert kinds(found) == {("changed", "Q1", "Q3"), ("went", "Q2", "Q3"), ("came", "Q3", "Q2")}
    assert found.same == 1
    (changed,) = found.of("changed")
    assert (changed.before.decision, changed.after.decision) == ("accepted", "review")
    assert changed.why == "less probable: 0.800 -> 0.200"


@pytest.mark.parametrize("suffix", [".nt", ".qs"])
def test_formats_without_decisions_tell_what_came_and_went(suffix, tmp_path):
    before = written(tmp_path / f"a{suffix}", facts(BEFORE))
    after = written(tmp_path / f"b{suffix}", facts(AFTER))
    assert kinds(assent.diff(before, after)) == {("went", "Q2", "Q3"), ("came", "Q3", "Q2")}


def test_triple_terms_are_read_too(tmp_path):
    path = written(tmp_path / "a.ttl", facts(BEFORE), triple_terms=True)
    assert read_decided(path)[("Q1", "P1", "Q3")].probability == pytest.approx(0.8)


def test_a_higher_threshold_is_named(tmp_path):
    before = written(tmp_path / "a.jsonl", facts({(0, 1): 0.8}))
    after = written(tmp_path / "b.jsonl", facts({(0, 1): 0.8}, threshold=2.0))
    assert "higher threshold: 0.000 -> 2.000" in assent.diff(before, after).facts[0].why


def test_facts_that_are_known_now_are_told_so(tmp_path):
    benchmark = toy.built(toy.crowd(0, num_entities=30, num_relations=3, facts_each=5))
    names = benchmark.vocabulary
    gone = replace(facts({(0, 1): 0.9}), vocabulary=names, facts=frozen(benchmark.train[:1]))
    before = written(tmp_path / "a.jsonl", gone)
    after = written(tmp_path / "b.jsonl", NewFacts.nothing(names))
    (found,) = assent.diff(before, after, known_after=benchmark).facts
    assert (found.kind, found.why) == ("went", "known now")


def test_a_benchmark_is_the_same_as_itself():
    benchmark = toy.built(toy.crowd(0, num_entities=30, num_relations=3, facts_each=5))
    found = assent.diff(benchmark, benchmark)
    assert not found.facts and found.same and found.entities == ((), ())


def test_two_of_a_kind_are_asked_for(tmp_path):
    benchmark = toy.built(toy.crowd(0, num_entities=30, num_relations=3, facts_each=5))
    assent.save(benchmark, tmp_path / "benchmark")
    path = written(tmp_path / "a.jsonl", facts(BEFORE))
    with pytest.raises(DataError, match="two of a kind"):
        assent.diff(path, tmp_path / "benchmark")
    for wrong in ("nowhere.nt", "wrong.xlsx"):
        (tmp_path / "wrong.xlsx").touch()
        with pytest.raises(DataError, match=wrong):
            assent.diff(path, tmp_path / wrong)


LABELLED = Vocabulary(("Q1", "Q2", "Q3"), ("P1",), ("Ann", "Ben", "Cas"), ("married to",))


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet", ".tsv"])
def test_entities_and_relations_are_told_by_their_labels(suffix, tmp_path):
    before, after = (replace(facts(each), vocabulary=LABELLED) for each in (BEFORE, AFTER))
    found = assent.diff(
        written(tmp_path / f"a{suffix}", before), written(tmp_path / f"b{suffix}", after)
    )
    assert found.labels == dict(
        zip(("Q1", "Q2", "Q3", "P1"), ("Ann", "Ben", "Cas", "married to"), strict=True)
    )
    told = tables(found.facts, found.same, 20, found.labels)
    cells = {
        cell.text for grid in (told.relations, told.facts) for row in grid.rows for cell in row
    }
    assert {"Ann", "Ben", "Cas", "married to"} <= cells and not {"Q1", "P1"} & cells
    (first, *_) = differences_json("completions", found.facts, 1, ((), ()), ((), ()), found.labels)[
        "facts"
    ]
    assert first["head"].startswith("Q") and first["head_name"] in ("Ann", "Ben", "Cas")


def test_what_the_schema_entails_now_is_no_change_of_probability(tmp_path):
    before = facts({(0, 1): 0.9})
    stated = Evidence.of([[Reason(STATED, 1.0, 1, 1, "stated")]])
    after = replace(before, evidence=stated)
    for first, last, why in (
        (before, after, "the stated schema entails it now"),
        (after, before, "the stated schema entails it no more"),
    ):
        found = assent.diff(
            written(tmp_path / "a.jsonl", first), written(tmp_path / "b.jsonl", last)
        )
        assert [each.why for each in found.facts] == [why]


def test_rows_of_edges_that_are_too_short_and_terms_that_are_triples_are_no_crash(tmp_path):
    edges = tmp_path / "new_edges.tsv"
    edges.write_text("subject\tpredicate\tobject\thas_confidence_score\tdecision\na\tb\tc\n")
    with pytest.raises(DataError, match=r"new_edges\.tsv:2: expected 5 tab-separated columns"):
        read_decided(tmp_path / "new.kgx")
    (tmp_path / "new.ttl").write_text(
        f"@prefix o: <{OWN}> . @prefix r: <{PREFIXES['rdf']}> .\n"
        "_:a r:reifies <<( <urn:h> <urn:r> <urn:t> )>> ;\n"
        "  o:decision <<( <urn:h> <urn:r> <urn:t> )>> ; o:probability 0.5 .\n"
    )
    assert [said.probability for said in read_decided(tmp_path / "new.ttl").values()] == [0.5]
