"""Facts are decided about once, by one score from both ends, as slow loops do it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assent
import completing_oracles as oracles
import toy
from assent.completing import schema
from assent.completing.by_fact import ByFact
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.completing.proposing import Proposer
from assent.core.decider import Decider
from assent.core.scores import unheard
from assent.core.thresholds import Thresholds
from assent.errors import ConfigError
from assent.verbs.refit import refit_minutes
from completing import worlds

QUICK = ("model.dim=16", "train.epochs=30", "train.batch_size=32", "train.threads=1")
LOW = 0.005  # a precision that this model reaches; the graph lacks nothing


def plain(names):
    """A decider that takes the model's scores as they are."""
    nothing = Thresholds.single(np.inf, names.num_slots)
    return Decider.of_thresholds("scores", "f1", nothing)


def work_on(benchmark, scorer, wanted=None, precision=0.5, **options):
    ground = Ground(benchmark, wanted or Wanted())
    rehearsing = Proposer.rehearsing(ground, scorer, plain(benchmark.vocabulary))
    return ByFact(rehearsing, precision, **options)


@given(worlds.worlds(), st.sampled_from([1, 3]), st.booleans())
def test_candidates_are_those_of_slow_loops(world, fewest, kept):
    benchmark, scores, _ = world
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "FEWEST", fewest)
        wanted = Wanted(functional=kept, symmetric=kept)
        work = work_on(benchmark, worlds.Fixed(scores), wanted)
    found = {}
    for relation in range(benchmark.vocabulary.num_relations):
        proposed = work.rehearsing._proposed(relation, unheard, 0, 0, lambda: False)
        mine = proposed.candidates
        rows = zip(mine.scores.tolist(), mine.held_out.tolist(), mine.joined.tolist(), strict=True)
        found |= dict(zip(map(tuple, mine.facts.tolist()), rows, strict=True))
    expected = oracles.candidate_facts(benchmark, scores, work.ground.schema)
    assert found == {fact: (pytest.approx(row[0]), *row[1:]) for fact, row in expected.items()}


@given(worlds.worlds(), st.sampled_from([0.1, 0.5, 0.9]))
def test_what_is_accepted_is_new_and_more_probable_than_what_is_not(world, precision):
    benchmark, scores, _ = world
    wanted = Wanted(review_above=0.01)
    found = work_on(benchmark, worlds.Fixed(scores), wanted, precision).result(
        unheard, lambda: False
    )
    facts = found.facts
    assert not benchmark.holds(facts.facts).any()
    assert len(set(map(tuple, facts.facts.tolist()))) == len(facts)
    for relation in set(facts.facts[facts.accepted, 1].tolist()):
        mine = facts.take(facts.facts[:, 1] == relation)
        accepted = mine.probabilities[mine.accepted]
        assert accepted.mean() >= precision - 1e-9
        assert accepted.min() > mine.probabilities[~mine.accepted].max(initial=0)
    assert (facts.scores[facts.accepted] > facts.thresholds[facts.accepted] - 1e-5).all()
    held_out = oracles.facts_known(benchmark) - set(map(tuple, benchmark.train.tolist()))
    assert sum(outcome.held_out for outcome in found.outcomes) == len(held_out)
    assert sum(outcome.accepted for outcome in found.outcomes) == len(found.accepted)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("user")
    (folder / "graph.ttl").write_text(toy.turtle(people=120), encoding="utf-8")
    benchmark = assent.build(assent.read(folder / "graph.ttl"), removed=0, seed=1)
    return assent.train(benchmark, "complex", changes=QUICK)


class Rows:
    """A model that cannot score single candidates."""

    def __init__(self, model):
        self.model, self.num_entities = model, model.num_entities

    def scores(self, anchors, relations):
        return self.model.scores(anchors, relations)


def test_single_candidates_score_as_they_do_among_all_entities(run):
    one = work_on(run.benchmark, run.model, precision=LOW).result(unheard, lambda: False)
    other = work_on(run.benchmark, Rows(run.model), precision=LOW).result(unheard, lambda: False)
    assert len(one) == len(other) > 0
    assert np.array_equal(one.facts.facts, other.facts.facts)
    np.testing.assert_allclose(one.facts.scores, other.facts.scores, atol=1e-4)


def test_a_judge_scores_both_ends(run):
    judge = assent.tune(run, "judge")
    found = assent.complete(run, LOW, decider=judge)
    plainly = assent.complete(run, LOW)
    assert len(found) and found.rehearsed.precision == LOW
    shared = worlds.as_sets(found.facts).keys() & worlds.as_sets(plainly.facts).keys()
    mine, its = worlds.as_sets(found.facts), worlds.as_sets(plainly.facts)
    assert any(mine[fact][2] != its[fact][2] for fact in shared)


def test_only_facts_about_the_anchors_are_written_but_all_queries_are_rehearsed(run):
    whole = assent.complete(run, LOW)
    entity = whole.vocabulary.entities[int(whole.accepted.facts[0, 0])]
    mine = assent.complete(run, LOW, anchors=[entity])
    expected = [fact for fact in whole if entity in (fact["head"], fact["tail"])]
    assert mine.rehearsed == whole.rehearsed
    names = ("head", "relation", "tail", "probability")
    assert [[fact[name] for name in names] for fact in mine] == [
        [fact[name] for name in names] for fact in expected
    ]


def test_stopped_before_the_end_nothing_is_decided(run):
    found = assent.complete(run, LOW, stopping=lambda: True)
    assert not len(found) and not found.finished


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"precision": 1.0}, "less than 1"),
        ({"precision": 0.0}, "more than 0"),
        ({"precision": 0.5, "missing": 0.0}, "more than 0"),
        ({"precision": 0.5, "over": "test"}, "choose from asked, valid"),
        ({"precision": 0.5, "confidence": 0.9}, "belongs to over valid"),
        ({"precision": 0.5, "over": "valid", "missing": 2.0}, "belong to over asked"),
        ({"missing": 2.0}, "belong to a precision"),
    ],
)
def test_what_does_not_go_together_is_refused(run, options, complaint):
    with pytest.raises(ConfigError, match=complaint):
        assent.complete(run, **options)


def test_a_final_fit_also_asks_about_removed_entities(tmp_path):
    (tmp_path / "graph.ttl").write_text(toy.turtle(people=60), encoding="utf-8")
    kb = assent.read(tmp_path / "graph.ttl")
    benchmark = assent.build(kb, removed=8, seed=1)
    assent.save(benchmark, tmp_path / "b")
    run = assent.train(tmp_path / "b", "complex", out=tmp_path / "run", changes=QUICK)
    first = assent.complete(run, LOW, refit=False)
    final = assent.complete(run, LOW, refit=True)
    assert first.vocabulary.num_entities == kb.vocabulary.num_entities - 8
    assert final.vocabulary.num_entities == kb.vocabulary.num_entities
    whole, names = benchmark.whole(), final.vocabulary
    assert len(final.accepted)
    assert not {*named(whole.train, names)} & {*named(final.accepted.facts, names)}
    # The fit that is there is taken up, and gives the same.
    again = assent.complete(assent.load_run(tmp_path / "run"), LOW, refit=True)
    assert again.facts.facts.tolist() == final.facts.facts.tolist()
    assert again.facts.probabilities.tolist() == final.facts.probabilities.tolist()
    epochs = run.trained.best_epoch / run.trained.epochs
    more = len(whole.train) / len(benchmark.train)
    assert refit_minutes(run) == pytest.approx(run.trained.seconds * epochs * more / 60)


def named(facts, names):
    entities, relations = names.entities, names.relations
    return [(entities[h], relations[r], entities[t]) for h, r, t in facts.tolist()]
