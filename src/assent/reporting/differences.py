"""Differences between two completions or benchmarks, as tables and as plain values."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from assent.core.vocabulary import last_part
from assent.measuring.plain import plain
from assent.reporting.grid import DASH, Cell, Grid, count, counted, numbers, texts, words


class State(Protocol):
    """What one side says of a fact."""

    @property
    def decision(self) -> str: ...

    @property
    def probability(self) -> float: ...


class Differs(Protocol):
    """A fact that is not the same on both sides."""

    @property
    def kind(self) -> str: ...

    @property
    def head(self) -> str: ...

    @property
    def relation(self) -> str: ...

    @property
    def tail(self) -> str: ...

    @property
    def before(self) -> State | None: ...

    @property
    def after(self) -> State | None: ...

    @property
    def why(self) -> str: ...


class Told(NamedTuple):
    """What is told about a comparison."""

    summary: Grid
    relations: Grid
    facts: Grid


def tables(facts: Sequence[Differs], same: int, most: int, labels: Mapping[str, str]) -> Told:
    """How many facts of which kind, relation by relation, and the first of them with a reason.

    Entities and relations are told by their `labels`, where they have one.
    """
    kinds = Counter(map(_kind, facts))
    summary = Grid(
        "differences",
        [*texts("what"), *numbers("facts")],
        [
            *([words(kind), count(kinds[kind])] for kind in sorted(kinds)),
            [words("same"), count(same)],
        ],
    )
    by_relation: dict[str, Counter[str]] = {}
    for each in facts:
        by_relation.setdefault(each.relation, Counter())[each.kind] += 1
    heads = sorted({each.kind for each in facts})
    relations = Grid(
        "relations",
        [*texts("relation"), *numbers(*heads)],
        [
            [words(last_part(labels.get(name, name))), *(count(found[kind]) for kind in heads)]
            for name, found in sorted(by_relation.items(), key=lambda item: -item[1].total())
        ],
    )
    left = len(facts) - most
    listed = Grid(
        "facts",
        texts("what", "head", "relation", "tail", "why"),
        [
            [
                words(_kind(x)),
                words(labels.get(x.head, x.head)),
                words(last_part(labels.get(x.relation, x.relation))),
                words(labels.get(x.tail, x.tail)),
                words(x.why or DASH),
            ]
            for x in facts[:most]
        ],
        [f"and {counted(left, 'fact')} more; --json has all"] if left > 0 else [],
    )
    return Told(summary, relations, listed)


def names_grid(
    entities: tuple[Sequence[str], Sequence[str]],
    relations: tuple[Sequence[str], Sequence[str]],
    labels: Mapping[str, str],
) -> Grid:
    """Of benchmarks: how many names came and went."""
    rows = [
        [words(what), *(count(len(part)) for part in both), *(_first(x, labels) for x in both)]
        for what, both in (("entities", entities), ("relations", relations))
    ]
    columns = [*texts("names"), *numbers("came", "went"), *texts("that came", "that went")]
    return Grid("names", columns, rows)


def differences_json(
    what: str,
    facts: Sequence[Differs],
    same: int,
    entities: tuple[Sequence[str], Sequence[str]],
    relations: tuple[Sequence[str], Sequence[str]],
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """All of it as plain values: by names, and of facts by labels as well."""
    return plain(
        {
            "what": what,
            "same": same,
            "counts": dict(Counter(each.kind for each in facts)),
            "entities": {"came": list(entities[0]), "went": list(entities[1])},
            "relations": {"came": list(relations[0]), "went": list(relations[1])},
            "facts": [
                {
                    "kind": each.kind,
                    "head": each.head,
                    "relation": each.relation,
                    "tail": each.tail,
                    "head_name": labels.get(each.head, each.head),
                    "relation_name": labels.get(each.relation, each.relation),
                    "tail_name": labels.get(each.tail, each.tail),
                    **_state("before", each.before),
                    **_state("after", each.after),
                    "why": each.why,
                }
                for each in facts
            ],
        }
    )


def _state(side: str, state: State | None) -> dict[str, Any]:
    sure = math.nan if state is None else state.probability
    return {
        side: None if state is None else state.decision,
        f"probability_{side}": None if math.isnan(sure) else sure,
    }


def _kind(each: Differs) -> str:
    """`came, accepted`, `went, was accepted`, `accepted -> review`."""
    if each.before is None:
        return f"{each.kind}, {each.after.decision if each.after else DASH}"
    if each.after is None:
        return f"{each.kind}, was {each.before.decision}"
    return f"{each.before.decision} -> {each.after.decision}"


def _first(names: Sequence[str], labels: Mapping[str, str]) -> Cell:
    more = ", …" if len(names) > 3 else ""
    return words(", ".join(labels.get(name, name) for name in names[:3]) + more or DASH)
