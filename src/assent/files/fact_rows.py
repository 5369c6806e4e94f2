"""New facts as rows: all that is said about each, in one shape for tables, lines and pages."""

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from assent.core.new_facts import ASKED, NewFacts, Reason
from assent.files.triples import named_facts

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


def table_of(facts: NewFacts) -> pl.DataFrame:
    """One row a fact, by id and by name; the reasons for and against it as lists of structs."""
    reasons = [_reasons_of(facts, place) for place in range(len(facts))]
    return columns_of(facts).with_columns(
        evidence=pl.Series([mine for mine, _ in reasons], dtype=pl.List(REASON)),
        against=pl.Series([other for _, other in reasons], dtype=pl.List(REASON)),
    )


def rows_of_facts(facts: NewFacts) -> Iterator[Row]:
    """One dictionary a fact, as a line of .jsonl has it."""
    for place, row in enumerate(columns_of(facts).iter_rows(named=True)):
        reasons, against = _reasons_of(facts, place)
        yield {**row, "evidence": reasons, "against": against}


def reason_row(reason: Reason) -> Row:
    """A reason as a dictionary."""
    confidence = None if math.isnan(reason.confidence) else reason.confidence
    return {**reason._asdict(), "confidence": confidence}


def evidence_in_words(facts: NewFacts, place: int) -> str:
    """What speaks for a fact, in one line."""
    sentences = " | ".join(reason.sentence for reason in facts.reasons(place))
    if not facts.by_similarity(place):
        return sentences
    return f"{ALONE}: {sentences}" if sentences else ALONE


def columns_of(facts: NewFacts) -> pl.DataFrame:
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
