"""A completion that was stopped, or split into parts, gives the same bytes in the end."""

import json

import pytest

import assent
import toy
from assent.completing import proposing
from assent.errors import ConfigError
from assent.files.places import COMPLETING
from assent.verbs.complete import prepare

SMALL = ["model.dim=16", "train.epochs=20", "train.threads=1"]
PRECISION = 0.02


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    (folder / "graph.ttl").write_text(toy.turtle(), encoding="utf-8")
    assent.save(assent.build(folder / "graph.ttl", seed=1), folder / "benchmark")
    return assent.train(folder / "benchmark", "complex", out=folder / "run", changes=SMALL)


@pytest.fixture(scope="module", params=[False, True], ids=["first fit", "final fit"])
def refit(request):
    return request.param


@pytest.fixture(scope="module")
def alone(run, refit):
    """What a completion gives that is neither stopped nor split."""
    found = lines(assent.complete(run, PRECISION, refit=refit))
    assert found and not (run.folder / COMPLETING).exists()
    return found


def lines(completion):
    assert completion.finished
    return [json.dumps(fact) for fact in completion]


def asking(monkeypatch, most=10**9):
    """The relations that are asked about from now on; more than so many end in an error."""
    asked, score = [], proposing.score

    def counted(scorer, queries, known):
        asked.append(int(queries.relations[0]))
        assert len(asked) <= most
        return score(scorer, queries, known)

    monkeypatch.setattr(proposing, "score", counted)
    return asked


def test_parts_join_to_the_same_bytes_and_nothing_is_asked_again(run, refit, alone, monkeypatch):
    asked = asking(monkeypatch)
    for number in (3, 1, 2):
        assert prepare(run, (number, 3), refit=refit)
    relations = run.benchmark.vocabulary.num_relations
    assert sorted(asked) == sorted([*range(relations)] * (1 + refit))
    asked.clear()
    assert lines(assent.complete(run, PRECISION, refit=refit)) == alone
    assert asked == [] and not (run.folder / COMPLETING).exists()


def test_what_was_stopped_goes_on_where_it_was(run, refit, alone, monkeypatch):
    stops = iter([False, False, True])
    stopped = assent.complete(run, PRECISION, refit=refit, stopping=lambda: next(stops))
    assert not stopped.finished and len(stopped) == 0
    assert len(list((run.folder / COMPLETING).iterdir())) == 2
    asked = asking(monkeypatch)
    assert lines(assent.complete(run, PRECISION, refit=refit)) == alone
    assert len(asked) == run.benchmark.vocabulary.num_relations * (1 + refit) - 2


def test_what_was_kept_for_other_options_is_asked_again(run, monkeypatch):
    assert prepare(run, (1, 1), refit=False, symmetric=False)
    asked = asking(monkeypatch)
    assent.complete(run, PRECISION, refit=False)
    assert len(asked) == run.benchmark.vocabulary.num_relations


@pytest.mark.parametrize("part", [(0, 3), (4, 3), (1, 0)])
def test_a_part_that_is_none_is_refused(run, part):
    with pytest.raises(ConfigError, match="part"):
        prepare(run, part)


def test_the_command_takes_parts(say, run, tmp_path):
    words = ("complete", run.folder, "--no-refit")
    for part in ("1/2", "2/2"):
        code, printed, complained = say(*words, "--part", part)
        assert code == 0 and f"part {part} is kept" in printed, complained
    assert say(*words, "--precision", PRECISION, "--out", tmp_path / "new.tsv")[0] == 0
    assert (tmp_path / "new.tsv").exists() and not (run.folder / COMPLETING).exists()
    for wrong in (("--part", "x"), ("--part", "1/2", "--out", tmp_path / "b.tsv"), ()):
        assert say(*words, *wrong)[0] == 2
