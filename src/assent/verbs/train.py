"""train: a model learns the train facts of a benchmark."""

import json
import math
import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch

from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.processors import processors
from assent.core.queries import Queries, both_ways
from assent.errors import ConfigError, DataError
from assent.files.atomic import found_again, tidy
from assent.files.places import CHECKPOINTS, SETTINGS
from assent.files.recording import forget, record
from assent.files.runs import (
    TRACE,
    forget_training,
    keep_place,
    save_pieces,
    save_weights,
    training_in,
)
from assent.geometry import Peers
from assent.models import Model
from assent.models.custom import theirs
from assent.models.making import shared_by
from assent.reporting.progress import Unwatched, watching
from assent.reporting.showing import shown
from assent.rules.model import RuleModel
from assent.settings import (
    Settings,
    named_by_user,
    new_model,
    resolve,
    settled,
    texts_for,
)
from assent.training.launching import launched
from assent.training.loop import Watcher
from assent.training.loop import train as train_model
from assent.training.shards import pieces
from assent.training.together import refuse_unshared
from assent.verbs.counting import count
from assent.verbs.read import place
from assent.verbs.runs import (
    Run,
    begun_with,
    change_settings,
    is_adopted,
    load_benchmark,
    origin_for,
    start_run,
)
from assent.verbs.stopping import STOPS, asked_of

SEEN = 60.0  # seconds until all machines see what one of them wrote to a disk that they share
MOST_A_PROCESSOR = 16  # threads


def train(
    benchmark: Benchmark | str | Path,
    model: str = "complex",
    *,
    out: str | Path | None = None,
    preset: str = "default",
    file: Path | None = None,
    changes: Iterable[str] = (),
    watcher: Watcher | None = None,
    minutes: float = math.inf,
    restart: bool = False,
    progress: bool = True,
) -> Run:
    """Trains a model on a benchmark; with `out`, in a folder, resumed where it was stopped.

    Settings come from the preset (in a folder where a run was begun, from that run), then from a
    TOML `file`, then from `changes` such as "train.epochs=10". `minutes` is the most that its steps
    may take; a folder that had fewer goes on with more. With `restart`, what was trained in the
    folder before is taken away first. A `watcher` is told of every step and event, in place of the
    `progress` that is shown where a person watches.

    Where torchrun started several processes, they share the entities, and each calls this.
    """
    with launched() as peers:
        where = "" if isinstance(benchmark, Benchmark) else str(place(benchmark).resolve())
        folder = found_again(Path(out)) if out is not None else None
        model = named_by_user(model)
        begun = begun_with(folder) if folder and (peers is None or peers.first) else None
        if peers is not None:
            begun = json.loads(peers.told(json.dumps(begun)))
        settings = resolve(model, preset, file, changes, begun)
        if peers is not None and not peers.first:
            watcher = Unwatched()
        with shown(watcher or progress, watching) as told:
            return fit(
                load_benchmark(benchmark), settings, folder, where, told, minutes, restart, peers
            )


def fit(
    benchmark: Benchmark,
    settings: Settings,
    folder: Path | None,
    where: str,
    watcher: Watcher,
    minutes: float = math.inf,
    restart: bool = False,
    peers: Peers | None = None,
) -> Run:
    """Trains a model with these settings on a benchmark that was read from `where`.

    With `peers`, this is one of several processes that share the entities.
    """
    refuse_device(settings.train.device)
    refuse_threads(settings.train.threads)
    refuse_unknown(settings.train.stop_on, STOPS, "train.stop_on")
    origin = origin_for(folder, where, benchmark)
    torch.manual_seed(settings.train.seed)
    names = benchmark.vocabulary
    queries = Queries.grouped(*both_ways(benchmark.train, names.num_relations))
    settings = settled(settings, len(queries))
    texts = texts_for(settings, names, benchmark.types)
    with shared_by(peers):
        network = new_model(settings, names, texts, benchmark.train)
    if peers is not None:
        refuse_unshared(network)
        if folder is None:
            raise ConfigError("several processes train in a folder; say which: out=RUN")
    first = peers is None or peers.first
    changed = {}
    if folder is not None and first:
        changed = start_run(folder, settings, origin, names)
    if folder is not None and first and is_adopted(folder):
        raise ConfigError(f"{folder}: another library trained this run; choose another folder")
    if texts is not None:
        watcher.event(event="texts", message=texts.summary())
    with nullcontext() if folder is None or not first else training_in(folder):
        if folder is not None and first:
            _begin(folder, restart)
            if changed:
                change_settings(folder, settings, origin)
            if where:
                keep_place(folder, Path(where))
        if peers is not None and folder is not None:
            changed = _all_there(peers, folder, changed)
        asked = asked_of(benchmark, settings.train)
        if settings.train.evaluate_every and len(asked) < len(benchmark.valid):
            said = f"evaluations ask {len(asked):,} of the {len(benchmark.valid):,} valid queries"
            watcher.event(event="asking", message=f"{said} (train.evaluate_queries)")
        if isinstance(network, RuleModel):
            trained = count(network, benchmark, settings, watcher, folder, minutes)
        else:
            with theirs():
                trained = train_model(
                    network,
                    queries,
                    settings.train,
                    STOPS[settings.train.stop_on](benchmark, asked),
                    watcher,
                    folder,
                    minutes,
                    changed,
                )
        if folder is not None and peers is not None and isinstance(network, Model):
            _save_together(peers, folder, network)
        elif folder is not None:
            save_weights(folder, network.state_dict())
        if folder is not None and first:
            record(folder / TRACE)
    return Run(benchmark, settings, network, trained, folder)


def _all_there(peers: Peers, folder: Path, changed: dict[str, Any]) -> dict[str, Any]:
    """When the first process has made the folder: the settings that changed, for all."""
    changed = json.loads(peers.told(json.dumps(changed)))
    deadline = time.monotonic() + SEEN
    while not (folder / SETTINGS).exists() and time.monotonic() < deadline:
        time.sleep(0.5)
    if not (folder / SETTINGS).exists():
        raise DataError(
            f"{folder}: {peers} does not see it, and the first made it; the folder of a run must "
            "be on a disk that all machines share"
        )
    return changed


def _save_together(peers: Peers, folder: Path, network: Model) -> None:
    """The first process writes the weights, which come to it in blocks of rows."""
    weights = pieces(network, peers)
    if peers.first:
        save_pieces(folder, weights)
    else:
        for tensor in weights.values():
            list(tensor.pieces)
    peers.told("saved")  # the others go when all is on the disk


def _begin(folder: Path, restart: bool) -> None:
    """Makes the folder of a run ready to be trained in."""
    for inner in (folder, folder / CHECKPOINTS):
        tidy(inner)
    if restart:
        forget_training(folder)
    forget(folder / TRACE)  # it grows: its checksum comes with its end


def refuse_threads(number: int) -> None:
    """Ends before anything is made where far more are asked for than there are processors.

    A thread that cannot be started ends the process without a word of ours, and more threads than
    processors do nothing faster.
    """
    most = MOST_A_PROCESSOR * processors()
    if number > most:
        raise ConfigError(
            f"train.threads = {number}, but there are {processors()} processors here; choose "
            f"{most} at most"
        )


def refuse_device(name: str) -> None:
    """Ends before anything is made where torch cannot use this device."""
    try:
        torch.empty(0, device=name)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0].partition(":")[0]
        if reason.startswith("Expected one of"):
            reason = "torch knows no such device"
        raise ConfigError(
            f"train.device = {name!r} cannot be used here ({reason}); choose cpu"
        ) from error
