import pytest
import torch

import toy
from assent.adapters.adapting import Adapted
from assent.models import create


@pytest.fixture(autouse=True)
def _alone(one_thread):
    """Every test here computes in one thread."""


@pytest.fixture(scope="session")
def ours():
    """A benchmark, some queries of which are asked in both splits, and a model of our own."""
    benchmark = toy.built(toy.crowd(1, 34, 3, 8), removed=4)
    names = benchmark.vocabulary
    torch.manual_seed(0)
    model = create(
        "complex", names.num_entities, names.num_relations, {"dim": 8, "init_scale": 1.0}
    )
    with torch.no_grad():
        for weights in model.parameters():
            # In eighths all sums are exact, so that no batch rounds differently; and some tie.
            weights.copy_((weights * 8).round() / 8)
    return Adapted(benchmark, model)
