"""A file arrives complete and checked, or there is one clear error."""

import dataclasses
import re
import threading
from pathlib import Path

import pytest

from assent.datasets import (
    cache_folder,
    fetch,
)
from assent.errors import FetchError
from datasets.getting import HASTY, get, nothing_final
from datasets.loopback import (
    FACTS,
    Loopback,
    Served,
    catalogue_of,
    one_file,
    remote,
    serving,
    sha256,
)

# Whole downloads


def test_a_download_is_complete_and_its_progress_reaches_the_total(
    server: Loopback, tmp_path: Path
) -> None:
    steps: list[tuple[str, int, int | None]] = []
    folder = fetch(
        "toy", tmp_path, lambda *step: steps.append(step), HASTY, one_file(server, Served(FACTS))
    )
    assert folder == tmp_path / "toy"
    assert (folder / "train.txt").read_bytes() == FACTS
    assert steps[0] == ("train.txt", 0, len(FACTS))
    assert steps[-1] == ("train.txt", len(FACTS), len(FACTS))
    assert not (tmp_path / "toy.part").exists()


def test_what_is_complete_is_not_asked_for_again(server: Loopback) -> None:
    catalogue = one_file(server, Served(FACTS))
    first = fetch("toy", settings=HASTY, catalogue=catalogue)
    assert fetch("toy", settings=HASTY, catalogue=catalogue) == first == cache_folder() / "toy"
    assert len(server.log) == 1


def test_two_at_once_download_once(server: Loopback, tmp_path: Path) -> None:
    catalogue = one_file(server, Served(FACTS, silences=[0.2]))
    folders: list[Path] = []
    threads = [
        threading.Thread(target=lambda: folders.append(get(tmp_path, catalogue))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert folders == [tmp_path / "toy"] * 2
    assert len(server.log) == 1


def test_a_size_nobody_knows_is_no_obstacle(server: Loopback, tmp_path: Path) -> None:
    server.files["train.txt"] = Served(FACTS, length=False)
    file = dataclasses.replace(remote(server, "train.txt", FACTS), size=None)
    folder = get(tmp_path, catalogue_of(file))
    assert (folder / "train.txt").read_bytes() == FACTS


# StoppedError downloads


def test_a_cut_download_goes_on_where_it_stopped(server: Loopback, tmp_path: Path) -> None:
    catalogue = one_file(server, Served(FACTS, cuts=[100_000]))
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == FACTS
    assert [asked.range for asked in server.log] == [None, "bytes=100000-"]
    assert sum(asked.sent for asked in server.log) == len(FACTS)


def test_a_download_without_length_that_is_cut_goes_on(server: Loopback, tmp_path: Path) -> None:
    catalogue = one_file(server, Served(FACTS, length=False, cuts=[1000]))
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == FACTS
    assert [asked.range for asked in server.log] == [None, "bytes=1000-"]


def test_a_new_call_goes_on_where_the_last_one_gave_up(server: Loopback, tmp_path: Path) -> None:
    catalogue = one_file(server, Served(FACTS, cuts=[1000, 200, 30]))
    with pytest.raises(FetchError, match=r"broke off after 1,230 of .* gave up after 3 tries"):
        get(tmp_path, catalogue)
    assert nothing_final(tmp_path)
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == FACTS
    assert server.log[-1].range == "bytes=1230-"
    assert sum(asked.sent for asked in server.log) == len(FACTS)


def test_files_that_came_before_the_cut_are_not_asked_for_again(
    server: Loopback, tmp_path: Path
) -> None:
    server.files |= {"train.txt": Served(FACTS), "test.txt": Served(FACTS, cuts=[1, 1, 1])}
    catalogue = catalogue_of(*(remote(server, name, FACTS) for name in server.files))
    with pytest.raises(FetchError):
        get(tmp_path, catalogue)
    get(tmp_path, catalogue)
    assert [asked.path for asked in server.log].count("train.txt") == 1


def test_a_server_that_ignores_ranges_sends_everything_again(
    server: Loopback, tmp_path: Path
) -> None:
    catalogue = one_file(server, Served(FACTS, ranges=False, cuts=[1000]))
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == FACTS
    assert [asked.status for asked in server.log] == [200, 200]


@pytest.mark.parametrize(("ranges", "statuses"), [(True, [416, 200]), (False, [200])])
def test_a_part_longer_than_the_file_is_started_over(
    server: Loopback, tmp_path: Path, ranges: bool, statuses: list[int]
) -> None:
    catalogue = one_file(server, Served(FACTS, ranges=ranges))
    (tmp_path / "toy.part").mkdir()
    (tmp_path / "toy.part" / "train.txt").write_bytes(b"x" * (len(FACTS) + 1))
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == FACTS
    assert [asked.status for asked in server.log] == statuses


def test_a_silent_server_times_out_and_is_asked_again(server: Loopback, tmp_path: Path) -> None:
    catalogue = one_file(server, Served(FACTS, silences=[60.0]))
    hasty = dataclasses.replace(HASTY, timeout=0.3)
    folder = get(tmp_path, catalogue, hasty)
    assert (folder / "train.txt").read_bytes() == FACTS


def test_a_server_that_is_down_for_a_moment_is_asked_again(
    server: Loopback, tmp_path: Path
) -> None:
    catalogue = one_file(server, Served(FACTS, refusals=[503, 500]))
    get(tmp_path, catalogue)
    assert [asked.status for asked in server.log] == [503, 500, 200]


# Failures


@pytest.mark.parametrize("wrong", [FACTS[:-1] + b"?", FACTS + b"?", b"<html>log in</html>", b""])
def test_wrong_bytes_are_deleted_and_both_sums_named(
    server: Loopback, tmp_path: Path, wrong: bytes
) -> None:
    catalogue = one_file(server, Served(wrong))
    with pytest.raises(FetchError) as error:
        get(tmp_path, catalogue)
    for part in (server.url("train.txt"), sha256(FACTS), sha256(wrong)):
        assert part in str(error.value)
    assert nothing_final(tmp_path)
    assert list((tmp_path / "toy.part").iterdir()) == []
    assert len(server.log) == 1


def test_endless_bytes_are_not_all_received(server: Loopback, tmp_path: Path) -> None:
    received: list[int] = []
    catalogue = one_file(server, Served(FACTS * 20, length=False))
    with pytest.raises(FetchError, match="expected sha256"):
        fetch("toy", tmp_path, lambda _, done, __: received.append(done), HASTY, catalogue)
    assert max(received) < 2 * len(FACTS)


def test_a_missing_file_is_asked_for_once(server: Loopback, tmp_path: Path) -> None:
    catalogue = catalogue_of(remote(server, "gone.txt", FACTS))
    with pytest.raises(FetchError, match=re.escape(server.url("gone.txt")) + ": HTTP 404"):
        get(tmp_path, catalogue)
    assert nothing_final(tmp_path)
    assert len(server.log) == 1


def test_a_server_that_stays_down_is_given_up(server: Loopback, tmp_path: Path) -> None:
    catalogue = one_file(server, Served(FACTS, refusals=[500] * 9))
    with pytest.raises(FetchError, match=r"HTTP 500 .* gave up after 3 tries"):
        get(tmp_path, catalogue)
    assert nothing_final(tmp_path)
    assert len(server.log) == 3


def test_no_network_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with serving() as gone:
        file = remote(gone, "train.txt", FACTS)
    with pytest.raises(FetchError, match=r"refused.*Check the connection"):
        get(tmp_path, catalogue_of(file))
