"""What the statements of RDFS, OWL and schema.org say about relations and types."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from assent.core.schema import Schema, Statement, upwards
from assent.errors import DataError
from assent.files.formats import Triple

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
XSD = "http://www.w3.org/2001/XMLSchema#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SCHEMA_ORG = ("http://schema.org/", "https://schema.org/")
ABOUT_ITSELF = (RDF, RDFS, OWL)  # what RDF says about itself: no relation of the graph is in these
NO_TYPES = (*ABOUT_ITSELF, XSD)  # owl:Thing, xsd:string: nothing can be told by them

ENDS = {
    RDFS + "domain": "domain",
    RDFS + "range": "range",
}
ANY_OF = {  # several statements: one of the types is enough
    home + word: end
    for home in SCHEMA_ORG
    for word, end in (("domainIncludes", "domain"), ("rangeIncludes", "range"))
}
BETWEEN_RELATIONS = {
    OWL + "inverseOf": "inverseOf",
    RDFS + "subPropertyOf": "subPropertyOf",
    **{home + "inverseOf": "inverseOf" for home in SCHEMA_ORG},
}
KINDS = {
    OWL + "FunctionalProperty": "functional",
    OWL + "InverseFunctionalProperty": "inverseFunctional",
    OWL + "SymmetricProperty": "symmetric",
    OWL + "TransitiveProperty": "transitive",
}
ALL_DISJOINT = OWL + "AllDisjointClasses"
SUBCLASS = RDFS + "subClassOf"
OTHERS = (
    OWL + "equivalentProperty",
    OWL + "equivalentClass",
    OWL + "disjointWith",
    OWL + "disjointUnionOf",
    OWL + "members",
)
# Parts of descriptions that the statements above point to.
PARTS = (RDF + "first", RDF + "rest", OWL + "unionOf", OWL + "intersectionOf")
UNDERSTOOD = (*ENDS, *ANY_OF, *BETWEEN_RELATIONS, SUBCLASS, *OTHERS, *PARTS)

MOST_COMBINATIONS = 1_000  # of types, where a relation has several domains that are unions

Choice = frozenset[str]  # types that an entity must have all of


class Ontology(NamedTuple):
    """A schema, and the types of it that are the intersection of other types."""

    schema: Schema
    intersections: dict[str, tuple[str, ...]]  # name -> the types that an entity has all of


def ontology_of(triples: Iterable[Triple], subclass: Sequence[str] = (SUBCLASS,)) -> Ontology:
    """The schema that these triples state; `_:...` are blank nodes, each with one meaning.

    A relation with several domains has heads of all of them, as RDFS has it: the types are joined
    to one, `A and B`. Of a union, and of schema.org's domainIncludes, one type is enough. What is
    described in another way, by a restriction for example, is passed over.
    """
    graph = _Graph(triples)
    found = set(_plain(graph, subclass))
    above = upwards((row.subject, row.object) for row in found if row.property == "subClassOf")
    intersections: dict[str, tuple[str, ...]] = {}
    for (relation, end), unions in _ends(graph).items():
        for choice in _choices(unions, above, f"{relation} {end}"):
            parts = tuple(sorted(choice))
            name = " and ".join(parts)
            found.add(Statement(relation, end, name))
            if len(parts) > 1:
                intersections[name] = parts
                found |= {Statement(name, "subClassOf", part) for part in parts}
    return Ontology(Schema(frozenset(found)), intersections)


class _Graph:
    """Triples by predicate, and what the blank nodes among their ends describe."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self.pairs: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for head, relation, tail in triples:
            self.pairs[relation].append((head, tail))
        self.parts = {name: dict(self.pairs[name]) for name in PARTS}

    def named(self, *predicates: str) -> Iterator[tuple[str, str]]:
        """The ends of triples between two names of the graph."""
        for predicate in predicates:
            for head, tail in self.pairs[predicate]:
                if _is_name(head) and _is_name(tail) and head != tail:
                    yield head, tail

    def items(self, node: str | None) -> list[str]:
        """The items of a list; one that leads back into itself ends there."""
        firsts, rests = self.parts[RDF + "first"], self.parts[RDF + "rest"]
        items, seen = [], set[str]()
        while node in firsts and node not in seen:
            seen.add(node)
            items.append(firsts[node])
            node = rests.get(node)
        return items

    def union(self, node: str, deeper: int = 8) -> set[Choice] | None:
        """The ways to be what this node describes; None: nothing is said, or not understood."""
        if not node.startswith("_:"):
            return None if node.startswith(NO_TYPES) else {frozenset([node])}
        if not deeper:
            return None
        if (several := self.parts[OWL + "unionOf"].get(node)) is not None:
            ways = [self.union(item, deeper - 1) for item in self.items(several)]
            if not ways or any(way is None for way in ways):
                return None
            return {choice for way in ways if way for choice in way}
        if (several := self.parts[OWL + "intersectionOf"].get(node)) is not None:
            names = [item for item in self.items(several) if _is_name(item)]
            return {frozenset(names)} if names else None
        return None


def rdf_of(schema: Schema) -> tuple[list[Triple], list[Statement]]:
    """The triples that state a schema so that it reads back equal, and what they cannot state."""
    triples, left = list[Triple](), list[Statement]()
    several = {
        (relation, end)
        for end in set(ENDS.values())
        for relation, number in Counter(relation for relation, _ in schema.about(end)).items()
        if number > 1
    }
    for statement in sorted(schema.statements):
        subject, named, other = statement
        ordered = named != "disjointWith" or subject < other
        if not (_is_name(subject) and _is_name(other) and subject != other and ordered):
            left.append(statement)
        elif (subject, named) in several:  # any of the types
            triples.append((subject, _WORDS_FOR_ANY[named], other))
        elif named in _KINDS_OF:
            triples.append((subject, RDF + "type", _KINDS_OF[named]))
        elif named in _WORDS:
            triples.append((subject, _WORDS[named], other))
        else:
            left.append(statement)
    return triples, left


# Property of a schema -> how RDF says it, the first way of several.
_WORDS = {
    **{end: predicate for predicate, end in ENDS.items()},
    **{named: word for word, named in reversed(BETWEEN_RELATIONS.items())},
    "subClassOf": SUBCLASS,
    "disjointWith": OWL + "disjointWith",
}
_WORDS_FOR_ANY = {end: word for word, end in reversed(ANY_OF.items())}
_KINDS_OF = {named: kind for kind, named in KINDS.items()}


def _plain(graph: _Graph, subclass: Sequence[str]) -> Iterator[Statement]:
    """All statements but domains and ranges."""
    for kind, named in KINDS.items():
        for relation, its in graph.pairs[RDF + "type"]:
            if its == kind and _is_name(relation):
                yield Statement(relation, named)
    for predicate, named in BETWEEN_RELATIONS.items():
        for one, other in graph.named(predicate):
            yield Statement(one, named, other)
    for one, other in graph.named(OWL + "equivalentProperty"):
        yield Statement(one, "subPropertyOf", other)
        yield Statement(other, "subPropertyOf", one)
    for low, high in graph.named(*subclass):
        yield Statement(low, "subClassOf", high)
    for one, other in graph.named(OWL + "disjointWith"):
        yield from _disjoint([one, other])
    all_disjoint = {node for node, its in graph.pairs[RDF + "type"] if its == ALL_DISJOINT}
    for node, members in graph.pairs[OWL + "members"]:
        if node in all_disjoint:
            yield from _disjoint(graph.items(members))
    yield from _of_parts(graph)


def _of_parts(graph: _Graph) -> Iterator[Statement]:
    """Types that are said to be the same, or to be made of others."""
    for one, other in graph.named(OWL + "equivalentClass"):
        yield Statement(one, "subClassOf", other)
        yield Statement(other, "subClassOf", one)
    for whole, several in graph.pairs[OWL + "disjointUnionOf"]:
        parts = [part for part in graph.items(several) if _is_name(part)]
        yield from _disjoint(parts)
        yield from (Statement(part, "subClassOf", whole) for part in parts if _is_name(whole))
    for whole, node in graph.pairs[OWL + "equivalentClass"]:
        choices = graph.union(node) if node.startswith("_:") else None
        for choice in choices or ():
            if len(choice) == 1 and _is_name(whole):
                yield Statement(next(iter(choice)), "subClassOf", whole)
    for whole, several in graph.pairs[OWL + "unionOf"]:
        parts = [part for part in graph.items(several) if _is_name(part)]
        yield from (Statement(part, "subClassOf", whole) for part in parts if _is_name(whole))


def _disjoint(types: Sequence[str]) -> Iterator[Statement]:
    for one, other in permutations(sorted(set(filter(_is_name, types))), 2):
        if one < other:
            yield Statement(one, "disjointWith", other)


def _ends(graph: _Graph) -> dict[tuple[str, str], list[set[Choice]]]:
    """For each domain and range, the unions that all hold of it."""
    unions: dict[tuple[str, str], list[set[Choice]]] = defaultdict(list)
    for predicate, end in ENDS.items():
        for relation, node in graph.pairs[predicate]:
            if _is_name(relation) and (union := graph.union(node)):
                unions[relation, end].append(union)
    for end in ("domain", "range"):
        predicates = [predicate for predicate, its in ANY_OF.items() if its == end]
        any_of: dict[str, set[Choice]] = defaultdict(set)
        for relation, node in graph.named(*predicates):
            any_of[relation].add(frozenset([node]))
        for relation, union in any_of.items():
            unions[relation, end].append(union)
    return unions


def _choices(unions: list[set[Choice]], above: dict[str, Choice], where: str) -> list[Choice]:
    """The ways to be in all of these unions, the narrowest types alone."""
    ways: set[Choice] = {frozenset()}
    for union in unions:
        ways = {_narrowest(one | other, above) for one in ways for other in union}
        if len(ways) > MOST_COMBINATIONS:
            raise DataError(f"{where}: more than {MOST_COMBINATIONS:,} combinations of types")
    least = {way for way in ways if not any(other < way for other in ways)}
    return sorted(least, key=sorted)


def _narrowest(types: Choice, above: dict[str, Choice]) -> Choice:
    """Without the types that another one of them has above it."""
    covered = {
        high
        for low in types
        for high in above.get(low, ())
        if low not in above.get(high, ()) or low < high
    }
    return types - covered


def _is_name(node: str) -> bool:
    """Whether it is a relation or a type of the graph: no blank node, nothing of OWL itself."""
    return not node.startswith(("_:", *NO_TYPES))
