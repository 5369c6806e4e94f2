"""An updated run is a run like any other, also where it was stopped on the way."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import assent
import toy
from assent.errors import ConfigError, DataError
from assent.verbs.deciders import save_decider

QUICK = ("model.dim=8", "train.epochs=6", "train.evaluate_every=2", "train.threads=1")


@pytest.fixture
def run(tmp_path):
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.save(toy.built(kb), tmp_path / "benchmark")
    run = assent.train(tmp_path / "benchmark", "complex", out=tmp_path / "run", changes=QUICK)
    save_decider(assent.tune(run), tmp_path / "run", run.benchmark)
    return run


@pytest.fixture
def new(run, tmp_path):
    """A file of facts about five new entities."""
    names = run.benchmark.vocabulary
    facts = [
        (f"new{number}", names.relations[number % 3], names.entities[(7 * number + step) % 30])
        for number in range(5)
        for step in range(6)
    ]
    path = tmp_path / "new.tsv"
    path.write_text("".join("\t".join(fact) + "\n" for fact in facts))
    return path


class Stops:
    """A watcher that ends the training at its third step."""

    def __init__(self):
        self.left = 3

    def step(self, *values):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

    def event(self, **values):
        pass


def test_every_verb_takes_an_updated_run(run, new, tmp_path):
    updated = assent.update(tmp_path / "run", new, out=tmp_path / "updated")
    loaded = assent.load_run(tmp_path / "updated")
    assert loaded.benchmark.digest() == updated.run.benchmark.digest()
    assert loaded.model.digest() == updated.run.model.digest()
    assert loaded.trained == run.trained  # a final fit trains as long as the first training
    assert loaded.benchmark.vocabulary.num_entities == run.benchmark.vocabulary.num_entities + 5
    decider = assent.load_decider(tmp_path / "updated", loaded)
    assert 0 <= assent.evaluate(loaded, decider).f1() <= 1
    assert len(assent.complete(loaded).facts) >= 0


def test_a_run_moves_with_its_benchmark(run, new, tmp_path):
    assent.update(tmp_path / "run", new, out=tmp_path / "updated")
    (tmp_path / "updated").rename(tmp_path / "elsewhere")
    assert assent.load_run(tmp_path / "elsewhere").benchmark.vocabulary.entities[-1] == "new4"


def test_an_update_that_was_stopped_goes_on_to_the_same_end(run, new, tmp_path, one_thread):
    whole = assent.update(tmp_path / "run", new, out=tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        assent.update(tmp_path / "run", new, out=tmp_path / "cut", watcher=Stops())
    with pytest.raises(DataError):
        assent.load_run(tmp_path / "cut")
    again = assent.update(tmp_path / "run", new, out=tmp_path / "cut")
    assert again.run.model.digest() == whole.run.model.digest()
    assert assent.load_run(tmp_path / "cut").model.digest() == whole.run.model.digest()
    once_more = assent.update(tmp_path / "run", new, out=tmp_path / "cut")  # nothing left to do
    assert once_more.run.model.digest() == whole.run.model.digest()


def test_a_folder_of_another_update_is_left_alone(run, new, tmp_path):
    assent.update(tmp_path / "run", new, out=tmp_path / "updated")
    with pytest.raises(DataError, match="another update"):
        assent.update(tmp_path / "run", new, out=tmp_path / "updated", changes=["update.epochs=2"])
    with pytest.raises(DataError, match="is no update"):
        assent.update(tmp_path / "run", new, out=tmp_path / "benchmark")


def test_a_damaged_record_of_an_update_is_found(run, new, tmp_path):
    assent.update(tmp_path / "run", new, out=tmp_path / "updated")
    assert "wrong" not in {check.state for check in assent.verify(tmp_path / "updated")}
    path = tmp_path / "updated" / "update.json"
    path.write_text(path.read_text().replace("format", "farmat"))
    assert "wrong" in {check.state for check in assent.verify(tmp_path / "updated")}


def test_facts_that_were_taken_back_can_be_proposed_again(run, tmp_path):
    names, train = run.benchmark.vocabulary, run.benchmark.train
    head, relation, tail = train[0].tolist()
    gone = tmp_path / "gone.tsv"
    fact = (names.entities[head], names.relations[relation], names.entities[tail])
    gone.write_text("\t".join(fact) + "\n")
    new = toy.of_names([("new", names.relations[0], names.entities[3])])
    updated = assent.update(run, new, gone)
    assert not updated.run.benchmark.holds(np.array([[head, relation, tail]])).any()
    assert len(updated.change.taken_back) == 1


def test_kept_thresholds_are_those_of_the_old_run(run, new, tmp_path):
    old = assent.load_decider(tmp_path / "run", run)
    kept = assent.update(tmp_path / "run", new, thresholds="kept").decider
    assert np.array_equal(kept.thresholds.values, old.thresholds.values)


def test_each_relation_of_the_new_queries_gets_a_suggestion(run, new, tmp_path):
    stale = assent.update(tmp_path / "run", new, held_out=0.5).stale
    assert stale and {one.suggestion for one in stale} <= {"keep", "tune again", "train again"}


@pytest.mark.parametrize("model", ["rules", "transa"])
def test_other_models_learn_of_new_entities_too(model, run, new, tmp_path):
    old = assent.train(run.benchmark, model, changes=() if model == "rules" else QUICK)
    updated = assent.update(old, new)
    assert updated.run.model.num_entities == run.benchmark.vocabulary.num_entities + 5
    assert 0 <= assent.evaluate(updated.run, assent.tune(updated.run)).f1() <= 1


def test_a_text_model_knows_new_entities_by_their_names():
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    named = replace(kb.vocabulary, entities=tuple(f"red house {number:02}" for number in range(40)))
    old = assent.train(toy.built(replace(kb, vocabulary=named)), "text", changes=QUICK)
    names = old.benchmark.vocabulary
    new = toy.of_names([("blue house", names.relations[0], names.entities[3])])
    updated = assent.update(old, new)
    assert updated.run.model.num_entities == names.num_entities + 1


def test_wrong_words_are_refused(run, new):
    with pytest.raises(ConfigError, match="thresholds"):
        assent.update(run, new, thresholds="old")
    with pytest.raises(ConfigError, match="section"):
        assent.update(run, new, changes=["train.epochs=3"])
    with pytest.raises(ConfigError, match="epoch"):
        assent.update(run, new, changes=["update.epoch=3"])


def test_an_empty_file_and_an_unknown_format_are_refused(run, tmp_path):
    (tmp_path / "empty.nt").touch()
    (tmp_path / "facts.xlsx").write_text("x")
    for name in ("empty.nt", "facts.xlsx", "nowhere.nt"):
        with pytest.raises(DataError, match=name):
            assent.update(run, tmp_path / name)


def test_the_command_tells_what_came_and_what_is_stale(run, new, tmp_path, say):
    code, text, _ = say("update", tmp_path / "run", "--facts", new, "--out", tmp_path / "updated")
    assert code == 0
    assert "30 new facts" in text and "5 new entities" in text and "suggestion" in text
    _, text, _ = say("diff", tmp_path / "benchmark", tmp_path / "updated/benchmark", "--json")
    document = json.loads(text)
    assert document["counts"] == {"came": 30} and document["entities"]["went"] == []


HOME = "http://example.org/"
LABELLED = f"""@prefix : <{HOME}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:newcomer a :Person ; rdfs:label "Greta Berg" ; :citizen_of :country1 ; :knows :person3 ."""


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A run of the model text on a graph with labels and types."""
    folder = tmp_path_factory.mktemp("labelled")
    first, last = ("Anna", "Bert", "Carla", "Dora"), ("Berg", "Feld", "Stein")
    stated = "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    stated += ":Person rdfs:subClassOf :Being . "
    stated += " ".join(
        f':person{n} a :Person ; rdfs:label "{first[n % 4]} {last[n % 3]}" .' for n in range(80)
    )
    (folder / "graph.ttl").write_text(toy.turtle() + stated, encoding="utf-8")
    assent.save(assent.build(assent.read(folder / "graph.ttl"), seed=1), folder / "benchmark")
    return assent.train(folder / "benchmark", "text", out=folder / "run", changes=QUICK)


def new_of(run):
    """Label and types of the only new entity."""
    benchmark = run.benchmark
    place = benchmark.vocabulary.entities.index(f"{HOME}newcomer")
    types = benchmark.types
    mine = types.entity_types[types.entity_offsets[place] : types.entity_offsets[place + 1]]
    return benchmark.vocabulary.entity(place), {types.names[kind] for kind in mine}


def written_about_new(run):
    """How many words, n-grams and types a text model hears of the newest entity."""
    return int(run.model.offsets[-1] - run.model.offsets[-2])


def test_names_and_types_of_new_entities_come_with_rdf_or_with_files(labelled, tmp_path, say):
    (tmp_path / "new.ttl").write_text(LABELLED, encoding="utf-8")
    facts = [("citizen_of", "country1"), ("knows", "person3")]
    lines = [f"{HOME}newcomer\t{HOME}{relation}\t{HOME}{tail}\n" for relation, tail in facts]
    (tmp_path / "new.tsv").write_text("".join(lines))
    (tmp_path / "names.tsv").write_text(f"{HOME}newcomer\tGreta Berg\n")
    (tmp_path / "types.json").write_text(json.dumps({f"{HOME}newcomer": [f"{HOME}Person"]}))
    by_rdf = assent.update(labelled, tmp_path / "new.ttl").run
    bare = assent.update(labelled, tmp_path / "new.tsv").run
    code, _, _ = say(
        "update", labelled.folder, "--facts", tmp_path / "new.tsv", "--out", tmp_path / "updated",
        "--entity-names", tmp_path / "names.tsv", "--types", tmp_path / "types.json",
    )  # fmt: skip
    by_files = assent.load_run(tmp_path / "updated")
    assert code == 0
    for run in (by_rdf, by_files):
        assert new_of(run) == ("Greta Berg", {f"{HOME}Person", f"{HOME}Being"})
        assert written_about_new(run) > written_about_new(bare)
    assert new_of(bare) == (f"{HOME}newcomer", set())
    assert torch.equal(by_rdf.model.features, by_files.model.features)
    found = assent.ask(by_files, "Greta Berg", "citizen_of", precision=0.5)
    assert found.query.startswith("Greta Berg")


def test_an_update_is_taken_up_with_the_same_names_only(labelled, tmp_path):
    (tmp_path / "new.tsv").write_text(f"{HOME}newcomer\t{HOME}knows\t{HOME}person3\n")
    for label in ("Greta", "Gerda"):
        (tmp_path / f"{label}.tsv").write_text(f"{HOME}newcomer\t{label} Berg\n")
    given = labelled, tmp_path / "new.tsv"
    for _ in range(2):
        assent.update(*given, entity_names=tmp_path / "Greta.tsv", out=tmp_path / "updated")
    with pytest.raises(DataError, match="another update was made"):
        assent.update(*given, entity_names=tmp_path / "Gerda.tsv", out=tmp_path / "updated")


def test_types_that_nothing_would_hear_of_are_refused(run, new, tmp_path):
    (tmp_path / "types.tsv").write_text("new0\tPerson\n")
    with pytest.raises(DataError, match="the benchmark has no types"):
        assent.update(run, new, types=tmp_path / "types.tsv")
    with pytest.raises(ConfigError, match=r"give names and types to assent\.read"):
        assent.update(run, assent.read(new), entity_names=tmp_path / "types.tsv")
