"""Tables of the further measures: triple classification and entity-pair ranking."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.table import Table

from assent.core.vocabulary import Vocabulary
from assent.measuring.pairs import PairRanking
from assent.measuring.triples import TripleClassification
from assent.reporting.results import MOST_ROWS, share
from assent.reporting.tables import table

Line = tuple[str, Mapping[str, Any]]

METRICS = ("accuracy", "precision", "recall", "f1")


def triples_table(result: TripleClassification, most: int = MOST_ROWS) -> Table:
    """All facts of valid and test, then those of test in the relations with the most."""
    made = table("triple classification", "facts", "true", *METRICS)
    found = result.to_json()
    halves = [(split, found[split]) for split in ("valid", "test")]
    for name, line in halves + _largest(found, "facts", result.vocabulary)[:most]:
        metrics = (_share(line[metric]) for metric in METRICS)
        made.add_row(name, f"{line['facts']:,}", f"{line['relevant']:,}", *metrics)
    return made


def pairs_table(result: PairRanking, most: int = MOST_ROWS) -> Table:
    """All relations together, then those with the most true pairs."""
    made = table("entity-pair ranking", "true pairs", f"MAP@{result.k}", f"Hits@{result.k}")
    found = result.to_json()
    total = (result.split, {**found, "average_precision": found["mean_average_precision"]})
    for name, line in [total, *_largest(found, "true_pairs", result.vocabulary)[:most]]:
        shares = (_share(line[metric]) for metric in ("average_precision", "hits_at_k"))
        made.add_row(name, f"{line['true_pairs']:,}", *shares)
    return made


def _largest(found: Mapping[str, Any], column: str, names: Vocabulary) -> list[Line]:
    """The relations by falling size, as people read them."""
    labels = dict(zip(names.relations, names.relation_labels or names.relations, strict=True))
    lines = [(labels[name], line) for name, line in found["relations"].items()]
    return sorted(lines, key=lambda line: -line[1][column])


def _share(value: float | None) -> str:
    return share(np.nan if value is None else value)
