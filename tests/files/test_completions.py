"""New facts read back as they were written, in every format."""

import json

import numpy as np
import polars as pl
import pyoxigraph as ox
import pytest

import toy
from assent.core.arrays import frozen
from assent.core.completions import Evidence, NewFacts
from assent.errors import DataError
from assent.files.completions import WRITERS, partial, write_completions

NAMES = toy.whole().vocabulary
ADA, BEN, ROME = (NAMES.entities.index(name) for name in ("ada", "ben", "rome"))
KNOWS, LIVES = (NAMES.relations.index(name) for name in ("knows", "lives_in"))


@pytest.fixture
def facts():
    """ada lives in rome, as ben does, whom she knows; and, doubtful, ben knows ada."""
    evidence = Evidence(
        frozen([0, 2, 2], np.int64),
        frozen([[KNOWS, LIVES], [KNOWS + NAMES.num_relations, -1]]),
        frozen([BEN, -1]),
        frozen([3, 1], np.int64),
        frozen([4, 9], np.int64),
    )
    return NewFacts(
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
    "probability": 0.9,
    "score": 2.5,
    "threshold": 1.5,
    "expected_precision": 0.95,
    "asked": "both",
    "evidence": [
        {
            "facts": [["ada", "knows", "ben"], ["ben", "lives_in", "rome"]],
            "support": 3,
            "cases": 4,
        },
        {"facts": [["rome", "knows", "ada"]], "support": 1, "cases": 9},
    ],
}
SECOND = {
    "head": "ben",
    "relation": "knows",
    "tail": "ada",
    "decision": "review",
    "probability": 0.5,
    "score": 0.0,
    "threshold": None,
    "expected_precision": None,
    "asked": "tail",
    "evidence": [],
}


def test_json_lines(facts, tmp_path):
    write_completions(path := tmp_path / "new.jsonl", facts, NAMES)
    assert [json.loads(line) for line in path.read_text().splitlines()] == [FIRST, SECOND]


def test_parquet_has_evidence_as_json_text(facts, tmp_path):
    write_completions(path := tmp_path / "new.parquet", facts, NAMES)
    rows = pl.read_parquet(path).to_dicts()
    assert [{**row, "evidence": json.loads(row["evidence"])} for row in rows] == [FIRST, SECOND]


def test_tsv_has_a_header_and_evidence_in_words(facts, tmp_path):
    write_completions(path := tmp_path / "new.tsv", facts, NAMES)
    header, first, second = (line.split("\t") for line in path.read_text().splitlines())
    assert header == [
        "head", "relation", "tail", "probability", "score", "threshold", "expected_precision",
        "evidence",
    ]  # fmt: skip
    words = "ada knows ben, ben lives_in rome (3 of 4); rome knows ada (1 of 9)"
    assert first == ["ada", "lives_in", "rome", "0.9", "2.5", "1.5", "0.95", words]
    assert second == ["ben", "knows", "ada", "0.5", "0.0", "", "", ""]


def test_n_triples_load_into_a_store(facts, tmp_path):
    write_completions(path := tmp_path / "new.nt", facts, NAMES)
    store = ox.Store()
    store.load(path=str(path), format=ox.RdfFormat.N_TRIPLES)
    assert len(store) == 2


@pytest.mark.parametrize("suffix", WRITERS)
def test_nothing_can_be_written_too(suffix, tmp_path):
    write_completions(path := tmp_path / f"new{suffix}", NewFacts.nothing(), NAMES)
    assert path.exists()


def test_other_formats_are_refused(facts, tmp_path):
    with pytest.raises(DataError, match=r"cannot write \.csv; choose from \.tsv"):
        write_completions(tmp_path / "new.csv", facts, NAMES)


def test_what_was_stopped_has_a_name_that_says_so(tmp_path):
    assert partial(tmp_path / "new.v2.nt").name == "new.v2.partial.nt"
