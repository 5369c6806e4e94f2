"""Is a promised precision kept? Thresholds from valid, decisions on test, for several promises.

python benchmarks/promise.py RUN [RUN ...]

Of scores first, then as a judge scores them.

"below": relations that promise alone and whose precision on test is lower than promised; "clearly":
more than 1.645 standard errors lower, between queries or between facts, whichever are larger.
"""

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from assent.core.counts import Counts, precision
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.promising import Promise, Promised, promised
from assent.deciding.shortlisting import Above, Highest
from assent.measuring.classification import Classified, intervals
from assent.reporting.grid import digits
from assent.scoring import score_split
from assent.verbs.runs import Run, load_run
from assent.verbs.tune import tune

PROMISES = (0.5, 0.7, 0.8, 0.9, 0.95)
HEADER = (
    "promised", "alone", "pool", "cannot", "facts, valid", "precision", "facts, test", "precision",
    "95 %", "below", "clearly",
)  # fmt: skip


def main(folders: list[str]) -> None:
    for folder in folders:
        run = load_run(folder)
        asked = f"{len(run.benchmark.valid):,} queries of valid"
        for what, halves in (("scores", scored(run)), ("a judge", judged(run))):
            print(f"\n{folder}: {run.settings.name}, {what}, {asked}\n")
            print("| " + " | ".join(HEADER) + " |\n|" + "---:|" * len(HEADER))
            show(*halves)


def show(valid: Shortlist, test: Shortlist) -> None:
    for least in PROMISES:
        kept = promised(valid, Promise(least))
        print("| " + " | ".join(line(kept, test)) + " |", flush=True)


def scored(run: Run) -> Iterator[Shortlist]:
    """The highest candidates of valid, and those of test that any threshold could accept."""
    benchmark = run.benchmark
    highest = Highest(benchmark.valid, benchmark.vocabulary.num_slots)
    collect(score_split(run, "valid"), highest)
    yield (shortlist := highest.result())
    above = Above(benchmark.test, Thresholds.of(shortlist.floors))
    collect(score_split(run, "test"), above)
    yield above.result()


def judged(run: Run) -> Iterator[Shortlist]:
    """The candidates of valid and test that a judge looks at, as it scores them."""
    judge = tune(run, "judge")
    for split in ("valid", "test"):
        above = Above(run.benchmark.queries(split), judge.floors, spread=True)
        collect(score_split(run, split), above)
        shortlist = above.result()
        floors = np.full_like(shortlist.floors, -np.inf)
        yield replace(shortlist, scores=judge.rescore(shortlist), floors=floors)


def line(kept: Promised, test: Shortlist) -> list[str]:
    promising = np.isfinite(kept.thresholds.values)
    by_query = test.counts(test.accepted(kept.thresholds))
    span = intervals(Classified(test.queries, by_query))["full"]["precision"]
    valid, found = kept.counts.total(), by_query.total()
    alone = np.flatnonzero(promising & ~kept.pooled)
    least = kept.promise.precision
    parts = [by_query.take(test.queries.relations == slot) for slot in alone]
    return [
        digits(least),
        f"{len(alone):,}",
        f"{int((promising & kept.pooled).sum()):,}",
        f"{int((kept.asked & ~promising).sum()):,}",
        f"{valid.accepted:,}",
        digits(precision(valid)),
        f"{found.accepted:,}",
        digits(precision(found)),
        f"{digits(span.low)} to {digits(span.high)}",
        str(sum(part.total().correct < least * part.total().accepted for part in parts)),
        str(sum(clearly_below(part, kept.promise) for part in parts)),
    ]


def clearly_below(counts: Counts, promise: Promise) -> bool:
    """Whether a relation's precision is lower than promised by more than chance between queries."""
    total, least = counts.total(), promise.precision
    missing = least * total.accepted - total.correct
    spread = np.sqrt(np.sum((counts.correct - least * counts.accepted) ** 2.0))
    return bool(missing > 1.645 * max(spread, np.sqrt(least * (1 - least) * total.accepted)))


if __name__ == "__main__":
    main(sys.argv[1:])
