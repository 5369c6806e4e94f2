"""A run, or several side by side, as one page for people."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assent.assessing import evaluate, load_decider
from assent.building.recipe import Progress, silent
from assent.deciding.curves import Curves
from assent.deciding.rules import Decider
from assent.deciding.shortlisting import Highest
from assent.errors import ConfigError
from assent.experiment import Run, load_run, others_heard
from assent.files.atomic import beside
from assent.files.proposals import read_proposals
from assent.files.runs import SETTINGS
from assent.judging.judge import Judge
from assent.measuring.separation import Separation
from assent.reporting.asked import asked
from assent.reporting.document import document
from assent.reporting.figures import figures as all_figures
from assent.reporting.figures import write_figures
from assent.reporting.proposed import proposed
from assent.reporting.said import rows_to_ask
from assent.reporting.subject import Subject, lines_in
from assent.settings import read_toml
from assent.training.trace import read_events

CURVE_POINTS = 160  # of a precision-recall curve


def report(
    runs: Sequence[Run | str | Path],
    path: str | Path,
    *,
    deciders: Sequence[Decider | Judge] = (),
    facts: str | Path | None = None,
    figures: str | Path | None = None,
    progress: Progress = silent,
) -> Path:
    """One HTML file about a run, or about several side by side.

    Each decides with what `assent tune` left in its folder, unless `deciders` are given, one a
    run. `facts` is a .jsonl file of `assent complete`; `figures` a folder for them as SVG.
    """
    loaded = [run if isinstance(run, Run) else load_run(run) for run in runs]
    if not loaded or (deciders and len(deciders) != len(loaded)):
        raise ConfigError(f"{len(loaded)} runs and {len(deciders)} deciders; expected one each")
    subjects = []
    for place, name in enumerate(_names_of(loaded)):
        progress(f"asking {name} the test queries")
        subjects.append(_subject(name, loaded[place], deciders[place] if deciders else None))
    proposals = {}
    if facts is not None:
        progress(f"reading {facts}")
        proposals = proposed(read_proposals(Path(facts)), [run.benchmark for run in loaded])
    progress("drawing")
    drawn = all_figures(subjects)
    if figures is not None:
        write_figures(drawn, Path(figures))
    with beside(Path(path)) as part:
        part.write_text(document(subjects, drawn, proposals), encoding="utf-8")
    return Path(path)


def _subject(name: str, run: Run, given: Decider | Judge | None) -> Subject:
    """All that the report shows of a run, from one pass over test."""
    if given is None and run.folder is None:
        raise ConfigError(f"{name}: not trained into a folder, so say with which decider")
    decider = given or load_decider(run.folder or "", run.benchmark)
    benchmark, lines = run.benchmark, lines_in(decider, run.benchmark)
    differ = len(lines) > 1 and bool(np.isfinite(lines).any())
    separation = Separation(decider.thresholds.values if differ else None)
    highest = Highest(benchmark.test, 2 * benchmark.vocabulary.num_relations)
    found = evaluate(run, decider, others=others_heard(decider), also=(separation, highest))
    return Subject(
        name,
        _dataset(run),
        benchmark,
        run.settings.sections(),
        decider,
        found,
        separation,
        Curves.overall(highest.result()).spread(CURVE_POINTS),
        tuple(asked(run.model, benchmark, rows_to_ask(benchmark))),
        read_events(run.folder / "trace.jsonl") if run.folder else (),
    )


def _dataset(run: Run) -> str:
    """What the benchmark was built from, or else the name of its folder."""
    source = run.benchmark.origin.get("source", {}).get("name")
    if source or run.folder is None:
        return str(source or "a benchmark")
    return Path(read_toml(run.folder / SETTINGS)["benchmark"]["path"]).name


def _names_of(runs: Sequence[Run]) -> list[str]:
    """The names of the folders, with as many of those around them as tell them apart."""
    parts = [run.folder.resolve().parts if run.folder else (run.settings.name,) for run in runs]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{part[-1]} ({place})" for place, part in enumerate(parts, 1)]
