"""Whatever goes wrong ends in one line, and whatever is shown commands no terminal."""

import os
import subprocess
import sys

import pytest

import assent
from assent.cli import OUR_FAULT, common
from assent.reporting.door import Door

GRAPH = "".join(f"p{i}\tknows\tp{(i * 7 + 1) % 20}\np{i}\tin\tc{i % 3}\n" for i in range(20))


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.tsv"
    path.write_text(GRAPH)
    return path


def raising(error):
    def command():
        raise error

    return command


def one_line(text):
    return text.endswith("\n") and text.count("\n") == 1 and text.startswith("assent: ")


def test_an_error_that_nobody_expected_asks_for_a_report_with_a_saved_log(
    say, monkeypatch, tmp_path
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("assent.cli.app", raising(ZeroDivisionError("by\nzero")))
    code, out, err = say("audit")
    (log,) = tmp_path.glob("assent-*.log")
    assert code == OUR_FAULT == 70
    assert one_line(err) and "ZeroDivisionError: by" in err and str(log) in err and not out
    assert "Traceback" in log.read_text()


def test_debug_shows_the_traceback_wherever_it_stands(say):
    for words in (("audit", "nowhere", "--debug"), ("--debug", "audit", "nowhere")):
        code, _, err = say(*words)
        assert code == 2 and "Traceback" in err
        assert "nowhere: no such file" in err.splitlines()[-1]


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "assent: stopped"),
        (MemoryError(), 2, "assent: not enough memory"),
        (OSError(28, "No space left on device", "x.tsv"), 2, "assent: x.tsv: No space left"),
    ],
)
def test_known_errors_of_the_machine_have_their_own_words(error, code, line, say, monkeypatch):
    monkeypatch.setattr("assent.cli.app", raising(error))
    found, _, err = say("audit")
    assert found == code and one_line(err) and err.startswith(line)


CALLS = [  # what is said, what is found, whose help is named
    ("complete r --precision 90%", "--precision '90%': expected a number, as in 0.9", "complete "),
    ("complete r --max-facts=", "--max-facts '': expected a whole number, as in 10", "complete "),
    (
        "complete r --precison .9",
        "complete: unknown option --precison; did you mean --precision?",
        "complete ",
    ),
    ("complete r -x", "complete: unknown option -x; leave it out", "complete "),
    ("complete", "complete: RUN is missing", "complete "),
    ("train b", "train: --model is missing", "train "),
    ("train b --model", "train: --model has no value; expected one after it", "train "),
    (
        "data list --json=1",
        "data list: --json takes no value; leave out what follows the =",
        "data list ",
    ),
    (
        "data list more",
        "data list: found 'more' beside what it takes; expected no argument",
        "data list ",
    ),
    ("data lits", "unknown command 'lits'; did you mean 'list'?", "data "),
    ("trian b", "unknown command 'trian'; did you mean 'train'?", ""),
    ("--foo", "unknown option --foo; leave it out", ""),
]


@pytest.mark.parametrize(("call", "line", "command"), CALLS)
def test_a_wrong_call_is_told_in_one_line_with_what_is_right(call, line, command, say, tmp_path):
    (tmp_path / "settings.toml").touch()  # what makes a folder a run
    code, printed, told = say(*(tmp_path if word == "r" else word for word in call.split()))
    assert (code, printed, told) == (2, "", f"assent: {line} (see assent {command}--help)\n")


# Sends itself Ctrl-C when a module is first looked for, then runs a command.
STOPPING = """
import os, signal, sys
stopping = {"at": sys.argv.pop(1)}
class Finder:
    def find_spec(self, name, *_):
        if name == stopping.get("at"):
            del stopping["at"]
            os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
from assent.__main__ import main
main()
"""


@pytest.mark.parametrize(
    "module", ["assent.cli", "typer", "assent.cli.train", "assent.verbs.build"]
)
def test_ctrl_c_in_the_first_second_is_one_line(module, graph, tmp_path):
    words = [
        sys.executable,
        "-c",
        STOPPING,
        module,
        "build",
        str(graph),
        "--out",
        str(tmp_path / "b"),
    ]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.returncode == 130 and "Traceback" not in ended.stderr
    assert ended.stderr.splitlines()[-1] == "assent: stopped"
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    "change",
    [
        "model.dim=1000000000",
        "model.dim=4611686018427387904",
        "model.members=1000000",
        "train.seed=9223372036854775808",
        "train.threads=2147483648",
        "train.epochs=1" + "0" * 400,
        "train.n3=1e400",
        "train.device=foo",
        "model=" + "[" * 5000,
    ],
)
def test_settings_that_no_machine_can_have_are_refused_in_one_line(change, say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--model", "distmult", "--out", tmp_path / "run", "--set", change)
    code, _, err = say("train", tmp_path / "b", *words)
    assert code == 2 and one_line(err)
    assert not (tmp_path / "run").exists()


def test_metrics_that_no_machine_can_hold_are_refused_before_they_are_made(say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--model", "transa", "--out", tmp_path / "run", "--set", "model.dim=1000000")
    code, _, err = say("train", tmp_path / "b", *words)
    assert code == 2 and one_line(err) and "choose a smaller model.dim" in err
    assert not (tmp_path / "run").exists()


def test_settings_nested_deeply_are_refused_in_one_line(say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    file = tmp_path / "deep.toml"
    file.write_text("x = " + "[" * 5000)
    words = ("--model", "distmult", "--out", tmp_path / "run", "--settings", file)
    code, _, err = say("train", tmp_path / "b", *words)
    assert code == 2 and one_line(err)


@pytest.mark.parametrize("place", ["file", "below", "dangling/x", "loop/x", "x" * 300])
def test_a_place_that_cannot_be_written_is_refused_in_one_line(place, say, graph, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to(tmp_path / "file" / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    place = "file/x" if place == "below" else place
    code, _, err = say("build", graph, "--out", tmp_path / place)
    assert code == 2 and one_line(err.splitlines(keepends=True)[-1])


def test_a_link_that_leads_to_itself_is_refused_by_every_command_that_writes(say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--set", "model.dim=2", "--set", "train.epochs=1", "--threads", "1")
    say("train", tmp_path / "b", "--model", "distmult", "--out", tmp_path / "run", *words)
    for suffix in ("", ".tsv", ".html", ".zip"):
        (tmp_path / f"loop{suffix}").symlink_to(tmp_path / f"loop{suffix}")
    run, loop = tmp_path / "run", tmp_path / "loop"
    for said in (
        ("train", tmp_path / "b", "--model", "distmult", "--out", loop, *words),
        ("complete", run, "--out", f"{loop}.tsv"),
        ("report", run, "--out", f"{loop}.html"),
        ("pack", run, "--out", f"{loop}.zip"),
        ("evaluate", loop),
        ("convert", f"{loop}.tsv", "--out", tmp_path / "x.tsv"),
    ):
        code, _, err = say(*said)
        last = err.splitlines(keepends=True)[-1]
        assert code == 2 and one_line(last) and "fault of assent" not in last, said


@pytest.mark.parametrize("text", ["model = 'x'", "model = 3", "train = []", "[model]\nname = 3"])
def test_settings_of_a_run_of_the_wrong_kind_are_refused_in_one_line(text, say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--set", "model.dim=2", "--set", "train.epochs=1", "--threads", "1")
    say("train", tmp_path / "b", "--model", "distmult", "--out", tmp_path / "run", *words)
    (tmp_path / "run" / "settings.toml").write_text(text)
    for command in ("evaluate", "tune", "verify"):
        code, _, err = say(command, tmp_path / "run", *(["--rule", "global"] * (command == "tune")))
        assert code in (1, 2) and "fault of assent" not in err


def test_a_number_of_removed_entities_with_5000_digits_is_refused(say, graph, tmp_path):
    code, _, err = say("build", graph, "--out", tmp_path / "b", "--removed", "9" * 5000)
    assert code == 2 and one_line(err.splitlines(keepends=True)[-1])


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_not_read(kind, say, tmp_path):
    path = tmp_path / "graph.tsv"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("/dev/zero")
    code, _, err = say("convert", path, "--out", tmp_path / "x.nt")
    assert code == 2 and one_line(err)


def test_names_are_shown_as_text_in_sentences_tables_and_errors(say, tmp_path, capsys):
    hostile = ["[/]", "[part_of]", "\x1b[2Jgone", "\u202eback", "[red]x[/red]"]
    rows = [f"{a}\t{r}\t{b}\n" for a in hostile for b in hostile for r in hostile if a != b]
    path = tmp_path / "graph.tsv"
    path.write_text("".join(rows), encoding="utf-8")
    code, out, err = say("build", path, "--out", tmp_path / "b")
    assert code == 0
    code, out, err = say("audit", tmp_path / "b")
    assert code == 0 and "\x1b" not in out + err and "\u202e" not in out + err
    code, out, err = say("audit", tmp_path / "[/]\x1b[2J")
    assert code == 2 and "[/]⟨U+001B⟩[2J" in err


def test_the_door_shows_markup_and_controls_in_everything(capsys):
    from rich.table import Table

    door = Door(file=sys.stdout)
    table = Table("[/]")
    table.add_row("[part_of]\x1b[31m")
    door.print(table)
    door.print("[/] \x9b2J", style="red")
    shown = capsys.readouterr().out
    assert "[part_of]⟨U+001B⟩[31m" in shown and "[/] ⟨U+009B⟩2J" in shown
    assert isinstance(common.out, Door) and isinstance(common.err, Door)


def test_a_balance_whose_square_vanishes_is_refused(say):
    from assent.deciding.objectives import objective
    from assent.errors import ConfigError

    for text in ("f1e200", "f1e-200", "fnan", "finf"):
        with pytest.raises(ConfigError, match="objective"):
            objective(text)


@pytest.mark.parametrize(
    "row", ["hub\thas\tleaf{0}\n", "leaf{0}\tin\thub\n", "a{0}\tr{0}\tb{0}\n", "a{0}\tr\tb{0}\n"]
)
def test_a_graph_that_no_split_can_be_made_of_says_truly_why(row, say, tmp_path):
    path = tmp_path / "star.tsv"
    path.write_text("".join(row.format(i) for i in range(300)))
    code, _, err = say("build", path, "--out", tmp_path / "b")
    assert code == 2 and "are the only one of an entity or of a relation" in err


def test_more_candidates_than_memory_are_refused_with_their_number(
    say, graph, tmp_path, monkeypatch
):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--set", "model.dim=2", "--set", "train.epochs=1", "--threads", "1")
    say("train", tmp_path / "b", "--model", "distmult", "--out", tmp_path / "run", *words)
    say("tune", tmp_path / "run", "--rule", "paper-global")
    monkeypatch.setattr("assent.deciding.shortlisting.memory", lambda: 0)
    code, _, err = say("evaluate", tmp_path / "run")
    last = err.splitlines(keepends=True)[-1]
    assert code == 2 and one_line(last) and "too many candidates pass their thresholds" in last
    out = ("--out", tmp_path / "n.tsv", "--review", tmp_path / "v.tsv", "--review-above", "1e-9")
    code, _, err = say("complete", tmp_path / "run", *out, "--no-refit")
    last = err.splitlines(keepends=True)[-1]
    assert code == 2 and one_line(last) and "memory" in last


def test_false_facts_of_which_none_can_be_used_give_no_numbers(say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--set", "model.dim=2", "--set", "train.epochs=1", "--threads", "1")
    say("train", tmp_path / "b", "--model", "distmult", "--out", tmp_path / "run", *words)
    false = tmp_path / "false.tsv"
    false.write_text("nobody\tknows\tnothing\n")
    code, out, err = say("triples", tmp_path / "run", false, false)
    assert code == 2 and "no false fact can be used (1 unknown names" in err and not out


def test_a_read_only_parent_is_refused_in_one_line(say, graph, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)  # rights do not bind those who run as root
    code, _, err = say("build", graph, "--out", tmp_path / "b")
    last = err.splitlines(keepends=True)[-1]
    assert code == 2 and one_line(last) and "b: cannot be written: Permission denied" in last


def test_a_disk_that_is_full_when_a_training_begins_leaves_no_folder(
    say, graph, tmp_path, monkeypatch
):
    def full(*_):
        raise OSError(28, "No space left on device")

    say("build", graph, "--out", tmp_path / "b")
    words = ("--set", "model.dim=2", "--set", "train.epochs=1", "--threads", "1")
    said = ("train", tmp_path / "b", "--model", "distmult", "--out", tmp_path / "run", *words)
    with monkeypatch.context() as patch:
        patch.setattr("assent.files.runs.write_names", full)
        code, _, err = say(*said)
    assert code == 2 and one_line(err) and "No space left on device" in err
    assert not (tmp_path / "run").exists()
    assert say(*said)[0] == 0


def test_a_trace_that_cannot_be_written_is_refused_in_one_line(say, graph, tmp_path):
    say("build", graph, "--out", tmp_path / "b")
    words = ("--set", "model.dim=2", "--set", "train.epochs=1", "--threads", "1")
    said = ("train", tmp_path / "b", "--model", "distmult", "--out", tmp_path / "run", *words)
    say(*said)
    (tmp_path / "run" / "model.safetensors").unlink()
    (tmp_path / "run" / "trace.jsonl").unlink()
    (tmp_path / "run" / "trace.jsonl").mkdir()
    code, _, err = say(*said)
    last = err.splitlines(keepends=True)[-1]
    assert code == 2 and one_line(last) and "trace.jsonl: is a folder" in last


def test_a_literal_of_17_mb_is_read_or_refused_in_one_line(say, tmp_path):
    path = tmp_path / "kb.nt"
    path.write_text(f'<urn:a> <urn:r> "{"x" * (17 << 20)}" .\n<urn:a> <urn:r> <urn:b> .\n')
    code, _, err = say("convert", path, "--out", tmp_path / "kb.tsv", "--keep-literals")
    assert code == 0 or (code == 2 and one_line(err.splitlines(keepends=True)[-1]))
    assert len(err) < 1000


@pytest.mark.parametrize("suffix", [".tsv", ".nt", ".parquet"])
def test_names_over_255_bytes_are_names_like_others(suffix, say, tmp_path):
    path = tmp_path / "kb.tsv"
    path.write_text(f"{'é' * 200}\tin\t{'x' * 5000}\n")
    assert say("convert", path, "--out", tmp_path / f"out{suffix}")[0] == 0
    assert assent.read(tmp_path / f"out{suffix}").vocabulary.entities == ("x" * 5000, "é" * 200)


def test_many_relations_of_one_fact_each_end_in_one_line_that_helps(say, tmp_path):
    path = tmp_path / "kb.tsv"
    path.write_text("".join(f"a{i}\tr{i}\tb{i}\n" for i in range(3000)))
    code, _, err = say("build", path, "--out", tmp_path / "b")
    last = err.splitlines(keepends=True)[-1]
    assert code == 2 and one_line(last) and "too small a graph" in last
    assert "give facts that say more about the same entities" in last
