"""New facts read back as they were written, in every format."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pyoxigraph as ox
import pytest

import toy
from assent.core.arrays import frozen
from assent.core.new_facts import Evidence, NewFacts, Reason
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.fact_lines import read_facts
from assent.files.fact_rows import rows_of_facts, table_of
from assent.files.facts import WRITERS, partial, write_facts
from assent.files.triples import read

NAMES = toy.whole().vocabulary
ADA, BEN, ROME = (NAMES.entities.index(name) for name in ("ada", "ben", "rome"))
KNOWS, LIVES = (NAMES.relations.index(name) for name in ("knows", "lives_in"))


@pytest.fixture
def facts():
    """ada lives in rome, as ben does, whom she knows; and, doubtful, ben knows ada."""
    evidence = Evidence.of(
        [
            [
                Reason("path", 0.5, 3, 4, "ada knows ben, who lives in rome: 3 of 4 pairs"),
                Reason("similar", np.nan, 0, 0, "like the known fact: ben lives in rome"),
                Reason("answered", 0.9, 9, 10, "ada lives in bari already"),
            ],
            [],
        ]
    )
    return NewFacts(
        NAMES,
        frozen([[ADA, LIVES, ROME], [BEN, KNOWS, ADA]]),
        frozen([True, False], np.bool_),
        frozen([0.9, 0.5], np.float64),
        frozen([2.5, 0.0], np.float32),
        frozen([1.5, np.inf], np.float64),
        frozen([0.95, np.nan], np.float64),
        frozen([3, 1]),
        evidence,
    )


FIRST = {
    "head": "ada",
    "relation": "lives_in",
    "tail": "rome",
    "decision": "accepted",
    "head_name": "ada",
    "relation_name": "lives_in",
    "tail_name": "rome",
    "probability": 0.9,
    "score": 2.5,
    "threshold": 1.5,
    "expected_precision": 0.95,
    "asked": "both",
    "evidence": [
        {
            "kind": "path",
            "confidence": 0.5,
            "support": 3,
            "cases": 4,
            "sentence": "ada knows ben, who lives in rome: 3 of 4 pairs",
        },
        {
            "kind": "similar",
            "confidence": None,
            "support": 0,
            "cases": 0,
            "sentence": "like the known fact: ben lives in rome",
        },
    ],
    "against": [
        {
            "kind": "answered",
            "confidence": 0.9,
            "support": 9,
            "cases": 10,
            "sentence": "ada lives in bari already",
        }
    ],
}
SECOND = {
    "head": "ben",
    "relation": "knows",
    "tail": "ada",
    "head_name": "ben",
    "relation_name": "knows",
    "tail_name": "ada",
    "decision": "review",
    "probability": 0.5,
    "score": 0.0,
    "threshold": None,
    "expected_precision": None,
    "asked": "tail",
    "evidence": [],
    "against": [],
}


def test_json_lines(facts, tmp_path):
    write_facts(path := tmp_path / "new.jsonl", facts)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [FIRST, SECOND]


def test_parquet_has_evidence_as_lists(facts, tmp_path):
    write_facts(path := tmp_path / "new.parquet", facts)
    assert pl.read_parquet(path).to_dicts() == [FIRST, SECOND]


def test_tsv_has_a_header_names_and_evidence_in_words(facts, tmp_path):
    labels = Vocabulary(
        NAMES.entities,
        NAMES.relations,
        tuple(name.capitalize() for name in NAMES.entities),
        tuple(name.replace("_", "\t") for name in NAMES.relations),
    )
    named = replace(facts, vocabulary=labels, probabilities=frozen([0.98768, 0.5], np.float64))
    write_facts(path := tmp_path / "new.tsv", named)
    header, first, second = (line.split("\t") for line in path.read_text().splitlines())
    assert header == [
        "head", "relation", "tail", "head_name", "relation_name", "tail_name", "decision",
        "probability", "score", "threshold", "expected_precision", "evidence", "against",
    ]  # fmt: skip
    assert first == [
        "ada", "lives_in", "rome", "Ada", "lives in", "Rome", "accepted", "0.9877", "2.5", "1.5",
        "0.95",
        "ada knows ben, who lives in rome: 3 of 4 pairs | like the known fact: ben lives in rome",
        "ada lives in bari already",
    ]  # fmt: skip
    assert second[6:] == ["review", "0.5", "0.0", "", "", "by similarity alone", ""]


def test_n_triples_load_into_a_store(facts, tmp_path):
    write_facts(path := tmp_path / "new.nt", facts)
    store = ox.Store()
    store.load(path=str(path), format=ox.RdfFormat.N_TRIPLES)
    assert len(store) == 2


def test_kgx_reads_back_as_the_same_facts_and_names(facts, tmp_path):
    labels = tuple(name.capitalize() for name in NAMES.entities)
    named = replace(facts, vocabulary=replace(NAMES, entity_labels=labels))
    write_facts(tmp_path / "new.kgx", named)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new_edges.tsv", "new_nodes.tsv"]
    again = read(tmp_path)
    names = again.vocabulary
    assert {
        (names.entities[h], names.relations[r], names.entities[t]) for h, r, t in again.facts
    } == {("ada", "lives_in", "rome"), ("ben", "knows", "ada")}
    assert set(names.entity_labels) == {"Ada", "Ben", "Rome"}
    assert (
        "\tprediction\tcomputational_model\t0.9000\taccepted"
        in (tmp_path / "new_edges.tsv").read_text()
    )


@pytest.mark.parametrize("before", ["", "http://www.wikidata.org/entity/"])
def test_quickstatements_are_lines_of_wikidatas_ids(facts, tmp_path, before):
    entities = tuple(f"{before}Q{number + 1}" for number in range(NAMES.num_entities))
    relations = tuple(f"P{number + 1}" for number in range(NAMES.num_relations))
    theirs = replace(facts, vocabulary=Vocabulary(entities, relations))
    write_facts(path := tmp_path / "new.qs", theirs)
    assert path.read_text().splitlines()[0] == (
        f"Q{ADA + 1}\tP{LIVES + 1}\tQ{ROME + 1}\t/* found by assent, probability 0.90 */"
    )


def test_quickstatements_about_other_things_are_refused(facts, tmp_path):
    with pytest.raises(DataError, match="none of Wikidata's"):
        write_facts(tmp_path / "new.qs", facts)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix not in (".qs", ".kgx")])
def test_nothing_can_be_written_too(suffix, tmp_path):
    write_facts(path := tmp_path / f"new{suffix}", NewFacts.nothing(NAMES))
    assert path.exists()


def test_no_facts_in_other_peoples_formats(tmp_path):
    write_facts(tmp_path / "new.kgx", NewFacts.nothing(NAMES))
    assert len((tmp_path / "new_edges.tsv").read_text().splitlines()) == 1  # the header
    write_facts(tmp_path / "new.qs", NewFacts.nothing(Vocabulary(("Q1",), ("P1",))))
    assert (tmp_path / "new.qs").read_text() == ""


def test_other_formats_are_refused(facts, tmp_path):
    with pytest.raises(DataError, match=r"cannot write \.csv; choose from \.tsv"):
        write_facts(tmp_path / "new.csv", facts)


def test_what_was_stopped_has_a_name_that_says_so(tmp_path):
    assert partial(tmp_path / "new.v2.nt").name == "new.v2.partial.nt"


LINE = {
    "head": "ada", "relation": "knows", "tail": "<b>ben</b>", "decision": "accepted",
    "probability": 0.93, "score": 2.6, "threshold": 1.0, "expected_precision": None,
    "asked": "both",
    "evidence": [{"facts": [["ada", "likes", "<b>ben</b>"]], "support": 3, "cases": 4}],
}  # fmt: skip


def written(folder: Path, *lines: object) -> Path:
    path = folder / "facts.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_line_is_a_fact_with_its_evidence(tmp_path):
    one = read_facts(written(tmp_path, json.dumps(LINE)))
    names = one.vocabulary
    assert names.entities == ("ada", "<b>ben</b>") and names.relations == ("knows", "likes")
    assert one.facts.tolist() == [[0, 0, 1]] and one.probabilities.tolist() == [0.93]
    assert np.isnan(one.expected).all()
    assert one.reasons(0) == [
        Reason(
            "path",
            0.75,
            3,
            4,
            "ada likes <b>ben</b>: in 3 of 4 such cases, "
            "a fact like “ada knows <b>ben</b>” is known, too",
        )
    ]


def test_names_in_a_file_are_labels(tmp_path):
    line = {**LINE, "head_name": "Ada L.", "relation_name": "is known to", "tail_name": "Ben"}
    names = read_facts(written(tmp_path, json.dumps(line))).vocabulary
    assert names.entity_labels == ("Ada L.", "Ben") and names.relation(0) == "is known to"


def test_what_is_read_is_what_was_written(facts, tmp_path):
    write_facts(path := tmp_path / "new.jsonl", facts)
    again = read_facts(path)
    assert list(rows_of_facts(again)) == list(rows_of_facts(facts))
    assert table_of(again).equals(table_of(facts))
    assert again.thresholds.tolist() == facts.thresholds.tolist()
    assert again.sides.tolist() == facts.sides.tolist()


def test_a_threshold_of_minus_infinity_is_read_back(facts, tmp_path):
    everything = replace(facts, thresholds=frozen([-np.inf, np.inf], np.float64))
    write_facts(path := tmp_path / "new.jsonl", everything)
    assert read_facts(path).thresholds.tolist() == [-np.inf, np.inf]


def test_labels_come_from_the_vocabularies_given(tmp_path):
    path = written(tmp_path, json.dumps(LINE))
    labels = Vocabulary(("bo", "ada"), ("knows",), ("Bo", "Ada L."), ("is known to",))
    names = read_facts(path, [toy.whole().vocabulary, labels]).vocabulary
    assert names.entity(0) == "Ada L." and names.entity(1) == "<b>ben</b>"
    assert names.relation(0) == "is known to" and names.relation(1) == "likes"


def test_no_lines_are_no_facts(tmp_path):
    assert len(read_facts(written(tmp_path))) == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"probability": 1.5}, "1.5 is no share of 1"),
        ({"probability": True}, "True is no share of 1"),
        ({"probability": float("nan")}, "nan is no share of 1"),
        ({"decision": "maybe"}, "decision 'maybe'"),
        ({"head": 3}, "names [3, 'knows', '<b>ben</b>']"),
        ({"evidence": [{"facts": [["a", "b"]], "support": 1, "cases": 1}]}, "expected a line"),
        ({"score": None}, "None is no number"),
        ({"asked": "nobody"}, "asked 'nobody'"),
        (
            {"evidence": [{"facts": [["ada", "likes", "eve"]], "support": 1, "cases": 1}]},
            "does not lead from head to tail",
        ),
        ({"evidence": [{"facts": [], "support": 1, "cases": 1}]}, "does not lead"),
        ({"evidence": 7}, "a value of the wrong kind; expected a line of `assent complete`"),
        ({"evidence": ["path"]}, "a value of the wrong kind; expected a line"),
        ({"against": "path"}, "a value of the wrong kind; expected a line"),
        ({"evidence": [{**FIRST["evidence"][0], "support": 1e400}]}, "a number that is too large"),
        ({"evidence": [{**FIRST["evidence"][0], "kind": "rumour"}]}, "kind 'rumour'"),
        ({"evidence": [{**FIRST["evidence"][0], "sentence": 3}]}, "sentence 3"),
        ({"evidence": [{**FIRST["evidence"][0], "confidence": 3}]}, "3 is no share of 1"),
        ({"against": [FIRST["evidence"][0]]}, "kind 'path'"),
    ],
)
def test_what_no_completion_writes_is_refused_with_its_line(tmp_path, change, complaint):
    path = written(tmp_path, json.dumps(LINE), json.dumps({**LINE, **change}))
    with pytest.raises(DataError) as refused:
        len(read_facts(path))
    assert f"{path}:2: " in str(refused.value) and complaint in str(refused.value)


@pytest.mark.parametrize("line", ["", "ada\tknows\tben", "[]", "3", '{"head": "ada"}', "[" * 9999])
def test_other_files_are_refused_in_one_line(tmp_path, line):
    path = written(tmp_path, line)
    with pytest.raises(DataError, match=r"facts\.jsonl:1: .*expected a line of `assent complete`"):
        len(read_facts(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        len(read_facts(tmp_path / "nowhere.jsonl"))
