"""How much processor time F1 on valid takes: the default, candidates drawn, beside all of them.

Each training is a process of its own with one thread, on FB14k-QAQ or another benchmark, in a
folder of its own. One that is there already is not trained again, and one that was stopped goes
on. The seconds are those of the trace: processor time of steps, batches, evaluations and
checkpoints. So runs can be compared though the machine has other work, as long as that does not
empty the caches.

    python benchmarks/quality.py --out FOLDER         FOLDER/default and FOLDER/all (half an hour)
    python benchmarks/quality.py --out FOLDER --only default
    python benchmarks/quality.py --benchmark FOLDER --set train.epochs=20 --set model.members=4
    python benchmarks/quality.py RUN...               of runs that are there, by their traces
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ASSENT = "from assent.cli import main; main()"
MARKS = (0.30, 0.335, 0.35)
KINDS = {
    "default": (),
    "one": ("model.members=1",),
    "all": ("train.candidates=0", "model.members=1"),
}
BESIDE = ("default", "all")  # what is trained unless told otherwise


def events_of(run: Path) -> list[dict[str, Any]]:
    trace = run / "trace.jsonl"
    if not trace.exists():
        return []
    return [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def trained(run: Path, benchmark: Path, changes: Iterable[str]) -> list[dict[str, Any]]:
    """The events of a training in this folder, once it has come to its end."""
    events = events_of(run)
    if not events or events[-1]["event"] != "end":
        words = [f"--set={change}" for change in changes]
        command = [sys.executable, "-c", ASSENT, "train", str(benchmark), "--model", "complex"]
        subprocess.run([*command, "--threads", "1", "--out", str(run), *words], check=True)
    return events_of(run)


def show(name: str, events: Iterable[dict[str, Any]]) -> None:
    """When each mark was reached, and where the time went."""
    print(name, flush=True)
    marks = list(MARKS)
    for event in events:
        if event["event"] == "evaluation":
            spent = event["processor_so_far"]
            print(f"  epoch {event['epoch']:3} {spent:8.0f} s  F1 {event['score']:.4f}", flush=True)
            while marks and event["score"] >= marks[0]:
                print(f"    {marks.pop(0):g} after {spent:.0f} s of processor time", flush=True)
        elif event["event"] == "end" and "seconds" in event:
            total = sum(event["seconds"].values())
            shares = (f"{part} {took / total:.1%}" for part, took in event["seconds"].items())
            print(f"  {event['processor_seconds']:.0f} s in all; by the clock: {', '.join(shares)}")
    for mark in marks:
        print(f"    {mark:g} not reached")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("runs", nargs="*", type=Path, help="runs that are there")
    parser.add_argument(
        "--out", type=Path, default=Path("quality-runs"), help="where runs are kept"
    )
    parser.add_argument("--benchmark", type=Path, help="FB14k-QAQ unless told otherwise")
    parser.add_argument("--only", nargs="*", choices=KINDS, default=BESIDE)
    parser.add_argument("--set", dest="changes", action="append", default=[])
    options = parser.parse_args()
    for run in options.runs:
        show(str(run), events_of(run))
    if options.runs:
        return
    if options.benchmark is None:
        from measuring import data_folder

        options.benchmark = data_folder() / "fb14k-qaq"
    for kind in options.only:
        changes = (*KINDS[kind], *options.changes)
        show(f"{kind} {' '.join(changes)}", trained(options.out / kind, options.benchmark, changes))


if __name__ == "__main__":
    main()
