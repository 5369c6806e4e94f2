"""What a completion found, in a table and a few lines."""

import numpy as np
from rich.table import Table

from assent.completing.completion import Completion
from assent.reporting.tables import table

MOST_ROWS = 25


def relations_completed(found: Completion, most: int = MOST_ROWS) -> Table:
    """The relations with the most new facts."""
    rows = table("relation", "queries", "accepted", "to review", "second answers", "mirrored")
    names = found.vocabulary
    order = sorted(found.tallies, key=lambda tally: (-tally.accepted, -tally.review))
    for tally in order[:most]:
        if tally.accepted or tally.review:
            rows.add_row(names.relation(tally.relation), *(f"{count:,}" for count in tally[1:6]))
    return rows


def summary_lines(found: Completion) -> list[str]:
    """All relations together, and those where nothing can be accepted."""
    tallies = found.tallies
    counts = np.array([tally[1:6] for tally in tallies], np.int64).reshape(-1, 5)
    queries, accepted, review, second, mirrored = counts.sum(axis=0).tolist()
    without = [found.vocabulary.relation(tally.relation) for tally in tallies if not tally.accepts]
    lines = [
        f"{queries:,} queries about {len(tallies):,} relations: {accepted:,} facts accepted, "
        f"{review:,} to review",
        f"left out as second answers: {second:,}; added as the other direction: {mirrored:,}",
    ]
    if without:
        shown = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
        why = "cannot promise" if found.rule == "precision" else "no threshold"
        lines.append(f"{why}, so nothing accepted: {len(without):,} relations ({shown})")
    if len(found) < accepted + review:
        lines.append(f"kept, as the surest: {len(found):,}")
    return lines
