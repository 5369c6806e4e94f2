"""Facts with what was decided about each, from any file that `assent complete` writes."""

import math
import re
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Any, NamedTuple

import pyoxigraph as ox

from assent.core.new_facts import ACCEPTED, ENTAILED, REVIEW
from assent.errors import DataError
from assent.files.fact_lines import read_facts
from assent.files.kgx import EDGES, kgx_files
from assent.files.parquet import read_frame
from assent.files.provenance import OWN, PREFIXES
from assent.files.rdf import plain_name, statements
from assent.files.text import lines_of

REFUSED = "refused"  # in the file of `--refused`
ROUNDED = 1e-3  # scores and thresholds of a .tsv have three digits
RDF = PREFIXES["rdf"]
COMMENT = re.compile(r"probability (\d\.\d+)")

ENDS = ("head", "relation", "tail")
EDGE = ("subject", "predicate", "object", "has_confidence_score", "decision")  # of KGX
TABLE = frozenset((*ENDS, "probability"))  # columns that every table of facts has

Named = tuple[str, str, str]  # head, relation, tail


class Decided(NamedTuple):
    """What a file says of a fact."""

    decision: str  # one of DECISIONS, or REFUSED
    probability: float = math.nan  # nan: the file does not say
    score: float = math.nan
    threshold: float = math.nan
    reason: str = ""  # why it was refused
    labels: Named | None = None  # head, relation, tail as people read them; None: it does not say


def read_decided(path: Path) -> dict[Named, Decided]:
    """The facts of a file, by the names of head, relation and tail."""
    if path.suffix not in READERS:
        found = path.suffix or "a file without a suffix"
        raise DataError(f"{path}: cannot read {found}; choose from {' '.join(READERS)}")
    return dict(READERS[path.suffix](path))


def is_decided(path: Path) -> bool:
    """Whether a file can only be one that `assent complete` writes, whole or damaged.

    A table is known by its columns. What is a graph as well can be read as one.
    """
    if path.suffix == ".parquet":
        return {*read_frame(path).columns} >= TABLE
    if path.suffix == ".tsv":
        columns = {*next(lines_of(path), "").split("\t")}
        return columns >= TABLE or columns >= {*EDGE}
    return path.suffix in (".jsonl", ".qs")


def _jsonl(path: Path) -> Iterator[tuple[Named, Decided]]:
    facts = read_facts(path)
    names = facts.vocabulary
    for place, (head, relation, tail) in enumerate(facts.facts.tolist()):
        named = names.entities[head], names.relations[relation], names.entities[tail]
        yield (
            named,
            Decided(
                str(facts.decisions[place]),
                float(facts.probabilities[place]),
                float(facts.scores[place]),
                float(facts.thresholds[place]),
                labels=(names.entity(head), names.relation(relation), names.entity(tail)),
            ),
        )


def _parquet(path: Path) -> Iterator[tuple[Named, Decided]]:
    frame = read_frame(path)
    yield from _rows(path, frame.columns, frame.iter_rows(named=True))


def _tsv(path: Path) -> Iterator[tuple[Named, Decided]]:
    lines = lines_of(path)
    header = next(lines, "").split("\t")
    if {*header} >= {*EDGE}:
        yield from _edges(path)
        return

    def rows() -> Iterator[dict[str, Any]]:
        for number, line in enumerate(lines, 2):
            fields = line.split("\t")
            if len(fields) != len(header):
                raise DataError(
                    f"{path}:{number}: expected {len(header)} tab-separated columns, "
                    f"found {len(fields)}"
                )
            yield dict(zip(header, fields, strict=True))

    yield from _rows(path, header, rows())


def _rows(
    path: Path, columns: list[str], rows: Iterator[dict[str, Any]]
) -> Iterator[tuple[Named, Decided]]:
    """Rows of a table; where it has no decisions, scores and thresholds tell them."""
    if not {*columns} >= TABLE:
        raise DataError(
            f"{path}: expected the columns head, relation, tail and probability, which "
            "`assent complete` writes"
        )
    for row in rows:
        probability, score, threshold = (
            _number(path, row.get(name)) for name in ("probability", "score", "threshold")
        )
        decision = row.get("decision") or (
            REVIEW if score < threshold - ROUNDED else ACCEPTED  # nan: no threshold was in the way
        )
        reason = str(row.get("refused_for") or "")
        head, relation, tail = (str(row[end]) for end in ENDS)
        said = [row.get(f"{end}_name") for end in ENDS]
        yield (
            (head, relation, tail),
            Decided(
                REFUSED if reason else decision,
                probability,
                score,
                threshold,
                reason,
                (str(said[0]), str(said[1]), str(said[2])) if all(said) else None,
            ),
        )


def _number(path: Path, text: Any) -> float:
    try:
        return math.nan if text is None or text == "" else float(text)
    except (TypeError, ValueError):
        raise DataError(f"{path}: {text!r} is no number; expected one") from None


def _nt(path: Path) -> Iterator[tuple[Named, Decided]]:
    lines = (line for line in lines_of(path) if line.strip() and not line.startswith("#"))
    for fact, line in zip(
        statements(path, ox.RdfFormat.N_TRIPLES), chain(lines, repeat("")), strict=False
    ):
        decision = ENTAILED if line.endswith(f" . # {ENTAILED}") else ACCEPTED
        yield _named(fact.subject, fact.predicate, fact.object), Decided(decision)


def _described(form: ox.RdfFormat) -> Callable[[Path], Iterator[tuple[Named, Decided]]]:
    """Turtle and TriG: what is said of each fact, by an rdf:Statement or by a triple term."""

    def read(path: Path) -> Iterator[tuple[Named, Decided]]:
        said: dict[str, dict[str, Any]] = {}
        for fact in statements(path, form):
            if type(fact.subject) is ox.BlankNode:
                said.setdefault(fact.subject.value, {})[fact.predicate.value] = fact.object
        for about in said.values():
            if (decision := about.get(f"{OWN}decision")) is None:
                continue
            ends = [about.get(f"{RDF}{end}") for end in ("subject", "predicate", "object")]
            if isinstance(term := about.get(f"{RDF}reifies"), ox.Triple):
                ends = [term.subject, term.predicate, term.object]
            if None in ends:
                raise DataError(f"{path}: a decision about no fact; expected an rdf:Statement")
            yield (
                _named(*ends),
                Decided(_text(decision), _number(path, _text(about.get(f"{OWN}probability")))),
            )

    return read


def _text(term: Any) -> str:
    """What a term says; nothing where there is none. A triple within a triple says itself."""
    return "" if term is None else str(getattr(term, "value", term))


def _named(*terms: Any) -> Named:
    head, relation, tail = (
        plain_name(term.value) if type(term) is ox.NamedNode else str(term) for term in terms
    )
    return head, relation, tail


def _quickstatements(path: Path) -> Iterator[tuple[Named, Decided]]:
    for number, line in enumerate(lines_of(path), 1):
        fields = line.split("\t")
        if len(fields) < 3:
            raise DataError(f"{path}:{number}: expected three ids, separated by tabs")
        said = fields[3] if len(fields) > 3 else ""
        found = COMMENT.search(said)
        sure = float(found.group(1)) if found else math.nan
        decided = Decided(ENTAILED, 1.0) if f", {ENTAILED} " in said else Decided(ACCEPTED, sure)
        yield (fields[0], fields[1], fields[2]), decided


def _kgx(path: Path) -> Iterator[tuple[Named, Decided]]:
    yield from _edges(kgx_files(path)[1])


def _edges(edges: Path) -> Iterator[tuple[Named, Decided]]:
    rows = [line.split("\t") for line in lines_of(edges)]
    header = rows[0] if rows else []
    if not {*header} >= {*EDGE}:
        raise DataError(f"{edges}: expected the {EDGES} that `assent complete` writes")
    places = [header.index(name) for name in EDGE]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise DataError(
                f"{edges}:{number}: expected {len(header)} tab-separated columns, found {len(row)}"
            )
        head, relation, tail, sure, decision = (row[place] for place in places)
        yield (head, relation, tail), Decided(decision, _number(edges, sure))


# By suffix: all that `files/facts.py` writes.
READERS: dict[str, Callable[[Path], Iterator[tuple[Named, Decided]]]] = {
    ".tsv": _tsv,
    ".jsonl": _jsonl,
    ".parquet": _parquet,
    ".nt": _nt,
    ".ttl": _described(ox.RdfFormat.TURTLE),
    ".trig": _described(ox.RdfFormat.TRIG),
    ".qs": _quickstatements,
    ".kgx": _kgx,
}
