"""The dev loss leaves out what was trained on."""

import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

import toy
from assent.building.recipe import build
from assent.models import create
from assent.training import losses
from assent.training.losses import dev_loss


@pytest.mark.parametrize("batch", [1, 3, 512])
def test_the_dev_loss_equals_a_sum_over_all_candidates_but_the_known(monkeypatch, batch):
    monkeypatch.setattr(losses, "BATCH", batch)
    benchmark = build(toy.split(), removed=1, seed=3)
    entities, relations = benchmark.vocabulary.num_entities, benchmark.vocabulary.num_relations
    torch.manual_seed(0)
    model = create("complex", entities, relations, {"dim": 8}).eval()
    valid, known = benchmark.valid, benchmark.known("valid")
    total = 0.0
    for q in range(len(valid)):
        anchor, relation = (torch.tensor([int(x[q])]) for x in (valid.anchors, valid.relations))
        scores = model.scores(anchor, relation)[0]
        labels = torch.zeros(entities)
        labels[valid.answers[valid.offsets[q] : valid.offsets[q + 1]].tolist()] = 1
        total += binary_cross_entropy_with_logits(scores, labels, reduction="sum").item()
        same = (known.anchors == valid.anchors[q]) & (known.relations == valid.relations[q])
        for row in same.nonzero()[0]:
            ids = known.answers[known.offsets[row] : known.offsets[row + 1]].tolist()
            total -= softplus(scores[ids]).sum().item()
    assert dev_loss(model, valid, known) == pytest.approx(total / len(valid), rel=1e-5)
