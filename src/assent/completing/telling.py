"""Rules that speak for facts, in words: with names, and with the cases in which they were right."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from assent.core.vocabulary import Vocabulary
from assent.rules.explaining import Counting
from assent.rules.steps import NONE
from assent.rules.wording import Wording

EXAMPLES = 2  # entities named for which a rule was right


class Rule(NamedTuple):
    """A rule that speaks for a fact, before it is put into words."""

    confidence: float
    support: int
    cases: int
    kind: str  # of RULES
    # A property; an item, the step to one who has it, and that entity; or the steps of a path, and
    # the entity between them.
    body: tuple[int, ...]
    uses: tuple[tuple[int, int, int], ...]  # what no other rule that is shown may use


class Telling:
    """Says rules about the facts of one graph."""

    def __init__(self, names: Vocabulary, words: Wording, counting: Counting) -> None:
        self.names, self.words, self.counting = names, words, counting

    def of_property(self, rule: Rule, anchor: int, slot: int, entity: int) -> str:
        """`93 of 97 cities in Indonesia are cities in time zone Asia/Jakarta, among them ...`"""
        body, graph = rule.body[0], self.counting.graph
        if body >= graph.num_items:
            who = self.words.group(body - graph.num_items, None)
        else:
            who = self.words.group(int(graph.item_slots[body]), int(graph.item_entities[body]))
        (item,) = self.counting.items(slot, np.array([entity], np.int32)).tolist()
        examples = self.counting.examples(body, item, anchor, EXAMPLES)
        among = "among them" if rule.support > len(examples) else "namely"
        named = f", {among} {self.words.named(examples)}" if examples else ""
        many = f"{so_many_of(rule.support, rule.cases)} {who}"
        return f"{self.words.claim(many, slot, entity)}{named}"

    def of_end(self, rule: Rule, anchor: int, slot: int, entity: int) -> str:
        """`Ann was born in Oslo, which is in Norway: 12 of 14 joined with Norway like this ...`"""
        item, step, middle = rule.body
        graph = self.counting.graph
        last, end = int(graph.item_slots[item]), int(graph.item_entities[item])
        told = [self.words.step(anchor, step, middle), self.words.step(middle, last, end)]
        said = self._one_after_another(told, middle)
        who = self.words.kind(step)
        many = f"{so_many_of(rule.support, rule.cases)} {who} joined with {self.words.entity(end)}"
        return f"{said}: {self.words.claim(f'{many} like this', slot, entity)}"

    def of_path(self, rule: Rule, head: int, relation: int, tail: int) -> str:
        """`Mali borders Algeria, which is a member of X: 395 of 763 pairs joined like this ...`"""
        *steps, middle = rule.body
        stops = [head, tail] if middle == NONE else [head, middle, tail]
        told = [self.words.step(start, slot, end) for slot, (start, end) in zip(
            steps, pairwise(stops), strict=True)]  # fmt: skip
        said = self._one_after_another(told, middle)
        between = self.words.relation(relation)
        if steps == [relation + self.names.num_relations]:
            return (
                f"{said}, and {so_many_of(rule.support, rule.cases)} known facts with “{between}” "
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


def so_many_of(support: int, cases: int) -> str:
    """`3 of 7`, `all 7`, `both`."""
    if support == cases == 2:
        return "both"
    return f"all {cases:,}" if support == cases else f"{support:,} of {cases:,}"
