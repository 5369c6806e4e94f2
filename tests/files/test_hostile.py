"""Every input of tests/hostile is handled as its table says, or refused in the words it gives.

`PYTHONPATH=src:tests python tests/files/test_hostile.py` writes docs/hostile.md anew.
"""

import sys
from pathlib import Path

import pytest

from assent.cli import main
from assent.core.facts import KnowledgeBase
from assent.errors import DataError
from assent.files.benchmarks import load
from assent.files.triples import read, write
from toy import of_names

PROJECT = Path(__file__).resolve().parents[2]
CORPUS = PROJECT / "tests" / "hostile"
PAGE = PROJECT / "docs" / "hostile.md"
ROWS = [
    line.split("\t") for line in (CORPUS / "expected.tsv").read_text(encoding="utf-8").splitlines()
]
REFUSED = [row for row in ROWS if row[1] == "refused"]

INTRODUCTION = """\
# Hostile inputs

What assent says about inputs that are broken, odd, or meant to break it. The inputs lie in
`tests/hostile`; `{path}` stands for the path of the input. A refused input
ends with this one line and exit code 2, and nothing is written. A test reads every one of them
and compares.
"""


def found(name: str) -> tuple[str, str]:
    """What becomes of an input: handled or refused, and in what words."""
    path = CORPUS / name
    try:
        return "handled", _benchmark(path) if name.startswith("benchmarks/") else _graph(read(path))
    except DataError as error:
        return "refused", str(error).replace(str(path), "{path}")


def _graph(kb: KnowledgeBase) -> str:
    left = ", ".join(f"{count} {kind}" for kind, count in kb.source.left_out.items())
    counts = f"{len(kb.facts)} facts, {kb.source.duplicates} duplicates"
    return f"{counts}, left out: {left}" if left else counts


def _benchmark(path: Path) -> str:
    benchmark = load(path)
    queries = len(benchmark.valid) + len(benchmark.test)
    return f"{len(benchmark.train)} train facts, {queries} queries"


def page() -> str:
    """The table as a page: first what is refused, then what is handled."""
    sections = [INTRODUCTION]
    for title, outcome in (("Refused", "refused"), ("Handled", "handled")):
        rows = [f"| `{name}` | {_code(text)} |\n" for name, found, text in ROWS if found == outcome]
        sections.append(f"## {title}\n\n| input | what assent says |\n|---|---|\n{''.join(rows)}")
    return "\n".join(sections)


def _code(text: str) -> str:
    fence = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


@pytest.mark.parametrize(("name", "outcome", "text"), ROWS, ids=[row[0] for row in ROWS])
def test_a_hostile_input_is_handled_or_refused_as_the_table_says(name, outcome, text):
    assert found(name) == (outcome, text)


@pytest.mark.parametrize(("name", "outcome", "text"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_refusal_ends_the_command_in_this_one_line(
    name, outcome, text, tmp_path, monkeypatch, capsys
):
    path = str(CORPUS / name)
    audits, converts = (
        ["audit", path, "--json"],
        ["convert", path, "--out", str(tmp_path / "o.tsv")],
    )
    words = audits if name.startswith("benchmarks/") else converts
    monkeypatch.setattr(sys, "argv", ["assent", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr() == ("", f"assent: {text.replace('{path}', path)}\n")
    assert not list(tmp_path.iterdir())


def test_every_input_stands_in_the_table_once_and_is_small():
    inputs = [path for path in CORPUS.iterdir() if path.name != "benchmarks"]
    inputs += (CORPUS / "benchmarks").iterdir()
    names = {path.relative_to(CORPUS).as_posix() for path in inputs}
    assert sorted(row[0] for row in ROWS) == sorted(names - {".gitattributes", "expected.tsv"})
    sizes = {path: path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()}
    del sizes[CORPUS / "expected.tsv"]
    assert max(sizes.values()) < 2048


def test_the_page_shows_every_message_of_the_table():
    assert PAGE.read_text(encoding="utf-8") == page()


def test_a_graph_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.tsv: no such file or folder$"):
        read(tmp_path / "nowhere.tsv")


def test_a_benchmark_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataError, match="nowhere: not a benchmark; expected a folder with"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize("suffix", [".tsv", ".nt", ".parquet"])
@pytest.mark.parametrize("stem", ["*", "fact*", "facts?", "facts[12]", "**"])
def test_a_file_name_is_no_pattern(stem, suffix, tmp_path):
    # Not in the corpus: not every system can check out a file with such a name.
    write(of_names([("a", "in", "b")]), tmp_path / f"facts1{suffix}")
    write(of_names([("c", "in", "d")]), tmp_path / f"facts2{suffix}")
    write(of_names([("e", "in", "f")]), tmp_path / f"{stem}{suffix}")
    assert read(tmp_path / f"{stem}{suffix}").vocabulary.entities == ("e", "f")


def test_a_file_named_like_a_pattern_that_is_not_there_is_refused(tmp_path):
    (tmp_path / "facts1.tsv").write_text("a\tin\tb\n")
    with pytest.raises(DataError, match="no such file or folder"):
        read(tmp_path / "facts*.tsv")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
