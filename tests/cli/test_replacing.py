"""A command that replaces what it wrote before, without being asked, replaces nothing else."""

import pytest

GRAPH = "".join(f"p{i}\tknows\tp{(i * 7 + 1) % 20}\np{i}\tin\tc{i % 3}\n" for i in range(20))


SMALL = ("--set", "train.epochs=2", "--set", "model.dim=4", "--threads", "1")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    from typer.testing import CliRunner

    from assent.cli import app

    folder = tmp_path_factory.mktemp("replacing")
    (folder / "graph.tsv").write_text(GRAPH)
    for words in (
        ["build", f"{folder}/graph.tsv", "--out", f"{folder}/benchmark"],
        ["train", f"{folder}/benchmark", "--model", "distmult", "--out", f"{folder}/run", *SMALL],
        ["tune", f"{folder}/run", "--rule", "global"],
    ):
        assert CliRunner().invoke(app, words).exit_code == 0
    return folder / "run"


WRITING = [
    ("tune {run} --rule global --out", "x.json"),
    ("report {run} --out", "x.html"),
    ("evaluate {run} --decisions", "x.tsv"),
]


@pytest.mark.parametrize(("words", "name"), WRITING)
def test_a_file_that_is_something_else_stays(say, run, tmp_path, words, name):
    path = tmp_path / name
    path.write_text(GRAPH)
    code, _, err = say(*words.format(run=run).split(), str(path))
    assert code == 2
    assert err.endswith(f"{path}: is there already, and is something else; choose another place\n")
    assert path.read_text() == GRAPH


@pytest.mark.parametrize(("words", "name"), WRITING)
def test_what_the_same_command_wrote_is_replaced(say, run, tmp_path, words, name):
    path = tmp_path / name
    (tmp_path / name).touch()  # an empty file is nothing to lose
    for _ in range(2):
        code, _, err = say(*words.format(run=run).split(), str(path))
        assert code == 0, err


def test_the_trees_of_a_judge_replace_no_other_arrays(say, run, tmp_path):
    (tmp_path / "judge.npz").write_bytes(b"scores")
    code, _, err = say("tune", str(run), "--rule", "judge", "--out", str(tmp_path / "judge.json"))
    assert code == 2 and "judge.npz: is there already, and is something else" in err
    assert (tmp_path / "judge.npz").read_bytes() == b"scores"


def test_a_judge_killed_between_its_two_files_is_made_by_the_same_command(say, run, tmp_path):
    words = ["tune", run, "--rule", "judge", "--out", tmp_path / "judge.json"]
    assert say(*words)[0] == 0
    whole = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    (tmp_path / "judge.json").unlink()  # the trees come first
    code, _, err = say(*words)
    assert code == 0, err
    assert whole == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
