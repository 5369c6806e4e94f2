"""Hide a tenth of a graph's facts, complete the rest, and see how many of the accepted were hidden.

    python benchmarks/hiding.py [world codex-s] [--out .hiding] [--precisions .9 .7 .5] [--most 12]

The hidden facts are gone before the benchmark is built, so neither training nor thresholds know
of them. They are only some of the true facts that the graph lacks: an accepted fact that was not
hidden counts as wrong here, right as it may be. The last column leaves out the accepted facts that
answer questions of which nothing was hidden: those are unlike the questions of valid. Decided by
thresholds first, then by a judge.

Needs minutes for each graph; a training that was stopped goes on in the same folder.
"""

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

import assent
from assent.core.arrays import frozen
from assent.core.facts import KnowledgeBase
from assent.datasets import located
from measuring import data_folder

SHARE = 0.1
COLUMNS = (
    "relation", "hidden", "on valid", "accepted", "among the hidden", "share",
    "share where something was hidden",
)  # fmt: skip

Fact = tuple[str, str, str]


def graph(name: str) -> KnowledgeBase:
    """In one piece: which of its facts are asked for is chosen anew."""
    kb = assent.read(located(name) or data_folder() / name)
    return KnowledgeBase.of_ids(kb.vocabulary, kb.facts, types=kb.types)


def hidden_from(kb: KnowledgeBase, seed: int) -> tuple[KnowledgeBase, set[Fact]]:
    """The graph without a tenth of its facts, and these."""
    hides = np.random.default_rng(seed).random(len(kb.facts)) < SHARE
    names = kb.vocabulary
    hidden = {
        (names.entities[head], names.relations[relation], names.entities[tail])
        for head, relation, tail in kb.facts[hides].tolist()
    }
    return KnowledgeBase.of_ids(names, frozen(kb.facts[~hides]), types=kb.types), hidden


def completed(name: str, folder: Path, precisions: list[float], most: int) -> None:
    kb, hidden = hidden_from(graph(name), seed=0)
    place = folder / name
    if not (place / "benchmark").exists():
        assent.save(assent.build(kb), place / "benchmark")
    alone = ["train.threads=1"]
    run = assent.train(place / "benchmark", "complex", out=place / "run", changes=alone)
    entities = set(run.benchmark.vocabulary.entities)
    findable = {fact for fact in hidden if fact[0] in entities and fact[2] in entities}
    print(f"\n## {name}: {len(kb.facts):,} facts left, {len(hidden):,} hidden", end="")
    print(f", {len(findable):,} of these about entities of the benchmark\n")
    for precision in precisions:
        for rule in ("precision", "judge"):
            found = assent.complete(run, decider=assent.tune(run, rule, precision=precision))
            print("thresholds" if rule == "precision" else rule, end=", ")
            told(found, findable, precision, most)


def told(found: assent.Completion, hidden: set[Fact], precision: float, most: int) -> None:
    """A row for each relation with accepted facts, and one for all."""
    questions = {(head, relation, "tail") for head, relation, _ in hidden}
    questions |= {(tail, relation, "head") for _, relation, tail in hidden}
    expected, tallies = dict[str, list[float]](), dict[str, Counter[str]]()
    for fact in found:
        head, relation, tail, side = (fact[key] for key in ("head", "relation", "tail", "asked"))
        right = (head, relation, tail) in hidden
        asked = {(head, relation, "tail"), (tail, relation, "head")}
        asked = {question for question in asked if side in ("both", question[2])}
        mine = {"accepted": 1, "right": right, "findable": bool(asked & questions)}
        tallies.setdefault(relation, Counter()).update(mine)
        expected.setdefault(relation, []).append(fact["expected_precision"] or np.nan)
    hides = Counter(relation for _, relation, _ in hidden)
    print(f"precision {precision:g}\n\n| {' | '.join(COLUMNS)} |\n|---|" + "---:|" * 6)
    ordered = sorted(tallies, key=lambda relation: -tallies[relation]["accepted"])
    for relation in ordered[:most]:
        row(relation, hides[relation], float(np.mean(expected[relation])), tallies[relation])
    row("all; promised", len(hidden), precision, sum(tallies.values(), Counter()))
    print()


def row(name: str, hidden: int, promised: float, tally: Counter[str]) -> None:
    accepted, right, findable = (tally[key] for key in ("accepted", "right", "findable"))
    stated = "" if np.isnan(promised) else f"{promised:.2f}"
    shares = (f"{right / count:.2f}" if count else "-" for count in (accepted, findable))
    print(f"| {name} | {hidden:,} | {stated} | {accepted:,} | {right:,} | {' | '.join(shares)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="*", default=["world", "codex-s"])
    parser.add_argument("--out", type=Path, default=Path(".hiding"))
    parser.add_argument("--precisions", type=float, nargs="+", default=[0.9, 0.7, 0.5])
    parser.add_argument("--most", type=int, default=12)
    options = parser.parse_args()
    for name in options.graphs:
        completed(name, options.out, options.precisions, options.most)


if __name__ == "__main__":
    main()
