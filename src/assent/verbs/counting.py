"""Training of a rule model: its rules are counted in one go, and measured once on valid."""

import math
import time
from pathlib import Path
from typing import Any

import torch

from assent.core.benchmark import Benchmark
from assent.core.pairs import joined
from assent.errors import DataError
from assent.files.runs import TRACE, write_rules
from assent.files.text import lines_of
from assent.rules.graph import Graph
from assent.rules.model import RuleModel
from assent.rules.text import lines, parse
from assent.settings import Settings
from assent.training.loop import Watcher
from assent.training.trace import Trace, Trained
from assent.verbs.stopping import STOPS, asked_of

SHOWN = 100_000  # rules in RUN/rules.tsv, the surest; the model itself keeps all


def count(
    model: RuleModel,
    benchmark: Benchmark,
    settings: Settings,
    watcher: Watcher,
    folder: Path | None,
    minutes: float,
) -> Trained:
    """Has a model count its rules, or read them from the file of its settings."""
    trace = Trace(folder / TRACE if folder else None)
    trace.rewind(0)

    def tell(event: str, **values: Any) -> None:
        trace(event, **values)
        watcher.event(event=event, **values)

    if settings.train.threads:
        torch.set_num_threads(settings.train.threads)
    held_out = joined(benchmark.train, benchmark.valid, benchmark.vocabulary.num_entities).held_out
    start, cut_after = time.perf_counter(), None
    if model.settings.file:
        _read(model, benchmark, not held_out)
    else:
        minutes = min(minutes, model.settings.minutes or math.inf)
        _mine(model, benchmark, not held_out, settings.train.seed, minutes, watcher)
        cut_after = minutes if time.perf_counter() - start >= 60 * minutes else None
    if folder is not None:
        write_rules(folder, lines(model.rules, benchmark.vocabulary, SHOWN, model.settings.prior))
    seconds = round(time.perf_counter() - start, 3)
    rules = model.rules
    constants, paths, ends = len(rules.constants), len(rules.paths), len(rules.ends)
    found = (
        f"{constants:,} rules with constants, {ends:,} with a constant after two steps "
        f"and {paths:,} paths in {seconds:.0f} s"
    )
    tell("counted", message=found, constants=constants, paths=paths, ends=ends, seconds=seconds)
    scores = []
    if settings.train.evaluate_every:
        asked = asked_of(benchmark, settings.train)
        scores.append(STOPS[settings.train.stop_on](benchmark, asked)(model))
        tell("evaluation", epoch=1, score=scores[0], best=True)
    if cut_after is not None:
        tell("cut", epoch=0, minutes=cut_after)
    tell("end", epochs=1, best_epoch=1)
    return Trained(1, tuple(scores), 1, cut_after, seconds)


def _read(model: RuleModel, benchmark: Benchmark, direct: bool) -> None:
    """Gives the model the rules of the file that its settings name."""
    names, file = benchmark.vocabulary, Path(model.settings.file)
    graph = Graph.of(benchmark.train, names.num_entities, names.num_relations)
    rules = parse(lines_of(file), graph, names, str(file))
    if not len(rules):
        raise DataError(f"{file}: no rule in it is about what entities of the benchmark have")
    model.hear(benchmark.train, rules, direct)


def _mine(
    model: RuleModel,
    benchmark: Benchmark,
    direct: bool,
    seed: int,
    minutes: float,
    watcher: Watcher,
) -> None:
    """Has the model count rules for so many minutes at most; the watcher hears of each tenth."""
    tenths: dict[str, int] = {}

    def mined(what: str, done: int, total: int) -> None:
        if (tenth := 10 * done // max(total, 1)) > tenths.get(what, -1):
            tenths[what] = tenth
            watcher.event(event="mining", message=f"mining {what}: {10 * tenth} % done")

    model.learn(benchmark.train, direct, seed, minutes, mined)
