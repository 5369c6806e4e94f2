"""New facts as files: tables for people and programs, N-Triples for graph stores."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assent.core.completions import SIDES, Chain, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.rdf import write_nt
from assent.files.triples import named_facts


def write_completions(path: str | Path, facts: NewFacts, vocabulary: Vocabulary) -> None:
    """Writes .tsv, .nt, .parquet or .jsonl; the first three columns are the fact itself."""
    path = Path(path)
    refuse_suffix(path)
    with beside(path) as part:
        WRITERS[path.suffix](facts, vocabulary, part)


def refuse_suffix(path: Path) -> None:
    """Ends early, before any work, where the facts could not be written."""
    if path.suffix not in WRITERS:
        found = path.suffix or "a file without a suffix"
        raise DataError(f"{path}: cannot write {found}; choose from {' '.join(WRITERS)}")


def partial(path: Path) -> Path:
    """Where the facts of a completion go that was stopped: its name says so."""
    return path.with_suffix(f".partial{path.suffix}")


def named_completions(facts: NewFacts, vocabulary: Vocabulary) -> pl.DataFrame:
    """One row a fact, by name; evidence as JSON text."""
    return named_facts(facts.facts, vocabulary).with_columns(
        decision=pl.Series(np.where(facts.accepted, "accepted", "review"), dtype=pl.String),
        probability=pl.Series(facts.probabilities),
        score=pl.Series(facts.scores.astype(np.float64)),
        # None where the question accepts nothing: what it found can only be reviewed.
        threshold=pl.Series(
            np.where(np.isfinite(facts.thresholds), facts.thresholds, np.nan)
        ).fill_nan(None),
        expected_precision=pl.Series(facts.expected).fill_nan(None),
        asked=pl.Series([SIDES[side] for side in facts.sides.tolist()], dtype=pl.String),
        evidence=pl.Series(
            [
                json.dumps([chain._asdict() for chain in chains], ensure_ascii=False)
                for chains in evidence_of(facts, vocabulary)
            ],
            dtype=pl.String,
        ),
    )


def rows_of_completions(facts: NewFacts, vocabulary: Vocabulary) -> Iterator[dict[str, Any]]:
    """One dictionary a fact, as a line of .jsonl has it."""
    frame = named_completions(facts, vocabulary).drop("evidence")
    chains = evidence_of(facts, vocabulary)
    for row, mine in zip(frame.iter_rows(named=True), chains, strict=True):
        yield {**row, "evidence": [chain._asdict() for chain in mine]}


def evidence_of(facts: NewFacts, vocabulary: Vocabulary) -> Iterator[list[Chain]]:
    """The chains of each fact, by name."""
    found, ends = facts.evidence, facts.facts[:, [0, 2]].tolist()
    support, cases = found.support.tolist(), found.cases.tolist()
    entities, relations = vocabulary.entities, vocabulary.relations
    for (head, tail), first, last in zip(ends, found.offsets, found.offsets[1:], strict=False):
        chains = []
        for place in range(first, last):
            known = found.chain(place, head, tail, len(relations))
            named = [
                (entities[start], relations[step], entities[end]) for start, step, end in known
            ]
            chains.append(Chain(tuple(named), support[place], cases[place]))
        yield chains


def in_words(chains: list[Chain]) -> str:
    """`head relation tail, head relation tail (12 of 15); ...`"""
    return "; ".join(
        f"{', '.join(' '.join(fact) for fact in chain.facts)} ({chain.support} of {chain.cases})"
        for chain in chains
    )


def _write_tsv(facts: NewFacts, vocabulary: Vocabulary, path: Path) -> None:
    words = [in_words(chains) for chains in evidence_of(facts, vocabulary)]
    frame = named_completions(facts, vocabulary).drop("decision", "asked")
    frame = frame.with_columns(evidence=pl.Series(words, dtype=pl.String))
    frame.write_csv(path, separator="\t", quote_style="never")


def _write_nt(facts: NewFacts, vocabulary: Vocabulary, path: Path) -> None:
    # What came in as a literal or a blank node, if these were kept, goes out as one.
    write_nt(named_facts(facts.facts, vocabulary).iter_rows(), path, keep=True)


def _write_parquet(facts: NewFacts, vocabulary: Vocabulary, path: Path) -> None:
    named_completions(facts, vocabulary).write_parquet(path)


def _write_jsonl(facts: NewFacts, vocabulary: Vocabulary, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows_of_completions(facts, vocabulary):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[NewFacts, Vocabulary, Path], None]] = {
    ".tsv": _write_tsv,
    ".nt": _write_nt,
    ".parquet": _write_parquet,
    ".jsonl": _write_jsonl,
}
