"""A name keeps its kind: text that reads as a blank node or a literal stays text, through RDF."""

import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assent.core.arrays import frozen, rows_of
from assent.core.new_facts import Evidence, NewFacts
from assent.core.schema import PROPERTIES, Schema
from assent.errors import DataError
from assent.files.facts import write_facts
from assent.files.provenance import About
from assent.files.schemas import typed
from assent.files.triples import named_facts, read, write
from toy import of_names

LOOKS = ("_:b0", "_:", '"literal"', '"x"@en', '"x"^^<urn:t>', "<urn:x>", "urn:assent:a", "plain")
NAMES = st.sampled_from(LOOKS) | st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), min_size=1
)
FACTS = st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=1, max_size=6)


def new_facts(rows) -> NewFacts:
    kb = of_names(rows)
    count = len(kb.facts)
    ones = frozen(np.ones(count), np.float64)
    return NewFacts(
        kb.vocabulary,
        kb.facts,
        frozen(np.ones(count), np.bool_),
        ones,
        frozen(np.ones(count), np.float32),
        ones,
        ones,
        frozen(np.zeros(count, np.int32)),
        Evidence.of([[] for _ in range(count)]),
    )


def in_a_file(rows, about=None):
    """The facts of a graph that were written by `complete`, and read again."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "new.nt"
        write_facts(path, new_facts(rows), *([about] if about else []))
        kept = {"keep_literals": True, "keep_blank_nodes": True} if about else {}
        again = read(path, **kept)
    return set(named_facts(again.facts, again.vocabulary).iter_rows())


# Whatever a line can hold: spaces of all kinds at either end, and controls.
HELD = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1
).filter(lambda name: not name.startswith("\ufeff"))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(HELD, HELD, HELD), min_size=1, max_size=6))
@example([("country0", "in ", "country0 "), ("country0\xa0", "in", " country0\x85")])
def test_new_facts_in_kgx_read_back_equal(rows):
    with TemporaryDirectory() as folder:
        write_facts(Path(folder) / "new.kgx", new_facts(rows))
        again = read(folder)
    assert set(named_facts(again.facts, again.vocabulary).iter_rows()) == set(rows)
    assert again.vocabulary.entity_labels in ((), again.vocabulary.entities)


@pytest.mark.parametrize("letter", "\t\n\r")
def test_a_name_that_no_line_of_kgx_can_hold_is_refused(letter, tmp_path):
    with pytest.raises(DataError, match=r"KGX: the entity 'a.*holds a tab or a line break"):
        write_facts(tmp_path / "new.kgx", new_facts([(f"a{letter}b", "in", "c")]))
    assert not list(tmp_path.iterdir())


@settings(max_examples=60, deadline=None)
@given(FACTS)
@example([(name, name, name) for name in LOOKS])
def test_new_facts_about_plain_names_read_back_equal(rows):
    assert in_a_file(rows) == set(rows)


def test_terms_that_were_kept_from_rdf_go_out_as_these(tmp_path):
    rows = [("_:b0", "urn:r", '"literal"')]
    assert in_a_file(rows, About(rdf_terms=True)) == set(rows)
    path = tmp_path / "new.nt"
    write_facts(path, new_facts(rows), About(rdf_terms=True))
    assert path.read_text() == '_:b0 <urn:r> "literal" .\n'
    write_facts(path, new_facts(rows))
    assert path.read_text() == "<urn:assent:_%3Ab0> <urn:r> <urn:assent:%22literal%22> .\n"


@pytest.mark.parametrize("kept", [(), ("--keep-literals", "--keep-blank-nodes")])
def test_convert_takes_names_of_a_table_as_names(kept, say, tmp_path):
    (tmp_path / "kb.tsv").write_text('_:b0\tr\t"literal"\n')
    assert say("convert", tmp_path / "kb.tsv", "--out", tmp_path / "kb.nt", *kept)[0] == 0
    again = read(tmp_path / "kb.nt")
    assert again.vocabulary.entities == ('"literal"', "_:b0")


def test_only_rdf_has_terms_to_keep(tmp_path):
    (tmp_path / "kb.nt").write_text('_:b0 <urn:r> "literal" .\n<urn:a> <urn:r> <urn:b> .\n')
    (tmp_path / "kb.tsv").write_text('_:b0\turn:r\t"literal"\n')
    everything = {"keep_literals": True, "keep_blank_nodes": True}
    assert read(tmp_path / "kb.nt", **everything).source.rdf_terms
    assert not read(tmp_path / "kb.nt").source.rdf_terms
    assert not read(tmp_path / "kb.tsv", **everything).source.rdf_terms


def test_names_and_schemas_that_match_nothing_are_told_of(tmp_path):
    graph, names, schema = (tmp_path / name for name in ("kb.tsv", "names.tsv", "schema.tsv"))
    graph.write_text("a\tin\tb\n")
    names.write_text("x\tThe x\n")
    schema.write_text("likes\tsymmetric\n")
    with pytest.warns(UserWarning, match=r"names\.tsv: none of its 1 names is in the graph"):
        read(graph, entity_names=names)
    with pytest.warns(UserWarning, match=r"schema\.tsv: none of its 1 relations is in the graph"):
        read(graph, schema=schema)


WORDS = st.sampled_from(["a", "b", "c d", "urn:x", "http://e/é", '"l"'])
STATED = st.sampled_from([(named, kinds) for named, kinds in PROPERTIES.items()])
SCHEMAS = st.lists(st.tuples(STATED, st.sampled_from(["in", "of"]), WORDS, WORDS), max_size=9)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(WORDS, st.sampled_from(["in", "of"]), WORDS), min_size=1),
    st.lists(st.tuples(WORDS, WORDS), max_size=6),
    SCHEMAS,
    st.sampled_from(["", "A name", 'ü \\ "quoted" \x00']),
)
def test_names_types_and_schema_read_back_equal_or_what_is_lost_is_said(rows, types, stated, label):
    schema = Schema.of(
        (relation if subject == "relation" else one, named)
        + ((other if object == "type" else relation,) if object else ())
        for (named, (subject, object)), relation, one, other in stated
    )
    kb = of_names(rows)
    labels = tuple(f"{label} {name}" if label else name for name in kb.vocabulary.entities)
    names = replace(kb.vocabulary, entity_labels=labels)
    frame = pl.DataFrame(types, schema={"entity": pl.String, "type": pl.String}, orient="row")
    kb = replace(kb, vocabulary=names, schema=schema, types=typed(frame, schema, names))
    with TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        write(kb, path := Path(folder) / "kb.nt")
        again = read(path)
    lost = schema.statements - again.schema.statements
    assert again.schema.statements <= schema.statements
    assert bool(lost) == bool(told) and all(
        one.property == "typeRelation"
        or one.subject == one.object
        or one.property == "disjointWith"
        for one in lost
    )
    assert again.vocabulary.entities == names.entities
    assert (again.vocabulary.entity_labels or names.entities) == labels
    if not lost:
        assert type_pairs(again) == type_pairs(kb)


def type_pairs(kb):
    """Entity and type of each, by name."""
    if kb.types is None:
        return set()
    entities = rows_of(kb.types.entity_offsets)
    return {
        (kb.vocabulary.entities[entity], kb.types.names[kind])
        for entity, kind in zip(entities, kb.types.entity_types, strict=True)
    }


@pytest.mark.parametrize("out", ["kb.tsv", "kb.parquet", "folder"])
def test_what_a_file_of_facts_alone_does_not_hold_is_said(out, tmp_path):
    kb = of_names([("a", "in", "b")])
    if out == "folder":  # for splits
        kb = replace(kb, splits=np.ones(1, np.int8))
    kb = replace(kb, schema=Schema.of([("in", "functional")]))
    with pytest.warns(UserWarning, match="holds facts alone; schema of .* not written"):
        write(kb, tmp_path / out)
