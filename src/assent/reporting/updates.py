"""An update in words and as a table: what came and went, and what has gone stale."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from assent.building.changing import Change
from assent.core.counts import f1, precision
from assent.core.vocabulary import Vocabulary, last_part
from assent.measuring.plain import plain
from assent.measuring.staleness import KEEP, TRAIN, TUNE, Staleness
from assent.reporting.grid import Grid, count, counted, numbers, share, texts, words

STYLES = {TUNE: "skewed", TRAIN: "wrong"}


def change_lines(change: Change) -> list[str]:
    """What joined the benchmark, what left it, and what was left out."""
    new = len(change.added) + len(change.held_out)
    lines = [
        f"{counted(new, 'new fact')} ({len(change.held_out):,} of them held out), "
        f"{counted(change.num_new, 'new entity').replace('entitys', 'entities')}, "
        f"{counted(change.num_taken_back, 'fact')} taken back"
    ]
    if change.known:
        lines.append(f"{counted(change.known, 'fact')} were known already")
    if change.beyond:
        lines.append(
            f"{counted(change.beyond, 'new fact')} about entities that building removed: only the "
            "final fit of `assent complete --precision` knows them"
        )
    for relation, facts in sorted(change.strangers.items()):
        lines.append(
            f"{last_part(relation)}: a new relation, whose {counted(facts, 'fact')} were left out; "
            "new relations need a training: build and train anew"
        )
    return lines


def stale_grid(stale: Sequence[Staleness], names: Vocabulary) -> Grid:
    """Relation by relation: decisions about the new queries, beside those about the old ones."""
    places = {name: place for place, name in enumerate(names.relations)}
    rows = [
        [
            words(last_part(names.relation(places[one.relation]))),
            count(one.kept.relevant),
            share(f1(one.before)),
            share(f1(one.kept)),
            share(f1(one.tuned)),
            share(one.expected),
            share(precision(one.kept)),
            words(
                one.suggestion if one.told else f"{KEEP} (too few)", STYLES.get(one.suggestion, "")
            ),
        ]
        for one in sorted(stale, key=lambda one: -one.kept.relevant)
    ]
    columns = [
        *texts("relation"),
        *numbers("new answers", "F1 before", "old thresholds", "new thresholds"),
        *numbers("expected right", "right"),
        *texts("suggestion"),
    ]
    notes = [
        "F1 before: of the old run on the old queries of valid; then that of the updated model on "
        "the new queries of valid. Expected right, right: of what the old thresholds accept there."
    ]
    return Grid("what has gone stale", columns, rows, notes)


def stale_line(stale: Sequence[Staleness]) -> str:
    """How many relations may stay as they are."""
    found = Counter(one.suggestion for one in stale)
    return ", ".join(f"{suggestion}: {found[suggestion]}" for suggestion in (KEEP, TUNE, TRAIN))


def update_json(change: Change, stale: Sequence[Staleness]) -> dict[str, Any]:
    """What an update added, and what is stale now, as plain values."""
    document = {
        "new_facts": len(change.added) + len(change.held_out),
        "held_out": len(change.held_out),
        "new_entities": change.num_new,
        "taken_back": change.num_taken_back,
        "known": change.known,
        "about_removed_entities": change.beyond,
        "new_relations": dict(change.strangers),
        "relations": [
            {**asdict(one), **{f"f1_{n}": f1(getattr(one, n)) for n in ("before", "kept", "tuned")}}
            for one in stale
        ],
    }
    return plain(document)
