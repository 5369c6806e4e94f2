"""A SPARQL store gives its facts page by page, and takes new facts in batches."""

from dataclasses import replace

import pyoxigraph as ox
import pytest

import assent
from assent.errors import AssentError, ConfigError, DataError, FetchError
from assent.files import sparql, sparql_pages
from assent.files.sparql import Paging, Store, is_store, send_facts
from assent.files.sparql_pages import EVERYTHING, fetch_graph
from assent.files.triples import read
from sparql_store import serving
from toy import named_facts

E = "http://e.org/"
SMALL = Paging(rows=3, tries=2, pause=0.0, timeout=5.0)


@pytest.fixture
def store(monkeypatch, tmp_path):
    monkeypatch.setenv("ASSENT_DATA", str(tmp_path / "cache"))
    with serving() as server:
        for number in range(10):
            head, tail = (ox.NamedNode(f"{E}n{n}") for n in (number, number + 1))
            graph = ox.NamedNode(f"{E}graph") if number % 2 else ox.DefaultGraph()
            server.store.add(ox.Quad(head, ox.NamedNode(f"{E}next"), tail, graph))
        label = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
        server.store.add(
            ox.Quad(ox.NamedNode(f"{E}n0"), label, ox.Literal("Zero\n!", language="en"))
        )
        yield server


def chain(count=10):
    return {(f"{E}n{n}", f"{E}next", f"{E}n{n + 1}") for n in range(count)}


def facts_of(kb):
    return named_facts(kb.facts, kb.vocabulary)


def test_a_store_is_told_from_a_file():
    assert is_store("sparql+http://localhost:8890/sparql") and is_store("sparql+https://e.org/q")
    assert (
        not is_store("kb.nt") and not is_store("http://e.org/") and not is_store("sparql+http://")
    )


def test_the_password_is_kept_apart_from_the_address():
    store = Store.of("sparql+https://me:a%3Ab@e.org:81/sparql?default-graph-uri=x")
    assert store == Store("https://e.org:81/sparql?default-graph-uri=x", "me", "a:b")


def test_all_facts_come_page_by_page(store):
    kb = assent.read(store.url, paging=SMALL)
    assert facts_of(kb) == chain()
    assert kb.vocabulary.entity(kb.vocabulary.entities.index(f"{E}n0")) == "Zero !"
    assert kb.source.name == store.url.removeprefix("sparql+")
    assert len(store.queries) == 5  # 3 + 3 + 3 + 2, and one without rows
    assert "LIMIT 3 OFFSET 9" in store.queries[3]
    again = assent.read(store.url, paging=SMALL)
    assert facts_of(again) == chain() and len(store.queries) == 5  # nothing is asked again


def test_a_store_that_gives_fewer_rows_than_asked_loses_none(store):
    store.most_rows = 2
    assert facts_of(assent.read(store.url, paging=replace(SMALL, rows=1000))) == chain()


@pytest.mark.parametrize(
    "query",
    [
        f"PREFIX e: <{E}>\n# all\nSELECT ?a ?b ?c WHERE {{ ?a ?b ?c . FILTER(?b = e:next) }}",
        f"select distinct ?z (<{E}next> AS ?b) ?a {{ ?z <{E}next> ?a }} ORDER BY ?a",
        f'SELECT ?z (IRI(CONCAT("{E}", ("next"))) AS ?b) ?a WHERE {{ ?z <{E}next> ?a }} LIMIT 99',
        f"BASE <{E}> CONSTRUCT {{ ?a <next> ?c }} WHERE {{ ?a <next> ?c }}",
    ],
)
def test_a_query_says_what_is_read(query, store):
    assert facts_of(assent.read(store.url, query=query, paging=SMALL)) == chain()


def test_a_limit_of_the_query_itself_holds(store):
    query = f"SELECT ?a ?b ?c WHERE {{ ?a ?b ?c . FILTER(?b = <{E}next>) }} ORDER BY ?a LIMIT 4"
    assert facts_of(assent.read(store.url, query=query, paging=SMALL)) == chain(4)


@pytest.mark.parametrize(
    ("query", "wrong"),
    [
        ("ASK { ?a ?b ?c }", "expected SELECT with three variables, or CONSTRUCT"),
        ("SELECT * { ?a ?b ?c }", "selects no variables by name; expected three"),
        ("SELECT ?a ?b { ?a ?b ?c }", r"selects \?a \?b; expected three"),
        ("CONSTRUCT { ?a ?b ?c } WHERE { ?a ?b ?c } LIMIT 5", "LIMIT and OFFSET are for pages"),
    ],
)
def test_a_query_that_cannot_be_paged_is_refused(query, wrong, store):
    with pytest.raises(DataError, match=wrong):
        assent.read(store.url, query=query)
    assert store.queries == []


def test_what_the_store_says_about_a_wrong_query_is_shown_in_one_line(store):
    with pytest.raises(FetchError, match=r"/sparql: HTTP 400 Bad Request: Syntax error: ") as error:
        assent.read(store.url, query="SELECT ?a ?b ?c WHERE { nonsense }")
    assert "\n" not in str(error.value)


def test_a_query_belongs_to_a_store(tmp_path):
    (tmp_path / "kb.tsv").write_text("a\tin\tb\n")
    with pytest.raises(ConfigError, match="a query is for a SPARQL store"):
        assent.read(tmp_path / "kb.tsv", query=EVERYTHING)


def test_a_store_that_is_busy_is_asked_again(store):
    store.refusals = [503]
    assert facts_of(assent.read(store.url, paging=SMALL)) == chain()


def test_what_is_here_when_the_store_fails_is_not_asked_for_again(store, tmp_path):
    at = Store.of(store.url)

    def fail_after_two(rows):
        if rows == 6:
            store.refusals = [500, 500]

    with pytest.raises(FetchError, match=r"HTTP 500 .*: not now; gave up after 2 tries"):
        fetch_graph(at, EVERYTHING, tmp_path, SMALL, fail_after_two)
    asked = len(store.queries)
    path = fetch_graph(at, EVERYTHING, tmp_path, SMALL)
    assert facts_of(read(path)) == chain()
    assert len(store.queries) == asked + 3  # the two pages that were missing, and the end
    assert sorted(file.name for file in path.parent.iterdir()) == ["graph.nt", "query.json"]


def test_rows_bytes_and_minutes_are_bounded(store, tmp_path):
    at = Store.of(store.url)
    with pytest.raises(FetchError, match="6 rows are here, the most that may be"):
        fetch_graph(at, EVERYTHING, tmp_path, replace(SMALL, most_rows=6))
    with pytest.raises(FetchError, match="an answer of more than 10 bytes; ask for smaller pages"):
        fetch_graph(at, EVERYTHING + " ", tmp_path, replace(SMALL, most_bytes=10))
    with pytest.raises(FetchError, match="rows are here after 1e-09 minutes; ask again to go on"):
        fetch_graph(at, EVERYTHING + "  ", tmp_path, replace(SMALL, minutes=1e-9))
    with pytest.raises(ConfigError, match="rows = 0; choose more than 0"):
        Paging(rows=0)


def test_nobody_at_home(tmp_path):
    with serving() as server:
        url = server.url
    with pytest.raises(FetchError, match=r"http://127.0.0.1:\d+/sparql: .*refused; gave up"):
        fetch_graph(Store.of(url), EVERYTHING, tmp_path, SMALL)


def test_an_answer_that_is_no_answer_is_refused(store, tmp_path, monkeypatch):
    monkeypatch.setattr(sparql_pages, "ROWS", "text/html")
    monkeypatch.setattr("sparql_store._shortened", lambda found, most: b"<html>welcome</html>")
    with pytest.raises(DataError, match="its answer cannot be read"):
        fetch_graph(Store.of(store.url), EVERYTHING, tmp_path, SMALL)


def test_a_store_that_asks_who_asks_is_told(store, tmp_path):
    store.login = "me:secret"
    with pytest.raises(FetchError, match="HTTP 401") as error:
        fetch_graph(Store.of(store.url), EVERYTHING, tmp_path, SMALL)
    known = Store.of(store.url.replace("127", "me:secret@127", 1))
    assert facts_of(read(fetch_graph(known, EVERYTHING, tmp_path, SMALL))) == chain()
    assert "secret" not in str(error.value)


def test_new_facts_go_into_a_graph_of_their_own_once(store, monkeypatch):
    monkeypatch.setattr(sparql, "BATCH", 2)
    facts = [
        (f"{E}a", f"{E}in", f"{E}b"),
        ("new york", "in", "usa"),
        (f"{E}a", f"{E}name", '"A \\"quoted\\""@en'),
        ("_:x", f"{E}in", f"{E}b"),
        ('"no literal" .> } DROP ALL', f"{E}in", f"{E}b"),
    ]
    before = len(store.store)
    for _ in range(2):
        send_facts(Store.of(store.url), facts, f"{E}new", rdf_terms=True)
    assert len(store.updates) == 6
    quads = list(store.store.quads_for_pattern(None, None, None, ox.NamedNode(f"{E}new")))
    assert len(quads) == 5 and len(store.store) == before + 5
    shown = {tuple(map(str, (quad.subject, quad.object))) for quad in quads}
    assert (f"<{E}a>", '"A \\"quoted\\""@en') in shown
    assert ("<urn:assent:new%20york>", "<urn:assent:usa>") in shown
    assert all("DROP" not in tail for _, tail in shown)


def test_a_graph_that_is_no_iri_is_refused(store):
    with pytest.raises(ConfigError, match="graph 'my graph'; choose an IRI"):
        send_facts(Store.of(store.url), [], "my graph")
    assert issubclass(ConfigError, AssentError)
