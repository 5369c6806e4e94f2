"""The commands about runs, from a toy benchmark to decisions."""

import json
from dataclasses import replace

import pytest

import assent
import toy
from assent.reporting.grid import digits
from assent.verbs.deciders import load_decider

RULES = ("global", "per-relation", "precision", "paper-global", "paper-relation")


@pytest.fixture(scope="module")
def benchmark_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy") / "benchmark"
    assent.save(toy.built(toy.crowd(0, 40, 3, 8, splits=True), seed=1), folder)
    return folder


@pytest.fixture(scope="module")
def run_folder(benchmark_folder):
    folder = benchmark_folder.parent / "run"
    small = ["model.dim=8", "train.epochs=20", "train.batch_size=16", "train.threads=1"]
    assent.train(benchmark_folder, "complex", out=folder, changes=small)
    return folder


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_goes_from_tune_to_evaluate(say, run_folder, tmp_path, rule):
    decider = tmp_path / "decider.json"
    code, printed, _ = say("tune", run_folder, "--rule", rule, "--out", decider)
    assert code == 0 and "thresholds, as probabilities" in printed
    assert json.loads(decider.read_text())["rule"] == rule
    code, printed, _ = say("evaluate", run_folder, "--decider", decider, "--by", "relation")
    assert (
        code == 0 and "all queries" in printed and "MRR with only train answers left out" in printed
    )


def test_a_judge_hears_another_run_shows_its_threshold_and_completes(say, tmp_path):
    folder, decider = tmp_path / "benchmark", tmp_path / "judge.json"
    assent.save(toy.built(toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)), folder)
    small = ["model.dim=8", "train.epochs=15", "train.evaluate_every=0", "train.threads=1"]
    one, other = tmp_path / "one", tmp_path / "other"
    assent.train(folder, "complex", out=one, changes=small)
    assent.train(folder, "distmult", out=other, changes=small)
    code, printed, _ = say("tune", one, "--rule", "judge", "--with", other, "--out", decider)
    assert code == 0 and "and 2 models, threshold" in " ".join(printed.split())
    saved = json.loads(decider.read_text())
    heard = saved["judge"]["runs"]
    assert [source["path"] for source in heard] == ["", "other"]  # from its own folder
    code, printed, _ = say("evaluate", one, "--decider", decider, "--by", "relation")
    rows = [line.split() for line in printed.splitlines() if " tail " in line or " head " in line]
    threshold = digits(saved["found"]["threshold"])
    assert code == 0 and rows and all(row[4] == threshold for row in rows)
    code, printed, _ = say("tune", one, "--rule", "judge", "--with", other, "--precision", 0.2)
    assert code == 0 and "cannot promise" in " ".join(printed.split())
    code, printed, _ = say("complete", one, "--out", tmp_path / "new.tsv")
    assert code == 0 and f"accepted: {tmp_path / 'new.tsv'}" in printed
    code, _, complained = say("tune", one, "--rule", "global", "--with", other)
    said = " ".join(complained.split())
    assert code == 2 and "other runs (--with) count for rule judge alone" in said


def test_decisions_and_json_agree(say, run_folder, tmp_path):
    lines = tmp_path / "decisions.tsv"
    assert say("tune", run_folder)[0] == 0
    code, printed, _ = say(
        "evaluate", run_folder, "--split", "valid", "--json", "--decisions", lines
    )
    found = json.loads(printed)
    assert code == 0 and found["split"] == "valid"
    rows = [line.split("\t") for line in lines.read_text().splitlines()]
    assert len(rows) == found["classification"]["full"]["accepted"] > 0
    assert sum(int(row[5]) for row in rows) == found["classification"]["full"]["correct"]


def test_only_an_evaluation_on_test_is_kept_as_the_runs_metrics(say, run_folder):
    (run_folder / "metrics.json").unlink(missing_ok=True)
    assert say("tune", run_folder)[0] == 0
    assert say("evaluate", run_folder, "--split", "valid")[0] == 0
    assert not (run_folder / "metrics.json").exists()
    assert say("evaluate", run_folder)[0] == 0
    assert json.loads((run_folder / "metrics.json").read_text())["split"] == "test"


def test_a_run_beside_itself_is_no_better(say, run_folder):
    assert say("tune", run_folder)[0] == 0
    _, printed, _ = say("evaluate", run_folder, "--against", run_folder)
    assert "all queries: F1 +.000 (.000 to .000, not clear)" in printed


def test_another_decider_of_the_same_run_can_be_compared(say, run_folder, tmp_path):
    assert say("tune", run_folder)[0] == 0
    one = tmp_path / "one.json"
    assert say("tune", run_folder, "--rule", "global", "--out", one)[0] == 0
    code, printed, _ = say("evaluate", run_folder, "--against", one)
    assert code == 0 and f"beside {one}" in printed


def test_a_run_is_measured_on_other_queries_about_the_same_train_facts(
    say, run_folder, benchmark_folder, tmp_path
):
    benchmark = assent.load(benchmark_folder)
    swapped = replace(benchmark, valid=benchmark.test, test=benchmark.valid)
    assent.save(swapped, tmp_path / "swapped")
    on = ("--on", tmp_path / "swapped")
    assert say("tune", run_folder, *on, "--out", tmp_path / "there.json")[0] == 0
    code, printed, _ = say(
        "evaluate", run_folder, *on, "--decider", tmp_path / "there.json", "--json"
    )
    assert code == 0 and json.loads(printed)["split"] == "test"
    here = assent.load_run(run_folder)
    there = assent.evaluate(
        here.on(swapped), load_decider(tmp_path / "there.json", here.on(swapped)), "valid"
    )
    ranking = assent.evaluate(here, assent.tune(here, "global"), "test").mrr
    assert there.mrr == ranking


def test_queries_about_other_train_facts_are_refused(say, run_folder, benchmark_folder, tmp_path):
    benchmark = assent.load(benchmark_folder)
    assent.save(replace(benchmark, train=benchmark.train[1:]), tmp_path / "other")
    code, _, complained = say(
        "tune", run_folder, "--on", tmp_path / "other", "--out", tmp_path / "d.json"
    )
    assert code == 2 and "other train facts" in complained


def test_what_cannot_be_reached_is_said(say, run_folder, tmp_path):
    words = ("--rule", "per-relation", "--objective", "precision=1", "--out", tmp_path / "d.json")
    code, printed, _ = say("tune", run_folder, *words)
    assert code == 0 and ("cannot reach it" in printed or "nothing is accepted" in printed)


def test_a_promise_says_who_can_keep_it(say, run_folder, tmp_path):
    words = ("--rule", "precision", "--precision", 0.2, "--confidence", 0.5)
    decider = tmp_path / "d.json"
    code, printed, _ = say("tune", run_folder, *words, "--out", decider)
    assert code == 0 and "relations alone" in printed and "cannot promise" in printed
    promise = json.loads(decider.read_text())["found"]["promise"]
    assert (promise["precision"], promise["confidence"]) == (0.2, 0.5)
    cannot = sum(len(names) for names in promise["cannot_promise"].values())
    assert cannot == promise["cannot"]
    code, printed, _ = say("evaluate", run_folder, "--decider", decider)
    assert code == 0 and "... calibrated on valid: expected calibration error" in printed


def test_pairs_and_triples_print_tables(say, run_folder, benchmark_folder, tmp_path):
    code, printed, _ = say("pairs", run_folder, "--k", 5)
    assert code == 0 and "MAP@5" in printed
    false = tmp_path / "false.tsv"
    names = assent.load(benchmark_folder).vocabulary
    false.write_text(f"{names.entities[0]}\t{names.relations[0]}\t{names.entities[1]}\n")
    code, printed, _ = say("triples", run_folder, false, false)
    assert code == 0 and "accuracy" in printed


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("tune", "RUN", "--rule", "per-realtion"), "did you mean 'per-relation'?"),
        (("tune", "RUN", "--objective", "f-1"), "choose f1"),
        (("tune", "RUN", "--rule", "paper-global", "--objective", "f2"), "search is for f1"),
        (("tune", "RUN", "--precision", "0.9"), "belong to rule precision"),
        (("tune", "RUN", "--rule", "precision", "--precision", "1"), "choose from 0.05"),
        (("evaluate", "RUN", "--by", "entity"), "choose relation"),
        (("evaluate", "RUN", "--split", "train"), "choose from valid, test"),
        (("evaluate", "RUN", "--decider", "nowhere.json"), "`assent tune RUN` finds them"),
        (("tune", "nowhere"), "nowhere"),
        (("tune", "RUN", "--on", "other"), "name a file with --out"),
        (("evaluate", "RUN", "--on", "other"), "name with --decider"),
        (("pairs", "RUN", "--relation", "r9"), "r9"),
        (("pairs", "RUN", "--k", str(10**20)), "choose"),
    ],
)
def test_what_a_user_can_mend_ends_in_one_line(say, run_folder, words, complaint):
    assert say("tune", run_folder)[0] == 0
    words = [run_folder if word == "RUN" else word for word in words]
    code, _, complained = say(*words)
    assert code == 2 and complaint in " ".join(complained.split())
    assert "Traceback" not in complained
