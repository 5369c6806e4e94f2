"""How often does a promise fail if valid is drawn anew? And if candidates were independent?

python benchmarks/promise_redrawn.py RUN [DRAWS]

The queries of valid and test together are taken as all there are, so that the true precision of
every threshold is known. For each relation and direction with enough of them, as many as valid has
are drawn with replacement, a promise is made, and it fails if the true precision is lower.
"""

import sys
from collections import defaultdict

import numpy as np

from assent.core.arrays import Ids, Keys, Mask, offsets_of, places_in
from assent.core.scores import Scores, collect
from assent.core.shortlist import Shortlist
from assent.deciding.promising import Promise, most_kept
from assent.deciding.shortlisting import Highest
from assent.scoring import score
from assent.verbs.runs import load_run

PROMISES = (0.5, 0.7, 0.9)
ENOUGH = 60  # queries
SEED = 1


class Slot:
    """All candidates of a relation and direction, query by query."""

    def __init__(self, halves: list[Shortlist], slot: int) -> None:
        floor = max(half.floors[slot] for half in halves)
        sizes, scores, right = [], [], []
        for half in halves:
            mine = (half.relations == slot) & (half.scores > floor)
            asked = half.queries.relations == slot
            sizes.append(np.bincount(half.rows[mine], minlength=len(asked))[asked])
            scores.append(half.scores[mine])
            right.append(half.right[mine])
        self.of_valid = len(sizes[0])
        self.offsets: Keys = offsets_of(np.concatenate(sizes))
        self.scores: Scores = np.concatenate(scores)
        self.right: Mask = np.concatenate(right)

    def drawn(self, rng: np.random.Generator) -> tuple[Scores, Mask, Ids]:
        """As many queries as valid has; falling scores, right, query."""
        queries = rng.integers(len(self.offsets) - 1, size=self.of_valid)
        places = places_in(self.offsets, queries)
        rows = np.repeat(np.arange(len(queries)), np.diff(self.offsets)[queries])
        order = np.argsort(-self.scores[places], kind="stable")
        places = places[order]
        return self.scores[places], self.right[places], rows[order]

    def precision(self, lowest: float) -> float:
        return float(self.right[self.scores >= lowest].mean())


def main(folder: str, draws: int) -> None:
    run, halves = load_run(folder), []
    for split in ("valid", "test"):
        queries = run.benchmark.queries(split)
        highest = Highest(queries, 2 * run.benchmark.vocabulary.num_relations)
        collect(score(run.model, queries, run.benchmark.known(split)), highest)
        halves.append(highest.result())
    sizes = sum(np.bincount(half.queries.relations, minlength=len(half.floors)) for half in halves)
    rng, chosen = np.random.default_rng(SEED), np.flatnonzero(sizes >= ENOUGH)
    made, failed, facts = defaultdict(int), defaultdict(lambda: defaultdict(int)), defaultdict(int)
    for slot in chosen:
        all_of_it = Slot(halves, int(slot))
        for _ in range(draws):
            scores, right, rows = all_of_it.drawn(rng)
            for share in PROMISES:
                for name, queries in (("as here", rows), ("binomial", np.arange(len(rows)))):
                    count = most_kept(scores.astype(np.float64), right, queries, Promise(share))
                    if count:
                        made[share, name] += 1
                        facts[share, name] += count
                        broken = all_of_it.precision(scores[count - 1]) < share
                        failed[share, name][slot] += broken
    print(f"{folder}: {len(chosen)} relations and directions, {draws} draws\n")
    print(
        "| promised | bound | promises a draw | not kept | in the worst relation | facts a draw |"
    )
    print("|---:|---|---:|---:|---:|---:|")
    for (share, name), count in sorted(made.items()):
        broken = failed[share, name]
        print(
            f"| {share:g} | {name} | {count / draws:.1f} | {sum(broken.values()) / draws:.1f} | "
            f"{max(broken.values(), default=0) / draws:.0%} | {facts[share, name] / draws:,.0f} |"
        )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15)
