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

    def score_hrt(self, facts):
        assert not torch.is_grad_enabled() and not self.training
        heads, relations, tails = facts.T
        inverse = torch.zeros_like(relations)
        if self.use_inverse_triples:
            relations, inverse = relations // 2, relations % 2
        slots = self.relation[relations] + self.count * inverse
        return self.inner.pairs(self.entity[heads], slots, self.entity[tails])[:, None]

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


def test_what_a_pipeline_gives_is_adapted_in_one_call(ours, factory):
    result = SimpleNamespace(model=StandIn(ours, factory, False), training=factory)
    run = assent.adapt(ours.benchmark, result)
    assert run.name == "PyKEEN StandIn" and measured(run) == measured(ours)
    assert "PyKEEN StandIn" in repr(run) and len(repr(run)) < 300


def test_single_facts_score_as_among_all(ours, factory):
    names = ours.benchmark.vocabulary
    run = assent.adapt(ours.benchmark, pykeen.of(StandIn(ours, factory, True), factory))
    asked = torch.cartesian_prod(torch.arange(names.num_entities), torch.arange(names.num_slots))
    scores = run.model.scores(*asked.T)
    for entity in (0, 7):
        whole = torch.full((len(asked),), entity)
        assert torch.equal(run.model.pairs(*asked.T, whole), scores[:, entity])


def test_a_judge_a_report_and_a_completion_take_it(ours, factory, tmp_path):
    run = assent.adapt(ours.benchmark, pykeen.of(StandIn(ours, factory, True), factory))
    judge = assent.tune(run, "judge")
    evaluation = assent.evaluate(run, judge)
    assert evaluation.f1() == assent.evaluate(ours, assent.tune(ours, "judge")).f1()
    page = assent.report([run], tmp_path / "report.html", deciders=[judge])
    assert "PyKEEN StandIn" in page.read_text(encoding="utf-8")
    with pytest.raises(ConfigError, match="deciders="):
        assent.report([run], tmp_path / "report.html")
    assert len(assent.complete(run, 0.5).facts) == len(assent.complete(ours, 0.5).facts)


def test_a_judge_of_another_model_is_refused(ours, factory, tmp_path):
    run = assent.adapt(ours.benchmark, pykeen.of(StandIn(ours, factory, True), factory))
    assent.save_decider(assent.tune(run, "global"), tmp_path / "decider.json", run.benchmark)
    assent.load_decider(tmp_path / "decider.json", run)
    other = assent.adapt(ours.benchmark, pykeen.of(StandIn(ours, factory, True), factory))
    other.model.model.extra = torch.nn.Linear(1, 1)
    with pytest.raises(DataError, match="found for another model"):
        assent.load_decider(tmp_path / "decider.json", other)


def test_a_model_that_says_how_it_is_trained_is_fitted_again(ours, factory):
    def popularity(anchors, relations):
        return np.tile(np.arange(ours.benchmark.vocabulary.num_entities), (len(anchors), 1))

    given = []

    def fit(benchmark):
        given.append(benchmark)
        count = benchmark.vocabulary.num_entities
        return lambda anchors, relations: np.tile(np.arange(count), (len(anchors), 1))

    with pytest.raises(ConfigError, match="fit="):
        assent.complete(assent.adapt(ours.benchmark, popularity), 0.5, refit=True)
    run = assent.adapt(ours.benchmark, popularity, fit=fit)
    assent.complete(run, 0.1, refit=True)
    whole = ours.benchmark.whole()
    assert [each.digest() for each in given] == [whole.digest()]


def test_an_export_is_adopted_as_the_model_itself(ours, factory, tmp_path):
    names = ours.benchmark.vocabulary
    rng = np.random.default_rng(0)

    class DistMult(torch.nn.Module):
        use_inverse_triples = False
        num_entities, num_real_relations = len(factory.entity_to_id), len(factory.relation_to_id)

        def __init__(self):
            super().__init__()
            sizes = {"entity": self.num_entities, "relation": self.num_real_relations}
            for kind, size in sizes.items():
                table = torch.nn.Parameter(torch.from_numpy(rng.normal(size=(size, 4))).float())
                self.register_parameter(kind, table)
                setattr(self, f"{kind}_representations", [lambda table=table: table])

    model = DistMult()
    result = SimpleNamespace(model=model, training=factory)
    folder = pykeen.export(result, tmp_path / "export")
    run = assent.adopt(folder, ours.benchmark)
    score = run.model.pairs(*(torch.tensor([place]) for place in (3, 1, 5)))
    theirs = [factory.entity_to_id[names.entities[place]] for place in (3, 5)]
    row = factory.relation_to_id[names.relations[1]]
    expected = (model.entity[theirs[0]] * model.relation[row] * model.entity[theirs[1]]).sum()
    assert float(score) == pytest.approx(float(expected.detach()), abs=1e-6)
