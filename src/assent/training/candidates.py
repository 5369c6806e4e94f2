"""A sample of the entities as the candidates of a step, drawn anew for each."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from assent.geometry import Drawn
from assent.training.batches import Batch

# With a tenth of 1,900 entities CoDEx-S comes to F1 .348 on valid, with all to .377; with a tenth
# of 13,541, FB14k-QAQ loses nothing. So a share of a small graph is no saving, but a loss.
LEAST = 1360
WIDTH = 16  # numbers in a register: a product with ragged rows takes up to half as long again
STREAM = 0xCA  # keeps these random numbers apart from those of the order of the queries


class Sample(NamedTuple):
    """A batch in which entities are numbered as in `entities`, which are all that it knows."""

    batch: Batch
    entities: Tensor  # (row,)  first those drawn, then the other answers and anchors of the batch
    drawn: Drawn


def num_drawn(candidates: float, num_entities: int) -> int:
    """How many entities `train.candidates` (0: all, a share, or a number) has drawn; 0: all.

    A share draws `LEAST` at least. More than half of the entities means all, which then cost
    little more.
    """
    count = int(candidates)
    if 0 < candidates < 1:
        count = max(WIDTH * round(candidates * num_entities / WIDTH), LEAST)
    return count if count <= num_entities / 2 else 0


def sample(batch: Batch, num_entities: int, count: int, seed: int, step: int) -> Sample:
    """Draws `count` candidates for this batch; seed and step alone decide which."""
    rng = np.random.default_rng([seed, step, STREAM])
    drawn = np.sort(rng.choice(num_entities, count, replace=False, shuffle=False))
    anchors, answers = batch.anchors.numpy(), batch.answers.numpy()
    place = np.full(num_entities, -1, dtype=np.int64)
    place[drawn] = np.arange(count)
    asked = np.concatenate([anchors, answers])
    others = np.unique(asked[place[asked] < 0])
    place[others] = np.arange(count, count + len(others))
    small = batch._replace(
        anchors=torch.from_numpy(place[anchors]), answers=torch.from_numpy(place[answers])
    )
    entities = torch.from_numpy(np.concatenate([drawn, others]).astype(np.int64))
    return Sample(small, entities, Drawn(count, num_entities))
