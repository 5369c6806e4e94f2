"""What a command is started with: streams that are closed, full or know no letters; odd bytes."""

import os
import subprocess
import sys

import pytest

GRAPH = "bærum\tin\tnorge\n"
ASCII = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": ""}


@pytest.fixture
def started(tmp_path):
    """Runs `assent ARGUMENTS` by a shell, in a folder with a graph; returns how it ended."""
    (tmp_path / "graph.tsv").write_text(GRAPH, encoding="utf-8")

    def start(words, **environment):
        line = f"{sys.executable} -m assent {words}"
        return subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env={**os.environ, **environment},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return start


@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_harm_nothing_and_no_file_takes_their_numbers(started, tmp_path, closed):
    ended = started(f"convert graph.tsv --out copy.tsv {closed}")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert (tmp_path / "copy.tsv").read_text(encoding="utf-8") == GRAPH


def test_an_error_that_nobody_can_hear_has_its_exit_code(started):
    assert started("convert nowhere.tsv --out copy.tsv 2> /dev/full").returncode == 2


def test_letters_that_a_terminal_cannot_show_are_spelt(started, tmp_path):
    ended = started("convert graph.tsv --out x[æ].nt", PYTHONIOENCODING="ascii")
    assert ended.returncode == 0
    assert r"facts: x[\xe6].nt" in ended.stdout
    assert (tmp_path / "x[æ].nt").exists()


@pytest.mark.parametrize(
    ("words", "environment"),
    [(r"convert graph.tsv --out $'x\xff.tsv'", {}), ("convert graph.tsv --out æ.tsv", ASCII)],
)
def test_words_that_are_no_text_are_refused_in_one_line(started, tmp_path, words, environment):
    ended = started(words, **environment)
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert "bytes that are no text in" in ended.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["graph.tsv"]


def test_a_folder_of_work_that_is_gone_is_told_in_one_line(started):
    for leave in ("mkdir d; cd d; rmdir ../d", r"mkdir $'x\xff'; cd $'x\xff'"):
        ended = started(f"--version; {leave}; {sys.executable} -m assent build g.tsv --out b")
        assert ended.returncode == 2 and ended.stderr.count("\n") == 1
        assert ended.stderr.startswith("assent: the folder that this was said in ")


def test_without_docstrings_all_works_that_draws_no_chart(started, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "settings.toml").touch()
    ended = started("report run --out r.html", PYTHONOPTIMIZE="2")
    assert ended.returncode == 2 and ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("assent: PYTHONOPTIMIZE=2 (or python -OO) removes docstrings")
    facts = "".join(f"p{n}\tknows\tp{(3 * n + k) % 40}\n" for n in range(40) for k in (1, 2))
    (tmp_path / "graph.tsv").write_text(facts, encoding="utf-8")
    ended = started("build graph.tsv --out b", PYTHONOPTIMIZE="2")
    assert ended.returncode == 0 and "benchmark: b" in ended.stdout
