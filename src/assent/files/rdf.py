"""RDF in and out: N-Triples and Turtle, N-Quads and TriG, RDF/XML, JSON-LD."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import IO, cast
from urllib.parse import quote, unquote
from xml.parsers import expat

import numpy as np
import polars as pl
import pyoxigraph as ox

from assent.errors import DataError
from assent.files.formats import COLUMNS, Format, Kept, Label, LeftOut, Parsed, Triple
from assent.files.gathering import Gathering
from assent.files.meaning import NAMES, TYPE
from assent.files.ontology import OWL, UNDERSTOOD
from assent.files.text import check_name, open_bytes, readable

KINDS = {ox.Literal: "literal", ox.BlankNode: "blank node", ox.Triple: "triple term"}
NAMES_BLANKS = (ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS)  # all blank nodes have names there
DEEPEST = 500  # brackets of JSON within each other; the parser crashes at 6,000 or so
PIECE = 1_000_000  # facts that are gathered together
STRING = re.compile(rb'"(?:[^"\\]|\\.)*+("|\\?$)', re.DOTALL)  # of JSON, or the start of one
PLAIN = "urn:assent:"  # a name that is no IRI is written behind this, percent-encoded

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def _read(form: ox.RdfFormat, path: Path, kept: Kept) -> Parsed:
    """The facts between IRIs, and how many facts about anything else were left out.

    A fact is left out where one of its ends is a literal, a blank node or a triple, unless kept.
    Names in literals and descriptions of types by blank nodes are handed on. All named graphs of
    a file are read as one.
    """
    taken: set[type[Term]] = {ox.NamedNode}
    taken |= {ox.Literal} if kept.literals else set()
    taken |= {ox.BlankNode} if kept.blank_nodes else set()
    left: LeftOut = Counter()
    gathering = Gathering()
    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    add_head, add_relation, add_tail = (column.append for column in columns)
    labels, descriptions = list[Label](), list[Triple]()
    name = _namer(renames_blanks=form not in NAMES_BLANKS)
    prefixes: dict[str, str] = {}
    for fact in statements(path, form, prefixes):
        head, relation, tail = fact.subject, fact.predicate, fact.object
        if type(head) is ox.NamedNode and type(tail) is ox.NamedNode:
            add_head(head.value)
            add_relation(relation.value)
            add_tail(tail.value)
            if len(columns[0]) >= PIECE:
                _gather(columns, gathering)
            continue
        label = _label(head, relation.value, tail)
        describes = label is None and _is_description(head, relation.value, tail)
        if label is not None:
            labels.append(label)
        elif describes:
            descriptions.append((_node(head), relation.value, _node(tail)))
        if type(head) in taken and type(tail) in taken and not describes:
            add_head(name(head))
            add_relation(relation.value)
            add_tail(name(tail))
        elif label is None and not describes:
            other = tail if type(tail) not in taken else head
            left[KINDS[type(other)]] += 1
    _gather(columns, gathering)
    frame = gathering.facts()
    frame = frame.with_columns(_plain_names(frame[name], path) for name in COLUMNS)
    if not (len(frame) or labels or descriptions):
        raise DataError(f"{path}: no fact between two IRIs in it{_in_words(left)}")
    return Parsed(frame, left, labels, descriptions, prefixes, is_rdf=True)


def _gather(columns: tuple[list[str], ...], gathering: Gathering) -> None:
    """Moves the facts of these columns to the others."""
    gathering.add(pl.DataFrame(columns, schema=dict.fromkeys(COLUMNS, pl.String), orient="col"))
    for column in columns:
        column.clear()


def write_nt(
    rows: Iterable[tuple[str, str, str]], path: Path, keep: bool, notes: Iterable[str] = ()
) -> None:
    """One triple a line. With `keep`, names that read as literals or blank nodes become these.

    A note, if there are any, is a comment behind its triple.
    """
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for (head, relation, tail), note in zip(rows, chain(notes, repeat("")), strict=False):
            head_term = _term(head, keep, may_be_literal=False)
            tail_term = _term(tail, keep, may_be_literal=True)
            comment = f" # {note}" if note else ""
            file.write(f"{head_term} {_iri(relation)} {tail_term} .{comment}\n")


def _add_told(
    triples: Iterable[Triple], labels: Iterable[Label], path: Path, keep_rdf_terms: bool
) -> None:
    """Adds types, schema and names to a file; what goes out as a blank node has no name to keep."""
    with path.open("a", encoding="utf-8", newline="\n") as file:
        for head, relation, tail in triples:
            subject = _term(head, keep_rdf_terms, may_be_literal=False)
            file.write(f"{subject} {_iri(relation)} {_iri(tail)} .\n")
        for name, relation, text, language in labels:
            subject = _term(name, keep_rdf_terms, may_be_literal=True)
            if subject.startswith("<"):
                label = ox.Literal(text, language=language or None)
                file.write(f"{subject} {_iri(relation)} {label} .\n")


def as_term(name: str, may_be_literal: bool = False) -> str:
    """A name as SPARQL and N-Triples write it; only a name that reads as a literal is none."""
    return _iri(name) if name.startswith("_:") else _term(name, True, may_be_literal)


def _write_nt(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool) -> None:
    write_nt(frame.iter_rows(), path, keep_rdf_terms)


def statements(
    path: Path, form: ox.RdfFormat, prefixes: dict[str, str] | None = None
) -> Iterator[ox.Triple | ox.Quad]:
    """The statements of a file; the prefixes that it declares are put into `prefixes`."""
    try:
        with readable(path), open_bytes(path) as file:
            watched = WATCHED[form](path, file) if form in WATCHED else file
            parser = ox.parse(cast(IO[bytes], watched), format=form)
            yield from parser
            if prefixes is not None:
                prefixes |= parser.prefixes
    except SyntaxError as error:
        reason = _printable(str(error.msg).removeprefix("Parser error at "))
        where = path if error.lineno is None else f"{path}:{error.lineno}"
        raise DataError(f"{where}: {reason}; expected {form.name}") from error


class _Shallow:
    """A JSON file that is refused where it nests too deeply; what parses it would crash."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.depth = 0
        self.before = b""  # the quote, and perhaps the backslash, of a string that goes on

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        parts = STRING.split(self.before + data)  # what is no string, the end of a string, ...
        self.before = b'"' + parts[-2] if parts[1:] and parts[-2] != b'"' else b""
        brackets = b"".join(parts[::2])
        opened = brackets.count(b"{") + brackets.count(b"[")
        if self.depth + opened > DEEPEST:
            self._refuse_deep(brackets)
        self.depth += opened - brackets.count(b"}") - brackets.count(b"]")
        return data

    def _refuse_deep(self, brackets: bytes) -> None:
        octets = np.frombuffer(brackets, dtype=np.uint8)
        steps = np.isin(octets, (*b"{[",)).astype(np.int64) - np.isin(octets, (*b"}]",))
        if self.depth + np.cumsum(steps).max() > DEEPEST:
            raise DataError(
                f"{self.path}: nested more than {DEEPEST} deep; expected JSON-LD that is not"
            )


class _Whole:
    """An XML file that is refused where it is cut short, or where its entities are a trap.

    What parses RDF/XML takes a file that ends within an element for a whole one, and writes out
    entities that are made of each other: a few hundred bytes become gigabytes. Expat sees all bytes
    first; it bounds how much larger entities may make a file.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file = path, file
        self.parser = expat.ParserCreate("utf-8")  # RDF/XML that says otherwise is refused later
        self.parser.EntityDeclHandler = self._entity

    def read(self, size: int = -1) -> bytes:
        data = self.file.read(size)
        try:
            self.parser.Parse(data, not data)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise DataError(f"{self.path}:{error.lineno}: {reason}; expected RDF/XML") from error
        return data

    def _entity(self, name: str, is_parameter: bool, value: str | None, *rest: object) -> None:
        if value is None or "&" in value or is_parameter:
            raise DataError(
                f"{self.path}:{self.parser.CurrentLineNumber}: the entity {name!r} is not plain "
                "text; write out what it stands for"
            )


WATCHED = {ox.RdfFormat.JSON_LD: _Shallow, ox.RdfFormat.RDF_XML: _Whole}


def _label(head: Term, relation: str, tail: Term) -> Label | None:
    """The name that a statement gives to an entity, a relation or a type, if it does."""
    if relation in NAMES and type(head) is ox.NamedNode and type(tail) is ox.Literal:
        return Label(plain_name(head.value), relation, tail.value, tail.language or "")
    return None


def _is_description(head: Term, relation: str, tail: Term) -> bool:
    """Whether a statement is a part of the schema that needs a blank node."""
    if ox.Literal in (type(head), type(tail)) or ox.Triple in (type(head), type(tail)):
        return False
    if relation == TYPE:  # of a blank node: an entity has other types than those of OWL
        return type(tail) is ox.NamedNode and tail.value.startswith(OWL)
    return relation in UNDERSTOOD


def _node(term: Term) -> str:
    return term.value if type(term) is ox.NamedNode else str(term)


def _namer(renames_blanks: bool) -> Callable[[Term], str]:
    """Names for terms. The parser gives blank nodes of Turtle random names: they are numbered."""
    numbers: dict[str, int] = {}

    def name(term: Term) -> str:
        if type(term) is ox.NamedNode:
            return term.value
        if type(term) is ox.BlankNode and renames_blanks:
            return f"_:n{numbers.setdefault(term.value, len(numbers) + 1)}"
        return str(term)

    return name


def _plain_names(column: pl.Series, path: Path) -> pl.Series:
    """Names that are no IRIs, as they were before they were written as IRIs."""
    encoded = column.unique()
    encoded = encoded.filter(encoded.str.starts_with(PLAIN))
    names = [plain_name(iri) for iri in encoded]
    for name in names:
        check_name(name, "name", str(path))
    return column.replace(encoded, pl.Series(names, dtype=pl.String)) if names else column


def plain_name(iri: str) -> str:
    """The name that was written so; the IRI itself if we would not have written it so."""
    if not iri.startswith(PLAIN):
        return iri
    name = unquote(iri.removeprefix(PLAIN))
    return name if _encoded(name) == iri else iri


def _encoded(name: str) -> str:
    return PLAIN + quote(name, safe="")


def _term(name: str, keep: bool, may_be_literal: bool) -> str:
    if (keep and name.startswith("_:")) or (keep and may_be_literal and name.startswith('"')):
        # Whether it really is one, the parser knows best.
        line = f"<urn:x> <urn:x> {name} ."
        try:
            (fact,) = ox.parse(line, format=ox.RdfFormat.N_TRIPLES)
        except (SyntaxError, ValueError):
            return _iri(name)
        if str(fact.object) == name:
            return name
    return _iri(name)


def _iri(name: str) -> str:
    try:
        is_iri = bool(ox.NamedNode(name)) and not name.startswith(PLAIN)
    except ValueError:
        is_iri = False
    return f"<{name if is_iri else _encoded(name)}>"


def _printable(text: str) -> str:
    """The parser quotes what it finds, which may be an escape code: those are shown as text."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _in_words(left: LeftOut) -> str:
    if not left:
        return ""
    return "; left out: " + ", ".join(f"{count:,} of a {kind}" for kind, count in left.items())


FORMATS = {
    ".nt": Format(partial(_read, ox.RdfFormat.N_TRIPLES), write=_write_nt, add_told=_add_told),
    ".ttl": Format(partial(_read, ox.RdfFormat.TURTLE)),
    ".nq": Format(partial(_read, ox.RdfFormat.N_QUADS)),
    ".trig": Format(partial(_read, ox.RdfFormat.TRIG)),
    ".rdf": Format(partial(_read, ox.RdfFormat.RDF_XML)),
    ".owl": Format(partial(_read, ox.RdfFormat.RDF_XML)),
    ".jsonld": Format(partial(_read, ox.RdfFormat.JSON_LD)),
}
