"""What each group of features is worth to a judge: out-of-fold F1 on valid without it.

And what it costs to look at a fixed number of candidates a query.

python benchmarks/judging.py RUN [OTHER_RUN ...]
"""

import sys
from dataclasses import replace

import numpy as np

from assent.assessing import SHOWN
from assent.core.counts import f1
from assent.core.pairs import joined
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.deciding.objectives import FBeta
from assent.deciding.rules import best_single
from assent.deciding.shortlisting import Highest
from assent.experiment import load_run
from assent.judging.features import Features, features
from assent.judging.graph import LINKS, Graph
from assent.judging.judge import PER_ANSWER, judged_by, train_forest
from assent.judging.spreads import Spreads
from assent.measuring.classification import Classified
from assent.scoring import score

MOST = (10, 20, 50)  # candidates a query
GROUPS = {
    "among higher scores": ("rank", "gap_above", "mass_above"),
    "among all scores": ("below_best", "best", "expected", "effective", "share", "log_softmax"),
    "relation": (
        "known", "relation_facts", "relation_answers", "answers_a_query",
        "inverse_answers_a_query",
    ),
    "place in the graph": ("entity_seen", "entity_share", "anchor_degree", "entity_degree"),
    "related relations": (
        "anchor_fits", "anchor_fits_mean", "entity_fits", "entity_fits_mean",
    ),
    "shared neighbours": ("shared", "shared_weight"),
    "other links": LINKS,
    "question turned round": ("reverse",),
    "other models": ("score_", "reverse_", "mean", "reverse_mean"),
}  # fmt: skip


def without(known: Features, group: tuple[str, ...]) -> Features:
    """The same without the features of these names, or that begin so and go on with a number."""
    return known.only(
        tuple(
            name
            for name in known.names
            if name not in group and name.rstrip("0123456789") not in group
        )
    )


def best_only(shortlist: Shortlist, known: Features, most: int) -> tuple[Shortlist, Features]:
    """The best candidates of each query, at most so many."""
    order = np.lexsort((-shortlist.scores, shortlist.rows))
    starts = np.searchsorted(shortlist.rows, np.arange(len(shortlist.queries)))
    places = np.empty(len(shortlist), np.int64)
    places[order] = np.arange(len(shortlist)) - starts[shortlist.rows[order]]
    kept = places < most
    columns = ("rows", "entities", "scores", "right")
    fewer = {name: getattr(shortlist, name)[kept] for name in columns}
    return replace(shortlist, **fewer), replace(known, values=known.values[kept])


def show(label: str, shortlist: Shortlist, known: Features) -> None:
    judged = judged_by(train_forest(shortlist, known), shortlist, known)
    accepted = judged.scores.astype(np.float64) > best_single(judged, FBeta())
    classified = Classified(shortlist.queries, shortlist.counts(accepted))
    numbers = " | ".join(f"{f1(classified.of(name)):.4f}" for name in SHOWN)
    print(f"| {label} | {len(known.names)} | {numbers} |", flush=True)


def main(folders: list[str]) -> None:
    runs = [load_run(folder) for folder in folders]
    benchmark = runs[0].benchmark
    highest = Highest(benchmark.valid, 2 * benchmark.vocabulary.num_relations, PER_ANSWER)
    spreads = Spreads(benchmark.valid)
    collect(score(runs[0].model, benchmark.valid, benchmark.known("valid")), highest, spreads)
    shortlist = highest.result()
    known = features(shortlist, spreads, Graph(benchmark), [run.model for run in runs])
    print(f"| without | features | {' | '.join(SHOWN)} |")
    if joined(benchmark.train, benchmark.valid, benchmark.vocabulary.num_entities).held_out:
        show("nothing, links among it that were held apart", shortlist, known)
        known = known.without(LINKS)
    show("nothing", shortlist, known)
    for label, group in GROUPS.items():
        fewer = without(known, group)
        if len(fewer.names) < len(known.names):
            show(label, shortlist, fewer)
    show("all but the score", shortlist, without(known, tuple(known.names[1:])))
    for most in MOST:
        show(f"all but the best {most} of a query", *best_only(shortlist, known, most))


if __name__ == "__main__":
    main(sys.argv[1:])
