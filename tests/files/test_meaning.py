"""RDF statements are taken for what they mean: names, types, schema, the same entity, facts."""

import pyoxigraph as ox
import pytest

from assent.errors import DataError
from assent.files.triples import read
from toy import named_facts

HEADER = """
@prefix e: <http://e.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <https://schema.org/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
FACTS = "e:norway e:capital e:oslo . e:italy e:capital e:rome . e:rome e:near e:oslo .\n"
E = "http://e.org/"


def put(folder, text, name="kb.ttl"):
    path = folder / name
    path.write_text(HEADER + text, encoding="utf-8")
    return path


def short(text):
    return text.replace(E, "")


def facts_in(kb):
    return {tuple(map(short, fact)) for fact in named_facts(kb.facts, kb.vocabulary)}


def labels_in(kb):
    names = kb.vocabulary
    entities = dict(zip(map(short, names.entities), map(short, names.entity_labels), strict=False))
    relations = zip(map(short, names.relations), map(short, names.relation_labels), strict=False)
    return entities | dict(relations)


def types_in(kb):
    types = kb.types
    return {
        short(name): {
            short(types.names[kind])
            for kind in types.entity_types[types.entity_offsets[e] : types.entity_offsets[e + 1]]
        }
        for e, name in enumerate(kb.vocabulary.entities)
    }


def stated(kb):
    return {tuple(map(short, filter(None, row))) for row in kb.schema.statements}


def taken(kb):
    return {short(row.what): (row.statements, row.meaning) for row in kb.source.taken}


ONLY_FACTS = {("norway", "capital", "oslo"), ("italy", "capital", "rome"), ("rome", "near", "oslo")}


def test_nothing_that_rdf_says_about_itself_is_a_relation(tmp_path):
    text = (
        FACTS
        + """
        e:City a owl:Class ; rdfs:subClassOf e:Place . e:capital a owl:FunctionalProperty .
        e:oslo a e:City ; rdfs:label "Oslo" ; rdfs:seeAlso e:page ; owl:differentFrom e:rome .
        <http://e.org/> a owl:Ontology ; owl:imports <http://other.org/> .
    """
    )
    kb = read(put(tmp_path, text))
    assert facts_in(kb) == ONLY_FACTS
    assert taken(kb) == {
        "statements about other relations": (3, "facts of 2 relations"),
        "rdfs:label": (1, "names (en, no language, any)"),
        "declarations of relations and types": (3, "schema"),
        "rdf:type": (1, "types"),
        "rdfs:subClassOf": (1, "types above types"),
        "rdfs:seeAlso": (1, "left out"),
        "owl:differentFrom": (1, "left out"),
        "owl:imports": (1, "left out"),
    }


def test_a_file_with_nothing_but_schema_has_no_facts(tmp_path):
    path = put(tmp_path, "e:oslo a e:City .")
    with pytest.raises(DataError, match=r"kb\.ttl: no fact in it; every statement is a name"):
        read(path)


@pytest.mark.parametrize(
    ("language", "oslo", "rome", "capital"),
    [
        (["en"], "Oslo E", "Rom", "capital"),
        (["de"], "Oslo D", "Rom", "Hauptstadt"),
        (["fr", "de"], "Oslo D", "Rom", "Hauptstadt"),
        (["fr"], "Oslo", "Rom", "capital"),
    ],
)
def test_names_come_in_the_language_wanted_then_without_one_then_in_any(
    language, oslo, rome, capital, tmp_path
):
    text = (
        FACTS
        + """
        e:oslo rdfs:label "Oslo", "Oslo E"@en, "Oslo G"@en-GB, "Oslo D"@de .
        e:rome schema:name "Roma"@it ; skos:prefLabel "Rom"@de .
        e:capital rdfs:label "Hauptstadt"@de , "capital" .
    """
    )
    found = labels_in(read(put(tmp_path, text), language=language))
    assert (found["oslo"], found["rome"], found["capital"]) == (oslo, rome, capital)
    assert found["italy"] == "italy"  # nothing but its IRI


def test_of_two_predicates_the_first_in_the_table_names(tmp_path):
    text = FACTS + 'e:oslo schema:name "c" ; skos:prefLabel "b" ; rdfs:label "a\\n  line" .'
    assert labels_in(read(put(tmp_path, text)))["oslo"] == "a line"
    text = FACTS + 'e:oslo rdfs:label "  " ; <http://schema.org/name> "c" .'
    assert labels_in(read(put(tmp_path, text)))["oslo"] == "c"


def test_types_are_closed_upwards_also_in_circles(tmp_path):
    text = (
        FACTS
        + """
        e:oslo a e:Port . e:rome a e:City, owl:NamedIndividual . e:norway a e:Country .
        e:Port rdfs:subClassOf e:City . e:City rdfs:subClassOf e:Place .
        e:Place rdfs:subClassOf e:City .
    """
    )
    assert types_in(read(put(tmp_path, text))) == {
        "italy": set(),
        "norway": {"Country"},
        "oslo": {"Port", "City", "Place"},
        "rome": {"City", "Place"},
    }


@pytest.mark.parametrize("name", ["e:kind", "http://e.org/kind", "<http://e.org/kind>"])
def test_other_relations_may_give_types(name, tmp_path):
    text = FACTS + "e:oslo e:kind e:City . e:City e:below e:Place ."
    kb = read(put(tmp_path, text), type_relation=[name], subclass_relation=["e:below"])
    assert facts_in(kb) == ONLY_FACTS
    assert types_in(kb)["oslo"] == {"City", "Place"}
    assert taken(kb)["e:kind"] == (1, "types")


def test_wikidata_needs_no_prefixes_declared(tmp_path):
    wdt, wd = "http://www.wikidata.org/prop/direct/", "http://www.wikidata.org/entity/"
    lines = [
        ("Q64", "P17", "Q183"), ("Q64", "P31", "Q515"), ("Q515", "P279", "Q486972"),
    ]  # fmt: skip
    path = tmp_path / "kb.nt"
    path.write_text("".join(f"<{wd}{h}> <{wdt}{r}> <{wd}{t}> .\n" for h, r, t in lines))
    kb = read(path, type_relation=["wdt:P31"], subclass_relation=["wdt:P279"])
    assert kb.vocabulary.relations == (wdt + "P17",)
    assert set(kb.types.names) == {wd + "Q515", wd + "Q486972"}


def test_in_a_tsv_file_types_are_given_by_name_too(tmp_path):
    (tmp_path / "kb.tsv").write_text("a\tin\tb\na\tP31\tcity\ncity\tP279\tplace\n")
    kb = read(tmp_path / "kb.tsv", type_relation=["P31"], subclass_relation=["P279"])
    assert kb.vocabulary.relations == ("in",)
    assert types_in(kb) == {"a": {"city", "place"}, "b": set()}


def test_a_relation_that_is_not_there_is_refused(tmp_path):
    path = put(tmp_path, FACTS)
    with pytest.raises(DataError, match="wdt:P31: no relation of the graph; give the name as"):
        read(path, type_relation=["wdt:P31"])
    with pytest.raises(DataError, match="rdf:type: no relation of the graph"):
        read(path, predict=["rdf:type"])


def test_types_are_predicted_on_request_and_are_types_nonetheless(tmp_path):
    text = FACTS + "e:oslo a e:City . e:capital a owl:ObjectProperty . e:City a owl:Class ."
    kb = read(put(tmp_path, text), predict=["rdf:type"])
    type_ = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
    assert facts_in(kb) == ONLY_FACTS | {("oslo", type_, "City")}
    assert types_in(kb)["oslo"] == {"City"}
    assert (type_, "typeRelation") in stated(kb)
    assert taken(kb)["rdf:type"] == (1, "types; and facts")


def test_labels_are_predicted_only_with_literals(tmp_path):
    path = put(tmp_path, FACTS + 'e:oslo rdfs:label "Oslo"@en .')
    with pytest.raises(DataError, match="all its statements have literals"):
        read(path, predict=["rdfs:label"])
    kb = read(path, predict=["rdfs:label"], keep_literals=True)
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    assert facts_in(kb) == ONLY_FACTS | {("oslo", label, '"Oslo"@en')}
    assert facts_in(read(path, keep_literals=True)) == ONLY_FACTS


def test_the_schema_is_read(tmp_path):
    text = (
        FACTS
        + """
        e:capital a owl:ObjectProperty, owl:FunctionalProperty, owl:InverseFunctionalProperty ;
            rdfs:domain e:Country ; rdfs:range e:City ; owl:inverseOf e:capitalOf ;
            rdfs:subPropertyOf e:has ; owl:equivalentProperty e:seat .
        e:near a owl:SymmetricProperty, owl:TransitiveProperty ; rdfs:domain owl:Thing .
        e:people rdfs:range xsd:integer .
        e:City owl:disjointWith e:Country ; owl:equivalentClass e:Town .
        e:Thing owl:disjointUnionOf ( e:Dead e:Alive ) .
        [] a owl:AllDisjointClasses ; owl:members ( e:x e:y e:z ) .
        [] a owl:AllDisjointProperties ; owl:members ( e:p e:q ) .
    """
    )
    assert stated(read(put(tmp_path, text))) == {
        ("capital", "functional"), ("capital", "inverseFunctional"),
        ("capital", "domain", "Country"), ("capital", "range", "City"),
        ("capital", "inverseOf", "capitalOf"), ("capital", "subPropertyOf", "has"),
        ("capital", "subPropertyOf", "seat"), ("seat", "subPropertyOf", "capital"),
        ("near", "symmetric"), ("near", "transitive"),
        ("City", "disjointWith", "Country"), ("City", "subClassOf", "Town"),
        ("Town", "subClassOf", "City"), ("Alive", "disjointWith", "Dead"),
        ("Alive", "subClassOf", "Thing"), ("Dead", "subClassOf", "Thing"),
        ("x", "disjointWith", "y"), ("x", "disjointWith", "z"), ("y", "disjointWith", "z"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("statements", "domains"),
    [
        ("e:near rdfs:domain e:City .", {"City"}),
        ("e:near rdfs:domain [ owl:unionOf ( e:City e:Country ) ] .", {"City", "Country"}),
        ("e:near schema:domainIncludes e:City, e:Country .", {"City", "Country"}),
        ("e:near rdfs:domain e:City, e:Country .", {"City and Country"}),
        ("e:near rdfs:domain [ owl:intersectionOf ( e:City e:Port ) ] .", {"City and Port"}),
        ("e:near rdfs:domain e:City, e:Port . e:Port rdfs:subClassOf e:City .", {"Port"}),
        (
            "e:near rdfs:domain e:Port, [ owl:unionOf ( e:City e:Country ) ] . "
            "e:Port rdfs:subClassOf e:City .",
            {"Port"},
        ),
        ("e:near rdfs:domain [ owl:onProperty e:x ; owl:someValuesFrom e:y ] .", set()),
        ("e:near rdfs:domain [ owl:unionOf ( e:City [ owl:complementOf e:x ] ) ] .", set()),
    ],
)  # fmt: skip
def test_several_domains_hold_together_and_of_a_union_one_is_enough(statements, domains, tmp_path):
    kb = read(put(tmp_path, FACTS + statements))
    assert {row[2] for row in stated(kb) if row[1] == "domain"} == domains


def test_who_has_both_types_has_their_intersection(tmp_path):
    text = (
        FACTS
        + """
        e:near rdfs:domain e:City, e:Wet . e:Port rdfs:subClassOf e:City .
        e:oslo a e:Port, e:Wet . e:rome a e:City .
    """
    )
    types = types_in(read(put(tmp_path, text)))
    both = "City and Wet"
    assert types["oslo"] == {"Port", "City", "Wet", both} and types["rome"] == {"City"}


def test_the_same_entity_under_two_names_is_one(tmp_path):
    text = (
        FACTS
        + """
        e:oslo owl:sameAs <http://x/Q1> . <http://x/Q1> owl:sameAs <http://y/2> .
        <http://x/Q1> e:near e:bergen ; a e:City . <http://y/2> rdfs:label "Oslo" .
        e:oslo e:near e:lima .
    """
    )
    path = put(tmp_path, text)
    kb = read(path)
    assert facts_in(kb) == ONLY_FACTS | {("oslo", "near", "bergen"), ("oslo", "near", "lima")}
    assert types_in(kb)["oslo"] == {"City"} and labels_in(kb)["oslo"] == "Oslo"
    assert taken(kb)["owl:sameAs"] == (2, "one entity: 1 merged into others")
    apart = read(path, keep_same_as=True)
    assert ("http://x/Q1", "near", "bergen") in facts_in(apart)
    assert taken(apart)["owl:sameAs"] == (2, "entities kept apart")
    asked = read(path, predict=["owl:sameAs"])
    assert "http://www.w3.org/2002/07/owl#sameAs" in asked.vocabulary.relations


def test_a_kept_blank_node_has_types(tmp_path):
    path = put(tmp_path, FACTS + "_:x e:near e:oslo ; a e:City .")
    assert types_in(read(path, keep_blank_nodes=True))["_:n1"] == {"City"}
    assert dict(read(path).source.left_out) == {"blank node": 2}


def test_what_the_splits_of_a_folder_say_is_said_of_all(tmp_path):
    put(tmp_path, FACTS + "e:capital rdfs:domain [ owl:unionOf ( e:A e:B ) ] .", "train.ttl")
    put(tmp_path, 'e:oslo e:near e:lima ; a e:A ; rdfs:label "Oslo" .', "test.ttl")
    kb = read(tmp_path)
    assert types_in(kb)["oslo"] == {"A"} and labels_in(kb)["oslo"] == "Oslo"
    assert {row[2] for row in stated(kb) if row[1] == "domain"} == {"A", "B"}
    assert len(kb.facts) == 4 and kb.has_splits


def test_a_schema_in_a_file_of_its_own(tmp_path):
    (tmp_path / "kb.tsv").write_text(f"{E}norway\t{E}capital\t{E}oslo\n")
    ontology = put(
        tmp_path,
        'e:capital rdfs:range e:City ; a owl:FunctionalProperty ; rdfs:label "c" . '
        "e:oslo a e:Port . e:Port rdfs:subClassOf e:City .",
        "ontology.ttl",
    )
    kb = read(tmp_path / "kb.tsv", schema=ontology)
    assert ("capital", "functional") in stated(kb)
    assert types_in(kb)["oslo"] == {"Port", "City"} and labels_in(kb)["capital"] == "c"


FORMATS = {
    ".nt": ox.RdfFormat.N_TRIPLES,
    ".ttl": ox.RdfFormat.TURTLE,
    ".nq": ox.RdfFormat.N_QUADS,
    ".trig": ox.RdfFormat.TRIG,
    ".rdf": ox.RdfFormat.RDF_XML,
    ".owl": ox.RdfFormat.RDF_XML,
    ".jsonld": ox.RdfFormat.JSON_LD,
}


@pytest.mark.parametrize("suffix", FORMATS)
def test_every_format_says_the_same(suffix, tmp_path):
    text = (
        FACTS + 'e:oslo a e:City ; rdfs:label "Oslo"@en ; e:people 7 . e:near rdfs:domain e:City .'
    )
    expected = read(put(tmp_path, text))
    form = FORMATS[suffix]
    graph = ox.NamedNode("http://e.org/graph") if form.supports_datasets else ox.DefaultGraph()
    quads = [
        ox.Quad(quad.subject, quad.predicate, quad.object, graph)
        for quad in ox.parse((HEADER + text).encode(), format=ox.RdfFormat.TURTLE)
    ]
    path = tmp_path / f"again{suffix}"
    ox.serialize(quads if form.supports_datasets else (q.triple for q in quads), path, form)
    kb = read(path)
    assert (kb.facts == expected.facts).all()
    assert kb.vocabulary == expected.vocabulary and kb.schema == expected.schema
    assert types_in(kb) == types_in(expected)
    assert dict(kb.source.left_out) == {"literal": 1}


def test_a_context_on_another_machine_is_refused_in_one_line(tmp_path):
    path = tmp_path / "kb.jsonld"
    path.write_text('{"@context": "https://schema.org/", "@id": "http://a", "name": "x"}')
    with pytest.raises(DataError, match=r"kb\.jsonld: .*remote contexts; expected JSON-LD"):
        read(path)


def test_a_relation_to_predict_must_be_there_in_any_format(tmp_path):
    path = tmp_path / "graph.tsv"
    path.write_text("oslo\tin\tnorway\n")
    assert len(read(path, predict=["in"]).facts) == 1
    with pytest.raises(DataError, match="nowhere: no relation of the graph"):
        read(path, predict=["nowhere"])
