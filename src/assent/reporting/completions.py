"""What a completion found, in a table and a few lines."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from assent.completing.completing import Completion
from assent.core.arrays import Ids
from assent.core.vocabulary import Vocabulary
from assent.reporting.tables import table

MOST_ROWS = 25


def relations_completed(found: Completion, most: int = MOST_ROWS) -> Table:
    """The relations with the most new facts."""
    rows = table("relation", "queries", "accepted", "to review", "second answers", "mirrored")
    names = found.vocabulary
    order = sorted(found.outcomes, key=lambda outcome: (-outcome.accepted, -outcome.review))
    for outcome in order[:most]:
        if outcome.accepted or outcome.review:
            rows.add_row(
                names.relation(outcome.relation), *(f"{count:,}" for count in outcome[1:6])
            )
    return rows


def summary_lines(found: Completion) -> list[str]:
    """All relations together, and those where nothing can be accepted."""
    outcomes = found.outcomes
    counts = np.array([outcome[1:6] for outcome in outcomes], np.int64).reshape(-1, 5)
    queries, accepted, review, second, mirrored = counts.sum(axis=0).tolist()
    without = [
        found.vocabulary.relation(outcome.relation) for outcome in outcomes if not outcome.accepts
    ]
    lines = [
        f"{queries:,} queries about {len(outcomes):,} relations: {accepted:,} facts accepted, "
        f"{review:,} to review",
        f"left out as second answers: {second:,}; added as the other direction: {mirrored:,}",
    ]
    if without:
        shown = ", ".join(without[:5]) + (", ..." if len(without) > 5 else "")
        why = "cannot promise" if found.promises else "no threshold"
        lines.append(f"{why}, so nothing accepted: {len(without):,} relations ({shown})")
    if len(found) < accepted + review:
        lines.append(f"kept, as the surest: {len(found):,}")
    return lines


def facts_in_words(found: Completion, most: int = 10) -> Iterator[str]:
    """Accepted facts for which there is evidence, each relation in turn, the most probable first.

    Two lines each: the fact, and the chain of known facts that speaks for it most.
    """
    facts, names = found.accepted, found.vocabulary
    facts = facts.take(np.diff(facts.evidence.offsets) > 0)
    for place in _in_turn(facts.facts[:, 1], facts.probabilities)[:most]:
        best = facts.chains(place)[0]
        counts = f"{best.support:,} of {best.cases:,} such pairs"
        fact = _sentence(facts.facts[place].tolist(), names)
        yield f"  {fact}   ({facts.probabilities[place]:.2f})"
        yield f"      for {', '.join(_sentence(fact, names) for fact in best.facts)} ({counts})"


def _in_turn(relations: Ids, probabilities: NDArray[np.float64]) -> list[int]:
    """Places: the surest of each relation, then the second of each, and so on."""
    falling = np.lexsort((-probabilities, relations))
    starts = np.flatnonzero(np.diff(relations[falling], prepend=-1))
    sizes = np.diff(np.append(starts, len(falling)))
    turns = np.arange(len(falling)) - np.repeat(starts, sizes)
    places: list[int] = falling[np.lexsort((-probabilities[falling], turns))].tolist()
    return places


def _sentence(fact: Sequence[int], names: Vocabulary) -> str:
    head, relation, tail = fact
    return f"{names.entity(head)} {names.relation(relation)} {names.entity(tail)}"
