"""What a GPU asks of the code, on a device that is none: no tensor is where it must not be."""

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch.optim import optimizer

from assent.geometry import Peers
from assent.geometry.threads import one_thread
from assent.models import create
from assent.models.making import shared_by
from assent.training.batches import batches
from assent.training.checkpoints import Position
from assent.training.settings import TrainSettings
from assent.training.stepping import Stepping
from pretended import THERE, MixedError, There, pretending
from sharded_steps import ENTITIES, MODELS, RELATIONS, queries

WAYS = [{"candidates": 0, "loss": "bce"}, {"candidates": 40, "loss": "ce-facts"}]
STEPS = 2


@pytest.fixture(autouse=True)
def as_on_a_gpu(monkeypatch):
    """The fused Adam of a GPU, too; and here one thread, as steps are small."""
    devices = optimizer._get_fused_kernels_supported_devices()
    monkeypatch.setattr(
        optimizer, "_get_fused_kernels_supported_devices", lambda: [*devices, "meta"]
    )
    with one_thread():
        yield


@pytest.fixture
def alone_together(monkeypatch):
    """A group of one process, in which only tensors of the GPU may be sent, as by nccl."""

    def all_gather(parts, part):
        assert all(isinstance(x, There) for x in (*parts, part))
        for mine in parts:
            mine.copy_(part)

    def all_reduce(packed):
        assert isinstance(packed, There)

    monkeypatch.setattr(dist, "all_gather", all_gather)
    monkeypatch.setattr(dist, "all_reduce", all_reduce)
    return Peers(0, 1, THERE)


def made(name, shape, peers=None):
    """Nothing is dropped at random."""
    torch.manual_seed(0)
    dropouts = dict.fromkeys(("anchor_dropout", "query_dropout"), 0.0)
    if name == "conve":
        dropouts["feature_dropout"] = 0.0
    with shared_by(peers):
        return create(name, ENTITIES, RELATIONS, {"dim": 16, **dropouts, **shape})


def learned(model, way, device):
    """The losses of a few steps, and scores afterwards."""
    model.to(device)
    asked = queries()
    settings = TrainSettings(epochs=2, batch_size=32, n3=0.01, relation_weight=0.5,
                             label_smoothing=0.1, device=str(device), **way)  # fmt: skip
    stepping, position = Stepping(model, asked, settings, None), Position()
    model.train()
    if model.derives():
        model.derive(asked, np.random.default_rng(3))
    losses = []
    for batch, _ in zip(batches(asked, 32, 0, 0), range(STEPS), strict=False):
        losses.append(stepping.step(batch, position))
        position.step += 1
    scores = model.scores(torch.arange(5), torch.arange(5))
    assert isinstance(scores, There) == (device == THERE)
    return [*losses, *scores.cpu().numpy().ravel().tolist()]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way["loss"])
@pytest.mark.parametrize(("name", "shape"), MODELS, ids=str)
def test_all_models_learn_on_another_device_what_they_learn_here(name, shape, way, alone_together):
    here = learned(made(name, shape), way, "cpu")
    for model in (made(name, shape), made(name, shape, alone_together)):
        with pretending():
            there = learned(model, way, THERE)
        np.testing.assert_allclose(there, here, rtol=1e-3, atol=1e-4)


def test_what_a_gpu_would_refuse_is_refused_here():
    with pretending():
        there = torch.ones(2).to(THERE)
        with pytest.raises(MixedError):
            there + torch.ones(2)
        with pytest.raises(MixedError):
            there.numpy()
        assert (there + 1).cpu().tolist() == [2, 2]
