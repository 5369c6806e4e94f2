"""New facts as files: tables for people and programs, RDF for graph stores, batches for others."""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

import polars as pl

from assent.core.new_facts import ENTAILED, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.atomic import Beside, beside
from assent.files.fact_rows import columns_of, evidence_in_words, rows_of_facts, table_of
from assent.files.kgx import kgx_files, write_kgx
from assent.files.provenance import (
    About,
    entailed_graph,
    store_graph,
    write_trig,
    write_turtle,
)
from assent.files.quickstatements import refuse_other_ids, write_quickstatements
from assent.files.rdf import write_nt
from assent.files.sparql import Store, is_store, send_facts
from assent.files.triples import named_facts

NOTHING = About()  # is told of where facts come from
STORE = "a SPARQL store"
USES = {  # options of writing -> what they are for
    "--graph": (".trig", STORE),
    "--triple-terms": (".ttl", ".trig"),
    "--spreadsheet-safe": (".tsv",),
}
FORMULA = r"^\s*[=+\-@]"  # spreadsheets carry out what begins so
DIGITS = {"probability": 4, "score": 3, "threshold": 3, "expected_precision": 3}  # in .tsv


def write_refused(
    path: str | Path,
    facts: NewFacts,
    reasons: Iterable[str],
    spreadsheet_safe: bool = False,
    beside: Beside = beside,
) -> None:
    """Facts that were refused, and why: tab-separated, with a header."""
    path = Path(path)
    frame = columns_of(facts).select(
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
        _write_table(_safe(frame) if spreadsheet_safe else frame, part)


def write_facts(
    path: str | Path, facts: NewFacts, about: About = NOTHING, beside: Beside = beside
) -> None:
    """Writes facts in the format that the file's name ends in; WRITERS has the formats.

    To a SPARQL store, they go into a named graph, and those that are entailed into one beside it.
    """
    if is_store(path):
        store, graph = Store.of(str(path)), store_graph(about)
        for entailed, into in ((False, graph), (True, entailed_graph(graph))):
            mine = facts.facts[facts.entailed == entailed]
            rows = named_facts(mine, facts.vocabulary).iter_rows()
            send_facts(store, rows, into, rdf_terms=about.rdf_terms)
        return
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


def refuse_unused(paths: Iterable[str | Path], options: Iterable[str]) -> None:
    """Raises an error for an option that none of these files has a use for."""
    kinds = {STORE if is_store(path) else Path(path).suffix for path in paths}
    for option in options:
        if not kinds & set(USES[option]):
            raise ConfigError(
                f"{option}: is for {' and '.join(USES[option])}; leave it out, or write to one"
            )


def files_of(path: str | Path) -> tuple[Path, ...]:
    """The files that facts are written to under this name; none where it is a SPARQL store."""
    if is_store(path):
        return ()
    path = Path(path)
    return kgx_files(path) if path.suffix == ".kgx" else (path,)


def partial(path: Path) -> Path:
    """Where the facts go if completing was stopped before its end: `new.nt` -> `new.partial.nt`."""
    return path.with_suffix(f".partial{path.suffix}")


def _write_tsv(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    places = range(len(facts))
    evidence = [evidence_in_words(facts, place) for place in places]
    against = [" | ".join(reason.sentence for reason in facts.against(at)) for at in places]
    frame = columns_of(facts).drop("asked")
    frame = frame.with_columns(
        *(pl.col(name).round(digits) for name, digits in DIGITS.items()),
        evidence=pl.Series(evidence, dtype=pl.String),
        against=pl.Series(against, dtype=pl.String),
    )
    _write_table(_safe(frame) if about.spreadsheet_safe else frame, parts[0])


def _safe(frame: pl.DataFrame) -> pl.DataFrame:
    """With ' before each text that a spreadsheet would carry out."""
    return frame.with_columns(pl.col(pl.String).str.replace(FORMULA, "'$0"))


def _write_table(frame: pl.DataFrame, path: Path) -> None:
    # A label may hold anything, but not a tab or a line's end in a table.
    frame = frame.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " "))
    frame.write_csv(path, separator="\t", quote_style="never")


def _write_nt(facts: NewFacts, parts: Sequence[Path], about: About) -> None:
    # What came in as a literal or a blank node, if these were kept, goes out as one; nothing else.
    rows = named_facts(facts.facts, facts.vocabulary).iter_rows()
    notes = [ENTAILED if one else "" for one in facts.entailed.tolist()]
    write_nt(rows, parts[0], about.rdf_terms, notes)


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
