"""The facts of a SPARQL store, asked for page by page; those that are here stay here."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyoxigraph as ox

from assent.errors import DataError, FetchError
from assent.files.atomic import beside
from assent.files.sparql import DEFAULTS, Paging, Store, one_line
from assent.files.text import read_json

TRIPLES, ROWS = "application/n-triples, text/turtle", "application/sparql-results+json"
EVERYTHING = "SELECT ?head ?relation ?tail WHERE { ?head ?relation ?tail }"

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


@contextmanager
def _understood(store: Store) -> Iterator[None]:
    try:
        yield
    except (SyntaxError, ValueError) as error:
        said = one_line(str(error).encode())
        raise DataError(f"{store.url}: its answer cannot be read: {said}") from error
