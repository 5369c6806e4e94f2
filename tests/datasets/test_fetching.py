"""A data set is found, fetched whole, or refused with one clear error."""

from pathlib import Path

import pytest

from assent.datasets import (
    Dataset,
    cache_folder,
    fetch,
    located,
    status,
)
from assent.errors import ConfigError, FetchError
from datasets.getting import HASTY, get
from datasets.loopback import (
    FACTS,
    Loopback,
    Served,
    one_file,
)


@pytest.mark.parametrize(("wrong", "right"), [("FB15k237", "fb15k-237"), ("WN18RR", "wn18rr")])
def test_an_unknown_name_suggests_the_nearest(wrong: str, right: str) -> None:
    with pytest.raises(ConfigError, match=rf"'{wrong}'; did you mean '{right}'\? choose from"):
        fetch(wrong)


def test_a_folder_that_cannot_be_written_is_named(server: Loopback, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FetchError, match=r"cannot write .*file.*\$ASSENT_DATA"):
        get(tmp_path / "file", one_file(server, Served(FACTS)))


def test_a_folder_in_the_way_is_left_alone(server: Loopback, tmp_path: Path) -> None:
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "notes.txt").write_text("mine")
    with pytest.raises(FetchError, match="exists but has no train file; move it away"):
        get(tmp_path, one_file(server, Served(FACTS)))
    assert (tmp_path / "toy" / "notes.txt").read_text() == "mine"


# What is where


def test_a_built_in_data_set_needs_no_download(tmp_path: Path) -> None:
    (tmp_path / "train.tsv.gz").touch()
    catalogue = {"toy": Dataset("toy", "a toy", 1, "none", built_in=tmp_path)}
    assert fetch("toy", catalogue=catalogue) == tmp_path
    assert [(row.state, row.download, row.path) for row in status(catalogue)] == [
        ("built in", 0, tmp_path)
    ]


def test_status_tells_what_is_here_from_what_can_be_fetched(server: Loopback) -> None:
    catalogue = one_file(server, Served(FACTS))
    assert located("toy", catalogue=catalogue) is None
    (before,) = status(catalogue)
    folder = fetch("toy", settings=HASTY, catalogue=catalogue)
    (after,) = status(catalogue)
    assert (before.state, before.download, before.path) == ("can be fetched", len(FACTS), None)
    assert (after.state, after.path) == ("here", folder)
    assert located("toy", catalogue=catalogue) == folder


def test_any_folder_with_a_train_file_is_located_but_no_path(tmp_path: Path) -> None:
    for name in ("mine", "empty", ".hidden"):
        (tmp_path / "home" / name).mkdir(parents=True)
    for name in ("home/mine/train.tsv.gz", "home/.hidden/train.txt", "train.txt"):
        (tmp_path / name).touch()
    home = tmp_path / "home"
    assert located("mine", home) == home / "mine"
    for name in ("empty", "absent", ".hidden", "..", ".", "", str(home / "mine"), "../home/mine"):
        assert located(name, home) is None


def test_the_cache_folder_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSENT_DATA", "/a")
    monkeypatch.setenv("XDG_CACHE_HOME", "/b")
    assert cache_folder() == Path("/a")
    monkeypatch.setenv("ASSENT_DATA", "")
    assert cache_folder() == Path("/b/assent")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "assent"
