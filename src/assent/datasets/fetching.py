"""A named data set -> its folder: downloaded, checked, unpacked, and only then visible.

Everything comes into `NAME.part`, which becomes `NAME` by one rename when all sums are right.
What an interrupted download left in `NAME.part` is continued, by the next try or the next call.
A lock that the system frees with its process lets only one process at a time work on a data
set; a second one waits, and then finds it complete.
"""

import difflib
import gzip
import hashlib
import http.client
import os
import re
import shutil
import sys
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Literal, Protocol

from assent.datasets.catalogue import CATALOGUE, Dataset, Derivation, RemoteFile, train_file
from assent.errors import ConfigError, FetchError

CHUNK = 1 << 16
PASSING = {408, 416, 425, 429, 500, 502, 503, 504}  # HTTP answers that may differ next time


class Progress(Protocol):
    """Told after each piece: the file's name, its bytes so far, its bytes in all if known."""

    def __call__(self, name: str, done: int, total: int | None, /) -> None: ...


def silent(name: str, done: int, total: int | None, /) -> None:
    """The progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class FetchSettings:
    timeout: float = 30.0  # seconds of silence after which a connection counts as cut
    tries: int = 5  # for each file
    pause: float = 0.5  # seconds before the second try; doubled for each further one
    largest: int = 1 << 28  # bytes of an unpacked archive, or of a file of unknown size


DEFAULTS = FetchSettings()

State = Literal["built in", "here", "can be fetched"]


@dataclass(frozen=True, slots=True)
class Status:
    """A line of `assent data list`."""

    name: str
    title: str
    facts: int
    state: State
    download: int | None  # bytes to fetch, with a source that is not here; None if unknown
    path: Path | None


def cache_folder() -> Path:
    """Where fetched data sets live: $ASSENT_DATA, $XDG_CACHE_HOME/assent or ~/.cache/assent."""
    if chosen := os.environ.get("ASSENT_DATA"):
        return Path(chosen).expanduser()
    if cache := os.environ.get("XDG_CACHE_HOME"):
        return Path(cache).expanduser() / "assent"
    return Path.home() / ".cache" / "assent"


def located(
    name: str, home: Path | None = None, catalogue: Mapping[str, Dataset] = CATALOGUE
) -> Path | None:
    """The folder of a data set that is built in or already in `home` (the cache folder)."""
    if name != Path(name).name or name.startswith("."):
        return None  # a path, not a name
    built_in = catalogue[name].built_in if name in catalogue else None
    folder = built_in or (home or cache_folder()) / name
    return folder if train_file(folder) else None


def status(catalogue: Mapping[str, Dataset] = CATALOGUE) -> list[Status]:
    """What is here and what can be fetched, in the order of the catalogue."""
    return [_status(dataset, catalogue) for dataset in catalogue.values()]


def _status(dataset: Dataset, catalogue: Mapping[str, Dataset]) -> Status:
    path = located(dataset.name, catalogue=catalogue)
    state: State = "built in" if dataset.built_in else "here" if path else "can be fetched"
    size = dataset.size
    source = dataset.derivation.source if dataset.derivation else None
    if source and not located(source, catalogue=catalogue):
        more = catalogue[source].size
        size = None if size is None or more is None else size + more
    return Status(dataset.name, dataset.title, dataset.facts, state, size, path)


def fetch(
    name: str,
    to: Path | None = None,
    progress: Progress = silent,
    settings: FetchSettings = DEFAULTS,
    catalogue: Mapping[str, Dataset] = CATALOGUE,
) -> Path:
    """The folder of the data set `name`, which is downloaded to `to/name` if it is not there."""
    dataset = _named(name, catalogue)
    home = to or cache_folder()
    if folder := located(name, home, catalogue):
        return folder
    if dataset.built_in:
        raise FetchError(f"{dataset.built_in}: no train file; {name} comes with assent: reinstall")
    source = None
    if dataset.derivation:
        # Before the lock: whoever waits for a data set never holds another one.
        wanted = dataset.derivation.source
        source = located(wanted, home, catalogue) or located(wanted, None, catalogue)
        source = source or fetch(wanted, home, progress, settings, catalogue)
    try:
        with _alone(home, name):
            folder = located(name, home, catalogue)
            return folder or _assemble(dataset, home, source, progress, settings)
    except OSError as problem:  # trouble of the network never gets here
        where = problem.filename or home
        raise FetchError(
            f"cannot write {where}: {problem.strerror or problem}; "
            "make room there, or choose another folder with --to or $ASSENT_DATA"
        ) from problem


def _named(name: str, catalogue: Mapping[str, Dataset]) -> Dataset:
    if name in catalogue:
        return catalogue[name]
    nearest = difflib.get_close_matches(name.lower(), catalogue, n=1)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    raise ConfigError(f"unknown data set {name!r}; {hint}choose from {', '.join(catalogue)}")


@contextmanager
def _alone(home: Path, name: str) -> Iterator[None]:
    """Wait until no other process works on this data set, then keep others waiting."""
    home.mkdir(parents=True, exist_ok=True)
    # The file stays: removing it would let two processes lock two files of the same name.
    with (home / f".{name}.lock").open("a+b") as lock:
        if sys.platform == "win32":
            import msvcrt

            lock.seek(0)
            msvcrt.locking(lock.fileno(), msvcrt.LK_LOCK, 1)
        else:
            import fcntl

            fcntl.flock(lock, fcntl.LOCK_EX)
        yield  # closing the file frees the lock, and so does the end of the process


def _assemble(
    dataset: Dataset, home: Path, source: Path | None, progress: Progress, settings: FetchSettings
) -> Path:
    part, folder = home / f"{dataset.name}.part", home / dataset.name
    if folder.exists():
        raise FetchError(f"{folder}: exists but has no train file; move it away and fetch again")
    part.mkdir(exist_ok=True)
    for file in dataset.files:
        _download(file, part / file.name, progress, settings)
        if file.members:
            _unpack(file, part, settings.largest)
    if dataset.derivation and source:
        _derive(dataset.derivation, part, source)
    for path in part.iterdir():
        if path.name not in dataset.contents:  # archives, leavings of older versions
            path.unlink()
    part.rename(folder)
    return folder


class _CutError(Exception):
    """The transfer broke off; it can go on from what is there."""


def _download(file: RemoteFile, path: Path, progress: Progress, settings: FetchSettings) -> None:
    """Complete `path` by as many requests as it takes, or raise FetchError."""
    if path.exists() and _sha256(path) == file.sha256:
        return progress(file.name, path.stat().st_size, path.stat().st_size)
    trouble = ""
    for attempt in range(settings.tries):
        time.sleep(settings.pause * 2 ** (attempt - 1) if attempt else 0)
        try:
            _receive(file, path, progress, settings)
            return _verify(file, path)
        except _CutError as cut:
            trouble = str(cut)
    raise FetchError(
        f"{file.url}: {trouble}; gave up after {settings.tries} tries. "
        "Check the connection and fetch again: it goes on where it stopped"
    )


def _receive(file: RemoteFile, path: Path, progress: Progress, settings: FetchSettings) -> None:
    """One request; its bytes go behind those that `path` has."""
    path.touch()
    response = _ask(file.url, path, settings.timeout)
    with response, path.open("r+b") as out:
        done = _first_byte(response, path.stat().st_size)
        left = response.headers.get("Content-Length")
        total = done + int(left) if left and left.isdecimal() else file.size
        limit = settings.largest if file.size is None else file.size
        out.truncate(done)
        out.seek(done)
        progress(file.name, done, total)
        # One piece past the limit is enough to see that these are the wrong bytes.
        while done <= limit and (chunk := _read(response)):
            done += out.write(chunk)
            progress(file.name, done, total)
    if total is not None and done < min(total, limit):
        raise _CutError(f"connection cut after {done:,} of {total:,} bytes")


def _ask(url: str, path: Path, timeout: float) -> http.client.HTTPResponse:
    headers = {"User-Agent": "assent"}
    if there := path.stat().st_size:
        headers["Range"] = f"bytes={there}-"
    request = urllib.request.Request(url, headers=headers)
    try:
        response: http.client.HTTPResponse = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as answer:
        answer.close()
        if answer.code == 416:  # what we have is no beginning of that file: start over
            path.unlink()
        if answer.code in PASSING:
            raise _CutError(f"HTTP {answer.code} {answer.reason}") from answer
        raise FetchError(f"{url}: HTTP {answer.code} {answer.reason}") from answer
    except (OSError, http.client.HTTPException) as trouble:
        raise _CutError(str(getattr(trouble, "reason", trouble))) from trouble
    return response


def _first_byte(response: http.client.HTTPResponse, asked: int) -> int:
    """Where the bytes of this answer belong: a server may ignore the wish for a range."""
    if response.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else asked


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(CHUNK)  # not read(): it would lose a piece that is cut
    except (OSError, http.client.HTTPException) as trouble:
        raise _CutError(f"connection cut: {trouble}") from trouble


def _verify(file: RemoteFile, path: Path) -> None:
    size, found = path.stat().st_size, _sha256(path)
    if found != file.sha256 or file.size not in (None, size):
        path.unlink()
        raise FetchError(
            f"{file.url}: expected sha256 {file.sha256} ({file.size} bytes), "
            f"found {found} ({size} bytes); the file was deleted"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _Bounded(gzip.GzipFile):
    """Refuses to unpack without end: a small archive can hold terabytes of zeros."""

    def __init__(self, path: Path, limit: int) -> None:
        super().__init__(path)
        self.limit = limit

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if self.tell() > self.limit:
            raise tarfile.TarError(f"unpacks to more than {self.limit:,} bytes")
        return data


def _unpack(file: RemoteFile, folder: Path, limit: int) -> None:
    """Write the expected members into `folder`; an archive with anything shady is refused."""
    missing = set(file.members)
    try:
        # As a stream, so that the bound also holds for what is skipped.
        with (
            _Bounded(folder / file.name, limit) as stream,
            tarfile.open(fileobj=stream, mode="r|") as archive,
        ):
            for member in archive:
                name = _expected(member, file.members)
                if name in missing:
                    with (folder / name).open("wb") as out:
                        shutil.copyfileobj(_content(archive, member), out)
                    missing.remove(name)
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, ValueError, zlib.error) as problem:
        raise FetchError(f"{file.url}: {problem}; expected a tar.gz of plain files") from problem
    if missing:
        raise FetchError(f"{file.url}: no {', '.join(sorted(missing))} in the archive")


def _expected(member: tarfile.TarInfo, names: tuple[str, ...]) -> str | None:
    """Which of `names` this member is, in whatever folder of the archive."""
    path = PurePosixPath(member.name)
    if path.is_absolute() or ".." in path.parts:
        raise tarfile.TarError(f"member {member.name!r} lies outside the folder")
    return path.name if path.name in names else None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    # A sparse file grows holes behind the bounded stream.
    plain = member.isreg() and not member.issparse()
    content = archive.extractfile(member) if plain else None
    if content is None:
        raise tarfile.TarError(f"member {member.name!r} is a link or another special file")
    return content


def _derive(derivation: Derivation, folder: Path, source: Path) -> None:
    try:
        derivation.make(folder, source)
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise FetchError(f"{source}: {problem}; expected {derivation.source}") from problem
    for name, expected in derivation.sums.items():
        if (found := _sha256(folder / name)) != expected:
            (folder / name).unlink()
            # The downloads were checked, so it is the source that differs.
            raise FetchError(
                f"{name} made from {source}: expected sha256 {expected}, found {found}; "
                f"move that folder away, so that the original {derivation.source} is fetched"
            )
