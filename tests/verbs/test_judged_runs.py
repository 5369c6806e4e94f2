"""A judge over real, small runs: trained, saved, read again, and applied."""

import json
import shutil
from dataclasses import dataclass, replace

import numpy as np
import pytest

import assent
import toy
from assent.adapters.adapting import adapt
from assent.core.benchmark import Benchmark
from assent.core.thresholds import Thresholds
from assent.deciding.graph import LINKS
from assent.errors import ConfigError, DataError
from assent.files.arrays import read_arrays
from assent.models import Model
from assent.verbs.train import train

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
    return assent.tune(run, "judge", others={"other": other})


def test_a_judge_decides_the_same_after_a_round_trip(runs, judge, tmp_path):
    run, other = runs
    assent.save_decider(judge, tmp_path, run.benchmark)
    again = assent.load_decider(tmp_path, run, others={"other": other})
    assert again.rescorer.stated() == judge.rescorer.stated()
    assert np.array_equal(again.thresholds.values, judge.thresholds.values)
    one, two = (assent.evaluate(run, decider) for decider in (judge, again))
    assert np.array_equal(one.accepted, two.accepted)
    assert one.to_json() == two.to_json()


def test_a_judge_in_another_folder_hears_the_other_run_from_its_folder(tmp_path):
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    assent.save(toy.built(kb), tmp_path / "benchmark")
    one, two = (
        train(tmp_path / "benchmark", "complex", out=tmp_path / str(seed),
              changes=(*QUICK, f"train.seed={seed}"))
        for seed in range(2)
    )  # fmt: skip
    judge = assent.tune(one, "judge", others={str(two.folder): two})
    assent.save_decider(judge, one.folder, one.benchmark)
    again = assent.load_decider(one.folder, assent.load_run(one.folder))
    accepted = [assent.evaluate(one, decider).accepted for decider in (judge, again)]
    assert np.array_equal(*accepted)


def test_the_best_candidate_counts_as_answered_only_if_the_judge_accepts_it(runs, judge):
    never = Thresholds.single(np.inf, len(judge.thresholds.values))
    nothing = assent.evaluate(runs[0], replace(judge, thresholds=never))
    assert nothing.classified.of("full").accepted == nothing.abstaining.answer_rate == 0


def test_links_are_heard_only_where_answers_were_not_chosen_by_them(judge):
    """Our builder holds out pairs of entities; splits that a graph comes with need not."""
    assert not set(LINKS) & set(judge.rescorer.names)
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8, splits=True)
    run = train(toy.built(kb), "complex", changes=QUICK)
    assert set(LINKS) < set(assent.tune(run, "judge").rescorer.names)


def test_other_models_than_those_it_heard_are_refused(runs, judge, tmp_path):
    run, other = runs
    assent.save_decider(judge, tmp_path, run.benchmark)
    for own, heard in ((run, run), (other, other), (other, run)):
        with pytest.raises(DataError, match="not the models"):
            assent.load_decider(tmp_path, own, others={"other": heard})


def test_only_a_judge_hears_several_models(runs):
    with pytest.raises(ConfigError, match="count for rule judge alone"):
        assent.tune(runs[0], "global", others={"other": runs[1]})


def test_a_model_of_another_benchmark_is_refused(runs):
    benchmark = toy.built(toy.crowd(1, num_entities=60, num_relations=4, facts_each=8))
    with pytest.raises(ConfigError, match="several benchmarks"):
        assent.tune(runs[0], "judge", others={"other": Scored(benchmark, runs[1].model)})


def test_scores_from_elsewhere_cannot_be_judged(runs):
    benchmark = runs[0].benchmark
    size = benchmark.vocabulary.num_entities
    foreign = adapt(benchmark, lambda anchors, relations: np.zeros((len(anchors), size)))
    with pytest.raises(ConfigError, match="models that assent trained"):
        assent.tune(foreign, "judge")


STRANGE = {
    "features are no list": lambda stated: {**stated, "features": "score"},
    "features are no names": lambda stated: {**stated, "features": [1]},
    "runs without paths": lambda stated: {**stated, "runs": [{}]},
    "other trees": lambda stated: {**stated, "trees": "0" * 64},
    "fewer features than the trees ask for": lambda stated: {**stated, "features": ["score"]},
    "only a word": lambda stated: "judge",
}


@pytest.mark.parametrize("name", STRANGE)
def test_a_strange_decider_is_refused(runs, judge, tmp_path, name):
    path = assent.save_decider(judge, tmp_path, runs[0].benchmark)
    document = json.loads(path.read_text())
    document["judge"] = STRANGE[name](document["judge"])
    path.write_text(json.dumps(document))
    with pytest.raises(DataError):
        assent.load_decider(tmp_path, runs[0], others={"other": runs[1]})


def test_a_judge_without_its_trees_is_refused(runs, judge, tmp_path):
    path = assent.save_decider(judge, tmp_path, runs[0].benchmark)
    path.with_suffix(".npz").unlink()
    with pytest.raises(DataError, match="expected the trees of a judge"):
        assent.load_decider(tmp_path, runs[0], others={"other": runs[1]})


def test_files_that_are_no_arrays_are_refused(tmp_path):
    np.savez(tmp_path / "objects.npz", left=np.array([{}], dtype=object))
    objects = (tmp_path / "objects.npz").read_bytes()
    for data in (b"", b"PK\3\4", objects, objects[: len(objects) // 2]):
        (tmp_path / "damaged.npz").write_bytes(data)
        with pytest.raises(DataError, match="expected arrays that assent wrote"):
            read_arrays(tmp_path / "damaged.npz")


@pytest.fixture(scope="module")
def at_home(tmp_path_factory):
    """A benchmark, two runs of one name in two folders, and a judge of the one hearing both."""
    home = tmp_path_factory.mktemp("home")
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    assent.save(toy.built(kb), home / "benchmark")
    run, *others = (
        train(
            home / "benchmark", "complex", out=home / name, changes=(*QUICK, f"train.seed={seed}")
        )
        for seed, name in enumerate(("run", "a/other", "b/other"))
    )
    judge = assent.tune(run, "judge", others={str(other.folder): other for other in others})
    assent.save_decider(judge, run.folder, run.benchmark)
    return home


def metrics(run, say, *words):
    code, _, err = say("evaluate", run, *words)
    assert code == 0, err
    return (run / "metrics.json").read_bytes()


@pytest.mark.parametrize("whole", [True, False])
def test_a_packed_judge_takes_along_the_runs_that_it_hears(whole, at_home, tmp_path, say):
    shutil.copytree(at_home, tmp_path / "home")
    before = metrics(tmp_path / "home" / "run", say)
    words = [] if whole else ["--without-benchmark"]
    assert not say("pack", tmp_path / "home" / "run", "--out", tmp_path / "run.zip", *words)[0]
    shutil.move(tmp_path / "home" / "benchmark", tmp_path / "kept")
    shutil.rmtree(tmp_path / "home")
    (tmp_path / "far" / "away").mkdir(parents=True)
    shutil.move(tmp_path / "run.zip", tmp_path / "far" / "run.zip")
    there = tmp_path / "far" / "away" / "there"
    assert not say("unpack", tmp_path / "far" / "run.zip", "--out", there)[0]
    at = [] if whole else ["--benchmark", tmp_path / "kept"]
    assert metrics(there, say, *at) == before
    stated = json.loads((there / "decider.json").read_text())["judge"]["runs"]
    assert [run["path"] for run in stated] == ["", "heard/1", "heard/2"]
    assert not any(
        str(tmp_path).encode() in file.read_bytes()
        for file in there.rglob("*")
        if file.is_file() and file.name != "benchmark.path"
    )


def test_a_judge_finds_the_runs_that_it_hears_after_a_move(at_home, tmp_path, say):
    shutil.copytree(at_home, home := tmp_path / "home")
    assert str(at_home) not in (home / "run" / "decider.json").read_text()
    before = metrics(home / "run", say)
    shutil.move(home, tmp_path / "all")
    assert metrics(tmp_path / "all" / "run", say) == before
    shutil.move(tmp_path / "all" / "a" / "other", tmp_path / "all" / "renamed")
    shutil.move(tmp_path / "all" / "b" / "other", tmp_path / "all" / "another")
    assert metrics(tmp_path / "all" / "run", say) == before  # known by their models
    shutil.rmtree(tmp_path / "all" / "another")
    code, _, err = say("evaluate", tmp_path / "all" / "run")
    assert code == 2 and "other: found nowhere this run, which the judge hears" in err
    shutil.copytree(tmp_path / "all" / "renamed", tmp_path / "all" / "b" / "other")
    code, _, err = say("evaluate", tmp_path / "all" / "run")
    assert code == 2 and "other: not the model that the judge was trained with" in err


@pytest.mark.parametrize("sealed", [True, False])
@pytest.mark.parametrize("rule", ["global", "per-relation", "judgf", "", None, 3])
def test_a_judge_whose_rule_is_damaged_is_refused(rule, sealed, at_home, tmp_path):
    shutil.copytree(at_home, home := tmp_path / "home")
    path = home / "run" / "decider.json"
    document = {**json.loads(path.read_text()), "rule": rule}
    if not sealed:  # as older deciders are
        del document["checksum"]
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match="does not go with what decides"):
        assent.load_decider(home / "run", assent.load_run(home / "run"))
