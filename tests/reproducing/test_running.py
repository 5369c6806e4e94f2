"""`assent reproduce` on a small benchmark in the published layout, with small models; its plan."""

import json
import math
import os
import subprocess
import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace
from xml.etree import ElementTree

import pytest
import torch
from typer.testing import CliRunner

import assent
import toy
from assent.building.recipe import build
from assent.cli import app
from assent.errors import ConfigError
from assent.files.benchmarks import load, save
from assent.models.distmult import DistMult
from assent.models.embedding import Embedding
from assent.reporting.progress import Unwatched
from assent.reproducing.models import Spec, title
from assent.reproducing.paper import KIN, MODELS
from assent.reproducing.running import Order, plan, reproduce, total_line
from assent.verbs.runs import load_run

NAMES = ("distmult-8", "transe-8", "region-8")
CHANGES = (
    "train.epochs=2",
    "train.threads=1",
    "train.evaluate_every=1",
    "train.checkpoint_minutes=0.0",
)
MOST_BYTES = 60_000


class Counting(Unwatched):
    """Counts the steps of all trainings; stops at one of them."""

    def __init__(self, fail_at=None):
        self.steps, self.fail_at = 0, fail_at

    def step(self, *_):
        self.steps += 1
        if self.steps == self.fail_at:
            raise RuntimeError("power cut")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    kb = toy.with_kinds(toy.crowd(seed=1, num_entities=60, num_relations=3, facts_each=8))
    folder = tmp_path_factory.mktemp("data") / "fb14k-qaq"
    save(build(kb, deal="by-query"), folder, layout="published")
    return folder


@pytest.fixture(scope="module")
def other_splits(data):
    """The same train facts, valid and test exchanged."""
    benchmark = load(data)
    swapped = replace(benchmark, valid=benchmark.test, test=benchmark.valid)
    save(swapped, data.parent / "swapped")
    return data.parent / "swapped"


def run(
    data, out, names=NAMES, budget=math.inf, fail_at=None, changes=CHANGES, on=None,
    preset="default",
):  # fmt: skip
    """The lines it says, and the steps it trains."""
    lines, watcher = [], Counting(fail_at)

    @contextmanager
    def watching():
        yield watcher

    specs = [Spec.of(name, preset, changes) for name in names]
    order = Order(data, out, specs, budget, "assent reproduce", on)
    try:
        reproduce(order, lines.append, watching)
    except RuntimeError:
        lines.append("power cut")
    return lines, watcher.steps


@pytest.fixture(scope="module")
def done(data, tmp_path_factory):
    """Everything, once."""
    out = tmp_path_factory.mktemp("out")
    return out, *run(data, out)


def result(out, name):
    path = out / "results" / "default" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def tables_of(text):
    """The tables of a page: each a list of rows, each a list of cells."""
    tables, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            tables.append(rows)
            rows = []
    return tables


def test_it_says_what_is_left_and_then_that_all_is_done(done):
    _, lines, _ = done
    assert lines[0].split(maxsplit=1) == ["distmult-8", "to train, no epoch yet to tell how long"]
    assert lines[3] == "0 of 3 models done; no epoch yet of 3"
    assert lines[-1] == "3 of 3 models done"


def test_the_results_are_those_of_tune_and_evaluate(done):
    out, *_ = done
    trained = load_run(out / "runs" / "default" / "distmult-8")
    found = result(out, "distmult-8")
    for rule in ("global", "per-relation", "paper-global", "paper-relation"):
        decider = assent.tune(trained, rule)
        for split in ("test", "valid"):
            evaluation = assent.evaluate(trained, decider, split)
            for name in ("full", "C", "C+F", "I"):
                counts = evaluation.classified.of(name)
                expected = [counts.correct, counts.accepted, counts.relevant]
                assert found["counts"][split][rule][name] == expected


def test_every_fact_is_ranked_from_both_of_its_sides(done):
    """The obvious way: a fact, a side, one entity after another."""
    out, *_ = done
    trained = load_run(out / "runs" / "default" / "distmult-8")
    benchmark, found = trained.benchmark, result(out, "distmult-8")
    num_relations = benchmark.vocabulary.num_relations
    parts = {split: {*map(tuple, benchmark.facts(split).tolist())} for split in ("valid", "test")}
    train = {*map(tuple, benchmark.train.tolist())}
    everything = train | parts["valid"] | parts["test"]
    for split, facts in parts.items():
        for name, known in (("mrr", everything), ("unfiltered_mrr", train)):
            gains = []
            for head, relation, tail in facts:
                for asks_for_head in (False, True):
                    anchor, slot, answer = (
                        (tail, relation + num_relations, head)
                        if asks_for_head
                        else (head, relation, tail)
                    )
                    scores = trained.model.scores(torch.tensor([anchor]), torch.tensor([slot]))[0]
                    rivals = [
                        scores[entity]
                        for entity in range(benchmark.vocabulary.num_entities)
                        if entity != answer
                        and (
                            (entity, relation, tail) if asks_for_head else (head, relation, entity)
                        )
                        not in known
                    ]
                    higher = sum(bool(rival > scores[answer]) for rival in rivals)
                    equal = sum(bool(rival == scores[answer]) for rival in rivals)
                    gains.append(1 / (1 + higher + equal / 2))
            assert found[name][split] == pytest.approx(sum(gains) / len(gains))


def test_a_second_call_trains_and_measures_only_what_is_missing(data, done, tmp_path):
    before = {}
    for name in NAMES[:2]:
        _, steps = run(data, tmp_path, [name])
        before[name] = steps
    files = [tmp_path / "results" / "default" / f"{name}.json" for name in NAMES[:2]]
    times = [file.stat().st_mtime_ns for file in files]
    lines, steps = run(data, tmp_path)
    assert [line.split()[1] for line in lines[:2]] == ["done", "done"]
    assert [file.stat().st_mtime_ns for file in files] == times
    assert steps + sum(before.values()) == done[2]


def test_models_of_an_earlier_call_stay_in_the_report(data, done):
    out, *_ = done
    run(data, out, ["transe-8"])
    models = json.loads((out / "report.json").read_text(encoding="utf-8"))["models"]
    assert set(models) == set(NAMES)


def test_it_goes_on_after_a_stop_and_ends_with_the_same_numbers(data, done, tmp_path):
    out, _, steps = done
    lines, stopped = run(data, tmp_path, fail_at=steps // 2 + 1)
    assert lines[-1] == "power cut" and stopped == steps // 2 + 1
    _, rest = run(data, tmp_path)
    assert rest == steps - stopped + 1  # the step that failed is done again, none before it
    for name in NAMES:
        one, other = result(out, name), result(tmp_path, name)
        assert all(one[key] == other[key] for key in ("weights", "counts", "mrr", "draws"))


def test_a_result_of_other_weights_is_measured_again(data, tmp_path):
    run(data, tmp_path, ["distmult-8"])
    file = tmp_path / "results" / "default" / "distmult-8.json"
    stale = {**result(tmp_path, "distmult-8"), "weights": "of another training"}
    file.write_text(json.dumps(stale), encoding="utf-8")
    lines, steps = run(data, tmp_path, ["distmult-8"])
    assert lines[0].endswith("trained, to be measured") and steps == 0
    assert result(tmp_path, "distmult-8")["weights"] != stale["weights"]


def test_a_model_that_was_cut_is_marked_until_it_was_given_more_time(data, tmp_path):
    _, steps = run(data, tmp_path, ["transe-8"], budget=1e-9)
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert steps == 1
    assert "| TransE 8 † |" in page
    assert "† TransE 8: training was cut after 0.0 minutes, 0 of at most 2 epochs." in page
    lines, steps = run(data, tmp_path, ["transe-8"], budget=1e-9)
    assert lines[0].split()[1] == "done" and steps == 0
    run(data, tmp_path, ["transe-8"])
    assert "†" not in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_on_another_benchmark_nothing_is_trained_again(data, done, other_splits):
    out, *_ = done
    lines, steps = run(data, out, on=other_splits)
    assert steps == 0 and lines[0].endswith("trained, to be measured")
    folder = out / "on-swapped"
    assert "**Measured on `swapped`**" in (folder / "report.md").read_text(encoding="utf-8")
    for name in NAMES:
        here, there = result(out, name), result(folder, name)
        assert there["mrr"] == {"valid": here["mrr"]["test"], "test": here["mrr"]["valid"]}
        assert there["weights"] == here["weights"]
        trained = load_run(out / "runs" / "default" / name, other_splits)
        assert there["benchmark"] == trained.benchmark.digest()


def test_each_preset_has_a_report_of_its_own(data, tmp_path):
    run(data, tmp_path, ["transe-8"])
    before = (tmp_path / "report.md").read_bytes()
    run(data, tmp_path, ["distmult-8"], preset="paper")
    assert (tmp_path / "report.md").read_bytes() == before
    page = (tmp_path / "preset-paper" / "report.md").read_text(encoding="utf-8")
    assert "DistMult 8" in page and "TransE 8" not in page


def test_the_best_that_a_ranking_can_reach_is_said(data, done):
    out, *_ = done
    facts = load(data).facts("test")
    asked = Counter((h, r, "tail") for h, r, _ in facts) + Counter(
        (t, r, "head") for _, r, t in facts
    )
    ideal = [1 / place for n in asked.values() for place in range(1, n + 1)]
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["highest_mrr"] == pytest.approx(sum(ideal) / len(ideal))


def test_every_table_is_well_formed_and_every_figure_small_and_there(done):
    out, *_ = done
    page = (out / "report.md").read_text(encoding="utf-8")
    for rows in tables_of(page):
        assert len({len(row) for row in rows}) == 1
        assert set(rows[1]) == {"---"}
    for line in page.splitlines():
        if line.startswith("!["):
            file = out / line[line.index("(") + 1 : -1]
            ElementTree.parse(file)
            assert file.stat().st_size < MOST_BYTES
    assert len(list((out / "figures").iterdir())) == 5


def test_unknown_models_are_refused_by_name():
    with pytest.raises(ConfigError, match="did you mean 'complex'"):
        Spec.of("complx-64", "default")
    with pytest.raises(ConfigError, match="expected a kind and a size"):
        Spec.of("complex", "default")


def shell(*arguments, code=0):
    """Runs `assent reproduce`; the exit code must be the expected one."""
    done = subprocess.run(
        [sys.executable, "-m", "assent.cli", "reproduce", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        timeout=600,
    )
    assert done.returncode == code, done.stderr
    return done


def test_the_command_reports_what_is_done_and_says_how_it_was_called(data, done):
    out, *_ = done
    settings = [word for change in CHANGES for word in ("--set", change)]
    call = ["--data", data.parent, "--out", out, "--models", ",".join(NAMES), *settings]
    printed = shell(*call).stdout
    assert "3 of 3 models done" in printed and f"report: {out / 'report.md'}" in printed
    page = (out / "report.md").read_text(encoding="utf-8")
    assert f"assent reproduce --data {data.parent} --out {out} --models {','.join(NAMES)}" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--budget", "0"], "--budget 0; choose more than 0 minutes"),
        (["--models", "complx-64"], "unknown model 'complx'; did you mean 'complex'?"),
        (["--set", "train.epoch=3"], "unknown setting train.epoch; did you mean 'epochs'?"),
        ([], "no such folder; `assent data fetch fb14k-qaq --to"),
    ],
)
def test_a_wrong_call_ends_in_one_line_before_anything_is_trained(tmp_path, options, message):
    folders = ["--data", str(tmp_path / "none"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(app, ["reproduce", *folders, *options])
    assert message in str(done.exception) and not (tmp_path / "out").exists()


def traced(out, name, *events):
    folder = out / "runs" / "default" / name
    folder.mkdir(parents=True)
    lines = [json.dumps(event) + "\n" for event in events]
    (folder / "trace.jsonl").write_text("".join(lines), encoding="utf-8")


def epochs(count, seconds):
    return [{"event": "epoch", "epoch": n + 1, "seconds": seconds} for n in range(count)]


def planned(out, *names, budget=float("inf")):
    specs = [Spec.of(name, "default", ("train.epochs=10",)) for name in names]
    return plan(specs, out, out, "a checksum", budget)


def test_the_epochs_left_take_as_long_as_the_epochs_done(tmp_path):
    traced(tmp_path, "complex-64", *epochs(4, 60.0))
    tasks = planned(tmp_path, "complex-64", "conve-64")
    assert tasks[0].line().split(maxsplit=1)[1] == "epoch 4 of 10 is done, 6 min at most"
    assert tasks[1].line().split(maxsplit=1)[1] == "to train, no epoch yet to tell how long"
    expected = "0 of 2 models done; training: 6 min more at most; no epoch yet of 1"
    assert total_line(tasks) == expected


def test_a_budget_is_the_most_there_is_to_wait_for(tmp_path):
    traced(tmp_path, "complex-64", *epochs(4, 60.0))
    tasks = planned(tmp_path, "complex-64", "conve-64", budget=5.0)
    assert tasks[0].minutes == 1.0
    assert total_line(tasks, 5.0) == "0 of 2 models done; training: 6 min more at most"


def test_a_cut_training_is_as_good_as_done_until_it_may_take_longer(tmp_path):
    end = {"event": "end", "epochs": 2, "best_epoch": 2}
    cut = {"event": "cut", "epoch": 2, "minutes": 2.5}
    traced(tmp_path, "complex-64", *epochs(2, 60.0), cut, end)
    assert planned(tmp_path, "complex-64", budget=2.0)[0].is_trained
    assert not planned(tmp_path, "complex-64", budget=3.0)[0].is_trained
    assert not planned(tmp_path, "complex-64")[0].is_trained


def test_every_model_of_the_paper_has_settings_under_both_presets():
    for preset in ("default", "paper"):
        for name in (*MODELS, *KIN):
            settings = Spec.of(name, preset).settings
            assert settings.model.dim == int(name.rpartition("-")[2])
    assert Spec.of("region-sphere-64", "paper").settings.model.shape == "sphere"
    assert Spec.of("region-64", "default").settings.model.anchor == "plain"
    assert Spec.of("region-scaled-64", "default").settings.model.anchor == "scaled"
    assert Spec.of("transa-diagonal-64", "default").settings.model.metric == "diagonal"


def test_any_model_there_is_can_be_reproduced_under_the_name_of_its_class(monkeypatch):
    class Toy(DistMult):
        """A model that was added a moment ago."""

    monkeypatch.setitem(Embedding.registered, "toy", Toy)
    assert Spec.of("toy-8", "default").settings.model.dim == 8 and title("toy-8") == "Toy 8"
    assert title("complex-128") == "ComplEx 128" and title("region-64") == "Region ellipse 64"
