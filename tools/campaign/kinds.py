"""Every kind of thing that assent is given: where whole ones lie, and what reads them.

A reader raises an AssentError for what it refuses. Anything else that it raises is a finding.
"""

import shlex
import shutil
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import torch

import assent
from assent.adapters.files import of as scores_in
from assent.core.facts import KnowledgeBase
from assent.core.legible import legible
from assent.errors import AssentError
from assent.files.sparql import Paging, Store
from campaign.corpus import SELECT, say
from campaign.mutating import NUMBERS, WORDS

UNMENDED = 70  # exit code of an error that nobody expected


class FindingError(Exception):
    """Something that must not happen, though no error told of it."""


class Kind(NamedTuple):
    """Files in a folder of the corpus, one of which is mutated; then the folder is read."""

    folder: str  # of the corpus
    pattern: str  # the files that are mutated
    read: Callable[[Path, Path], object]  # the folder, the mutated file
    weight: float = 1.0
    changes: bool = False  # whether reading may leave other files in the folder
    sealed: bool = False  # whether checksums vouch for the file, and are mostly made right again


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


def load_run(folder: Path, file: Path) -> None:
    """A run, which then scores a query."""
    run = assent.load_run(folder, unfinished=folder.name == "stopped")
    scores = run.model.scores(torch.tensor([0]), torch.tensor([0]))
    if scores.isnan().any():
        raise FindingError("scores that are no numbers")


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
    from assent.files.facts import read_facts as read

    facts = read(file)
    for place in range(min(len(facts), 3)):
        facts.reasons(place)


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
    _refuse_output(code, printed)


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
    from assent.files.sparql import fetch_graph

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


FOLDERS = ("splits", "libkge", "kgx")

FILES: dict[str, Kind] = {
    **{
        f"graph {suffix}": Kind("graphs", f"graph.{suffix}", read_graph, 1.5)
        for suffix in (
            "tsv", "txt", "csv", "nt", "ttl", "nq", "trig", "rdf", "owl", "jsonld", "parquet",
            "tsv.gz", "csv.gz", "nt.gz",
        )
    },
    "graph, written again": Kind("graphs", "graph.*", read_and_write, 1),
    "folder of splits": Kind("splits", "*", read_graph, 1.5),
    "folder of LibKGE": Kind("libkge", "*", read_graph, 1.5),
    "folder of KGX": Kind("kgx", "*", read_graph, 2),
    "benchmark": Kind("benchmark", "*", load_benchmark, 1.5, sealed=True),
    "benchmark, published": Kind("published", "*", load_benchmark, 2, sealed=True),
    "run": Kind("run", "*.*", load_run, 0.3, sealed=True),
    "run of rules": Kind("rules", "*.*", load_run, 0.1, sealed=True),
    "run, unfinished": Kind("stopped", "**/*.*", load_run, 0.1, sealed=True),
    "training that goes on": Kind("stopped", "**/*.*", resume, 0.05, True, True),
    "checksums of a folder": Kind("benchmark", "checksums.json", load_benchmark, 1, sealed=True),
    "checksums, verified": Kind("run", "*.json", verify, 0.05, sealed=True),
    "pack": Kind("packs", "*.zip", unpack_run, 0.3),
    "pack, verified": Kind("packs", "*.zip", verify, 0.05),
    "decider": Kind("deciders", "*.json", load_decider, 4, sealed=True),
    "trees of a judge": Kind("deciders", "judge.npz", load_decider, 1, sealed=True),
    "facts": Kind("facts", "*.jsonl", read_facts, 20),
    "completion, kept": Kind("run", "c*/*.npz", read_kept, 1, sealed=True),
    "completion": Kind("run", "co*.*", read_kept, 1.5, sealed=True),
    "completion, its facts": Kind("run", "facts.jsonl", read_kept, 1, sealed=True),
    "review": Kind("run", "review/*", read_review, 0.1, True),
    "labels": Kind("labels", "labels.tsv", import_labels, 0.05, True),
    "tokens": Kind("given", "tokens.json", read_tokens, 1, True),
    "scores .npy": Kind("given", "test.npy", read_scores, 2),
    "scores .parquet": Kind("given", "test.parquet", read_scores, 1),
    "rules": Kind("given", "rules.tsv", read_rules, 0.2),
    "settings": Kind("given", "settings.toml", read_settings, 6),
    "list": Kind("given", "list.txt", read_list, 6),
    "false facts": Kind("given", "false.tsv", read_false, 0.3),
    "archive": Kind("given", "data.tar.gz", unpack, 1, True),
    "answer of a store": Kind("given", "answer.*", read_answer, 2),
    "result": Kind("given", "result.json", read_result, 2),
}  # fmt: skip


# Options and names: nothing is read from a file here, all is said.


def words(rng: Random) -> str:
    """A value that nobody expected."""
    return rng.choice((*NUMBERS, *WORDS)).decode(errors="replace")


def said_settings(corpus: Path, rng: Random) -> None:
    """`--set` with odd keys and values."""
    from dataclasses import fields

    from assent.settings import model_names, model_settings, new_model, resolve
    from assent.training.loop import TrainSettings

    name = rng.choice(model_names())
    keys = [f"train.{field.name}" for field in fields(TrainSettings)]
    keys += [f"model.{field.name}" for field in fields(type(model_settings(name, {})))]
    change = f"{rng.choice([*keys, words(rng), 'model', '.'])}={words(rng)}"
    settings = resolve(name, changes=[change])
    # What a model is made of is bounded by what a machine has; the rest of it is read when needed.
    new_model(settings, benchmark_of(corpus).vocabulary)


def hostile_names(corpus: Path, rng: Random) -> None:
    """A graph of hostile names: read, shown, written in every format, read again."""
    pool = [words(rng) + rng.choice(("", "x", words(rng))) for _ in range(6)]
    pool = [name.translate({9: 32, 10: 32, 13: 32}).lstrip("\ufeff") or "x" for name in pool]
    rows = [(rng.choice(pool), rng.choice(pool), rng.choice(pool)) for _ in range(8)]
    path = corpus / "names" / "graph.tsv"
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    read_and_write(path.parent, path)
    code, printed = say("convert", path, "--out", path.parent / "copy.tsv")
    _refuse_output(code, printed)


COMMANDS = (
    "evaluate {run} --split {x}",
    "evaluate {run} --by {x}",
    "evaluate {run} --decider {x}",
    "tune {run} --rule {x} --out {out}.json",
    "tune {run} --rule global --objective {x} --out {out}.json",
    "tune {run} --rule precision --precision {x} --confidence {x} --out {out}.json",
    "tune {run} --rule global --objective f{x} --out {out}.json",
    "complete {run} --out {out}{x}",
    "complete {run} --out {out}.tsv --overwrite --relations {x}",
    "complete {run} --out {out}.tsv --overwrite --max-facts {x} --no-refit",
    "complete {run} --out {out}.tsv --overwrite --precision {x} --missing {x} --no-refit",
    "complete {run} --part {x} --no-refit",
    "ask {run} {x} {x}",
    "ask {run} p00 lives_in --most {x}",
    "explain {run} {x} {x} {x}",
    "explain {run} p00 knows {x}",
    "build {graph} --out {out} --overwrite --removed {x}",
    "build {graph} --out {out} --overwrite --held-out {x}",
    "build {graph} --out {out} --overwrite --seed {x}",
    "build {graph} --out {out} --overwrite --deal {x}",
    "build {graph} --out {out} --overwrite --language {x} --predict {x}",
    "build {x} --out {out}",
    "convert {graph} --out {out}{x}",
    "audit {x}",
    "report {x} --out {out}",
    "train {benchmark} --model {x} --out {out}-run",
    "train {benchmark} --model complex --preset {x} --out {out}-run",
    "train {benchmark} --model complex --device {x} --out {out}-run",
    "pairs {run} --k {x}",
    "triples {run} {x} {x}",
    "review {run} --import {x}",
    "data fetch {x}",
    "{x} {x}",
    "--{x}",
)


def said_commands(corpus: Path, rng: Random) -> None:
    """Whole command lines with odd values."""
    line = rng.choice(COMMANDS)
    folder = corpus / "said"
    folder.mkdir(exist_ok=True)
    values = {
        "run": corpus / "run",
        "graph": corpus / "whole" / "graph.tsv",
        "benchmark": corpus / "benchmark",
        "out": folder / "out",
    }
    parts = [
        part.format(x=words(rng).replace("/dev/null", "x").replace("../../x", "x"), **values)
        for part in shlex.split(line)
    ]
    if any("\0" in part for part in parts):
        return  # no shell can say this
    before = {path.name for path in (corpus / "run").iterdir()}
    code, printed = say(*parts)
    shutil.rmtree(folder, ignore_errors=True)
    for path in (corpus / "run").iterdir():
        if path.name not in before:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    _refuse_output(code, printed)


def _refuse_output(code: int, printed: str) -> None:
    if code == UNMENDED or "Traceback" in printed:
        raise FindingError(printed)
    if any(ord(letter) < 32 and letter not in "\n\t" for letter in printed):
        raise FindingError(f"raw control characters: {printed!r}")
    if code == 2:
        raise AssentError(printed)


SAID: dict[str, tuple[Callable[[Path, Random], None], float]] = {
    "option --set": (said_settings, 2.0),
    "names": (hostile_names, 0.1),
    "command lines": (said_commands, 0.1),
}


def prepared(corpus: Path) -> Path:
    """A corpus in which single files lie in folders of their own."""
    for folder, names in (("facts", ("facts.jsonl", "review.jsonl")), ("labels", ("labels.tsv",))):
        (corpus / folder).mkdir()
        for name in names:
            shutil.copy(corpus / name, corpus / folder / name)
    shutil.copytree(corpus / "run", corpus / "labels" / "run")
    return corpus


def files_of(kind: Kind, corpus: Path) -> list[Path]:
    """The files of a corpus that this kind mutates."""
    found: Iterable[Path] = (corpus / kind.folder).glob(kind.pattern)
    return sorted(path for path in found if path.is_file())


__all__ = ["FILES", "SAID", "FindingError", "Kind", "files_of", "prepared"]
