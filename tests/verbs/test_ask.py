"""Asking one query gives what completing all of them gives."""

import json
import shutil

import numpy as np
import pytest

import assent
import toy
from assent.completing.evidence import Explainer
from assent.core.new_facts import Evidence
from assent.core.vocabulary import Vocabulary
from assent.errors import AssentError, ConfigError, DataError
from assent.files.considered import read_considered
from assent.files.places import COMPLETION, CONSIDERED, REVIEWING
from assent.reviewing.labels import Labels
from assent.reviewing.proposals import LABELS, key_of
from assent.verbs.completions import keep_completion
from assent.verbs.deciders import model_of, save_decider

SMALL = ["model.dim=16", "train.epochs=30", "train.threads=1"]
PRECISION = 0.02


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("asked")
    (folder / "graph.ttl").write_text(toy.turtle(), encoding="utf-8")
    benchmark = assent.build(assent.read(folder / "graph.ttl"), seed=1)
    assent.save(benchmark, folder / "benchmark")
    return assent.train(folder / "benchmark", "complex", out=folder / "run", changes=SMALL)


@pytest.fixture(scope="module", params=[False, True], ids=["first fit", "final fit"])
def completed(run, request):
    """A completion of all relations, kept in the run's folder."""
    found = assent.complete(run, PRECISION, refit=request.param)
    keep_completion(found, run, run.folder)
    return found


def accepted_by_asking(run, names, precision=None):
    """Every query about every entity, from both ends; facts by name."""
    found = [set(), set()]
    for relation in names.relations:
        for entity in names.entities:
            tails = assent.ask(run, entity, relation, precision=precision, most=0)
            heads = assent.ask(run, "?", relation, entity, precision=precision, most=0)
            found[0] |= {(entity, relation, answer.name) for answer in tails.accepted}
            found[1] |= {(answer.name, relation, entity) for answer in heads.accepted}
    return found


def by_name(completion):
    return {(fact["head"], fact["relation"], fact["tail"]) for fact in completion}


@pytest.mark.parametrize("precision", [PRECISION, 0.01])
def test_asking_accepts_what_completing_accepts(run, completed, precision, monkeypatch):
    monkeypatch.setattr(Explainer, "of", lambda self, facts, most=3: Evidence.nothing(len(facts)))
    names = run.benchmark.vocabulary
    refit = completed.vocabulary.num_entities > names.num_entities
    whole = assent.complete(run, precision, refit=refit)
    expected = by_name(whole)
    assert expected and all(fact["decision"] == "accepted" for fact in whole)
    tails, heads = accepted_by_asking(run, whole.vocabulary, precision)
    assert tails == heads == expected


def test_known_answers_and_reasons_are_told(run, completed):
    names = completed.vocabulary
    head, relation, tail = (int(end) for end in run.benchmark.train[0])
    asked = names.entities[head], names.relations[relation]
    found = assent.ask(run, *asked)
    assert (names.entities[tail], names.entity(tail)) in found.known
    assert names.entities[tail] not in {answer.name for answer in found.rejected}
    assert found.precision == PRECISION and found.threshold > 0
    assert all(answer.why for answer in found.rejected)
    assert not any(answer.why for answer in found.accepted)
    sure = [answer.probability for answer in found.rejected]
    assert sure == sorted(sure, reverse=True)
    plain = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert plain["known"] and plain["notes"]


def test_an_answer_that_is_not_accepted_says_why(run, completed):
    found = assent.ask(run, *_any_query(completed), precision=0.999999)
    assert found.accepted == () and found.rejected
    assert found.rejected[0].why == "no fact of this relation is accepted at this precision"
    names = completed.vocabulary
    precision = float(np.quantile(completed.facts.probabilities, 0.9))
    asked = [
        assent.ask(run, name, relation, precision=precision, most=100)
        for name in names.entities[::3]
        for relation in names.relations
    ]
    below = [
        (answer.probability, found.threshold)
        for found in asked
        for answer in found.rejected
        if "more probable than" in answer.why
    ]
    assert below and all(probability <= threshold for probability, threshold in below)


def _any_query(completion):
    head, relation, _ = sorted(by_name(completion))[0]
    return head, relation


def test_without_a_kept_completion_all_queries_are_asked_once(run, tmp_path):
    kept = run.folder / CONSIDERED
    for name in (COMPLETION, CONSIDERED):
        (run.folder / name).unlink(missing_ok=True)
    names = run.benchmark.vocabulary
    query = names.entities[0], names.relations[0]
    first = assent.ask(run, *query, precision=PRECISION)
    assert kept.exists() and "asked now" in first.notes[0]
    again = assent.ask(run, *query, precision=PRECISION)
    assert "all queries were asked before" in again.notes[0]
    with pytest.raises(ConfigError, match="give a precision"):  # no completion, so no precision
        assent.ask(run, *query)
    assert (first.accepted, first.rejected, first.threshold) == (
        again.accepted, again.rejected, again.threshold
    )  # fmt: skip


def test_without_precision_or_completion_the_decider_decides(run):
    (run.folder / CONSIDERED).unlink(missing_ok=True)
    names = run.benchmark.vocabulary
    with pytest.raises(ConfigError, match="give a precision"):
        assent.ask(run, names.entities[0], names.relations[0])
    save_decider(assent.tune(run, "global"), run.folder, run.benchmark)
    whole = assent.complete(run)
    for head, relation, tail in sorted(by_name(whole))[:5]:
        assert tail in {a.name for a in assent.ask(run, head, relation).accepted}
        assert head in {a.name for a in assent.ask(run, None, relation, tail).accepted}
    (run.folder / "decider.json").unlink()


def test_a_record_of_another_model_does_not_count_and_a_broken_one_is_named(run, completed):
    names = [completed.vocabulary]
    assert read_considered(run.folder, names, "another") is None
    assert read_considered(run.folder, [toy.vocabulary_of(2, 1)], model_of(run)) is None
    path = run.folder / CONSIDERED
    whole = path.read_bytes()
    for broken in (b"", whole[: len(whole) // 2], b"PK" + whole[2:200]):
        path.write_bytes(broken)
        with pytest.raises(DataError, match=CONSIDERED):
            read_considered(run.folder, names, model_of(run))
    path.write_bytes(whole)


@pytest.mark.parametrize("ends", [("?", "?"), (None, None), ("a", "b")])
def test_one_end_is_asked_for(run, ends):
    with pytest.raises(AssentError, match="give a head or a tail"):
        assent.ask(run, ends[0], "r", ends[1])


def test_an_entity_that_is_named_like_the_end_asked_for_can_be_asked_about(tmp_path):
    lines = [f"p{n}\tknows\tp{(n * 7 + 1) % 30}" for n in range(30)]
    lines += [f"{name}\tknows\tp{n}" for name in "?_" for n in (1, 2, 3)]
    (tmp_path / "graph.tsv").write_text("\n".join(lines) + "\n")
    run = assent.train(
        assent.build(assent.read(tmp_path / "graph.tsv"), removed=0, seed=1),
        "complex", changes=["model.dim=4", "train.epochs=1", "train.threads=1"],
    )  # fmt: skip
    for name in "?_":
        found = assent.ask(run, f"\\{name}", "knows", precision=0.5)
        assert found.query.startswith(name) and len(found.known) >= 1
        assert assent.ask(run, "?", "knows", f"\\{name}", precision=0.5).query.endswith(name)
    with pytest.raises(ConfigError, match=r"named \? or _ is written"):
        assent.ask(run, "_", "knows", precision=0.5)


def test_the_command_says_the_same(say, run, completed):
    head, relation = _any_query(completed)
    found = assent.ask(run, head, relation)
    code, printed, _ = say("ask", run.folder, head, relation, "_")
    assert code == 0 and printed.startswith(found.query)
    assert all(f"  {answer.label}" in printed for answer in found.accepted)
    code, printed, _ = say("ask", run.folder, head, relation, "--json")
    assert code == 0 and json.loads(printed) == found.to_json()


def test_a_label_that_several_have_is_the_one_that_fits():
    labels = Vocabulary(("c1", "m1", "c2"), ("r",), ("India", "India", "Oslo"), ("r",))
    assert labels.entity_named("India", np.array([False, True, True])) == 1
    with pytest.raises(DataError, match="several have this label"):
        labels.entity_named("India")
    with pytest.raises(DataError, match="close to it: Oslo"):
        labels.entity_named("Olso")


def test_the_last_part_of_an_address_is_a_name_if_only_one_has_it():
    names = Vocabulary(("http://x.org/Oslo", "http://x.org/a#Rome", "http://y.org/Rome"), ("r",))
    assert names.entity_named("Oslo") == 0 and names.entity_named("http://y.org/Rome") == 2
    assert names.entity_named("Rome", np.array([True, False, True])) == 2
    with pytest.raises(DataError, match="several have this label"):
        names.entity_named("Rome")


def test_what_people_said_counts(run, completed):
    head, relation, tail = sorted(by_name(completed))[0]
    path = run.folder / REVIEWING / LABELS
    path.parent.mkdir(exist_ok=True)
    try:
        with Labels(path) as labels:
            labels.add(key_of(head, relation, tail), "wrong", "ann", chosen="probable")
        found = assent.ask(run, head, relation, most=1000)
        assert tail not in {answer.name for answer in found.accepted}
        (answer,) = [answer for answer in found.rejected if answer.name == tail]
        assert answer.why == "a person called it wrong"
        other = next((answer.name for answer in found.rejected if answer.name != tail), None)
        assert other is not None
        with Labels(path) as labels:
            labels.add(key_of(head, relation, other), "right", "ann", chosen="probable")
        assert other in {a.name for a in assent.ask(run, head, relation, precision=0.9999).accepted}
    finally:
        shutil.rmtree(path.parent)


@pytest.fixture(scope="module")
def lawful_run(tmp_path_factory):
    """The same graph, which states that citizenships are single, and of countries."""
    folder = tmp_path_factory.mktemp("lawful")
    stated = """@prefix owl: <http://www.w3.org/2002/07/owl#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :citizen_of a owl:FunctionalProperty ; rdfs:range :Country .
        :Town a rdfs:Class . :Country a rdfs:Class . """
    stated += " ".join(f":country{n} a :Country ." for n in range(4))
    stated += " ".join(f":town{n} a :Town ." for n in range(12))
    (folder / "graph.ttl").write_text(toy.turtle() + stated, encoding="utf-8")
    benchmark = assent.build(assent.read(folder / "graph.ttl"), seed=1)
    assent.save(benchmark, folder / "benchmark")
    run = assent.train(folder / "benchmark", "complex", out=folder / "run", changes=SMALL)
    save_decider(assent.tune(run, "global"), run.folder, run.benchmark)
    return run


@pytest.mark.parametrize("precision", [None, PRECISION], ids=["by decider", "by rehearsal"])
def test_what_the_schema_refuses_is_told_as_that(lawful_run, precision):
    names = lawful_run.benchmark.vocabulary
    relation = names.relation_named(toy.HOME + "citizen_of")
    head, _, tail = next(f for f in lawful_run.benchmark.train.tolist() if f[1] == relation)
    person, country = names.entities[head], names.entities[tail]
    one = f"{names.entity(head).rpartition('/')[2]} is a citizen of {country.rpartition('/')[2]}"
    said = f"{one} already, and the schema allows only one"
    asked = assent.ask(lawful_run, person, toy.HOME + "citizen_of", precision=precision, most=99)
    assert not asked.accepted and f"nothing is accepted: {said}" in asked.notes
    towns = [answer for answer in asked.rejected if "/town" in answer.name]
    assert all("is a country, which" in answer.why for answer in towns)
    others = [answer for answer in asked.rejected if "/country" in answer.name]
    assert all(answer.why == said for answer in others)
    if precision is not None:
        assert towns or others


def test_explaining_a_fact_that_the_schema_refuses_says_so(say, lawful_run):
    names = lawful_run.benchmark.vocabulary
    home, relation = toy.HOME, names.relation_named(toy.HOME + "citizen_of")
    head, _, tail = next(f for f in lawful_run.benchmark.train.tolist() if f[1] == relation)
    other = next(
        f"{home}country{n}" for n in range(4) if f"{home}country{n}" != names.entities[tail]
    )
    asked = names.entities[head], home + "citizen_of"
    (sentence,) = assent.explain(lawful_run, *asked, other).refused
    assert sentence.endswith("already, and the schema allows only one")
    town = assent.explain(lawful_run, *asked, home + "town1")
    assert "the schema says that the tail of “citizen of” is a country, which town1 is not" in (
        town.refused
    )
    assert assent.explain(lawful_run, *asked, names.entities[tail]).refused == ()
    code, printed, _ = say("explain", lawful_run.folder, *asked, other)
    assert code == 0 and f"! {sentence}" in " ".join(printed.split())
    code, printed, _ = say("explain", lawful_run.folder, *asked, other, "--json")
    assert json.loads(printed)["refused"] == [sentence]
