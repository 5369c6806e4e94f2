"""Nothing half-written has a final name, and nothing foreign is replaced."""

import os
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from assent.errors import ConfigError, DataError
from assent.files import formats, own_layout, triples
from assent.files.atomic import beside, folder_beside
from assent.files.benchmarks import load, save
from assent.files.triples import read, write
from toy import built, crowd, split, whole


class BrokenError(Exception):
    """What a writer that fails raises."""


@pytest.fixture(scope="module")
def benchmark():
    return built(crowd(seed=1, num_entities=30, num_relations=3, facts_each=8), removed=4)


def failing(*_: object) -> None:
    """A writer that fails."""
    raise BrokenError


def write_half(place: AbstractContextManager[Path]) -> None:
    """Writes a little, then fails."""
    with place as part:
        (part / "train.tsv" if part.is_dir() else part).write_text("half")
        raise BrokenError


def never(_: Path) -> bool:
    return False


def test_a_file_that_fails_half_way_leaves_nothing(tmp_path):
    with pytest.raises(BrokenError):
        write_half(beside(tmp_path / "kb.tsv"))
    assert not list(tmp_path.iterdir())


def test_a_file_that_fails_half_way_leaves_the_old_one(tmp_path):
    (tmp_path / "kb.tsv").write_text("old")
    with pytest.raises(BrokenError):
        write_half(beside(tmp_path / "kb.tsv"))
    assert [path.name for path in tmp_path.iterdir()] == ["kb.tsv"]
    assert (tmp_path / "kb.tsv").read_text() == "old"


def test_a_folder_that_fails_half_way_leaves_nothing(tmp_path):
    with pytest.raises(BrokenError):
        write_half(folder_beside(tmp_path / "kb", never))
    assert not list(tmp_path.iterdir())


def test_nothing_has_the_final_name_while_it_is_written(tmp_path):
    with beside(tmp_path / "kb.tsv") as part:
        part.write_text("whole")
        assert not (tmp_path / "kb.tsv").exists()
    with folder_beside(tmp_path / "kb", never) as part:
        (part / "train.tsv").write_text("whole")
        assert not (tmp_path / "kb").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kb", "kb.tsv"]


@pytest.mark.parametrize("name", ["kb.tsv", "kb.nt", "kb.parquet"])
def test_a_failing_writer_leaves_no_graph(name, tmp_path, monkeypatch):
    form = formats.all_formats()[Path(name).suffix]
    monkeypatch.setitem(formats._ADDED, Path(name).suffix, form._replace(write=failing))
    with pytest.raises(BrokenError):
        write(whole(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failing_writer_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(triples, "write_tsv", failing)
    with pytest.raises(BrokenError):
        write(split(), tmp_path / "kb")
    assert not list(tmp_path.iterdir())


def test_a_failing_writer_leaves_no_benchmark(benchmark, tmp_path, monkeypatch):
    monkeypatch.setattr(own_layout, "_write_queries", failing)
    with pytest.raises(BrokenError):
        save(benchmark, tmp_path / "benchmark")
    assert not list(tmp_path.iterdir())


def test_a_failing_writer_leaves_the_old_benchmark(benchmark, tmp_path, monkeypatch):
    save(benchmark, tmp_path / "benchmark")
    before = {path.name: path.read_bytes() for path in (tmp_path / "benchmark").iterdir()}
    monkeypatch.setattr(own_layout, "_write_queries", failing)
    with pytest.raises(BrokenError):
        save(benchmark, tmp_path / "benchmark", overwrite=True)
    assert list(tmp_path.iterdir()) == [tmp_path / "benchmark"]
    assert {p.name: p.read_bytes() for p in (tmp_path / "benchmark").iterdir()} == before


def test_a_rename_that_fails_leaves_the_old_benchmark(benchmark, tmp_path, monkeypatch):
    save(benchmark, tmp_path / "benchmark")
    rename = Path.rename

    def fails_for_the_new_one(path: Path, target: Path) -> Path:
        if path.suffix == ".part":
            raise OSError("no space left")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fails_for_the_new_one)
    with pytest.raises(DataError, match="benchmark: cannot be written: no space left; choose anot"):
        save(benchmark, tmp_path / "benchmark", overwrite=True)
    assert list(tmp_path.iterdir()) == [tmp_path / "benchmark"]
    assert len(load(tmp_path / "benchmark").valid) == len(benchmark.valid)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_foreign_folder_is_never_replaced(overwrite, benchmark, tmp_path):
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "dear.txt").write_text("Dear Ada")
    with pytest.raises(DataError, match="letters: is there already, and is something else"):
        save(benchmark, tmp_path / "letters", overwrite=overwrite)
    with pytest.raises(DataError, match="letters: is there already, and is something else"):
        write(split(), tmp_path / "letters")
    assert list(tmp_path.iterdir()) == [tmp_path / "letters"]
    assert (tmp_path / "letters" / "dear.txt").read_text() == "Dear Ada"


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_file_is_never_replaced_by_a_folder(overwrite, benchmark, tmp_path):
    (tmp_path / "letter").write_text("Dear Ada")
    with pytest.raises(DataError, match="letter: is there already"):
        save(benchmark, tmp_path / "letter", overwrite=overwrite)
    assert (tmp_path / "letter").read_text() == "Dear Ada"


def test_a_benchmark_is_replaced_only_on_request_and_then_wholly(benchmark, tmp_path):
    save(benchmark, tmp_path / "benchmark")
    (tmp_path / "benchmark" / "schema.tsv.bak").write_text("left over")
    with pytest.raises(DataError, match=r"benchmark: is there already; .*give --overwrite"):
        save(benchmark, tmp_path / "benchmark")
    assert (tmp_path / "benchmark" / "schema.tsv.bak").exists()
    save(benchmark, tmp_path / "benchmark", overwrite=True)
    assert not (tmp_path / "benchmark" / "schema.tsv.bak").exists()
    assert list(tmp_path.iterdir()) == [tmp_path / "benchmark"]


def test_a_benchmark_behind_a_link_is_replaced(benchmark, tmp_path):
    save(benchmark, tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    save(benchmark, tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    assert len(load(tmp_path / "real").valid) == len(benchmark.valid)
    assert {path.name for path in tmp_path.iterdir()} == {"real", "link"}


def test_a_file_behind_a_link_is_replaced(tmp_path):
    (tmp_path / "real.tsv").write_text("old")
    (tmp_path / "link.tsv").symlink_to(tmp_path / "real.tsv")
    write(whole(), tmp_path / "link.tsv")
    assert (tmp_path / "link.tsv").is_symlink()
    assert len(read(tmp_path / "real.tsv").facts) == len(whole().facts)


def test_an_empty_folder_may_be_filled(benchmark, tmp_path):
    (tmp_path / "empty").mkdir()
    save(benchmark, tmp_path / "empty")
    assert len(load(tmp_path / "empty").test) == len(benchmark.test)
    assert list(tmp_path.iterdir()) == [tmp_path / "empty"]


def test_folders_on_the_way_are_made(tmp_path):
    write(whole(), tmp_path / "a" / "b" / "kb.tsv")
    write(split(), tmp_path / "c" / "d" / "kb")
    assert len(read(tmp_path / "a" / "b" / "kb.tsv").facts) == len(whole().facts)
    assert len(read(tmp_path / "c" / "d" / "kb").facts) == len(split().facts)


def test_a_place_that_cannot_be_written_to_is_refused(benchmark, tmp_path):
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "folder.tsv").mkdir()
    with pytest.raises(DataError, match=r"file/kb\.tsv: cannot be written: .*; choose another"):
        write(whole(), tmp_path / "file" / "kb.tsv")
    with pytest.raises(DataError, match=r"folder\.tsv: cannot be written: .*; choose another"):
        write(whole(), tmp_path / "folder.tsv")
    with pytest.raises(DataError, match=r"file/benchmark: cannot be written: .*; choose another"):
        save(benchmark, tmp_path / "file" / "benchmark")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.tsv"]


def test_files_and_folders_are_as_readable_as_others(benchmark, tmp_path):
    (tmp_path / "usual.txt").write_text("")
    (tmp_path / "usual").mkdir()
    write(whole(), tmp_path / "kb.tsv")
    save(benchmark, tmp_path / "benchmark")
    assert _mode(tmp_path / "kb.tsv") == _mode(tmp_path / "usual.txt")
    assert _mode(tmp_path / "benchmark") == _mode(tmp_path / "usual")


def _mode(path: Path) -> int:
    return os.stat(path).st_mode  # noqa: PTH116


def test_an_unknown_layout_is_refused_before_anything_is_written(benchmark, tmp_path):
    with pytest.raises(ConfigError, match="unknown layout 'xml'; choose from assent, published"):
        save(benchmark, tmp_path / "benchmark", layout="xml")
    assert not list(tmp_path.iterdir())
