"""Text files are read plain or gzipped, and what is no text is refused by its line."""

import gzip
import json

import pytest

from assent.errors import DataError
from assent.files.text import BOM, check_name, is_text, lines_of, open_bytes, read_bytes, read_json


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("start", [b"", BOM])
def test_bytes_and_lines_come_after_the_mark_gzipped_or_not(start, packed, tmp_path):
    path = tmp_path / "any_name"
    content = start + "tromsø\r\noslo\n\nbergen".encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    assert read_bytes(path) == content.removeprefix(BOM)
    with open_bytes(path) as file:
        assert file.read() == content.removeprefix(BOM)
    assert list(lines_of(path)) == ["tromsø", "oslo", "", "bergen"]


def test_an_empty_file_has_no_lines(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert list(lines_of(path)) == []


def test_bytes_that_are_no_utf8_are_refused_by_line_and_column(tmp_path):
    path = tmp_path / "latin"
    path.write_bytes(b"oslo\ntroms\xf8\n")
    with pytest.raises(DataError, match=r"latin:2: byte 0xf8 at column 6 is not UTF-8"):
        list(lines_of(path))


def test_a_gzip_file_that_ends_early_is_refused_by_line(tmp_path):
    path = tmp_path / "kb.gz"
    path.write_bytes(gzip.compress(b"oslo\n" * 1000)[:-12])
    with pytest.raises(DataError, match=r"kb\.gz:\d+: the gzip data are cut short or damaged"):
        list(lines_of(path))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r":1: .*; expected JSON"),
        ('{"a": 1}\n]', r":2: .*; expected JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "more than 4300 digits"),
    ],
)
def test_what_is_no_json_is_refused(text, message, tmp_path):
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_json(path)


def test_json_is_read(tmp_path):
    path = tmp_path / "some.json"
    path.write_text(json.dumps({"a": [1, None, "ø"]}))
    assert read_json(path) == {"a": [1, None, "ø"]}


def test_one_of_two_surrogates_is_no_text():
    assert is_text("") and is_text("🙂")
    assert not is_text("\ud83d") and not is_text(1) and not is_text(None)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "the head is empty"),
        ("a\tb", "holds a tab or a line break"),
        ("a\nb", "holds a tab or a line break"),
        ("a\rb", "holds a tab or a line break"),
        ("\ufeffa", "begins with a byte order mark"),
    ],
)
def test_a_name_that_would_not_be_read_back_is_refused(name, message):
    check_name("a b", "head", "here")
    with pytest.raises(DataError, match=f"here: the head.*{message.removeprefix('the head ')}"):
        check_name(name, "head", "here")
