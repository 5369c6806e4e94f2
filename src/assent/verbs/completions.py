"""Completions of runs: kept in the run's folder, and found there by a report."""

import math
from pathlib import Path

from assent.completing.completing import Completion
from assent.core.new_facts import NewFacts
from assent.files.atomic import Together, together
from assent.files.completions import (
    DECIDER,
    PROMISE,
    REHEARSAL,
    REVIEW,
    Kept,
    OfRelation,
    read_completion,
    write_completion,
)
from assent.files.places import NAMING
from assent.reporting.new_facts import summary_lines
from assent.scoring import Scored
from assent.verbs.deciders import model_of


def keep_completion(
    found: Completion, run: Scored, folder: Path, files: Together | None = None
) -> None:
    """Puts the facts into the run's folder, with what may be expected of them.

    Where they were written to `files` elsewhere, all get their names together.
    """
    if files is None:
        with together(folder / NAMING) as files:
            keep_completion(found, run, folder, files)
        return
    rehearsed, reviewed, names = found.rehearsed, found.reviewed, found.vocabulary
    said = rehearsed or reviewed
    kept = Kept(
        model_of(run),
        _decided_by(found),
        said.precision if said else math.nan,
        tuple(summary_lines(found)),
        rehearsed.assumption if rehearsed else "",
        tuple(
            OfRelation(
                names.relations[outcome.relation],
                outcome.accepted,
                outcome.review,
                float(outcome.expected),
                outcome.held_out,
                outcome.found,
            )
            for outcome in found.outcomes
        ),
    )
    write_completion(folder, kept, found.facts, found.considered, files=files)


def _decided_by(found: Completion) -> str:
    if found.rehearsed is not None:
        return REHEARSAL
    if found.reviewed is not None:
        return REVIEW
    return PROMISE if found.promises else DECIDER


def load_completion(run: Scored, folder: Path) -> tuple[Kept, NewFacts] | None:
    """The newest completion of a run, unless its model was trained anew since."""
    found = read_completion(folder, [run.benchmark.whole().vocabulary])
    return found if found is None or found[0].model == model_of(run) else None
