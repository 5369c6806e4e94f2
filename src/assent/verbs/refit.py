"""The final fit: the model of a run once more, trained on all facts that are known."""

import math
import shutil
from dataclasses import replace
from pathlib import Path

from assent.core.benchmark import Benchmark
from assent.errors import ConfigError
from assent.files.places import SETTINGS
from assent.models import Model
from assent.reporting.progress import Unwatched, watching
from assent.reporting.showing import shown
from assent.scoring import Scored
from assent.settings import Settings, read_toml
from assent.training.loop import Watcher
from assent.verbs.runs import Run, begun_with, load_run
from assent.verbs.train import fit

REFIT = "refit"  # the folder of the final fit, within that of the run


def refit(run: Run, watcher: Watcher | None = None, *, progress: bool = True) -> Run:
    """The same model once more, trained on all facts that are known, and on nothing held out.

    It trains for as many epochs as served the run best, in the folder `refit` of the run's own; one
    that is there is taken up. Its benchmark has train facts alone, and the entities that building
    removed come after the others.
    """
    if not run.trained.epochs:
        raise ConfigError(
            "refit: another library trained this model, and it is not known how; train one here, "
            "or do without"
        )
    epochs = max(run.trained.best_epoch, 1)
    settings = replace(
        run.settings, train=replace(run.settings.train, epochs=epochs, evaluate_every=0)
    )
    folder = run.folder / REFIT if run.folder else None
    whole = run.benchmark.whole()
    peers = run.model.peers if isinstance(run.model, Model) else None
    first = peers is None or peers.first
    if folder is not None and first and not _goes_on(folder, settings, whole):
        shutil.rmtree(folder)  # of the run as it was before it was trained further
    with shown(watcher or progress, watching) as told:
        if peers is None or folder is None:
            return fit(whole, settings, folder, "", told)
        peers.told("ready")  # the others wait until the folder is as it shall be
        training = peers.in_tiles(1)
        fit(whole, settings, folder, "", told if first else Unwatched(), peers=training)
    return load_run(folder, benchmark=whole)


def _goes_on(folder: Path, settings: Settings, benchmark: Benchmark) -> bool:
    """Whether a training in this folder, if there is one, has these settings and these facts."""
    if (begun := begun_with(folder)) is None:
        return True
    origin = read_toml(folder / SETTINGS).get("benchmark", {})
    same: bool = origin.get("sha256") == benchmark.digest()
    return same and begun == settings.sections()


def refit_minutes(run: Scored) -> float:
    """How long training on all facts would take, by how long training took; inf: it cannot be."""
    if not isinstance(run, Run) or not run.trained.epochs:
        return math.inf
    trained, benchmark = run.trained, run.benchmark
    epochs = max(trained.best_epoch, 1) / max(trained.epochs, 1)
    more = len(benchmark.whole().train) / max(len(benchmark.train), 1)
    return trained.seconds * epochs * more / 60
