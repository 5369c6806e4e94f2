"""What rules say about one fact, in sentences with names and numbers.

The fact may be known or not; a known one is no evidence for itself: its own case is taken away from
the counts of every rule.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids
from assent.core.vocabulary import Vocabulary
from assent.rules.columns import spoken_for
from assent.rules.firing import KINDS, PRIOR, Firing, Spoken, fire
from assent.rules.graph import Graph
from assent.rules.mining import RuleSet
from assent.rules.paths import NONE

EXAMPLES = 3  # entities named for which a rule was right
NEAREST = 3  # known facts shown where no rule speaks
MOSTLY = 0.8  # share of entities with one answer from which a second one is doubtful
RIVALS = 2  # other answers named for which rules speak more


@dataclass(frozen=True, slots=True)
class Reason:
    """A rule that speaks for a fact."""

    kind: str  # of KINDS
    confidence: float
    support: int
    cases: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that rules say about a fact."""

    head: str
    relation: str
    tail: str
    known: bool  # whether it is a train fact
    reasons: tuple[Reason, ...]  # the surest first
    against: tuple[str, ...]
    nearest: tuple[str, ...] = ()  # known facts like it, where no rule speaks

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        reasons = [{name: getattr(r, name) for name in Reason.__slots__} for r in self.reasons]
        plain = {"head": self.head, "relation": self.relation, "tail": self.tail}
        return {
            **plain,
            "known": self.known,
            "for": reasons,
            "against": list(self.against),
            "nearest": list(self.nearest),
        }


def explain(
    rules: RuleSet,
    names: Vocabulary,
    fact: tuple[int, int, int],
    *,
    most: int = 5,
    vectors: NDArray[np.floating[Any]] | None = None,
) -> Explanation:
    """The rules that speak for a fact (head, relation, tail), and what speaks against it.

    Where no rule speaks and the entities have `vectors` (entity, dim), the known facts of the same
    relation whose two entities are most like those of the fact stand for what the model goes by.
    """
    head, relation, tail = fact
    graph = rules.graph
    known = bool(np.isin(tail, _ends(graph, head, relation)).item())
    inverse = relation + names.num_relations
    found = [
        *_by_constants(rules, names, head, relation, tail, known),
        *_by_constants(rules, names, tail, inverse, head, known),
        *_by_paths(rules, names, fact, known),
    ]
    found.sort(key=lambda reason: (-reason.confidence, -reason.support, reason.sentence))
    against = [
        *_other_answers(graph, names, head, relation, tail),
        *_other_answers(graph, names, tail, inverse, head),
    ]
    if head != tail:
        against += _rivals(rules, names, fact)
    nearest = () if found or vectors is None else tuple(_nearest(graph, names, fact, vectors))
    return Explanation(
        names.entity(head),
        names.relation(relation),
        names.entity(tail),
        known,
        tuple(found[:most]),
        tuple(against),
        nearest,
    )


def _by_constants(
    rules: RuleSet, names: Vocabulary, anchor: int, slot: int, entity: int, known: bool
) -> Iterator[Reason]:
    """Rules whose property the anchor has, and that speak for its having the entity."""
    graph, constants = rules.graph, rules.constants
    head = int(graph.item(np.array([slot], np.int32), np.array([entity], np.int32))[0])
    if head < 0 or anchor == entity:
        return
    low, high = constants.offsets[head], constants.offsets[head + 1]
    links = slice(graph.offsets[anchor], graph.offsets[anchor + 1])
    stands = slice(graph.slot_offsets[anchor], graph.slot_offsets[anchor + 1])
    has = np.concatenate([graph.items[links], graph.num_items + graph.entity_slots[stands]])
    for rule in (low + np.flatnonzero(np.isin(constants.bodies[low:high], has))).tolist():
        body = int(constants.bodies[rule])
        support = int(constants.support[rule]) - known
        cases = int(graph.sizes[body]) - known
        if support < 1:
            continue
        both = np.intersect1d(_members(graph, body), _members(graph, head))
        examples = [names.entity(who) for who in both[both != anchor][:EXAMPLES].tolist()]
        sentence = (
            f"{support:,} of {cases:,} {_with(graph, body, names)} {_have(slot, entity, names)}"
            f", among them {', '.join(examples)}"
        )
        kind = "slots" if body >= graph.num_items else _end(slot, names)
        yield Reason(kind, support / (cases + PRIOR), support, cases, sentence)


def _end(slot: int, names: Vocabulary) -> str:
    """The kind of a rule with constants about a fact, seen from its head."""
    return KINDS[0] if slot < names.num_relations else KINDS[1]


def _by_paths(
    rules: RuleSet, names: Vocabulary, fact: tuple[int, int, int], known: bool
) -> Iterator[Reason]:
    head, relation, tail = fact
    paths = rules.paths
    for rule in np.flatnonzero(paths.relations == relation).tolist():
        steps = [int(step) for step in paths.steps[rule] if step != NONE]
        way = _way(rules.graph, head, steps, tail)
        support, cases = int(paths.support[rule]) - known, int(paths.cases[rule]) - known
        if way is None or support < 1:
            continue
        told = "; ".join(
            _told(start, slot, end, names)
            for start, slot, end in zip(way, steps, way[1:], strict=False)
        )
        sentence = (
            f"{told}: {support:,} of {cases:,} pairs joined like this are joined by "
            f"{names.relation(relation)}"
        )
        yield Reason("paths", support / (cases + PRIOR), support, cases, sentence)


def _way(graph: Graph, start: int, steps: list[int], end: int) -> list[int] | None:
    """The entities on one path by these steps, none of them twice; None: there is no such path."""
    if start == end:
        return None
    if len(steps) == 1:
        return [start, end] if end in _ends(graph, start, steps[0]) else None
    for middle in _ends(graph, start, steps[0]).tolist():
        if middle != end:
            rest = _way(graph, middle, steps[1:], end)
            if rest is not None and start not in rest:
                return [start, *rest]
    return None


def _other_answers(
    graph: Graph, names: Vocabulary, anchor: int, slot: int, entity: int
) -> Iterator[str]:
    """What the anchor has already, where most have one answer."""
    others = _ends(graph, anchor, slot)
    others = others[others != entity]
    first, last = graph.slot_items[slot], graph.slot_items[slot + 1]
    low, high = graph.member_offsets[first], graph.member_offsets[last]
    answers = np.unique(graph.members[low:high], return_counts=True)[1]
    if len(others) and (single := int((answers == 1).sum())) >= MOSTLY * len(answers):
        named = ", ".join(names.entity(other) for other in others[:EXAMPLES].tolist())
        yield (
            f"{names.entity(anchor)} {_has(slot, names)} {named} already; "
            f"{single:,} of {len(answers):,} have only one"
        )


def _rivals(rules: RuleSet, names: Vocabulary, fact: tuple[int, int, int]) -> Iterator[str]:
    """Other answers for which rules speak more, asked for from either end."""
    firing = Firing.of(rules)
    head, relation, tail = fact
    for anchor, slot, entity in (
        (head, relation, tail),
        (tail, relation + names.num_relations, head),
    ):
        asked = (np.array([part], np.int32) for part in (anchor, slot, entity))
        mine = float(spoken_for(firing, *asked)[0].max())
        spoken = Spoken.room(rules.graph.num_entities, rules.graph.num_entities)
        count = fire(anchor, slot, firing.links, firing.rules, firing.direct, spoken)
        sure = spoken.best[:count, :, 0].max(axis=1)
        found = spoken.entities[:count]
        new = ~np.isin(found, [*_ends(rules.graph, anchor, slot).tolist(), entity])
        order = np.lexsort((found, -sure))
        order = order[new[order] & (sure[order] > mine)][:RIVALS]
        for row in order.tolist():
            told = _told(anchor, slot, int(found[row]), names)
            yield f"rules speak more for: {told} ({sure[row]:.2f}, this one {mine:.2f})"


def _nearest(
    graph: Graph,
    names: Vocabulary,
    fact: tuple[int, int, int],
    vectors: NDArray[np.floating[Any]],
) -> Iterator[str]:
    """Known facts of the relation whose entities lie nearest, by the cosine of both ends."""
    head, relation, tail = fact
    first, last = graph.slot_items[relation], graph.slot_items[relation + 1]
    sizes = np.diff(graph.member_offsets[first : last + 1])
    heads = graph.members[graph.member_offsets[first] : graph.member_offsets[last]]
    tails = np.repeat(graph.item_entities[first:last], sizes)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    alike = unit[heads] @ unit[head] + unit[tails] @ unit[tail]
    alike[(heads == head) & (tails == tail)] = -np.inf
    for place in np.argsort(-alike, kind="stable")[:NEAREST].tolist():
        if np.isfinite(alike[place]):
            yield _told(int(heads[place]), relation, int(tails[place]), names)


def _ends(graph: Graph, start: int, slot: int) -> Ids:
    low, high = graph.offsets[start], graph.offsets[start + 1]
    ends: Ids = graph.ends[low:high][graph.slots[low:high] == slot]
    return ends


def _members(graph: Graph, property_: int) -> Ids:
    return graph.members[graph.member_offsets[property_] : graph.member_offsets[property_ + 1]]


def _with(graph: Graph, body: int, names: Vocabulary) -> str:
    """Who has a property: `with country Norway`, `that Norway has as capital`."""
    if body >= graph.num_items:
        slot, other = body - graph.num_items, None
    else:
        slot, other = int(graph.item_slots[body]), names.entity(int(graph.item_entities[body]))
    relation = names.relation(slot % names.num_relations)
    if slot < names.num_relations:
        return f"with any {relation}" if other is None else f"with {relation} {other}"
    return f"that {other or 'anyone'} has as {relation}"


def _have(slot: int, entity: int, names: Vocabulary) -> str:
    """What they have: `have language Norwegian`, `Norway has as capital`."""
    relation, name = names.relation(slot % names.num_relations), names.entity(entity)
    return f"have {relation} {name}" if slot < names.num_relations else f"{name} has as {relation}"


def _has(slot: int, names: Vocabulary) -> str:
    relation = names.relation(slot % names.num_relations)
    return f"has {relation}" if slot < names.num_relations else f"is {relation} of"


def _told(start: int, slot: int, end: int, names: Vocabulary) -> str:
    """A fact, head first."""
    if slot >= names.num_relations:
        start, slot, end = end, slot - names.num_relations, start
    return f"{names.entity(start)} {names.relation(slot)} {names.entity(end)}"
