"""Processor time to the same mean reciprocal rank on valid: our ComplEx beside PyKEEN's.

    python benchmarks/quality_pykeen.py BENCHMARK [--seconds 150] [--rate 0.003] [--spread 0.1]

Ours without an option; PyKEEN's with as many dimensions, KvsAll with a binary cross-entropy, too,
and Adam, in an environment of its own (`make .venv-bench/.ready` makes it). PyKEEN's default start,
standard normal numbers, suits no binary cross-entropy over all entities: unless told otherwise it
starts as ours does, without its regularizer. One thread each, one after the other. The mean
reciprocal rank is filtered by train and valid. PyKEEN's weights are ranked by our code; its own
evaluator ranks the last of them, too, and must come to the same number. The seconds are processor
time of training alone, without evaluations. The last line has the seconds that each took to the
best number of the one that got less far.
"""

import argparse
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

import assent
from assent.core.benchmark import Benchmark
from assent.models import Model, create
from assent.verbs.stopping import valid_mrr

ROOT = Path(__file__).resolve().parents[1]
PEER = Path(os.environ.get("ASSENT_BENCH_PYTHON") or ROOT / ".venv-bench" / "bin" / "python")
DIM, BATCH, EVERY, EPOCHS = 256, 256, 5, 1000
SAME = 1e-4  # two evaluators add up in other orders, and break ties of rounding otherwise

Found = list[tuple[float, float]]  # seconds of processor time, mean reciprocal rank then


class Watching:
    """Prints each evaluation, with the processor time of the steps until then, and keeps it."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.found: Found = []

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None: ...

    def event(self, **values: Any) -> None:
        if values["event"] == "epoch":
            self.seconds += values["processor_seconds"]
        if values["event"] == "evaluation":
            self.found.append((self.seconds, values["score"]))
            if values["epoch"] % EVERY == 0:
                show(values["epoch"], self.seconds, values["score"])


def show(epoch: int, seconds: float, mrr: float) -> None:
    print(f"  epoch {epoch:4} {seconds:8.1f} s  MRR {mrr:.4f}", flush=True)


def pykeen(
    benchmark: Benchmark, rate: float, spread: str, seconds: float
) -> Iterator[tuple[int, Any]]:
    """Its weights and the processor time that training took, after each EVERY epochs."""
    names = benchmark.vocabulary
    facts = {
        "train": benchmark.train,
        "valid": benchmark.valid.facts(names.num_relations),
        "known": benchmark.known("valid").facts(names.num_relations),
    }
    with tempfile.TemporaryDirectory() as scratch:
        path, out = Path(scratch) / "facts.npz", Path(scratch) / "out"
        out.mkdir()
        np.savez(path, **facts)
        sizes = names.num_entities, names.num_relations, DIM, BATCH
        words = [path, *sizes, rate, spread, EPOCHS, EVERY, seconds, out]
        script = Path(__file__).with_name("peers") / "pykeen_quality.py"
        subprocess.run([PEER, script, *map(str, words)], check=True)
        for path in sorted(out.glob("*.npz")):
            with np.load(path) as arrays:
                yield int(path.stem), arrays


def as_ours(arrays: Any) -> Model:
    """Our model with PyKEEN's numbers: there, the inverse of a relation comes right after it."""
    entities, relations = arrays["entities"], arrays["relations"]
    if not np.iscomplexobj(entities):
        entities, relations = (x.view(np.complex64).squeeze(-1) for x in (entities, relations))
    settings = {"dim": DIM, "entity_bias": False}
    model = create("complex", len(entities), len(relations) // 2, settings)
    slots = np.concatenate([relations[0::2], relations[1::2]])
    with torch.no_grad():
        for own, table in ((model.entities, entities), (model.relations, slots)):
            own.copy_(torch.from_numpy(np.concatenate([table.real, table.imag], axis=1)))
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--seconds", type=float, default=150.0, help="of PyKEEN's training")
    parser.add_argument("--rate", type=float, default=3e-3, help="PyKEEN's learning rate")
    parser.add_argument(
        "--spread",
        default="0.1",
        help="standard deviation of PyKEEN's start (0.1: as ours), or own: its defaults",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    benchmark = assent.load(options.benchmark)
    print("assent, complex without an option")
    changes = ["threads=1", "stop_on=mrr", "evaluate_every=1", "patience=1000"]
    ours = Watching()
    assent.train(benchmark, changes=[f"train.{change}" for change in changes], watcher=ours)
    print(
        f"PyKEEN, complex of {DIM} dimensions, batch {BATCH}, learning rate {options.rate:g}, "
        f"start {options.spread}"
    )
    mrr, theirs = valid_mrr(benchmark), Found()
    for epoch, arrays in pykeen(benchmark, options.rate, options.spread, options.seconds):
        seconds, found = float(arrays["seconds"]), mrr(as_ours(arrays))
        theirs.append((seconds, found))
        show(epoch, seconds, found)
        if "mrr" in arrays:
            own = float(arrays["mrr"])
            print(f"  by PyKEEN's own evaluator: MRR {own:.4f}")
            if abs(own - found) > SAME:
                raise SystemExit("the two evaluators differ: they do not measure the same")
    mark = min(max(found for _, found in each) for each in (ours.found, theirs))
    quick, slow = (first_at(mark, each) for each in (ours.found, theirs))
    print(f"MRR {mark:.4f}: assent {quick:.1f} s, PyKEEN {slow:.1f} s, {slow / quick:.1f} times")


def first_at(mark: float, found: Found) -> float:
    """The seconds after which the mean reciprocal rank was so high."""
    return next(seconds for seconds, mrr in found if mrr >= mark)


if __name__ == "__main__":
    main()
