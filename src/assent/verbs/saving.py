"""save and load: whatever the verbs give, to a file or folder and back; the kind is seen."""

from pathlib import Path
from typing import Any

from assent.adapters.adapting import Adapted
from assent.completing.completing import Completion
from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.core.facts import KnowledgeBase
from assent.core.new_facts import NewFacts
from assent.errors import ConfigError, DataError
from assent.files import benchmarks
from assent.files.atomic import refuse_to_replace, refuse_to_write
from assent.files.fact_lines import read_facts
from assent.files.facts import write_facts
from assent.files.places import COMPLETION, REVIEWING, SETTINGS
from assent.files.recording import record
from assent.files.runs import TRACE, save_weights
from assent.files.triples import write
from assent.reviewing.exchange import export_labels
from assent.reviewing.session import Review
from assent.training.trace import Trace
from assent.verbs.completions import keep_completion, load_completion
from assent.verbs.deciders import load_decider, save_decider
from assent.verbs.review import review
from assent.verbs.runs import Run, load_run, new_run, origin_for

Saved = Benchmark | Run | Decider | Completion | NewFacts | Review | KnowledgeBase
Of = Run | Adapted


def save(
    thing: Saved,
    path: str | Path,
    *,
    of: Of | None = None,
    layout: str = "assent",
    overwrite: bool = False,
) -> None:
    """Saves a benchmark, a run, a decider, a completion, a review's labels, facts or a graph.

    A benchmark and a run become folders; a decider a file of its own, or `decider.json` in the
    folder of its run; a completion a file of facts, as its suffix says, or what a run's folder
    keeps of it; a review a table of its labels. A decider, and a completion in a folder, need the
    run that they are `of`. `layout` is that of a benchmark's folder.
    """
    path = Path(path)
    if isinstance(thing, Benchmark):
        benchmarks.save(thing, path, layout=layout, overwrite=overwrite)
    elif isinstance(thing, Run):
        _save_run(thing, path)
    elif isinstance(thing, Decider):
        save_decider(thing, path, _needed(of, "a decider").benchmark)
    elif isinstance(thing, Completion) and (path / SETTINGS).is_file():
        keep_completion(thing, _needed(of, "a completion in a run's folder"), path)
    else:
        refuse_to_write(path, overwrite)
        if isinstance(thing, Completion | NewFacts):
            write_facts(path, thing.facts if isinstance(thing, Completion) else thing)
        elif isinstance(thing, Review):
            export_labels(path, thing)
        elif isinstance(thing, KnowledgeBase):
            write(thing, path)
        else:
            raise ConfigError(f"{path}: a {type(thing).__name__} cannot be saved")


def load(path: str | Path, *, of: Of | None = None) -> Any:
    """Loads what `save`, a command or another verb wrote; its files say what it is.

    A folder is a benchmark, a run, or the `review` in a run's folder. A file is a decider (.json),
    for which the run is needed that it was found for, or new facts (.jsonl). `completion.json` in a
    run's folder gives the facts of its newest completion.
    """
    path = Path(path)
    if (path / SETTINGS).is_file():
        return load_run(path)
    if path.is_dir() and path.name == REVIEWING:
        return review(path.parent)
    if path.is_dir() or not path.exists():
        return benchmarks.load(path)
    if path.name == COMPLETION:
        found = load_completion(of or load_run(path.parent), path.parent)
        if found is None:
            raise DataError(f"{path}: the model was trained anew since; complete again")
        return found[1]
    if path.suffix == ".json":
        return load_decider(path, _needed(of, "a decider"))
    if path.suffix == ".jsonl":
        return read_facts(path, [] if of is None else [of.benchmark.whole().vocabulary])
    raise DataError(
        f"{path}: cannot be loaded; expected the folder of a benchmark, a run or a review, a "
        "decider (.json) or new facts (.jsonl)"
    )


def _needed(of: Of | None, what: str) -> Of:
    if of is None:
        raise ConfigError(f"{what}: say of which run, as in of=run")
    return of


def _save_run(run: Run, folder: Path) -> None:
    """A run that was trained without a folder, with its benchmark in it."""
    if run.folder is not None:
        raise ConfigError(f"this run has a folder already, {run.folder}; copy that")
    refuse_to_replace(folder, lambda _: False)
    own = folder / "benchmark"
    origin = origin_for(folder, str(own.resolve()), run.benchmark)
    with new_run(folder, run.settings, origin, run.benchmark.vocabulary) as part:
        benchmarks.save(run.benchmark, part / own.name)
        trace = Trace(part / TRACE)
        for epoch, score in enumerate(run.trained.scores, 1):
            trace("evaluation", epoch=epoch, score=score)
        trace("end", epochs=run.trained.epochs, best_epoch=run.trained.best_epoch)
        record(part / TRACE)
        save_weights(part, run.model.state_dict())
