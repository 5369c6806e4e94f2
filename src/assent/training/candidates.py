"""A sample of the entities as the candidates of a step, drawn anew for each.

Entities of many facts are likelier to be wrong answers that a model believes in, so that more of
them are drawn. The entities are sorted by their number of facts and cut into strata. From each
stratum the same number is drawn, each of its entities with the same probability. The strata are
cut so that an entity is drawn half evenly and half by the root of its number of facts, about.
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from assent.core.queries import Queries
from assent.geometry import Drawn, Peers
from assent.training.batches import Batch

# With a tenth of 1,900 entities CoDEx-S comes to F1 .348 on valid, with all to .377; with 6 % of
# 13,541, FB14k-QAQ loses nothing. So a share of a small graph is no saving, but a loss.
SMALL = 4000  # entities; a share of fewer means all of them
LEAST = 800  # candidates of a share
STRATA = 16  # more draw no better, and each is a part of the pass over the scores
EVENLY = 0.5  # share of the candidates that are drawn evenly, whatever their degree
WIDTH = 16  # numbers in a register: a product with ragged rows takes up to half as long again
STREAM = 0xCA  # keeps these random numbers apart from those of the order of the queries


class Sample(NamedTuple):
    """A batch in which entities are numbered as in `entities`, which are all that it knows."""

    batch: Batch
    entities: Tensor  # (row,)  first those drawn, then the other answers and anchors of the batch
    drawn: Drawn


def num_drawn(candidates: float, num_entities: int) -> int:
    """How many entities `train.candidates` (0: all, a share, or a number) has drawn; 0: all.

    A share draws `LEAST` at least, and means all where there are fewer than `SMALL` entities. More
    than half of the entities means all, too, which then cost little more.
    """
    count = int(candidates)
    if 0 < candidates < 1:
        count = max(WIDTH * round(candidates * num_entities / WIDTH), LEAST)
        count = count if num_entities >= SMALL else num_entities
    return count if count <= num_entities / 2 else 0


@dataclass(frozen=True, slots=True)
class Strata:
    """The entities, by their number of facts, in parts from each of which some are drawn."""

    order: np.ndarray  # (entity,)  ids, of few facts first
    drawn: Drawn

    @classmethod
    def of(cls, facts: np.ndarray, count: int) -> Self:
        """To draw `count` of the entities, each of which has so many `facts` (entity,)."""
        order = np.argsort(facts, kind="stable")
        roots = np.sqrt(facts[order])
        share = EVENLY / len(facts) + (1 - EVENLY) * roots / max(roots.sum(), 1)
        reach = np.concatenate([[0.0], np.cumsum(share / share.sum())])
        strata = min(STRATA, count)
        numbers = np.diff(np.arange(strata + 1) * count // strata)
        starts = np.searchsorted(reach, np.arange(strata + 1) / strata - 1e-9)
        starts[-1] = len(facts)
        for k in range(strata - 1, 0, -1):  # none has fewer than are to be drawn from it
            starts[k] = min(starts[k], starts[k + 1] - numbers[k])
        for k in range(1, strata):
            starts[k] = max(starts[k], starts[k - 1] + numbers[k - 1])
        return cls(order, Drawn(tuple(numbers.tolist()), tuple(np.diff(starts).tolist())))

    def draw(self, seed: int, step: int) -> np.ndarray:  # (drawn,)
        """Entities, stratum after stratum; seed and step alone decide which."""
        rng = np.random.default_rng([seed, step, STREAM])
        parts, start = [], 0
        for number, size in zip(*self.drawn, strict=True):
            places = rng.choice(int(size), number, replace=False, shuffle=False)
            parts.append(start + places)
            start += int(size)
        return self.order[np.concatenate(parts)]


def num_facts(queries: Queries, num_entities: int) -> np.ndarray:  # (entity,)
    """How often each entity answers one of these queries."""
    return np.bincount(queries.answers, minlength=num_entities)


def sample(batch: Batch, strata: Strata, seed: int, step: int) -> Sample:
    """Draws candidates for this batch; seed and step alone decide which."""
    drawn = strata.draw(seed, step)
    anchors, answers = batch.anchors.numpy(), batch.answers.numpy()
    others = np.setdiff1d(np.concatenate([anchors, answers]), drawn)
    small = batch._replace(
        anchors=torch.from_numpy(_places(anchors, drawn, others)),
        answers=torch.from_numpy(_places(answers, drawn, others)),
    )
    entities = torch.from_numpy(np.concatenate([drawn, others]).astype(np.int64))
    return Sample(small, entities, strata.drawn)


def _places(ids: np.ndarray, drawn: np.ndarray, others: np.ndarray) -> np.ndarray:  # (id,)
    """Where each of these entities stands among those drawn and then the others, ascending.

    Nothing here has a place for each entity of the graph: with millions, that would be most of the
    time of a step.
    """
    order = np.argsort(drawn)
    found = np.minimum(np.searchsorted(drawn, ids, sorter=order), len(drawn) - 1)
    places = order[found]
    beyond = drawn[places] != ids
    places[beyond] = len(drawn) + np.searchsorted(others, ids[beyond])
    return places


def sample_of(peers: Peers, batch: Batch, strata: Strata, seed: int, step: int) -> Sample:
    """What one process has of the same sample; its batch keeps the ids of all entities."""
    drawn = strata.draw(seed, step)
    mine = drawn % peers.size == peers.rank
    numbers, sizes = map(np.array, strata.drawn)
    of_stratum = np.repeat(np.arange(len(numbers)), numbers)[mine]
    here = np.bincount(of_stratum, minlength=len(numbers))
    stand_for = sizes * here / np.maximum(numbers, 1)  # each as often as in the whole sample
    asked = np.unique(np.concatenate([batch.anchors.numpy(), batch.answers.numpy()]))
    asked = asked[asked % peers.size == peers.rank]
    others = np.setdiff1d(asked, drawn[mine], assume_unique=True)
    entities = torch.from_numpy(np.concatenate([drawn[mine], others]).astype(np.int64))
    return Sample(batch, entities, Drawn(tuple(here.tolist()), tuple(stand_for.tolist())))
