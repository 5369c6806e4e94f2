"""A web server on this machine that can misbehave as real ones do, and toy data sets on it."""

import hashlib
import io
import re
import tarfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from assent.datasets import Dataset, RemoteFile

FACTS = b"".join(b"/m/%d\tknows\t/m/%d\n" % (n, n + 1) for n in range(10_000))


@dataclass
class Served:
    """A file and how it is served; the lists are used up, one entry a request."""

    content: bytes
    ranges: bool = True  # honour the Range header
    length: bool = True  # announce the Content-Length
    cuts: list[int] = field(default_factory=list)  # close the connection after so many bytes
    refusals: list[int] = field(default_factory=list)  # answer with this status instead
    silences: list[float] = field(default_factory=list)  # seconds before the answer


@dataclass(frozen=True)
class Asked:
    path: str
    range: str | None
    status: int
    sent: int  # bytes of the file


class Loopback(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, Served] = {}
        self.log: list[Asked] = []
        self.stopping = threading.Event()

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_port}/{name}"


class Handler(BaseHTTPRequestHandler):
    server: Loopback

    def do_GET(self) -> None:
        served = self.server.files.get(self.path[1:])
        if served is None:
            return self.refuse(404)
        if served.silences and self.server.stopping.wait(served.silences.pop(0)):
            return
        if served.refusals:
            return self.refuse(served.refusals.pop(0))
        start = self.asked_start() if served.ranges else 0
        if start and start >= len(served.content):
            return self.refuse(416)
        self.answer(served, start)

    def answer(self, served: Served, start: int) -> None:
        whole = len(served.content)
        body = served.content[start:]
        sent = body[: served.cuts.pop(0)] if served.cuts else body
        status = 206 if start else 200
        self.note(status, len(sent))  # before the client can know that there is an answer
        self.send_response(status)
        if served.length:
            self.send_header("Content-Length", str(len(body)))
        if start:
            self.send_header("Content-Range", f"bytes {start}-{whole - 1}/{whole}")
        self.end_headers()
        self.wfile.write(sent)

    def asked_start(self) -> int:
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        return int(found[1]) if found else 0

    def refuse(self, status: int) -> None:
        self.note(status, 0)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def note(self, status: int, sent: int) -> None:
        self.server.log.append(Asked(self.path[1:], self.headers.get("Range"), status, sent))

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving() -> Iterator[Loopback]:
    server = Loopback()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def remote(
    server: Loopback, name: str, content: bytes, members: tuple[str, ...] = ()
) -> RemoteFile:
    return RemoteFile(server.url(name), sha256(content), len(content), name, members)


def catalogue_of(*files: RemoteFile) -> dict[str, Dataset]:
    return {"toy": Dataset("toy", "a toy", 1, "none", files)}


def one_file(server: Loopback, served: Served) -> dict[str, Dataset]:
    """A catalogue whose only data set is `train.txt`, which should be FACTS."""
    server.files["train.txt"] = served
    return catalogue_of(remote(server, "train.txt", FACTS))


def tar_gz(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def archived(server: Loopback, archive: bytes) -> dict[str, Dataset]:
    server.files["toy.tar.gz"] = Served(archive)
    return catalogue_of(remote(server, "toy.tar.gz", archive, members=("train.txt",)))
