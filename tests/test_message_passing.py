"""`benchmarks/message_passing.py`: its gradient is right; no candidate hears of its own facts."""

import runpy
from pathlib import Path

import numpy as np
import pytest

SOURCE = Path(__file__).resolve().parents[1] / "benchmarks" / "message_passing.py"
SIZES = 30, 4  # entities, relations


@pytest.fixture(scope="module")
def paths():
    return runpy.run_path(str(SOURCE))


def some_facts(rng):
    facts = np.column_stack([rng.integers(0, size, 120) for size in (30, 4, 30)])
    return np.unique(facts[facts[:, 0] != facts[:, 2]], axis=0).astype(np.int32)


@pytest.mark.parametrize("layers", [2, 3])
def test_the_gradient_equals_differences_of_the_loss(paths, layers):
    rng = np.random.default_rng(1)
    graph = paths["Graph"].of(some_facts(rng), *SIZES)
    network = paths["Network"](graph, layers, 0, np.float64)
    # Away from zero, where a unit that nothing reaches has a kink.
    network.parameters["bias"] += rng.normal(0, 0.5, network.parameters["bias"].shape)
    query, right, weights = paths["drawn_query"](graph, rng)

    def loss():
        scores = network.scores(query)
        return float((weights * (np.logaddexp(0, scores) - right * scores)).sum())

    network.back(weights * (1 / (1 + np.exp(-network.scores(query))) - right))
    for name, values in network.parameters.items():
        flat, slopes = values.reshape(-1), network.slopes[name].reshape(-1)
        told = np.flatnonzero(slopes)
        for place in (*rng.choice(told, 5), rng.integers(len(flat))):
            before = flat[place]
            flat[place] = before + 1e-6
            above = loss()
            flat[place] = before - 1e-6
            below = loss()
            flat[place] = before
            assert (above - below) / 2e-6 == pytest.approx(slopes[place], rel=1e-3, abs=1e-5), name


def test_a_fact_between_anchor_and_candidate_changes_no_score_of_the_candidate(paths):
    rng = np.random.default_rng(2)
    facts = some_facts(rng)
    candidate = np.array([7])
    joined = np.isin(facts[:, [0, 2]], (3, 7)).all(axis=1)
    without, link = facts[~joined], np.array([[3, 1, 7], [7, 2, 3]], np.int32)
    scores = [
        paths["asked"](paths["Network"](paths["Graph"].of(train, *SIZES), 3, 0), 3, 0, candidate)
        for train in (without, np.concatenate([without, link]))
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-6)
