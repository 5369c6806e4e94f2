"""Messages at the places where people stumble: each names what to do next."""

import os
import subprocess
import sys

import pytest

import assent
from assent import choices, settings
from assent.cli import common, helping
from assent.deciding import naming, rules
from assent.files.places import refuse_no_run

HEAVY = ("torch", "scipy", "numba", "polars")


@pytest.fixture
def benchmark(tmp_path):
    facts = "".join(f"p{n}\tknows\tp{(3 * n + k) % 40}\n" for n in range(40) for k in (1, 2))
    (tmp_path / "graph.tsv").write_text(facts, encoding="utf-8")
    assent.save(assent.build(assent.read(tmp_path / "graph.tsv")), tmp_path / "benchmark")
    return tmp_path / "benchmark"


def test_a_data_set_that_was_not_fetched_is_named_with_the_command(say, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSENT_DATA", str(tmp_path))
    line = "assent: fb15k-237: not fetched yet; `assent data fetch fb15k-237` gets it"
    for words in (["build"], ["train", "--model", "complex"]):
        code, _, complained = say(*words, "fb15k-237", "--out", tmp_path / "new")
        assert code == 2 and complained.splitlines()[-1] == line
    assert not list(tmp_path.iterdir())


def test_what_is_no_run_is_refused_before_anything_is_loaded(tmp_path):
    program = (
        "import sys; from assent.cli import main\n"
        f"sys.argv = ['assent', 'tune', {str(tmp_path)!r}]\n"
        "try: main()\n"
        "except SystemExit as end: code = end.code\n"
        f"print(code, [name for name in {HEAVY} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "2 []\n"
    assert done.stderr == (
        f"assent: {tmp_path}: not a run, for it has no settings.toml; "
        "`assent train BENCHMARK --out RUN` makes one\n"
    )


def test_a_benchmark_in_the_place_of_a_run_is_told_as_one(benchmark, tmp_path):
    with pytest.raises(assent.AssentError, match=r"a benchmark, not a run; `assent train .*bench"):
        assent.load_run(benchmark)
    with pytest.raises(assent.AssentError, match="no such folder; `assent train"):
        refuse_no_run(tmp_path / "nowhere")


def test_a_place_that_is_taken_names_the_option_that_replaces_it(say, benchmark, tmp_path):
    build = ("build", tmp_path / "graph.tsv", "--out")
    assert "or give --overwrite" in say(*build, benchmark)[2]
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "cat.jpg").touch()
    for option in ((), ("--overwrite",)):  # which would not help here
        complained = say(*build, tmp_path / "photos", *option)[2]
        assert "is something else; choose another place" in complained
        assert "--overwrite" not in complained


def test_a_device_that_is_not_there_is_one_line_and_no_folder(say, benchmark, tmp_path):
    words = ("train", benchmark, "--model", "complex", "--out", tmp_path / "run")
    code, printed, complained = say(*words, "--device", "gpu9")
    assert (code, printed, complained.count("\n")) == (2, "", 1)
    assert "train.device = 'gpu9' cannot be used here" in complained
    assert not (tmp_path / "run").exists()


def test_a_training_that_measured_nothing_says_so_and_what_it_lacks(say, benchmark, tmp_path):
    short = ("--set", "train.epochs=1", "--set", "train.threads=1", "--set", "model.dim=4")
    never = ("--set", "train.evaluate_every=0")
    words = ("train", benchmark, "--model", "distmult", "--out", tmp_path / "run")
    code, printed, _ = say(*words, *short, *never)
    assert code == 0 and "nan" not in printed
    assert "1 epoch; how good it is was not measured on valid" in printed
    code, _, complained = say("report", tmp_path / "run", "--out", tmp_path / "page.html")
    assert code == 2 and f"`assent tune {tmp_path / 'run'}` finds them" in complained


# Names, in help and in the shell


def test_names_known_at_once_are_those_of_the_tables():
    assert choices.model_names() == settings.model_names()
    assert tuple(naming.RULE_NAMES) == tuple(rules.RULES) == naming.rule_names()


@pytest.mark.parametrize("words", ["train --help", "tune --help", "search --help"])
def test_help_does_not_wait_for_torch(words):
    program = (
        "import sys; from assent.cli import main\n"
        f"sys.argv = ['assent', *{words.split()!r}]\n"
        "try: main()\n"
        "finally: print([name for name in ('torch', 'numba', 'scipy') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.endswith("[]\n"), done.stderr


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("assent train x --model trans", ["transa", "transe", "transh", "transr"]),
        (
            "assent tune run --rule p",
            ["paper-global", "paper-relation", "per-relation", "precision"],
        ),
        ("assent data fetch w", ["wn18rr", "world"]),
        ("assent train w", ["wn18rr", "words/", "world"]),
        ("assent build words/o", ["words/one.tsv"]),
        ("assent train x --preset p", ["paper"]),
    ],
)
def test_the_shell_completes_names(line, names, tmp_path):
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "one.tsv").touch()
    told = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from assent.cli.common import app\nimport assent.cli\napp(prog_name='assent')",
        ],
        env={**os.environ, "_ASSENT_COMPLETE": "complete_bash", **told},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=60,
    )
    assert sorted(done.stdout.split()) == names, done.stderr


def test_help_names_values_in_words_and_no_type_of_python(say):
    for command in common.app.registered_commands:
        name = command.name or command.callback.__name__
        code, printed, _ = say(name, "--help")
        assert code == 0 and not [line for line in printed.splitlines() if "<" in line], name
        assert "{" not in printed.split("\n\n")[0], name
    assert "RUN..." in say("report", "--help")[1] and "KEY=VALUE" in say("train", "--help")[1]


@pytest.mark.parametrize(("word", "command"), common.OTHER_WORDS.items())
def test_a_word_for_what_another_command_does_leads_to_it(say, word, command):
    code, _, complained = say(word, "run")
    assert code == 2 and complained.startswith(
        f"assent: unknown command '{word}'; did you mean '{command}'? (see assent --help)"
    )
    names = {one.name or one.callback.__name__ for one in common.app.registered_commands}
    assert command in names and word not in names


def test_every_table_that_help_names_is_there():
    assert all(helping.names_of(word) for word in helping.TABLES)


# Python


def test_an_older_python_is_told_in_one_line():
    program = "import sys; sys.version_info = (3, 9, 2); sys.version = '3.9.2 old'; import assent"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    last = done.stderr.splitlines()[-1]
    assert last == "ImportError: assent needs Python 3.11 or later; this is 3.9.2"


def test_no_output_takes_the_place_of_a_file_of_a_run_or_a_benchmark(say, benchmark, tmp_path):
    run = tmp_path / "run"
    small = ["train.epochs=1", "model.dim=4", "train.threads=1"]
    assent.train(benchmark, "distmult", out=run, changes=small)
    assert say("tune", run)[0] == 0
    weights, train = run / "model.safetensors", benchmark / "train.tsv"
    before = weights.read_bytes(), train.read_bytes()
    for words in (
        ("tune", run, "--out", weights),
        ("tune", run, "--out", train),
        ("evaluate", run, "--decisions", weights),
        ("report", run, "--out", train),
        ("convert", tmp_path / "graph.tsv", "--out", train),
        ("complete", run, "--overwrite", "--out", train),
    ):
        code, _, complained = say(*words)
        assert code == 2 and "is a file of the run or benchmark in" in complained
    assert (weights.read_bytes(), train.read_bytes()) == before


@pytest.mark.parametrize("command", ["train", "tune", "evaluate", "complete"])
@pytest.mark.parametrize("count", [0, -1, 100_000])
def test_numbers_of_processes_that_cannot_be_are_refused_before_torch(tmp_path, command, count):
    (tmp_path / "settings.toml").touch()
    words = [command, str(tmp_path), f"--workers={count}"]
    words += ["--model", "complex", "--out", "x"] if command == "train" else []
    script = (
        "import sys; from assent.cli import main\n"
        "try: main()\n"
        "finally: print('torch' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False
    )
    limit = "at most" if count > 0 else "choose 1 or more"
    assert ended.returncode == 2 and f"assent: --workers {count}" in ended.stderr, ended
    assert limit in ended.stderr and ended.stdout == "False\n"
