"""A user's graph, from Turtle to N-Triples that load into a graph store."""

import json
import os
import shutil
import signal

import pyoxigraph as ox
import pytest
import torch

import assent
import toy
from assent.completing import by_query
from assent.completing.asking import relations_named
from assent.core.vocabulary import Vocabulary
from assent.files.fact_lines import read_facts
from assent.files.facts import WRITERS
from assent.files.places import COMPLETION, FACTS
from assent.verbs.complete import OVER
from assent.verbs.deciders import save_decider

SMALL = ["model.dim=16", "train.epochs=15", "train.batch_size=32", "train.threads=1"]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("user")
    (folder / "graph.ttl").write_text(toy.turtle(), encoding="utf-8")
    benchmark = assent.build(assent.read(folder / "graph.ttl"), removed=0, seed=1)
    assent.save(benchmark, folder / "benchmark")
    run = assent.train(folder / "benchmark", "complex", out=folder / "run", changes=SMALL)
    decider = assent.tune(run, "global")
    save_decider(decider, folder / "run", benchmark)
    yield folder / "run"
    torch.set_num_threads(before)


def test_a_turtle_file_is_completed_into_a_graph_store(say, run_folder, tmp_path):
    new, doubtful = tmp_path / "new.nt", tmp_path / "doubtful.nt"
    code, printed, _ = say("complete", run_folder, "--out", new, "--review", doubtful)
    assert code == 0 and f"accepted: {new}" in printed and "to review" in printed
    store = ox.Store()
    store.load(path=str(run_folder.parent / "graph.ttl"), format=ox.RdfFormat.TURTLE)
    before = len(store)
    added = len(new.read_text().splitlines())
    store.load(path=str(new), format=ox.RdfFormat.N_TRIPLES)
    assert added > 0 and len(store) == before + added  # each of them is new
    assert all(quad.predicate.value.startswith(toy.HOME) for quad in store)


def test_python_and_the_command_find_the_same(say, run_folder, tmp_path):
    path = tmp_path / "new.jsonl"
    assert say("complete", run_folder, "--out", path)[0] == 0
    written = [json.loads(line) for line in path.read_text().splitlines()]
    found = assent.complete(assent.load_run(run_folder))
    assert json.loads(json.dumps(list(found))) == written
    assert found.table.height == len(written) == len(found)
    assert all(row["decision"] == "accepted" for row in written)


def test_the_most_probable_are_kept(run_folder):
    whole = assent.complete(assent.load_run(run_folder), review_above=0.3).table
    few = assent.complete(assent.load_run(run_folder), review_above=0.3, max_facts=3).table
    for decision in ("accepted", "review"):
        mine = whole.filter(decision=decision)["probability"].sort(descending=True)
        kept = few.filter(decision=decision)["probability"].sort(descending=True)
        assert len(kept) == min(3, len(mine)) and mine[:3].to_list() == kept.to_list()
    assert len(few) < len(whole)


def test_a_promise_accepts_no_more_than_it_can(say, run_folder, tmp_path):
    path = tmp_path / "new.tsv"
    code, printed, _ = say(
        "complete", run_folder, "--precision", 0.9, "--over", "valid", "--out", path
    )
    assert code == 0 and path.exists() and "facts accepted" in printed


def test_a_rehearsal_says_what_was_found_again_and_what_it_rests_on(say, run_folder, tmp_path):
    path = tmp_path / "new.jsonl"
    code, printed, _ = say("complete", run_folder, "--precision", 0.02, "--out", path)
    words = " ".join(printed.split())
    assert code == 0 and "were accepted again" in words
    assert "right, by estimate" in words and "found again" in words
    found = assent.complete(assent.load_run(run_folder), 0.02)
    assert found.rehearsed.assumption in words
    facts = read_facts(path)
    assert len(facts) and facts.accepted.all() and facts.probabilities.mean() >= 0.02


def test_a_precision_that_nothing_reaches_accepts_nothing(say, run_folder, tmp_path):
    path = tmp_path / "new.nt"
    code, printed, _ = say("complete", run_folder, "--precision", 0.999, "--out", path)
    assert code == 0 and path.read_text() == ""
    assert "no facts are so probable" in " ".join(printed.split())


def test_stopped_leaves_whole_relations_under_a_name_that_says_so(
    say, run_folder, tmp_path, monkeypatch
):
    scored = by_query.score

    def interrupted(scorer, queries, known):
        if queries.relations[0] == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return scored(scorer, queries, known)

    monkeypatch.setattr(by_query, "score", interrupted)
    path = tmp_path / "new.tsv"
    code, _, complained = say("complete", run_folder, "--out", path)
    assert code == 130 and "2 of 4 relations" in " ".join(complained.split())
    assert [file.name for file in tmp_path.iterdir()] == ["new.partial.tsv"]
    lines = (tmp_path / "new.partial.tsv").read_text().splitlines()
    relations = {line.split("\t")[1] for line in lines}
    names = assent.load_run(run_folder).benchmark.vocabulary.relations
    assert relations <= {"relation", *names[:2]}


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--out", "new.csv"), "choose from .tsv"),
        (("--out", "new.nt", "--relations", f"{toy.HOME}know"), f"did you mean '{toy.HOME}knows'"),
        (("--out", "new.nt", "--max-facts", "0"), "choose 1 or more"),
        (("--out", "new.nt", "--review", "r.nt", "--review-above", "2"), "at most 1"),
        (("--out", "new.nt", "--precision", "1.5"), "precision"),
        (("--out", "new.nt", "--anchors", "nowhere.txt"), "nowhere.txt"),
    ],
)
def test_what_a_user_can_mend_ends_in_one_line(say, run_folder, tmp_path, words, complaint):
    code, _, complained = say("complete", run_folder, *words)
    assert code == 2 and complaint in " ".join(complained.split())
    assert "Traceback" not in complained


def test_a_precision_and_a_decider_are_one_too_many(run_folder):
    run = assent.load_run(run_folder)
    with pytest.raises(assent.AssentError, match="not both"):
        assent.complete(run, 0.5, over="valid", decider=assent.tune(run, "global"))


def test_help_names_every_format_and_every_population(say):
    _, printed, _ = say("complete", "--help")
    assert all(word in printed for word in (*WRITERS, *OVER))


def test_files_that_are_there_are_replaced_only_if_asked(say, run_folder, tmp_path):
    new, doubtful, refused = (tmp_path / name for name in ("new.kgx", "r.tsv", "refused.tsv"))
    words = ("complete", run_folder, "--out", new, "--review", doubtful, "--refused", refused)
    for there in ("new_edges.tsv", "r.tsv", "refused.tsv"):
        (tmp_path / there).write_text("mine")
        code, _, complained = say(*words)
        assert code == 2 and f"{tmp_path / there}: is there already" in complained
        assert [path.name for path in tmp_path.iterdir()] == [there]
        (tmp_path / there).unlink()
    assert say(*words)[0] == 0
    assert say(*words)[0] == 2
    assert say(*words, "--overwrite")[0] == 0
    assert assent.read(tmp_path / "new_edges.tsv").facts.shape[1] == 3


def test_a_place_that_cannot_be_written_is_noticed_before_any_work(say, run_folder, tmp_path):
    (tmp_path / "file").write_text("")
    damaged = shutil.copytree(run_folder, tmp_path / "run")
    (damaged / "model.safetensors").write_bytes(b"")  # whoever loads the run says so
    for place in ("file/new.tsv", "."):
        code, _, complained = say("complete", damaged, "--out", tmp_path / place)
        assert code == 2 and str(tmp_path / place) in complained
        assert "model.safetensors" not in complained


@pytest.mark.parametrize("part", ["--relations", "--anchors", "--max-facts"])
def test_a_part_leaves_what_the_run_keeps_as_it_was(say, run_folder, tmp_path, part):
    assert say("complete", run_folder, "--out", tmp_path / "all.jsonl")[0] == 0
    kept = (run_folder / FACTS).read_bytes(), (run_folder / COMPLETION).read_bytes()
    (tmp_path / "anchors.txt").write_text(f"{toy.HOME}person3\n")
    wanted = {
        "--relations": f"{toy.HOME}knows",
        "--anchors": tmp_path / "anchors.txt",
        "--max-facts": 1,
    }[part]
    code, printed, _ = say("complete", run_folder, "--out", tmp_path / "few.jsonl", part, wanted)
    assert code == 0 and "what the run's folder keeps for reports stays as it was" in printed
    few, everything = (
        len((tmp_path / f"{n}.jsonl").read_text().splitlines()) for n in ("few", "all")
    )
    assert few < everything
    assert kept == ((run_folder / FACTS).read_bytes(), (run_folder / COMPLETION).read_bytes())


def test_quickstatements_of_other_ids_than_wikidatas_are_refused(say, run_folder, tmp_path):
    code, _, complained = say("complete", run_folder, "--out", tmp_path / "new.qs")
    assert code == 2 and "none of Wikidata's" in " ".join(complained.split())


def test_relations_go_by_name_or_label_with_commas_between_them():
    names = Vocabulary(("a",), ("P1", "P2", "P3"), (), ("spoken, written", "child", "sibling"))
    assert relations_named(["spoken, written"], names) == [0]
    assert relations_named(["P3,child"], names) == [1, 2]
    assert relations_named(["sibling", "P1"], names) == [0, 2]
    with pytest.raises(assent.AssentError, match="did you mean 'child'"):
        relations_named(["P1, chid"], names)


@pytest.mark.parametrize("option", ["--review", "--refused"])
def test_one_file_cannot_hold_two_kinds_of_facts(say, run_folder, tmp_path, option):
    same = tmp_path / "sub" / ".." / "new.tsv"
    (tmp_path / "sub").mkdir()
    code, _, complaint = say(
        "complete", run_folder, "--precision", 0.3, "--out", tmp_path / "new.tsv", option, same
    )
    assert code == 2 and "one file cannot hold two kinds of facts" in complaint
    assert not (tmp_path / "new.tsv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "x.tsv", "--graph", "http://e.org/g"], "--graph: is for .trig and a SPARQL"),
        (["--out", "x.trig", "--graph", "not an iri"], "graph 'not an iri': is no IRI"),
        (["--out", "x.nt", "--triple-terms"], "--triple-terms: is for .ttl and .trig"),
        (["--out", "x.ttl", "--spreadsheet-safe"], "--spreadsheet-safe: is for .tsv"),
        (["--out", "x.tsv", "--review-above", "0.3"], "--review-above: belongs to --review"),
    ],
)
def test_options_that_would_do_nothing_are_refused(say, run_folder, monkeypatch, words, said):
    monkeypatch.chdir(run_folder)
    code, _, err = say("complete", run_folder, *words)
    assert code == 2 and said in err


def test_a_number_of_answers_below_none_is_refused(say, run_folder):
    fact = ("a", "b", "c")
    for words, said in (
        (("explain", run_folder, *fact, "--most", "0"), "--most 0; choose 1 or more"),
        (("ask", run_folder, *fact[:2], "--most", "-1"), "--most -1; choose 0 or more"),
        (("diff", run_folder, run_folder, "--most", "-1"), "--most -1; choose 0 or more"),
    ):
        code, _, err = say(*words)
        assert code == 2 and err == f"assent: {said}\n"


def test_one_run_is_not_heard_twice(say, run_folder):
    words = ("tune", run_folder, "--rule", "judge", "--with", "x", "--with", "./x")
    code, _, err = say(*words)
    assert code == 2 and "--with: names one run twice" in err
