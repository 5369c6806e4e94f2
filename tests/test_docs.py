"""What the documents say is there is there, and what they show runs.

Every fenced block names its language. Blocks of `python` are run in order, a page at a time, and
so is every `assent ...` line of `sh` blocks, in a folder that holds a small graph, a benchmark and
two runs; training is made short. A block that cannot run here says so in its first line, which
readers see: `# not run here: REASON`.
"""

import importlib.util
import re
import shlex
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import pytest
import torch

import assent
import toy
from assent.cli import app, main
from assent.reviewing.proposals import has_proposals
from assent.settings import model_names, resolve

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")])
COPIES = {"reproduction.md"}  # written by `assent reproduce`, kept as it wrote it
TABLES = {"architecture.md", "hostile.md"}  # of docstrings and of messages; tests compare them
LANGUAGES = {"sh", "python", "text", "json", "toml", "make"}
MARK = "# not run here: "
SERVES = "serves until Ctrl-C"
REASONS = {  # what a block must have in it to be excused
    "needs the network": r"data fetch|pip install|docker build",
    "needs FB14k-QAQ": r"fb14k-qaq|fb15k-237|reproduce",
    "needs a SPARQL store": r"sparql\+http",
    "needs PyKEEN": r"import .*pykeen|from pykeen",
    "needs a model of LibKGE": r"assent adopt \S+\.pt",
    "needs a file of yours": r"my_model\.py",
    SERVES: r"assent review \w+( --reviewer \w+)*$",
    "another test runs it": r"(?m)^torchrun ",
    "needs a cluster": r"srun|kubectl|ray|pyspark",
    "takes minutes": r"make (demo|test)|assent demo",
    "needs this repository": r"\bmake\b|\bgit\b|\bpytest\b",
}
TINY = ("model.dim=8", "train.epochs=2", "train.evaluate_every=2", "train.threads=1")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str

    @property
    def marked(self) -> str | None:
        """Why it cannot be run here, if it says so."""
        first = self.text.partition("\n")[0]
        return first.removeprefix(MARK) if first.startswith(MARK) else None

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    blocks: list[Block] = []
    opened: tuple[int, str, list[str]] | None = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if opened is not None and line.strip() == "```":
            blocks.append(Block(page, opened[0], opened[1], "\n".join(opened[2])))
            opened = None
        elif opened is not None:
            opened[2].append(line)
        elif line.strip().startswith("```"):
            opened = number, line.strip()[3:], []
    assert opened is None, f"{page}: a block without an end"
    return blocks


BLOCKS = [b for page in PAGES if page.name not in COPIES and page.exists() for b in blocks_of(page)]
RUN = [b for b in BLOCKS if b.language in ("sh", "python") and b.marked is None]
ADDING = ROOT / "CONTRIBUTING.md"  # its blocks add to the program's tables


# Blocks


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_names_its_language(block):
    assert block.language in LANGUAGES


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.marked is not None], ids=str)
def test_a_block_that_is_not_run_has_a_reason(block):
    assert block.marked in REASONS
    assert re.search(REASONS[block.marked], block.text, re.MULTILINE), (
        "nothing in it needs that; run it"
    )


@pytest.fixture(scope="module")
def prepared(tmp_path_factory) -> Path:
    """A small graph in several formats, its benchmark, and two runs, one of them tuned."""
    folder = tmp_path_factory.mktemp("docs")
    (folder / "my-graph.ttl").write_text(toy.turtle(), encoding="utf-8")
    graph = assent.read(folder / "my-graph.ttl")
    for suffix in (".nt", ".tsv"):
        assent.write(graph, folder / f"my-graph{suffix}")
    names = graph.vocabulary.entities
    for name, first in (("valid-false.tsv", 0), ("test-false.tsv", 1)):
        lines = [f"{names[k]}\t{toy.HOME}knows\t{names[-k]}\n" for k in range(first, 30, 2)]
        (folder / name).write_text("".join(lines), encoding="utf-8")
    assent.save(assent.build(graph), folder / "benchmark")
    for model, run in (("complex", "run"), ("distmult", "other-run")):
        assent.train(folder / "benchmark", model, out=folder / run, changes=TINY)
    tuned = assent.load_run(folder / "run")
    assent.save_decider(assent.tune(tuned), folder / "run", tuned.benchmark)
    return folder


@pytest.fixture
def folder(prepared, tmp_path) -> Path:
    """A copy of it, to be worked in."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    for settings in tmp_path.glob("*/settings.toml"):
        text = settings.read_text(encoding="utf-8").replace(str(prepared), str(tmp_path))
        settings.write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("page", sorted({b.page for b in RUN} - {ADDING}), ids=lambda p: p.stem)
def test_what_a_page_shows_runs(page, folder, monkeypatch, one_thread):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(assent, "train", short_training(assent.train), raising=False)
    monkeypatch.setattr(assent, "save", partial(assent.save, overwrite=True), raising=False)
    monkeypatch.setattr(sys, "argv", ["assent"])
    if page.stem == "tutorial":
        (folder / "my-graph.tsv").unlink()  # the page begins by making it
    run_page(page)


def test_what_adds_to_the_program_runs_in_a_process_of_its_own(folder):
    program = f"import sys; sys.path[:0] = {sys.path!r}; import test_docs; test_docs.run_adding()"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


def run_adding() -> None:
    """Runs the examples; `tests/extending` looks at what each of them adds."""
    torch.set_num_threads(1)
    run_page(ADDING)
    assert ".piped" in run_command(["convert", "--help"], ADDING.name)


def run_page(page: Path) -> str:
    """Runs the blocks of a page in the current folder; returns what they printed."""
    names: dict[str, object] = {}
    texts = []
    for block in BLOCKS:
        if block.page == page and block.marked == SERVES and not has_proposals(Path("run")):
            assent.propose(assent.load_run("run"))  # as the page would, when it is first opened
        if block not in RUN:
            continue
        if block.page == page and block.language == "sh":
            texts += [run_command(words, block) for words in commands_in(block)]
        elif block.page == page:
            with redirect_stdout(StringIO()) as printed:
                exec(compile("\n" * block.line + block.text, page, "exec"), names)
            texts.append(printed.getvalue())
            for told in re.findall(r"^ *print\(.*\)  # prints (.+)$", block.text, re.MULTILINE):
                assert told in texts[-1].splitlines(), f"{block}: {texts[-1]}"
    return "\n".join(texts)


def run_command(words: list[str], where: object) -> str:
    sys.argv = ["assent", *words]
    with redirect_stdout(StringIO()) as printed, redirect_stderr(printed):
        try:
            main()
        except SystemExit as end:
            code = end.code
    assert not code, f"{where}: assent {shlex.join(words)}: {printed.getvalue()}"
    return printed.getvalue()


def commands_in(block: Block) -> list[list[str]]:
    """The words of each `assent` command, without the first; training is made short."""
    commands = []
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        assert words[0] == "assent", f"{block}: {line!r} cannot be run here; mark the block"
        if words[1] in ("build", "train"):
            shutil.rmtree(words[words.index("--out") + 1], ignore_errors=True)
        if words[1] == "train":
            words += [f"--set={change}" for change in TINY if fits(change, words)]
        commands.append(words[1:])
    return commands


def fits(change: str, words: list[object]) -> bool:
    """Whether the model has such a setting: rules have no dimensions."""
    return "rules" not in words or not change.startswith("model.")


def short_training(train):
    def short(*args, out=None, changes=(), **options):
        if out is not None:
            shutil.rmtree(out, ignore_errors=True)
        tiny = [change for change in TINY if fits(change, [*args, options.get("model")])]
        return train(*args, out=out, changes=[*changes, *tiny], **options)

    return short


# Paths, links, names


def writer(name):
    """A program of `docs` that writes a page, or a part of one."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return program


def test_the_settings_page_has_every_setting_of_every_model():
    models, text = writer("models"), (DOCS / "settings.md").read_text(encoding="utf-8")
    assert text == models.page(), "run `python docs/models.py`"
    for model in model_names():
        kind = type(resolve(model).model)
        told = models.comments(kind)
        assert told and all(told.values()), f"{model}: a setting without a comment: {told}"


def test_the_architecture_page_is_what_the_docstrings_say():
    tree = writer("tree")
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert text == tree.page(), "run `python docs/tree.py`"
    for path in re.findall(r"`((?:\w+/)+\w+\.py|\w+/)`", text):
        assert (tree.SOURCE / path).exists() or (ROOT / path).exists(), path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", text):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_of_the_project_that_a_page_names_are_there(page):
    if page.name in COPIES | TABLES:
        return
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\b((?:src/assent|tests|benchmarks|tools|docs)/[\w/.-]+\w)", text):
        assert (ROOT / name).exists(), f"{page.name}: {name}"


def test_the_method_page_gives_every_part_of_the_paper_a_file_and_a_test():
    text = (DOCS / "method.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (.+) \| (.+) \|$", text, re.MULTILINE)
    rows = [row for row in rows if row[1:] != ("file", "test")]
    assert len(rows) > 15
    for paper, file, test in rows:
        assert "`src/assent/" in file, paper
        assert "`tests/" in test, paper


def test_the_method_page_has_a_row_for_each_model():
    text = (DOCS / "method.md").read_text(encoding="utf-8")
    rows = re.findall(
        r"^\| .+ \| §\d.* \| `(\w+)` \| `src/assent/models/(\w+).py`", text, re.MULTILINE
    )
    assert sorted(rows) == [(name, name) for name in model_names() if name != "rules"]


def test_every_public_name_stands_in_the_reference():
    named = re.findall(r"^::: assent\.(\w+)$", (DOCS / "api.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(named) == sorted(set(assent.__all__) - {"__version__"})


def test_every_command_has_a_page():
    text = "\n".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert f"assent {name} " in text, name


def test_the_readme_is_short_and_opens_with_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) < 120
    assert "make demo" in readme[:1500] and "make test" in readme[:1500]


def test_the_glossary_has_every_word_of_its_own():
    defined = re.findall(r"^\*\*(.+)\*\*\n:", (DOCS / "glossary.md").read_text("utf-8"), re.M)
    words = {word for line in defined for word in line.split(", ")}
    assert words >= {
        "fact", "entity", "relation", "slot", "schema", "query", "anchor", "answer", "candidate",
        "subset", "split", "known", "score", "floor", "threshold", "probability", "accept",
        "correct", "accepted", "relevant", "rank", "decision rule", "evidence", "proposal",
        "review", "label", "promise",
    }  # fmt: skip


RIVALS = (
    r"\b(?:questions?|halves|(?:valid|test|other|published|one) half|chances?|likelihood|cuts)\b"
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_use_the_words_of_the_glossary(page):
    if page.name in COPIES | TABLES:
        return
    found = re.findall(RIVALS, page.read_text(encoding="utf-8"))
    assert not found, f"{page.name}: {found}; docs/glossary.md has the words"
