"""A judge over real, small runs: trained, saved, read again, and applied."""

import json
from dataclasses import dataclass, replace

import numpy as np
import pytest

import toy
from assent import assessing
from assent.adapters.adapting import adapt
from assent.core.benchmark import Benchmark
from assent.core.thresholds import Thresholds
from assent.errors import ConfigError, DataError
from assent.experiment import train
from assent.files.judges import arrays_in, trees_file
from assent.judging.graph import LINKS
from assent.judging.judge import Judge
from assent.models import Model

QUICK = ("model.dim=8", "train.epochs=15", "train.evaluate_every=0", "train.threads=1")


@dataclass(frozen=True)
class Scored:
    benchmark: Benchmark
    model: Model


@pytest.fixture(scope="module")
def runs():
    benchmark = toy.built(toy.crowd(0, num_entities=60, num_relations=4, facts_each=8))
    return [
        train(benchmark, "complex", changes=(*QUICK, f"train.seed={seed}")) for seed in range(2)
    ]


@pytest.fixture(scope="module")
def judge(runs):
    run, other = runs
    return assessing.tune(run, "judge", others={"other": other})


def test_a_judge_decides_the_same_after_a_round_trip(runs, judge, tmp_path):
    run, other = runs
    assessing.save_decider(judge, tmp_path, run.benchmark)
    again = assessing.load_decider(tmp_path, run.benchmark)
    assert isinstance(again, Judge)
    assert (again.names, again.sources) == (judge.names, judge.sources)
    assert np.array_equal(again.cuts.values, judge.cuts.values)
    one, two = (assessing.evaluate(run, decider, others=[other]) for decider in (judge, again))
    assert np.array_equal(one.accepted, two.accepted)
    assert one.to_json() == two.to_json()


def test_the_best_candidate_counts_as_answered_only_if_the_judge_accepts_it(runs, judge):
    run, other = runs
    never = Thresholds.single(1.0, len(judge.cuts.values))
    nothing = assessing.evaluate(run, replace(judge, cuts=never), others=[other])
    assert nothing.classified.of("full").accepted == nothing.abstaining.answer_rate == 0


def test_links_are_heard_only_where_answers_were_not_chosen_by_them(judge):
    """Our builder holds out pairs of entities; splits that a graph comes with need not."""
    assert not set(LINKS) & set(judge.names)
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8, splits=True)
    run = train(toy.built(kb), "complex", changes=QUICK)
    assert set(LINKS) < set(assessing.tune(run, "judge").names)


def test_other_models_than_those_it_heard_are_refused(runs, judge):
    run, other = runs
    for others in ([], [run], [other, other]):
        with pytest.raises(DataError, match="not the models"):
            assessing.evaluate(run, judge, others=others)


def test_only_a_judge_hears_several_models(runs):
    with pytest.raises(ConfigError, match="only a judge"):
        assessing.tune(runs[0], "global", others={"other": runs[1]})


def test_a_model_of_another_benchmark_is_refused(runs):
    benchmark = toy.built(toy.crowd(1, num_entities=60, num_relations=4, facts_each=8))
    with pytest.raises(ConfigError, match="several benchmarks"):
        assessing.tune(runs[0], "judge", others={"other": Scored(benchmark, runs[1].model)})


def test_scores_from_elsewhere_cannot_be_judged(runs):
    benchmark = runs[0].benchmark
    size = benchmark.vocabulary.num_entities
    foreign = adapt(benchmark, lambda anchors, relations: np.zeros((len(anchors), size)))
    with pytest.raises(ConfigError, match="models that assent trained"):
        assessing.tune(foreign, "judge")


STRANGE = {
    "no judge": lambda stated: None,
    "features are no list": lambda stated: {**stated, "features": "score"},
    "features are no names": lambda stated: {**stated, "features": [1]},
    "no cuts": lambda stated: {**stated, "cuts": "high"},
    "a cut is missing": lambda stated: {**stated, "cuts": {**stated["cuts"], "head": {}}},
    "a cut is not a number": lambda stated: {
        **stated,
        "cuts": {**stated["cuts"], "tail": dict.fromkeys(stated["cuts"]["tail"], "nan")},
    },
    "runs without paths": lambda stated: {**stated, "runs": [{}]},
    "other trees": lambda stated: {**stated, "trees": "0" * 64},
    "fewer features than the trees ask for": lambda stated: {**stated, "features": ["score"]},
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_decider_is_refused(runs, judge, tmp_path, name):
    path = assessing.save_decider(judge, tmp_path, runs[0].benchmark)
    document = json.loads(path.read_text())
    document["judge"] = STRANGE[name](document["judge"])
    path.write_text(json.dumps(document))
    with pytest.raises(DataError):
        assessing.load_decider(tmp_path, runs[0].benchmark)


def test_a_judge_without_its_trees_is_refused(runs, judge, tmp_path):
    path = assessing.save_decider(judge, tmp_path, runs[0].benchmark)
    trees_file(path).unlink()
    with pytest.raises(DataError, match="cannot be read"):
        assessing.load_decider(tmp_path, runs[0].benchmark)


def test_files_that_are_no_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "objects.npz", left=np.array([{}], dtype=object))
    objects = (tmp_path / "objects.npz").read_bytes()
    for data in (b"", b"PK\3\4", objects, objects[: len(objects) // 2]):
        with pytest.raises(DataError, match="not a file of trees"):
            arrays_in(tmp_path, data)
