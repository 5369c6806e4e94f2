"""The commands that `chaos` troubles, in the order in which each needs what came before it."""

import shutil
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from campaign.corpus import facts_of_towns, write

# Small enough that a command takes a tenth of a second or so, and a checkpoint after every step.
PEOPLE = 30
TRAINING = (
    "--model complex --set train.epochs=6 --set train.evaluate_every=3 --set model.dim=8 "
    "--set train.batch_size=64 --set train.checkpoint_minutes=0 --threads 1"
)
COMPLETING = "--precision 0.2 --review-above 0.01 --no-refit --overwrite"
OF_A_RUN = ("model.safetensors", "settings.toml", "entities.tsv", "relations.tsv")
NEW = [("p00", "knows", "p11"), ("new", "knows", "p03"), ("new", "lives_in", "t1")]


class Command(NamedTuple):
    """What is said, and which files it writes."""

    name: str
    words: str  # {home}: the folder that all of them share
    writes: tuple[str, ...]  # files and folders; they must be the same, bit for bit; may be none
    shown_by: str = ""  # said after it: what writes its result in words, where bits tell nothing


def in_folder(folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names)


COMMANDS = (
    Command("convert", "convert {home}/graph.tsv --out {home}/graph.nt --overwrite", ("graph.nt",)),
    Command("build", "build {home}/graph.nt --out {home}/benchmark --overwrite", ("benchmark",)),
    Command(
        "train",
        f"train {{home}}/benchmark --out {{home}}/run {TRAINING}",
        in_folder("run", OF_A_RUN),
    ),
    Command("tune", "tune {home}/run --rule global", ("run/decider.json",)),
    Command(
        "tune a judge",
        "tune {home}/run --rule judge --out {home}/judge.json",
        ("judge.json", "judge.npz"),
    ),
    Command("evaluate", "evaluate {home}/run", ("run/metrics.json",)),
    Command(
        "complete",
        "complete {home}/run --out {home}/new.tsv --review {home}/doubtful.jsonl " + COMPLETING,
        ("new.tsv", "doubtful.jsonl", "run/completion.json", "run/facts.jsonl"),
    ),
    Command(
        "import labels",
        "review {home}/run --import {home}/labels.tsv",
        ("exported.tsv",),
        "review {home}/run --export {home}/exported.tsv --overwrite",
    ),
    Command("report", "report {home}/run --out {home}/report.html", ("report.html",)),
    Command(
        "update",
        "update {home}/run --facts {home}/more.tsv --out {home}/updated --set update.epochs=2",
        in_folder("updated", (*OF_A_RUN, "decider.json", "benchmark")),
    ),
    Command("adopt", "adopt {home}/pykeen --benchmark {home}/benchmark --out {home}/adopted",
            in_folder("adopted", OF_A_RUN)),
    Command("pack", "pack {home}/run --out {home}/pack.zip --overwrite", ("pack.zip",)),
    Command("verify", "verify {home}/pack.zip", ()),
    Command("unpack", "unpack {home}/pack.zip --out {home}/unpacked", ("unpacked",)),
    Command(
        "search",
        "search {home}/benchmark --model distmult --out {home}/search --trials 2 "
        "--set train.epochs=2 --set train.evaluate_every=1 --set train.threads=1",
        ("search/search.json",),
    ),
)  # fmt: skip


def prepare_home(home: Path) -> None:
    """What the first command reads."""
    home.mkdir()
    write(home / "graph.tsv", facts_of_towns(PEOPLE))
    write(home / "more.tsv", NEW)


def prepare_review(home: Path) -> None:
    """A review that has begun, and the labels of another place that shall be imported into it."""
    import assent
    from assent.reviewing.exchange import export_labels
    from assent.verbs.review import propose, review

    run, theirs = home / "run", home / "theirs"
    propose(assent.load_run(run), least=0.01, planted=4, progress=False)
    with closing(review(run)):
        pass
    shutil.copytree(run, theirs)
    with closing(review(theirs)) as opened:
        for key in list(opened.proposals.keys)[:9]:
            opened.decide(key, "right", "ann", order="probable")
        export_labels(home / "labels.tsv", opened)
    shutil.rmtree(theirs)


def prepare_export(home: Path) -> None:
    """A model of PyKEEN, exported."""
    import numpy as np
    import torch

    import assent
    from assent.files.pykeen_exports import write_export

    names = assent.load(home / "benchmark").vocabulary
    rng = np.random.default_rng(1)
    tables = {
        kind: torch.from_numpy(rng.normal(size=(count, 4)).astype(np.float32))
        for kind, count in (("entities", names.num_entities), ("relations", names.num_relations))
    }
    document = {
        "model": "DistMult", "inverses": False, "norm": 2, "complex": [],
        "entities": {name: place for place, name in enumerate(names.entities)},
        "relations": {name: place for place, name in enumerate(names.relations)},
    }  # fmt: skip
    write_export(home / "pykeen", document, tables)


# Done before a command, in a process of its own: the one that forks must begin no threads.
BEFORE = {"import labels": prepare_review, "adopt": prepare_export}
