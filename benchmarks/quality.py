"""How much processor time F1 on valid takes: candidates drawn beside all of them.

Each training is a process of its own with one thread, on FB14k-QAQ or another benchmark. The
seconds are of processor time and of everything: loading, steps, evaluations. So runs can be
compared though the machine has other work, as long as that does not empty the caches.

    python benchmarks/quality.py                      both, one after the other (an hour or so)
    python benchmarks/quality.py --only drawn         a tenth; `all` for all candidates
    python benchmarks/quality.py --benchmark FOLDER --set train.epochs=20 --set model.members=4
    python benchmarks/quality.py RUN...               of runs that are there, by their traces
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

MARKS = (0.30, 0.335, 0.35)
KINDS = {"drawn": ("train.candidates=0.1",), "all": ("train.candidates=0",)}


class Printing:
    """A line an event, with the processor seconds of the whole process."""

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None: ...

    def event(self, **values: Any) -> None:
        print(json.dumps({**values, "processor_so_far": time.process_time()}), flush=True)


def train(benchmark: Path, changes: Iterable[str], every: int) -> None:
    """Trains in this process."""
    import torch

    import assent

    torch.set_num_threads(1)
    often = ("train.threads=1", f"train.evaluate_every={every}")
    assent.train(benchmark, "complex", changes=[*often, *changes], watcher=Printing())


def events_of(kind: str, options: argparse.Namespace) -> Iterable[dict[str, Any]]:
    """Those of a training in a process of its own, as they come."""
    words = [f"--set={change}" for change in (*KINDS[kind], *options.changes)]
    where = ["--benchmark", str(options.benchmark), "--every", str(options.every)]
    command = [sys.executable, __file__, "--train", *where, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as training:
        for line in training.stdout or ():
            yield json.loads(line)
    if training.returncode:
        raise SystemExit(training.returncode)


def show(name: str, events: Iterable[dict[str, Any]]) -> None:
    """When each mark was reached, and where the time went."""
    print(name, flush=True)
    marks, spent = list(MARKS), 0.0
    for event in events:
        if event["event"] == "evaluation":
            spent = event["processor_so_far"]
            print(f"  epoch {event['epoch']:3} {spent:8.0f} s  F1 {event['score']:.4f}", flush=True)
            while marks and event["score"] >= marks[0]:
                print(f"    {marks.pop(0):g} after {spent:.0f} s of processor time", flush=True)
        elif event["event"] == "end" and "seconds" in event:
            total = sum(event["seconds"].values())
            shares = (f"{part} {took / total:.1%}" for part, took in event["seconds"].items())
            print(f"  by the clock: {', '.join(shares)}")
    for mark in marks:
        print(f"    {mark:g} not reached")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="*", type=Path, help="runs that are there")
    parser.add_argument("--benchmark", type=Path, help="FB14k-QAQ unless told otherwise")
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--every", type=int, default=5, help="epochs from evaluation to evaluation")
    parser.add_argument("--set", dest="changes", action="append", default=[])
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.runs:
        for run in options.runs:
            lines = (run / "trace.jsonl").read_text(encoding="utf-8").splitlines()
            show(str(run), map(json.loads, lines))
        return
    if options.benchmark is None:
        from measuring import data_folder

        options.benchmark = data_folder() / "fb14k-qaq"
    if options.train:
        train(options.benchmark, options.changes, options.every)
        return
    for kind in [options.only] if options.only else KINDS:
        show(f"{kind} {' '.join(options.changes)}", events_of(kind, options))


if __name__ == "__main__":
    main()
