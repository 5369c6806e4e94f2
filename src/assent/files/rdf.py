"""N-Triples and Turtle, in and out."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl
import pyoxigraph as ox

from assent.errors import DataError
from assent.files.columns import check_name
from assent.files.text import open_bytes, readable

FORMATS = {".nt": ox.RdfFormat.N_TRIPLES, ".ttl": ox.RdfFormat.TURTLE}
KINDS = {ox.Literal: "literal", ox.BlankNode: "blank node", ox.Triple: "triple term"}
PLAIN = "urn:assent:"  # a name that is no IRI is written behind this, percent-encoded

Left = Counter[str]
Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


def read_rdf(
    path: Path, suffix: str, names: tuple[str, ...], keep_literals: bool, keep_blank_nodes: bool
) -> tuple[pl.DataFrame, Left]:
    """The facts between IRIs, and how many facts about anything else were left out.

    A fact is left out where one of its ends is a literal, a blank node or a triple, unless kept.
    """
    kept: set[type[Term]] = {ox.NamedNode}
    kept |= {ox.Literal} if keep_literals else set()
    kept |= {ox.BlankNode} if keep_blank_nodes else set()
    left: Left = Counter()
    columns: tuple[list[str], list[str], list[str]] = ([], [], [])
    add_head, add_relation, add_tail = (column.append for column in columns)
    name = _namer(renames_blanks=suffix == ".ttl")
    for fact in _parsed(path, suffix):
        head, relation, tail = fact.subject, fact.predicate, fact.object
        if type(head) is ox.NamedNode and type(tail) is ox.NamedNode:
            add_head(head.value)
            add_relation(relation.value)
            add_tail(tail.value)
        elif type(head) in kept and type(tail) in kept:
            add_head(name(head))
            add_relation(relation.value)
            add_tail(name(tail))
        else:
            other = tail if type(tail) not in kept else head
            left[KINDS[type(other)]] += 1
    frame = pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String), orient="col")
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


def _parsed(path: Path, suffix: str) -> Iterator[ox.Triple | ox.Quad]:
    try:
        with readable(path), open_bytes(path) as file:
            yield from ox.parse(file, format=FORMATS[suffix])
    except SyntaxError as error:
        reason = _printable(str(error.msg).removeprefix("Parser error at "))
        raise DataError(
            f"{path}:{error.lineno}: {reason}; expected {FORMATS[suffix].name}"
        ) from error


def _namer(renames_blanks: bool) -> Callable[[Term], str]:
    """Names for terms. Turtle's nameless blank nodes get random ones when parsed: we count them."""
    numbers: dict[str, int] = {}

    def name(term: Term) -> str:
        if type(term) is ox.NamedNode:
            return term.value
        if type(term) is ox.BlankNode and renames_blanks:
            return f"_:n{numbers.setdefault(term.value, len(numbers) + 1)}"
        return str(term)

    return name


def _plain_names(column: pl.Series, path: Path) -> pl.Series:
    """Undoes what writing did to names that are no IRIs."""
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
    """The parser quotes what it finds, be it an escape code that would colour the terminal."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in text)


def _in_words(left: Left) -> str:
    if not left:
        return ""
    return "; left out: " + ", ".join(f"{count:,} of a {kind}" for kind, count in left.items())
