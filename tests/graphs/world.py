"""The world graph as one Turtle file, as an owner of a graph would have it.

    PYTHONPATH=src python tests/graphs/world.py world.ttl [--countries 40] [--hide 0.15]

With --hide, this share of the facts, drawn at random, goes to `world.hidden.tsv` instead.

Labels in two languages, rdf:type, a schema in RDFS and OWL (domains, ranges, types above types,
disjoint types, functional, symmetric and inverse relations), literals, and owl:sameAs.
"""

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

import assent
from assent.core.facts import KnowledgeBase

HOME, OTHER = "http://world.example/", "http://other.example/"
PREFIXES = f"""\
@prefix : <{HOME}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
ABOVE = {
    "Place": ("City", "Country", "Continent", "Region"),
    "Time": ("Calendar", "Clock", "Holiday", "Metazone", "Offset", "Timezone", "Weekday"),
    "Speech": ("Language", "Plural", "Script"),
}
SYMMETRIC = ("borders", "near_city")
# Relations without facts: a wider one that has a domain of its own, and an inverse one.
WIDER = ("official_language", "regional_language", "minority_language", "widely_spoken_language")
EVERY = 25  # entity of which some facts stand under a second name


def turtle(kb: KnowledgeBase) -> str:
    """The graph, its names, its types and its schema."""
    names, types = kb.vocabulary, kb.types
    iris = [_iri(name) for name in names.entities]
    lines = [PREFIXES, *_schema(kb)]
    for place, iri in enumerate(iris):
        kind = types.names[types.entity_types[types.entity_offsets[place]]].capitalize()
        label = _text(names.entity(place))
        german = _text(f"{names.entity(place)} (de)")
        lines.append(
            f"<{iri}> a :{kind} ; rdfs:label {label}@en , {german}@de ; "
            f":code {_text(names.entities[place])} ; :number {place} ."
        )
    for place in range(0, len(iris), EVERY):
        lines.append(f"<{iris[place]}> owl:sameAs <{_second(iris[place])}> .")
    for number, (head, relation, tail) in enumerate(kb.facts.tolist()):
        ends = [iris[head], iris[tail]]
        if number % 3 == 0:  # some facts speak of an entity under its second name
            ends = [_second(iris[e]) if e % EVERY == 0 else iris[e] for e in (head, tail)]
        lines.append(f"<{ends[0]}> :{names.relations[relation]} <{ends[1]}> .")
    return "\n".join(lines) + "\n"


def named(kb: KnowledgeBase, mask: NDArray[np.bool_]) -> list[tuple[str, str, str]]:
    """Some of the facts, as the file names them."""
    names = kb.vocabulary
    return [
        (_iri(names.entities[head]), HOME + names.relations[relation], _iri(names.entities[tail]))
        for head, relation, tail in kb.facts[mask].tolist()
    ]


def cut(kb: KnowledgeBase, countries: int) -> KnowledgeBase:
    """The facts about some countries, their cities, and what these have to do with."""
    names = kb.vocabulary.entities
    every = [place for place, name in enumerate(names) if name.startswith("country:")]
    times = Counter(kb.facts[:, [0, 2]].ravel().tolist())
    chosen = set(sorted(every, key=lambda place: (-times[place], place))[:countries])
    located = kb.facts[kb.facts[:, 1] == kb.vocabulary.relations.index("city_in_country")]
    cities = {head for head, _, tail in located.tolist() if tail in chosen}
    kept = np.array([_inside(place, names, chosen, cities) for place in range(len(names))])
    inside = kept[kb.facts[:, 0]] & kept[kb.facts[:, 2]]
    facts, splits = kb.facts[inside], kb.splits[inside]
    used = np.unique(facts[:, [0, 2]]).astype(np.int32)
    numbers = np.full(len(names), -1, np.int32)
    numbers[used] = np.arange(len(used))
    facts = np.stack([numbers[facts[:, 0]], facts[:, 1], numbers[facts[:, 2]]], axis=1)
    made = KnowledgeBase.of_ids(
        kb.vocabulary.with_entities(used),
        facts.astype(np.int32),
        splits,
        kb.source,
        kb.types.with_entities(used),
    )
    return replace(made, schema=kb.schema)


def _inside(place: int, names: tuple[str, ...], chosen: set[int], cities: set[int]) -> bool:
    if names[place].startswith("country:"):
        return place in chosen
    return place in cities if names[place].startswith("city:") else True


def _schema(kb: KnowledgeBase) -> list[str]:
    names, types = kb.vocabulary, kb.types
    kinds = [name.capitalize() for name in types.names]
    lines = [f":{kind} a owl:Class ; rdfs:label {_text(kind)}@en ." for kind in (*kinds, *ABOVE)]
    for high, lows in ABOVE.items():
        lines += [f":{low} rdfs:subClassOf :{high} ." for low in lows]
    several = " ".join(f":{kind}" for kind in kinds)
    lines.append(f"[] a owl:AllDisjointClasses ; owl:members ( {several} ) .")
    stated, functional = kb.schema.statements, _functional()
    for place, relation in enumerate(names.relations):
        label = _text(names.relation(place))
        german = _text(f"{names.relation(place)} (de)")
        lines.append(f":{relation} a owl:ObjectProperty ; rdfs:label {label}@en , {german}@de .")
        mine = sorted(row for row in stated if row.subject == relation)
        lines += [f":{relation} rdfs:{row.property} :{row.object.capitalize()} ." for row in mine]
        if relation in functional:
            lines.append(f":{relation} a owl:FunctionalProperty .")
        if relation in SYMMETRIC:
            lines.append(f":{relation} a owl:SymmetricProperty .")
        if relation in WIDER:
            lines.append(f":{relation} rdfs:subPropertyOf :language .")
    lines += [
        ":language rdfs:domain [ owl:unionOf ( :Country :Region ) ] .",
        ":country_of_city owl:inverseOf :city_in_country ; rdfs:domain :Country .",
        ":code a owl:DatatypeProperty ; rdfs:range xsd:string .",
        ":number a owl:DatatypeProperty ; rdfs:range xsd:integer .",
    ]
    return lines


def _functional() -> set[str]:
    """The relations that have one tail for each head in the whole graph."""
    kb = assent.dataset("world")
    heads = [kb.facts[kb.facts[:, 1] == r, 0] for r in range(kb.vocabulary.num_relations)]
    pairs = zip(kb.vocabulary.relations, heads, strict=True)
    return {name for name, mine in pairs if len(np.unique(mine)) == len(mine)}


def _iri(name: str) -> str:
    kind, _, rest = name.partition(":")
    return f"{HOME}{kind}/{quote(rest, safe='')}"


def _second(iri: str) -> str:
    return iri.replace(HOME, OTHER)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--countries", type=int, help="how many countries, instead of all")
    parser.add_argument("--hide", type=float, default=0.0, help="share of the facts to leave out")
    parser.add_argument("--seed", type=int, default=0, help="which facts these are")
    wanted = parser.parse_args()
    kb = assent.dataset("world")
    kb = kb if wanted.countries is None else cut(kb, wanted.countries)
    hidden = np.random.default_rng(wanted.seed).random(len(kb.facts)) < wanted.hide
    shown = replace(kb, facts=kb.facts[~hidden], splits=kb.splits[~hidden])
    wanted.out.write_text(turtle(shown), encoding="utf-8")
    if hidden.any():
        lines = ["\t".join(fact) + "\n" for fact in named(kb, hidden)]
        wanted.out.with_suffix(".hidden.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
