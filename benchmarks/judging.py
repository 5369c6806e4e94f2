"""What each group of features is worth to a judge: out-of-fold F1 on valid without it.

And what it costs to look at a fixed number of candidates a query.

    python benchmarks/judging.py RUN [--with OTHER_RUN ...] [--only GROUP ...]

`--only` leaves all rows out but the first and those of these groups, as they are named in the
table: on a large valid each row takes a minute. Nothing here looks at test.
"""

import argparse
from dataclasses import replace

import numpy as np

from assent.core.counts import f1
from assent.core.pairs import joined
from assent.core.queries import WITH_ANSWERS
from assent.core.scores import collect
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.deciding.curves import best_single
from assent.deciding.features import Features
from assent.deciding.graph import LINKS
from assent.deciding.judge import PER_ANSWER, judged_by, train_forest
from assent.deciding.objectives import FBeta
from assent.deciding.shortlisting import Highest
from assent.measuring.classification import Classified
from assent.scoring import score_split
from assent.verbs.deciders import features_from
from assent.verbs.runs import load_run

MOST = (10, 20, 50)  # candidates a query


def _rules(kind: str, *numbers: str) -> tuple[str, ...]:
    return tuple(f"rule_{kind}_{number}" for number in numbers)


ALL_RULES = ("rule_all", *_rules("all", "rank", "below_best", "lead"))
RULES = (
    *_rules("anchor", "best", "together", "mean"),
    *_rules("entity", "best", "together", "mean"),
    *_rules("slots", "best", "together"),
    *_rules("paths", "best", "together"),
    *_rules("anchor_ends", "best", "together"),
    *_rules("entity_ends", "best", "together"),
    *ALL_RULES,
)
LIKENESS = ("like_answers", "like_answers_sum", "like_anchors", "like_anchors_sum")
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
    "rules: constants of the anchor": _rules("anchor", "best", "together", "mean"),
    "rules: constants of the entity": _rules("entity", "best", "together", "mean"),
    "rules: slots": _rules("slots", "best", "together"),
    "rules: paths": _rules("paths", "best", "together"),
    "rules: constants after two steps": (
        *_rules("anchor_ends", "best", "together"),
        *_rules("entity_ends", "best", "together"),
    ),
    "rules: all together": ALL_RULES,
    "rules": RULES,
    "likeness": LIKENESS,
    "rules and likeness": RULES + LIKENESS,
    "query turned round": ("reverse",),
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


def show(label: str, names: Vocabulary, shortlist: Shortlist, known: Features) -> None:
    judged = judged_by(train_forest(shortlist, known, names), shortlist, known)
    accepted = judged.scores.astype(np.float64) > best_single(judged, FBeta())
    classified = Classified(shortlist.queries, shortlist.counts(accepted))
    numbers = " | ".join(f"{f1(classified.of(name)):.4f}" for name in WITH_ANSWERS)
    print(f"| {label} | {len(known.names)} | {numbers} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run")
    parser.add_argument("--with", dest="others", nargs="*", default=[])
    parser.add_argument("--only", nargs="*", choices=[*GROUPS, "nothing"])
    options = parser.parse_args()
    runs = [load_run(folder) for folder in (options.run, *options.others)]
    benchmark = runs[0].benchmark
    names = benchmark.vocabulary
    highest = Highest(benchmark.valid, names.num_slots, PER_ANSWER, spread=True)
    collect(score_split(runs[0], "valid"), highest)
    shortlist = highest.result()
    known = features_from(runs)(shortlist)
    print(f"| without | features | {' | '.join(WITH_ANSWERS)} |")
    if joined(benchmark.train, benchmark.valid, names.num_entities).held_out:
        if options.only is None:
            show("nothing, links among it that were held apart", names, shortlist, known)
        known = known.without(LINKS)
    show("nothing", names, shortlist, known)
    for label, group in GROUPS.items():
        fewer = without(known, group)
        if len(fewer.names) < len(known.names) and label in (options.only or GROUPS):
            show(label, names, shortlist, fewer)
    if options.only is not None:
        return
    show("all but the score", names, shortlist, without(known, tuple(known.names[1:])))
    for most in MOST:
        show(f"all but the best {most} of a query", names, *best_only(shortlist, known, most))


if __name__ == "__main__":
    main()
