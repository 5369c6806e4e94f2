"""Steps of many models, by one process or one of several: prints the loss of every step as JSON.

`test_shards.py` starts it, with the variables that torchrun sets.
"""

import json
import sys

import numpy as np
import torch

from assent.core.queries import Queries, both_ways
from assent.geometry.loss import LOSSES
from assent.models import create
from assent.models.making import shared_by
from assent.training.batches import batches
from assent.training.checkpoints import Position
from assent.training.launching import launched
from assent.training.settings import TrainSettings
from assent.training.stepping import Stepping

ENTITIES, RELATIONS, STEPS = 211, 5, 8
MODELS = [
    ("complex", {}),
    ("complex", {"members": 2}),
    ("distmult", {}),
    ("rescal", {}),
    ("conve", {}),
    ("transe", {"norm": 1}),
    ("transe", {"norm": 2}),
    ("region", {}),
    ("region", {"anchor": "scaled", "shape": "sphere"}),
    ("transh", {}),
    ("transr", {}),
    ("transa", {}),
    ("transa", {"metric": "diagonal"}),
]
WAYS = [{"candidates": candidates, "loss": loss} for candidates in (0, 40) for loss in LOSSES]
ADAGRAD = [{"candidates": candidates, "optimizer": "adagrad"} for candidates in (0, 40)]
CASES = [(*model, way) for model in MODELS for way in WAYS]
CASES += [(*MODELS[0], way) for way in ADAGRAD]


def queries():
    rng = np.random.default_rng(0)
    ends = rng.integers(0, ENTITIES, (2, 1500))
    facts = np.stack([ends[0], rng.integers(0, RELATIONS, 1500), ends[1]], 1).astype(np.int32)
    return Queries.grouped(*both_ways(np.unique(facts, axis=0), RELATIONS))


def losses(peers, asked, name, shape, way):
    torch.manual_seed(0)
    with shared_by(peers):
        model = create(name, ENTITIES, RELATIONS, {"dim": 16, **shape})
    settings = TrainSettings(
        epochs=2,
        batch_size=64,
        label_smoothing=0.1,
        n3=0.01,
        learning_rate=0.01,
        relation_weight=0.5,
        **way,
    )
    stepping, position = Stepping(model, asked, settings, None), Position()
    model.train()
    if model.derives():
        model.derive(asked, np.random.default_rng(3))
    found = []
    for batch, _ in zip(batches(asked, 64, 0, 0), range(STEPS), strict=False):
        found.append(stepping.step(batch, position))
        position.step += 1
    return found


def main():
    torch.set_num_threads(1)
    asked = queries()
    with launched() as peers:
        found = {
            f"{name} {shape} {way}": losses(peers, asked, name, shape, way)
            for name, shape, way in CASES
        }
        if peers is None or peers.first:
            json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
