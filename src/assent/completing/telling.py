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
        """`Ann was born in Oslo, and Oslo is in Norway: 12 of 14 born in cities in Norway ...`"""
        item, step, middle = rule.body
        graph = self.counting.graph
        last, end = int(graph.item_slots[item]), int(graph.item_entities[item])
        told = [self.words.step(anchor, step, middle), self.words.step(middle, last, end)]
        said = self._one_after_another(told, middle)
        who = self.words.group_of_group(step, last, end)
        many = f"{so_many_of(rule.support, rule.cases)} {who}"
        return f"{said}: {self.words.claim(many, slot, entity)}"

    def of_path(self, rule: Rule, head: int, relation: int, tail: int) -> str:
        """`It was directed by Ann, who is a citizen of X: in 68 of 90 such cases, the film ...`"""
        *steps, middle = rule.body
        stops = [head, tail] if middle == NONE else [head, middle, tail]
        told = [self.words.step(start, slot, end) for slot, (start, end) in zip(
            steps, pairwise(stops), strict=True)]  # fmt: skip
        said = self._one_after_another(told, middle)
        if steps == [relation + self.names.num_relations]:
            return (
                f"{said}, and {so_many_of(rule.support, rule.cases)} known facts with "
                f"“{self.words.relation(relation)}” hold both ways"
            )
        between = [] if middle == NONE else [self.words.back(steps[0]), steps[1]]
        case = self.words.case((head, relation, tail), between)
        return f"{said}: in {so_many_of(rule.support, rule.cases)} such cases, {case}, too"

    def _one_after_another(self, told: list[tuple[str, int]], middle: int) -> str:
        """One fact or two in one sentence.

        A person that the first ends with and the second begins with is not named twice.
        """
        (first, _), *rest = told
        for second, begins_with in rest:
            name = self.words.entity(middle)
            twice = begins_with == middle and first.endswith(name) and second.startswith(name)
            if twice and self.words.is_person(middle):
                return f"{first}, who{second.removeprefix(name)}"
            return f"{first}, and {second}"
        return first


def so_many_of(support: int, cases: int) -> str:
    """`3 of 7`, `all 7`, `both`."""
    if support == cases == 2:
        return "both"
    return f"all {cases:,}" if support == cases else f"{support:,} of {cases:,}"
