"""Simulated reviewers: are promises kept, and how many facts do 200 checks buy?

    python benchmarks/reviewing.py [world umls codex-s] [--share .2] [--repeats 200] [--checks 200]
        [--precisions .7 .9] [--errors 0 .02 .05] [--relations] [--out .reviewing]

A share of a graph's facts is hidden, a model is trained on the rest, and its proposals are made, as
`assent review` makes them. Then the review alone is repeated, each time with another seed of the
random design. The reviewer calls a proposal right if the whole graph has it, and errs at random in
a given share of the labels. A promise has failed if the share of right facts in what is accepted,
counted by the whole graph, is lower than promised.

`hindsight` is the number of facts that the best threshold would accept if all truth were known: the
longest run of the most probable proposals that has the precision. `accepted` is what the promise
accepts, and what was labelled as right besides; its share of hindsight as the mean, the lowest
tenth, and the share of repeats in which it is at least half.

With --relations, each relation is reviewed on its own where hindsight would accept 100 or more.
"""

import argparse
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Mask
from assent.reviewing.bounds import IS_RIGHT, Audit
from assent.reviewing.drawing import Design
from assent.reviewing.proposals import has_proposals, read_proposals
from assent.verbs.review import propose
from hiding import graph, hidden_from, trained

CONFIDENCE = 0.95
AHEAD = 5  # proposals that a reviewer is given at a time, as the page loads them ahead
FEWEST = 100  # facts that hindsight must accept for the goal to count
HEAD = (
    "| graph | sets of | promise | reviewer errs | hindsight | failed | checks | accepted "
    "| lowest tenth | at least half |"
)


class Population(NamedTuple):
    """Proposals and the truth about them."""

    probabilities: NDArray[np.float64]  # (proposal,)  falling
    relations: Ids  # (proposal,)
    right: Mask  # (proposal,)
    names: tuple[str, ...]  # of relations


class Ended(NamedTuple):
    """How one review ended."""

    checks: int
    accepted: int
    precision: float


def population(name: str, share: float, folder: Path) -> Population:
    """The proposals of a run that a share of the graph was hidden from."""
    run, _ = trained(name, share, 0, folder)
    assert run.folder is not None
    if not has_proposals(run.folder):
        propose(run)
    facts = read_proposals(run.folder).facts
    _, hidden = hidden_from(graph(name), share, 0)
    names = facts.vocabulary
    right = [
        (names.entities[h], names.relations[r], names.entities[t]) in hidden
        for h, r, t in facts.facts.tolist()
    ]
    return Population(
        facts.probabilities, facts.facts[:, 1], np.array(right, bool), names.relations
    )


def reviewed(
    given: Population, relation: int | None, precision: float, error: float, checks: int, seed: int
) -> Ended:
    """A reviewer labels what the design draws, until nothing is left or patience ends."""
    design = Design(given.probabilities, given.relations, seed)
    audit = Audit(design, design.family(relation), precision, CONFIDENCE)
    errs = np.random.default_rng((seed, 1)).random(len(design)) < error
    done = 0
    while done < checks and len(drawn := audit.next()):
        for place in drawn[: min(AHEAD, checks - done)].tolist():
            audit.add(place, bool(given.right[place] ^ errs[place]))
            done += 1
    labelled = np.flatnonzero(audit.labels == IS_RIGHT)
    if relation is not None:
        labelled = labelled[given.relations[labelled] == relation]
    accepted = np.union1d(audit.accepted(), labelled)
    share = float(given.right[accepted].mean()) if len(accepted) else 1.0
    return Ended(done, len(accepted), share)


def hindsight(right: Mask, precision: float) -> int:
    """How many of the first proposals could be accepted, if all truth were known."""
    kept = np.cumsum(right) >= precision * np.arange(1, len(right) + 1)
    return int(np.flatnonzero(kept)[-1]) + 1 if kept.any() else 0


def row(
    name: str,
    given: Population,
    relation: int | None,
    precision: float,
    error: float,
    options: argparse.Namespace,
) -> None:
    mine = np.full(len(given.right), True) if relation is None else given.relations == relation
    best = hindsight(given.right[mine], precision)
    if relation is not None and best < FEWEST:
        return
    ends = [
        reviewed(given, relation, precision, error, options.checks, seed)
        for seed in range(options.repeats)
    ]
    shares = np.array([end.accepted for end in ends]) / max(best, 1)
    failed = np.mean([end.precision < precision for end in ends])
    what = "the graph" if relation is None else given.names[relation]
    print(
        f"| {name} | {what} | {precision:g} | {error:.0%} | {best:,} | {failed:.1%} "
        f"| {np.mean([end.checks for end in ends]):.0f} | {shares.mean():.2f} "
        f"| {np.quantile(shares, 0.1):.2f} | {np.mean(shares >= 0.5):.1%} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graphs", nargs="*", default=["world", "umls", "codex-s"])
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--checks", type=int, default=200)
    parser.add_argument("--precisions", type=float, nargs="+", default=[0.7, 0.9])
    parser.add_argument("--errors", type=float, nargs="+", default=[0.0, 0.02, 0.05])
    parser.add_argument("--relations", action="store_true")
    parser.add_argument("--out", type=Path, default=Path(".reviewing"))
    options = parser.parse_args()
    print(HEAD)
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in options.graphs:
        given = population(name, options.share, options.out)
        relations = range(len(given.names)) if options.relations else [None]
        for error in options.errors:
            for precision in options.precisions:
                for relation in relations:
                    row(name, given, relation, precision, error, options)


if __name__ == "__main__":
    main()
