"""RDF holds more than names: literals and blank nodes are left out and counted, or kept."""

import gzip
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assent.errors import DataError
from assent.files import rdf
from assent.files.triples import read, write
from toy import named_facts, of_names

E = "http://e.org/"
TURTLE = """
@prefix e: <http://e.org/> .
e:oslo e:in e:norway ; e:people 709037 ; e:name "Oslo"@no , "a \\"b\\"\\n\\tc" .
e:oslo e:mayor [ e:name "Anne" ; e:born_in e:oslo ] .
_:someone e:lives_in e:oslo ; e:knows [] .
"""
N_TRIPLES = """
<http://e.org/oslo> <http://e.org/in> <http://e.org/norway> .
<http://e.org/oslo> <http://e.org/name> "Oslo"@no .
<http://e.org/oslo> <http://e.org/people> "709037"^^<http://www.w3.org/2001/XMLSchema#integer> .
<http://e.org/oslo> <http://e.org/motto> "a \\"b\\"\\n\\tc \\\\ \\u00e9" .
_:ada <http://e.org/lives_in> <http://e.org/oslo> .
_:ada <http://e.org/knows> _:ben .
_:ada <http://e.org/name> "Ada" .
"""
INTEGER = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def names_in(path: Path, **options: bool) -> set[tuple[str, str, str]]:
    kb = read(path, **options)
    return {tuple(n.removeprefix(E) for n in f) for f in named_facts(kb.facts, kb.vocabulary)}


@pytest.mark.parametrize(
    ("name", "text", "left"),
    [
        ("kb.ttl", TURTLE, {"literal": 4, "blank node": 4}),
        ("kb.nt", N_TRIPLES, {"literal": 4, "blank node": 2}),
    ],
)
def test_literals_and_blank_nodes_are_left_out_and_counted(name, text, left, tmp_path):
    path = put(tmp_path, name, text)
    kb = read(path)
    assert names_in(path) == {("oslo", "in", "norway")}
    # A fact with a blank node and a literal counts once, under the literal.
    assert dict(kb.source.left_out) == left


def test_what_the_splits_of_a_folder_leave_out_is_added_up(tmp_path):
    put(tmp_path, "train.nt", N_TRIPLES)
    put(tmp_path, "test.ttl", TURTLE)
    assert dict(read(tmp_path).source.left_out) == {"literal": 8, "blank node": 6}


def test_literals_are_kept_on_request(tmp_path):
    path = put(tmp_path, "kb.nt", N_TRIPLES)
    assert names_in(path, keep_literals=True) == {
        ("oslo", "in", "norway"),
        ("oslo", "name", '"Oslo"@no'),
        ("oslo", "people", f'"709037"{INTEGER}'),
        ("oslo", "motto", r'"a \"b\"\n\tc \\ é"'),
    }
    assert dict(read(path, keep_literals=True).source.left_out) == {"blank node": 3}


def test_blank_nodes_are_kept_on_request(tmp_path):
    path = put(tmp_path, "kb.nt", N_TRIPLES)
    assert names_in(path, keep_blank_nodes=True) == {
        ("oslo", "in", "norway"),
        ("_:ada", "lives_in", "oslo"),
        ("_:ada", "knows", "_:ben"),
    }
    assert dict(read(path, keep_blank_nodes=True).source.left_out) == {"literal": 4}


def test_nameless_blank_nodes_get_the_same_names_every_time(tmp_path):
    path = put(tmp_path, "kb.ttl", TURTLE)
    once = names_in(path, keep_blank_nodes=True)
    assert once == names_in(path, keep_blank_nodes=True)
    blanks = {name for fact in once for name in fact if name.startswith("_:")}
    assert blanks == {"_:n1", "_:n2", "_:n3"}


@pytest.mark.parametrize("text", [N_TRIPLES, N_TRIPLES.replace("\n", "\r\n")])
def test_kept_terms_are_written_back_as_what_they_were(text, tmp_path):
    everything = {"keep_literals": True, "keep_blank_nodes": True}
    kb = read(put(tmp_path, "kb.nt", text), **everything)
    assert len(kb.facts) == 7
    write(kb, tmp_path / "again.nt", keep_rdf_terms=True)
    assert names_in(tmp_path / "again.nt") == {("oslo", "in", "norway")}
    again = read(tmp_path / "again.nt", **everything)
    assert named_facts(again.facts, again.vocabulary) == named_facts(kb.facts, kb.vocabulary)


def test_kept_terms_are_plain_names_unless_asked_to_be_terms(tmp_path):
    kb = read(put(tmp_path, "kb.nt", N_TRIPLES), keep_literals=True, keep_blank_nodes=True)
    write(kb, tmp_path / "plain.nt")
    plain = read(tmp_path / "plain.nt")
    assert named_facts(plain.facts, plain.vocabulary) == named_facts(kb.facts, kb.vocabulary)
    assert dict(plain.source.left_out) == {}


def test_iris_are_kept_whole(tmp_path):
    iris = [f"{E}a#b?c=d&e=%20%C3%A9", "urn:isbn:0", "mailto:a@e.org", f"{E}../é", "HTTP://E.ORG/"]
    text = "".join(f"<{iri}> <{E}in> <{iri}> .\n" for iri in iris)
    assert read(put(tmp_path, "kb.nt", text)).vocabulary.entities == tuple(sorted(iris))


def test_a_name_that_is_no_iri_is_written_as_one(tmp_path):
    write(of_names([("new york", "in", "http://e.org/usa")]), tmp_path / "kb.nt")
    line = "<urn:assent:new%20york> <urn:assent:in> <http://e.org/usa> .\n"
    assert (tmp_path / "kb.nt").read_text() == line


def test_an_iri_that_we_would_not_have_written_is_not_undone(tmp_path):
    # Undoing these would give two different IRIs one name.
    text = "".join(f"<urn:assent:{end}> <{E}in> <{E}x> .\n" for end in ("%FE", "%FF", "%2f", "%2F"))
    entities = read(put(tmp_path, "kb.nt", text)).vocabulary.entities
    assert set(entities) == {
        f"{E}x", "urn:assent:%FE", "urn:assent:%FF", "urn:assent:%2f", "/",
    }  # fmt: skip


@pytest.mark.parametrize("suffix", [".nt", ".ttl"])
def test_a_graph_of_nothing_but_literals_is_refused_unless_they_are_kept(suffix, tmp_path):
    path = put(tmp_path, f"kb{suffix}", f'<{E}oslo> <{E}name> "Oslo" .\n')
    with pytest.raises(DataError, match="no fact between two IRIs in it; left out: 1 of a literal"):
        read(path)
    assert names_in(path, keep_literals=True) == {("oslo", "name", '"Oslo"')}


def test_a_triple_about_a_triple_is_left_out_and_counted(tmp_path):
    text = f"<{E}a> <{E}in> <{E}b> .\n<{E}a> <{E}says> <<( <{E}a> <{E}in> <{E}b> )>> .\n"
    kb = read(put(tmp_path, "kb.nt", text))
    assert (len(kb.facts), dict(kb.source.left_out)) == (1, {"triple term": 1})


@pytest.mark.parametrize("suffix", [".nt.gz", ".ttl.gz"])
def test_a_gzipped_graph_may_be_cut_anywhere_and_is_refused(suffix, tmp_path):
    text = "".join(f"<{E}{number * number}> <{E}in> <{E}b> .\n" for number in range(300))
    content = gzip.compress(text.encode())
    path = tmp_path / f"kb{suffix}"
    for end in range(3, len(content), 97):
        path.write_bytes(content[:end])
        with pytest.raises(DataError, match="the gzip data are cut short or damaged"):
            read(path)


def nested(depth, opens, closes):
    """A graph of JSON-LD that nests so deeply, and says one fact."""
    inner = opens * depth + '{"@id": "urn:b"}' + closes * depth
    return f'{{"@id": "urn:a", "urn:r": {{"@id": "urn:b"}}, "urn:s": {inner}}}'


@pytest.mark.parametrize(
    ("opens", "closes"),
    [("[", "]"), ('{"@id": "urn:c", "urn:r": ', "}"), ('{"@list": [', "]}")],
)
def test_json_ld_that_would_crash_its_parser_is_refused(opens, closes, tmp_path):
    path = tmp_path / "deep.jsonld"
    path.write_text(nested(20, opens, closes))
    assert "urn:b" in read(path).vocabulary.entities
    path.write_text(nested(10_000, opens, closes))
    with pytest.raises(DataError, match=r"deep.jsonld: nested more than 500 deep"):
        read(path)


@given(st.lists(st.sampled_from('"\\[{]}a\n'), max_size=60), st.integers(1, 9), st.integers(0, 5))
def test_depth_is_that_of_brackets_outside_of_strings(letters, size, most):
    content, depth, deepest = "".join(letters).encode(), 0, 0
    is_string = is_escaped = False
    for letter in letters:
        if is_string:
            is_string = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
            continue
        is_string = letter == '"'
        depth += (letter in "[{") - (letter in "]}")
        deepest = max(depth, deepest)
    refused = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rdf, "DEEPEST", most)
        file = rdf._Shallow(Path("x"), io.BytesIO(content))
        try:
            while file.read(size):
                pass
        except DataError:
            refused = True
    assert refused == (deepest > most)


XML = """<?xml version="1.0"?>
<!DOCTYPE rdf [<!ENTITY e "http://e.org/">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.org/">
<rdf:Description rdf:about="&e;oslo"><e:in rdf:resource="&e;norway"/></rdf:Description>
<rdf:Description rdf:about="&e;bergen"><e:in rdf:resource="&e;norway"/></rdf:Description>
</rdf:RDF>
"""


def test_plain_entities_of_xml_are_written_out(tmp_path):
    assert names_in(put(tmp_path, "kb.rdf", XML)) == {
        ("oslo", "in", "norway"),
        ("bergen", "in", "norway"),
    }


def test_xml_that_is_cut_short_anywhere_is_refused(tmp_path):
    whole = XML.rstrip()
    for end in range(1, len(whole)):
        with pytest.raises(DataError, match=r"kb\.rdf:\d+: .*; expected RDF"):
            read(put(tmp_path, "kb.rdf", whole[:end]))


def test_two_xml_documents_in_one_file_are_refused(tmp_path):
    with pytest.raises(DataError, match=r":7: junk after document element; expected RDF/XML"):
        read(put(tmp_path, "kb.rdf", XML + XML))


@pytest.mark.parametrize(
    ("entities", "used", "said"),
    [
        ('<!ENTITY a "ha"><!ENTITY b "&a;&a;">', "&b;", "entity 'b' is not plain text"),
        ('<!ENTITY b SYSTEM "file:///etc/hostname">', "&b;", "entity 'b' is not plain text"),
        ('<!ENTITY % b "ha">', "", "entity 'b' is not plain text"),
        (f'<!ENTITY b "{"ha" * 100_000}">', "&b;" * 500, "limit on input amplification factor"),
    ],
)
def test_entities_of_xml_that_are_a_trap_are_refused(entities, used, said, tmp_path):
    text = XML.replace("<!ENTITY e", f"{entities}<!ENTITY e").replace("oslo", f"oslo{used}")
    with pytest.raises(DataError, match=said):
        read(put(tmp_path, "kb.rdf", text))


@pytest.mark.parametrize("encoding", ["UTF1e400", "ISO-8859-1", "utf-16", "x" * 200])
def test_xml_in_another_encoding_is_refused(encoding, tmp_path):
    text = XML.replace('version="1.0"', f'version="1.0" encoding="{encoding}"')
    with pytest.raises(DataError, match="Only UTF-8 is supported"):
        read(put(tmp_path, "kb.rdf", text))
