"""report: a run, or several side by side, as one page for people."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from assent.adapters.adapting import Adapted
from assent.building.recipe import Progress
from assent.core.decider import Decider
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest
from assent.errors import ConfigError, DataError
from assent.files.atomic import beside
from assent.files.fact_lines import read_facts
from assent.files.places import FACTS, SETTINGS
from assent.files.runs import TRACE
from assent.measuring.separation import Separation
from assent.reporting.expecting import Found
from assent.reporting.page import page
from assent.reporting.progress import steps
from assent.reporting.rendering import svg
from assent.reporting.reported_run import (
    ReportedRun,
    floors_asked,
    sampled_rows,
    sections_of,
)
from assent.reporting.sample_queries import best_candidates
from assent.reporting.showing import shown
from assent.settings import read_toml
from assent.training.trace import read_events
from assent.verbs.completions import load_completion
from assent.verbs.deciders import load_decider
from assent.verbs.evaluate import evaluate
from assent.verbs.runs import Run, folder_of, load_run

PAGE = b"<!doctype html"
LOOKED_AT = 100  # bytes of a file that may be a page
CURVE_POINTS = 160  # of a precision-recall curve


def report(
    runs: Sequence[Run | Adapted | str | Path],
    path: str | Path,
    *,
    deciders: Sequence[Decider] = (),
    facts: str | Path | None = None,
    figures: str | Path | None = None,
    progress: Progress | bool = True,
) -> Path:
    """Writes one HTML file about a run, or about several on one benchmark, side by side.

    Each run decides with what `assent tune` left in its folder, unless `deciders` are given, one
    for each run. The page begins with the new facts that `assent complete` left in the folders of
    the runs, or with those of `facts`, a .jsonl file. `figures` is a folder for the charts as SVG.
    """
    loaded = [load_run(run) if isinstance(run, str | Path) else run for run in runs]
    if not loaded or (deciders and len(deciders) != len(loaded)):
        raise ConfigError(f"{len(loaded)} runs and {len(deciders)} deciders; expected one each")
    names = _names_of(loaded)
    for name, run in zip(names, loaded, strict=True):
        if run.benchmark.digest() != loaded[0].benchmark.digest():
            raise DataError(
                f"{name}: a run on another benchmark than {names[0]}; report each by itself"
            )
    # All deciders are read before the first run is asked, which may take minutes.
    deciders = deciders or [_decider_of(*named) for named in zip(names, loaded, strict=True)]
    with shown(progress, steps) as told:
        reported = []
        for name, run, decider in zip(names, loaded, deciders, strict=True):
            told(f"asking {name} the test queries")
            reported.append(reported_run(name, run, decider))
        told("reading new facts")
        if facts is not None:
            labels = [run.benchmark.vocabulary for run in loaded]
            found = [Found(read_facts(facts, labels), str(facts))]
        else:
            found = list(_left_by_complete(reported, loaded))
        told("drawing")
        sections = sections_of(reported)
        if figures is not None:
            for chart in (chart for section in sections for chart in section.charts):
                with beside(Path(figures) / f"{chart.name}.svg") as part:
                    part.write_text(svg(chart), encoding="utf-8")
        with beside(Path(path)) as part:
            part.write_text(page(reported, sections, found), encoding="utf-8")
    return Path(path)


def is_page(path: Path) -> bool:
    """Whether a file is a page of HTML, as a report is."""
    with path.open("rb") as file:
        return file.read(LOOKED_AT).lstrip().lower().startswith(PAGE)


def reported_run(name: str, run: Run | Adapted, decider: Decider) -> ReportedRun:
    """All that the report shows of a run, from one pass over test."""
    benchmark, floors = run.benchmark, floors_asked(decider, run.benchmark)
    differ = len(floors) > 1 and bool(np.isfinite(floors).any())
    separation = Separation(decider.floors.values if differ else None)
    highest = Highest(benchmark.test, benchmark.vocabulary.num_slots)
    evaluation = evaluate(run, decider, also=(separation, highest))
    rows = sampled_rows(benchmark)
    return ReportedRun(
        name,
        _dataset(run),
        benchmark,
        run.settings.sections() if isinstance(run, Run) else {"model": {"name": run.name}},
        decider,
        evaluation,
        separation,
        Curves.overall(highest.result()).spread(CURVE_POINTS),
        tuple(best_candidates(run.model, decider, benchmark, rows)),
        read_events(folder / TRACE) if (folder := folder_of(run)) else (),
    )


def _decider_of(name: str, run: Run | Adapted) -> Decider:
    """What `assent tune` left in the folder of a run."""
    if (folder := folder_of(run)) is None:
        raise ConfigError(f"{name}: has no folder with a decider, so say with which: deciders=")
    return load_decider(folder, run)


def _left_by_complete(
    reported: Sequence[ReportedRun], runs: Sequence[Run | Adapted]
) -> Iterator[Found]:
    """The facts that these runs themselves made, from their folders."""
    for listed, run in zip(reported, runs, strict=True):
        folder = folder_of(run)
        if folder is None or (there := load_completion(run, folder)) is None:
            continue
        kept, facts = there
        yield Found(facts, str(folder / FACTS), listed.name, kept)


def _dataset(run: Run | Adapted) -> str:
    """What the benchmark was built from, or else the name of its folder."""
    source = run.benchmark.origin.get("source", {}).get("name")
    if source or (folder := folder_of(run)) is None:
        return str(source or "a benchmark")
    return Path(read_toml(folder / SETTINGS)["benchmark"]["path"]).name


def _names_of(runs: Sequence[Run | Adapted]) -> list[str]:
    """The names of the folders, with as many of those around them as tell them apart."""
    parts = [
        folder.resolve().parts
        if (folder := folder_of(run))
        else (run.settings.name if isinstance(run, Run) else run.name,)
        for run in runs
    ]
    for depth in range(1, max(map(len, parts)) + 1):
        names = ["/".join(part[-depth:]) for part in parts]
        if len(set(names)) == len(names):
            return names
    return [f"{part[-1]} ({place})" for place, part in enumerate(parts, 1)]
