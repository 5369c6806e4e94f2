"""From one Turtle file to accepted facts: none of them contradicts the schema in that file."""

from collections import defaultdict

import pyoxigraph as ox
import pytest

import assent
from assent.core.schema import upwards
from graphs.world import HOME, OTHER, SYMMETRIC, cut, turtle
from sparql_store import serving

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
TRAINING = ["model.dim=32", "train.epochs=20", "train.threads=1"]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on a small cut of the world graph, trained for a moment."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "world.ttl").write_text(turtle(cut(assent.dataset("world"), 12)), encoding="utf-8")
    assent.save(assent.build(folder / "world.ttl"), folder / "benchmark")
    run = assent.train(folder / "benchmark", "complex", out=folder / "run", changes=TRAINING)
    assent.save_decider(assent.tune(run, "global"), folder / "run", run.benchmark)
    return run


@pytest.fixture(scope="module")
def graph(run):
    """The statements of the file, read without assent: predicate -> pairs of names."""
    pairs = defaultdict(set)
    path = run.folder.parent / "world.ttl"
    for quad in ox.parse(path=path, format=ox.RdfFormat.TURTLE):
        if isinstance(quad.subject, ox.NamedNode) and isinstance(quad.object, ox.NamedNode):
            ends = (quad.subject.value.replace(OTHER, HOME), quad.object.value.replace(OTHER, HOME))
            pairs[quad.predicate.value].add(ends)
    return pairs


def facts_of(found):
    return [(fact["head"].replace(OTHER, HOME), fact["relation"], fact["tail"].replace(OTHER, HOME))
            for fact in found if fact["decision"] == "accepted"]  # fmt: skip


def contradictions(facts, graph):
    """How many facts contradict the domains, ranges and functional relations of the file."""
    above = upwards(graph[RDFS + "subClassOf"])
    types = defaultdict(set)
    for entity, kind in graph[RDF + "type"]:
        types[entity] |= {kind, *above.get(kind, ())}
    functional = {name for name, kind in graph[RDF + "type"] if kind == OWL + "FunctionalProperty"}
    ends = [dict(graph[RDFS + "domain"]), dict(graph[RDFS + "range"])]
    answers = defaultdict(set)
    for relation in functional:
        for head, tail in graph[relation]:
            answers[head, relation].add(tail)
    wrong = []
    for head, relation, tail in facts:
        for entity, of in ((head, ends[0]), (tail, ends[1])):
            if relation in of and of[relation] not in types[entity]:
                wrong.append((head, relation, tail))
        if relation in functional and answers[head, relation] - {tail}:
            wrong.append((head, relation, tail))
        answers[head, relation].add(tail)
    return wrong


def test_nothing_of_rdf_is_a_relation_to_predict(run):
    names = run.benchmark.vocabulary
    assert all(name.startswith(HOME) for name in names.relations) and len(names.relations) == 30
    assert not any(name.startswith((RDF, RDFS, OWL)) for name in names.entities)
    kinds = {HOME + kind for kind in ("City", "Country", "Place")}
    assert not kinds & set(names.entities)


def test_names_types_and_schema_travel_with_the_benchmark(run):
    benchmark = run.benchmark
    names = benchmark.vocabulary
    place = names.relations.index(HOME + "capital")
    assert names.relation(place) == "has capital"
    assert "Africa/Cairo" in names.entity_labels or "Europe" in names.entity_labels
    assert not any(label.startswith("http") or "(de)" in label for label in names.entity_labels)
    assert HOME + "Place" in benchmark.types.names
    assert HOME + "capital" in benchmark.schema.subjects("functional")
    assert benchmark.schema == assent.load(run.folder.parent / "benchmark").schema


@pytest.mark.parametrize(
    "options", [{}, {"functional": False, "symmetric": False}, {"precision": 0.002}]
)
def test_no_accepted_fact_contradicts_the_schema_of_its_file(options, run, graph):
    found = assent.complete(run, **options)
    facts = facts_of(found)
    assert len(facts) > 20
    assert contradictions(facts, graph) == []
    together = {*facts, *((h, r, t) for r in graph for h, t in graph[r])}
    for head, relation, tail in facts:
        if relation.removeprefix(HOME) in SYMMETRIC:
            assert (tail, relation, head) in together


def test_what_was_refused_would_have_contradicted_it(run, graph):
    found = assent.complete(run, functional=False)
    refused = found.refused
    assert sum(refused.counts().values()) > 0
    names, accepted = run.benchmark.vocabulary, facts_of(found)
    for (head, relation, tail), reason in zip(
        refused.facts.facts.tolist(), refused.words(), strict=True
    ):
        fact = (names.entities[head], names.relations[relation], names.entities[tail])
        fact = tuple(name.replace(OTHER, HOME) for name in fact)
        assert reason in ("domain", "range", "functional")
        if not relation_is_symmetric(fact[1]):
            assert contradictions([*accepted, fact], graph)[-1:] == [fact]


def relation_is_symmetric(name):
    return name.removeprefix(HOME) in SYMMETRIC


def test_the_command_shows_names_and_lists_what_it_refused(run, tmp_path, say):
    refused = tmp_path / "refused.tsv"
    code, printed, err = say(
        "complete", run.folder, "--out", tmp_path / "new.nt", "--refused", refused,
        "--no-functional",
    )  # fmt: skip
    assert code == 0, err
    assert "refused, because they contradict the stated schema:" in printed
    assert "is a city in" in printed or "has capital" in printed or "is on continent" in printed
    lines = refused.read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == [
        "head", "relation", "tail", "head_name", "relation_name", "tail_name", "decision",
        "probability", "refused_for",
    ]  # fmt: skip
    assert len(lines) > 1


def test_from_a_store_and_back_into_it(tmp_path, monkeypatch, say):
    monkeypatch.setenv("ASSENT_DATA", str(tmp_path / "cache"))
    text = turtle(cut(assent.dataset("world"), 4))
    with serving() as server:
        server.store.load(text.encode(), format=ox.RdfFormat.TURTLE)
        before = len(server.store)
        code, printed, err = say(
            "build", server.url, "--out", tmp_path / "benchmark", "--page", 5000
        )
        assert code == 0, err
        assert "taken for" in printed and "merged into others" in printed
        run = assent.train(
            tmp_path / "benchmark", "complex", out=tmp_path / "run", changes=TRAINING
        )
        assent.save_decider(assent.tune(run, "global"), tmp_path / "run", run.benchmark)
        for _ in range(2):  # the second time changes nothing
            code, printed, err = say(
                "complete", tmp_path / "run", "--out", server.url, "--graph", "urn:new"
            )
            assert code == 0, err
            assert f"accepted: {server.url.removeprefix('sparql+')}, graph urn:new" in printed
            new = list(server.store.quads_for_pattern(None, None, None, ox.NamedNode("urn:new")))
            assert len(new) == len(assent.complete(run).accepted) > 0
            assert len(server.store) == before + len(new)
