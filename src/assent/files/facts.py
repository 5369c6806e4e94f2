"""New facts as files: tables for people and programs, RDF for graph stores, batches for others.

A .jsonl file is read back into the same noun.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assent.core.arrays import frozen
from assent.core.new_facts import (
    AGAINST,
    ASKED,
    DECISIONS,
    FOR,
    RULES,
    Evidence,
    NewFacts,
    Reason,
)
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.kgx import kgx_files, write_kgx
from assent.files.provenance import About, store_graph, write_trig, write_turtle
from assent.files.quickstatements import refuse_other_ids, write_quickstatements
from assent.files.rdf import write_nt
from assent.files.sparql import Store, is_store, send_facts
from assent.files.text import is_text, lines_of
from assent.files.triples import named_facts

NOTHING = About()  # is told of where facts come from
Row = dict[str, Any]  # a fact as a line of .jsonl has it

ALONE = "by similarity alone"  # where no rule speaks for a fact
REASON = pl.Struct(
    {
        "kind": pl.String,
        "confidence": pl.Float64,
        "support": pl.Int64,
        "cases": pl.Int64,
        "sentence": pl.String,
    }
)
FORMULA = r"^\s*[=+\-@]"  # spreadsheets carry out what begins so
DIGITS = {"probability": 4, "score": 3, "threshold": 3, "expected_precision": 3}  # in .tsv


def write_refused(path: str | Path, facts: NewFacts, reasons: Iterable[str]) -> None:
    """Facts that were refused, and why: tab-separated, with a header."""
    path = Path(path)
    frame = _columns(facts).select(
        "head",
        "relation",
        "tail",
        "head_name",
        "relation_name",
        "tail_name",
        "decision",
        pl.col("probability").round(DIGITS["probability"]),
    )
    frame = frame.with_columns(refused_for=pl.Series(list(reasons), dtype=pl.String))
    with beside(path) as part:
        _write_table(frame, part)


def write_facts(path: str | Path, facts: NewFacts, about: About = NOTHING) -> None:
    """Writes facts in the format that the file's name ends in; WRITERS has the formats.

    To a SPARQL store, they go into a named graph.
    """
    if is_store(path):
        rows = named_facts(facts.facts, facts.vocabulary).iter_rows()
        return send_facts(Store.of(str(path)), rows, store_graph(about), rdf_terms=about.rdf_terms)
    path = Path(path)
    refuse_suffix(path)
    about = about._replace(ended=about.ended or datetime.now(UTC))
    with ExitStack() as stack:
        parts = [stack.enter_context(beside(target)) for target in files_of(path)]
        WRITERS[path.suffix](facts, parts, about)


def refuse_suffix(path: str | Path, names: Vocabulary | None = None) -> None:
    """Raises an error for a file that cannot hold facts, or not about these names.

    To be called before any work is done.
    """
    if is_store(path):
        return
    path = Path(path)
    if path.suffix not in WRITERS:
        found = path.suffix or "a file without a suffix"
        raise DataError(f"{path}: cannot write {found}; choose from {' '.join(WRITERS)}")
    if names is not None and path.suffix == ".qs":
        refuse_other_ids(path, names)


def files_of(path: str | Path) -> tuple[Path, ...]:
    """The files that facts are written to under this name; none where it is a SPARQL store."""
    if is_store(path):
        return ()
    path = Path(path)
    return kgx_files(path) if path.suffix == ".kgx" else (path,)


def partial(path: Path) -> Path:
    """Where the facts go if completing was stopped before its end: `new.nt` -> `new.partial.nt`."""
    return path.with_suffix(f".partial{path.suffix}")


def table_of(facts: NewFacts) -> pl.DataFrame:
    """One row a fact, by id and by name; the reasons for and against it as lists of structs."""
    reasons = [_reasons_of(facts, place) for place in range(len(facts))]
    return _columns(facts).with_columns(
        evidence=pl.Series([mine for mine, _ in reasons], dtype=pl.List(REASON)),
        against=pl.Series([other for _, other in reasons], dtype=pl.List(REASON)),
    )


def rows_of_facts(facts: NewFacts) -> Iterator[Row]:
    """One dictionary a fact, as a line of .jsonl has it."""
    for place, row in enumerate(_columns(facts).iter_rows(named=True)):
        reasons, against = _reasons_of(facts, place)
        yield {**row, "evidence": reasons, "against": against}


def reason_row(reason: Reason) -> Row:
    """A reason as a dictionary."""
    confidence = None if math.isnan(reason.confidence) else reason.confidence
    return {**reason._asdict(), "confidence": confidence}


def read_facts(path: str | Path, labels: Iterable[Vocabulary] = ()) -> NewFacts:
    """The facts of a .jsonl file that `write_facts` wrote.

    Ids follow the order in which names first occur in the file. An entity or relation that one of
    the vocabularies in `labels` has a label for gets that label.
    """
    path, rows = Path(path), list[_Read]()
    names = _Names()
    for number, line in enumerate(lines_of(path), 1):
        try:
            rows.append(_read(json.loads(line), names))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            wrong = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(
                f"{path}:{number}: {wrong}; expected a line of `assent complete`, as .jsonl"
            ) from error
    vocabulary = names.vocabulary(labels)
    if not rows:
        return NewFacts.nothing(vocabulary)
    facts, accepted, probabilities, scores, thresholds, expected, sides, evidence = zip(
        *rows, strict=True
    )
    return NewFacts(
        vocabulary,
        frozen(facts),
        frozen(accepted, np.bool_),
        frozen(probabilities, np.float64),
        frozen(scores, np.float32),
        frozen(thresholds, np.float64),
        frozen(expected, np.float64),
        frozen(sides),
        Evidence.of(
            [
                [_told(reason, fact, vocabulary) for reason in mine]
                for fact, mine in zip(facts, evidence, strict=True)
            ]
        ),
    )


def evidence_in_words(facts: NewFacts, place: int) -> str:
    """What speaks for a fact, in one line."""
    sentences = " | ".join(reason.sentence for reason in facts.reasons(place))
    if not facts.by_similarity(place):
        return sentences
    return f"{ALONE}: {sentences}" if sentences else ALONE


def _columns(facts: NewFacts) -> pl.DataFrame:
    """All that is written about a fact but its evidence."""
    names = facts.vocabulary
    heads, relations, tails = facts.facts.T.tolist()
    return named_facts(facts.facts, names).with_columns(
        head_name=pl.Series([names.entity(head) for head in heads], dtype=pl.String),
        relation_name=pl.Series([names.relation(one) for one in relations], dtype=pl.String),
        tail_name=pl.Series([names.entity(tail) for tail in tails], dtype=pl.String),
        decision=pl.Series(facts.decisions.tolist(), dtype=pl.String),
        probability=pl.Series(facts.probabilities),
        score=pl.Series(facts.scores.astype(np.float64)),
        # Null where the threshold is infinite: nothing can be accepted, or everything is.
        threshold=pl.Series(
            np.where(np.isfinite(facts.thresholds), facts.thresholds, np.nan)
        ).fill_nan(None),
        expected_precision=pl.Series(facts.expected).fill_nan(None),
        asked=pl.Series([ASKED[side] for side in facts.sides.tolist()], dtype=pl.String),
    )


def _reasons_of(facts: NewFacts, place: int) -> tuple[list[Row], list[Row]]:
    """What speaks for a fact, and what against it."""
    reasons, against = facts.reasons(place), facts.against(place)
    return [reason_row(reason) for reason in reasons], [reason_row(reason) for reason in against]


# Reading


class _Names:
    """Ids for names, in the order in which they come."""

    def __init__(self) -> None:
        self.entities: dict[str, int] = {}
        self.relations: dict[str, int] = {}
        self.entity_labels: dict[str, str] = {}
        self.relation_labels: dict[str, str] = {}

    def label(self, line: Row) -> None:
        """Takes the names that a line has beside the ids; lines of older versions have none."""
        for end, labels in (
            ("head", self.entity_labels),
            ("relation", self.relation_labels),
            ("tail", self.entity_labels),
        ):
            if is_text(label := line.get(f"{end}_name", "")) and label:
                labels[line[end]] = label

    def ids(self, given: Any) -> tuple[int, int, int]:
        """The ids of a head, a relation and a tail."""
        head, relation, tail = given
        if not all(is_text(name) for name in given):
            raise ValueError(f"names {given!r}")
        return (
            self.entities.setdefault(head, len(self.entities)),
            self.relations.setdefault(relation, len(self.relations)),
            self.entities.setdefault(tail, len(self.entities)),
        )

    def vocabulary(self, labels: Iterable[Vocabulary]) -> Vocabulary:
        entities, relations = dict(self.entity_labels), dict(self.relation_labels)
        for given in labels:
            entities |= dict(zip(given.entities, given.entity_labels, strict=False))
            relations |= dict(zip(given.relations, given.relation_labels, strict=False))
        return Vocabulary(
            tuple(self.entities),
            tuple(self.relations),
            tuple(entities.get(name, name) for name in self.entities),
            tuple(relations.get(name, name) for name in self.relations),
        )


class _OldChain(tuple[tuple[tuple[int, int, int], ...], int, int]):
    """Evidence of older versions: one or two known facts from head to tail, support, cases."""


# fact, accepted, probability, score, threshold, expected precision, sides, evidence
_Read = tuple[tuple[int, int, int], bool, float, float, float, float, int, list[Reason | _OldChain]]


def _read(line: Row, names: _Names) -> _Read:
    """A line of .jsonl; a ValueError says what no completion would write."""
    if line["decision"] not in DECISIONS:
        raise ValueError(f"decision {line['decision']!r}")
    if line["asked"] not in ASKED.values():
        raise ValueError(f"asked {line['asked']!r}")
    accepted = line["decision"] == DECISIONS[0]
    fact = names.ids([line["head"], line["relation"], line["tail"]])
    names.label(line)
    # A null threshold was -inf if the fact was accepted, and inf if it was not.
    no_threshold = -math.inf if accepted else math.inf
    return (
        fact,
        accepted,
        _share(line["probability"]),
        _number(line["score"]),
        no_threshold if line["threshold"] is None else _number(line["threshold"]),
        math.nan if line["expected_precision"] is None else _share(line["expected_precision"]),
        next(side for side, word in ASKED.items() if word == line["asked"]),
        [
            *(_reason(given, fact, names, FOR) for given in line["evidence"]),
            *(_reason(given, fact, names, AGAINST) for given in line.get("against", [])),
        ],
    )


def _reason(
    given: Row, fact: tuple[int, int, int], names: _Names, kinds: tuple[str, ...]
) -> Reason | _OldChain:
    support, cases = int(given["support"]), int(given["cases"])
    if "facts" in given:
        facts = tuple(names.ids(known) for known in given["facts"])
        _refuse_broken(facts, fact)
        return _OldChain((facts, support, cases))
    if given["kind"] not in kinds:
        raise ValueError(f"kind {given['kind']!r}")
    if not is_text(given["sentence"]):
        raise ValueError(f"sentence {given['sentence']!r}")
    confidence = math.nan if given["confidence"] is None else _share(given["confidence"])
    return Reason(given["kind"], confidence, support, cases, given["sentence"])


def _refuse_broken(chain: tuple[tuple[int, int, int], ...], fact: tuple[int, int, int]) -> None:
    """Raises an error for a chain that does not lead from the head of the fact to its tail."""
    stop = fact[0]
    for head, _, tail in chain:
        if stop not in (head, tail):
            raise ValueError("evidence that does not lead from head to tail")
        stop = tail if head == stop else head
    if stop != fact[2] or len(chain) not in (1, 2):
        raise ValueError("evidence that does not lead from head to tail")


def _told(reason: Reason | _OldChain, fact: tuple[int, int, int], names: Vocabulary) -> Reason:
    """A chain of older versions as a reason, in words."""
    if isinstance(reason, Reason):
        return reason
    facts, support, cases = reason
    said = "; ".join(
        f"{names.entity(h)} {names.relation(r)} {names.entity(t)}" for h, r, t in facts
    )
    said += (
        f": {support:,} of {cases:,} pairs joined like this are joined by "
        f"“{names.relation(fact[1])}”, too"
    )
    return Reason(RULES[-1], support / max(cases, 1), support, cases, said)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no share of 1")
    return float(value)


# Writing


def _write_tsv(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    places = range(len(facts))
    evidence = [evidence_in_words(facts, place) for place in places]
    against = [" | ".join(reason.sentence for reason in facts.against(at)) for at in places]
    frame = _columns(facts).drop("decision", "asked")
    frame = frame.with_columns(
        *(pl.col(name).round(digits) for name, digits in DIGITS.items()),
        evidence=pl.Series(evidence, dtype=pl.String),
        against=pl.Series(against, dtype=pl.String),
    )
    if about.spreadsheet_safe:
        frame = frame.with_columns(pl.col(pl.String).str.replace(FORMULA, "'$0"))
    _write_table(frame, parts[0])


def _write_table(frame: pl.DataFrame, path: Path) -> None:
    # A label may hold anything, but not a tab or a line's end in a table.
    frame = frame.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " "))
    frame.write_csv(path, separator="\t", quote_style="never")


def _write_nt(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    # What came in as a literal or a blank node, if these were kept, goes out as one; nothing else.
    write_nt(named_facts(facts.facts, facts.vocabulary).iter_rows(), parts[0], about.rdf_terms)


def _write_parquet(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    table_of(facts).write_parquet(parts[0])


def _write_jsonl(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    with parts[0].open("w", encoding="utf-8", newline="\n") as file:
        for row in rows_of_facts(facts):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def _write_turtle(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    write_turtle(facts, parts[0], about)


def _write_trig(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    write_trig(facts, parts[0], about)


def _write_quickstatements(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    write_quickstatements(facts, parts[0])


def _write_kgx(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    write_kgx(facts, *parts)


# By suffix; each writes to the files that `files_of` names.
WRITERS: dict[str, Callable[[NewFacts, Sequence[Path], About], None]] = {
    ".tsv": _write_tsv,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
    ".nt": _write_nt,
    ".ttl": _write_turtle,
    ".trig": _write_trig,
    ".qs": _write_quickstatements,
    ".kgx": _write_kgx,
}
