"""How scores are spread, beside scipy's slow and careful functions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logsumexp

from assent.core.queries import Queries, Subset
from assent.core.scores import ScoreBlock
from assent.deciding import spread
from assent.deciding.spread import Spreading


@given(
    st.integers(0, 2**20),
    st.integers(1, 6),
    st.integers(1, 40),
    st.sampled_from([-150.0, -81.0, -79.0, -8.0, 0.0, 30.0, 100.0]),
)
def test_numbers_are_those_of_scipy(seed, num_queries, num_entities, level):
    rng = np.random.default_rng(seed)
    scores = rng.normal(level, 3, (num_queries, num_entities)).astype(np.float32)
    scores[rng.random(scores.shape) < 0.2] = -np.inf
    queries = Queries.empty(np.arange(num_queries), np.zeros(num_queries), Subset.COMPLETE)
    collector = Spreading(queries)
    collector.add(ScoreBlock(queries, scores, 0))
    found = collector.result()
    for row, given_scores in enumerate(scores.astype(np.float64)):
        there = given_scores[given_scores > -np.inf]
        if not len(there):
            assert (found.best[row], found.total[row]) == (-np.inf, -np.inf)
            assert (found.expected[row], found.effective[row]) == (0, 0)
            continue
        total = logsumexp(there)
        assert found.best[row] == there.max()
        assert found.total[row] == pytest.approx(total, abs=1e-4)
        assert found.expected[row] == pytest.approx(expit(there).sum(), rel=1e-4)
        effective = np.exp(2 * total - logsumexp(2 * there))
        assert found.effective[row] == pytest.approx(effective, rel=1e-4)


def test_blocks_and_parts_of_them_make_no_difference(monkeypatch):
    rng = np.random.default_rng(0)
    scores = rng.normal(-4, 3, (50, 30)).astype(np.float32)
    queries = Queries.empty(np.arange(50), np.zeros(50), Subset.COMPLETE)
    whole, parts = Spreading(queries), Spreading(queries)
    whole.add(ScoreBlock(queries, scores, 0))
    monkeypatch.setattr(spread, "CELLS", 100)
    for first in (0, 20):
        rows = np.arange(first, first + 20 if first == 0 else 50)
        parts.add(ScoreBlock(queries.take(rows), scores[rows], first))
    for name in ("best", "total", "expected", "effective"):
        assert np.array_equal(getattr(whole.result(), name), getattr(parts.result(), name))
