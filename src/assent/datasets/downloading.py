"""One file over the network: continued where the connection broke off, and checked."""

import hashlib
import http.client
import re
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from assent.datasets.catalogue import RemoteFile
from assent.errors import FetchError

CHUNK = 1 << 16
PASSING = {408, 416, 425, 429, 500, 502, 503, 504}  # HTTP errors: another try may succeed


class Progress(Protocol):
    """Told after each piece: the file's name, its bytes so far, its bytes in all if known."""

    def __call__(self, name: str, done: int, total: int | None, /) -> None: ...


def silent(name: str, done: int, total: int | None, /) -> None:
    """Progress that nobody wants to be told of."""


@dataclass(frozen=True, slots=True)
class FetchSettings:
    timeout: float = 30.0  # seconds of silence after which a connection counts as broken
    tries: int = 5  # for each file
    pause: float = 0.5  # seconds before the second try; doubled for each further one
    largest: int = 1 << 28  # bytes of an unpacked archive, or of a file of unknown size


DEFAULTS = FetchSettings()


class _BrokenOffError(Exception):
    """The transfer broke off; it can go on from what is there."""


def download(file: RemoteFile, path: Path, progress: Progress, settings: FetchSettings) -> None:
    """Downloads a file to `path`, with as many requests as it takes; raises FetchError."""
    if path.exists() and sha256_of(path) == file.sha256:
        return progress(file.name, path.stat().st_size, path.stat().st_size)
    trouble = ""
    for attempt in range(settings.tries):
        time.sleep(settings.pause * 2 ** (attempt - 1) if attempt else 0)
        try:
            _receive(file, path, progress, settings)
            return _verify(file, path)
        except _BrokenOffError as error:
            trouble = str(error)
    raise FetchError(
        f"{file.url}: {trouble}; gave up after {settings.tries} tries. "
        "Check the connection and fetch again: it goes on where it stopped"
    )


def _receive(file: RemoteFile, path: Path, progress: Progress, settings: FetchSettings) -> None:
    """Makes one request, and appends its bytes to those that `path` has."""
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
        # More bytes than the limit are the wrong bytes: no need to read on.
        while done <= limit and (chunk := _read(response)):
            done += out.write(chunk)
            progress(file.name, done, total)
    if total is not None and done < min(total, limit):
        raise _BrokenOffError(f"connection broke off after {done:,} of {total:,} bytes")


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
            raise _BrokenOffError(f"HTTP {answer.code} {answer.reason}") from answer
        raise FetchError(f"{url}: HTTP {answer.code} {answer.reason}") from answer
    except (OSError, http.client.HTTPException) as trouble:
        raise _BrokenOffError(str(getattr(trouble, "reason", trouble))) from trouble
    return response


def _first_byte(response: http.client.HTTPResponse, asked: int) -> int:
    """The place of the first byte of a response: a server may ignore the range asked for."""
    if response.status != http.HTTPStatus.PARTIAL_CONTENT:
        return 0
    found = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(found[1]) if found else asked


def _read(response: http.client.HTTPResponse) -> bytes:
    try:
        return response.read1(CHUNK)  # read() would lose bytes where the connection breaks off
    except (OSError, http.client.HTTPException) as trouble:
        raise _BrokenOffError(f"connection broke off: {trouble}") from trouble


def _verify(file: RemoteFile, path: Path) -> None:
    size, found = path.stat().st_size, sha256_of(path)
    if found != file.sha256 or file.size not in (None, size):
        path.unlink()
        raise FetchError(
            f"{file.url}: expected sha256 {file.sha256} ({file.size} bytes), "
            f"found {found} ({size} bytes); the file was deleted"
        )


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
