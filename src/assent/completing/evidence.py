"""Evidence: the rules that speak for facts, strongest first, and what speaks against them.

Rules are counted over all known facts. A fact that is known itself is no evidence for itself.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from assent.completing.opposing import BESIDE, Opposing
from assent.completing.schema import Links
from assent.completing.telling import Rule, Telling
from assent.core.arrays import Ids, Mask, found_in, offsets_of, pair_keys
from assent.core.new_facts import RULES, SIMILAR, Evidence, Reason
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.rules.beyond import Beyond
from assent.rules.explaining import Counting
from assent.rules.graph import Graph
from assent.rules.having import Having
from assent.rules.mining import PRIOR
from assent.rules.steps import NONE
from assent.rules.ways import Ways
from assent.rules.wording import Wording

MOST = 3  # rules that a fact is shown with
LEAST = 0.1  # rules less sure than this are no evidence
NEAREST = 2  # known facts shown where no rule speaks
TOGETHER = 256  # facts whose nearest known facts are looked for together

HEAD, TAIL, ANY, PATH = RULES

Vectors = NDArray[np.floating[Any]]  # (entity, dim)


class Seen(Protocol):
    """The entities as a model sees them."""

    def __getitem__(self, entities: Ids) -> Vectors: ...


SeenBy = Callable[[], Seen | None]  # None: the model has no vectors


class Explainer:
    """Finds the evidence for facts, known or not, in the known facts of a graph."""

    def __init__(
        self,
        facts: Ids,  # (fact, 3)  all that are known
        names: Vocabulary,
        types: Types | None,
        links: Links,
        never: Mask,  # (slot, relation)  whether no known pair is joined by both
        vectors: SeenBy = lambda: None,
    ) -> None:
        self.facts, self.names = facts, names
        self.graph = Graph.of(facts, names.num_entities, names.num_relations)
        self.counting, self.words = Counting(self.graph), Wording(names, types, facts)
        self.telling = Telling(names, self.words, self.counting)
        self.opposing = Opposing(self.telling, links, never)
        self._seen = vectors

    def of(self, facts: Ids, most: int = MOST) -> Evidence:
        """The evidence for facts (fact, 3) of one relation: at most so many rules for each."""
        if not len(facts):
            return Evidence.nothing(0)
        relation = int(facts[0, 1])
        heads, tails = (np.ascontiguousarray(facts[:, end]) for end in (0, 2))
        known = self._known(relation, heads, tails)
        found = self._rules(relation, heads, tails, known, most)
        speaking = [
            [self._reason(rule, fact) for rule in rules]
            for rules, fact in zip(found, facts.tolist(), strict=True)
        ]
        surest = np.array([rules[0].confidence if rules else 0.0 for rules in found])
        against = self.opposing.of(relation, heads, tails, surest)
        silent = np.flatnonzero(surest == 0)
        for place, like in zip(
            silent.tolist(), self._similar(relation, heads[silent], tails[silent]), strict=False
        ):
            speaking[place] = like
        return Evidence.of([[*mine, *other] for mine, other in zip(speaking, against, strict=True)])

    @cached_property
    def vectors(self) -> Seen | None:
        """The entities as the model sees them."""
        return self._seen()

    def _known(self, relation: int, heads: Ids, tails: Ids) -> Mask:  # (fact,)
        size, mine = self.names.num_entities, self.facts[self.facts[:, 1] == relation]
        return found_in(
            np.sort(pair_keys(mine[:, 0], mine[:, 2], size)), pair_keys(heads, tails, size)
        )

    # For: rules

    def _rules(
        self, relation: int, heads: Ids, tails: Ids, known: Mask, most: int
    ) -> list[list[Rule]]:
        """The rules that each fact is shown with, the surest first."""
        ends = []
        for slot, anchors, entities in self._both(relation, heads, tails):
            items = np.where(anchors == entities, NONE, self.counting.items(slot, entities))
            items = items.astype(np.int32)
            rules = self.counting.having(anchors, items, known)
            far = self._beyond(self.counting.beyond(anchors, items, known), slot, anchors)
            ends.append(self._of_end(rules, far, slot, anchors, items, known))
        ways = self.counting.ways(heads, relation, tails, known)
        offsets = offsets_of(np.bincount(ways.rows, minlength=len(heads))).tolist()
        of_ways = self._of_ways(ways, heads, tails)
        return [
            _chosen([*ends[0][row], *ends[1][row], *of_ways[low:high]], most)
            for row, (low, high) in enumerate(pairwise(offsets))
        ]

    def _both(
        self, relation: int, heads: Ids, tails: Ids
    ) -> tuple[tuple[int, Ids, Ids], tuple[int, Ids, Ids]]:
        """Facts as candidates of their two queries: slot, anchors, entities."""
        forward, backward = self.names.slots_of(relation)
        return (forward, heads, tails), (backward, tails, heads)

    def _of_end(
        self,
        found: Having,
        beyond: list[list[Rule]],
        slot: int,
        anchors: Ids,
        items: Ids,
        known: Mask,
    ) -> list[list[Rule]]:
        """The rules about what one end of each fact has, and those with a constant `beyond` it.

        First, how common the answer is: a rule that is less sure than that says nothing.
        """
        graph, count = self.graph, self.names.num_relations
        slots, others, end = graph.item_slots, graph.item_entities, (HEAD, TAIL)[slot >= count]
        rules = []
        for anchor, common, far, *columns in zip(
            anchors.tolist(),
            self._common(slot, anchors, items, known),
            beyond,
            found.bodies.tolist(),
            found.support.tolist(),
            found.cases.tolist(),
            strict=True,
        ):
            mine = [common] if common.support > 1 else []
            mine += [rule for rule in far if rule.confidence >= common.confidence]
            for body, support, cases in zip(*columns, strict=True):
                if body == NONE or support / (cases + PRIOR) < common.confidence:
                    break
                confidence = support / (cases + PRIOR)
                if body >= graph.num_items:
                    mine.append(Rule(confidence, support, cases, ANY, (body, end == TAIL), ()))
                else:
                    uses = _undirected(anchor, int(slots[body]) % count, int(others[body]))
                    mine.append(Rule(confidence, support, cases, end, (body,), (uses,)))
            rules.append(mine)
        return rules

    def _beyond(self, found: Beyond, slot: int, anchors: Ids) -> list[list[Rule]]:
        """The rules with a constant two steps from one end of each fact."""
        graph, count = self.graph, self.names.num_relations
        rules: list[list[Rule]] = [[] for _ in anchors]
        kind = (HEAD, TAIL)[slot >= count]
        for row, place in zip(
            *map(np.ndarray.tolist, np.nonzero(found.slots != NONE)), strict=True
        ):
            by, item, middle, support, cases = (
                int(column[row, place])
                for column in (found.slots, found.items, found.middles, found.support, found.cases)
            )
            last, end = int(graph.item_slots[item]), int(graph.item_entities[item])
            uses = (
                _undirected(int(anchors[row]), by % count, middle),
                _undirected(middle, last % count, end),
            )
            confidence = support / (cases + PRIOR)
            rules[row].append(Rule(confidence, support, cases, kind, (item, by, middle), uses))
        return rules

    def _common(
        self, slot: int, anchors: Ids, items: Ids, known: Mask
    ) -> Iterator[Rule]:  # (fact,)
        """Of all who have the slot with anyone, how many have it with the entity of each fact."""
        body = self.graph.num_items + slot
        who, sizes = self.counting.members(body), self.graph.sizes
        # A known fact counts for nothing; nor does its anchor, if it is its only answer.
        only = np.array(
            [len(self.graph.answers(anchor, slot)) == 1 for anchor in anchors[known]], bool
        )
        alone = np.zeros(len(anchors), bool)
        alone[np.flatnonzero(known)[only]] = True
        support = np.where(items == NONE, 0, sizes[items] - known)
        for times, cases in zip(support.tolist(), (len(who) - alone).tolist(), strict=True):
            confidence = times / (cases + PRIOR)
            yield Rule(confidence, times, cases, ANY, (body, slot >= self.names.num_relations), ())

    def _of_ways(self, ways: Ways, heads: Ids, tails: Ids) -> list[Rule]:
        count, rules = self.names.num_relations, []
        for row, steps, middle, support, cases in zip(
            ways.rows.tolist(),
            ways.steps.tolist(),
            ways.middles.tolist(),
            ways.support.tolist(),
            ways.cases.tolist(),
            strict=True,
        ):
            stops = [int(heads[row]), int(tails[row])]
            if middle != NONE:
                stops.insert(1, middle)
            uses = tuple(
                _undirected(start, slot % count, end)
                for slot, (start, end) in zip(steps, pairwise(stops), strict=False)
            )
            body = (*steps[: len(uses)], middle)
            # Paths that differ only in directions come from symmetric relations: one is enough.
            relations = [slot % count for slot in (*steps[: len(uses)], *[steps[0]] * 2)][:2]
            uses = (*uses, (NONE, len(body), relations[0] * count + relations[1]))
            rules.append(Rule(support / (cases + PRIOR), support, cases, PATH, body, uses))
        return rules

    def _reason(self, rule: Rule, fact: Sequence[int]) -> Reason:
        head, relation, tail = fact
        forward, backward = self.names.slots_of(relation)
        if rule.kind == PATH:
            said = self.telling.of_path(rule, head, relation, tail)
        elif rule.kind in (HEAD, TAIL) and len(rule.body) > 1:
            ends = (head, forward, tail) if rule.kind == HEAD else (tail, backward, head)
            said = self.telling.of_end(rule, *ends)
        elif rule.kind == TAIL or (rule.kind == ANY and rule.body[1]):
            said = self.telling.of_property(rule, tail, backward, head)
        else:
            said = self.telling.of_property(rule, head, forward, tail)
        return Reason(rule.kind, rule.confidence, rule.support, rule.cases, said)

    # Where no rule speaks

    def _similar(self, relation: int, heads: Ids, tails: Ids) -> Iterator[list[Reason]]:
        """The known facts of the relation whose two entities are most like those of each fact."""
        if not len(heads) or self.vectors is None:
            return
        mine = self.facts[self.facts[:, 1] == relation]
        its_heads, head_rows = np.unique(mine[:, 0], return_inverse=True)
        its_tails, tail_rows = np.unique(mine[:, 2], return_inverse=True)
        known_heads, known_tails = (_unit(self.vectors[ids]).T for ids in (its_heads, its_tails))
        for first in range(0, len(heads), TOGETHER):
            some = slice(first, first + TOGETHER)
            by_head = _unit(self.vectors[heads[some]]) @ known_heads
            by_tail = _unit(self.vectors[tails[some]]) @ known_tails
            for row, (head, tail) in enumerate(
                zip(heads[some].tolist(), tails[some].tolist(), strict=True)
            ):
                alike = by_head[row, head_rows] + by_tail[row, tail_rows]
                alike[(mine[:, 0] == head) & (mine[:, 2] == tail)] = -np.inf
                nearest = np.argsort(-alike, kind="stable")[:NEAREST]
                facts = mine[nearest[np.isfinite(alike[nearest])]].tolist()
                yield [
                    Reason(
                        SIMILAR, math.nan, 0, 0, f"like the known fact: {self.words.told(*fact)}"
                    )
                    for fact in facts
                ]


def _chosen(rules: list[Rule], most: int) -> list[Rule]:
    """The surest rules, each known fact used once.

    A rule about `any` says little of the fact itself: it is shown only where no other rule is at
    least BESIDE as sure.
    """
    rules = [rule for rule in rules if rule.confidence >= LEAST]
    telling = max((rule.confidence for rule in rules if rule.kind != ANY), default=0.0)
    rules = [rule for rule in rules if rule.kind != ANY or telling < BESIDE * rule.confidence]
    rules.sort(
        key=lambda rule: (-rule.confidence, -rule.support, RULES.index(rule.kind), rule.body)
    )
    kept: list[Rule] = []
    used: set[tuple[int, int, int]] = set()
    for rule in rules:
        if len(kept) == most or (kept and rule.confidence < BESIDE * kept[0].confidence):
            break
        if used.intersection(rule.uses) or (rule.kind == ANY and kept):
            continue
        kept.append(rule)
        used.update(rule.uses)
    return kept


def _undirected(start: int, relation: int, end: int) -> tuple[int, int, int]:
    """A known fact, the same from both of its ends: in a symmetric relation both say the same."""
    return (min(start, end), relation, max(start, end))


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
