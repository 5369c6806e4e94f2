"""Cards: what a reviewer is shown of a proposal, and what is known about both of its ends."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from assent.core.benchmark import Benchmark
from assent.core.new_facts import NewFacts
from assent.files.fact_rows import rows_of_facts
from assent.rules.phrases import around_tail

KNOWN_SHOWN = 12  # known facts about either end of a proposal, at most

Named = tuple[str, str, str]  # a fact by its names: head, relation, tail


class End(NamedTuple):
    """One end of a proposal, or its relation: the name in the graph, and as people read it."""

    name: str
    label: str

    @property
    def iri(self) -> str | None:
        """The address to look it up at, if its name is one."""
        return self.name if self.name.startswith(("http://", "https://")) else None


class Told(NamedTuple):
    """A fact as people read it: `Norway` has `Oslo` as capital."""

    head: End
    relation: End
    tail: End
    between: str  # what is said between the two ends
    after: str  # and after the tail


@dataclass(frozen=True)
class Card:
    """What a reviewer is shown of one proposal."""

    key: str
    fact: Told
    probability: float  # as the labels so far recalibrate it
    probability_before: float  # as the run had it
    recalibrated_by: int  # so many labels
    order: str  # one of ORDERS: why it is shown; `decide` wants it back
    row: dict[str, Any]  # the fact as a line of .jsonl has it, with its evidence
    about_head: tuple[Told, ...]
    about_tail: tuple[Told, ...]
    num_about_head: int  # so many known facts there are; at most KNOWN_SHOWN are listed
    num_about_tail: int


class Cards:
    """Makes cards, with the labels of a graph and its known facts."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark

    def of(
        self,
        facts: NewFacts,
        place: int,
        key: str,
        order: str,
        probability: float,
        recalibrated_by: int,
    ) -> Card:
        """The card of the fact at this place."""
        row = next(rows_of_facts(facts.take([place])))
        head, relation, tail = (row[column] for column in ("head", "relation", "tail"))
        about_head, num_head = self._about(head, (head, relation, tail))
        about_tail, num_tail = self._about(tail, (head, relation, tail))
        return Card(
            key,
            self.told(head, relation, tail),
            probability,
            float(facts.probabilities[place]),
            recalibrated_by,
            order,
            row,
            about_head,
            about_tail,
            num_head,
            num_tail,
        )

    def told(self, head: str, relation: str, tail: str) -> Told:
        """A fact, given by its names, as people read it."""
        ends = self._entity(head), self._relation(relation), self._entity(tail)
        return Told(*ends, *around_tail(ends[1].label, ends[2].label))

    def _entity(self, name: str) -> End:
        return End(name, self._entity_labels.get(name, name))

    def _relation(self, name: str) -> End:
        return End(name, self._relation_labels.get(name, name))

    @cached_property
    def _entity_labels(self) -> dict[str, str]:
        names = self.benchmark.vocabulary
        return dict(zip(names.entities, names.entity_labels or names.entities, strict=True))

    @cached_property
    def _relation_labels(self) -> dict[str, str]:
        names = self.benchmark.vocabulary
        return dict(zip(names.relations, names.relation_labels or names.relations, strict=True))

    @cached_property
    def _known(self) -> dict[str, list[Named]]:
        """The known facts about each entity."""
        names, known = self.benchmark.vocabulary, self.benchmark.truth()
        facts = known.take(known.relations < names.num_relations).facts(names.num_relations)
        about: dict[str, list[Named]] = {}
        for h, r, t in facts.tolist():
            fact = names.entities[h], names.relations[r], names.entities[t]
            for end in {fact[0], fact[2]}:
                about.setdefault(end, []).append(fact)
        return about

    def _about(self, entity: str, fact: Named) -> tuple[tuple[Told, ...], int]:
        """Known facts about an entity, one of each relation first, and how many there are.

        The fact itself is not among them: that a planted fact is known is not told.
        """
        facts = [known for known in self._known.get(entity, []) if known != fact]
        seen: Counter[str] = Counter()
        turns = []
        for _, relation, _ in facts:
            turns.append(seen[relation])
            seen[relation] += 1
        first = sorted(range(len(facts)), key=lambda i: (turns[i], facts[i]))[:KNOWN_SHOWN]
        return tuple(self.told(*facts[i]) for i in first), len(facts)
