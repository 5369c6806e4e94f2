"""What a step is told beside its batch."""

import numpy as np
import pytest
import torch

from assent.geometry.loss import LOSSES
from assent.training.batches import Batch
from assent.training.settings import TrainSettings
from assent.training.stepping import told_of

ANSWERS = [[4], [0, 1, 2, 3, 4, 5], [], [2, 6, 7]]  # of query 0, 1, 2, 3
BATCH = Batch(
    torch.tensor([8, 9, 8, 7]),
    torch.tensor([0, 1, 2, 3]),
    torch.tensor([0, *np.cumsum([len(ids) for ids in ANSWERS])]),
    torch.tensor([answer for ids in ANSWERS for answer in ids]),
)
STEPS = 4000


def told(loss):  # [step][fact] -> (query, answer)
    settings = TrainSettings(loss=loss, seed=3)
    steps = [told_of(BATCH, settings, step) for step in range(STEPS)]
    return [list(zip(x.queries.tolist(), x.entities.tolist(), strict=True)) for x in steps]


@pytest.mark.parametrize("loss", LOSSES)
def test_the_facts_told_are_facts_as_many_as_queries_that_have_answers(loss):
    for facts in told(loss):
        assert len(facts) == 3
        assert all(answer in ANSWERS[query] for query, answer in facts)


@pytest.mark.parametrize("loss", sorted({*LOSSES} - {"ce-facts"}))
def test_where_queries_count_alike_each_tells_one_fact_in_random_order(loss):
    orders = {tuple(query for query, _ in facts) for facts in told(loss)}
    assert orders == {(0, 1, 3), (0, 3, 1), (1, 0, 3), (1, 3, 0), (3, 0, 1), (3, 1, 0)}


def test_where_facts_count_alike_each_is_told_as_often_as_any_other():
    _, counts = np.unique(
        [fact for facts in told("ce-facts") for fact in facts], axis=0, return_counts=True
    )
    assert len(counts) == 10
    expected = 3 * STEPS / 10
    assert ((counts - expected) ** 2 / expected).sum() < 21.7  # chi squared of 9, one in a hundred


def test_a_batch_without_answers_tells_nothing():
    nothing = Batch(
        BATCH.anchors, BATCH.relations, torch.zeros(5, dtype=torch.int64), BATCH.answers[:0]
    )
    for loss in LOSSES:
        assert not len(told_of(nothing, TrainSettings(loss=loss), 0).queries)
