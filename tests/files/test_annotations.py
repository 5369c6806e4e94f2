"""What stands beside the facts: readable names, types, schema, lists of entities."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from assent.core.facts import KnowledgeBase
from assent.errors import DataError
from assent.files.annotations import find_file, read_list, read_texts
from assent.files.triples import read

FACTS = "Q1\tP1\tQ2\nQ3\tP1\tQ2\nQ2\tP2\tQ4\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.tsv").write_text(FACTS)
    return tmp_path


def put(folder: Path, name: str, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def types_of(kb: KnowledgeBase) -> dict[str, list[str]]:
    """The types of each entity that has any, by name."""
    assert kb.types is not None
    parts = np.split(kb.types.entity_types, kb.types.entity_offsets[1:-1])
    rows = zip(kb.vocabulary.entities, parts, strict=True)
    return {name: [kb.types.names[kind] for kind in part] for name, part in rows if len(part)}


def schema_of(kb: KnowledgeBase) -> dict[tuple[str, str], list[str]]:
    """What is known of each end of a relation, by name."""
    assert kb.types is not None
    slots = [(name, end) for end in ("domain", "range") for name in kb.vocabulary.relations]
    parts = np.split(kb.types.slot_types, kb.types.slot_offsets[1:-1])
    rows = zip(slots, parts, strict=True)
    return {slot: [kb.types.names[kind] for kind in part] for slot, part in rows if len(part)}


# Labels


@pytest.mark.parametrize("suffix", [".tsv", ".txt", ".tsv.gz", ".json", ".json.gz"])
def test_labels_lie_beside_the_facts(suffix, folder):
    labels = {"Q1": "Oslo", "Q2": "Norway", "Q9": "Nowhere"}
    lines = "".join(f"{name}\t{label}\n" for name, label in labels.items())
    put(folder, f"entity_names{suffix}", labels if "json" in suffix else lines)
    kb = read(folder)
    assert kb.vocabulary.entities == ("Q1", "Q2", "Q3", "Q4")
    assert kb.vocabulary.entity_labels == ("Oslo", "Norway", "Q3", "Q4")
    assert kb.vocabulary.relation_labels == ()


def test_labels_may_be_kept_as_codex_keeps_them(folder):
    put(folder, "entity_names.json", {
        "Q1": {"label": "Oslo", "description": "capital", "wiki": None}, "Q2": {"label": "Norway"},
    })  # fmt: skip
    put(folder, "relation_names.json", {"P1": {"label": "lies in", "description": ""}})
    kb = read(folder)
    assert kb.vocabulary.entity_labels == ("Oslo", "Norway", "Q3", "Q4")
    assert kb.vocabulary.relation_labels == ("lies in", "P2")


@pytest.mark.parametrize("name", ["relation_labels.json", "relation_labels_en.json"])
def test_labels_are_found_under_the_names_of_codex(folder, name):
    put(folder, name, {"P1": {"label": "lies in"}})
    put(folder, "relation_labels_de.json", {"P1": {"label": "liegt in"}})
    assert read(folder).vocabulary.relation_labels == ("lies in", "P2")
    put(folder, "relation_names.json", {"P1": "is in"})
    assert read(folder).vocabulary.relation_labels == ("is in", "P2")


def test_labels_are_taken_in_the_language_wanted(folder):
    put(folder, "relation_labels_de.json", {"P1": {"label": "liegt in"}})
    assert read(folder).vocabulary.relation_labels == ()
    assert read(folder, language=["de"]).vocabulary.relation_labels == ("liegt in", "P2")


def test_labels_may_lie_elsewhere(folder, tmp_path):
    path = put(tmp_path, "elsewhere.json", {"Q1": "Oslo"})
    with pytest.warns(UserWarning, match="none of its 1 names is in the graph"):  # of relations
        kb = read(folder / "train.tsv", entity_names=path, relation_names=str(path))
    assert kb.vocabulary.entity(0) == "Oslo"
    assert kb.vocabulary.relation_labels == ("P1", "P2")


def test_a_file_given_goes_before_the_one_in_the_folder(folder, tmp_path):
    put(folder, "entity_names.tsv", "Q1\tOslo\n")
    given = put(tmp_path, "given.tsv", "Q1\tKristiania\n")
    assert read(folder, entity_names=given).vocabulary.entity(0) == "Kristiania"


def test_a_label_is_one_line_and_never_empty(folder):
    put(folder, "entity_names.json", {"Q1": " Os\n\tlo ", "Q2": " \n", "Q3": ""})
    assert read(folder).vocabulary.entity_labels == ("Os lo", "Q2", "Q3", "Q4")


def test_the_same_label_twice_is_one_label(folder):
    put(folder, "entity_names.tsv", "Q1\tOslo\nQ1\tOslo\n")
    assert read(folder).vocabulary.entity(0) == "Oslo"


def test_two_labels_for_one_name_are_refused_by_line(folder):
    put(folder, "entity_names.tsv", "Q1\tOslo\nQ2\tNorway\n\nQ1\tKristiania\n")
    with pytest.raises(DataError, match=r"entity_names\.tsv:4: 'Q1' has two labels"):
        read(folder)


@pytest.mark.parametrize("label", [7, None, ["Oslo"], {"description": "capital"}, {"label": 7}])
def test_a_label_that_is_no_text_is_refused(label, folder):
    put(folder, "entity_names.json", {"Q1": label})
    with pytest.raises(DataError, match=r"entity_names\.json: the label of 'Q1' is .*; expected"):
        read(folder)


@pytest.mark.parametrize(
    "content", ["{", "", "[1, 2]", "7", '"text"', "null", "{'Q1': 1}", "[" * 9999]
)
def test_json_that_is_none_is_refused(content, folder):
    put(folder, "entity_names.json", content)
    with pytest.raises(DataError, match=r"entity_names\.json.*expected"):
        read(folder)


def test_half_a_character_is_no_label_and_no_type(folder):
    put(folder, "entity_names.json", '{"Q1": "\\ud800"}')
    with pytest.raises(DataError, match=r"entity_names\.json: the label of 'Q1' is"):
        read(folder)
    (folder / "entity_names.json").unlink()
    put(folder, "entity_types.json", '{"Q1": ["\\ud800"]}')
    with pytest.raises(DataError, match=r"entity_types\.json: the types of 'Q1' are"):
        read(folder)
    put(folder, "entity_types.json", '{"\\ud800": ["city"]}')
    with pytest.raises(DataError, match=r"entity_types\.json: the types of '\\ud800' are"):
        read(folder)


# Types


@pytest.mark.parametrize("suffix", [".tsv", ".txt.gz", ".json", ".json.gz"])
def test_types_lie_beside_the_facts(suffix, folder):
    types = {"Q3": ["port", "city"], "Q1": ["city"], "Q9": ["dream"], "Q4": []}
    lines = "".join(f"{name}\t{kind}\n" for name, kinds in types.items() for kind in kinds)
    put(folder, f"entity_types{suffix}", types if "json" in suffix else lines)
    kb = read(folder)
    assert types_of(kb) == {"Q1": ["city"], "Q3": ["city", "port"]}
    assert kb.types.names == ("city", "port")  # nobody in the graph is a dream
    assert schema_of(kb) == {}


def test_a_graph_without_types_has_none(folder):
    assert read(folder).types is None


def test_the_same_type_twice_is_one_type(folder):
    put(folder, "entity_types.tsv", "Q1\tcity\nQ1\tcity\n")
    assert types_of(read(folder)) == {"Q1": ["city"]}


def test_types_of_strangers_are_refused(folder):
    put(folder, "entity_types.tsv", "Q8\tcity\nQ9\tcity\n")
    with pytest.raises(DataError, match=r"types\.tsv: none of its 2 entities is in the graph"):
        read(folder)


@pytest.mark.parametrize("types", ["city", 7, None, {"city": 1}, ["city", 7], [["city"]]])
def test_types_that_are_no_list_of_names_are_refused(types, folder):
    put(folder, "entity_types.json", {"Q1": types})
    with pytest.raises(DataError, match=r"types\.json: the types of 'Q1' are .*expected a list of"):
        read(folder)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("", "is empty; expected a name"),
        ("ci\tty", r"'ci\\tty' holds a tab or a line break"),
        ("ci\nty", r"'ci\\nty' holds a tab or a line break"),
        ("ci\rty", r"'ci\\rty' holds a tab or a line break"),
        ("\ufeffcity", r"'\\ufeffcity' begins with a byte order mark"),
    ],
)
def test_a_type_that_would_break_its_line_is_refused(kind, message, folder):
    put(folder, "entity_types.json", {"Q1": [kind]})
    with pytest.raises(DataError, match=rf"entity_types\.json: the type {message}"):
        read(folder)


# Schema


def test_a_schema_says_what_the_ends_of_relations_take(folder):
    put(folder, "entity_types.tsv", "Q1\tcity\n")
    rows = ["P1 range country", "P1 domain city", "P1 domain port", "P9 range dream"]
    put(folder, "schema.tsv", "".join(row.replace(" ", "\t") + "\n" for row in rows))
    kb = read(folder)
    assert schema_of(kb) == {("P1", "domain"): ["city", "port"], ("P1", "range"): ["country"]}
    assert types_of(kb) == {"Q1": ["city"]}
    assert kb.types.names == ("city", "country", "port")


def test_a_schema_without_types_is_refused(folder):
    put(folder, "schema.tsv", "P1\tdomain\tcity\n")
    with pytest.raises(DataError, match=r"schema\.tsv: a schema without types"):
        read(folder)


def test_a_wrong_end_is_refused_by_line(folder):
    put(folder, "entity_types.tsv", "Q1\tcity\n")
    put(folder, "schema.tsv", "P1\tdomain\tcity\n\nP1\trage\tcity\n")
    with pytest.raises(
        DataError, match=r"schema\.tsv:3: 'P1' has the property 'rage'; expected domain"
    ):
        read(folder)


# Files and lists


def test_of_two_files_for_one_thing_neither_is_taken(tmp_path):
    put(tmp_path, "schema.tsv", "")
    assert find_file(tmp_path, "schema") == tmp_path / "schema.tsv"
    assert find_file(tmp_path, "entity_names") is None
    put(tmp_path, "schema.json.gz", "")
    with pytest.raises(DataError, match=r"schema\.tsv: schema\.json\.gz lies beside it; keep one"):
        find_file(tmp_path, "schema")


def test_a_list_has_one_name_a_line(tmp_path):
    path = put(tmp_path, "removed.txt", "\ufeffQ1\r\n\n Q 2 \nQ3")
    assert read_list(path) == ["Q1", " Q 2 ", "Q3"]
    assert read_list(put(tmp_path, "removed.txt.gz", "Q1\n")) == ["Q1"]


def test_an_empty_list_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"removed\.txt: nothing in it; expected one name a line"):
        read_list(put(tmp_path, "removed.txt", "\n\n"))


# Texts


def test_a_text_is_a_label_and_what_describes_it(folder):
    value = {"label": "Oslo", "description": "capital\nof Norway", "wiki": "https://x"}
    path = put(folder, "texts.json", {"Q1": value, "Q2": "Norway", "Q9": {"label": "x"}})
    assert read_texts(path, ("Q1", "Q2", "Q3")) == ("Oslo, capital of Norway", "Norway", "")
    path = put(folder, "texts.tsv", "Q1\tOslo, capital of Norway\nQ9\tx\n")
    assert read_texts(path, ("Q1", "Q2")) == ("Oslo, capital of Norway", "")


def test_texts_of_other_names_and_no_texts_are_refused(folder):
    path = put(folder, "texts.tsv", "Q8\tOslo\nQ9\tx\n")
    with pytest.raises(DataError, match="none of its 2 names is in the graph"):
        read_texts(path, ("Q1",))
    path = put(folder, "texts.json", {"Q1": {"label": "Oslo", "description": 7}})
    with pytest.raises(DataError, match=r"the description of 'Q1' is .*; expected text"):
        read_texts(path, ("Q1",))
