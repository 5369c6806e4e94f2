"""Options, names and command lines that nobody expected: nothing is read from a file."""

import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random

from campaign.corpus import say
from campaign.mutating import NUMBERS, WORDS
from campaign.readers import benchmark_of, read_and_write, refuse_output


def words(rng: Random) -> str:
    """A value that nobody expected."""
    return rng.choice((*NUMBERS, *WORDS)).decode(errors="replace")


def said_settings(corpus: Path, rng: Random) -> None:
    """`--set` with odd keys and values."""
    from dataclasses import fields

    from assent.settings import model_names, model_settings, new_model, resolve
    from assent.training.settings import TrainSettings

    name = rng.choice(model_names())
    keys = [f"train.{field.name}" for field in fields(TrainSettings)]
    keys += [f"model.{field.name}" for field in fields(type(model_settings(name, {})))]
    change = f"{rng.choice([*keys, words(rng), 'model', '.'])}={words(rng)}"
    settings = resolve(name, changes=[change])
    # What a model is made of is bounded by what a machine has; the rest of it is read when needed.
    new_model(settings, benchmark_of(corpus).vocabulary)


def hostile_names(corpus: Path, rng: Random) -> None:
    """A graph of hostile names: read, shown, written in every format, read again."""
    pool = [words(rng) + rng.choice(("", "x", words(rng))) for _ in range(6)]
    pool = [name.translate({9: 32, 10: 32, 13: 32}).lstrip("\ufeff") or "x" for name in pool]
    rows = [(rng.choice(pool), rng.choice(pool), rng.choice(pool)) for _ in range(8)]
    path = corpus / "names" / "graph.tsv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    read_and_write(path.parent, path)
    code, printed = say("convert", path, "--out", path.parent / "copy.tsv")
    refuse_output(code, printed)


COMMANDS = (
    "evaluate {run} --split {x}",
    "evaluate {run} --by {x}",
    "evaluate {run} --decider {x}",
    "tune {run} --rule {x} --out {out}.json",
    "tune {run} --rule global --objective {x} --out {out}.json",
    "tune {run} --rule precision --precision {x} --confidence {x} --out {out}.json",
    "tune {run} --rule global --objective f{x} --out {out}.json",
    "complete {run} --out {out}{x}",
    "complete {run} --out {out}.tsv --overwrite --relations {x}",
    "complete {run} --out {out}.tsv --overwrite --max-facts {x} --no-refit",
    "complete {run} --out {out}.tsv --overwrite --precision {x} --missing {x} --no-refit",
    "complete {run} --part {x} --no-refit",
    "ask {run} {x} {x}",
    "ask {run} p00 lives_in --most {x}",
    "explain {run} {x} {x} {x}",
    "explain {run} p00 knows {x}",
    "build {graph} --out {out} --overwrite --removed {x}",
    "build {graph} --out {out} --overwrite --held-out {x}",
    "build {graph} --out {out} --overwrite --seed {x}",
    "build {graph} --out {out} --overwrite --deal {x}",
    "build {graph} --out {out} --overwrite --language {x} --predict {x}",
    "build {x} --out {out}",
    "convert {graph} --out {out}{x}",
    "audit {x}",
    "report {x} --out {out}",
    "train {benchmark} --model {x} --out {out}-run",
    "train {benchmark} --model complex --preset {x} --out {out}-run",
    "train {benchmark} --model complex --device {x} --out {out}-run",
    "pairs {run} --k {x}",
    "triples {run} {x} {x}",
    "review {run} --import {x}",
    "data fetch {x}",
    "update {run} {x} --out {out}-new",
    "update {run} {graph} --out {out}-new --held-out {x}",
    "adopt {x} --benchmark {benchmark} --out {out}-run",
    "diff {run} {x}",
    "verify {x}",
    "pack {run} --out {out}{x}",
    "unpack {x} --out {out}",
    "search {benchmark} --model {x} --out {out}-search",
    "complete {run} --out {out}.tsv --overwrite --review {out}{x} --no-refit",
    "build {graph} --out {out} --overwrite --types {x}",
    "build {graph} --out {out} --overwrite --max-size {x}",
    "train {benchmark} --model complex --out {out}-run --threads {x}",
    "{x} {x}",
    "--{x}",
)


def said_commands(corpus: Path, rng: Random) -> None:
    """Whole command lines with odd values."""
    line = rng.choice(COMMANDS)
    folder = corpus / "said"
    folder.mkdir(exist_ok=True)
    values = {
        "run": corpus / "run",
        "graph": corpus / "whole" / "graph.tsv",
        "benchmark": corpus / "benchmark",
        "out": folder / "out",
    }
    parts = [
        part.format(x=words(rng).replace("/dev/null", "x").replace("../../x", "x"), **values)
        for part in shlex.split(line)
    ]
    if any("\0" in part for part in parts):
        return  # no shell can say this
    before = {path.name for path in (corpus / "run").iterdir()}
    code, printed = say(*parts)
    shutil.rmtree(folder, ignore_errors=True)
    for path in (corpus / "run").iterdir():
        if path.name not in before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    refuse_output(code, printed)


SAID: dict[str, tuple[Callable[[Path, Random], None], float]] = {
    "option --set": (said_settings, 2.0),
    "names": (hostile_names, 0.4),
    "command lines": (said_commands, 0.4),
}
