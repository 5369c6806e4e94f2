"""The fast reader of columns does what the line-by-line one does."""

import gzip
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assent.errors import DataError
from assent.files.text import lines_of
from assent.files.triples import read
from assent.files.tsv import read_columns, read_lines
from files.formats_by_hand import FACTS, check, comma_separated, put, tsv
from toy import named_facts

NAMES = ("head", "relation", "tail")

# Usual lines, so that something is read at all, and everything that could upset a reader.
PIECES = st.sampled_from(
    [b"a\tb\tc\n", b"a,b,c\n", b'a,"b, c",d\n', b"\t", b",", b"\n", b"\r\n", b"\r", b"\xef\xbb\xbf",
     b'"', b'""', b"'", b"\\", b"#", b" ", b"\0", b"\x0b", b"\x1a", b"x", b"\x01", b"null", b"1",
     "é".encode(), "🙂".encode(), "\x85".encode(), "\u2028".encode(), b"\xff", b"\xc3", b"\x1f\x8b"]
)  # fmt: skip
BYTES = st.lists(PIECES, max_size=14).map(b"".join)


def fast(path: Path, separator: str, names: tuple[str, ...]) -> list[tuple[str, ...]] | None:
    """The rows, or None if refused."""
    try:
        return read_columns(path, names, separator).rows()
    except DataError:
        return None


def slow(path: Path, separator: str, names: tuple[str, ...]) -> list[tuple[str, ...]] | None:
    try:
        return [tuple(row) for _, row in read_lines(path, names, separator)] or None
    except DataError:
        return None


@settings(max_examples=800)
@given(content=BYTES, separator=st.sampled_from("\t,"), width=st.integers(1, 3))
@example(content=b"a\tb\tc\r", separator="\t", width=3)
@example(content=b"a\r\tb\tc\n", separator="\t", width=3)
@example(content=b"a\tb\tc\n\r\r\n", separator="\t", width=3)
@example(content=b"\r\r\n", separator=",", width=3)
@example(content=b'"a,b,c\n', separator=",", width=3)
@example(content=b'"a"b,c,d\n', separator=",", width=3)
@example(content=b'a"b,c,d\n', separator=",", width=3)
@example(content=b"x\x01a\tb\tc\n", separator="\t", width=3)
@example(content=b"a\tb\tc\r\nd\r\te\tf\n", separator="\t", width=3)
@example(content=gzip.compress(gzip.compress(b"a\tb\tc\n")), separator="\t", width=3)
@example(content=zlib.compress(b"a\tb\tc\n"), separator="\t", width=3)
def test_the_fast_reader_equals_the_slow_one(content, separator, width):
    names = NAMES[:width]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "facts"
        path.write_bytes(content)
        assert fast(path, separator, names) == slow(path, separator, names)


def test_a_carriage_return_before_a_tab_is_refused_and_not_dropped(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_bytes(b"a\tb\tc\na\r\tb\tc\n")
    with pytest.raises(DataError, match=r"facts\.tsv:2: the head 'a\\r' holds a tab or a line"):
        read_columns(path, NAMES)


@pytest.mark.parametrize("place", [0, 1, (1 << 17) - 1, 1 << 17, (1 << 17) + 2, 174_999])
def test_a_carriage_return_is_found_wherever_it_stands_in_a_large_file(place, tmp_path):
    content = bytearray(b"a\tb\tc\r\n" * 25_000)
    path = tmp_path / "facts.tsv"
    path.write_bytes(content)
    assert read_columns(path, NAMES).rows() == [("a", "b", "c")] * 25_000
    content[place] = ord("\r")
    path.write_bytes(content)
    assert fast(path, "\t", NAMES) == slow(path, "\t", NAMES) != [("a", "b", "c")] * 25_000


def test_a_byte_order_mark_left_by_joining_files_is_refused_by_line(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_bytes(b"\xef\xbb\xbfa\tb\tc\n" * 2)
    with pytest.raises(DataError, match=r"facts\.tsv:2: the head '\\ufeffa' begins with a"):
        read_columns(path, NAMES)


def test_a_byte_order_mark_within_a_name_is_part_of_it(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_bytes("a\ufeff\tb\ufeffc\td\n".encode())
    assert read_columns(path, NAMES).rows() == [("a\ufeff", "b\ufeffc", "d")]


def test_line_numbers_count_blank_lines(tmp_path):
    path = tmp_path / "facts.tsv"
    path.write_bytes(b"\n\r\na\tb\tc\n\na\tb\n")
    with pytest.raises(DataError, match=r"facts\.tsv:5: expected 3 tab-separated columns"):
        read_columns(path, NAMES)


def test_only_the_first_byte_order_mark_is_one(tmp_path):
    path = tmp_path / "names"
    path.write_bytes(b"\xef\xbb\xbf\xef\xbb\xbfa\n\xef\xbb\xbfb\n")
    assert list(lines_of(path)) == ["\ufeffa", "\ufeffb"]


def test_an_error_late_in_a_large_file_is_found_by_its_line(tmp_path):
    path = tmp_path / "facts.tsv"
    lines = [f"entity{number}\tin\tplace\n".encode() for number in range(60_000)]
    lines[50_000] = b"entity\tin\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(DataError, match=r"facts\.tsv:50001: expected 3 .*, found 2"):
        read_columns(path, NAMES)
    lines[50_000] = b"entity\tin\tpl\xffce\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(DataError, match=r"facts\.tsv:50001: byte 0xff at column 13 is not UTF-8"):
        read_columns(path, NAMES)


@pytest.mark.parametrize("header", ["head,relation,tail", "Subject,Predicate,Object", "h,r,t"])
def test_the_header_of_a_csv_file_is_no_fact(header, tmp_path):
    check(put(tmp_path / "kb.csv", header.encode() + b"\n" + comma_separated(FACTS)))


@pytest.mark.parametrize("name", ["kb.tsv", "kb.txt"])
def test_other_files_have_no_header(name, tmp_path):
    kb = read(put(tmp_path / name, b"head\trelation\ttail\n" + tsv(FACTS)))
    assert named_facts(kb.facts, kb.vocabulary) == {*FACTS, ("head", "relation", "tail")}
