"""The commands, as a user's shell runs them."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FACTS = [
    *(f"person{n}\tlives in\tcity{n % 7}" for n in range(40)),
    *(f"person{n}\tknows\tperson{(3 * n + 1) % 40}" for n in range(40)),
    *(f"person{n}\tknows\tperson{(5 * n + 2) % 40}" for n in range(40)),
    *(f"city{n}\tlies in\tcountry{n % 3}" for n in range(7)),
]


def run(*arguments, code=0, folder=None, env=None):
    """Runs `assent`; the exit code must be the expected one."""
    done = subprocess.run(
        [sys.executable, "-m", "assent.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, **(env or {})},
        timeout=600,
    )
    assert done.returncode == code, done.stderr
    return done


@pytest.fixture
def graph(tmp_path) -> Path:
    path = tmp_path / "graph.tsv"
    path.write_text("\n".join(FACTS) + "\n", encoding="utf-8")
    return path


def test_build_prints_table_one_and_writes_a_benchmark_that_passes_the_audit(graph, tmp_path):
    out = tmp_path / "benchmark"
    printed = run("build", graph, "--out", out).stdout
    for word in ("complete (C)", "incomplete (I)", "N ⊂ I", "fake (F)", "train facts", str(out)):
        assert word in printed
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert f"{manifest['counts']['removed_entities']} entities were removed" in printed
    assert (
        "entities were removed"
        not in run("build", graph, "--removed", 0, "--out", tmp_path / "whole").stdout
    )
    assert manifest["settings"] == {
        "removed": "auto",
        "held_out": 0.12,
        "deal": "by-fact",
        "seed": 0,
    }
    run("audit", out, "--strict")


def test_the_same_command_writes_the_same_bytes_whatever_the_order_of_the_lines(graph, tmp_path):
    shuffled = tmp_path / "other" / "graph.tsv"
    shuffled.parent.mkdir()
    shuffled.write_text("\n".join(sorted(FACTS, key=hash)), encoding="utf-8")
    for name, source in (("one", graph), ("two", shuffled)):
        run("build", source, "--out", tmp_path / name, "--seed", 3)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert names == sorted(path.name for path in (tmp_path / "two").iterdir())
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


def test_a_benchmark_is_replaced_only_on_request_and_anything_else_never(graph, tmp_path):
    out = tmp_path / "benchmark"
    run("build", graph, "--out", out)
    assert "is there already" in run("build", graph, "--out", out, code=2).stderr
    run("build", graph, "--out", out, "--overwrite")
    foreign = tmp_path / "photos"
    foreign.mkdir()
    (foreign / "cat.jpg").write_text("a cat", encoding="utf-8")
    run("build", graph, "--out", foreign, "--overwrite", code=2)
    assert [path.name for path in foreign.iterdir()] == ["cat.jpg"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--deal", "by-luck"], "unknown deal 'by-luck'; choose from by-fact, by-query"),
        (["--removed", "many"], "removed = 'many'; choose a number or auto"),
        (["--removed", "4000"], "removed = 4,000; choose from 0 to 49"),
        (["--held-out", "2"], "held_out = 2.0; choose a share between 0 and 1"),
        (["--layout", "fancy"], "unknown layout 'fancy'; choose from assent, published"),
        (["--layout", "published"], "the published layout cannot say that the other split's"),
        (["--seed", "-1"], "seed = -1; choose 0 or more"),
        (["--types", "none.tsv"], "none.tsv: No such file"),
    ],
)
def test_a_wrong_option_ends_in_one_line_and_nothing_is_written(graph, tmp_path, options, message):
    out = tmp_path / "benchmark"
    done = run("build", graph, "--out", out, *options, code=2)
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith(f"assent: {message}")
    assert "Traceback" not in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.tsv"]


def test_a_malformed_file_is_refused_by_its_line(tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text("a\tb\tc\na\tb\n", encoding="utf-8")
    done = run("build", path, "--out", tmp_path / "benchmark", code=2)
    assert done.stderr.strip().splitlines()[-1] == (
        f"assent: {path}:2: expected 3 tab-separated columns (head, relation, tail), found 2"
    )
    assert not (tmp_path / "benchmark").exists()


def test_an_unknown_graph_points_to_the_list_of_names(tmp_path):
    done = run("build", "no-such-graph", "--out", tmp_path / "benchmark", code=2)
    assert "no such file, folder or data set; `assent data list` shows names" in done.stderr


def test_removed_list_removes_exactly_these(graph, tmp_path):
    names = tmp_path / "gone.txt"
    names.write_text("city1\nperson3\n", encoding="utf-8")
    out = tmp_path / "benchmark"
    run("build", graph, "--out", out, "--removed-list", names)
    entities = (out / "entities.tsv").read_text(encoding="utf-8").split()
    assert len(entities) == 48 and not {"city1", "person3"} & set(entities)
    names.write_text("city1\nAtlantis\n", encoding="utf-8")
    done = run("build", graph, "--out", tmp_path / "b", "--removed-list", names, code=2)
    assert done.stderr.splitlines()[-1] == (
        f"assent: {names}:2: removed entity 'Atlantis' is not in the graph; "
        "leave it out, or give the name that the graph has"
    )


def test_audit_of_a_paper_style_benchmark_fails_strictly_and_tells_json(graph, tmp_path):
    out = tmp_path / "benchmark"
    run("build", graph, "--out", out, "--deal", "by-query", "--layout", "published")
    assert (out / "grouping_answers_obj.csv").is_file()
    run("audit", out)
    findings = json.loads(run("audit", out, "--strict", "--json", code=1).stdout)["findings"]
    failed = [finding["name"] for finding in findings if finding["failed"]]
    assert failed == ["test facts that valid asks for as well"]


def test_audit_of_something_else_says_what_a_benchmark_is(tmp_path):
    assert "not a benchmark; expected a folder with manifest.json" in (
        run("audit", tmp_path, code=2).stderr
    )


def test_convert_there_and_back_gives_the_same_facts(graph, tmp_path):
    for before, after in (("graph.tsv", "a.nt"), ("a.nt", "b.parquet"), ("b.parquet", "c.tsv")):
        run("convert", tmp_path / before, "--out", tmp_path / after)
    lines = (tmp_path / "c.tsv").read_text(encoding="utf-8").splitlines()
    assert sorted(lines) == sorted(FACTS)


def test_demo_ends_by_naming_the_report_it_wrote_and_the_command_to_review(tmp_path):
    printed = run("demo", "--out", "demo", folder=tmp_path).stdout
    assert f"\nreport: {Path('demo') / 'report.html'}\n" in printed
    assert printed.strip().splitlines()[-1] == f"assent review {Path('demo') / 'run'}"
    assert printed.startswith("Hidden before anything else")
    assert (
        re.search(r"among them|such cases|both ways", printed) and len(printed.splitlines()) <= 50
    )  # one screen
    hidden, accepted, right = (
        int(re.search(rf"{words}:\s+([\d,]+)", printed).group(1).replace(",", ""))
        for words in ("Hidden before anything else", "Accepted as new", "they were hidden")
    )
    assert hidden > 1500 and right > 0.6 * accepted > 60  # 70 % are right by estimate
    report = (tmp_path / "demo" / "report.html").read_text(encoding="utf-8")
    share = re.search(rf"<h1>{accepted:,} new facts for world, at least (\d+)\s%", report)
    assert 70 <= int(share[1]) <= 100 * right / accepted + 10  # of each relation at least 70
    run("demo", "--out", "demo", folder=tmp_path)  # again: replaces its own


def test_data_list_shows_the_world_graph_beside_what_can_be_fetched(tmp_path):
    printed = run("data", "list", env={"ASSENT_DATA": str(tmp_path)}).stdout
    for word in ("world", "14,411", "built in", "fb15k-237", "wn18rr", "codex-s", "can be fetched"):
        assert word in printed
    assert "WordNet licence" in " ".join(printed.split())


def test_data_fetch_of_an_unknown_name_offers_the_nearest(tmp_path):
    done = run("data", "fetch", "wn18r", env={"ASSENT_DATA": str(tmp_path)}, code=2)
    assert "wn18rr" in done.stderr


def test_help_is_there_for_every_command():
    for command in ([], ["build"], ["audit"], ["convert"], ["demo"], ["data"], ["data", "fetch"]):
        assert "Usage" in run(*command, "--help").stdout


def test_a_reader_that_has_had_enough_is_no_error(tmp_path):
    command = f"{sys.executable} -m assent.cli data list | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "extra"),
    [(["--tensorboard"], "tensorboard"), (["--mlflow", "sqlite:///runs.db"], "mlflow")],
)
def test_tracking_without_its_package_ends_in_one_line_that_names_the_extra(
    tmp_path, options, extra
):
    absent = tmp_path / "absent"
    absent.mkdir()
    (absent / f"{extra}.py").write_text(f"raise ImportError('no {extra}')", encoding="utf-8")
    path = os.pathsep.join([str(absent), os.environ.get("PYTHONPATH", "")])
    words = ["train", "benchmark", "--model", "complex", "--out", tmp_path / "run", *options]
    refused = run(*words, code=2, env={"PYTHONPATH": path})
    assert refused.stderr == f"assent: no {extra}; pip install 'assent-kb[{extra}]'\n"
