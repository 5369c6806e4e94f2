"""train: a model learns the train facts of a benchmark."""

import math
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path

import torch

from assent.adapters.popularity import Popularity
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.counts import f1
from assent.core.queries import Queries, both_ways
from assent.core.scores import Scorer, collect
from assent.deciding.curves import Curves
from assent.deciding.shortlisting import Highest
from assent.files.runs import save_weights, training_in
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.models import Model, create
from assent.reporting.progress import Unwatched
from assent.scoring import score
from assent.settings import resolve
from assent.training.loop import Watcher
from assent.training.loop import train as train_model
from assent.training.losses import dev_loss
from assent.verbs.read import place
from assent.verbs.runs import Run, begun_with, load_benchmark, start_run


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
) -> Run:
    """Trains a model on a benchmark; with `out`, in a folder, resumed where it was stopped.

    Settings come from the preset (in a folder where a run was begun, from that run), then from a
    TOML `file`, then from `changes` such as "train.epochs=10". `minutes` is the most that its steps
    may take; a folder that had fewer goes on with more.
    """
    where = "" if isinstance(benchmark, Benchmark) else str(place(benchmark).resolve())
    benchmark = load_benchmark(benchmark)
    folder = Path(out) if out is not None else None
    settings = resolve(model, preset, file, changes, begun_with(folder) if folder else None)
    refuse_unknown(settings.train.stop_on, STOPS, "train.stop_on")
    origin = {"path": where, "sha256": benchmark.digest()}
    torch.manual_seed(settings.train.seed)
    names = benchmark.vocabulary
    network = create(model, names.num_entities, names.num_relations, settings.model)
    changed = {} if folder is None else start_run(folder, settings, origin, names)
    with nullcontext() if folder is None else training_in(folder):
        trained = train_model(
            network,
            Queries.grouped(*both_ways(benchmark.train, names.num_relations)),
            settings.train,
            STOPS[settings.train.stop_on](benchmark),
            watcher or Unwatched(),
            folder,
            minutes,
            changed,
        )
        if folder is not None:
            save_weights(folder, network.state_dict())
    return Run(benchmark, settings, network, trained, folder)


def popularity(benchmark: Benchmark, measure: str) -> float | None:
    """What the baseline without a model reaches on valid; of the dev loss it has none."""
    return None if measure == "dev-loss" else STOPS[measure](benchmark)(Popularity(benchmark))


def valid_f1(benchmark: Benchmark) -> Callable[[Scorer], float]:
    """Micro-F1 on valid at the best single threshold."""
    known, num_slots = benchmark.known("valid"), benchmark.vocabulary.num_slots

    def f1_of(model: Scorer) -> float:
        highest = Highest(benchmark.valid, num_slots)
        collect(score(model, benchmark.valid, known), highest)
        return float(f1(Curves.overall(highest.result()).counts()).max(initial=0.0))

    return f1_of


def valid_mrr(benchmark: Benchmark) -> Callable[[Scorer], float]:
    """Mean reciprocal rank of the answers of valid."""
    known = benchmark.known("valid")
    answered = benchmark.valid.take(benchmark.valid.has_answers)

    def mrr_of(model: Scorer) -> float:
        standings = Standings(answered, known, benchmark.vocabulary.num_entities)
        collect(score(model, answered, known), standings)
        return mean_reciprocal_rank(standings.ranks().realistic())

    return mrr_of


def valid_loss(benchmark: Benchmark) -> Callable[[Model], float]:
    """The paper's criterion; negative, as higher is to be better."""
    known = benchmark.known("valid")
    return lambda model: -dev_loss(model, benchmark.valid, known)


# What training may stop on: a benchmark -> a model -> a number, the higher the better.
STOPS: dict[str, Callable[[Benchmark], Callable[..., float]]] = {
    "f1": valid_f1,
    "mrr": valid_mrr,
    "dev-loss": valid_loss,
}
