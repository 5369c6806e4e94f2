"""Turtle and TriG load into a store, and say there where each fact comes from."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pyoxigraph as ox
import pytest

import assent
from assent.core.arrays import frozen
from assent.core.new_facts import Evidence, NewFacts, Reason
from assent.core.vocabulary import Vocabulary
from assent.files.facts import write_facts
from assent.files.provenance import PREFIXES, About

HOME = "http://example.org/"
NAMES = Vocabulary((f"{HOME}ada", f"{HOME}rome", 'a "name"', '"5"'), (f"{HOME}lives_in", "knows"))
ABOUT = About("runs/one", "complex", datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC), rdf_terms=True)
START = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in PREFIXES.items())


@pytest.fixture
def facts():
    """Two accepted facts, of which one has odd names, and one to review."""
    count = 3
    said = Reason("head", 0.5, 3, 4, 'three of four "say" so\nand more')
    against = Reason("rival", 0.4, 2, 4, "more speaks for bari")
    values = frozen([0.9, 0.8, 0.25], np.float64)
    return NewFacts(
        NAMES,
        frozen([[0, 0, 1], [2, 1, 3], [1, 1, 0]]),
        frozen([True, True, False], np.bool_),
        values,
        frozen(values, np.float32),
        values,
        values,
        frozen(np.ones(count)),
        Evidence.of([[said], [], [against]]),
    )


def loaded(path, form):
    store = ox.Store()
    store.load(path=str(path), format=form)
    return store


def rows(store, query):
    return [
        tuple(term.value if term else None for term in row) for row in store.query(START + query)
    ]


DESCRIBED = """
SELECT ?head ?relation ?tail ?probability ?decision WHERE {
  ?fact rdf:subject ?head ; rdf:predicate ?relation ; rdf:object ?tail ;
    assent:probability ?probability ; assent:decision ?decision ;
    prov:wasGeneratedBy ?activity .
  ?activity a prov:Activity ; assent:model "complex" ; assent:run "runs/one" ;
    prov:endedAtTime "2026-05-04T03:02:01+00:00"^^xsd:dateTime ;
    prov:wasAssociatedWith [ rdfs:label ?who ] .
  FILTER(STRSTARTS(?who, "assent "))
} ORDER BY DESC(?probability)"""


@pytest.mark.parametrize(
    ("suffix", "form"), [(".ttl", ox.RdfFormat.TURTLE), (".trig", ox.RdfFormat.TRIG)]
)
def test_a_store_finds_each_fact_with_its_probability_and_its_completion(
    facts, tmp_path, suffix, form
):
    write_facts(path := tmp_path / f"new{suffix}", facts, ABOUT)
    found = rows(loaded(path, form), DESCRIBED)
    assert [(float(sure), decision) for *_, sure, decision in found] == [
        (0.9, "accepted"), (0.8, "accepted"), (0.25, "review")
    ]  # fmt: skip
    assert found[0][:3] == (f"{HOME}ada", f"{HOME}lives_in", f"{HOME}rome")
    assert found[1][:3] == ("urn:assent:a%20%22name%22", "urn:assent:knows", "5")


def test_only_accepted_facts_are_stated(facts, tmp_path):
    write_facts(path := tmp_path / "new.ttl", facts, ABOUT)
    assert rows(
        loaded(path, ox.RdfFormat.TURTLE), "SELECT ?t WHERE { ?h <urn:assent:knows> ?t }"
    ) == [("5",)]
    write_facts(plain := tmp_path / "new.nt", facts.take(facts.accepted), ABOUT)
    statements = {str(quad) for quad in loaded(plain, ox.RdfFormat.N_TRIPLES)}
    assert statements < {str(quad) for quad in loaded(path, ox.RdfFormat.TURTLE)}


def test_a_trig_file_has_the_accepted_facts_in_a_graph_of_their_own(facts, tmp_path):
    for name, about in (("own", ABOUT), ("given", ABOUT._replace(graph="urn:mine"))):
        write_facts(path := tmp_path / f"{name}.trig", facts, about)
        store = loaded(path, ox.RdfFormat.TRIG)
        (graph,) = store.named_graphs()
        assert len(list(store.quads_for_pattern(None, None, None, graph))) == 2
        assert (graph.value == "urn:mine") == (name == "given")
        by = f"SELECT ?model WHERE {{ {graph} prov:wasGeneratedBy [ assent:model ?model ] }}"
        assert rows(store, by) == [("complex",)]


def test_evidence_is_kept_letter_by_letter(facts, tmp_path):
    write_facts(path := tmp_path / "new.ttl", facts, ABOUT)
    store = loaded(path, ox.RdfFormat.TURTLE)
    assert rows(store, "SELECT ?e WHERE { ?f assent:evidence ?e }") == [
        ('three of four "say" so\nand more',)
    ]
    assert rows(store, "SELECT ?e WHERE { ?f assent:against ?e }") == [("more speaks for bari",)]


@pytest.mark.parametrize(
    ("suffix", "form"), [(".ttl", ox.RdfFormat.TURTLE), (".trig", ox.RdfFormat.TRIG)]
)
def test_triple_terms_say_the_same(facts, tmp_path, suffix, form):
    write_facts(path := tmp_path / f"new{suffix}", facts, ABOUT._replace(triple_terms=True))
    said = {
        (str(quad.object), probability.object.value)
        for store in [loaded(path, form)]
        for quad in store.quads_for_pattern(None, ox.NamedNode(PREFIXES["rdf"] + "reifies"), None)
        for probability in store.quads_for_pattern(
            quad.subject, ox.NamedNode(PREFIXES["assent"] + "probability"), None
        )
    }
    assert sorted(sure for _, sure in said) == ["0.25", "0.8", "0.9"]
    assert any(f"<{HOME}ada> <{HOME}lives_in> <{HOME}rome>" in triple for triple, _ in said)


@pytest.mark.parametrize("triple_terms", [False, True])
@pytest.mark.parametrize(
    ("suffix", "form"), [(".ttl", ox.RdfFormat.TURTLE), (".trig", ox.RdfFormat.TRIG)]
)
def test_people_are_agents_of_the_completion_and_of_what_they_called_right(
    facts, tmp_path, suffix, form, triple_terms
):
    ada = (NAMES.entities[0], NAMES.relations[0], NAMES.entities[1])
    about = ABOUT._replace(
        triple_terms=triple_terms, reviewers=("ann", "Bén"), confirmed_by={ada: ("Bén",)}
    )
    write_facts(path := tmp_path / f"new{suffix}", facts, about)
    store = loaded(path, form)
    who = """SELECT ?name WHERE { [] a prov:Activity ; prov:wasAssociatedWith ?who .
        ?who a prov:Person ; rdfs:label ?name } ORDER BY ?name"""
    assert rows(store, who) == [("Bén",), ("ann",)]
    called_right = """SELECT ?probability ?name WHERE {
        [] prov:wasAttributedTo [ rdfs:label ?name ] ; assent:probability ?probability }"""
    assert rows(store, called_right) == [("0.9", "Bén")]
    read = assent.read(path).vocabulary  # people are no entities of the graph
    assert not {"ann", "Bén"} & {*read.entities, *read.entity_labels}
    assert {*read.relations} <= {*NAMES.relations}


def test_what_was_written_is_read_as_a_graph_of_the_accepted_facts(facts, tmp_path):
    plain = replace(facts, facts=frozen([[0, 0, 1], [2, 1, 0], [1, 1, 0]]))
    for suffix in (".ttl", ".trig"):
        write_facts(path := tmp_path / f"new{suffix}", plain, ABOUT)
        again = assent.read(path)
        names = again.vocabulary
        assert {
            (names.entities[h], names.relations[r], names.entities[t]) for h, r, t in again.facts
        } == {(NAMES.entities[0], NAMES.relations[0], NAMES.entities[1]),
              (NAMES.entities[2], NAMES.relations[1], NAMES.entities[0])}  # fmt: skip
