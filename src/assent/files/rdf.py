"""N-Triples and Turtle, in and out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl
import pyoxigraph as ox

from assent.errors import DataError
from assent.files.formats import COLUMNS, Format, Kept, LeftOut
from assent.files.text import check_name, open_bytes, readable

KINDS = {ox.Literal: "literal", ox.BlankNode: "blank node", ox.Triple: "triple term"}
PLAIN = "urn:assent:"  # a name that is no IRI is written behind this, percent-encoded

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def _read(form: ox.RdfFormat, path: Path, kept: Kept) -> tuple[pl.DataFrame, LeftOut]:
    """The facts between IRIs, and how many facts about anything else were left out.

    A fact is left out where one of its ends is a literal, a blank node or a triple, unless kept.
    """
    taken: set[type[Term]] = {ox.NamedNode}
    taken |= {ox.Literal} if kept.literals else set()
    taken |= {ox.BlankNode} if kept.blank_nodes else set()
    left: LeftOut = Counter()
    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    add_head, add_relation, add_tail = (column.append for column in columns)
    name = _namer(renames_blanks=form == ox.RdfFormat.TURTLE)
    for fact in _parsed(path, form):
        head, relation, tail = fact.subject, fact.predicate, fact.object
        if type(head) is ox.NamedNode and type(tail) is ox.NamedNode:
            add_head(head.value)
            add_relation(relation.value)
            add_tail(tail.value)
        elif type(head) in taken and type(tail) in taken:
            add_head(name(head))
            add_relation(relation.value)
            add_tail(name(tail))
        else:
            other = tail if type(tail) not in taken else head
            left[KINDS[type(other)]] += 1
    frame = pl.DataFrame(columns, schema=dict.fromkeys(COLUMNS, pl.String), orient="col")
    frame = frame.with_columns(_plain_names(column, path) for column in frame)
    if not len(frame):
        raise DataError(f"{path}: no fact between two IRIs in it{_in_words(left)}")
    return frame, left


def write_nt(rows: Iterable[tuple[str, str, str]], path: Path, keep: bool) -> None:
    """One triple a line. With `keep`, names that read as literals or blank nodes become these."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for head, relation, tail in rows:
            head_term = _term(head, keep, may_be_literal=False)
            tail_term = _term(tail, keep, may_be_literal=True)
            file.write(f"{head_term} {_iri(relation)} {tail_term} .\n")


def _write_nt(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool) -> None:
    write_nt(frame.iter_rows(), path, keep_rdf_terms)


def _parsed(path: Path, form: ox.RdfFormat) -> Iterator[ox.Triple | ox.Quad]:
    try:
        with readable(path), open_bytes(path) as file:
            yield from ox.parse(file, format=form)
    except SyntaxError as error:
        reason = _printable(str(error.msg).removeprefix("Parser error at "))
        raise DataError(f"{path}:{error.lineno}: {reason}; expected {form.name}") from error


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
    names = [_plain(iri) for iri in encoded]
    for name in names:
        check_name(name, "name", str(path))
    return column.replace(encoded, pl.Series(names, dtype=pl.String)) if names else column


def _plain(iri: str) -> str:
    """The name that was written so; the IRI itself if we would not have written it so."""
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
    ".nt": Format(partial(_read, ox.RdfFormat.N_TRIPLES), write=_write_nt),
    ".ttl": Format(partial(_read, ox.RdfFormat.TURTLE)),
}
