"""The report says what `assent evaluate` measures, whatever the names in the graph are."""

import base64
import hashlib
import json
import math
import re
import shutil
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.special import expit

import assent
import toy
from assent.building.counting import table_one
from assent.cli import main
from assent.core.counts import METRICS, ratio
from assent.core.legible import legible
from assent.core.new_facts import ACCEPTED, DECISIONS, REVIEW
from assent.core.queries import SETS
from assent.core.thresholds import Thresholds
from assent.core.vocabulary import last_part
from assent.errors import AssentError
from assent.files.recording import reseal
from assent.measuring.evaluation import MEASURES
from assent.reporting.fact_list import FEW
from assent.verbs.completions import keep_completion
from assent.verbs.deciders import load_decider
from html_pages import Page

RELATIONS = ("r1 & co", "https://example.org/knows", "r3")  # of the facts

MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def read(page):
    return Page(page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def alone(lone_page):
    return Page(lone_page.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def measured(hostile_runs):
    """Run, decider and evaluation of each."""
    found = []
    for folder in hostile_runs.values():
        run = assent.load_run(folder)
        decider = load_decider(folder, run)
        found.append((run, decider, assent.evaluate(run, decider)))
    return found


def values(row):
    return [value for _, value in row]


def queries_of(page):
    """The names of the tables of sample queries."""
    return [name for name in page.tables if name.startswith("query-")]


def test_the_decisions_are_those_of_evaluate(read, measured):
    rows = iter(read.tables["decisions"][1:])
    for name in SETS:
        for *_, found in measured:
            of_set = found.to_json()["classification"][name]
            expected = [of_set[key] for key in ("queries", "relevant", "accepted", "correct")]
            shares = [of_set[key] for key in ("precision", "recall", "f1")]
            expected += shares if of_set["relevant"] else [None] * 3
            expected += [of_set["accepted_per_query"], of_set["left_empty"]]
            assert values(next(rows))[2:] == expected


def test_the_runs_at_the_top_have_the_same_numbers(read, measured):
    expected = []
    for *_, found in measured:
        plain = found.to_json()
        whole = plain["classification"]["full"]
        expected += [("F1", whole["f1"]), ("precision", whole["precision"])]
        expected += [("recall", whole["recall"]), ("MRR", plain["mrr"])]
    assert read.measures == expected


def test_runs_are_compared_near_the_top_the_highest_f1_first(read, measured, hostile_runs):
    found = dict(zip(hostile_runs, (evaluation for *_, evaluation in measured), strict=True))
    order = sorted(found, key=lambda name: -found[name].f1())
    heading, *rows = read.tables["runs-compared"]
    assert [row[0][0] for row in rows] == order
    for name, row in zip(order, rows, strict=True):
        counted = found[name].to_json()["classification"]
        f1s = [counted[of_set]["f1"] for of_set in ("full", "C", "C+F", "I")]
        assert values(row)[2:] == [8, 12, *f1s, found[name].to_json()["mrr"]]
    assert [text for text, _ in heading[1:4]] == ["model", "dimensions", "epochs"]
    assert list(read.tables).index("runs-compared") < list(read.tables).index("decisions")


def test_a_run_alone_is_compared_with_none(alone):
    assert "runs-compared" not in alone.tables


def test_a_card_says_how_many_dimensions_and_epochs_there_were(read):
    assert "complex, 8 dimensions, 12 epochs, a threshold for each relation" in read.text


def test_of_three_runs_the_page_says_with_which_the_others_are_compared(measured, tmp_path):
    runs, deciders = zip(*((run, decider) for run, decider, _ in measured), strict=True)
    three = [*runs, replace(runs[0], folder=None)]
    path = assent.report(three, tmp_path / "r.html", deciders=[*deciders, deciders[0]])
    text = Page(path.read_text(encoding="utf-8")).text
    (said,) = re.findall(r"The others are compared with (.+), the first run that was named", text)
    assert text.count(f" beside {said}, all queries") == 2


def test_ranking_stands_beside_f1(read, measured):
    for row, (*_, found) in zip(read.tables["comparison"][1:], measured, strict=True):
        plain = found.to_json()
        assert values(row)[1:4] == [
            plain["classification"]["full"]["f1"],
            plain["mrr"],
            plain["unfiltered_mrr"],
        ]


def test_the_ranking_of_each_side_is_that_of_evaluate(read, measured):
    rows = iter(read.tables["ranking"][1:])
    for side in ("tail", "head", "both"):
        for *_, found in measured:
            numbers = found.ranking[side]["realistic"]
            expected = [numbers["count"], numbers["inverse_harmonic_mean_rank"]]
            assert values(next(rows))[2:4] == expected


def test_the_queries_are_table_one(read, measured):
    expected = table_one(measured[0][0].benchmark)
    rows = read.tables["queries"][1:]
    assert [values(row)[1:] for row in rows] == [list(kind.values()) for kind in expected.values()]


def test_every_relation_has_its_threshold_and_counts(alone, measured):
    _, decider, found = measured[0]
    names = found.vocabulary
    counts = found.classified.by_relation(2 * names.num_relations)
    rows = alone.tables["relations"][1:]
    assert len(rows) == len(np.unique(found.queries.relations))
    for row in rows:
        side = ("tail", "head").index(row[1][0])
        slot = [*map(legible, names.relations)].index(row[0][0]) + side * names.num_relations
        threshold = decider.thresholds.values[slot]
        assert values(row)[3] == counts.relevant[slot]
        assert values(row)[5] == counts.accepted[slot]
        assert values(row)[4] == (
            1.0 if np.isposinf(threshold) else pytest.approx(expit(threshold))
        )


def test_several_runs_stand_side_by_side_in_the_table_of_relations(read, hostile_runs):
    headings = [text for text, _ in read.tables["relations"][0]]
    for name in hostile_runs:
        assert f"{name}\nthreshold" in headings
    assert len({len(row) for row in read.tables["relations"]}) == 1


def test_the_summary_counts_in_words(read, measured):
    for *_, found in measured:
        counts = found.classified.of("full")
        assert f"To {len(found.queries):,} queries it accepts" in read.text
        assert f"{counts.relevant:,} answers" in read.text


def test_the_page_begins_with_all_new_facts_the_surest_first(read):
    data = json.loads(read.scripts[0])["facts"]["facts-1"]
    probabilities = [row[3] for row in data["rows"]]
    assert len(probabilities) == 90 and probabilities == sorted(probabilities, reverse=True)
    assert sum(row[4] == DECISIONS.index(ACCEPTED) for row in data["rows"]) == 72
    ids = [given["id"] for tag, given in read.tags if tag in ("header", "section")]
    assert ids[:3] == ["summary", "facts-1", "runs"] and ids[-1] == "training"
    assert [row[1][1] for row in read.tables["few-1"][1:]] == pytest.approx(
        [(90 - place) / 91 for place in range(FEW)]
    )
    assert any("in 3 of 4 such cases" in said for row in data["rows"] for said in row[5])


def test_the_facts_of_each_relation_are_counted(read):
    counts = {row[0][0]: values(row)[1:3] for row in read.tables["found-1"][1:]}
    assert counts == {last_part(relation): [24, 6] for relation in RELATIONS}


def test_what_a_file_does_not_say_is_not_claimed(read, facts):
    expected = sum((place + 1) / 91 for place in range(90) if place % 5)
    assert "72 new facts for" in read.text and "at least" not in read.text.partition("Decisions")[0]
    assert f"about {expected:.0f} of the 72 accepted facts are right." in read.text
    assert f"Read from {facts}, which does not say which run made them." in read.text


def test_facts_stand_beside_the_run_that_made_them(hostile_runs, tmp_path):
    """Those that `complete` left in a run's folder; not those of weights that are gone."""
    name, folder = next(iter(hostile_runs.items()))
    mine = tmp_path / folder.name
    shutil.copytree(folder, mine)
    run = assent.load_run(mine)
    found = assent.complete(run, 0.02, missing=20, review_above=0.001)
    keep_completion(found, run, mine)
    read = Page(assent.report([mine], tmp_path / "page.html").read_text(encoding="utf-8"))
    rows = json.loads(read.scripts[0])["facts"]["facts-1"]["rows"]
    assert len(rows) == len(found) and sum(
        row[4] != DECISIONS.index(REVIEW) for row in rows
    ) == len(found.accepted)
    assert found.rehearsed.assumption in read.text and f"Made by the run {name}." in read.text
    assert len(found.accepted)
    share = math.floor(100 * found.accepted.probabilities.mean() + 1e-9)
    assert f"at least {share}\u00a0% of them right by estimate" in read.text
    record = json.loads((mine / "completion.json").read_text(encoding="utf-8"))
    (mine / "completion.json").write_text(json.dumps(record | {"model": "another"}))
    reseal(mine / "completion.json")
    again = Page(assent.report([mine], tmp_path / "page.html").read_text(encoding="utf-8"))
    assert json.loads(again.scripts[0])["facts"] == {}


def test_the_facts_of_two_runs_stand_one_after_the_other(hostile_runs, tmp_path):
    folders = []
    for name, folder in hostile_runs.items():
        folders.append(tmp_path / name)
        shutil.copytree(folder, folders[-1])
        run = assent.load_run(folders[-1])
        keep_completion(assent.complete(run), run, folders[-1])
    read = Page(assent.report(folders, tmp_path / "page.html").read_text(encoding="utf-8"))
    assert read.text.count("by 2 runs") == 1
    for number, name in enumerate(hostile_runs, 1):
        assert ("section", f"facts-{number}") in [
            (tag, given.get("id")) for tag, given in read.tags
        ]
        assert f"Made by the run {name}." in read.text
    assert len({given["id"] for _, given in read.tags if "id" in given}) == len(
        [given for _, given in read.tags if "id" in given]
    )


def test_without_facts_nothing_is_said_of_them(alone):
    assert "What is accepted for" in alone.text and "found-1" not in alone.tables
    assert "New facts" not in alone.text


def test_a_run_tuned_for_precision_is_headed_by_it_and_the_number_of_facts(measured, tmp_path):
    run, decider, _ = measured[0]
    decider = replace(decider, objective="precision=0.05")
    path = assent.report([run], tmp_path / "report.html", deciders=[decider])
    read = Page(path.read_text(encoding="utf-8"))
    counts = assent.evaluate(run, decider).classified.of("full")
    assert counts.accepted
    assert read.measures[:2] == [
        ("precision", counts.correct / counts.accepted),
        ("facts accepted", counts.accepted),
    ]


def test_names_cannot_become_markup(read):
    """The tags are those of the template: nothing that a name says is one."""
    assert not [tag for tag, _ in read.tags if tag in ("img", "i>", "b>", "iframe")]
    handlers = [key for _, given in read.tags for key in given if key.startswith("on")]
    assert handlers == []
    assert "<script>window.struck = 1</script>" in read.text  # as text
    assert "{{ 7 * 7 }} {% raw %}" in read.text


def test_names_cannot_hide_letters_or_turn_them_around(page):
    """Neither in what is seen at once, nor in the data that the page draws charts and facts of."""
    whole = page.read_text(encoding="utf-8")
    shown = re.sub(r"<script>.*?</script>", "", whole, flags=re.DOTALL)
    assert shown == legible(shown, kept="\n")
    assert 'r2" onclick="x⟨U+202E⟩⟨U+001B⟩' in Page(whole).text
    for path in (page.parent / "figures").iterdir():
        drawn = path.read_text(encoding="utf-8")
        assert drawn == legible(drawn, kept="\n")


def test_the_browser_may_run_two_scripts_and_fetch_nothing(read):
    data, *scripts = read.scripts
    assert len(scripts) == 2 and json.loads(data)
    (policy,) = [g["content"] for t, g in read.tags if t == "meta" and g.get("http-equiv")]
    digests = re.findall(r"'sha256-([^']+)'", policy)
    made = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts]
    assert digests == made and policy.startswith("default-src 'none'")
    outside = [value for _, given in read.tags for key, value in given.items() if key == "src"]
    assert outside == []


def test_it_is_one_small_file_and_long_names_are_cut(page):
    assert page.stat().st_size < MOST_BYTES
    assert "x" * 1000 not in page.read_text(encoding="utf-8")


def test_every_figure_is_there_as_svg_too(page, read):
    drawn = {given["data-figure"] for _, given in read.tags if "data-figure" in given}
    assert {path.stem for path in (page.parent / "figures").iterdir()} == drawn
    assert drawn == set(json.loads(read.scripts[0])["charts"])
    assert {"loss", "valid", "precision-recall", "reliability", "scores-1", "mrr-and-f1"} <= drawn
    for path in (page.parent / "figures").iterdir():
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


def test_the_same_runs_give_the_same_bytes(page, hostile_runs, facts, tmp_path):
    again = assent.report(list(hostile_runs.values()), tmp_path / "again.html", facts=facts)
    assert again.read_bytes() == page.read_bytes()


def test_a_run_without_a_folder_is_shown_with_the_decider_given(measured, tmp_path):
    run, decider, found = measured[0]
    homeless = assent.Run(run.benchmark, run.settings, run.model, run.trained)
    path = assent.report([homeless], tmp_path / "report.html", deciders=[decider])
    text = Page(path.read_text(encoding="utf-8"))
    assert dict(text.measures)["F1"] == found.f1()
    with pytest.raises(AssentError, match="has no folder with a decider"):
        assent.report([homeless], tmp_path / "report.html")


def test_what_a_user_can_mend_is_said_before_anything_is_written(hostile_runs, tmp_path):
    folder = next(iter(hostile_runs.values()))
    untuned = tmp_path / "untuned"
    small = ["train.epochs=1", "model.dim=4", "train.threads=1"]
    assent.train(folder.parent / "benchmark", "distmult", out=untuned, changes=small)
    out = tmp_path / "report.html"
    with pytest.raises(AssentError, match="0 runs"):
        assent.report([], out)
    with pytest.raises(AssentError, match="nowhere"):
        assent.report([tmp_path / "nowhere"], out)
    with pytest.raises(AssentError, match="no thresholds yet; `assent tune "):
        assent.report([untuned], out)
    told: list[str] = []
    with pytest.raises(AssentError, match="no thresholds yet; `assent tune "):
        assent.report([folder, untuned], out, progress=told.append)
    elsewhere = assent.train(toy.built(toy.crowd(1, 20, 2, 8)), "distmult", changes=small)
    with pytest.raises(AssentError, match=r"distmult: a run on another benchmark than .*; report"):
        assent.report([folder, elsewhere], out, progress=told.append)
    assert told == [], "no run is asked before all are looked at"
    with pytest.raises(AssentError, match="expected a line of `assent complete`"):
        assent.report([folder], out, facts=folder / "settings.toml")
    assert not out.exists()


def test_a_decider_that_accepts_nothing_is_shown_as_such(measured, tmp_path):
    run, decider, _ = measured[0]
    silent = replace(decider, thresholds=Thresholds.single(np.inf, len(decider.thresholds.values)))
    path = assent.report([run], tmp_path / "report.html", deciders=[silent])
    read = Page(path.read_text(encoding="utf-8"))
    assert "it accepts nothing." in read.text and "accepts nothing" in read.text
    assert {row[4][0] for row in read.tables["relations"][1:]} == {"accepts nothing"}
    assert dict(read.measures)["F1"] == 0 and "precision" not in dict(read.measures)
    assert "from its relation's floor" not in read.scripts[0]  # there is nothing to count from


def test_a_judge_is_shown_as_any_decider_with_its_threshold_as_a_probability(measured, tmp_path):
    run, *_ = measured[0]
    judge = assent.tune(run, "judge")
    path = assent.report([run], tmp_path / "report.html", deciders=[judge])
    read = Page(path.read_text(encoding="utf-8"))
    counts = assent.evaluate(run, judge).classified.of("full")
    assert values(read.tables["decisions"][1])[3] == counts.accepted
    expected = float(expit(judge.thresholds.values[0]))
    for row in read.tables["relations"][1:]:
        assert row[4][1] == pytest.approx(expected)
    samples = [row for name in queries_of(read) for row in read.tables[name]]
    lines = [row for row in samples if row[0][0] == "threshold"]
    assert lines and all(row[1][1] == pytest.approx(expected) for row in lines)


def test_each_sample_query_is_a_table_with_the_threshold_of_each_run(read, hostile_runs):
    names = queries_of(read)
    assert len(names) >= 4  # two of each kind, where there are as many
    for name in names:
        heading, *rows = read.tables[name]
        assert [text for text, _ in heading[::2]] == list(hostile_runs)
        for column in range(0, len(heading), 2):
            marks = [row[column][0] in ("threshold", "accepts nothing") for row in rows]
            assert sum(marks) == 1


def test_a_new_metric_is_shown_wherever_metrics_are(measured, tmp_path, monkeypatch):
    """Nothing but its line in the table of metrics is needed."""

    def jaccard(counts):
        return ratio(counts.correct, counts.accepted + counts.relevant - counts.correct)

    monkeypatch.setitem(METRICS, "jaccard", jaccard)
    run, decider, _ = measured[0]
    path = assent.report([run], tmp_path / "report.html", deciders=[decider])
    read, found = Page(path.read_text(encoding="utf-8")), assent.evaluate(run, decider)
    expected = jaccard(found.classified.of("full"))
    assert found.to_json()["classification"]["full"]["jaccard"] == expected
    assert dict(read.measures)["jaccard"] == expected
    for table in ("decisions", "relations"):
        assert "jaccard" in [text for text, _ in read.tables[table][0]]
    assert expected in values(read.tables["decisions"][1])
    assert "jaccard-by-subset" in json.loads(read.scripts[0])["charts"]


def test_a_new_measure_is_shown_with_its_first_numbers(measured, tmp_path, monkeypatch):
    class Queries:
        """Counts the queries."""

        def __init__(self, benchmark, split):
            self.seen = 0

        def add(self, block):
            self.seen += len(block.queries)

        def result(self, decided):
            return self

        def to_json(self):
            return {"seen": self.seen}

        def lines(self):
            return {"queries seen": float(self.seen)}

    run, decider, _ = measured[0]
    plain = assent.report([run], tmp_path / "plain.html", deciders=[decider])
    assert "further" not in Page(plain.read_text(encoding="utf-8")).tables
    monkeypatch.setitem(MEASURES, "seen", Queries)
    path = assent.report([run], tmp_path / "report.html", deciders=[decider])
    (row,) = Page(path.read_text(encoding="utf-8")).tables["further"][1:]
    assert row == [("seen", None), ("queries seen", None), (row[2][0], len(run.benchmark.test))]


def test_a_run_with_members_says_so(measured, tmp_path):
    small = ("model.dim=8", "model.members=2", "train.epochs=1", "train.threads=1")
    run = assent.train(measured[0][0].benchmark, "complex", changes=small)
    decider = assent.tune(run, "global")
    path = assent.report([run], tmp_path / "report.html", deciders=[decider])
    assert "2 x complex, 8 dimensions, one threshold" in Page(path.read_text(encoding="utf-8")).text


def test_the_command_writes_the_page_and_the_figures(hostile_runs, tmp_path, monkeypatch, capsys):
    folder = next(iter(hostile_runs.values()))
    words = ["report", str(folder), "--out", "page.html", "--figures", "drawn"]
    monkeypatch.setattr("sys.argv", ["assent", *words])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        main()
    assert not end.value.code
    assert "report: page.html (" in capsys.readouterr().out
    assert (tmp_path / "page.html").is_file() and (tmp_path / "drawn" / "loss.svg").is_file()
