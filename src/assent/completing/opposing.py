"""What speaks against a fact: a known answer, a known fact that excludes it, a surer rival."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.completing.schema import Links
from assent.completing.telling import Rule, Telling, so_many_of
from assent.core.arrays import Ids, Mask
from assent.core.new_facts import AGAINST, RULES, Reason
from assent.rules.mining import PRIOR
from assent.rules.rivalling import Rivalling
from assent.rules.steps import NONE

RIVALLING = 0.3  # a rule less sure than this makes no answer a rival
CLEARLY = 1.1  # times as sure as what speaks for the fact must be what speaks for a rival
BESIDE = 0.5  # a rule is shown beside a surer one if it is at least this share as sure
MOSTLY = 0.9  # share of a slot's entities with one answer from which a second one is doubtful

HEAD, *_, PATH = RULES
ANSWERED, NEVER, RIVAL = AGAINST


class Opposing:
    """Finds what speaks against facts, known or not, in the known facts of a graph."""

    def __init__(self, telling: Telling, links: Links, never: Mask) -> None:
        """`never` (slot, relation): whether no known pair is joined by both."""
        self.telling, self.links, self.never = telling, links, never
        self.names, self.words, self.counting = telling.names, telling.words, telling.counting
        self.graph = telling.counting.graph
        self.rivalling = Rivalling(self.graph)
        self._slots: dict[int, _Slot] = {}

    def of(
        self, relation: int, heads: Ids, tails: Ids, surest: NDArray[np.float64]
    ) -> list[list[Reason]]:
        """For each fact what speaks against it, where rules speak for it so surely."""
        found: list[list[Reason]] = [[] for _ in heads]
        for row, reason in self._never_joined(relation, heads, tails):
            found[row].append(reason)
        for slot, anchors, entities in zip(
            self.names.slots_of(relation), (heads, tails), (tails, heads), strict=True
        ):
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
            fact = self.words.told(int(heads[row]), relation, int(tails[row]))
            said = f"{told}, and in none of {pairs:,} such cases is a fact like “{fact}” known"
            yield row, Reason(NEVER, 0.0, 0, pairs, said)

    def _other_answers(
        self, slot: int, anchors: Ids, entities: Ids, surest: NDArray[np.float64]
    ) -> Iterator[tuple[int, Reason]]:
        """Of anchors with a known answer, that one; of others, an answer that rules favour."""
        single, count = self._slot(slot).single, self._slot(slot).having
        unanswered = []
        for row, (anchor, entity) in enumerate(
            zip(anchors.tolist(), entities.tolist(), strict=True)
        ):
            others = [other for other in self.graph.answers(anchor, slot) if other != entity]
            if not others:
                unanswered.append(row)
                continue
            said = (
                f"{self.words.told_of_all(anchor, slot, others)} already, and "
                f"{so_many_of(single, count)} {self.words.kind(slot)} have only one such answer"
            )
            if len(others) > 1:
                many = int((self._slot(slot).sizes >= len(others)).sum())
                said += f"; {many:,} {'has' if many == 1 else 'have'} {len(others)} or more"
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

    def _by_property(self, anchor: int, slot: int, rival: int, body: int) -> tuple[Rule, str]:
        """A rule about a property of the anchor, counted exactly, and in words."""
        (item,) = self.counting.items(slot, np.array([rival], np.int32)).tolist()
        who = self.counting.members(body)
        support = len(np.intersect1d(who, self.counting.members(item), assume_unique=True))
        rule = Rule(support / (len(who) + PRIOR), support, len(who), HEAD, (body,), ())
        return rule, self.telling.of_property(rule, anchor, slot, rival)

    def _by_path(
        self, anchor: int, slot: int, rival: int, number: int, middle: int
    ) -> tuple[Rule, str]:
        """A path between the anchor and the rival, and in words."""
        backwards, relation = divmod(slot, self.names.num_relations)
        paths = self.rivalling.paths(relation)
        steps = [step for step in paths.steps[number].tolist() if step != NONE]
        support, cases = int(paths.support[number]), int(paths.cases[number])
        rule = Rule(support / (cases + PRIOR), support, cases, PATH, (*steps, middle), ())
        head, tail = (rival, anchor) if backwards else (anchor, rival)
        return rule, self.telling.of_path(rule, head, relation, tail)

    def _slot(self, slot: int) -> "_Slot":
        if slot not in self._slots:
            graph = self.graph
            low, high = graph.member_offsets[graph.slot_items[slot : slot + 2]]
            answers = np.unique(graph.members[low:high], return_counts=True)[1]
            single, count = int((answers == 1).sum()), len(answers)
            mostly = count > 1 and single >= MOSTLY * count
            self._slots[slot] = _Slot(single, count, mostly, answers)
        return self._slots[slot]


class _Slot(NamedTuple):
    """How many of those who have a slot have one answer."""

    single: int
    having: int
    mostly_one: bool
    sizes: NDArray[np.integer]  # (having,)  how many answers each of them has
