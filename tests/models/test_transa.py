"""TransA measures by a metric that the facts give, not the gradients."""

import numpy as np
import pytest
import torch

from assent.core.queries import Queries, both_ways
from assent.errors import ConfigError
from assent.models import create, transa
from models.formulas import ANCHORS, RELATIONS, check, made

FACTS = np.array([[0, 0, 1], [2, 0, 3], [2, 0, 4], [4, 0, 5], [1, 1, 2]], dtype=np.int32)
QUERIES = Queries.grouped(*both_ways(FACTS, 2))


def derived(seed=3, **settings):
    model = made("transa", **settings)
    model.derive(QUERIES, np.random.default_rng(seed))
    return model


@pytest.mark.parametrize("metric", ["full", "diagonal"])
def test_transa_weighs_the_products_of_absolute_differences(metric):
    def score(m, a, r, e):
        gap = (a + m.relations[r] - m.placed(m.entities)[e]).abs()
        weights = m.metrics[r] if metric == "full" else torch.diag(m.metrics[r])
        return torch.logit(1 - (gap @ weights @ gap).double().tanh())

    model = derived(metric=metric, far=1.5)
    assert model.metrics.shape == ((4, 8, 8) if metric == "full" else (4, 8))
    check(model, score)


class Rolled:
    """Draws the entities that stand in for answers, as told."""

    def __init__(self, draws):
        self.draws = draws

    def integers(self, below, size):
        assert below == 6 and size == len(self.draws[0])
        return np.array(self.draws.pop(0))


def test_a_metric_is_the_mean_of_wrong_facts_less_that_of_right_ones():
    model = made("transa", metric="full", far=5.0)
    # slots 0 to 3: three queries with 4 answers, one, four with 4, one
    model.derive(QUERIES, Rolled([[5, 0, 1, 2], [4], [1, 1, 3, 0], [2]]))
    entities = model.placed(model.entities).detach()

    def mean(facts):
        total = torch.zeros(8, 8)
        for anchor, answer in facts:
            gap = (entities[anchor] + model.relations[0].detach() - entities[answer]).abs()
            total += torch.outer(gap, gap) / len(facts)
        return total

    right = mean([(0, 1), (2, 3), (2, 4), (4, 5)])
    wrong = mean([(0, 5), (2, 0), (2, 1), (4, 2)])
    expected = (wrong - right).clamp(min=0)
    expected *= 5 / (expected * wrong).sum()
    torch.testing.assert_close(model.metrics[0], expected)


@pytest.mark.parametrize("metric", ["full", "diagonal"])
def test_far_is_the_mean_distance_of_wrong_facts(metric):
    model = made("transa", metric=metric, far=7.0, normalize=False)
    draws = [[5, 0, 1, 2], [4], [1, 1, 3, 0], [2]]
    model.derive(QUERIES, Rolled(draws.copy()))
    anchors, wrong = torch.tensor([0, 2, 2, 4]), torch.tensor([5, 0, 1, 2])
    asked = model.ask(anchors, torch.zeros(4, dtype=torch.int64))
    table = model.entity_table()._replace(vectors=model.entities[wrong])
    with torch.no_grad():
        raw = model.geometry(asked, table).measure_pairs()
    assert raw.mean().item() == pytest.approx(7.0, rel=1e-4)


def test_a_metric_is_symmetric_and_nowhere_negative():
    metrics = derived(metric="full").metrics
    assert torch.allclose(metrics, metrics.mT) and (metrics >= 0).all()


def test_a_slot_that_sets_nothing_apart_counts_all_dimensions_alike():
    for metric in ("full", "diagonal"):
        model = made("transa", metric=metric, far=4.0)
        right = torch.rand(5, 8) + 1
        same = model._metric(right, right)
        ones = same.diagonal() if metric == "full" else same
        assert torch.allclose(ones, ones[0].expand(8)) and ones[0] > 0


def test_a_slot_without_facts_keeps_its_metric():
    model = made("transa", metric="full")
    before = model.metrics.clone()
    model.derive(Queries.grouped(*both_ways(FACTS[:4], 2)), np.random.default_rng(0))
    assert torch.equal(model.metrics[[1, 3]], before[[1, 3]])
    assert not torch.allclose(model.metrics[[0, 2]], before[[0, 2]])


def test_of_many_facts_some_are_drawn(monkeypatch):
    monkeypatch.setattr(transa, "MOST_FACTS", 2)
    seeds = [derived(seed, metric="full").metrics for seed in (1, 1, 2)]
    assert torch.equal(seeds[0], seeds[1]) and not torch.allclose(seeds[0], seeds[2])


def test_every_member_derives_its_own_metric():
    torch.manual_seed(0)
    model = create("transa", 6, 2, {"dim": 8, "members": 2})
    assert model.derives()
    model.derive(QUERIES, np.random.default_rng(0))
    first, second = model
    assert not torch.allclose(first.metrics, second.metrics)


def test_no_gradient_reaches_a_metric():
    model = derived()
    assert "metrics" not in dict(model.named_parameters())
    assert model.scores(ANCHORS, RELATIONS).isfinite().all()


def test_a_distance_of_nothing_is_refused():
    with pytest.raises(ConfigError, match=r"model\.far: expected more than 0, found 0"):
        create("transa", 5, 2, {"far": 0})
