"""A block of scores knows those of its answers, and collectors see every block."""

import numpy as np
import pytest

from assent.core.scores import ScoreBlock, collect
from assent.errors import DataError
from score_blocks import block, cut


def test_the_scores_of_answers_come_in_the_order_of_the_answers():
    made = block([[1.0, 2.0, 3.0], [4.0, 5.0, -np.inf]], [[2, 0], [1]])
    assert made.of_answers().tolist() == [3.0, 1.0, 5.0]
    assert block([[1.0]], [[]]).of_answers().tolist() == []


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (3,)])
def test_scores_of_other_queries_are_refused(shape):
    queries = block([[1.0, 2.0, 3.0]], [[0]]).queries
    with pytest.raises(DataError, match="1 queries, but scores of"):
        ScoreBlock(queries, np.zeros(shape, np.float32))


def test_every_collector_sees_every_block_in_order():
    class Sizes:
        def __init__(self):
            self.seen = []

        def add(self, part):
            self.seen.append((part.first, len(part.queries)))

    whole = block(np.zeros((5, 2)), [[]] * 5)
    one, other = Sizes(), Sizes()
    collect(iter(cut(whole, [2, 2])), one, other)
    assert one.seen == other.seen == [(0, 2), (2, 2), (4, 1)]
