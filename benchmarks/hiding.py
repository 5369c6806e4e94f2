"""Hide some of a graph's facts, complete the rest, and see how many of the accepted were hidden.

    python benchmarks/hiding.py [world codex-s kinships umls] [--share .15] [--of 1] [--by fact]
        [--seeds 1] [--precisions .9 .7 .5] [--ways valid asked refit judge] [--relations 12]
        [--out .hiding]

By `fact`, each fact is hidden or not by itself. By `query`, all answers of a query (head, relation,
?) are hidden or none: as in a graph that nobody has begun to fill in there. With `--of .5`, facts
are hidden from a half of the relations alone, drawn at random; the others are complete. The hidden
facts are gone before the benchmark is built, so neither training nor deciding knows of them. An
accepted fact that was not hidden counts as wrong. On complete graphs that is the truth (world,
kinships, umls); in others (codex-s) some of these facts are right as well.

Ways of deciding: over `valid`, thresholds are found on the queries of valid; over `asked`, facts
are decided about by the rehearsal; `refit` is the same, with a final fit that proposes the facts,
also about the entities that building removed; `judge` is a rehearsal with a judge's scores. A
relation is `below` if a smaller share of its accepted facts was hidden than was wanted, and
`clearly` so if by more than 1.645 standard errors.

A training that was stopped goes on in the same folder.
"""

import argparse
from collections import Counter
from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np

import assent
from assent.core.arrays import frozen
from assent.core.facts import KnowledgeBase
from assent.datasets import located
from measuring import data_folder

Fact = tuple[str, str, str]
WHOLES = {"fact": 3, "query": 2}  # what is hidden as a whole: its number of names


class Tally(NamedTuple):
    """What became of the facts of one relation."""

    hidden: int
    accepted: int
    right: int
    estimate: float  # the share of accepted facts that are right, as the way of deciding has it
    held_out: int
    found: int  # held-out facts that the rehearsal accepted


def graph(name: str) -> KnowledgeBase:
    """In one piece: which of its facts are asked for is chosen anew."""
    kb = assent.read(located(name) or data_folder() / name)
    return KnowledgeBase.of_ids(kb.vocabulary, kb.facts, types=kb.types)


def hidden_from(
    kb: KnowledgeBase, share: float, of: float, by: str, seed: int
) -> tuple[KnowledgeBase, set[Fact]]:
    """The graph without a share of the facts of some relations, and these.

    `of` is the share of relations that facts are hidden from, `by` what is hidden as a whole.
    """
    rng, names = np.random.default_rng(seed), kb.vocabulary
    _, wholes = np.unique(kb.facts[:, : WHOLES[by]], axis=0, return_inverse=True)
    hides = (rng.random(wholes.max(initial=0) + 1) < share)[wholes]
    holey = rng.permutation(names.num_relations) < round(of * names.num_relations)
    hides &= holey[kb.facts[:, 1]]
    hidden = {
        (names.entities[head], names.relations[relation], names.entities[tail])
        for head, relation, tail in kb.facts[hides].tolist()
    }
    return KnowledgeBase.of_ids(names, frozen(kb.facts[~hides]), types=kb.types), hidden


def trained(
    name: str, share: float, of: float, by: str, seed: int, folder: Path
) -> tuple[assent.Run, set[Fact]]:
    """A run on what is left, and the hidden facts."""
    kb, hidden = hidden_from(graph(name), share, of, by, seed)
    place = folder / f"{name}-{by}-{share:g}-{of:g}-{seed}"
    if not (place / "benchmark").exists():
        assent.save(assent.build(kb), place / "benchmark")
    alone = ["train.threads=1"]
    run = assent.train(place / "benchmark", "complex", out=place / "run", changes=alone)
    return run, hidden


def over_valid(run: assent.Run, precision: float) -> assent.Completion:
    return assent.complete(run, precision, over="valid")


def over_asked(run: assent.Run, precision: float) -> assent.Completion:
    return assent.complete(run, precision, refit=False)


def over_asked_after_refit(run: assent.Run, precision: float) -> assent.Completion:
    return assent.complete(run, precision, refit=True)


def over_asked_by_judge(run: assent.Run, precision: float) -> assent.Completion:
    return assent.complete(run, precision, decider=assent.tune(run, "judge"))


WAYS: dict[str, Callable[[assent.Run, float], assent.Completion]] = {
    "valid": over_valid,
    "asked": over_asked,
    "refit": over_asked_after_refit,
    "judge": over_asked_by_judge,
}


def tallies(found: assent.Completion, hidden: set[Fact]) -> dict[str, Tally]:
    """By relation."""
    facts = [(fact["head"], fact["relation"], fact["tail"]) for fact in found]
    accepted = Counter(relation for _, relation, _ in facts)
    right = Counter(fact[1] for fact in facts if fact in hidden)
    hides = Counter(relation for _, relation, _ in hidden)
    expected = {fact["relation"]: fact["expected_precision"] for fact in found}
    names = found.vocabulary.relations
    return {
        names[outcome.relation]: Tally(
            hides[name := names[outcome.relation]],
            accepted[name],
            right[name],
            expected.get(name) or np.nan,
            outcome.held_out,
            outcome.found,
        )
        for outcome in found.outcomes
    }


def below(mine: Tally, precision: float, errors: float = 0.0) -> bool:
    """Whether a smaller share than this was right, by more than so many standard errors."""
    if not mine.accepted:
        return False
    slack = errors * sqrt(precision * (1 - precision) / mine.accepted)
    return mine.right / mine.accepted + slack < precision


def share_of(right: int, accepted: int) -> str:
    return f"{right / accepted:.2f}" if accepted else "-"


def measured(name: str, options: argparse.Namespace) -> None:
    share, of, by = options.share, options.of, options.by
    runs = [trained(name, share, of, by, seed, options.out) for seed in range(options.seeds)]
    hidden = sum(len(facts) for _, facts in runs)
    among = "its facts" if of == 1 else f"the facts of {of:.0%} of its relations"
    print(f"\n## {name}: {share:.0%} of {among} hidden by {by}, {options.seeds} draws", end="")
    print(f", {hidden:,} hidden facts\n")
    print(
        "| wanted | over | accepted | right | share | lowest share | relations | below | clearly |"
    )
    print("|---:|---|---:|---:|---:|---:|---:|---:|---:|")
    by_way: dict[tuple[str, float], list[dict[str, Tally]]] = {}
    for precision in options.precisions:
        for way in options.ways:
            draws = [tallies(WAYS[way](run, precision), facts) for run, facts in runs]
            by_way[way, precision] = draws
            every = [mine for draw in draws for mine in draw.values() if mine.accepted]
            accepted, right = (sum(mine[place] for mine in every) for place in (1, 2))
            shares = [
                sum(mine.right for mine in draw.values()) / total
                for draw in draws
                if (total := sum(mine.accepted for mine in draw.values()))
            ]
            lowest = f"{min(shares):.2f}" if shares else "-"
            print(
                f"| {precision:g} | {way} | {accepted:,} | {right:,} | {share_of(right, accepted)} "
                f"| {lowest} | {len(every):,} | {sum(below(mine, precision) for mine in every):,} "
                f"| {sum(below(mine, precision, 1.645) for mine in every):,} |"
            )
    for precision in options.precisions:
        by_relation(by_way, precision, options.ways, options.relations)


def by_relation(
    by_way: dict[tuple[str, float], list[dict[str, Tally]]],
    precision: float,
    ways: list[str],
    most: int,
) -> None:
    """The first draw: accepted and right of each way beside each other, by relation."""
    first = {way: by_way[way, precision][0] for way in ways}
    relations = sorted(
        {name for draw in first.values() for name, mine in draw.items() if mine.accepted},
        key=lambda name: -max(draw[name].accepted for draw in first.values()),
    )
    if not relations or not most:
        return
    print(
        f"\nFirst draw, {precision:g} wanted; accepted, right, estimate; in a rehearsal also",
        end="",
    )
    print(" held-out facts found again\n")
    print(f"| relation | hidden | {' | '.join(f'over {way}' for way in ways)} |")
    print("|---|---:|" + "---|" * len(ways))
    for name in relations[:most]:
        cells = []
        for way in ways:
            mine = first[way][name]
            estimate = "" if np.isnan(mine.estimate) else f", {mine.estimate:.2f}"
            again = f"; {mine.found:,} of {mine.held_out:,}" if mine.held_out else ""
            cells.append(f"{mine.accepted:,}, {mine.right:,}{estimate}{again}")
        print(f"| {name} | {first[ways[0]][name].hidden:,} | {' | '.join(cells)} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="*", default=["world", "codex-s", "kinships", "umls"])
    parser.add_argument("--share", type=float, default=0.15)
    parser.add_argument("--of", type=float, default=1.0)
    parser.add_argument("--by", choices=WHOLES, default="fact")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--precisions", type=float, nargs="+", default=[0.9, 0.7, 0.5])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=["valid", "asked", "refit"])
    parser.add_argument("--relations", type=int, default=12)
    parser.add_argument("--out", type=Path, default=Path(".hiding"))
    options = parser.parse_args()
    for name in options.graphs:
        measured(name, options)


if __name__ == "__main__":
    main()
