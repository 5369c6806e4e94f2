"""One save and one load for all that the verbs give; reprs stay short; tables are HTML."""

import pytest

import assent
import toy
from assent.errors import ConfigError, DataError
from assent.notebook import SHOWN

TINY = ["model.dim=8", "train.epochs=2", "train.evaluate_every=2", "train.threads=1"]


@pytest.fixture(scope="module")
def run():
    benchmark = toy.built(toy.crowd(0, num_entities=60, num_relations=4, facts_each=8))
    return assent.train(benchmark, "complex", changes=TINY)


def test_what_is_saved_is_loaded_as_what_it_was(run, tmp_path):
    assent.save(run, tmp_path / "run")
    again = assent.load(tmp_path / "run")
    assert again.model.digest() == run.model.digest()
    assert again.benchmark.digest() == run.benchmark.digest() and again.trained == run.trained

    assent.save(run.benchmark, tmp_path / "benchmark")
    assert assent.load(tmp_path / "benchmark").digest() == run.benchmark.digest()

    decider = assent.tune(run)
    for path in (tmp_path / "mine.json", tmp_path / "run"):
        assent.save(decider, path, of=run)
    for path in (tmp_path / "mine.json", tmp_path / "run" / "decider.json"):
        loaded = assent.load(path, of=run)
        assert assent.evaluate(run, loaded).f1() == assent.evaluate(run, decider).f1()

    found = assent.complete(run, 0.2, refit=False, review_above=0.01)
    assent.save(found, tmp_path / "new.jsonl")
    assert len(assent.load(tmp_path / "new.jsonl")) == len(found)
    assent.save(found, tmp_path / "run", of=again)
    assert len(assent.load(tmp_path / "run" / "completion.json")) == len(found)


def test_a_review_is_opened_and_its_labels_are_saved(run, tmp_path):
    assent.save(run, tmp_path / "run")
    assent.propose(assent.load(tmp_path / "run"), least=0.001, planted=2)
    review = assent.load(tmp_path / "run" / "review")
    assent.save(review, tmp_path / "labels.tsv")
    assert (tmp_path / "labels.tsv").is_file()
    review.close()


def test_what_is_missing_is_said(run, tmp_path):
    with pytest.raises(ConfigError, match="of=run"):
        assent.save(assent.tune(run), tmp_path / "a.json")
    (tmp_path / "a.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="of=run"):
        assent.load(tmp_path / "a.json")
    (tmp_path / "a.txt").touch()
    with pytest.raises(DataError, match="cannot be loaded"):
        assent.load(tmp_path / "a.txt")
    with pytest.raises(ConfigError, match="a int cannot be saved"):
        assent.save(3, tmp_path / "b")
    with pytest.raises(DataError, match="already"):
        assent.save(run, tmp_path)


def test_reprs_are_short(run):
    decider = assent.tune(run)
    evaluation = assent.evaluate(run, decider)
    found = assent.complete(run, 0.5, refit=False)
    benchmark = run.benchmark
    kb = toy.crowd(0, num_entities=60, num_relations=4, facts_each=8)
    for noun in (
        run, decider, evaluation, found, found.facts, benchmark, benchmark.vocabulary,
        benchmark.valid, kb, decider.thresholds, evaluation.shortlist, benchmark.schema,
    ):  # fmt: skip
        text = repr(noun)
        assert text.startswith(type(noun).__name__) and len(text) < 400 and "\n" not in text


def test_tables_are_html_and_names_are_no_markup(run):
    decider = assent.tune(run)
    things = [run.benchmark, assent.evaluate(run, decider), assent.complete(run, 0.5, refit=False)]
    assert {type(thing).__name__ for thing in things} == {*SHOWN}
    for thing in things:
        assert assent.table(thing)._repr_html_().startswith("<table>")
        assert type(thing).__module__ == SHOWN[type(thing).__name__]
    assert "<td" in assent.table(decider, run)._repr_html_()
    assert "<td" in assent.table(assent.audit(run.benchmark))._repr_html_()
    with pytest.raises(ConfigError, match=r"table\(decider, run\)"):
        assent.table(decider)
    with pytest.raises(ConfigError, match="no table of a int"):
        assent.table(3)

    from assent.reporting.grid import Grid, texts, words

    grid = Grid("g", texts("<b>"), [[words("<script>")]], notes=["a & b"])
    assert "&lt;script&gt;" in grid._repr_html_() and "<script>" not in grid._repr_html_()
    assert "a &amp; b" in grid._repr_html_()
