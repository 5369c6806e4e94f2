"""What is written reads back equal, whatever the names."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assent.core.facts import HEADERS, KnowledgeBase, Split
from assent.errors import DataError
from assent.files.triples import read, write
from toy import Fact, named_facts, of_names, split, whole

BOM = "\ufeff"
HOSTILE = [
    " ", " a", "a ", "  a  ", "#", "# a", '"', '"a', '"a"', "'a'", "a,b", "\\", "\\t", "\\u0041",
    "head", "relation", "tail", "h", "r", "t", "null", "None", "NaN", "1", "1.0", "-", ".", "..",
    "http://e.org/a", "http://e.org/a b", "http://e.org/é", "http://e.org/%41", "http://e.org/../a",
    "HTTP://E.ORG/", "http://e.org/\ue000", "http://e.org/\ufffe", "http://e.org/\\u0041", "a:b",
    "urn:x", "mailto:", "file:///etc/passwd", "<http://e.org/a>", "<a", "a>", "{a}", "a|b", "^`",
    "urn:assent:", "urn:assent:a", "urn:assent:%41", "urn:assent:%09", "urn:assent:urn:assent:a",
    "URN:ASSENT:a", "%", "%09", "%FF", "%zz", "a%20b", "+", "a+b", "_:", "_:a", "_:a b", "_:é",
    '"x"@en', '"x"@EN', '"x"^^<http://e.org/t>', '"x\\ty"', '"x"^^<urn:assent:a>', "<< a >>",
    f"a{BOM}", "\0", "a\0b", "\x0b", "\x0c", "\x1b[31m", "\x1c", "\x7f", "\x85",
    "\xa0", "\u2028", "\u2029", "\u200b", "\u202e", "é", "e\u0301", "ß", "東京", "🙂", "\U0010ffff",
    "\uffff", "x\x01", "\x1f", "x" * 300,
]  # fmt: skip
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=6
)
NAMES = st.sampled_from(HOSTILE) | TEXT.filter(lambda name: not name.startswith(BOM))
JOINED = st.tuples(NAMES, NAMES).map("".join)
FACTS = st.lists(st.tuples(NAMES | JOINED, NAMES | JOINED, NAMES | JOINED), min_size=1, max_size=8)


def there_and_back(kb: KnowledgeBase, name: str, **options: bool) -> KnowledgeBase:
    with TemporaryDirectory() as folder:
        write(kb, Path(folder) / name, **options)
        return read(Path(folder) / name)


def by_name(kb: KnowledgeBase) -> dict[str, set[Fact]]:
    return {split.name: named_facts(kb.part(split), kb.vocabulary) for split in Split}


@pytest.mark.parametrize("name", ["kb.tsv", "kb.nt", "kb.parquet", "kb"])
@settings(max_examples=150)
@given(facts=FACTS)
@example(facts=[(name, name, name) for name in HOSTILE])
@example(facts=[("head", "relation", "tail")])
@example(facts=[("h", "r", "t"), ("head", "relation", "tail"), ("s", "p", "o")])
def test_a_graph_reads_back_equal_whatever_its_names(name, facts):
    kb = of_names(facts)
    again = there_and_back(kb, name)
    assert by_name(again) == by_name(kb)
    assert again.vocabulary == kb.vocabulary
    assert (again.facts == kb.facts).all()
    assert again.source.duplicates == 0


@settings(max_examples=100)
@given(train=FACTS, valid=FACTS | st.just([]), test=FACTS)
@example(train=[("a", "b", "c")], valid=[("head", "relation", "tail")], test=[("d", "b", "c")])
def test_splits_read_back_equal_whatever_the_names(train, valid, test):
    kb = of_names(train, valid, test)
    again = there_and_back(kb, "kb")
    assert by_name(again) == by_name(kb)
    assert again.vocabulary == kb.vocabulary
    assert (again.splits == kb.splits).all()


@settings(max_examples=150)
@given(facts=FACTS)
@example(facts=[(name, name, name) for name in HOSTILE])
def test_with_rdf_terms_kept_names_read_back_equal(facts):
    kb = of_names(facts)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "kb.nt"
        write(kb, path, keep_rdf_terms=True)
        again = read(path, keep_literals=True, keep_blank_nodes=True)
    assert by_name(again) == by_name(kb)


@pytest.mark.parametrize("name", ["kb.tsv", "kb"])
@pytest.mark.parametrize("header", sorted(HEADERS))
def test_a_fact_that_looks_like_a_header_is_not_lost(header, name):
    kb = of_names([header, ("z", "z", "z")])
    assert header in by_name(there_and_back(kb, name))["TRAIN"]


@pytest.mark.parametrize("name", ["kb.tsv", "kb.nt", "kb.parquet", "kb"])
def test_a_name_that_begins_with_a_byte_order_mark_is_not_read(name):
    with pytest.raises(DataError, match=r"'\\ufeffb' begins with a byte order mark"):
        there_and_back(of_names([("a", "in", f"{BOM}b")]), name)


def test_a_graph_with_splits_goes_to_a_folder_only(tmp_path):
    with pytest.raises(DataError, match=r"kb\.tsv: the graph has splits.*write it to a folder"):
        write(split(), tmp_path / "kb.tsv")
    write(split(), tmp_path / "kb")
    assert sorted(path.name for path in (tmp_path / "kb").iterdir()) == [
        "test.tsv", "train.tsv", "valid.tsv",
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [tmp_path / "kb"]


def test_an_unknown_suffix_is_not_written(tmp_path):
    with pytest.raises(DataError, match=r"cannot write \.xlsx; choose from \.nt \.parquet \.tsv"):
        write(whole(), tmp_path / "kb.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["kb.tsv", "kb.nt"])
def test_written_lines_end_in_one_byte_and_are_utf8_without_a_mark(name, tmp_path):
    write(of_names([("tromsø", "in", "norway"), ("oslo", "in", "norway")]), tmp_path / name)
    content = (tmp_path / name).read_bytes()
    assert content.decode("utf-8").count("\n") == 2
    assert b"\r" not in content
    assert not content.startswith(b"\xef\xbb\xbf")
