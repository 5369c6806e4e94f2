"""What assent 0.1.0 saved still loads, and gives the numbers that it gave then.

`tests/artefacts/make.py` made the files, once. Nothing here may be changed to fit new code.
"""

import gzip
import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import assent

STORED = Path(__file__).with_name("artefacts")
DECIDERS = sorted(path.stem for path in (STORED / "deciders").glob("*.json"))
AVERAGES = ("calibration", "calibrated")  # of scores: a processor may round them


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    """The stored folder at a place of its own; its files name that place now."""
    folder = tmp_path_factory.mktemp("old") / "artefacts"
    shutil.copytree(STORED, folder)
    for path in [*folder.rglob("*.toml"), *folder.glob("deciders/*.json")]:
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("@ARTEFACTS@", folder.as_posix()), encoding="utf-8")
    return folder


def expected(name):
    return gzip.decompress((STORED / "expected" / f"{name}.gz").read_bytes()).decode()


def assert_same(now, then, where=""):
    """Every number of `then` is in `now`; what is new in `now` may stand beside it."""
    if isinstance(then, dict):
        for key in then:
            assert_same(now[key], then[key], f"{where}.{key}")
    elif isinstance(then, list):
        assert len(now) == len(then), where
        for place, (new, old) in enumerate(zip(now, then, strict=True)):
            assert_same(new, old, f"{where}[{place}]")
    elif isinstance(then, float) and any(name in where for name in AVERAGES):
        assert now == pytest.approx(then, rel=1e-6), where
    else:
        assert now == then, where


def columns_of(text):
    """Decisions without their scores, and the scores."""
    rows = [line.split("\t") for line in text.splitlines()]
    return [row[:4] + row[5:] for row in rows], [float(row[4]) for row in rows]


@pytest.mark.parametrize("name", DECIDERS)
def test_deciders_and_judges_decide_as_they_did(name, old, tmp_path, say):
    decider, decisions = old / "deciders" / f"{name}.json", tmp_path / "decisions.tsv"
    run = old / "runs" / name.split("-")[0]
    code, printed, err = say(
        "evaluate", run, "--decider", decider, "--json", "--decisions", decisions
    )
    assert code == 0, err
    assert_same(json.loads(printed), json.loads(expected(f"{name}.json")))
    facts, scores = columns_of(decisions.read_text(encoding="utf-8"))
    old_facts, old_scores = columns_of(expected(f"{name}.tsv"))
    assert facts == old_facts
    assert scores == pytest.approx(old_scores, rel=1e-5)


def test_every_rule_of_deciding_is_among_them():
    rules = {
        json.loads((STORED / "deciders" / f"{name}.json").read_text())["rule"] for name in DECIDERS
    }
    assert rules == {
        "global", "per-relation", "paper-global", "paper-relation", "precision", "judge",
    }  # fmt: skip


def test_a_run_folder_with_its_own_decider_gives_its_metrics_again(old, say):
    then = json.loads((STORED / "runs" / "transe" / "metrics.json").read_text(encoding="utf-8"))
    code, printed, err = say("evaluate", old / "runs" / "transe", "--json")
    assert code == 0, err
    assert_same(json.loads(printed), then)


@pytest.mark.parametrize("name", ["benchmark", "published"])
def test_benchmarks_load_and_their_audit_finds_what_it_found(name, old, say):
    code, printed, err = say("audit", old / name, "--json")
    assert code == 0, err
    then = (STORED / "expected" / f"audit-{name}.json").read_text(encoding="utf-8")
    now = {finding["name"]: finding for finding in json.loads(printed)["findings"]}
    for finding in json.loads(then):
        # A split was called half then.
        finding["detail"] = finding["detail"].replace("the other half", "the other split")
        assert_same(now[finding["name"]], finding, finding["name"])


def test_a_benchmark_counts_what_its_manifest_says(old):
    manifest = json.loads((STORED / "benchmark" / "manifest.json").read_text(encoding="utf-8"))
    benchmark = assent.load(old / "benchmark")
    assert assent.table_one(benchmark) == manifest["counts"]["queries"]
    assert len(benchmark.train) == manifest["counts"]["train_facts"]


def test_a_stopped_training_goes_on_and_ends_with_the_weights_it_would_have_had(
    old, one_thread, say
):
    run = old / "runs" / "stopped"
    settings = ["model.dim=4", "train.epochs=8", "train.evaluate_every=20", "train.batch_size=32"]
    settings += ["train.learning_rate=0.03", "train.checkpoint_minutes=0.0"]
    changes = [f"--set={change}" for change in settings]
    code, _, err = say("train", old / "benchmark", "--model", "distmult", "--out", run, *changes)
    assert code == 0, err
    epochs = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in epochs if line["event"] == "epoch"] == list(range(1, 9))
    ended = load_file(run / "model.safetensors")
    then = load_file(STORED / "expected" / "stopped.safetensors")
    assert ended.keys() == then.keys()
    for name, weights in then.items():
        torch.testing.assert_close(ended[name], weights, rtol=1e-4, atol=1e-6)


def test_the_report_shows_facts_of_an_old_completion(old, tmp_path, say):
    page = tmp_path / "report.html"
    code, _, err = say(
        "report", old / "runs" / "transe", "--facts", old / "facts.jsonl", "--out", page
    )
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    for line in (STORED / "facts.jsonl").read_text(encoding="utf-8").splitlines():
        assert f"Person {json.loads(line)['head'][1:]}" in text
