"""Rules by brute force: sets of names, loops over everything. Slow and obvious."""

from itertools import product

import numpy as np

Fact = tuple[int, int, int]  # start, slot, end


def links(facts: np.ndarray, num_relations: int) -> set[Fact]:
    """Every fact between two different entities, from both ends."""
    found: set[Fact] = set()
    for head, relation, tail in facts.tolist():
        if head != tail:
            found |= {(head, relation, tail), (tail, relation + num_relations, head)}
    return found


def with_item(known: set[Fact], slot: int, end: int) -> set[int]:
    return {x for x, s, e in known if (s, e) == (slot, end)}


def with_slot(known: set[Fact], slot: int) -> set[int]:
    return {x for x, s, _ in known if s == slot}


def constants(known: set[Fact], min_support: int) -> dict[tuple, tuple[int, int]]:
    """(head slot, head entity, body slot, body entity or None) -> support, cases."""
    items = {(s, e) for _, s, e in known}
    slots = {s for s, _ in items}
    found = {}
    for r, e in items:
        mine = with_item(known, r, e)
        for s, c in items - {(r, e)}:
            body = with_item(known, s, c)
            found[r, e, s, c] = len(mine & body), len(body)
        for s in slots - {r}:
            body = with_slot(known, s)
            found[r, e, s, None] = len(mine & body), len(body)
    return {rule: counts for rule, counts in found.items() if counts[0] >= min_support}


def joined(known: set[Fact], steps: tuple[int, ...]) -> set[tuple[int, int]]:
    """The pairs that a path joins, no entity standing on it twice."""
    ways = {(x,) for x, _, _ in known}
    for step in steps:
        ways = {
            (*way, end)
            for way in ways
            for start, slot, end in known
            if start == way[-1] and slot == step and end not in way
        }
    return {(way[0], way[-1]) for way in ways}


def paths(known: set[Fact], num_relations: int, longest: int) -> dict[tuple, tuple[int, int]]:
    """(relation, steps) -> support, cases; all with some support."""
    found = {}
    for length in range(1, longest + 1):
        for steps in product(range(2 * num_relations), repeat=length):
            pairs = joined(known, steps)
            for relation in range(num_relations):
                facts = {(x, y) for x, r, y in known if r == relation}
                if steps != (relation,) and pairs & facts:
                    found[relation, steps] = len(pairs & facts), len(pairs)
    return found


def past(known: set[Fact], start: int, slot: int, item: tuple[int, int], but: int) -> set[int]:
    """All Z with slot(start, Z) and the item, no entity standing twice, and Z not `but`."""
    if item[1] == start:
        return set()
    middles = {z for x, s, z in known if (x, s) == (start, slot)} - {but, start}
    return {z for z in middles if (z, *item) in known}


def ends(known: set[Fact], min_support: int) -> dict[tuple, tuple[int, int]]:
    """(head slot, head entity, first slot, last slot, last entity) -> support, cases.

    Only rules that were right by more than one Z.
    """
    items = {(s, e) for _, s, e in known}
    slots = {s for s, _ in items}
    everyone = {x for x, _, _ in known}
    found = {}
    for (r, e), s, item in product(items, slots, items):
        by = {x: past(known, x, s, item, e) for x in everyone}
        cases = {x for x, middles in by.items() if middles}
        right = cases & with_item(known, r, e)
        middles = set().union(*(by[x] for x in right))
        if len(right) >= min_support and len(middles) > 1:
            found[r, e, s, *item] = len(right), len(cases)
    return found


def ends_of_fact(known: set[Fact], candidate: Fact) -> dict[tuple, tuple[int, int]]:
    """(first slot, last slot, last entity) -> support, cases, of rules that speak for a candidate.

    Its own case is taken away from both, where it is known.
    """
    anchor, slot, entity = candidate
    items = {(s, e) for _, s, e in known}
    others = {x for x, _, _ in known} - {anchor}
    found = {}
    for s, item in product({s for s, _ in items}, items):
        if not past(known, anchor, s, item, entity):
            continue
        by = {x: past(known, x, s, item, entity) for x in others}
        cases = {x for x, middles in by.items() if middles}
        right = cases & with_item(known, slot, entity)
        if len(right) > 1 and len(set().union(*(by[x] for x in right))) > 1:
            found[s, *item] = len(right), len(cases) + (candidate not in known)
    return found


def without_pair(known: set[Fact], one: int, other: int) -> set[Fact]:
    """All links but those between two entities."""
    return {link for link in known if {link[0], link[2]} != {one, other}}


def spoken(
    known: set[Fact],
    constant_rules: dict[tuple, tuple[int, int]],
    path_rules: dict[tuple, tuple[int, int]],
    end_rules: dict[tuple, tuple[int, int]],
    candidate: Fact,
    num_relations: int,
    direct: bool,
    prior: float,
) -> dict[str, list[float]]:
    """The confidences of all rules that fire for a candidate (anchor, slot, entity), by kind."""
    anchor, slot, entity = candidate
    kinds = ("anchor", "entity", "slots", "paths", "anchor_ends", "entity_ends")
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    if anchor == entity:
        return found
    heard = known if direct else without_pair(known, anchor, entity)
    inverse = (slot + num_relations) % (2 * num_relations)
    for (r, e, s, c), (support, cases) in constant_rules.items():
        confidence = support / (cases + prior)
        for kind, who, head in (
            ("anchor", anchor, (slot, entity)),
            ("entity", entity, (inverse, anchor)),
        ):
            has = who in (with_slot(heard, s) if c is None else with_item(heard, s, c))
            if (r, e) == head and has:
                found["slots" if c is None else kind].append(confidence)
    for (r, e, s, t, c), (support, cases) in end_rules.items():
        for kind, who, other, head in (
            ("anchor_ends", anchor, entity, (slot, entity)),
            ("entity_ends", entity, anchor, (inverse, anchor)),
        ):
            if (r, e) == head and past(heard, who, s, (t, c), other):
                found[kind].append(support / (cases + prior))
    start, end = (anchor, entity) if slot < num_relations else (entity, anchor)
    for (relation, steps), (support, cases) in path_rules.items():
        if relation == slot % num_relations and (start, end) in joined(heard, steps):
            found["paths"].append(support / (cases + prior))
    return {kind: sorted(values, reverse=True) for kind, values in found.items()}


def likeness(known: set[Fact], num_entities: int, candidate: Fact) -> tuple[float, float]:
    """Mean cosine of the candidate's items with those of the other answers; that with their sum."""
    anchor, slot, entity = candidate
    items = sorted({(s, e) for _, s, e in known})

    def vector(x: int) -> np.ndarray:
        values = np.array(
            [
                np.log(num_entities / len(with_item(known, *item))) * ((x, *item) in known)
                for item in items
            ]
        )
        length = np.sqrt((values**2).sum())
        of_anchor = np.array([end == anchor for _, end in items], bool)
        return np.where(of_anchor, 0, values / length if length else values)

    answers = [e for x, s, e in known if (x, s) == (anchor, slot) and e != entity]
    if not answers or not items:
        return 0.0, 0.0
    mine, total = vector(entity), sum(vector(answer) for answer in answers)
    length = np.sqrt((total**2).sum())
    if length < 1e-6:
        return 0.0, 0.0
    return mine @ total / len(answers), mine @ total / length
