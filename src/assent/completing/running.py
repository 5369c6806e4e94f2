"""Relation by relation: ask, score, decide, keep to the graph's habits, look for evidence."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from assent.completing.asking import Fitting, asked, entities_named, relations_named
from assent.completing.chains import Chains
from assent.completing.evidence import evidence_for
from assent.completing.habits import Habits, both_or_neither, only_best
from assent.completing.joining import Candidates
from assent.completing.lines import Lines
from assent.completing.links import Links
from assent.core.arrays import Ids, Keys, Mask
from assent.core.benchmark import Benchmark
from assent.core.completions import NewFacts
from assent.core.queries import Queries
from assent.core.scores import QueriesDone, Scorer
from assent.deciding.shortlisting import Above
from assent.errors import ConfigError
from assent.scoring import score

Stopping = Callable[[], bool]  # asked between blocks: end here?


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to complete, and which habits of the graph to keep."""

    relations: Sequence[str] | None = None  # all
    anchors: Sequence[str] | None = None  # all
    max_facts: int | None = None  # the most accepted, and the most to review; the surest are kept
    functional: bool = True
    symmetric: bool = True

    def __post_init__(self) -> None:
        if self.max_facts is not None and self.max_facts < 1:
            raise ConfigError(f"max_facts = {self.max_facts}; choose 1 or more")


class Outcome(NamedTuple):
    """What became of a relation."""

    relation: int
    queries: int
    accepted: int
    review: int
    second: int  # left out: a functional relation has a better or a known answer
    mirrored: int  # came in as the reverse of another
    accepts: bool  # whether any of its two slots has a threshold that can be exceeded


class Completing:
    """A model and where its lines are drawn, on the graph of a benchmark; a judge may decide."""

    def __init__(
        self,
        benchmark: Benchmark,
        scorer: Scorer,
        lines: Lines,
        wanted: Wanted,
    ) -> None:
        names = benchmark.vocabulary
        self.scorer, self.lines, self.wanted = scorer, lines, wanted
        self.num_entities, self.num_relations = names.num_entities, names.num_relations
        self.known = benchmark.truth()
        self.facts = self.known.take(self.known.relations < self.num_relations).facts(
            self.num_relations
        )
        self.habits = Habits.learned(self.known, self.num_entities, self.num_relations).only(
            wanted.functional, wanted.symmetric
        )
        self.fitting = Fitting(benchmark, self.facts)
        self.relations = relations_named(wanted.relations, names)
        self.about = entities_named(wanted.anchors, names)

    @cached_property
    def chains(self) -> Chains:
        return Chains(Links(self.facts, self.num_entities, self.num_relations))

    def run(self, progress: QueriesDone, stopping: Stopping) -> Iterator[tuple[Outcome, NewFacts]]:
        """Whole relations only: one that is stopped is not given."""
        total = sum(len(self._asked(relation)[0]) for relation in self.relations)
        before = 0
        for relation in self.relations:
            queries, fits = self._asked(relation)
            above = Above(queries, self.lines.floors, self.lines.decider.needs_spread)
            for block in score(self.scorer, queries, self.known):
                above.add(block)
                progress(before + block.first + len(block.queries), total)
                if stopping():
                    return
            before += len(queries)
            found = Candidates.of(above.result(), self.lines)
            yield self._decided(relation, len(queries), found, fits)

    def _asked(self, relation: int) -> tuple[Queries, tuple[Mask, Mask]]:
        """The questions both ways, and who may be head and tail.

        Where nothing could be accepted or reviewed, nothing is asked.
        """
        slots = (relation, relation + self.num_relations)
        heads, tails = (self.fitting.anchors(slot) for slot in slots)
        worth = [self.about & (self.lines.floors.values[slot] < np.inf) for slot in slots]
        about = [mask & open_ for mask, open_ in zip((heads, tails), worth, strict=True)]
        return asked(relation, about, self.num_relations), (heads, tails)

    def _decided(
        self, relation: int, num_queries: int, found: Candidates, fits: tuple[Mask, Mask]
    ) -> tuple[Outcome, NewFacts]:
        found = found.take(fits[0][found.heads] & fits[1][found.tails])
        if self.habits.apart[relation]:
            found = found.take(found.heads != found.tails)
        known, before = self._known(relation), len(np.unique(found.pairs(self.num_entities)))
        symmetric = bool(self.habits.symmetric[relation])
        if symmetric:
            found = found.mirrored(known, self.num_entities)
        facts = found.facts(relation, self.num_entities, self.lines)
        mirrored, joined = len(facts) - before, len(facts)
        facts = only_best(facts, self._taken(relation, symmetric))
        if symmetric:
            facts = both_or_neither(facts, known, self.num_entities)
        if len(facts):
            facts = replace(facts, evidence=evidence_for(facts.facts, self.chains))
        accepted = int(facts.accepted.sum())
        slots = [relation, relation + self.num_relations]
        outcome = Outcome(
            relation,
            num_queries,
            accepted,
            len(facts) - accepted,
            joined - len(facts),
            mirrored,
            bool((self.lines.decider.thresholds.values[slots] < np.inf).any()),
        )
        return outcome, facts

    def _known(self, relation: int) -> Keys:  # (pair,)
        """The known pairs of a relation, ascending."""
        mine = self.facts[self.facts[:, 1] == relation].astype(np.int64)
        return np.sort(mine[:, 0] * self.num_entities + mine[:, 2])

    def _taken(self, relation: int, symmetric: bool) -> tuple[Mask | None, Mask | None]:
        """Which heads and which tails have their one answer already."""
        heads, _, tails = self.facts[self.facts[:, 1] == relation].T
        ends = [self._marked(heads), self._marked(tails)]
        if symmetric:
            ends = [ends[0] | ends[1]] * 2
        slots = (relation, relation + self.num_relations)
        one_only = (bool(self.habits.functional[slot]) for slot in slots)
        head, tail = (end if one else None for end, one in zip(ends, one_only, strict=True))
        return head, tail

    def _marked(self, entities: Ids) -> Mask:  # (entity,)
        mask = np.zeros(self.num_entities, bool)
        mask[entities] = True
        return mask
