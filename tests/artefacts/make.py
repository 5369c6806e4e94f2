"""Makes the old artefacts of this folder: a benchmark, runs and deciders that must load for ever.

    python tests/artefacts/make.py OUT

What stands here was made by assent 0.1.0, before deciders, judges and files were redrawn, and is
not to be made again: a later version would only show that it can read what it has written itself.
"""

import contextlib
import gzip
import io
import json
import random
import shutil
import sys
from pathlib import Path

import assent as house
from assent.cli import main

HERE = "@ARTEFACTS@"  # stands for the folder, wherever it is
TRAINING = (
    "train.epochs=40",
    "train.evaluate_every=20",
    "train.batch_size=32",
    "train.learning_rate=0.03",
)


def graph(folder: Path) -> None:
    """People of towns of countries, with the rules that make some of their facts predictable."""
    rng = random.Random(7)
    countries = [f"c{i}" for i in range(3)]
    towns = {f"t{i}": rng.choice(countries) for i in range(6)}
    tongues = {country: f"l{i}" for i, country in enumerate(countries)}
    people = {f"p{i:02d}": rng.choice(list(towns)) for i in range(80)}
    facts = {(town, "in", country) for town, country in towns.items()}
    facts |= {(country, "speaks", tongue) for country, tongue in tongues.items()}
    facts |= {(a, "borders", b) for a in countries for b in countries if a < b}
    for person, town in people.items():
        country = towns[town]
        facts.add((person, "lives_in", town))
        facts.add((person, "citizen_of", country if rng.random() < 0.9 else rng.choice(countries)))
        facts.add((person, "speaks", tongues[country]))
        near = [other for other, home in people.items() if home == town and other != person]
        for other in rng.sample(near, min(2, len(near))):
            facts.add((person, "knows", other))
            if rng.random() < 0.5:
                facts.add((other, "knows", person))
    kinds = {"p": "person", "t": "town", "c": "country", "l": "language"}
    names = sorted({name for head, _, tail in facts for name in (head, tail)})
    write(folder / "graph.tsv", sorted(facts))
    write(folder / "types.tsv", [(name, kinds[name[0]]) for name in names])
    write(folder / "names.tsv", [(name, f"{kinds[name[0]].title()} {name[1:]}") for name in names])


def write(path: Path, rows: list[tuple[str, ...]]) -> None:
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")


def assent(*words: object) -> str:
    """Says a command, in this process; returns what it printed."""
    sys.argv = ["assent", *map(str, words)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main()
    return printed.getvalue()


def train(benchmark: Path, out: Path, model: str, *changes: str) -> None:
    changes = tuple(f"--set={change}" for change in (*TRAINING, *changes))
    assent("train", benchmark, "--model", model, "--out", out, *changes)
    shutil.rmtree(out / "checkpoints")  # a run that has ended does not need them


def stopped(benchmark: Path, out: Path, expected: Path) -> None:
    """A run with a checkpoint in the middle of an epoch, and the weights that it must end with."""

    class Stops:
        def step(self, epoch: int, step: int, *rest: object) -> None:
            if epoch == 5 and step == 3:
                raise KeyboardInterrupt

        def event(self, **values: object) -> None: ...

    changes = ["model.dim=4", *TRAINING, "train.epochs=8", "train.checkpoint_minutes=0.0"]
    whole = house.train(benchmark, "distmult", out=expected, changes=changes)
    assert whole.trained.epochs == 8
    try:
        house.train(benchmark, "distmult", out=out, changes=changes, watcher=Stops())
    except KeyboardInterrupt:
        for file in sorted((out / "checkpoints").iterdir())[:2]:
            file.unlink()  # the one before the newest
        return
    raise AssertionError("was not stopped")


def tuned(out: Path, name: str, run: str, rule: str, *options: object) -> None:
    """A decider, its measures on test, and the candidates that it accepts there."""
    file, run_folder = out / "deciders" / f"{name}.json", out / "runs" / run
    decisions = out / "expected" / f"{name}.tsv"
    assent("tune", run_folder, "--rule", rule, "--out", file, *options)
    text = assent("evaluate", run_folder, "--decider", file, "--json", "--decisions", decisions)
    for suffix, content in ((".json.gz", text), (".tsv.gz", decisions.read_text(encoding="utf-8"))):
        packed = gzip.compress(content.encode(), mtime=0)
        (out / "expected" / f"{name}{suffix}").write_bytes(packed)
    decisions.unlink()


def make(out: Path) -> None:
    for name in ("deciders", "expected"):
        (out / name).mkdir(parents=True)
    graph(out)
    sides = ("--types", out / "types.tsv", "--entity-names", out / "names.tsv")
    kept = ("--held-out", 0.14, "--removed", 5, "--seed", 3)
    benchmark, published, runs = out / "benchmark", out / "published", out / "runs"
    assent("build", out / "graph.tsv", "--out", benchmark, *sides, *kept)
    by_query = ("--deal", "by-query", "--layout", "published")
    assent("build", out / "graph.tsv", "--out", published, *sides, *kept, *by_query)
    for folder in (benchmark, published):
        found = json.loads(assent("audit", folder, "--json"))["findings"]
        text = json.dumps(found, indent=2) + "\n"
        (out / "expected" / f"audit-{folder.name}.json").write_text(text, encoding="utf-8")
    train(benchmark, runs / "complex", "complex", "model.dim=8", "train.n3=0.05")
    train(benchmark, runs / "transe", "transe", "model.dim=8", "model.members=2")
    train(published, runs / "published", "complex", "model.dim=4", "train.n3=0.05")
    stopped(benchmark, runs / "stopped", out / "whole")
    shutil.copy(out / "whole" / "model.safetensors", out / "expected" / "stopped.safetensors")
    shutil.rmtree(out / "whole")
    for rule in ("global", "per-relation", "paper-global", "paper-relation", "judge"):
        tuned(out, f"complex-{rule}", "complex", rule)
    tuned(out, "complex-precision", "complex", "precision", *promise(0.3, 0.6))
    both = ("judge", "--with", runs / "complex", *promise(0.5, 0.8))
    tuned(out, "transe-judge-with-complex", "transe", *both)
    tuned(out, "transe-precision", "transe", "precision", *promise(0.5, 0.8))
    tuned(out, "published-global", "published", "global")
    assent("tune", runs / "transe", "--rule", "per-relation")  # stays in the run's own folder
    metrics = assent("evaluate", runs / "transe", "--json")
    (runs / "transe" / "metrics.json").write_text(metrics, encoding="utf-8")
    files = ("--out", out / "facts.jsonl", "--review", out / "review.jsonl")
    assent("complete", runs / "transe", *files, *promise(0.5, 0.8), "--review-above", 0.2)
    for file in ("graph.tsv", "names.tsv", "types.tsv"):
        (out / file).unlink()
    for path in [*out.rglob("settings.toml"), *out.glob("deciders/*.json")]:
        text = path.read_text(encoding="utf-8").replace(str(out.resolve()), HERE)
        path.write_text(text, encoding="utf-8")


def promise(precision: float, confidence: float) -> tuple[object, ...]:
    return "--precision", precision, "--confidence", confidence


if __name__ == "__main__":
    make(Path(sys.argv[1]))
