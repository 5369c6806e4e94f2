"""All verbs in order: the whole path of a fact, from a graph to new facts and a report."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from assent.building.recipe import Progress, silent
from assent.files.benchmarks import save
from assent.files.facts import write_facts
from assent.training.loop import Watcher
from assent.verbs.audit import audit
from assent.verbs.build import build
from assent.verbs.complete import complete
from assent.verbs.deciders import save_decider
from assent.verbs.evaluate import evaluate
from assent.verbs.read import read
from assent.verbs.report import report
from assent.verbs.train import train
from assent.verbs.tune import tune

Show = Callable[[str, Any], None]  # told the name of each verb and what it returned


def experiment(
    source: str | Path,
    out: str | Path,
    *,
    model: str = "complex",
    changes: Iterable[str] = (),
    precision: float = 0.6,
    review_above: float = 0.5,
    show: Show = lambda verb, result: None,
    progress: Progress = silent,
    watcher: Watcher | None = None,
) -> Path:
    """Runs every verb on one graph; all that they make goes into the folder `out`.

    Each relation accepts new facts as far as it can promise this `precision`; facts that are at
    least as probable as `review_above` are kept for review. Returns the page of the report.
    """
    folder = Path(out)
    show("read", kb := read(source))
    show("build", benchmark := build(kb, progress=progress))
    save(benchmark, folder / "benchmark", overwrite=True)
    show("audit", audit(benchmark))
    run = train(folder / "benchmark", model, out=folder / "run", changes=changes, watcher=watcher)
    show("train", run)
    show("tune", decider := tune(run, "per-relation"))
    save_decider(decider, folder / "run", benchmark)
    show("evaluate", evaluate(run, decider))
    show("promise", promise := tune(run, "precision", precision=precision))
    save_decider(promise, folder / "promise.json", benchmark)
    show("complete", found := complete(run, decider=promise, review_above=review_above))
    write_facts(folder / "facts.jsonl", found.facts)
    page = report([run], folder / "report.html", facts=folder / "facts.jsonl")
    show("report", page)
    return page
