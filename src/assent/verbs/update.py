"""update: a trained run learns of new facts and entities, and forgets facts taken back."""

import hashlib
import json
import math
import shutil
import time
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import torch

from assent.building.changing import HELD_OUT, Change, change
from assent.core.arrays import distinct
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.decider import Decider
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, both_ways
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.core.texts import Texts
from assent.core.thresholds import Thresholds
from assent.deciding.shortlisting import Above
from assent.errors import ConfigError, DataError
from assent.files.atomic import beside, found_again
from assent.files.benchmarks import load, save
from assent.files.deciders import decider_file
from assent.files.places import UPDATING
from assent.files.recording import forget, record
from assent.files.runs import TRACE, WEIGHTS, read_weights, save_weights, training_in
from assent.files.text import read_json
from assent.measuring.staleness import Staleness, staleness
from assent.models import Model
from assent.reporting.progress import watching
from assent.reporting.showing import shown
from assent.rules.model import RuleModel
from assent.scoring import Scored, score_split
from assent.settings import new_model, texts_since, update_settings
from assent.training.loop import Watcher
from assent.training.loop import train as train_model
from assent.training.trace import Trace
from assent.training.warming import Alike, Anchor, UpdateSettings, to_learn, warm
from assent.verbs.deciders import for_model, load_decider, save_decider
from assent.verbs.read import read
from assent.verbs.runs import Run, load_run, new_run, origin_for, start_run
from assent.verbs.train import fit
from assent.verbs.tune import Asked, tune

BENCHMARK, RECORD = "benchmark", "update.json"  # in the folder of the new run
THRESHOLDS = ("tuned", "kept")


@dataclass(frozen=True, slots=True, eq=False)
class Updated:
    """A run that knows a changed graph, and what of the old run still serves."""

    run: Run
    change: Change
    decider: Decider | None  # of the new run; None: the old one had none that could be taken over
    stale: tuple[Staleness, ...]  # by relation; empty without a decider
    seconds: float  # of processor time


def update(
    run: Run | str | Path,
    facts: KnowledgeBase | str | Path,
    removed: KnowledgeBase | str | Path | None = None,
    *,
    entity_names: str | Path | None = None,
    types: str | Path | None = None,
    out: str | Path | None = None,
    decider: Decider | None = None,
    thresholds: str = "tuned",
    held_out: float = HELD_OUT,
    changes: Iterable[str] = (),
    seed: int = 0,
    watcher: Watcher | None = None,
    progress: bool = True,
) -> Updated:
    """A run that knows new facts and entities, and no longer the facts taken back.

    The model starts from what the run learned; new entities start from entities that share facts
    with them, or from their texts, if it reads texts. Then it learns what changed, and some of what
    is near, for a few epochs. A share of the new facts is held out: on these, the old decider (that
    of the run's folder) is checked, relation by relation. The new run has thresholds that were
    found anew by the same rule (`tuned`), or the old ones (`kept`).

    `entity_names` and `types` are files about new entities, as `read` takes them; those of the
    benchmark keep the names and types that they have.

    With `out`, the new run and its benchmark go into a folder; the same call takes up an update
    that was stopped there. `changes` are settings such as "update.epochs=4". A `watcher` is told of
    every step and event, in place of the `progress` that is shown where a person watches.
    """
    refuse_unknown(thresholds, THRESHOLDS, "thresholds")
    settings = update_settings(changes)
    run = run if isinstance(run, Run) else load_run(run)
    if decider is None and run.folder and decider_file(run.folder).exists():
        decider = load_decider(run.folder, run)
    start = time.process_time()
    with shown(watcher or progress, watching) as told:
        told.event(event="change", message="changing the benchmark")
        added = _read(facts, entity_names, types, run.benchmark)
        gone = removed if isinstance(removed, KnowledgeBase | None) else read(removed)
        if not len(added.facts):
            raise DataError(f"{added.source.name}: no fact in it")
        found = change(run.benchmark, added, gone, held_out=held_out, seed=seed)
        told.event(event="learn", message="learning what changed")
        folder = found_again(Path(out)) if out is not None else None
        after = _learned(run, found, settings, folder, told)
        told.event(event="check", message="checking the thresholds")
        new_decider, stale = _decided(run, after, found, decider, thresholds)
    if folder is not None and new_decider is not None:
        save_decider(new_decider, folder, found.benchmark)
    return Updated(after, found, new_decider, stale, time.process_time() - start)


def _read(
    facts: KnowledgeBase | str | Path,
    entity_names: str | Path | None,
    types: str | Path | None,
    benchmark: Benchmark,
) -> KnowledgeBase:
    """The new facts, with what is told of their entities."""
    if types is not None and benchmark.types is None:
        raise DataError(
            f"{types}: the benchmark has no types, so those of new entities would go unheard; "
            "build it anew with --types"
        )
    if not isinstance(facts, KnowledgeBase):
        return read(facts, entity_names=entity_names, types=types)
    if entity_names is not None or types is not None:
        raise ConfigError("the facts are read already; give names and types to assent.read")
    return facts


def _learned(
    run: Run, found: Change, settings: UpdateSettings, folder: Path | None, watcher: Watcher
) -> Run:
    """The run with a model that knows the changed benchmark; in a folder, taken up or done."""
    benchmark = found.benchmark
    where = "" if folder is None else str((folder / BENCHMARK).resolve())
    if folder is not None:
        _begin(run, found, settings, folder, where)
    if isinstance(run.model, RuleModel):  # counting is no slower than learning what changed
        return fit(benchmark, run.settings, folder, where, watcher)
    with nullcontext() if folder is None else training_in(folder):
        if folder is not None and (folder / WEIGHTS).exists():
            model = new_model(run.settings, benchmark.vocabulary)
            model.load_state_dict(read_weights(folder))
            shutil.rmtree(folder / UPDATING)
            return Run(benchmark, run.settings, model.eval(), run.trained, folder)
        model = grown(run, run.model, found)
        _train(run, model, found, settings, folder, watcher)
        if folder is not None:
            _write_trace(run, found, folder)
            save_weights(folder, model.state_dict())
            shutil.rmtree(folder / UPDATING)
    return Run(benchmark, run.settings, model, run.trained, folder)


def grown(run: Run, model: Model, found: Change) -> Model:
    """A model with the numbers of the run's, which also knows the new entities."""
    benchmark = found.benchmark
    names = benchmark.vocabulary
    if not found.num_new:
        made = new_model(run.settings, names)
        made.load_state_dict(model.state_dict())
        assert isinstance(made, Model)
        made.see(benchmark.train)
        return made
    texts = texts_since(run.settings, names, benchmark.types, found.first_new)
    if texts is not None:
        return model.knowing(texts)
    torch.manual_seed(run.settings.train.seed)
    made = new_model(run.settings, names)
    assert isinstance(made, Model)
    alike = Alike.of(benchmark.train, found.first_new, names.num_entities, names.num_relations)
    warm(model, made, alike).see(benchmark.train)
    return made


def _train(
    run: Run,
    model: Model,
    found: Change,
    settings: UpdateSettings,
    folder: Path | None,
    watcher: Watcher,
) -> None:
    names = found.benchmark.vocabulary
    queries = Queries.grouped(*both_ways(found.benchmark.train, names.num_relations))
    moved = np.concatenate([found.added, found.taken_back])
    anchors, slots, _ = both_ways(moved, names.num_relations)
    touched = found.is_new
    touched[anchors] = True
    keys = distinct(slots.astype(np.int64) * names.num_entities + anchors)
    if not model.derives():  # else it works its numbers out from the queries, and needs all
        queries = to_learn(queries, touched, keys, settings.around, run.settings.train.seed)
    train_model(
        model,
        queries,
        settings.of(run.settings.train),
        lambda _: math.nan,
        watcher,
        None if folder is None else folder / UPDATING,
        pull=Anchor(model, found.first_new, settings.radius).pull,
    )


def _begin(run: Run, found: Change, settings: UpdateSettings, folder: Path, where: str) -> None:
    """Makes the folder of the new run, with its benchmark; one of the same update is taken up."""
    benchmark = found.benchmark
    made_of = {
        "format": 1,
        "model": run.model.digest(),
        "before": run.benchmark.digest(),
        "benchmark": benchmark.digest(),
        "told": _told(found),
        "settings": asdict(settings),
    }
    if (path := folder / RECORD).exists():
        if read_json(path) != made_of:
            raise DataError(
                f"{folder}: another update was made or begun here; choose another folder"
            )
    elif folder.exists() and any(folder.iterdir()):
        raise DataError(f"{folder}: is there already and is no update; choose another folder")
    about = folder, run.settings, origin_for(folder, where, benchmark), benchmark.vocabulary
    if not path.exists():
        with new_run(*about) as part:
            (part / RECORD).write_text(json.dumps(made_of, indent=1) + "\n", encoding="utf-8")
            record(part / RECORD)
    start_run(*about)
    if not (folder / BENCHMARK).exists() or load(where).digest() != benchmark.digest():
        save(benchmark, folder / BENCHMARK, overwrite=True)
    (folder / UPDATING).mkdir(exist_ok=True)


def _told(found: Change) -> str:
    """A checksum of the labels and types of the new entities, which a model may read."""
    names, types = found.benchmark.vocabulary, found.benchmark.types
    new = np.flatnonzero(found.is_new).astype(np.int32)
    texts = Texts.of(names.with_entities(new), types and types.with_entities(new))
    return hashlib.sha256(json.dumps([texts.names, texts.types]).encode()).hexdigest()


def _write_trace(run: Run, found: Change, folder: Path) -> None:
    """The trace of the old training, which tells how long to train anew, and then of this."""
    forget(folder / TRACE)
    trace = Trace(folder / TRACE)
    trace.rewind(0)
    if run.folder is not None:
        with beside(folder / TRACE) as part:
            part.write_bytes((run.folder / TRACE).read_bytes())
    else:
        for score in run.trained.scores:
            trace("evaluation", score=score)
        trace("end", epochs=run.trained.epochs, best_epoch=run.trained.best_epoch)
    counts = {"added": len(found.added), "held_out": len(found.held_out)}
    trace("update", **counts, taken_back=found.num_taken_back, entities=found.num_new)
    record(folder / TRACE)


# Deciding


def _decided(
    before: Run, after: Run, found: Change, decider: Decider | None, thresholds: str
) -> tuple[Decider | None, tuple[Staleness, ...]]:
    """The decider of the new run, and how the old one does on the new queries of valid."""
    if decider is None or decider.needs_spread:
        return None, ()
    promise = decider.found.get("promise", {})
    numbers = {name: promise[name] for name in ("precision", "confidence") if name in promise}
    tuned = tune(after, decider.rule, decider.objective, **numbers)
    kept = for_model(decider, after)
    made = tuned if thresholds == "tuned" else kept
    fresh = found.fresh["valid"]
    if not fresh.any():
        return made, ()
    lowest = Thresholds.of(np.minimum(kept.floors.values, tuned.floors.values))
    new = replace(found.benchmark, valid=found.benchmark.valid.take(fresh))
    asked = Asked(new, after.model)
    old = _shortlist(before, decider.floors)
    stale = staleness(
        (old, decider.accept(old)), _shortlist(asked, lowest), kept, tuned, new.vocabulary
    )
    return made, tuple(stale)


def _shortlist(run: Scored, floors: Thresholds) -> Shortlist:
    above = Above(run.benchmark.valid, floors)
    collect(score_split(run, "valid"), above)
    return above.result()
