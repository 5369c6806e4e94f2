"""Models of the same size under the same budget: processor seconds of training steps.

    python benchmarks/budget.py BENCHMARK --out FOLDER [--seconds 60] [--only transe transh]
    python benchmarks/budget.py BENCHMARK --out FOLDER --valid --only --also x transe model.dim=128

`--also NAME MODEL SETTING...`, as often as wanted, trains a model with other settings. Settings
that say train.epochs get so many, whatever they take. With `--valid`, test is not looked at.

A learning rate that rises and falls once must know the number of epochs before it begins. So some
epochs of each model are trained first, for the time of the fastest (the first one compiles); then
the model is trained anew with as many epochs as the budget has room for, at least one. The best of
about three evaluations on valid is kept, thresholds are found on valid, and test is looked at once.
Each training has one thread and a folder of its own. One that is there already is not trained
again. Evaluations take no part of the budget.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import assent
from assent.verbs.runs import load_benchmark

SHARED = ("model.dim=64", "train.candidates=0.1")
EVALUATIONS = 3  # about; none ends a training, which would end it before the rate has fallen
KINDS = {
    "transe": ("transe", ("model.norm=1", "train.learning_rate=0.003")),
    "transe-squared": ("transe", ("model.norm=2", "train.learning_rate=0.005")),
    "transh": ("transh", ("train.learning_rate=0.003",)),
    "transr": ("transr", ("train.learning_rate=0.003",)),
    "transa-diagonal": ("transa", ("model.metric=diagonal",)),
    "region": ("region", ("model.anchor=plain", "model.start=1")),
    "region-scaled": ("region", ("model.anchor=scaled", "model.start=4")),
    "transa": ("transa", ()),
}


def trained(
    benchmark: assent.Benchmark, model: str, run: Path, changes: Sequence[str]
) -> list[dict[str, Any]]:
    """The events of a training in this folder, once it has come to its end."""
    trace = run / "trace.jsonl"
    if not trace.exists() or '"end"' not in trace.read_text(encoding="utf-8"):
        words = (*SHARED, *changes, "train.threads=1")
        assent.train(benchmark, model, out=run, changes=words, progress=False)
    return [json.loads(line) for line in trace.read_text(encoding="utf-8").splitlines()]


def seconds_of_epochs(events: list[dict[str, Any]]) -> list[float]:
    """Processor seconds of the steps of each epoch."""
    return [event["processor_seconds"] for event in events if event["event"] == "epoch"]


def epochs_in(
    seconds: float, benchmark: assent.Benchmark, model: str, changes: Sequence[str]
) -> int:
    """How many epochs the budget has room for, by the fastest of a few."""
    fastest = 0.0
    for epochs in (2, 20):
        if epochs * fastest <= seconds / 3:
            with tempfile.TemporaryDirectory() as folder:
                short = (f"train.epochs={epochs}", "train.evaluate_every=0")
                events = trained(benchmark, model, Path(folder) / "run", (*changes, *short))
            fastest = min(seconds_of_epochs(events))
    return max(int(seconds / fastest), 1)


def row(found: assent.Run) -> str:
    """Measured on test with one threshold, and with one for each relation."""
    cells = []
    for rule in ("global", "per-relation"):
        measured = assent.evaluate(found, assent.tune(found, rule=rule, progress=False))
        cells.append(f"{measured.f1():.3f}")
    return " | ".join([*cells, f"{measured.mrr:.3f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("benchmark", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="where runs are kept")
    parser.add_argument("--seconds", type=float, default=60.0, help="of steps, for each model")
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--also", nargs="+", action="append", default=[], metavar="NAME")
    parser.add_argument("--valid", action="store_true", help="do not look at test")
    options = parser.parse_args()
    kinds = {kind: KINDS[kind] for kind in options.only}
    kinds |= {name: (model, tuple(changes)) for name, model, *changes in options.also}
    columns = "" if options.valid else " | one | per relation | MRR"
    print(f"model | epochs, seconds of steps | on valid{columns}", flush=True)
    benchmark = load_benchmark(options.benchmark)
    for kind, (model, changes) in kinds.items():
        run = options.out / kind
        if not (run / "trace.jsonl").exists():
            said = [int(word.split("=")[1]) for word in changes if word.startswith("train.epochs=")]
            epochs = said[0] if said else epochs_in(options.seconds, benchmark, model, changes)
            every = max(epochs // EVALUATIONS, 1)
            often = (f"train.evaluate_every={every}", f"train.patience={EVALUATIONS + 1}")
            changes = (*changes, f"train.epochs={epochs}", *often)
        events = trained(benchmark, model, run, changes)
        took = seconds_of_epochs(events)
        best = max(event["score"] for event in events if event["event"] == "evaluation")
        spent = f"{len(took)}, {sum(took):.0f} s"
        measured = "" if options.valid else f" | {row(assent.load_run(run, benchmark=benchmark))}"
        print(f"{kind} | {spent} | {best:.4f}{measured}", flush=True)


if __name__ == "__main__":
    main()
