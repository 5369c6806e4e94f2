"""Model + queries -> a stream of score blocks, what is known masked. Torch ends here."""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from assent.core.arrays import Ids, Keys, offsets_of, places_in, rows_of
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock

CELLS = 1 << 23  # scores of a block, 32 MB


class Scorer(Protocol):
    """Anything that gives every entity a logit."""

    num_entities: int

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        ...


def score(
    scorer: Scorer, queries: Queries, known: Queries, cells: int = CELLS
) -> Iterator[ScoreBlock]:
    """The scores of all candidates, a few queries at a time.

    `known` answers are no candidates: accepting them would add nothing.
    """
    size = max(1, cells // scorer.num_entities)
    for first in range(0, len(queries), size):
        part = queries.take(np.arange(first, min(first + size, len(queries))))
        with torch.no_grad():
            given = scorer.scores(_tensor(part.anchors), _tensor(part.relations))
        scores = given.float().cpu().numpy()
        rows, entities = _known_places(part, known, scorer.num_entities)
        scores[rows, entities] = -np.inf
        yield ScoreBlock(part, scores)


def _tensor(ids: Ids) -> Tensor:
    return torch.from_numpy(ids.astype(np.int64))


def _known_places(queries: Queries, known: Queries, num_entities: int) -> tuple[Keys, Ids]:
    """The cells of a block that hold known answers; `known` ascends by relation, then anchor."""
    keys, known_keys = queries.keys(num_entities), known.keys(num_entities)
    if not len(known_keys):
        return np.empty(0, np.int64), np.empty(0, np.int32)
    places = np.minimum(np.searchsorted(known_keys, keys), len(known_keys) - 1)
    rows = np.flatnonzero(known_keys[places] == keys)
    counts = known.num_answers[places[rows]]
    cells = rows[rows_of(offsets_of(counts))]
    return cells, known.answers[places_in(known.offsets, places[rows])]
