"""Facts that come in pieces are those that are read at once; a fact again takes no room."""

import gzip
from collections import Counter

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import assent
from assent.core.facts import HEADERS, Split
from assent.errors import DataError
from assent.files import rdf, tsv
from assent.files.formats import COLUMNS, Kept, format_of
from assent.files.gathering import TIMES, Gathering, counted

FACTS = ("oslo,in,norway", "bergen,in,norway", "oslo,borders,bærum", "a,b,c")
ODD = (
    "", "", "\r", "head,relation,tail", "S,P,O", "oslo,in", "oslo,in,norway\r", "a,,b",
    '"a b",in,c', "\ufeffoslo,in,norway", '"open,in,c', "a\tb,in,c", "x^,in,c",
)  # fmt: skip
LINES = st.lists(st.sampled_from((*FACTS, *FACTS, *FACTS, *ODD)), max_size=12)


@pytest.fixture
def in_pieces(monkeypatch):
    def set_to(piece, first):
        monkeypatch.setattr(tsv, "PIECE", piece)
        monkeypatch.setattr(rdf, "PIECE", piece)
        monkeypatch.setattr(Gathering.__init__, "__defaults__", (first,))

    return set_to


def at_once(path, separator):
    """All rows of a file, in the order of its lines; read whole, then looked at."""
    frame = tsv.read_columns(path, COLUMNS, separator)
    if separator == "," and tuple(name.lower() for name in frame.row(0)) in HEADERS:
        if len(frame) == 1:
            raise DataError(f"{path}: nothing but a header in it; expected facts")
        for row, fact in enumerate(frame.rows()[1:], start=1):
            if fact == frame.row(0):
                raise DataError(
                    f"{path}:{tsv.line_of(path, row)}: the header stands there again; remove it, "
                    "or give files that were joined one by one"
                )
        frame = frame[1:]
    return frame.rows()


def outcome(read):
    try:
        return read()
    except DataError as error:
        return str(error)


@settings(max_examples=300, deadline=None)
@given(
    lines=LINES, separator=st.sampled_from("\t,"), end=st.sampled_from(["", "\n"]),
    bad=st.sampled_from([b"", b"", b"", b"\xff,in,c\n"]), cut=st.sampled_from([None, None, 0, 9]),
    piece=st.integers(1, 60), first=st.sampled_from([0, 300, 10**9]),
)  # fmt: skip
def test_facts_in_pieces_are_the_facts_that_are_read_at_once(
    tmp_path_factory, lines, separator, end, bad, cut, piece, first
):
    content = ("\n".join(lines) + end).encode() + bad
    if separator == "\t":
        content = content.replace(b"\t", b" ").replace(b",", b"\t")
    path = tmp_path_factory.mktemp("pieces") / ("facts.tsv" if separator == "\t" else "facts.csv")
    path.write_bytes(content)
    if cut is not None:  # gzipped, and cut short
        path = path.with_name(path.name + ".gz")
        packed = gzip.compress(content, mtime=0)
        path.write_bytes(packed[: len(packed) - cut])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tsv, "PIECE", piece)
        patch.setattr(Gathering.__init__, "__defaults__", (first,))
        found = outcome(lambda: counted(format_of(path).read(path, Kept()).facts))
    wanted = outcome(lambda: Counter(at_once(path, separator)))
    if isinstance(wanted, str) or isinstance(found, str):
        assert found == wanted
        return
    assert dict(zip(found.select(COLUMNS).rows(), found[TIMES], strict=True)) == wanted or (
        found[TIMES].max() == 1 and Counter(found.select(COLUMNS).rows()) == wanted
    )
    assert list(dict.fromkeys(found.select(COLUMNS).rows())) == list(wanted)


def test_facts_that_stand_there_again_and_again_take_no_room():
    gathering, most = Gathering(first=10_000), 0
    few = pl.DataFrame([(f"e{i}", "r", "t") for i in range(20)], schema=COLUMNS, orient="row")
    for _ in range(500):
        gathering.add(few)
        most = max(most, sum(map(len, gathering.frames)))
    assert most < 400
    times = counted(gathering.facts()).group_by(COLUMNS).agg(pl.sum(TIMES))
    assert times[TIMES].to_list() == [500] * 20


def test_facts_that_are_all_different_are_not_merged():
    gathering = Gathering(first=0)
    for start in range(0, 600, 20):
        rows = [(f"e{i}", "r", "t") for i in range(start, start + 20)]
        gathering.add(pl.DataFrame(rows, schema=COLUMNS, orient="row"))
    assert gathering.facts().columns == list(COLUMNS)
    assert len(gathering.facts()) == 600


TURTLE = """
<http://x/oslo> <http://x/in> <http://x/norway> .
<http://x/oslo> a <http://x/Town> .
<http://x/bergen> <http://x/in> <http://x/norway> .
<http://x/bergen> <http://www.w3.org/2002/07/owl#sameAs> <http://x/bjorgvin> .
<http://x/bjorgvin> <http://x/in> <http://x/norway> .
<urn:assent:a%20b> <http://x/in> <http://x/norway> .
"""


@pytest.mark.parametrize("suffix", ["nt", "tsv"])
def test_what_stands_there_again_counts_as_often_as_it_stands(tmp_path, in_pieces, suffix):
    path = tmp_path / f"graph.{suffix}"
    given = {}
    if suffix == "nt":
        path.write_text(
            TURTLE.replace(" a <", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <") * 9
        )
    else:
        path.write_text("oslo\tin\tnorway\noslo\tis\ttown\nbergen\tin\tnorway\n" * 9)
        given = {"type_relation": ["is"]}
    whole = assent.read(path, **given)
    in_pieces(2 if suffix == "nt" else 20, 0)
    pieces = assent.read(path, **given)
    assert pieces.source == whole.source
    assert whole.source.duplicates > 8 and max(row.statements for row in whole.source.taken) > 17
    assert pieces.vocabulary.entities == whole.vocabulary.entities
    assert pieces.facts.tolist() == whole.facts.tolist()


def test_splits_that_hold_what_stands_there_again_are_the_same(tmp_path, in_pieces):
    for name, times in (("train", 9), ("valid", 5)):
        (tmp_path / f"{name}.tsv").write_text(f"oslo\tin\tnorway\n{name}\tin\tnorway\n" * times)
    whole = assent.read(tmp_path)
    in_pieces(20, 0)
    pieces = assent.read(tmp_path)
    assert pieces.source == whole.source and whole.source.duplicates == 28 - 3
    assert pieces.part(Split.VALID).tolist() == whole.part(Split.VALID).tolist()
