"""Evidence: the rules that speak for facts, strongest first, and what speaks against them.

Rules are counted over all known facts. A fact that is known itself is no evidence for itself.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.completing.schema import Links
from assent.core.arrays import Ids, Mask, found_in, offsets_of, pair_keys
from assent.core.new_facts import AGAINST, RULES, SIMILAR, Evidence, Reason
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.rules.explaining import Constants, Counting, Ways
from assent.rules.firing import PRIOR
from assent.rules.graph import Graph
from assent.rules.paths import NONE
from assent.rules.rivalling import Rivalling
from assent.rules.wording import Wording

MOST = 3  # rules that a fact is shown with
LEAST = 0.1  # rules less sure than this are no evidence
RIVALLING = 0.3  # a rule less sure than this makes no answer a rival
CLEARLY = 1.1  # times as sure as what speaks for the fact must be what speaks for a rival
BESIDE = 0.5  # a rule is shown beside a surer one if it is at least this share as sure
EXAMPLES = 2  # entities named for which a rule was right
NEAREST = 2  # known facts shown where no rule speaks
MOSTLY = 0.9  # share of a slot's entities with one answer from which a second one is doubtful
TOGETHER = 256  # facts whose nearest known facts are looked for together

HEAD, TAIL, ANY, PATH = RULES
ANSWERED, NEVER, RIVAL = AGAINST

Vectors = NDArray[np.floating[Any]]  # (entity, dim)
SeenBy = Callable[[], Vectors | None]  # gives the entities as a model sees them, if it has any


class _Rule(NamedTuple):
    """A rule that speaks for a fact, before it is put into words."""

    confidence: float
    support: int
    cases: int
    kind: str  # of RULES
    body: tuple[int, ...]  # a property; or the steps of a path, and the entity between them
    uses: tuple[tuple[int, int, int], ...]  # what no other rule that is shown may use


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
        self.facts, self.names, self.links, self.never = facts, names, links, never
        self.graph = Graph.of(facts, names.num_entities, names.num_relations)
        self.counting, self.rivalling = Counting(self.graph), Rivalling(self.graph)
        self.words = Wording(names, types, facts)
        self._seen = vectors
        self._slots: dict[int, _Slot] = {}

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
        against = self._against(relation, heads, tails, surest)
        silent = np.flatnonzero(surest == 0)
        for place, like in zip(
            silent.tolist(), self._similar(relation, heads[silent], tails[silent]), strict=False
        ):
            speaking[place] = like
        return Evidence.of([[*mine, *other] for mine, other in zip(speaking, against, strict=True)])

    @cached_property
    def vectors(self) -> Vectors | None:
        """The entities as the model sees them, each of length 1."""
        vectors = self._seen()
        return None if vectors is None else _unit(vectors)

    def _known(self, relation: int, heads: Ids, tails: Ids) -> Mask:  # (fact,)
        size, mine = self.names.num_entities, self.facts[self.facts[:, 1] == relation]
        return found_in(
            np.sort(pair_keys(mine[:, 0], mine[:, 2], size)), pair_keys(heads, tails, size)
        )

    # For: rules

    def _rules(
        self, relation: int, heads: Ids, tails: Ids, known: Mask, most: int
    ) -> list[list[_Rule]]:
        """The rules that each fact is shown with, the surest first."""
        ends = []
        for slot, anchors, entities in self._both(relation, heads, tails):
            items = np.where(anchors == entities, NONE, self.counting.items(slot, entities))
            items = items.astype(np.int32)
            rules = self.counting.constants(anchors, items, known)
            ends.append(self._of_end(rules, slot, anchors, items, known))
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
        self, found: Constants, slot: int, anchors: Ids, items: Ids, known: Mask
    ) -> list[list[_Rule]]:
        """The rules about what one end of each fact has.

        First, how common the answer is: a rule that is less sure than that says nothing.
        """
        graph, count = self.graph, self.names.num_relations
        slots, others, end = graph.item_slots, graph.item_entities, (HEAD, TAIL)[slot >= count]
        rules = []
        for anchor, common, *columns in zip(
            anchors.tolist(),
            self._common(slot, anchors, items, known),
            found.bodies.tolist(),
            found.support.tolist(),
            found.cases.tolist(),
            strict=True,
        ):
            mine = [common] if common.support > 1 else []
            for body, support, cases in zip(*columns, strict=True):
                if body == NONE or support / (cases + PRIOR) < common.confidence:
                    break
                confidence = support / (cases + PRIOR)
                if body >= graph.num_items:
                    mine.append(_Rule(confidence, support, cases, ANY, (body, end == TAIL), ()))
                else:
                    uses = _undirected(anchor, int(slots[body]) % count, int(others[body]))
                    mine.append(_Rule(confidence, support, cases, end, (body,), (uses,)))
            rules.append(mine)
        return rules

    def _common(
        self, slot: int, anchors: Ids, items: Ids, known: Mask
    ) -> Iterator[_Rule]:  # (fact,)
        """Of all who have the slot with anyone, how many have it with the entity of each fact."""
        body = self.graph.num_items + slot
        who, sizes = self.counting.members(body), self.graph.sizes
        # A known fact counts for nothing; nor does its anchor, if it is its only answer.
        only = np.array([len(self._answers(anchor, slot)) == 1 for anchor in anchors[known]], bool)
        alone = np.zeros(len(anchors), bool)
        alone[np.flatnonzero(known)[only]] = True
        support = np.where(items == NONE, 0, sizes[items] - known)
        for times, cases in zip(support.tolist(), (len(who) - alone).tolist(), strict=True):
            confidence = times / (cases + PRIOR)
            yield _Rule(confidence, times, cases, ANY, (body, slot >= self.names.num_relations), ())

    def _of_ways(self, ways: Ways, heads: Ids, tails: Ids) -> list[_Rule]:
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
            rules.append(_Rule(support / (cases + PRIOR), support, cases, PATH, body, uses))
        return rules

    def _reason(self, rule: _Rule, fact: Sequence[int]) -> Reason:
        head, relation, tail = fact
        forward, backward = self.names.slots_of(relation)
        if rule.kind == PATH:
            said = self._said_of_path(rule, head, relation, tail)
        elif rule.kind == TAIL or (rule.kind == ANY and rule.body[1]):
            said = self._said(rule, tail, backward, head)
        else:
            said = self._said(rule, head, forward, tail)
        return Reason(rule.kind, rule.confidence, rule.support, rule.cases, said)

    def _said(self, rule: _Rule, anchor: int, slot: int, entity: int) -> str:
        """`93 of 97 cities in Indonesia are cities in time zone Asia/Jakarta, among them ...`"""
        body, graph = rule.body[0], self.graph
        if body >= graph.num_items:
            who = self.words.group(body - graph.num_items, None)
        else:
            who = self.words.group(int(graph.item_slots[body]), int(graph.item_entities[body]))
        (item,) = self.counting.items(slot, np.array([entity], np.int32)).tolist()
        examples = self.counting.examples(body, item, anchor, EXAMPLES)
        among = "among them" if rule.support > len(examples) else "namely"
        named = f", {among} {self.words.named(examples)}" if examples else ""
        many = f"{_of(rule.support, rule.cases)} {who}"
        return f"{self.words.claim(many, slot, entity)}{named}"

    def _said_of_path(self, rule: _Rule, head: int, relation: int, tail: int) -> str:
        """`Mali borders Algeria, which is a member of X: 395 of 763 pairs joined like this ...`"""
        *steps, middle = rule.body
        stops = [head, tail] if middle == NONE else [head, middle, tail]
        told = [self.words.step(start, slot, end) for slot, (start, end) in zip(
            steps, pairwise(stops), strict=True)]  # fmt: skip
        said = self._one_after_another(told, middle)
        between = self.words.relation(relation)
        if steps == [relation + self.names.num_relations]:
            return (
                f"{said}, and {_of(rule.support, rule.cases)} known facts with “{between}” "
                "hold both ways"
            )
        return (
            f"{said}: {rule.support:,} of {rule.cases:,} pairs joined like this are joined by "
            f"“{between}”, too"
        )

    def _one_after_another(self, told: list[tuple[str, int]], middle: int) -> str:
        """Two facts in one sentence, if one ends with the entity that the other begins with."""
        (first, _), *rest = told
        for second, begins_with in rest:
            name = self.words.entity(middle)
            if begins_with == middle and first.endswith(name) and second.startswith(name):
                return f"{first}, which{second.removeprefix(name)}"
            return f"{first}; {second}"
        return first

    # Against

    def _against(
        self, relation: int, heads: Ids, tails: Ids, surest: NDArray[np.float64]
    ) -> list[list[Reason]]:
        found: list[list[Reason]] = [[] for _ in heads]
        for row, reason in self._never_joined(relation, heads, tails):
            found[row].append(reason)
        for slot, anchors, entities in self._both(relation, heads, tails):
            if self._slot(slot).mostly_one:
                for row, reason in self._other_answers(slot, anchors, entities, surest):
                    found[row].append(reason)
        return found

    def _never_joined(self, relation: int, heads: Ids, tails: Ids) -> Iterator[tuple[int, Reason]]:
        """Known facts between the two that join no pair of the relation."""
        rows, slots = self.links.between(heads, tails)
        never = self.never[slots, relation]
        for row, slot in zip(rows[never].tolist(), slots[never].tolist(), strict=True):
            told, _ = self.words.step(int(heads[row]), slot, int(tails[row]))
            low, high = self.graph.slot_items[slot], self.graph.slot_items[slot + 1]
            pairs = int(self.graph.member_offsets[high] - self.graph.member_offsets[low])
            said = (
                f"{told}, and none of the {pairs:,} pairs joined like this is joined by "
                f"“{self.words.relation(relation)}”"
            )
            yield row, Reason(NEVER, 0.0, 0, pairs, said)

    def _other_answers(
        self, slot: int, anchors: Ids, entities: Ids, surest: NDArray[np.float64]
    ) -> Iterator[tuple[int, Reason]]:
        """Of anchors with a known answer, that one; of others, an answer that rules favour."""
        single, count, _ = self._slot(slot)
        unanswered = []
        for row, (anchor, entity) in enumerate(
            zip(anchors.tolist(), entities.tolist(), strict=True)
        ):
            others = [other for other in self._answers(anchor, slot) if other != entity]
            if not others:
                unanswered.append(row)
                continue
            told, _ = self.words.step(anchor, slot, others[0])
            said = (
                f"{told} already, and {_of(single, count)} {self.words.kind(slot)} have "
                "only one such answer"
            )
            yield row, Reason(ANSWERED, single / count, single, count, said)
        places = np.array(unanswered, np.int64)
        asked = anchors[places], slot, entities[places]
        yield from self._rivals(unanswered, *asked, surest[places])

    def _rivals(
        self,
        rows: list[int],
        anchors: Ids,
        slot: int,
        entities: Ids,
        surest: NDArray[np.float64],
    ) -> Iterator[tuple[int, Reason]]:
        """For each query without a known answer, an answer that a rule of any form favours.

        A rule about `any` favours one only if it is far surer than all that tells more: see BESIDE.
        """
        find = self.rivalling
        constant, path, vague = (
            form(anchors, slot, entities) for form in (find.by_constant, find.by_path, find.by_slot)
        )
        for place, row in enumerate(rows):
            best = constant if constant.confidence[place] >= path.confidence[place] else path
            telling = max(best.confidence[place], surest[place])
            if BESIDE * vague.confidence[place] > telling:
                best = vague
            if best.confidence[place] > max(CLEARLY * surest[place], RIVALLING):
                anchor, rival = int(anchors[place]), int(best.entities[place])
                number, middle = int(best.rules[place]), int(best.middles[place])
                told, _ = self.words.step(anchor, slot, rival)
                if best is path:
                    rule, said = self._by_path(anchor, slot, rival, number, middle)
                else:
                    rule, said = self._by_property(anchor, slot, rival, number)
                said = f"more speaks for “{told}”: {said}"
                yield row, Reason(RIVAL, rule.confidence, rule.support, rule.cases, said)

    def _by_property(self, anchor: int, slot: int, rival: int, body: int) -> tuple[_Rule, str]:
        """A rule about a property of the anchor, counted exactly, and in words."""
        (item,) = self.counting.items(slot, np.array([rival], np.int32)).tolist()
        who = self.counting.members(body)
        support = len(np.intersect1d(who, self.counting.members(item), assume_unique=True))
        rule = _Rule(support / (len(who) + PRIOR), support, len(who), HEAD, (body,), ())
        return rule, self._said(rule, anchor, slot, rival)

    def _by_path(
        self, anchor: int, slot: int, rival: int, number: int, middle: int
    ) -> tuple[_Rule, str]:
        """A path between the anchor and the rival, and in words."""
        backwards, relation = divmod(slot, self.names.num_relations)
        paths = self.rivalling.paths(relation)
        steps = [step for step in paths.steps[number].tolist() if step != NONE]
        support, cases = int(paths.support[number]), int(paths.cases[number])
        rule = _Rule(support / (cases + PRIOR), support, cases, PATH, (*steps, middle), ())
        head, tail = (rival, anchor) if backwards else (anchor, rival)
        return rule, self._said_of_path(rule, head, relation, tail)

    def _answers(self, anchor: int, slot: int) -> list[int]:
        graph = self.graph
        low, high = graph.offsets[anchor], graph.offsets[anchor + 1]
        first, last = np.searchsorted(graph.slots[low:high], [slot, slot + 1])
        answers: list[int] = graph.ends[low + first : low + last].tolist()
        return answers

    def _slot(self, slot: int) -> "_Slot":
        if slot not in self._slots:
            graph = self.graph
            low, high = graph.member_offsets[graph.slot_items[slot : slot + 2]]
            answers = np.unique(graph.members[low:high], return_counts=True)[1]
            single, count = int((answers == 1).sum()), len(answers)
            self._slots[slot] = _Slot(single, count, count > 1 and single >= MOSTLY * count)
        return self._slots[slot]

    # Where no rule speaks

    def _similar(self, relation: int, heads: Ids, tails: Ids) -> Iterator[list[Reason]]:
        """The known facts of the relation whose two entities are most like those of each fact."""
        if not len(heads) or self.vectors is None:
            return
        mine = self.facts[self.facts[:, 1] == relation]
        its_heads, head_rows = np.unique(mine[:, 0], return_inverse=True)
        its_tails, tail_rows = np.unique(mine[:, 2], return_inverse=True)
        for first in range(0, len(heads), TOGETHER):
            some = slice(first, first + TOGETHER)
            by_head = self.vectors[heads[some]] @ self.vectors[its_heads].T
            by_tail = self.vectors[tails[some]] @ self.vectors[its_tails].T
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


class _Slot(NamedTuple):
    """How many of those who have a slot have one answer."""

    single: int
    having: int
    mostly_one: bool


def _chosen(rules: list[_Rule], most: int) -> list[_Rule]:
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
    kept: list[_Rule] = []
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


def _of(support: int, cases: int) -> str:
    """`3 of 7`, `all 7`, `both`."""
    if support == cases == 2:
        return "both"
    return f"all {cases:,}" if support == cases else f"{support:,} of {cases:,}"


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
