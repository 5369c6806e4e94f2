"""A schema file has one statement a line; what is written reads back equal."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.schema import PROPERTIES, Schema, Statement
from assent.errors import DataError
from assent.files.benchmarks import load, save
from assent.files.schemas import read_schema, write_schema
from assent.files.triples import read

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r\ufeff"), min_size=1)


@st.composite
def statements(draw):
    named = draw(st.sampled_from(list(PROPERTIES)))
    other = draw(WORDS) if PROPERTIES[named][1] else ""
    return Statement(draw(WORDS), named, other)


@given(st.frozensets(statements(), min_size=1, max_size=6))
def test_what_is_written_reads_back_equal(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("schema") / "schema.tsv"
    write_schema(Schema(rows), path)
    assert read_schema(path) == Schema(rows)


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("in", "'in' has the property ''; expected domain, range"),
        ("in\tdomains\tcity", "'in' has the property 'domains'; expected domain"),
        ("in\tdomain", r"expected 3 tab-separated columns \(relation, domain, type\), found 2"),
        ("in\tfunctional\tyes", r"expected 2 tab-separated columns \(relation, functional\)"),
        ("in\tinverseOf\t", "the name is empty"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(line, wrong, tmp_path):
    path = tmp_path / "schema.tsv"
    path.write_text(f"in\tdomain\tcity\n\n{line}\n")
    with pytest.raises(DataError, match=rf"schema\.tsv:3: {wrong}"):
        read_schema(path)


def test_an_empty_schema_is_refused(tmp_path):
    path = tmp_path / "schema.tsv"
    path.write_text("\n")
    with pytest.raises(DataError, match="nothing in it"):
        read_schema(path)


def test_a_schema_beside_a_tsv_file_needs_no_types_unless_it_speaks_of_them(tmp_path):
    (tmp_path / "kb.tsv").write_text("oslo\tin\tnorway\n")
    (tmp_path / "s.tsv").write_text("in\tfunctional\n")
    kb = read(tmp_path / "kb.tsv", schema=tmp_path / "s.tsv")
    assert kb.schema == Schema.of([("in", "functional")]) and kb.types is None
    (tmp_path / "s.tsv").write_text("in\tdomain\tcity\n")
    with pytest.raises(DataError, match="a schema without types"):
        read(tmp_path / "kb.tsv", schema=tmp_path / "s.tsv")


def test_types_beside_a_tsv_file_are_closed_upwards(tmp_path):
    (tmp_path / "kb.tsv").write_text("oslo\tin\tnorway\n")
    (tmp_path / "t.tsv").write_text("oslo\tport\n")
    (tmp_path / "s.tsv").write_text("port\tsubClassOf\tcity\nin\tdomain\tcity\n")
    kb = read(tmp_path / "kb.tsv", types=tmp_path / "t.tsv", schema=tmp_path / "s.tsv")
    assert kb.types.names == ("city", "port") and kb.types.entity_types.tolist() == [0, 1]


def test_a_benchmark_keeps_what_its_graph_states(tmp_path):
    schema = Schema.of([("born_in", "functional"), ("born_in", "range", "city")])
    benchmark = replace(toy.built(toy.whole(), removed=1), schema=schema)
    save(benchmark, tmp_path / "b")
    assert load(tmp_path / "b").schema == schema
    assert (tmp_path / "b" / "stated.tsv").read_text() == (
        "born_in\tfunctional\nborn_in\trange\tcity\n"
    )
    save(toy.built(toy.whole(), removed=1), tmp_path / "old")
    assert not (tmp_path / "old" / "stated.tsv").exists() and not load(tmp_path / "old").schema


def test_a_benchmark_remembers_what_building_removed(tmp_path):
    benchmark = toy.built(toy.whole(), removed=["oslo"])
    names = benchmark.vocabulary
    tail_of = names.relations.index("born_in")
    lost = {names.entities[anchor] for anchor, slot in benchmark.lost.tolist() if slot == tail_of}
    assert lost == {"dan", "eve"}
    save(benchmark, tmp_path / "b")
    again = load(tmp_path / "b")
    assert again.lost.tolist() == benchmark.lost.tolist()
    assert again.digest() == benchmark.digest()
    assert named(again.whole()) == named(benchmark.whole()) == named(toy.whole())


def named(graph):
    """The facts of a graph, or the train facts of a benchmark, by name."""
    names = graph.vocabulary
    facts = getattr(graph, "train", None)
    facts = graph.facts if facts is None else facts
    return {
        (names.entities[head], names.relations[relation], names.entities[tail])
        for head, relation, tail in facts.tolist()
    }
