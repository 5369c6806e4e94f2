"""A SPARQL store over HTTP: asked a query, and told new facts in batches.

A store is named `sparql+http://host/path`, or with https. A name and a password before the host,
`user:password@host`, are sent to a store that asks for them.
"""

import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Self

import pyoxigraph as ox

from assent.errors import ConfigError, FetchError
from assent.files.rdf import as_term

SCHEME = re.compile(r"sparql\+(?=https?://[^/])")
PASSING = {408, 425, 429, 500, 502, 503, 504}  # HTTP errors: another try may succeed
CHUNK = 1 << 16
BATCH = 1000  # facts that one update has
GRAPH = "urn:assent:accepted"  # where new facts go, if no other graph is named


@dataclass(frozen=True, slots=True)
class Paging:
    """How much is asked for, and for how long."""

    rows: int = 10_000  # of a page
    most_rows: int = 50_000_000  # of all pages
    most_bytes: int = 1 << 28  # of a page
    minutes: float = 60.0  # for all pages
    timeout: float = 120.0  # seconds of silence after which a request counts as lost
    tries: int = 4  # for each page
    pause: float = 0.5  # seconds before the second try; doubled for each further one

    def __post_init__(self) -> None:
        for name in ("rows", "most_rows", "most_bytes", "minutes", "timeout", "tries"):
            if getattr(self, name) <= 0:
                raise ConfigError(f"{name} = {getattr(self, name)}; choose more than 0")


DEFAULTS = Paging()


def is_store(name: str | Path) -> bool:
    """Whether this names a store, not a file."""
    return SCHEME.match(str(name)) is not None


@dataclass(frozen=True, slots=True)
class Store:
    """A store and who asks it; the password is never shown."""

    url: str
    user: str = ""
    password: str = ""

    @classmethod
    def of(cls, name: str) -> Self:
        """`sparql+https://user:password@host:port/path?key=value`."""
        parts = urllib.parse.urlsplit(SCHEME.sub("", name, count=1))
        host = parts.netloc.rpartition("@")[2]
        user, password = (
            urllib.parse.unquote(text or "") for text in (parts.username, parts.password)
        )
        url = urllib.parse.urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
        return cls(url, user, password)

    def ask(self, query: str, accept: str, paging: Paging) -> tuple[bytes, str]:
        """The answer to a query, and its media type."""
        return self._send({"query": query}, accept, paging)

    def tell(self, update: str) -> None:
        """Carries out an update."""
        self._send({"update": update}, "*/*", DEFAULTS)

    def _send(self, fields: dict[str, str], accept: str, paging: Paging) -> tuple[bytes, str]:
        """One request, again if it is lost; both kinds may be repeated without harm."""
        trouble = ""
        for attempt in range(paging.tries):
            time.sleep(paging.pause * 2 ** (attempt - 1) if attempt else 0)
            try:
                return self._sent(fields, accept, paging)
            except _LostError as lost:
                trouble = str(lost)
        raise FetchError(f"{self.url}: {trouble}; gave up after {paging.tries} tries")

    def _sent(self, fields: dict[str, str], accept: str, paging: Paging) -> tuple[bytes, str]:
        request = urllib.request.Request(
            self.url,
            urllib.parse.urlencode(fields).encode(),
            {"Accept": accept, "User-Agent": "assent"},
        )
        try:
            with self._opener().open(request, timeout=paging.timeout) as response:
                return _received(response, paging), response.headers.get_content_type()
        except urllib.error.HTTPError as answer:
            with answer:
                said = one_line(answer.read(2000))
            if answer.code in PASSING:
                raise _LostError(f"HTTP {answer.code} {answer.reason}: {said}") from answer
            raise FetchError(f"{self.url}: HTTP {answer.code} {answer.reason}: {said}") from answer
        except (OSError, http.client.HTTPException) as trouble:
            raise _LostError(str(getattr(trouble, "reason", trouble))) from trouble

    def _opener(self) -> urllib.request.OpenerDirector:
        """Answers a store that asks who asks, by either of the two ways of HTTP."""
        known = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        if self.user:
            known.add_password(None, self.url, self.user, self.password)
        return urllib.request.build_opener(
            urllib.request.HTTPBasicAuthHandler(known), urllib.request.HTTPDigestAuthHandler(known)
        )


class _LostError(Exception):
    """A request without an answer; another try may succeed."""


def send_facts(
    store: Store,
    facts: Iterable[tuple[str, str, str]],
    graph: str = GRAPH,
    rdf_terms: bool = False,
) -> None:
    """Puts facts by name into a named graph; facts that it has already stay as they are.

    A blank node has no name that a store would know, so it becomes an IRI. With `rdf_terms`, a
    tail that reads as a literal is one.
    """
    try:
        into = str(ox.NamedNode(graph))
    except ValueError as error:
        raise ConfigError(f"graph {graph!r}; choose an IRI") from error
    rows = iter(facts)
    while batch := list(islice(rows, BATCH)):
        lines = "\n".join(
            f"{as_term(head)} {as_term(relation)} {as_term(tail, rdf_terms)} ."
            for head, relation, tail in batch
        )
        store.tell(f"INSERT DATA {{ GRAPH {into} {{\n{lines}\n}} }}")


def _received(response: http.client.HTTPResponse, paging: Paging) -> bytes:
    """All bytes of an answer; one that is too long is refused before it fills the memory."""
    chunks, size = list[bytes](), 0
    while chunk := response.read1(CHUNK):
        chunks.append(chunk)
        size += len(chunk)
        if size > paging.most_bytes:
            raise FetchError(
                f"{response.url}: an answer of more than {paging.most_bytes:,} bytes; "
                "ask for smaller pages"
            )
    return b"".join(chunks)


def one_line(text: bytes) -> str:
    """What a store says about an error, as far as a person would read it."""
    words = re.sub(r"<[^>]{1,200}>", " ", text.decode(errors="replace"))
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())
    return shown[:200] or "no reason given"
