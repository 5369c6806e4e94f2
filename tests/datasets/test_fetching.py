"""Downloads end complete and checked, or with one clear error and nothing under the final name."""

import dataclasses
import gzip
import os
import re
import signal
import tarfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType

import pytest

from assent.datasets import (
    CATALOGUE,
    Dataset,
    Derivation,
    FetchSettings,
    cache_folder,
    fetch,
    located,
    status,
)
from assent.datasets.catalogue import derive_qaq
from assent.errors import ConfigError, FetchError
from datasets.loopback import (
    FACTS,
    Loopback,
    Served,
    archived,
    catalogue_of,
    one_file,
    remote,
    serving,
    sha256,
    tar_gz,
)

ROOT = Path(__file__).resolve().parents[2]
REAL_DATA = Path(os.environ.get("ASSENT_DATA") or ROOT.parent / "shared" / "data").resolve()
HASTY = FetchSettings(timeout=5.0, tries=3, pause=0.01)


@pytest.fixture(autouse=True)
def bounded_time() -> Iterator[None]:
    def stop(signum: int, frame: FrameType | None) -> None:
        pytest.fail("took more than 30 seconds")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(30)
        yield
        signal.alarm(0)
    else:
        yield


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Loopback]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("ASSENT_DATA", str(tmp_path / "cache"))
    with serving() as loopback:
        yield loopback


def get(home: Path, catalogue: Mapping[str, Dataset], settings: FetchSettings = HASTY) -> Path:
    return fetch("toy", home, settings=settings, catalogue=catalogue)


def nothing_final(home: Path) -> bool:
    return not (home / "toy").exists()


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


# Archives


@pytest.mark.parametrize("name", ["train.txt", "./train.txt", "toy/train.txt"])
def test_only_the_expected_members_of_an_archive_are_kept(
    server: Loopback, tmp_path: Path, name: str
) -> None:
    archive = tar_gz((tarfile.TarInfo("extra.txt"), b"?"), (tarfile.TarInfo(name), FACTS))
    folder = get(tmp_path, archived(server, archive))
    assert [path.name for path in folder.iterdir()] == ["train.txt"]
    assert (folder / "train.txt").read_bytes() == FACTS


def special(kind: bytes, target: str = "", **headers: str) -> tarfile.TarInfo:
    info = tarfile.TarInfo("train.txt")
    info.type, info.linkname, info.pax_headers = kind, target, headers
    return info


SPARSE = {"GNU.sparse.map": "0,1", "GNU.sparse.size": "9999999"}  # one byte, then a hole


HOSTILE = {
    "climbs out": tar_gz((tarfile.TarInfo("../evil"), b"?"), (tarfile.TarInfo("train.txt"), b"?")),
    "absolute": tar_gz((tarfile.TarInfo("/train.txt"), b"?")),
    "symbolic link": tar_gz((special(tarfile.SYMTYPE, "/etc/hostname"), b"")),
    "hard link": tar_gz((special(tarfile.LNKTYPE, "/etc/hostname"), b"")),
    "pipe": tar_gz((special(tarfile.FIFOTYPE), b"")),
    "mostly hole": tar_gz((special(tarfile.REGTYPE, **SPARSE), b"?")),
    "too large": tar_gz((tarfile.TarInfo("train.txt"), bytes(2_000_000))),
    "too large besides": tar_gz(
        (tarfile.TarInfo("zeros"), bytes(2_000_000)), (tarfile.TarInfo("train.txt"), b"?")
    ),
    "lacks the member": tar_gz((tarfile.TarInfo("other.txt"), b"?")),
    "cut": tar_gz((tarfile.TarInfo("train.txt"), os.urandom(5000)))[:3000],
    "no archive": b"<html>log in</html>",
}


@pytest.mark.parametrize("archive", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_archive_is_refused(server: Loopback, tmp_path: Path, archive: bytes) -> None:
    home = tmp_path / "deep" / "home"
    with pytest.raises(FetchError, match=re.escape(server.url("toy.tar.gz"))):
        get(home, archived(server, archive), dataclasses.replace(HASTY, largest=1_000_000))
    assert nothing_final(home)
    assert not list(tmp_path.rglob("evil"))
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))


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


# FB14k-QAQ

# Of the grouped entities, a and b are asked about, c and e are answers; r was removed.
QAQ = {
    "grouping_answers_obj.csv": "e1,rel,n\na,likes,1\nr,likes,1\ne,likes,0\n",
    "grouping_answers_subj.csv": "e2,rel,n\nb,likes,0\nc,likes,1\n",
    "valid_obj.txt": "a\tlikes\td e\n",
    "valid_subj.txt": "\tlikes\tb\n",
    "test_obj.txt": "d\tlikes\t\n",
    "test_subj.txt": "c\tlikes\td\n",
}
TRAIN = b"d\tlikes\ta\r\nr\tlikes\ta\r\na\tlikes\tr\r\na\tlikes\tb\r\n"
KEPT = b"d\tlikes\ta\na\tlikes\tb\n"


def tiny_qaq(server: Loopback, kept: bytes) -> dict[str, Dataset]:
    """FB14k-QAQ and FB15k-237 as above; `kept` is what the catalogue expects as train.txt."""
    server.files |= {name: Served(text.encode()) for name, text in QAQ.items()}
    server.files["train.txt"] = Served(TRAIN)
    files = tuple(remote(server, name, text.encode()) for name, text in QAQ.items())
    sums = {"train.txt": sha256(kept), "removed_entities.txt": sha256(b"r\n")}
    derivation = Derivation("source", derive_qaq, sums)
    source = Dataset("source", "", 4, "none", (remote(server, "train.txt", TRAIN),))
    return {"toy": Dataset("toy", "", 2, "none", files, derivation), "source": source}


def test_qaq_is_its_source_without_the_entities_that_are_grouped_but_never_asked(
    server: Loopback, tmp_path: Path
) -> None:
    catalogue = tiny_qaq(server, KEPT)
    rows = {row.name: row.download or 0 for row in status(catalogue)}
    folder = get(tmp_path, catalogue)
    assert (folder / "train.txt").read_bytes() == KEPT
    assert (folder / "removed_entities.txt").read_bytes() == b"r\n"
    assert (tmp_path / "source" / "train.txt").read_bytes() == TRAIN
    assert rows["toy"] == sum(asked.sent for asked in server.log)


def test_a_derived_file_with_the_wrong_sum_blames_the_source(
    server: Loopback, tmp_path: Path
) -> None:
    with pytest.raises(FetchError, match=r"train.txt made from .*source: expected .*, found"):
        get(tmp_path, tiny_qaq(server, b"something else"))
    assert nothing_final(tmp_path)


def test_a_source_that_cannot_be_read_is_named(server: Loopback, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "train.txt.gz").write_bytes(b"not gzip")
    with pytest.raises(FetchError, match=r"source: Not a gzipped file"):
        get(tmp_path, tiny_qaq(server, KEPT))


def real(name: str) -> Path:
    if not (REAL_DATA / name).is_dir():
        pytest.skip(f"no {name} in $ASSENT_DATA or ../shared/data")
    return REAL_DATA / name


def real_bytes(path: Path) -> bytes:
    """The file's content, which may stand there compressed."""
    return path.read_bytes() if path.exists() else gzip.decompress(Path(f"{path}.gz").read_bytes())


@pytest.mark.parametrize("name", ["codex-s", "fb14k-qaq"])
def test_the_catalogue_fits_the_real_files(name: str, server: Loopback, tmp_path: Path) -> None:
    dataset = CATALOGUE[name]
    for file in dataset.files:
        server.files[file.name] = Served(real_bytes(real(name) / file.name))
    files = tuple(dataclasses.replace(f, url=server.url(f.name)) for f in dataset.files)
    if dataset.derivation:
        source = dataset.derivation.source
        (tmp_path / source).symlink_to(real(source))
    catalogue = {**CATALOGUE, name: dataclasses.replace(dataset, files=files)}
    folder = fetch(name, tmp_path, settings=HASTY, catalogue=catalogue)
    splits = [folder / f"{split}.txt" for split in ("train", "valid", "test")]
    assert sum(p.read_bytes().count(b"\n") for p in splits if p.exists()) == dataset.facts
    assert {path.name for path in folder.iterdir()} == dataset.contents
