"""A run of rules is a run like any other."""

import pytest

import assent
import toy
from assent.errors import ConfigError, DataError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    graph = toy.crowd(3, num_entities=40, num_relations=3, facts_each=8)
    assent.save(assent.build(graph, seed=1), folder / "benchmark")
    return assent.train(folder / "benchmark", "rules", out=folder / "run")


def test_a_run_of_rules_is_counted_saved_tuned_and_evaluated(run):
    again = assent.load_run(run.folder)
    assert again.model.digest() == run.model.digest()
    assert again.trained.epochs == 1 and len(again.trained.scores) == 1
    found = assent.evaluate(again, assent.tune(again, rule="global"))
    assert 0 <= found.f1("full") <= 1


def test_its_rules_can_be_read_and_given_to_another_run(run, tmp_path):
    file = run.folder / "rules.tsv"
    assert len(file.read_text(encoding="utf-8").splitlines()) == len(run.model.rules)
    benchmark = run.folder.parent / "benchmark"
    other = assent.train(benchmark, "rules", out=tmp_path / "b", changes=[f"model.file={file}"])
    assert len(other.model.rules) == len(run.model.rules)
    assert other.trained.scores == run.trained.scores


def test_a_fact_is_explained_by_name_and_an_unknown_name_is_refused(run):
    names = run.benchmark.vocabulary
    head, relation, tail = run.benchmark.train[0]
    asked = names.entities[head], names.relations[relation], names.entities[tail]
    assert assent.explain(run, *asked).known
    with pytest.raises(DataError, match="'nobody': no entity"):
        assent.explain(run, "nobody", *asked[1:])


def test_settings_of_other_models_are_refused(run, tmp_path):
    with pytest.raises(ConfigError, match=r"model\.dim"):
        assent.train(run.benchmark, "rules", changes=["model.dim=8"])


@pytest.mark.parametrize("prior", ["0", "-1", "nan", "inf"])
def test_rules_cannot_be_certain(run, prior):
    with pytest.raises(ConfigError):
        assent.train(run.benchmark, "rules", changes=[f"model.prior={prior}"])


def test_mining_that_was_cut_says_so(run, tmp_path):
    cut = assent.train(
        run.benchmark, "rules", out=tmp_path / "cut", changes=["model.minutes=0.000001"]
    )
    assert cut.trained.cut_after is not None
    assert '"event": "cut"' in (tmp_path / "cut" / "trace.jsonl").read_text(encoding="utf-8")


def test_a_judge_does_not_hear_its_own_run_twice(run):
    with pytest.raises(ConfigError, match="hears each model once"):
        assent.tune(run, "judge", others={"itself": run})


def test_a_file_without_rules_is_refused(run, tmp_path):
    (tmp_path / "none.tsv").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match=r"none\.tsv: no rule in it"):
        assent.train(run.benchmark, "rules", changes=[f"model.file={tmp_path / 'none.tsv'}"])
