"""--quiet and --json, which every command that prints tables has."""

import json
import subprocess
import sys

import pytest
import typer

import assent
import toy
from assent.cli import app, common
from assent.reporting.grid import DASH, Cell, Column, Grid, count, texts, words

SPEAKING = {"demo", "review", "reproduce"}  # they tell sentences while they run, and no table


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small graph, its benchmark, and a run that was tuned."""
    folder = tmp_path_factory.mktemp("telling")
    (folder / "graph.ttl").write_text(toy.turtle(), encoding="utf-8")
    assent.save(assent.build(assent.read(folder / "graph.ttl")), folder / "benchmark")
    short = ("model.dim=8", "train.epochs=2", "train.evaluate_every=2", "train.threads=1")
    run = assent.train(folder / "benchmark", "complex", out=folder / "run", changes=short)
    assent.save_decider(assent.tune(run), folder / "run", run.benchmark)
    names = run.benchmark.vocabulary
    false = f"{names.entities[0]}\t{names.relations[0]}\t{names.entities[1]}\n"
    (folder / "false.tsv").write_text(false, encoding="utf-8")
    return folder


TABLES = {  # a command -> what its JSON holds, besides what others do
    "build graph.ttl --out other": {"meanings", "queries", "notes", "benchmark"},
    "convert graph.ttl --out other.tsv": {"meanings", "notes", "facts"},
    "audit benchmark": {"findings"},
    "data list": {"datasets"},
    "tune run": {"thresholds", "decider"},
    "tune run --rule precision --precision 0.5": {"thresholds", "promise", "decider"},
    "evaluate run": {"classification", "mrr", "calibration"},
    "evaluate run --by relation --against run": {"classification", "relations", "notes"},
    "pairs run --k 5": {"hits_at_k", "relations"},
    "triples run false.tsv false.tsv": {"relations", "valid", "test"},
    "complete run --out new.tsv": {"completion", "notes", "accepted"},
    "report run --out page.html": {"report"},
}


@pytest.mark.parametrize("line", TABLES)
def test_json_is_one_object_and_nothing_else(line, folder, say, monkeypatch):
    monkeypatch.chdir(folder)
    code, printed, _ = say(*line.split(), "--json")
    assert code == 0
    assert set(json.loads(printed)) >= TABLES[line]


def test_a_search_tells_its_trainings_as_json(folder, say, monkeypatch):
    pytest.importorskip("optuna", reason="search needs Optuna")
    monkeypatch.chdir(folder)
    words = ["search", "benchmark", "--model", "distmult", "--out", "search", "--trials", "1"]
    short = ["--set", "train.epochs=1", "--set", "train.threads=1", "--set", "model.dim=8"]
    code, printed, complained = say(*words, *short, "--quiet", "--json")
    found = json.loads(printed)
    assert (code, complained, len(found["trainings"])) == (0, "", 1)
    assert found["best settings"] == "search/best.toml"


def test_every_command_but_the_speaking_has_both_options():
    for command in typer.main.get_command(app).commands.values():
        for each in getattr(command, "commands", {command.name: command}).values():
            options = {option for parameter in each.params for option in parameter.opts}
            assert "--quiet" in options
            assert ("--json" in options) == (each.name not in SPEAKING), each.name


def test_quiet_keeps_what_was_found_and_leaves_out_how_far_it_is(folder, say, monkeypatch):
    monkeypatch.chdir(folder)
    code, printed, progress = say("build", "graph.ttl", "--out", "again", "--overwrite")
    assert code == 0 and "reading graph.ttl" in progress
    quiet = say("build", "graph.ttl", "--out", "again", "--overwrite", "--quiet")
    assert quiet == (0, printed, "")


def test_quiet_keeps_errors(folder, say, monkeypatch):
    monkeypatch.chdir(folder)
    code, printed, complained = say("build", "nowhere.nt", "--out", "new", "--quiet", "--json")
    assert (code, printed) == (2, "") and "nowhere.nt: no such file" in complained
    assert say("build", "graph.ttl", "--out", "newer")[2]  # the next command speaks again


def test_an_exit_code_that_tells_something_comes_after_the_json(say, tmp_path):
    code = tmp_path / "graph.tsv"
    code.write_text("".join(f"p{n}\tknows\tp{3 * n % 41}\n" for n in range(41)), encoding="utf-8")
    assert say("build", code, "--out", tmp_path / "b", "--deal", "by-query")[0] == 0
    code, printed, _ = say("audit", tmp_path / "b", "--strict", "--json")
    failed = any(finding["failed"] for finding in json.loads(printed)["findings"])
    assert code == failed == 1


def test_records_are_numbers_words_and_null(capsys):
    columns = [*texts("name"), Column("facts", True, note="of")]
    grid = Grid(
        "graphs", columns, [[words("a"), Cell("1,200", 1200, "9 %")], [words("b"), Cell(DASH)]]
    )
    with common._telling(quiet=False, as_json=True):
        common.show(grid)
    assert json.loads(capsys.readouterr().out)["graphs"] == [
        {"name": "a", "facts": 1200, "of": "9 %"},
        {"name": "b", "facts": None, "of": None},
    ]


def test_json_cannot_send_commands_to_a_terminal(capsys):
    with common._telling(quiet=False, as_json=True):
        common.show(Grid("graphs", texts("name"), [[words("\x9b31m \u202e red")]]))
        common.tell("run", count(3).text)
        common.as_json(lambda: {"undefined": float("nan")})
    printed = capsys.readouterr().out
    assert json.loads(printed)["undefined"] is None
    assert printed.isascii() and json.loads(printed)["graphs"] == [{"name": "\x9b31m \u202e red"}]


def test_the_package_runs_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "assent", "--version"], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == f"assent {assent.__version__}\n"
