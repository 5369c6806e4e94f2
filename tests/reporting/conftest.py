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
    "\u202e evil \x1b[31m\x00\x07\b\x85",
)
SMALL = ["model.dim=8", "train.epochs=12", "train.batch_size=16", "train.threads=1"]


@pytest.fixture(scope="session")
def hostile_runs(tmp_path_factory):
    """Folders of a run with a threshold for each relation, and of one with a single threshold."""
    root = tmp_path_factory.mktemp("report")
    benchmark = toy.built(toy.crowd(0, 40, 3, 8, splits=True), seed=1)
    names = benchmark.vocabulary
    entities = [HOSTILE[e] if e < len(HOSTILE) else f"e{e}" for e in range(names.num_entities)]
    relations = [
        "</script><script>window.struck = 2</script>",
        "r1 & co",
        'r2" onclick="x\u202e\x1b',
    ]
    names = Vocabulary(tuple(entities), tuple(relations))
    hostile = replace(benchmark, vocabulary=names, removed=None)
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


RELATIONS = ("r1 & co", "https://example.org/knows", "r3")


def fact_line(place, head, relation, tail, probability):
    """A line as `assent complete` writes it; each fifth fact is to be reviewed."""
    chain = [[head, "r1 & co", HOSTILE[1]], [tail, "r1 & co", HOSTILE[1]]]
    return json.dumps(
        {
            "head": head,
            "relation": relation,
            "tail": tail,
            "decision": "review" if place % 5 == 0 else "accepted",
            "probability": probability,
            "score": 0.0,
            "threshold": 0.0,
            "expected_precision": None if place % 2 else 0.9,
            "asked": "tail",
            "evidence": [{"facts": chain, "support": 3, "cases": 4}] * (place % 3),
        }
    )


@pytest.fixture(scope="session")
def facts(hostile_runs, tmp_path_factory):
    """A file as `assent complete` writes it: 90 facts of three relations, 18 of them to review."""
    path = tmp_path_factory.mktemp("facts") / "facts.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for place in range(90):
            names = HOSTILE[place % len(HOSTILE)], RELATIONS[place % 3], f"e{place}"
            file.write(fact_line(place, *names, (place + 1) / 91) + "\n")
    return path


@pytest.fixture(scope="session")
def crowded_page(hostile_runs, tmp_path_factory):
    """The report of one run with 20,000 new facts."""
    folder = tmp_path_factory.mktemp("crowd")
    with (folder / "facts.jsonl").open("w", encoding="utf-8") as file:
        for place in range(20_000):
            names = f"head {place % 700}", RELATIONS[place % 3], f"tail {place}"
            file.write(fact_line(place, *names, (place * 7919 % 20_000) / 20_000) + "\n")
    first = next(iter(hostile_runs.values()))
    return assent.report([first], folder / "report.html", facts=folder / "facts.jsonl")


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
