"""The answers that rules would rather give to a query than the one that is proposed.

The anchor of the query has no known answer. So only what the anchor has can speak for an answer,
and the paths that lead from it; what an answer has speaks for none.
"""

# mypy: ignore-errors
# Numba checks the types of the loops, in its own way.

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys
from assent.geometry import threads
from assent.rules.bodies import bodies_of
from assent.rules.explaining import MIN_SUPPORT, PATHS
from assent.rules.graph import Graph, links_by
from assent.rules.mining import PRIOR
from assent.rules.steps import NONE, reversed_steps, steps_of_codes
from assent.rules.walking import count_paths

LOOKED_AT = 500  # entities with a property, asked for the answers that they have
MOST_PATHS = 200  # of each relation, those most often found


class Rivals(NamedTuple):
    """For each query, the answer that rules of one form are surest of, and the rule."""

    entities: Ids  # (query,)   NONE: no rule speaks for any
    rules: Ids  # (query,)      a property; or the place of a path
    middles: Ids  # (query,)    the entity between the two steps of a path, or NONE
    confidence: NDArray[np.float64]  # (query,)   0: no rule speaks for any

    @classmethod
    def none_yet(cls, count: int) -> "Rivals":
        return cls(*(np.full(count, NONE, np.int32) for _ in range(3)), np.zeros(count))


@dataclass(frozen=True, slots=True, eq=False)
class KnownPaths:
    """Paths that join pairs of a relation, from head to tail, the surest first."""

    steps: Ids  # (path, 3)   slots; NONE after the last
    support: Keys  # (path,)
    cases: Keys  # (path,)

    @property
    def confidence(self) -> NDArray[np.float64]:  # (path,)
        return self.support / (self.cases + PRIOR)


class Rivalling:
    """Finds rivals in one graph; the paths of a relation are counted once."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.paths = cache(self._paths)

    def by_constant(self, anchors: Ids, slot: int, entities: Ids) -> Rivals:
        """Other answers than the entity that those have who share a known fact with the anchor.

        Of a property that many have, some LOOKED_AT of them are asked for their answers.
        """
        return self._by_property(anchors, slot, entities, vague=False)

    def by_slot(self, anchors: Ids, slot: int, entities: Ids) -> Rivals:
        """Other answers, of those who share a slot with the anchor or have the one asked for."""
        return self._by_property(anchors, slot, entities, vague=True)

    def by_path(self, anchors: Ids, slot: int, entities: Ids) -> Rivals:
        """Other answers than the entity that the surest path leads to."""
        graph, found = self.graph, Rivals.none_yet(len(anchors))
        backwards, relation = divmod(slot, graph.num_slots // 2)
        paths = self.paths(relation)
        steps = reversed_steps(paths.steps, graph.num_slots) if backwards else paths.steps
        _by_path(
            anchors, entities, steps, paths.confidence, graph.offsets, graph.slots, graph.ends,
            found.entities, found.rules, found.middles, found.confidence,
        )  # fmt: skip
        return found

    def _by_property(self, anchors: Ids, slot: int, entities: Ids, vague: bool) -> Rivals:
        graph, count = self.graph, len(anchors)
        found = Rivals.none_yet(count)

        def work(part: int, parts: int) -> None:
            _by_property(
                np.arange(part, count, parts), anchors, slot, entities, graph.offsets, graph.slots,
                graph.ends, graph.items, graph.slot_offsets, graph.entity_slots, graph.num_items,
                graph.member_offsets, graph.members, vague, MIN_SUPPORT, PRIOR, LOOKED_AT,
                found.entities, found.rules, found.confidence,
            )  # fmt: skip

        threads.side_by_side(work)
        return found

    def _paths(self, relation: int) -> KnownPaths:
        codes, times = bodies_of(self.graph, relation, PATHS)
        often = codes[np.argsort(-times, kind="stable")[:MOST_PATHS]]
        steps = steps_of_codes(often, self.graph.num_slots)
        support, cases = count_paths(self.graph, relation, steps)
        order = np.argsort(-support / (cases + PRIOR), kind="stable")
        order = order[support[order] >= MIN_SUPPORT]
        return KnownPaths(np.ascontiguousarray(steps[order]), support[order], cases[order])


@njit(nogil=True, cache=True)
def _by_property(
    queries, anchors, slot, entities, offsets, slots, ends, items, slot_offsets, entity_slots,
    num_items, member_offsets, members, vague, min_support, prior, looked_at,
    out_entities, out_bodies, out_confidence,
):  # fmt: skip
    """The answer that most of those have who have a property of the anchor."""
    times = np.zeros(len(offsets) - 1, np.int32)
    met = np.empty(len(times), np.int32)
    for query in queries:
        anchor = anchors[query]
        first, last = offsets[anchor], offsets[anchor + 1]
        if vague:
            first, last = slot_offsets[anchor], slot_offsets[anchor + 1] + 1
        for q in range(first, last):
            if vague:  # the slot that is asked for comes last
                own = q == last - 1
                if not own and entity_slots[q] == slot:
                    continue
                body = num_items + (slot if own else entity_slots[q])
            else:
                if slots[q] == slot:
                    continue
                body = np.int64(items[q])
            low, high = member_offsets[body], member_offsets[body + 1]
            stride = max((high - low) // looked_at, 1)
            num_met, seen = 0, 0
            for m in range(low, high, stride):
                seen += 1
                p_low, p_high = links_by(offsets, slots, members[m], slot)
                for p in range(p_low, p_high):
                    entity = ends[p]
                    if times[entity] == 0:
                        met[num_met] = entity
                        num_met += 1
                    times[entity] += 1
            for k in range(num_met):
                entity = met[k]
                support = times[entity] * (high - low) / seen
                times[entity] = 0
                confidence = support / (high - low + prior)
                if entity in (anchor, entities[query]) or support < min_support:
                    continue
                if confidence > out_confidence[query]:
                    out_confidence[query] = confidence
                    out_entities[query], out_bodies[query] = entity, body


@njit(nogil=True, cache=True)
def _by_path(
    anchors, entities, steps, confidence, offsets, slots, ends,
    out_entities, out_paths, out_middles, out_confidence,
):  # fmt: skip
    """Where the first path leads to that leads anywhere else than to the entity."""
    for query in range(len(anchors)):
        anchor = anchors[query]
        for path in range(len(steps)):
            rival, middle = np.int64(-1), np.int64(-1)
            low, high = links_by(offsets, slots, anchor, steps[path, 0])
            for p in range(low, high):
                if steps[path, 1] < 0:
                    if ends[p] != entities[query]:
                        rival = ends[p]
                else:
                    a = ends[p]
                    q_low, q_high = links_by(offsets, slots, a, steps[path, 1])
                    for q in range(q_low, q_high):
                        if ends[q] != anchor and ends[q] != entities[query]:
                            rival, middle = ends[q], a
                            break
                if rival >= 0:
                    break
            if rival >= 0:
                out_entities[query], out_paths[query] = rival, path
                out_middles[query], out_confidence[query] = middle, confidence[path]
                break
