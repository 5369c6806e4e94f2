"""`kill -9` while folders get their names: nothing is lost, and the same command goes on."""

import errno
import random
import tempfile
import time

import numpy as np
import pytest

import assent
import toy
from assent.errors import DataError
from elsewhere_oracles import drawn, write_export
from said_apart import said_apart
from trained_runs import QUICK

SECONDS = 10  # that each test may spend on kills
FEWEST, MOST = 3, 40  # kills, however long or short they take


def kill_while_writing(folder, name, moment, *words):
    """Kills a command a moment after it began to write a folder; whether it had not ended."""
    process = said_apart(*words)
    try:
        deadline = time.monotonic() + 60
        while process.is_alive() and not list(folder.glob(f".{name}.*.assent.part")):
            assert time.monotonic() < deadline
            time.sleep(0.0002)
        time.sleep(moment)
        process.kill()
        process.join(60)
        return process.exitcode == -9
    finally:
        process.kill()
        process.join(60)


def moments(seed, longest):
    """Random moments, until the time is over."""
    rng, end = random.Random(seed), time.monotonic() + SECONDS
    for number in range(MOST):
        if number >= FEWEST and time.monotonic() > end:
            return
        yield number, rng.uniform(0, longest)


def litter(*folders):
    return [path for folder in folders for path in folder.glob(".*")]


@pytest.fixture
def graph(tmp_path):
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.write(kb, tmp_path / "graph.tsv")
    return tmp_path / "graph.tsv"


def test_a_benchmark_that_is_being_replaced_is_never_lost(graph, tmp_path, say):
    home = tmp_path / "home"
    build = ["build", graph, "--out", home / "benchmark", "--overwrite", "--seed"]
    digests = []
    for seed in (0, 1):
        code, _, err = say(*build, seed)
        assert code == 0, err
        digests.append(assent.load(home / "benchmark").digest())
    assert digests[0] != digests[1]
    killed = 0
    for number, moment in moments(1, 0.03):
        wanted = number % 2
        killed += kill_while_writing(home, "benchmark", moment, *build, wanted)
        if number % 3:  # a reader is next, or the same command
            assert assent.load(home / "benchmark").digest() in digests
        assert say(*build, wanted)[0] == 0
        assert assent.load(home / "benchmark").digest() == digests[wanted]
        assert not litter(home)
    assert killed


def test_a_training_killed_as_it_begins_goes_on(graph, tmp_path, say):
    home = tmp_path / "home"
    assent.save(assent.build(assent.read(graph)), home / "benchmark")
    changes = [word for change in QUICK for word in ("--set", change)]
    train = ["train", home / "benchmark", "--model", "complex", *changes, "--out"]
    assert say(*train, home / "unstopped")[0] == 0
    weights = (home / "unstopped" / "model.safetensors").read_bytes()
    killed = 0
    for number, moment in moments(2, 0.05):
        run = home / f"run{number}"
        killed += kill_while_writing(home, run.name, moment, *train, run)
        code, _, err = say(*train, run)
        assert code == 0, err
        assert (run / "model.safetensors").read_bytes() == weights
        assert not litter(home, run, run / "checkpoints")
        assert "wrong" not in {check.state for check in assent.verify(run)}
    assert killed


def killed_at(change, *words, **options):
    process = said_apart(*words, dies_at=change, **options)
    process.join(120)
    return process.exitcode == -9


def test_an_adoption_killed_at_any_change_leaves_no_run_or_a_whole_one(graph, tmp_path, say):
    home = tmp_path / "home"
    benchmark = assent.build(assent.read(graph))
    assent.save(benchmark, home / "benchmark")
    names = benchmark.vocabulary
    document = {
        "model": "DistMult", "inverses": False, "norm": 2, "complex": [],
        "entities": {name: place for place, name in enumerate(names.entities)},
        "relations": {name: place for place, name in enumerate(names.relations)},
    }  # fmt: skip
    rng = np.random.default_rng(0)
    tables = {"entities": drawn(rng, names.num_entities, 4)}
    tables["relations"] = drawn(rng, names.num_relations, 4)
    write_export(tmp_path / "export", document, tables)
    adopt = ["adopt", tmp_path / "export", "--benchmark", home / "benchmark", "--out"]
    killed = 0
    for change in range(1, 60, 4):
        run = home / f"run{change}"
        killed += killed_at(change, *adopt, run)
        code, _, err = say(*adopt, run)
        assert code == 0 or "is there already" in err
        assert not litter(home, run)
        assert assent.load_run(run).settings.name == "distmult"
        assert "wrong" not in {check.state for check in assent.verify(run)}
    assert killed > 5


def test_a_benchmark_killed_between_its_renames_is_the_old_one_or_the_new(graph, tmp_path, say):
    home = tmp_path / "home"
    build = ["build", graph, "--out", home / "benchmark", "--overwrite", "--seed"]
    digests = []
    for seed in (1, 0):
        assert say(*build, seed)[0] == 0
        digests.append(assent.load(home / "benchmark").digest())
    renames = {"changes": ("rename",)}  # that fails, old one aside, new one, what is to be removed
    for change in (1, 2, 3, 4):
        assert killed_at(change, *build, 1, **renames)
        assert (home / "benchmark").exists() == (change != 3)
        assert litter(home)
        assert assent.load(home / "benchmark").digest() == digests[change < 4]
        assert say(*build, 0)[0] == 0
        assert not litter(home)
    # Of what was being removed, nothing comes back.
    assert killed_at(3, *build, 1, changes=("unlink",))
    (home / "benchmark").rename(home / "elsewhere")
    with pytest.raises(DataError, match="not a benchmark"):
        assent.load(home / "benchmark")
    assert not litter(home)


def test_an_update_killed_as_it_begins_goes_on(graph, tmp_path, say):
    home = tmp_path / "home"
    assent.save(assent.build(assent.read(graph)), home / "benchmark")
    assent.train(home / "benchmark", out=home / "run", changes=QUICK)
    names = assent.load(home / "benchmark").vocabulary
    (tmp_path / "more.tsv").write_text(f"new\t{names.relations[0]}\t{names.entities[0]}\n")
    update = ["update", home / "run", "--facts", tmp_path / "more.tsv"]
    update += ["--set", "update.epochs=1", "--out"]
    for change in range(24, 36):  # the folder of the run, and what says of which update it is
        run = home / f"updated{change}"
        assert killed_at(change, *update, run)
        code, _, err = say(*update, run)
        assert code == 0, err
        assert not litter(home, run)
        assert not (run / "updating").exists()


def test_what_a_killed_pack_or_verify_had_for_scratch_is_taken_away_by_the_next(
    graph, tmp_path, say, monkeypatch
):
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    assent.save(assent.build(assent.read(graph)), home / "benchmark")
    assent.train(home / "benchmark", out=home / "run", changes=QUICK)
    out = home / "packs" / "run.zip"
    pack = ["pack", home / "run", "--out", out, "--overwrite"]

    def left():
        return [*litter(out.parent), *temporary.glob("*assent*")]

    for command in (pack, ["verify", out]):
        before = 0
        for change in range(6, 50, 15):
            killed_at(change, *command, temporary=str(temporary))
            before += len(left())
            code, _, err = say(*command)
            assert code == 0, err
            assert not left()
        assert before > 1


@pytest.fixture
def tuned(graph, tmp_path, say):
    """A run that has completed once, and what its next completion writes."""
    run, out = tmp_path / "run", tmp_path / "out"
    small = [word for change in QUICK for word in ("--set", change)]
    for words in (
        ("build", graph, "--out", tmp_path / "benchmark"),
        ("train", tmp_path / "benchmark", "--model", "complex", "--out", run, *small),
        ("tune", run),
        ("complete", run, "--out", tmp_path / "first.nt"),
    ):
        code, _, err = say(*words)
        assert code == 0, err
    out.mkdir()
    words = ["--out", out / "new.tsv", "--review", out / "review.kgx", "--refused", out / "no.tsv"]
    return run, out, ["complete", run, *words]


@pytest.mark.parametrize("kind", [KeyboardInterrupt, OSError])
def test_a_completion_that_ends_while_files_get_their_names_can_be_said_again(
    tuned, say, monkeypatch, kind
):
    run, out, words = tuned
    replace, unlink = type(out).replace, type(out).unlink
    outputs = ["new.tsv", "review_edges.tsv", "review_nodes.tsv", "no.tsv"]
    steps = [*outputs, "facts.jsonl", "completion.json", ".naming.json"]  # the last one goes
    for number, step in enumerate(steps):

        def named(part, target, step=step):
            if target.name == step != steps[-1] and target.parent in (run, out):
                raise kind("the end")
            return replace(part, target)

        def gone(path, step=step, **options):
            if path.name == step == steps[-1]:
                raise kind("the end")
            return unlink(path, **options)

        with monkeypatch.context() as patched:
            patched.setattr(type(out), "replace", named)
            patched.setattr(type(out), "unlink", gone)
            assert say(*words)[0] != 0
        assert sorted(path.name for path in out.iterdir()) == sorted(outputs[:number])
        assert "wrong" not in {check.state for check in assent.verify(run)}
        code, _, err = say(*words)
        assert code == 0, err
        assert not litter(out, run)
        assert {check.state for check in assent.verify(run)} == {"right"}
        code, _, err = say(*words)
        assert code == 2 and "new.tsv: is there already" in err
        for path in out.iterdir():
            path.unlink()


def test_a_file_that_was_changed_since_a_command_ended_early_is_not_replaced(
    tuned, say, monkeypatch
):
    run, out, words = tuned

    def ends(part, target):
        if target == run / "facts.jsonl":
            raise KeyboardInterrupt
        return replace(part, target)

    with monkeypatch.context() as patched:
        replace = type(out).replace
        patched.setattr(type(out), "replace", ends)
        assert say(*words)[0] != 0
    (out / "new.tsv").write_text("mine\n")
    code, _, err = say(*words)
    assert code == 2 and "new.tsv: is there already" in err
    assert (out / "new.tsv").read_text() == "mine\n"


def test_a_completion_without_room_for_its_last_file_leaves_no_file(tuned, say, monkeypatch):
    """And the run keeps the completion that it had."""
    run, out, words = tuned
    before = {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()}

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("assent.files.completions.write_facts", full)
        code, _, err = say(*words)
    assert code == 2 and "facts.jsonl: cannot be written: No space left on device" in err
    assert not list(out.iterdir())
    assert {path.name: path.read_bytes() for path in run.iterdir() if path.is_file()} == before
    assert say(*words)[0] == 0
