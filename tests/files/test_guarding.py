"""Files that would end a process, fill its memory, or never end, are refused in one line."""

import gzip
import random

import numpy as np
import polars as pl
import pytest

from assent.errors import DataError
from assent.files import guarded_parquet
from assent.files.arrays import read_arrays, write_arrays
from assent.files.guarding import parsing
from assent.files.parquet import read_frame
from assent.files.text import read_bytes, unpacking
from assent.files.triples import read
from assent.verbs.read import read as read_source


def test_a_parquet_file_with_flipped_bytes_is_read_or_refused(tmp_path):
    path, rng = tmp_path / "facts.parquet", random.Random(0)
    rows = {"head": ["a", "b"] * 9, "relation": ["r"] * 18, "tail": ["c", "d", "e"] * 6}
    pl.DataFrame(rows).write_parquet(path)
    whole, refused = path.read_bytes(), []
    for _ in range(300):
        place = rng.randrange(len(whole))
        flipped = bytes([whole[place] ^ (1 << rng.randrange(8))])
        path.write_bytes(whole[:place] + flipped + whole[place + 1 :])
        try:
            read(path)
        except DataError as error:
            refused.append(str(error))
    assert len(refused) > 100 and not any("\n" in line for line in refused)


def test_a_reader_that_ends_is_a_refusal_and_another_one_is_started(tmp_path, monkeypatch):
    path = tmp_path / "facts.parquet"
    pl.DataFrame({"head": ["a"], "relation": ["r"], "tail": ["b"]}).write_parquet(path)
    guarded_parquet.stop()
    monkeypatch.setattr(guarded_parquet, "READER", "import os; input(); os.abort()")
    with pytest.raises(DataError, match="reading it ended the reader"):
        read_frame(path)
    monkeypatch.undo()
    assert len(read_frame(path)) == 1


def test_a_reader_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    path = tmp_path / "facts.parquet"
    pl.DataFrame({"head": ["a"]}).write_parquet(path)
    guarded_parquet.stop()
    monkeypatch.setattr(guarded_parquet, "READER", "import time; time.sleep(60)")
    monkeypatch.setattr(guarded_parquet, "PATIENCE", 0.2)
    with pytest.raises(DataError, match="took more than"):
        read_frame(path)


@pytest.mark.parametrize("content", [b"a\tb\tc\n", b"\n", b"\x00"])
def test_a_small_gzip_file_that_unpacks_to_far_more_is_refused(content, tmp_path):
    path = tmp_path / "bomb.tsv.gz"
    with gzip.open(path, "wb", 9) as file:
        for _ in range(90):
            file.write(content * ((1 << 20) // len(content)))
    with pytest.raises(DataError, match=r"unpacks to more than 67 MB.*--max-size"):
        read(path)
    with unpacking(100 << 20):
        assert len(read_bytes(path)) > 80 << 20


def test_max_size_bounds_and_allows(tmp_path):
    path = tmp_path / "facts.tsv.gz"
    path.write_bytes(gzip.compress(b"a\tb\tc\n" * 1000))
    assert len(read_source(path, max_size=6000).facts) == 1
    with pytest.raises(DataError, match="unpacks to more than"):
        read_source(path, max_size=5999)


def test_more_blank_lines_than_facts_can_need_are_refused_by_number(tmp_path, monkeypatch):
    monkeypatch.setattr("assent.files.tsv.FEW_BLANK", 10)
    monkeypatch.setattr("assent.files.tsv.MOST_BLANK", 50)
    path = tmp_path / "blank.tsv"
    path.write_text("a\tb\tc\n" + "\n" * 60)
    with pytest.raises(DataError, match="more than 50 blank lines"):
        read(path)


@pytest.mark.parametrize("error", [KeyError("x"), RecursionError(), MemoryError(), OSError("y")])
def test_whatever_a_parser_raises_is_a_refusal_of_its_file(error):
    with pytest.raises(DataError, match=r"^file\.x: "), parsing("file.x", "something else"):
        raise error


def test_arrays_whose_members_are_no_arrays_are_refused(tmp_path):
    import zipfile

    path = tmp_path / "x.npz"
    write_arrays(path, {"a": np.arange(3)})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b", "text")
    with pytest.raises(DataError, match="no array"):
        read_arrays(path)


def test_a_header_that_stands_in_a_csv_file_again_is_refused_by_its_line(tmp_path):
    path = tmp_path / "joined.csv"
    path.write_text("head,relation,tail\na,r,b\nhead,relation,tail\nc,r,d\n")
    with pytest.raises(DataError, match=r"joined\.csv:3: the header stands there again"):
        read(path)


def test_no_cell_of_a_spreadsheet_safe_table_is_a_formula(tmp_path):
    from assent.core.new_facts import NewFacts
    from assent.files.facts import write_facts
    from assent.files.provenance import About
    from toy import whole

    kb = whole()
    names = tuple(f"={name}" for name in kb.vocabulary.entities)
    vocabulary = type(kb.vocabulary)(names, ("-r", "+s", "@t", "u"))
    count = 3
    facts = NewFacts(
        vocabulary,
        kb.facts[:count],
        np.ones(count, bool),
        np.full(count, 0.5),
        np.zeros(count, np.float32),
        np.zeros(count),
        np.full(count, np.nan),
        np.ones(count, np.int32),
        NewFacts.nothing(vocabulary).evidence.of([[] for _ in range(count)]),
    )
    path = tmp_path / "new.tsv"
    write_facts(path, facts, About(spreadsheet_safe=True))
    cells = [line.split("\t") for line in path.read_text().splitlines()[1:]]
    assert all(not cell.startswith(tuple("=+-@")) for row in cells for cell in row[:6])
    assert cells[0][0].startswith("'=")
    write_facts(path, facts)
    assert path.read_text().splitlines()[1].startswith("=")
