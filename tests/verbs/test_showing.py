"""Verbs show their progress where a person watches, and nowhere else."""

import io
import os
import pty
import subprocess
import sys
import types
from pathlib import Path

import pytest

import assent
import toy
from assent.cli import main
from assent.reporting import progress, showing

TINY = ["model.dim=4", "train.epochs=2", "train.evaluate_every=1", "train.threads=1"]


class Screen(io.StringIO):
    """A terminal that remembers."""

    def isatty(self):
        return True


@pytest.fixture
def screen(monkeypatch):
    """Puts a terminal in place of sys.stderr; called by the test, as pytest puts its own before."""

    def put():
        monkeypatch.setenv("TERM", "xterm")
        for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(sys, "stderr", screen := Screen())
        return screen

    return put


@pytest.fixture
def notebook(monkeypatch):
    """The same for a kernel: sys.stderr is no terminal, but what goes there is seen."""

    def put():
        kernel = types.SimpleNamespace(kernel=object())
        ipython = types.SimpleNamespace(get_ipython=lambda: kernel)
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setattr(sys, "stderr", shown := io.StringIO())
        return shown

    return put


def seen(shown):
    """What was shown since it was last looked at."""
    text = shown.getvalue()
    shown.seek(0)
    shown.truncate()
    return text


@pytest.fixture(scope="module")
def benchmark():
    return toy.built(toy.crowd(0, num_entities=40, num_relations=3, facts_each=6))


@pytest.fixture(scope="module")
def run(benchmark):
    return assent.train(benchmark, "complex", changes=TINY)


def verbs(run, folder, **options):
    """Each verb and what it shows on a terminal."""
    kb = toy.crowd(1, num_entities=40, num_relations=3, facts_each=6)
    decider = assent.tune(run, rule="global", progress=False)
    assent.save(run.benchmark, folder / "benchmark")
    assent.write(kb, folder / "more.tsv")
    quick = ["model.dim=4", "train.epochs=1", "train.evaluate_every=1", "train.threads=1"]
    return {
        "dealing into valid and test": lambda: assent.build(kb, **options),
        "on valid after epoch 2": lambda: assent.train(
            run.benchmark, "complex", changes=TINY, **options
        ),
        "learning what changed": lambda: assent.update(run, folder / "more.tsv", **options),
        "training 0:": lambda: assent.search(
            folder / "benchmark", "distmult", out=folder / "s", trials=1, changes=quick, **options
        ),
        "drawing": lambda: assent.report(
            [run], folder / "page.html", deciders=[decider], **options
        ),
        "scoring": lambda: (
            assent.tune(run, **options),
            assent.evaluate(run, decider, **options),
            assent.complete(run, 0.5, refit=False, **options),
        ),
    }


def test_on_a_terminal_every_verb_shows_its_progress(run, tmp_path, screen):
    shown = screen()
    for words, verb in verbs(run, tmp_path).items():
        seen(shown)
        verb()
        assert words in seen(shown)


def test_progress_false_shows_nothing_on_a_terminal_either(run, tmp_path, screen):
    shown = screen()
    for verb in verbs(run, tmp_path, progress=False).values():
        verb()
    assert seen(shown) == ""


def test_where_nobody_watches_nothing_is_shown(run, tmp_path, capsys):
    for verb in verbs(run, tmp_path).values():
        verb()
    assert capsys.readouterr() == ("", "")


def test_a_notebook_gets_lines_that_it_can_keep(run, tmp_path, notebook, monkeypatch):
    monkeypatch.setattr(progress, "PAUSE", 0.0)
    shown = notebook()
    for words, verb in verbs(run, tmp_path).items():
        verb()
        lines = seen(shown)
        assert (" queries, about " if words == "scoring" else words) in lines
        assert "\x1b" not in lines and "\r" not in lines


def test_a_callable_is_told_in_place_of_a_display(run, screen):
    shown, told = screen(), []
    assent.evaluate(run, assent.tune(run, progress=False), progress=lambda *now: told.append(now))
    kb = toy.crowd(0, num_entities=40, num_relations=3, facts_each=6)
    assent.build(kb, progress=told.append)
    assert told[0][0] <= told[0][1] and "asking queries" in told
    assert seen(shown) == ""


def test_a_final_fit_and_the_queries_after_it_are_shown_one_after_the_other(run, screen):
    shown = screen()
    assent.complete(run, 0.5, refit=True)
    text = seen(shown)
    assert 0 < text.index("steps an epoch") < text.index("scoring")


def test_a_verb_within_a_verb_shows_nothing_of_its_own(run, screen):
    shown = screen()
    with showing.only_here() as first:
        assent.tune(run)
    assert first and seen(shown) == ""
    with pytest.raises(ZeroDivisionError), showing.shown(True, progress.steps):
        raise ZeroDivisionError
    seen(shown)
    assent.tune(run)
    assert "scoring" in seen(shown)  # an error before it leaves nothing locked


def test_a_quiet_command_stays_quiet_on_a_terminal(run, tmp_path, screen, monkeypatch):
    assent.save(run, tmp_path / "run")
    words = ["complete", tmp_path / "run", "--precision", 0.5, "--out", tmp_path / "new.jsonl"]
    words = ["assent", *map(str, words), "--overwrite"]
    for more, quiet in ((["--quiet"], True), (["--quiet"], True), ([], False)):
        monkeypatch.setattr(sys, "argv", words + more)
        shown = screen()
        with pytest.raises(SystemExit):
            main()
        assert (seen(shown) == "") == quiet


SCRIPT = """
import assent, toy
assent.build(toy.crowd(0, num_entities=40, num_relations=3, facts_each=6))
"""


def test_a_script_on_a_real_terminal_shows_a_spinner_and_in_a_pipe_nothing():
    paths = [str(Path(toy.__file__).parent), *(path for path in sys.path if path)]
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(paths)}
    ours, theirs = pty.openpty()
    try:
        command = [sys.executable, "-c", SCRIPT]
        subprocess.run(command, env=environment, stderr=theirs, check=True, timeout=100)
        text = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert "dealing into valid and test" in text
    piped = subprocess.run(command, env=environment, capture_output=True, check=True, timeout=100)
    assert piped.stdout == piped.stderr == b""
