"""A SPARQL store over HTTP: asked for facts page by page, and told new facts in batches.

A store is named `sparql+http://host/path`, or with https. A name and a password before the host,
`user:password@host`, are sent to a store that asks for them.
"""

import hashlib
import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Self

import pyoxigraph as ox

from assent.errors import ConfigError, DataError, FetchError
from assent.files.atomic import beside
from assent.files.rdf import as_term
from assent.files.text import read_json

SCHEME = re.compile(r"sparql\+(?=https?://[^/])")
PASSING = {408, 425, 429, 500, 502, 503, 504}  # HTTP errors: another try may succeed
CHUNK = 1 << 16
TRIPLES, ROWS = "application/n-triples, text/turtle", "application/sparql-results+json"
EVERYTHING = "SELECT ?head ?relation ?tail WHERE { ?head ?relation ?tail }"
BATCH = 1000  # facts that one update has
GRAPH = "urn:assent:accepted"  # where new facts go, if no other graph is named

# The beginning of a query: comments, BASE and PREFIX, then the word that says what it is.
PROLOGUE = re.compile(
    r"(?P<prologue>(?:\s|#[^\n]*\n|BASE\s*<[^>]*>|PREFIX\s+[^\s:]*:\s*<[^>]*>)*)"
    r"(?P<kind>SELECT|CONSTRUCT)\b",
    re.IGNORECASE,
)
# A variable, or the name of an expression: (... AS ?name), with brackets in it or not.
SELECTED = re.compile(
    r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\bAS\s+([?$]\w+)\s*\)|([?$]\w+)", re.IGNORECASE
)
OWN_PAGES = re.compile(r"\b(LIMIT|OFFSET)\s+\d+\s*\}?\s*$", re.IGNORECASE)

PagesDone = Callable[[int], None]  # told how many rows are here


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

    def tell(self, update: str, paging: Paging = DEFAULTS) -> None:
        """Carries out an update."""
        self._send({"update": update}, "*/*", paging)

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
                said = _one_line(answer.read(2000))
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


# Facts in


def fetch_graph(
    store: Store,
    query: str,
    home: Path,
    paging: Paging = DEFAULTS,
    progress: PagesDone = lambda rows: None,
) -> Path:
    """All that a query finds, as an N-Triples file; what is there already is not asked for again.

    The query selects three variables, head, relation and tail in this order, or constructs triples.
    Pages go into a folder of `home` that is named after store and query.
    """
    ask, reads = _pages(query)
    digest = hashlib.sha256("\n".join([store.url, query, str(paging.rows)]).encode()).hexdigest()
    folder = home / f"sparql-{digest[:16]}"
    whole = folder / "graph.nt"
    if whole.is_file():
        return whole
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "query.json").write_text(
        json.dumps({"store": store.url, "query": query, "page": paging.rows}, indent=2) + "\n"
    )
    end, pages = time.monotonic() + 60 * paging.minutes, list[_Page]()
    while not pages or pages[-1].rows:
        offset = pages[-1].offset + pages[-1].step if pages else 0
        what = f"{store.url}: {offset:,} rows are here"
        if offset >= paging.most_rows:
            raise FetchError(f"{what}, the most that may be; ask for less, or allow more rows")
        if time.monotonic() > end:
            raise FetchError(f"{what} after {paging.minutes:g} minutes; ask again to go on")
        page = _Page(folder, offset)
        if not page.is_here:
            page.put(*reads(store, ask(offset, paging.rows), paging))
        pages.append(page)
        progress(offset + page.step)
    with beside(whole) as part, part.open("wb") as file:
        for page in pages:
            file.write(page.triples.read_bytes())
    for page in pages:
        page.remove()
    return whole


class _Page:
    """A page in a folder: its triples, and how many rows they came from."""

    def __init__(self, folder: Path, offset: int) -> None:
        self.offset = offset
        self.triples = folder / f"page-{offset:012}.nt"
        self.counts = self.triples.with_suffix(".json")

    @property
    def is_here(self) -> bool:
        return self.counts.is_file()  # written last

    @property
    def rows(self) -> int:
        return int(read_json(self.counts)["rows"])

    @property
    def step(self) -> int:
        """How far it is to the next page."""
        return int(read_json(self.counts)["step"])

    def put(self, triples: Iterable[ox.Triple], rows: int, step: int) -> None:
        with beside(self.triples) as part:
            part.write_bytes(b"".join(f"{triple} .\n".encode() for triple in triples))
        with beside(self.counts) as part:
            part.write_text(json.dumps({"rows": rows, "step": step}))

    def remove(self) -> None:
        self.counts.unlink()
        self.triples.unlink()


# The triples of a page, the rows that they came from, and how far it is to the next page.
_Read = tuple[list[ox.Triple], int, int]


def _pages(query: str) -> tuple[Callable[[int, int], str], Callable[..., _Read]]:
    """The query for each page, by its first row and its number of rows; and what reads a page."""
    found = PROLOGUE.match(query)
    if found is None:
        raise DataError("the query: expected SELECT with three variables, or CONSTRUCT")
    kind, prologue, body = found["kind"].upper(), found["prologue"], query[found.start("kind") :]
    if kind == "CONSTRUCT" and OWN_PAGES.search(body):
        raise DataError("the query: LIMIT and OFFSET are for pages; leave them out of CONSTRUCT")

    if kind == "SELECT":
        # What is selected is selected from once more: the query's own order and limits hold.
        body = f"SELECT {' '.join(_variables(body))} WHERE {{ {{ {body}\n}} }}"

    def page(offset: int, rows: int) -> str:
        return f"{prologue}{body}\nLIMIT {rows} OFFSET {offset}"

    return page, _selected if kind == "SELECT" else _constructed


def _variables(body: str) -> list[str]:
    """The variables that a query selects, in their order."""
    names = [one or other for one, other in SELECTED.findall(body[: body.find("{")])]
    if len(names) != 3:
        raise DataError(
            f"the query: it selects {' '.join(names) or 'no variables by name'}; "
            "expected three, such as ?head ?relation ?tail"
        )
    return names


def _selected(store: Store, query: str, paging: Paging) -> _Read:
    """Rows of three terms, as triples; a row without one of them says nothing.

    A store may give fewer rows than it was asked for, and have more: the next page begins with the
    row after the last that it gave.
    """
    content, _ = store.ask(query, ROWS, paging)
    triples, rows = list[ox.Triple](), 0
    with _understood(store):
        found = ox.parse_query_results(content, format=ox.QueryResultsFormat.JSON)
        if not isinstance(found, ox.QuerySolutions) or len(found.variables) != 3:
            raise ValueError("not three variables, head, relation and tail")
        for row in found:
            rows += 1
            head, relation, tail = (row[place] for place in range(3))
            named = isinstance(relation, ox.NamedNode) and tail is not None
            if named and isinstance(head, ox.NamedNode | ox.BlankNode):
                triples.append(ox.Triple(head, relation, tail))
    return triples, rows, rows


def _constructed(store: Store, query: str, paging: Paging) -> _Read:
    """Triples; how many rows they came from, only the store knows: it must give all asked for."""
    content, media = store.ask(query, TRIPLES, paging)
    with _understood(store):
        form = ox.RdfFormat.from_media_type(media) or ox.RdfFormat.N_TRIPLES
        found = ox.parse(content, format=form)
        triples = [ox.Triple(quad.subject, quad.predicate, quad.object) for quad in found]
    return triples, len(triples), paging.rows


# New facts out


def send_facts(
    store: Store,
    facts: Iterable[tuple[str, str, str]],
    graph: str = GRAPH,
    paging: Paging = DEFAULTS,
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
        store.tell(f"INSERT DATA {{ GRAPH {into} {{\n{lines}\n}} }}", paging)


@contextmanager
def _understood(store: Store) -> Iterator[None]:
    try:
        yield
    except (SyntaxError, ValueError) as error:
        said = _one_line(str(error).encode())
        raise DataError(f"{store.url}: its answer cannot be read: {said}") from error


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


def _one_line(text: bytes) -> str:
    """What a store says about an error, as far as a person would read it."""
    words = re.sub(r"<[^>]{1,200}>", " ", text.decode(errors="replace"))
    shown = " ".join("".join(sign if sign.isprintable() else " " for sign in words).split())
    return shown[:200] or "no reason given"
