"""Is a promised precision kept? Thresholds from valid, decisions on test, for several promises.

python benchmarks/promise.py RUN [RUN ...]

"below": relations that promise alone and whose precision on test is lower than promised; "clearly":
more than 1.645 standard errors lower, between queries or between facts, whichever are larger.
"""

import sys

import numpy as np

from assent.core.counts import Counts, precision
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.core.thresholds import Thresholds
from assent.deciding.promising import Promise, Promised, promised
from assent.deciding.shortlisting import Above, Highest
from assent.experiment import Run, load_run
from assent.measuring.classification import Classified, intervals
from assent.reporting.results import share
from assent.scoring import score

PROMISES = (0.5, 0.7, 0.8, 0.9, 0.95)
HEADER = (
    "promised", "alone", "pool", "cannot", "facts, valid", "precision", "facts, test", "precision",
    "95 %", "below", "clearly",
)  # fmt: skip


def main(folders: list[str]) -> None:
    for folder in folders:
        run = load_run(folder)
        print(f"\n{folder}: {run.settings.name}, {len(run.benchmark.valid):,} queries of valid\n")
        print("| " + " | ".join(HEADER) + " |\n|" + "---:|" * len(HEADER))
        show(run)


def show(run: Run) -> None:
    benchmark = run.benchmark
    num_slots = 2 * benchmark.vocabulary.num_relations
    highest = Highest(benchmark.valid, num_slots)
    collect(score(run.model, benchmark.valid, benchmark.known("valid")), highest)
    shortlist = highest.result()
    made = [promised(shortlist, Promise(least)) for least in PROMISES]
    lowest = np.min([kept.thresholds.values for kept in made], axis=0)
    above = Above(benchmark.test, Thresholds.of(lowest))
    collect(score(run.model, benchmark.test, benchmark.known("test")), above)
    for kept in made:
        print("| " + " | ".join(line(kept, above.result())) + " |", flush=True)


def line(kept: Promised, test: Shortlist) -> list[str]:
    promising = np.isfinite(kept.thresholds.values)
    by_query = test.counts(test.accepted(kept.thresholds))
    span = intervals(Classified(test.queries, by_query))["full"]["precision"]
    valid, found = kept.counts.total(), by_query.total()
    alone = np.flatnonzero(promising & ~kept.pooled)
    least = kept.promise.precision
    parts = [by_query.take(test.queries.relations == slot) for slot in alone]
    return [
        share(least),
        f"{len(alone):,}",
        f"{int((promising & kept.pooled).sum()):,}",
        f"{int((kept.asked & ~promising).sum()):,}",
        f"{valid.accepted:,}",
        share(precision(valid)),
        f"{found.accepted:,}",
        share(precision(found)),
        f"{share(span.low)} to {share(span.high)}",
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
