"""A graph in the shape of Wikidata5M, from a file to new facts: time and memory of each command.

4.6 million entities, 822 relations and 20.6 million facts are drawn, then `assent build`, `train`,
`tune`, `complete` and `evaluate` run one after another, each as a process of its own. What one of
them took stands in FOLDER/measured.json; the same command again goes on after the last of them.

    python benchmarks/five_million.py FOLDER [--entities 4600000] [--epochs 2] [--anchors 500]
        [--set train.candidates=2048] [--threads 2]

What there is to learn: entities are of twenty kinds, and those of a kind are of communities, forty
with 4.6 million entities. Each relation leads from one kind to another. Of a relation, the members
of a community have the same eight tails, the first of them in a half of the cases, the second in a
quarter, and so on; these tails are drawn by Zipf's law, so that a few are those of many
communities. One fact in five has any tail of the right kind instead, which nothing can tell. Each
entity is the head of a fact at least; the heads of the others are drawn by Zipf's law, exponent
1/3.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from building import KINDS, Columns, used_by, write_synthetic

ENTITIES, RELATIONS = 4_600_000, 822
FACTS_EACH = 20_600_000 / ENTITIES  # for an entity, different ones
DIFFERENT = 0.955  # of the lines drawn, about
TAILS, ANY = 8, 0.2
HELD_OUT = 3_000  # facts, for valid and test together; Wikidata5M has 10,326
THREE = slice(0, 3)  # relations that are completed
SUBSETS = ("full", "C", "C+F", "I")
SETTINGS = (
    *("model.members=1", "model.dim=128", "model.bias_start=-14", "train.candidates=1024"),
    *("train.batch_size=2048", "train.optimizer=adagrad", "train.learning_rate=0.1"),
    *("model.anchor_dropout=0.3", "model.query_dropout=0.3", "train.n3=0.5"),
    *("train.evaluate_every=0", "train.checkpoint_minutes=5"),
)


def draw(entities: int, rng: np.random.Generator, start: int, count: int) -> Columns:
    """Facts with numbers from `start` on; those before `entities` have each entity as head once."""
    each = entities // KINDS
    heads = np.arange(start, start + count)
    places = (each * rng.random(count) ** 1.5).astype(np.int64)
    heads = np.where(heads < entities, heads, places * KINDS + rng.integers(KINDS, size=count))
    per_kind = (RELATIONS - 1 - heads % KINDS) // KINDS + 1  # relations that lead from there
    relations = (per_kind * rng.random(count) ** 3).astype(np.int64) * KINDS + heads % KINDS
    ranks = np.minimum(rng.geometric(0.5, count) - 1, TAILS - 1)
    usual = menu(entities, heads, relations, ranks)
    other = (each * rng.random(count) ** 4).astype(np.int64) * KINDS + usual % KINDS
    return heads, relations, np.where(rng.random(count) < ANY, other, usual)


def menu(entities: int, heads: np.ndarray, relations: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The tail of this rank that the community of a head has for a relation."""
    each = entities // KINDS
    count = max(round(each**0.5 / 12), 1)
    communities = heads // KINDS * count // each * KINDS + heads % KINDS
    mixed = (communities * RELATIONS + relations) * TAILS + ranks
    mixed = mixed.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    drawn = ((mixed ^ (mixed >> np.uint64(32))) >> np.uint64(11)).astype(np.float64) / 2.0**53
    tails: np.ndarray = (each * drawn**4).astype(np.int64) * KINDS
    return tails + relations // KINDS % KINDS


def is_usual(entities: int, facts: list[dict[str, Any]]) -> np.ndarray:
    """Which of the new facts have a tail that the community of their head has."""
    heads, relations, tails = (
        np.array([int(fact[end].rpartition("/")[2]) for fact in facts], np.int64)
        for end in ("head", "relation", "tail")
    )
    ranks = range(TAILS)
    menus = [menu(entities, heads, relations, np.full_like(heads, rank)) for rank in ranks]
    return (np.array(menus) == tails).any(0)


class Chain:
    """The commands, one after another; what is there already is not done again."""

    def __init__(self, folder: Path, until: str) -> None:
        self.until = until
        self.file = folder / "measured.json"
        self.done: dict[str, Any] = {}
        if self.file.exists():
            self.done = json.loads(self.file.read_text(encoding="utf-8"))

    def run(self, name: str, *words: object) -> dict[str, Any]:
        """What a command took, and the JSON that it printed."""
        if name not in self.done:
            command = [sys.executable, *map(str, words)]
            self.done[name] = used_by(command)
            self.file.write_text(json.dumps(self.done, indent=1), encoding="utf-8")
        took = self.done[name]
        print(
            f"  {name:<9} {took['processor']:>8,.0f} s {took['clock']:>8,.0f} s "
            f"{took['memory']:>8.2f} GB",
            flush=True,
        )
        if name == self.until:
            raise SystemExit
        return took


def chain(given: argparse.Namespace) -> None:
    folder, entities = given.folder, given.entities
    folder.mkdir(parents=True, exist_ok=True)
    steps, assent = Chain(folder, given.until), ("-m", "assent")
    wanted = given.facts or round(FACTS_EACH * entities)
    print(f"{entities:,} entities, {wanted:,} facts: processor time, clock, peak memory")
    graph, benchmark, run = folder / "graph.tsv", folder / "benchmark", folder / "run"
    steps.run("generate", __file__, folder, "--entities", entities, "--facts", wanted, "--write")
    held_out = HELD_OUT / wanted
    built = steps.run(
        "build", *assent, "build", graph, "--out", benchmark, "--held-out", held_out, "--json"
    )
    settings = [*SETTINGS, *given.set]
    settings += [f"train.epochs={given.epochs}", f"train.threads={given.threads}"]
    words = [f"--set={setting}" for setting in settings]
    steps.run(
        *("train", *assent, "train", benchmark, "--model", "complex", "--out", run, *words),
        "--json",
    )
    steps.run("tune", *assent, "tune", run, "--rule", given.rule, "--json")
    anchors, new = folder / "anchors.txt", folder / "new.jsonl"
    relations = _first(run / "relations.tsv")[THREE]
    rng = np.random.default_rng(0)
    there = _first(run / "entities.tsv")
    asked = [there[place] for place in rng.choice(len(there), given.anchors)]
    anchors.write_text("".join(f"{name}\n" for name in dict.fromkeys(asked)), encoding="utf-8")
    steps.run(
        *("complete", *assent, "complete", run, "--relations", ",".join(relations)),
        *("--anchors", anchors, "--out", new, "--overwrite", "--json"),
    )
    measured = steps.run("evaluate", *assent, "evaluate", run, "--json")
    print(*json.loads(built["said"])["notes"], sep="\n")
    for subset, found in json.loads(measured["said"])["classification"].items():
        if subset in SUBSETS:
            numbers = (f"{name} {found[name]:.3f}" for name in ("f1", "precision", "recall"))
            print(f"{subset:<5} {'  '.join(numbers)}  ({found['queries']:,} queries of test)")
    facts = [json.loads(line) for line in new.open(encoding="utf-8")]
    usual = int(is_usual(entities, facts).sum())
    print(f"{len(facts):,} new facts, {usual:,} of them with a tail of their community")


def _first(names: Path) -> list[str]:
    """The first column of a file of names."""
    return [line.partition("\t")[0] for line in names.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--entities", type=int, default=ENTITIES)
    parser.add_argument("--facts", type=int, help="about so many different ones")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--anchors", type=int, default=500)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rule", default="per-relation")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--until", default="", help="the last command to run")
    parser.add_argument("--write", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        lines = round(given.facts / DIFFERENT / 1.04)
        write_synthetic(lines, given.folder / "graph.tsv", partial(draw, given.entities))
        return
    chain(given)


if __name__ == "__main__":
    main()
