"""Two small runs over a graph whose names are hostile, tuned, and their report."""

import json
from dataclasses import replace

import pytest

import assent
import toy
from assent.core.vocabulary import Vocabulary
from assent.verbs.deciders import save_decider
from assent.verbs.tune import tune

HOSTILE = (
    "<script>window.struck = 1</script>",
    "</script><img src=x onerror='window.struck = 1'>",
    "{{ 7 * 7 }} {% raw %}",
    "&lt;b&gt; \"quoted\" 'single' `back`",
    "https://example.org/entity?a=1&b=2#fragment",
    "\u2028 line \u2029 separators ]]> <!-- <![CDATA[",
    "x" * 5000,
)
SMALL = ["model.dim=8", "train.epochs=12", "train.batch_size=16", "train.threads=1"]


@pytest.fixture(scope="session")
def hostile_runs(tmp_path_factory):
    """Folders of a run with a threshold for each relation, and of one with a single threshold."""
    root = tmp_path_factory.mktemp("report")
    benchmark = toy.built(toy.crowd(0, 40, 3, 8, splits=True), seed=1)
    names = benchmark.vocabulary
    entities = [HOSTILE[e] if e < len(HOSTILE) else f"e{e}" for e in range(names.num_entities)]
    relations = ["</script><script>window.struck = 2</script>", "r1 & co", 'r2" onclick="x']
    hostile = replace(benchmark, vocabulary=Vocabulary(tuple(entities), tuple(relations)))
    assent.save(hostile, root / "benchmark")
    folders = {}
    for folder, model, rule in (
        ("<i>one", "complex", "per-relation"),
        ("two & 2", "distmult", "global"),
    ):
        run = assent.train(root / "benchmark", model, out=root / folder, changes=SMALL)
        save_decider(tune(run, rule), root / folder, run.benchmark)
        folders[folder] = root / folder
    return folders


@pytest.fixture(scope="session")
def facts(hostile_runs, tmp_path_factory):
    """A file as `assent complete` writes it."""
    path = tmp_path_factory.mktemp("facts") / "facts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for place in range(30):
            head = HOSTILE[place % len(HOSTILE)]
            chain = [[head, "r1 & co", HOSTILE[1]], [f"e{place}", "r1 & co", HOSTILE[1]]]
            line = {
                "head": head,
                "relation": "r1 & co",
                "tail": f"e{place}",
                "decision": "review" if place % 5 == 0 else "accepted",
                "probability": (place + 1) / 31,
                "score": 0.0,
                "threshold": 0.0,
                "expected_precision": None if place % 2 else 0.9,
                "asked": "tail",
                "evidence": [{"facts": chain, "support": 3, "cases": 4}],
            }
            file.write(json.dumps(line) + "\n")
    return path


@pytest.fixture(scope="session")
def page(hostile_runs, facts, tmp_path_factory):
    """The report of both runs, with facts, and its figures beside it."""
    folder = tmp_path_factory.mktemp("page")
    runs = list(hostile_runs.values())
    return assent.report(runs, folder / "report.html", facts=facts, figures=folder / "figures")


@pytest.fixture(scope="session")
def lone_page(hostile_runs, tmp_path_factory):
    """The report of one run, without facts."""
    first = next(iter(hostile_runs.values()))
    return assent.report([first], tmp_path_factory.mktemp("page") / "report.html")
