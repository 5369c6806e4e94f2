"""Runs of the model text: what they read, refuse, keep, and what a judge hears of them."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import assent
import toy
from assent.core.texts import Texts
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.settings import resolve, texts_for
from assent.verbs.refit import refit
from assent.verbs.removed import removed_named

QUICK = ("model.dim=8", "train.epochs=4", "train.evaluate_every=2", "train.threads=1")
FIRST = ("Anna", "Bert", "Carl", "Dora", "Emil", "Fred")
LAST = ("Berg", "Feld", "Stein", "Bach", "Wald", "Tal", "Moor")


@pytest.fixture
def kb():
    """40 people whose names are combinations of a few; ids that say nothing."""
    graph = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    ids = tuple(f"Q{place}" for place in range(graph.vocabulary.num_entities))
    labels = tuple(f"{FIRST[place % 6]} {LAST[place % 7]}" for place in range(len(ids)))
    names = Vocabulary(ids, graph.vocabulary.relations, labels)
    return replace(graph, vocabulary=names, types=None)


@pytest.fixture
def benchmark(kb, tmp_path):
    assent.save(assent.build(kb, removed=4, seed=1), tmp_path / "benchmark")
    return tmp_path / "benchmark"


@pytest.fixture
def nameless(kb, tmp_path):
    """The same graph without labels, and its labels as a file."""
    labels = dict(zip(kb.vocabulary.entities, kb.vocabulary.entity_labels, strict=True))
    plain = replace(kb, vocabulary=replace(kb.vocabulary, entity_labels=()))
    benchmark = replace(assent.build(plain, removed=4, seed=1), types=None)
    assent.save(benchmark, tmp_path / "nameless")
    (tmp_path / "names.tsv").write_text("".join(f"{k}\t{v}\n" for k, v in labels.items()))
    return tmp_path / "nameless", tmp_path / "names.tsv"


def train(benchmark, out, *changes, **options):
    return assent.train(benchmark, "text", out=out, changes=(*QUICK, *changes), **options)


def weights(folder):
    return load_file(folder / "model.safetensors")


def test_a_run_keeps_what_it_read(nameless, tmp_path):
    folder, names = nameless
    run = train(folder, tmp_path / "run", f"model.names={json.dumps(str(names))}")
    assert len(run.model.keys) > 20
    names.unlink()
    again = assent.load_run(tmp_path / "run")
    asked = torch.tensor([0, 5]), torch.tensor([1, 4])
    assert torch.equal(again.model.scores(*asked), run.model.scores(*asked))
    assert again.model.digest() == run.model.digest()


def test_a_graph_without_names_is_refused_in_one_line_and_leaves_no_folder(nameless, tmp_path):
    folder, _ = nameless
    with pytest.raises(DataError, match=r"text: the graph has ids such as 'Q\d+', but no names"):
        train(folder, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_of_other_names_is_refused(nameless, tmp_path):
    folder, names = nameless
    names.write_text("nobody\tNobody\n")
    with pytest.raises(DataError, match="none of its 1 names is in the graph"):
        train(folder, tmp_path / "run", f"model.names={json.dumps(str(names))}")
    with pytest.raises(DataError, match="No such file"):
        train(folder, tmp_path / "run", "model.names=absent.tsv")


def test_an_encoder_that_is_not_on_this_disk_is_refused(benchmark, tmp_path):
    with pytest.raises(ConfigError, match=r"all-MiniLM-L6-v2.*no such folder.*nothing is download"):
        train(benchmark, tmp_path / "run", "model.encoder=all-MiniLM-L6-v2")


class StopsAfter:
    """A watcher that ends the training after so many steps."""

    def __init__(self, steps):
        self.left = steps

    def step(self, *values):
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt

    def event(self, **values): ...


@pytest.mark.parametrize("candidates", [0, 10])
def test_a_resumed_training_ends_with_the_same_bits(benchmark, tmp_path, candidates):
    changes = f"train.candidates={candidates}", "train.checkpoint_minutes=0"
    train(benchmark, tmp_path / "once", *changes)
    for steps in (3, 4):
        with pytest.raises(KeyboardInterrupt):
            train(benchmark, tmp_path / "twice", *changes, watcher=StopsAfter(steps))
    train(benchmark, tmp_path / "twice", *changes)
    once, twice = weights(tmp_path / "once"), weights(tmp_path / "twice")
    assert once.keys() == twice.keys()
    assert all(torch.equal(once[name], twice[name]) for name in once)


def test_a_judge_hears_a_text_run(benchmark, tmp_path):
    text = train(benchmark, tmp_path / "text")
    run = assent.train(benchmark, "complex", out=tmp_path / "run", changes=QUICK)
    judge = assent.tune(run, "judge", others={str(tmp_path / "text"): text})
    assert "score_1" in judge.rescorer.names
    assent.save_decider(judge, tmp_path / "run", run.benchmark)
    again = assent.load_decider(tmp_path / "run", run)
    one, two = (assent.evaluate(run, decider) for decider in (judge, again))
    assert np.array_equal(one.accepted, two.accepted)


def test_removed_entities_are_known_by_their_names(benchmark, tmp_path):
    run = train(benchmark, tmp_path / "run", "model.free=false")
    removed, known = run.benchmark.removed, run.benchmark.vocabulary.num_entities
    texts = texts_for(run.settings, removed.vocabulary, removed.types)
    wide = run.model.knowing(texts.since(known))
    assert wide.num_entities == removed.vocabulary.num_entities == known + 4
    twin = removed.vocabulary.entity_labels.index  # who has the same name has the same scores
    for place in range(known, wide.num_entities):
        first = twin(removed.vocabulary.entity_labels[place])
        scores = wide.scores(torch.tensor([place, first]), torch.tensor([0, 0]))
        torch.testing.assert_close(scores[0], scores[1])


def test_a_final_fit_reads_the_removed_entities_too(benchmark, tmp_path):
    whole = refit(train(benchmark, tmp_path / "run"))
    assert whole.model.num_entities == whole.benchmark.vocabulary.num_entities == 40
    assert len(whole.model.offsets) == 41


def test_ids_that_are_words_and_types_are_texts_enough():
    names = Vocabulary(("dog.n.01", "cat.n.01"), ("hypernym",))
    texts = texts_for(resolve("text"), names, None)
    assert isinstance(texts, Texts) and texts.names == ("dog n 01", "cat n 01")
    assert texts_for(resolve("complex"), names, None) is None


def test_what_a_run_says_of_removed_entities_is_measured(benchmark, tmp_path, say):
    run = train(benchmark, tmp_path / "run")
    decider = assent.tune(run, "global")
    assent.save_decider(decider, tmp_path / "run", run.benchmark)
    found = assent.evaluate(run, decider, "removed")
    known = run.benchmark.vocabulary.num_entities
    counts = found.shortlist.counts(found.accepted)
    new_anchor = (found.queries.anchors >= known) & found.queries.has_answers
    assert found.split == "removed" and found.vocabulary.num_entities == known + 4
    mine, same = found.classified.of("new anchor"), counts.take(new_anchor).total()
    assert (mine.correct, mine.accepted, mine.relevant) == tuple(
        getattr(same, name) for name in ("correct", "accepted", "relevant")
    )
    assert mine.relevant > 0 == found.classified.of("no answer").relevant
    assert set(found.intervals) == {"full", "new anchor", "new answers", "no answer"}
    out = tmp_path / "decisions.tsv"
    code, text, _ = say("evaluate", tmp_path / "run", "--split", "removed", "--decisions", out)
    assert code == 0 and "the answers are new" in text and "nothing was tuned on such" in text
    assert len(out.read_text().splitlines()) == found.accepted.sum()
    assert not (tmp_path / "run/metrics.json").exists()
    code, text, _ = say("evaluate", tmp_path / "run", "--split", "removed", "--json")
    assert code == 0 and json.loads(text) == json.loads(json.dumps(found.to_json()))


def test_removed_entities_are_decided_about_by_thresholds_of_a_model_that_knows_them(
    benchmark, tmp_path, say
):
    text = train(benchmark, tmp_path / "text")
    for name in ("text", "complex"):
        run = text if name == "text" else assent.train(
            benchmark, "complex", out=tmp_path / name, changes=QUICK
        )  # fmt: skip
        assent.save_decider(assent.tune(run, "global"), tmp_path / name, run.benchmark)
    code, _, told = say("evaluate", tmp_path / "complex", "--split", "removed")
    assert code == 2 and "complex: knows only the entities that it was trained on" in told
    code, _, told = say(
        "evaluate", tmp_path / "text", "--split", "removed", "--against", tmp_path / "complex"
    )
    assert code == 2 and "complex: knows only the entities" in told
    assent.save_decider(assent.tune(text, "judge"), tmp_path / "text", text.benchmark)
    code, _, told = say("evaluate", tmp_path / "text", "--split", "removed")
    assert code == 2 and "a judge decides only about entities" in told


def test_asking_about_a_removed_entity_answers_by_its_name(benchmark, tmp_path, say):
    run = train(benchmark, tmp_path / "run")
    removed, known = run.benchmark.removed, run.benchmark.vocabulary.num_entities
    names = removed.vocabulary
    head, relation, tail = next(fact for fact in removed.facts.tolist() if fact[0] >= known)
    asked = names.entities[head], names.relations[relation]
    before = assent.ask(run, *asked, most=100)
    assert names.entities[tail] in dict(before.known) and not before.accepted
    assert "not tuned on such queries" in before.notes[0]
    assert {answer.why for answer in before.rejected} <= {
        "nothing decides: the run has no thresholds"
    }
    candidates = {answer.name for answer in before.rejected}
    assert candidates and not candidates & set(dict(before.known))
    decider = assent.tune(run, "global")
    always = replace(decider, thresholds=replace(decider.thresholds, values=np.full(6, -99.0)))
    assent.save_decider(always, tmp_path / "run", run.benchmark)
    found = assent.ask(run, *asked, most=0)
    assert {answer.name for answer in found.accepted} >= candidates and not found.rejected
    sure = [answer.probability for answer in found.accepted]
    assert sure == sorted(sure, reverse=True)
    code, text, _ = say("ask", tmp_path / "run", "_", names.relations[relation], asked[0])
    assert code == 0 and "building removed" in text and "--refit` makes a fit" in text


def test_a_removed_entity_is_meant_by_a_label_that_no_known_one_has(benchmark):
    whole = assent.load(benchmark)
    known, names = whole.vocabulary.num_entities, whole.removed.vocabulary
    for place in range(known, names.num_entities):
        assert removed_named(whole, names.entities[place]) == place
        label = names.entity_labels[place]
        one = names.entity_labels.count(label) == 1
        assert removed_named(whole, label) == (place if one else None)
    assert removed_named(whole, names.entities[0]) is None
    assert removed_named(whole, "nobody") is None
