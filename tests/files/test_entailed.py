"""In every format, a reader can tell what the schema entails from what was accepted as a guess."""

import json
import re

import numpy as np
import polars as pl
import pyoxigraph as ox
import pytest

from assent.core.arrays import frozen
from assent.core.new_facts import ACCEPTED, ENTAILED, REVIEW, STATED, Evidence, NewFacts, Reason
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.decided import read_decided
from assent.files.fact_lines import read_facts
from assent.files.facts import WRITERS, write_facts
from assent.files.kgx import kgx_files
from assent.files.provenance import About, entailed_graph
from assent.files.sparql import GRAPH

NAMES = Vocabulary(("Q1", "Q2", "Q3"), ("P1",), ("Ann", "Ben", "Cas"), ("married to",))
GUESS, CERTAIN = ("Q1", "P1", "Q2"), ("Q2", "P1", "Q3")


@pytest.fixture
def facts():
    """A guess that was accepted, and a fact that the schema entails."""
    said = "stated: “married to” is symmetric, and “Cas married to Ben” is known"
    return NewFacts(
        NAMES,
        frozen([[0, 0, 1], [1, 0, 2]]),
        frozen([True, True], np.bool_),
        frozen([0.9, 1.0], np.float64),
        frozen([2.0, 60.0], np.float32),
        frozen([1.0, -np.inf], np.float64),
        frozen([0.9, np.nan], np.float64),
        frozen([3, 3]),
        Evidence.of([[Reason("head", 0.5, 3, 4, "so it is")], [Reason(STATED, 1.0, 1, 1, said)]]),
    )


def test_decisions_are_three(facts):
    assert facts.decisions.tolist() == [ACCEPTED, ENTAILED]
    assert facts.entailed.tolist() == [False, True]
    turned = facts.take([1, 0, 1])
    assert turned.entailed.tolist() == [True, False, True]
    assert not NewFacts.nothing(NAMES).entailed.any()


def test_a_fact_that_is_not_accepted_is_not_entailed(facts):
    left = NewFacts(NAMES, facts.facts, frozen([False, False], np.bool_), *facts._columns()[2:],
                    facts.evidence)  # fmt: skip
    assert left.decisions.tolist() == [REVIEW, REVIEW]


@pytest.mark.parametrize("triple_terms", [False, True])
@pytest.mark.parametrize("suffix", WRITERS)
def test_every_format_tells_them_apart(suffix, triple_terms, facts, tmp_path):
    write_facts(tmp_path / f"new{suffix}", facts, About(triple_terms=triple_terms))
    found = read_decided(tmp_path / f"new{suffix}")
    assert {fact: said.decision for fact, said in found.items()} == {
        GUESS: ACCEPTED,
        CERTAIN: ENTAILED,
    }


def test_tables_have_a_column_to_filter_by(facts, tmp_path):
    for suffix, read in ((".tsv", lambda path: pl.read_csv(path, separator="\t")),
                         (".parquet", pl.read_parquet)):  # fmt: skip
        write_facts(tmp_path / f"new{suffix}", facts)
        assert read(tmp_path / f"new{suffix}")["decision"].to_list() == [ACCEPTED, ENTAILED]
    write_facts(tmp_path / "new.jsonl", facts)
    lines = (tmp_path / "new.jsonl").read_text().splitlines()
    assert [json.loads(line)["decision"] for line in lines] == [ACCEPTED, ENTAILED]


def test_triples_have_a_comment_that_parsers_pass_over(facts, tmp_path):
    write_facts(tmp_path / "new.nt", facts)
    lines = (tmp_path / "new.nt").read_text().splitlines()
    assert [line.endswith(" . # entailed") for line in lines] == [False, True]
    assert len(list(ox.parse(path=tmp_path / "new.nt"))) == 2


def test_turtle_can_be_asked_for_either(facts, tmp_path):
    write_facts(tmp_path / "new.ttl", facts)
    store = ox.Store()
    store.load(path=tmp_path / "new.ttl")
    found = store.query(
        "PREFIX a: <urn:assent:ns#> PREFIX r: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> "
        f"SELECT ?tail {{ [] a:decision '{ENTAILED}' ; r:object ?tail }}"
    )
    assert [row["tail"].value for row in found] == ["urn:assent:Q3"]


def test_kgx_says_it_in_the_words_of_biolink(facts, tmp_path):
    write_facts(tmp_path / "new.kgx", facts)
    edges = pl.read_csv(kgx_files(tmp_path / "new.kgx")[1], separator="\t")
    assert edges["knowledge_level"].to_list() == ["prediction", "logical_entailment"]
    assert edges["agent_type"].to_list() == ["computational_model", "automated_agent"]


def test_the_summary_of_an_edit_says_it(facts, tmp_path):
    write_facts(tmp_path / "new.qs", facts)
    first, last = (tmp_path / "new.qs").read_text().splitlines()
    assert re.search(r"probability 0\.90", first) and "entailed by the schema" in last


def test_a_store_has_a_graph_for_either(facts, monkeypatch):
    sent = {}
    monkeypatch.setattr(
        "assent.files.facts.send_facts",
        lambda store, rows, graph, rdf_terms: sent.update({graph: list(rows)}),
    )
    write_facts("sparql+http://localhost:1/sparql", facts)
    assert sent == {GRAPH: [GUESS], entailed_graph(GRAPH): [CERTAIN]}


def test_files_of_older_versions_had_them_among_the_accepted(facts, tmp_path):
    write_facts(tmp_path / "new.jsonl", facts)
    text = (tmp_path / "new.jsonl").read_text()
    (tmp_path / "old.jsonl").write_text(text.replace(f'"{ENTAILED}"', f'"{ACCEPTED}"'))
    assert read_facts(tmp_path / "old.jsonl").decisions.tolist() == [ACCEPTED, ENTAILED]
    (tmp_path / "wrong.jsonl").write_text(text.replace(f'"{ACCEPTED}"', f'"{ENTAILED}"'))
    with pytest.raises(DataError, match="'entailed' without evidence of the kind 'stated'"):
        read_facts(tmp_path / "wrong.jsonl")
