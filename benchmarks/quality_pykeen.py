"""Processor time to the same mean reciprocal rank on valid: our ComplEx beside PyKEEN's.

    python benchmarks/quality_pykeen.py BENCHMARK [--seconds 150] [--rate 0.003] [--spread 0.1]

Ours without an option; PyKEEN's with as many dimensions, KvsAll with a binary cross-entropy, too,
and Adam, in an environment of its own (`make .venv-bench/.ready` makes it). PyKEEN's default start,
standard normal numbers, suits no binary cross-entropy over all entities: unless told otherwise it
starts as ours does, without its regularizer. One thread each, one after the other. PyKEEN's weights
are scored and ranked by our code, so that both numbers mean the same; its own evaluator ranks the
last of them, too. The seconds are processor time of training alone, without evaluations.
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
from assent.verbs.train import valid_mrr

ROOT = Path(__file__).resolve().parents[1]
PEER = Path(os.environ.get("ASSENT_BENCH_PYTHON") or ROOT / ".venv-bench" / "bin" / "python")
DIM, BATCH, EVERY, EPOCHS = 256, 256, 5, 1000


class Watching:
    """Prints each evaluation, with the processor time of the steps until then."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None: ...

    def event(self, **values: Any) -> None:
        if values["event"] == "epoch":
            self.seconds += values["processor_seconds"]
        if values["event"] == "evaluation":
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


def ours(arrays: Any) -> Model:
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
    parser.add_argument("--only-pykeen", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    benchmark = assent.load(options.benchmark)
    if not options.only_pykeen:
        print("assent, complex without an option")
        changes = ["train.threads=1", "train.stop_on=mrr"]
        assent.train(benchmark, "complex", changes=changes, watcher=Watching())
    print(
        f"PyKEEN, complex of {DIM} dimensions, batch {BATCH}, learning rate {options.rate:g}, "
        f"start {options.spread}"
    )
    mrr = valid_mrr(benchmark)
    for epoch, arrays in pykeen(benchmark, options.rate, options.spread, options.seconds):
        show(epoch, float(arrays["seconds"]), mrr(ours(arrays)))
        if "mrr" in arrays:
            print(f"  by PyKEEN's own evaluator: MRR {float(arrays['mrr']):.4f}")


if __name__ == "__main__":
    main()
