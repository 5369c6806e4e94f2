"""What reads each kind of file, as the commands do.

A reader raises an AssentError for what it refuses. Anything else that it raises is a finding.
"""

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

import assent
from assent.adapters.files import of as scores_in
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.legible import legible
from assent.errors import AssentError
from assent.files import benchmarks
from assent.files.sparql import Paging, Store
from campaign.corpus import SELECT, say

UNMENDED = 70  # exit code of an error that nobody expected
FOLDERS = ("splits", "libkge", "kgx")  # graphs that are folders


class FindingError(Exception):
    """Something that must not happen, though no error told of it."""


def read_graph(folder: Path, file: Path) -> KnowledgeBase:
    """A graph, in any format; whatever was read can be shown, and is not empty."""
    kb = assent.read(folder if file.parent.name in FOLDERS else file)
    shown = "".join(legible(name) for name in kb.vocabulary.entities[:20])
    if any(letter in shown for letter in "\x1b\x00\r\n\u202e"):
        raise FindingError("a name is shown raw")
    return kb


def read_and_write(folder: Path, file: Path) -> None:
    """What is read, written and read again is the same graph."""
    kb = read_graph(folder, file)
    if kb.has_splits:
        return
    for suffix in (".tsv", ".nt", ".parquet"):
        copy = folder / f"copy{suffix}"
        assent.write(kb, copy)
        again = assent.read(copy)
        copy.unlink()
        if (again.vocabulary.entities, again.vocabulary.relations) != (
            kb.vocabulary.entities,
            kb.vocabulary.relations,
        ) or again.facts.tolist() != kb.facts.tolist():
            raise FindingError(f"another graph after {suffix}")


def load_benchmark(folder: Path, file: Path) -> None:
    assent.load(folder)


_load = benchmarks.load
_load_once = cache(_load)


@contextmanager
def benchmark_read_once(corpus: Path, mutated: Path) -> Iterator[None]:
    """Within it, the benchmark of a run is read once for all inputs, unless it is the mutated one.

    A run takes a millisecond, its benchmark thirty.
    """
    whole = corpus / "benchmark"

    def load(path: str | Path) -> Benchmark:
        is_whole = mutated != whole and Path(path).resolve() == whole
        return _load_once(whole) if is_whole else _load(path)

    benchmarks.load = load
    try:
        yield
    finally:
        benchmarks.load = _load


def load_run(folder: Path, file: Path) -> None:
    """A run, which then scores a query."""
    run = assent.load_run(folder, unfinished=folder.name == "stopped")
    scores = run.model.scores(torch.tensor([0]), torch.tensor([0]))
    if scores.isnan().any():
        raise FindingError("scores that are no numbers")


def read_run(folder: Path, file: Path) -> None:
    """A run, and then what other commands take from its folder, where that is the mutated file."""
    from assent.files.places import COMPLETION, CONSIDERED, FACTS
    from assent.verbs.deciders import load_decider as load

    if file.name in (COMPLETION, CONSIDERED, FACTS):
        read_kept(folder, file)
        return
    load_run(folder, file)
    if file.name.startswith("decider"):
        load(folder, assent.load_run(folder))


def resume(folder: Path, file: Path) -> None:
    """A training that was stopped, and goes on."""
    assent.train(folder.parent / "benchmark", "complex", out=folder)


@cache
def run_of(corpus: Path) -> Any:
    return assent.load_run(corpus / "run")


def load_decider(folder: Path, file: Path) -> None:
    from assent.verbs.deciders import load_decider as load

    load(file.with_suffix(".json"), run_of(folder.parent))


def read_facts(folder: Path, file: Path) -> None:
    from assent.files.fact_lines import read_facts as read

    facts = read(file)
    for place in range(min(len(facts), 3)):
        facts.reasons(place)


def read_decided(folder: Path, file: Path) -> None:
    """Facts in any format that `complete` writes, as `diff` reads them."""
    from assent.files.decided import read_decided as read

    read(file if file.suffix != ".tsv" or "_" not in file.name else folder / "facts.kgx")


def read_elsewhere(folder: Path, file: Path) -> None:
    """A model of another library, as `adopt` takes it."""
    from assent.verbs.adopt import adopt

    adopt(file if file.suffix == ".pt" else folder, benchmark_of(folder.parent))


def read_kept(folder: Path, file: Path) -> None:
    """What `complete` left in a run's folder, as report and ask take it up."""
    from assent.completing.keeping import Keeper
    from assent.files.completions import read_completion
    from assent.files.considered import read_considered
    from assent.verbs.deciders import model_of

    run = run_of(folder.parent)
    names = run.benchmark.whole().vocabulary
    if file.parent.name == "completing":
        keeper = Keeper.__new__(Keeper)
        keeper.folder, keeper.name = file.parent, file.stem.rpartition("-")[0]
        keeper.load(int(file.stem.rpartition("-")[2]))
        return
    read_completion(folder, [names])
    read_considered(folder, [names, run.benchmark.vocabulary], model_of(run))


def read_review(folder: Path, file: Path) -> None:
    from assent.verbs.review import review

    with closing(review(folder)) as opened:
        opened.labels.current()
        opened.next("ann")
        opened.progress()


def import_labels(folder: Path, file: Path) -> None:
    from assent.reviewing.exchange import import_labels as take
    from assent.verbs.review import review

    copy = file.parent / "review-copy"
    shutil.copytree(folder / "run", copy, dirs_exist_ok=True)
    with closing(review(copy)) as opened:
        take(file, opened)


def read_tokens(folder: Path, file: Path) -> None:
    from assent.reviewing.page.tokens import tokens_of

    tokens_of(["ann"], folder)


def read_scores(folder: Path, file: Path) -> None:
    benchmark = benchmark_of(folder.parent)
    scorer = scores_in(test=file).on(benchmark)
    queries = benchmark.test
    scorer.scores(torch.tensor(queries.anchors[:4]), torch.tensor(queries.relations[:4]))


@cache
def benchmark_of(corpus: Path) -> Any:
    return assent.load(corpus / "benchmark")


def read_rules(folder: Path, file: Path) -> None:
    from assent.files.text import lines_of
    from assent.rules.graph import Graph
    from assent.rules.text import parse

    benchmark = benchmark_of(folder.parent)
    names = benchmark.vocabulary
    graph = Graph.of(benchmark.train, names.num_entities, names.num_relations)
    parse(lines_of(file), graph, names, str(file))


def read_settings(folder: Path, file: Path) -> None:
    from assent.settings import new_model, resolve

    settings = resolve("complex", file=file)
    new_model(settings, benchmark_of(folder.parent).vocabulary)


def read_list(folder: Path, file: Path) -> None:
    from assent.files.annotations import read_list as read

    read(file)


def read_false(folder: Path, file: Path) -> None:
    from assent.verbs.triples import classify_triples

    classify_triples(run_of(folder.parent), file, file)


def need_file(file: Path) -> None:
    """Where we would not open it ourselves, there is nothing to try without one."""
    if not file.is_file():
        raise AssentError(f"{file}: no file")


def unpack_run(folder: Path, file: Path) -> None:
    """A pack, which must not write beside its place."""
    from assent.verbs.pack import unpack as take_out

    out = folder / "unpacked"
    try:
        take_out(file, out)
    finally:
        shutil.rmtree(out, ignore_errors=True)
        left = [path.name for path in folder.iterdir() if path.name != file.name]
        if left:
            raise FindingError(f"left behind: {left}")


def verify(folder: Path, file: Path) -> None:
    """All that vouches for a folder or pack, checked as `assent verify` does."""
    code, printed = say("verify", file if file.suffix == ".zip" else folder)
    refuse_output(code, printed)


def unpack(folder: Path, file: Path) -> None:
    from assent.datasets.catalogue import RemoteFile
    from assent.datasets.unpacking import unpack as take_out

    need_file(file)  # a download is always one
    wanted = RemoteFile("http://x/data", "", None, "data.tar.gz", ("train.tsv", "valid.tsv"))
    take_out(wanted, folder, 1 << 20)


class _Answering(Store):
    """A store that answers with a file."""

    def ask(self, query: str, accept: str, paging: Paging) -> tuple[bytes, str]:
        return CONTENT.pop() if CONTENT else EMPTY, "application/n-triples"


CONTENT: list[bytes] = []
EMPTY = b'{"head": {"vars": ["h", "r", "t"]}, "results": {"bindings": []}}'


def read_answer(folder: Path, file: Path) -> None:
    """What a SPARQL store answers, which may be anything."""
    from assent.files.sparql_pages import fetch_graph

    need_file(file)
    CONTENT[:] = [file.read_bytes()]
    construct = "CONSTRUCT { ?h ?r ?t } WHERE { ?h ?r ?t }"
    global EMPTY
    EMPTY = b"" if file.suffix == ".nt" else EMPTY_ROWS
    query = construct if file.suffix == ".nt" else SELECT
    try:
        fetch_graph(_Answering.of("sparql+http://x/"), query, folder / "fetched")
    finally:
        shutil.rmtree(folder / "fetched", ignore_errors=True)


EMPTY_ROWS = EMPTY


def read_result(folder: Path, file: Path) -> None:
    from assent.reproducing.results import read_result as read

    read(file, "x")


def refuse_output(code: int, printed: str) -> None:
    """Raises what a command came to, by its exit code and all that it printed."""
    if code == UNMENDED or "Traceback" in printed:
        raise FindingError(printed)
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in printed):
        raise FindingError(f"raw control characters: {printed!r}")
    if code == 2:
        raise AssentError(printed)
