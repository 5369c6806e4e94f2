"""The paper's dev loss: how a model takes queries it was not trained on."""

import numpy as np
import torch
from torch import Tensor

from assent.core.arrays import offsets_of, places_in
from assent.core.queries import Queries
from assent.geometry import Answers
from assent.models.base import Model
from assent.training.batches import batch_of

BATCH = 512


def dev_loss(model: Model, queries: Queries, known: Queries) -> float:
    """The mean BCE loss of `queries`, known answers left out: learning by heart must not pay."""
    device = model.entities.device
    total = 0.0
    for first in range(0, len(queries), BATCH):
        rows = np.arange(first, min(first + BATCH, len(queries)))
        batch = batch_of(queries, rows)
        with torch.no_grad():
            loss = model.loss(
                batch.anchors.to(device),
                batch.relations.to(device),
                Answers(batch.offsets.to(device), batch.answers.to(device)),
                known=_known_to(queries.take(rows), known, model.num_entities, device),
            )
        total += loss.item() * len(rows)
    return total / max(len(queries), 1)


def _known_to(queries: Queries, known: Queries, num_entities: int, device: torch.device) -> Answers:
    """The known answers of each query; `known` ascends by relation, then anchor."""
    keys, known_keys = queries.keys(num_entities), known.keys(num_entities)
    places = np.minimum(np.searchsorted(known_keys, keys), max(len(known_keys) - 1, 0))
    there = known_keys[places] == keys if len(known_keys) else np.zeros(len(keys), dtype=bool)
    counts = np.where(there, known.num_answers[places], 0) if len(known_keys) else 0 * keys
    ids = known.answers[places_in(known.offsets, places[there])]
    return Answers(_tensor(offsets_of(counts), device), _tensor(ids, device))


def _tensor(values: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(values.astype(np.int64)).to(device)
