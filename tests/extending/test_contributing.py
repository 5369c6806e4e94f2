"""Everything that CONTRIBUTING.md says is added in one place is, from there to the report.

The examples of the page are run as they stand, each in a process of its own state: what it puts
into a table is taken out again.
"""

import json
import re
from pathlib import Path

import pytest

import assent
import toy
from assent.cli import app
from assent.core.counts import METRICS
from assent.deciding.features import FEATURES
from assent.deciding.rules import RULES
from assent.files import formats
from assent.geometry.loss import LOSSES
from assent.measuring.evaluation import MEASURES
from assent.models.embedding import Embedding

PAGE = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
TABLES = (METRICS, FEATURES, RULES, LOSSES, MEASURES, Embedding.registered, formats._ADDED)
TINY = ["model.dim=8", "train.epochs=2", "train.evaluate_every=2", "train.threads=1"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A benchmark and a tuned run of it."""
    folder = tmp_path_factory.mktemp("made")
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    assent.save(toy.built(kb), folder / "benchmark")
    run = assent.train(folder / "benchmark", "complex", out=folder / "run", changes=TINY)
    assent.save_decider(assent.tune(run, "global"), folder / "run", run.benchmark)
    return folder


@pytest.fixture
def add():
    """Runs the Python of a section of the page; afterwards all tables are as they were."""
    before = [dict(table) for table in TABLES]
    commands = list(app.registered_commands)

    def run(heading):
        section = re.search(rf"^### {heading}\n(.*?)(?=^### |\Z)", PAGE.read_text(), re.M | re.S)
        assert section, f"CONTRIBUTING.md has no section {heading!r}"
        names: dict[str, object] = {"__name__": "contributed"}
        for block in re.findall(r"^```python\n(.*?)^```", section.group(1), re.M | re.S):
            exec(compile(block, heading, "exec"), names)
        return names

    yield run
    app.registered_commands[:] = commands
    for table, was in zip(TABLES, before, strict=True):
        table.clear()
        table.update(was)


def new_name(table, before):
    (name,) = set(table) - set(before)
    return name


def report_of(folder, path):
    return assent.report([folder], path).read_text(encoding="utf-8")


def test_a_model_is_trained_listed_and_reported(add, made, say, tmp_path):
    before = dict(Embedding.registered)
    add("A model")
    name = new_name(Embedding.registered, before)
    words = [word for change in TINY for word in ("--set", change)]
    code, _, complaint = say(
        "train", made / "benchmark", "--model", name, "--out", tmp_path / "run", *words
    )
    assert code == 0, complaint
    code, printed, _ = say("train", "--help")
    assert code == 0 and name in printed
    assert say("tune", tmp_path / "run")[0] == 0
    assert name in report_of(tmp_path / "run", tmp_path / "report.html")


def test_a_loss_is_trained_with_and_named_where_another_is_wrong(add, made, tmp_path):
    before = dict(LOSSES)
    add("A loss")
    name = new_name(LOSSES, before)
    run = assent.train(made / "benchmark", changes=[*TINY, f"train.loss={name}"])
    assert run.settings.train.loss == name
    with pytest.raises(assent.AssentError, match=name):
        assent.train(made / "benchmark", changes=[*TINY, "train.loss=guess"])


def test_a_decision_rule_is_tuned_evaluated_and_listed(add, made, say, tmp_path):
    before = dict(RULES)
    add("A decision rule")
    name = new_name(RULES, before)
    decider = tmp_path / "decider.json"
    assert say("tune", made / "run", "--rule", name, "--out", decider)[0] == 0
    code, printed, _ = say("evaluate", made / "run", "--decider", decider, "--json")
    assert code == 0 and json.loads(printed)["rule"] == name
    assert name in say("tune", "--help")[1]


def test_a_file_format_is_read_written_and_named(add, say, tmp_path):
    before = set(formats.readable_suffixes())
    add("A file format")
    (suffix,) = set(formats.readable_suffixes()) - before
    kb = toy.crowd(0, num_entities=20, num_relations=2, facts_each=4)
    file = tmp_path / f"graph{suffix}"
    assent.write(kb, file)
    again = assent.read(file)
    assert toy.named_facts(again.facts, again.vocabulary) == toy.named_facts(
        kb.facts, kb.vocabulary
    )
    with pytest.raises(assent.AssentError, match=re.escape(suffix)):
        assent.read(_touched(tmp_path / "graph.xyz"))


def _touched(path):
    path.write_text("a b c")
    return path


def test_a_metric_is_in_the_table_in_the_json_and_in_the_report(add, made, say, tmp_path):
    before = dict(METRICS)
    add("A metric")
    name = new_name(METRICS, before)
    code, printed, _ = say("evaluate", made / "run")
    assert code == 0 and name in printed
    full = json.loads(say("evaluate", made / "run", "--json")[1])["classification"]["full"]
    assert name in full and f"{name}_interval" in full
    assert name in report_of(made / "run", tmp_path / "report.html")


def test_a_measure_is_printed_and_in_the_json(add, made, say):
    before = dict(MEASURES)
    add("A measure")
    name = new_name(MEASURES, before)
    found = assent.evaluate(assent.load_run(made / "run"), _decider(made)).results[name]
    code, printed, _ = say("evaluate", made / "run", "--json")
    assert code == 0 and set(found.to_json()) <= set(json.loads(printed))
    (label, *_) = found.lines()
    code, printed, _ = say("evaluate", made / "run")
    assert code == 0 and label in printed


def _decider(made):
    return assent.load_decider(made / "run", assent.load_run(made / "run"))


def test_a_feature_is_heard_by_a_new_judge(add, made, say, tmp_path):
    before = len(assent.tune(assent.load_run(made / "run"), "judge").rescorer.names)
    add("A feature of the judge")
    decider = tmp_path / "judge.json"
    assert say("tune", made / "run", "--rule", "judge", "--out", decider)[0] == 0
    assert len(json.loads(decider.read_text())["judge"]["features"]) == before + 1
    assert say("evaluate", made / "run", "--decider", decider)[0] == 0


def test_a_command_is_listed_and_runs(add, say, tmp_path):
    before = {each.callback.__name__ for each in app.registered_commands}
    add("A command")
    (name,) = {each.callback.__name__ for each in app.registered_commands} - before
    assert name in say("--help")[1]
    graph = tmp_path / "graph.tsv"
    graph.write_text("ada\tknows\tben\nben\tknows\tcleo\n")
    code, printed, _ = say(name, graph)
    assert code == 0 and "2 facts" in printed
