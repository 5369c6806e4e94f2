"""New facts as Turtle and TriG that say where they come from (PROV-O), and how sure each is.

The completion is a prov:Activity with the model, the time, the version of assent, and the people
whose labels it went by, each a prov:Person. What is said of a fact (probability, decision,
evidence, who called it right) is said of an rdf:Statement about it or, if triple terms are wanted,
of an RDF 1.2 reifier of it. Accepted facts are stated themselves, too: in the graph of a Turtle
file, or in a named graph of a TriG file. Facts to review are only described.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

import pyoxigraph as ox

from assent.core.new_facts import ENTAILED, NewFacts
from assent.core.version import __version__
from assent.errors import ConfigError
from assent.files.rdf import as_term
from assent.files.sparql import GRAPH
from assent.files.triples import named_facts

OWN = "urn:assent:ns#"  # what assent says of a fact and PROV-O has no word for
# A blank node, so that a graph made of such files has no relations between completions.
ACTIVITY = "_:completion"
PREFIXES = {
    "assent": OWN,
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}


class About(NamedTuple):
    """What facts are written with: where they come from, and how RDF says so."""

    run: str = ""  # the folder of the run
    model: str = ""
    ended: datetime | None = None  # when they were found; None: when they are written
    graph: str = ""  # the named graph that they go to; empty: one of their own
    triple_terms: bool = False  # RDF 1.2
    reviewers: tuple[str, ...] = ()  # people whose labels decided
    # The facts that people called right (head, relation, tail), and who did.
    confirmed_by: Mapping[tuple[str, str, str], tuple[str, ...]] = {}
    spreadsheet_safe: bool = False  # in .tsv, no cell is a formula
    rdf_terms: bool = False  # whether names that read as literals or blank nodes are these

    def people(self) -> dict[str, str]:
        """All reviewers, and the blank node that stands for each in a file."""
        names = sorted({*self.reviewers, *chain.from_iterable(self.confirmed_by.values())})
        return {name: f"_:reviewer{place}" for place, name in enumerate(names, 1)}

    def own_graph(self) -> str:
        """A name for the graph of the facts: the same for the same run at the same time."""
        return f"urn:uuid:{uuid5(NAMESPACE_URL, f'{self.run} {self.model} {self.time()}')}"

    def time(self) -> str:
        return "" if self.ended is None else self.ended.isoformat(timespec="seconds")


def write_turtle(facts: NewFacts, path: Path, about: About) -> None:
    """One graph: accepted facts, and what is said of each fact."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_prefixes())
        file.writelines(_completion(facts, about))
        file.writelines(_stated(facts, about))
        file.writelines(_described(facts, about))


def write_trig(facts: NewFacts, path: Path, about: About) -> None:
    """A named graph of the accepted facts; the default graph says where it comes from."""
    graph = as_term(about.graph or about.own_graph())
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(_prefixes())
        file.writelines(_completion(facts, about))
        file.write(f"{graph} a prov:Entity ; prov:wasGeneratedBy {ACTIVITY} .\n\n")
        file.write(f"{graph} {{\n")
        file.writelines(f"  {line}" for line in _stated(facts, about))
        file.write("}\n\n")
        file.writelines(_described(facts, about))


def _prefixes() -> Iterator[str]:
    for name, iri in PREFIXES.items():
        yield f"@prefix {name}: <{iri}> .\n"
    yield "\n"


def _completion(facts: NewFacts, about: About) -> Iterator[str]:
    """The activity that found the facts, and the software that did it."""
    yield f"{ACTIVITY} a prov:Activity ;\n"
    yield f"  rdfs:label {_text(f'{len(facts):,} facts found by assent')} ;\n"
    if about.run:
        yield f"  assent:run {_text(about.run)} ;\n"
    if about.model:
        yield f"  assent:model {_text(about.model)} ;\n"
    yield f'  prov:endedAtTime "{about.time()}"^^xsd:dateTime ;\n'
    for node in about.people().values():
        yield f"  prov:wasAssociatedWith {node} ;\n"
    yield "  prov:wasAssociatedWith [ a prov:SoftwareAgent ;\n"
    yield f"    rdfs:label {_text(f'assent {__version__}')} ] .\n\n"
    for name, node in about.people().items():
        yield f"{node} a prov:Person ; rdfs:label {_text(name)} .\n"
    yield "\n" if about.people() else ""


def _stated(facts: NewFacts, about: About) -> Iterator[str]:
    accepted = facts.facts[facts.accepted]
    for head, relation, tail in named_facts(accepted, facts.vocabulary).iter_rows():
        yield f"{as_term(head)} {as_term(relation)} {as_term(tail, about.rdf_terms)} .\n"


def _described(facts: NewFacts, about: About) -> Iterator[str]:
    """What is said of each fact."""
    decisions, people = facts.decisions.tolist(), about.people()
    for place, fact in enumerate(named_facts(facts.facts, facts.vocabulary).iter_rows()):
        head, relation = as_term(fact[0]), as_term(fact[1])
        tail = as_term(fact[2], about.rdf_terms)
        if about.triple_terms:
            yield f"\n[] rdf:reifies <<( {head} {relation} {tail} )>> ;\n"
        else:
            yield f"\n[] a rdf:Statement ; rdf:subject {head} ;\n"
            yield f"  rdf:predicate {relation} ; rdf:object {tail} ;\n"
        yield f'  assent:decision "{decisions[place]}" ;\n'
        yield f'  assent:probability "{facts.probabilities[place]:.6g}"^^xsd:double ;\n'
        for reason in facts.reasons(place):
            yield f"  assent:evidence {_text(reason.sentence)} ;\n"
        for reason in facts.against(place):
            yield f"  assent:against {_text(reason.sentence)} ;\n"
        for reviewer in about.confirmed_by.get(fact, ()):
            yield f"  prov:wasAttributedTo {people[reviewer]} ;\n"
        yield f"  prov:wasGeneratedBy {ACTIVITY} .\n"


def _text(words: str) -> str:
    return str(ox.Literal(words))


def refuse_graph(name: str) -> None:
    """Raises an error for a name that no graph can have: it must be an IRI."""
    try:
        ox.NamedNode(name)
    except ValueError as error:
        raise ConfigError(
            f"graph {name!r}: is no IRI; expected one such as http://example.org/new"
        ) from error


def store_graph(about: About) -> str:
    """The named graph of a SPARQL store that facts go to."""
    return about.graph or GRAPH


def entailed_graph(graph: str) -> str:
    """The graph for facts that the schema entails, beside that for those accepted as guesses."""
    return f"{graph}.{ENTAILED}"
