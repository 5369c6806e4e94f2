"""The paper's dev loss: how a model takes queries it was not trained on."""

import numpy as np
import torch
from torch import Tensor

from assent.core.queries import Queries
from assent.geometry import Answers
from assent.models.base import Model
from assent.training.batches import batch_of

BATCH = 512


def dev_loss(model: Model, queries: Queries, known: Queries) -> float:
    """The mean BCE loss of `queries`, known answers left out: learning by heart must not pay."""
    device = model.device
    total = 0.0
    for first in range(0, len(queries), BATCH):
        rows = np.arange(first, min(first + BATCH, len(queries)))
        offsets, ids = known.answers_to(queries.take(rows), model.num_entities)
        batch = batch_of(queries, rows)
        with torch.no_grad():
            loss = model.loss(
                batch.anchors.to(device),
                batch.relations.to(device),
                Answers(batch.offsets.to(device), batch.answers.to(device)),
                known=Answers(_tensor(offsets, device), _tensor(ids, device)),
            )
        total += loss.item() * len(rows)
    return total / max(len(queries), 1)


def _tensor(values: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(values.astype(np.int64)).to(device)
