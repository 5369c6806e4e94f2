"""Slow, obvious twins of the fast functions: sets of tuples and loops, no arrays.

A fact is (head, relation, tail), a query (side, anchor, relation); names or ids, as you like.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Fact = tuple[Any, Any, Any]
Query = tuple[str, Any, Any]
Answers = dict[Query, set[Any]]


def grouped(facts: Iterable[Fact]) -> Answers:
    """Each fact answers a tail query about its head and a head query about its tail."""
    answers: Answers = defaultdict(set)
    for head, relation, tail in facts:
        answers["tail", head, relation].add(tail)
        answers["head", tail, relation].add(head)
    return dict(answers)


class Paper(NamedTuple):
    """What Appendix A.1 ends with."""

    train: set[Fact]
    complete: Answers  # C
    incomplete: Answers  # I, those of N with an empty set

    def asked(self) -> set[tuple]:
        """All queries as (side, anchor, relation, C, I or N, answers)."""
        return {(*q, "C", frozenset(answers)) for q, answers in self.complete.items()} | {
            (*q, "I" if answers else "N", frozenset(answers))
            for q, answers in self.incomplete.items()
        }


def appendix_a1(train: Iterable[Fact], held: Iterable[Fact], removed: Iterable[Any]) -> Paper:
    """The paper's steps 4 to 7, word by word."""
    train, held, removed = set(train), set(held), set(removed)
    # 4. Drop the triples where both head and tail were selected for removal.
    train -= {(h, r, t) for h, r, t in train if h in removed and t in removed}
    held -= {(h, r, t) for h, r, t in held if h in removed and t in removed}
    # 5. Move the triples with either one position selected for removal from Train to H.
    temp = {(h, r, t) for h, r, t in train if h in removed}
    temp |= {(h, r, t) for h, r, t in train if t in removed}
    held |= temp
    train -= temp
    # 6. The answerable queries that only include kept entities, and their answers in H.
    queries = {("tail", h, r) for h, r, _ in held if h not in removed}
    queries |= {("head", t, r) for _, r, t in held if t not in removed}
    before = {
        (side, anchor, relation): {
            (t if side == "tail" else h)
            for h, r, t in held
            if r == relation and (h if side == "tail" else t) == anchor
        }
        for side, anchor, relation in queries
    }
    # 7. The removed entities are removed from the answer sets as well.
    after = {query: before[query] - removed for query in queries}
    complete = {query: after[query] for query in queries if after[query] == before[query]}
    incomplete = {query: after[query] for query in queries if after[query] != before[query]}
    return Paper(train, complete, incomplete)


def outcomes(
    facts: Sequence[Fact], held: Sequence[bool], order: Sequence[Any], dealt: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Empty and answered queries, by really removing 0, 1, 2, ... entities.

    A query is asked in each split that has a held-out fact which answers it.
    """
    none, answered = [], []
    for count in range(len(order) + 1):
        removed = set(order[:count])
        train = [fact for fact, out in zip(facts, held, strict=True) if not out]
        paper = appendix_a1(train, set(facts) - set(train), removed)
        none.append(sum(not answers for answers in paper.incomplete.values()))
        answered.append(0)
        for split in (0, 1):
            asked = [
                fact
                for fact, out, mine in zip(facts, held, dealt, strict=True)
                if out and mine == split and not {fact[0], fact[2]} & removed
            ]
            answered[-1] += len(grouped(asked))
    return none, answered


def last_facts(facts: Sequence[Fact], order: Sequence[int]) -> set[int]:
    """The facts that an entity or a relation has last in this order."""
    last = {}
    for place in order:
        head, relation, tail = facts[place]
        last["entity", head] = last["entity", tail] = last["relation", relation] = place
    return set(last.values())


def spare_pairs(facts: Sequence[Fact], order: Sequence[int]) -> dict[frozenset, set[int]]:
    """The facts between each two entities, where none of them is anyone's last."""
    between = defaultdict(set)
    for place, (head, _, tail) in enumerate(facts):
        between[frozenset({head, tail})].add(place)
    last = last_facts(facts, order)
    return {pair: places for pair, places in between.items() if not places & last}


# Types


def fits(entity_types: Mapping, slot_types: Mapping, anchor: Any, slot: Any) -> bool:
    """Some type of the anchor is one that the slot takes."""
    return bool(entity_types[anchor] & slot_types[slot])


def violates(entity_types: Mapping, slot_types: Mapping, anchor: Any, slot: Any) -> bool:
    """Both are known, and nothing fits."""
    known = bool(entity_types[anchor]) and bool(slot_types[slot])
    return known and not fits(entity_types, slot_types, anchor, slot)


def stand_in(facts: Iterable[Fact], num_relations: int) -> dict[int, set[int]]:
    """Who stands in each slot: heads in slot r, tails in slot r + relations."""
    standing: dict[int, set[int]] = {slot: set() for slot in range(2 * num_relations)}
    for head, relation, tail in facts:
        standing[relation].add(head)
        standing[relation + num_relations].add(tail)
    return standing


def learned(
    entity_types: Mapping[int, set[int]],
    slot_types: Mapping[int, set[int]],
    standing: Mapping[int, set[int]],
    nearly_all: float,
) -> dict[int, set[int]]:
    """A slot without types takes the telling types that nearly all its typed entities have."""
    typed = [entity for entity in entity_types if entity_types[entity]]
    kinds = {kind for entity in typed for kind in entity_types[entity]}
    telling = {
        kind
        for kind in kinds
        if sum(kind in entity_types[entity] for entity in typed) < nearly_all * len(typed)
    }
    slots = {}
    for slot, given in slot_types.items():
        holders = [entity for entity in standing[slot] if entity_types[entity]]
        slots[slot] = set(given) or {
            kind
            for kind in telling
            if holders
            and sum(kind in entity_types[entity] for entity in holders) >= nearly_all * len(holders)
        }
    return slots


def derived(standing: Mapping[int, set[int]], shared: int) -> dict[int, set[int]]:
    """A slot takes itself and each slot that shares enough entities with it."""
    return {
        slot: {slot}
        | {other for other in standing if len(standing[slot] & standing[other]) >= shared}
        for slot in standing
    }


# What a benchmark masks


def answer_facts(asked: Iterable[tuple]) -> set[Fact]:
    """The facts that the answers of these queries make with their queries."""
    return {
        (anchor, relation, answer) if side == "tail" else (answer, relation, anchor)
        for side, anchor, relation, _, answers in asked
        for answer in answers
    }


def known(train: Iterable[Fact], other_split: Iterable[tuple], masks_other_split: bool) -> Answers:
    """No candidates: answers in train and, in a leak-safe benchmark, in the other split."""
    return grouped(set(train) | (answer_facts(other_split) if masks_other_split else set()))
