"""A PyKEEN model is asked by PyKEEN's ids and methods; a stand-in has the same ones."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import assent
from adapters.comparing import measured
from assent.adapters import pykeen
from assent.errors import ConfigError, DataError


class StandIn(torch.nn.Module):
    """Our own model under other ids, behind the methods of PyKEEN's models."""

    device = torch.device("cpu")

    def __init__(self, run, factory, inverse):
        super().__init__()
        names = run.benchmark.vocabulary
        self.inner = run.model
        self.use_inverse_triples = inverse
        self.num_entities = len(factory.entity_to_id)
        self.num_real_relations = len(factory.relation_to_id)
        self.entity = ids_back(factory.entity_to_id, names.entities)
        self.relation = ids_back(factory.relation_to_id, names.relations)
        self.count = names.num_relations
        self.batches = []

    def score_t(self, pairs):
        assert not torch.is_grad_enabled() and not self.training
        relations = pairs[:, 1]
        heads = torch.zeros_like(relations)
        if self.use_inverse_triples:
            relations, heads = relations // 2, relations % 2
        return self.given(pairs[:, 0], self.relation[relations] + self.count * heads)

    def score_h(self, pairs):
        assert not self.use_inverse_triples
        return self.given(pairs[:, 1], self.relation[pairs[:, 0]] + self.count)

    def given(self, anchors, relations):
        self.batches.append(len(anchors))
        scores = torch.full((len(anchors), self.num_entities), 99.0)  # of entities only PyKEEN has
        known = self.entity >= 0
        scores[:, known] = self.inner.scores(self.entity[anchors], relations)[:, self.entity[known]]
        return scores


def ids_back(theirs, ours):
    """PyKEEN's id -> our id; -1 where we have none."""
    back = torch.full((len(theirs),), -1)
    for place, name in enumerate(ours):
        back[theirs[name]] = place
    return back


def factory_for(benchmark):
    """PyKEEN's names: in another order, and a few more."""
    rng = np.random.default_rng(0)
    names = benchmark.vocabulary
    return SimpleNamespace(
        **{
            kind: {name: place for place, name in enumerate(rng.permutation([*own, *more]))}
            for kind, own, more in (
                ("entity_to_id", names.entities, ("other", "another")),
                ("relation_to_id", names.relations, ("besides",)),
            )
        }
    )


@pytest.fixture
def factory(ours):
    return factory_for(ours.benchmark)


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("batch", [1, 7, 1000])
def test_a_model_under_other_ids_is_measured_as_our_own(ours, factory, inverse, batch):
    model = StandIn(ours, factory, inverse)
    run = assent.adapt(ours.benchmark, pykeen.of(model, factory, batch))
    assert measured(run) == measured(ours)
    assert max(model.batches) <= batch


@pytest.mark.parametrize("training", [False, True])
def test_the_model_is_left_in_the_mode_it_was_in(ours, factory, training):
    model = StandIn(ours, factory, False).train(training)
    assent.tune(assent.adapt(ours.benchmark, pykeen.of(model, factory)))
    assert model.training == training


def test_missing_names_are_counted_and_the_first_are_named(ours, factory):
    names = ours.benchmark.vocabulary
    for kind, known, message in (
        ("entity_to_id", names.entities, "lacks 4 of 30 entities: 'e0', 'e1', 'e2', ...; exp"),
        ("relation_to_id", names.relations, "lacks 3 of 3 relations: 'r0', 'r1', 'r2'; expected"),
    ):
        fewer = SimpleNamespace(**vars(factory_for(ours.benchmark)))
        kept = {n: i for n, i in getattr(fewer, kind).items() if n not in known[:4]}
        setattr(fewer, kind, kept)
        source = pykeen.of(SimpleNamespace(), fewer)
        with pytest.raises(DataError, match=message):
            assent.adapt(ours.benchmark, source)


def test_a_factory_of_another_model_is_refused(ours, factory):
    model = StandIn(ours, factory, False)
    model.num_entities = 7
    with pytest.raises(DataError, match="a model of 7 entities, but a factory of 32"):
        pykeen.of(model, factory)


def test_a_diverged_model_is_refused(ours, factory):
    model = StandIn(ours, factory, False)
    model.given = lambda anchors, _: torch.full((len(anchors), model.num_entities), torch.nan)
    with pytest.raises(DataError, match=r"^the PyKEEN model: .* is nan"):
        assent.tune(assent.adapt(ours.benchmark, pykeen.of(model, factory)))


def test_what_is_missing_is_said(ours, factory):
    model = StandIn(ours, factory, False)
    with pytest.raises(ConfigError, match=r"pykeen\.of\(model, factory\)"):
        assent.adapt(ours.benchmark, model)
    with pytest.raises(ConfigError, match="expected a TriplesFactory"):
        pykeen.of(model, SimpleNamespace())
    with pytest.raises(ConfigError, match="batch: expected 1 or more"):
        pykeen.of(model, factory, 0)
