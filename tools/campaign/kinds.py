"""Every kind of file that assent is given: where whole ones lie, and what reads them."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from campaign import readers as take
from campaign.mutating import LONGEST
from campaign.saying import SAID


class Kind(NamedTuple):
    """Files in a folder of the corpus, one of which is mutated; then the folder is read."""

    folder: str  # of the corpus
    pattern: str  # the files that are mutated
    read: Callable[[Path, Path], object]  # the folder, the mutated file
    weight: float = 1.0
    changes: bool = False  # whether reading may leave other files in the folder
    sealed: bool = False  # whether checksums vouch for the file, and are mostly made right again


# How often: COMMON for what is read in a millisecond, RARE for what takes ten or more. No kind has
# more than one input in thirty, and none less than one in two hundred and fifty.
COMMON, SOME, RARE = 2.0, 1.0, 0.4

FILES: dict[str, Kind] = {
    **{
        f"graph {suffix}": Kind("graphs", f"graph.{suffix}", take.read_graph, COMMON)
        for suffix in (
            "tsv", "txt", "csv", "nt", "ttl", "nq", "trig", "rdf", "owl", "jsonld", "parquet",
            "tsv.gz", "csv.gz", "nt.gz",
        )
    },
    "graph with an ontology": Kind("ontology", "*", take.read_graph, COMMON),
    "graph, written again": Kind("graphs", "graph.*", take.read_and_write, SOME),
    "folder of splits": Kind("splits", "*", take.read_graph, SOME),
    "folder of LibKGE": Kind("libkge", "*", take.read_graph, SOME),
    "folder of KGX": Kind("kgx", "*", take.read_graph, COMMON),
    "benchmark": Kind("benchmark", "*", take.load_benchmark, SOME, sealed=True),
    "benchmark, published": Kind("published", "*", take.load_benchmark, COMMON, sealed=True),
    "run": Kind("run", "*.*", take.read_run, RARE, sealed=True),
    "run of rules": Kind("rules", "*.*", take.read_run, RARE, sealed=True),
    "run, unfinished": Kind("stopped", "**/*.*", take.load_run, RARE, sealed=True),
    "training that goes on": Kind("stopped", "**/*.*", take.resume, RARE, True, True),
    "checksums": Kind("benchmark", "checksums.json", take.load_benchmark, RARE, sealed=True),
    "folder, verified": Kind("run", "*.*", take.verify, RARE, sealed=True),
    "pack": Kind("packs", "*.zip", take.unpack_run, SOME),
    "pack, verified": Kind("packs", "*.zip", take.verify, RARE),
    "decider": Kind("deciders", "*.json", take.load_decider, COMMON, sealed=True),
    "trees of a judge": Kind("deciders", "judge.npz", take.load_decider, COMMON, sealed=True),
    "facts": Kind("facts", "*.jsonl", take.read_facts, COMMON),
    "facts, compared": Kind("decided", "*", take.read_decided, COMMON),
    "completion, kept": Kind("run", "c*/*.npz", take.read_kept, COMMON, sealed=True),
    "completion": Kind("run", "co*.*", take.read_kept, COMMON, sealed=True),
    "completion, its facts": Kind("run", "facts.jsonl", take.read_kept, COMMON, sealed=True),
    "review": Kind("run", "review/*", take.read_review, RARE, True, True),
    "labels": Kind("labels", "labels.tsv", take.import_labels, RARE, True),
    "tokens": Kind("given", "tokens.json", take.read_tokens, COMMON, True),
    "scores .npy": Kind("given", "test.npy", take.read_scores, COMMON),
    "scores .parquet": Kind("given", "test.parquet", take.read_scores, COMMON),
    "rules": Kind("given", "rules.tsv", take.read_rules, RARE),
    "settings": Kind("given", "settings.toml", take.read_settings, COMMON),
    "list": Kind("given", "list.txt", take.read_list, COMMON),
    "false facts": Kind("given", "false.tsv", take.read_false, SOME),
    "archive": Kind("given", "data.tar.gz", take.unpack, COMMON, True),
    "answer of a store": Kind("given", "answer.*", take.read_answer, COMMON),
    "result": Kind("given", "result.json", take.read_result, COMMON),
    "checkpoint of LibKGE": Kind("adopted", "*.pt", take.read_elsewhere, COMMON),
    "export of PyKEEN": Kind("pykeen", "*", take.read_elsewhere, COMMON),
}  # fmt: skip


def prepared(corpus: Path) -> Path:
    """A corpus in which single files lie in folders of their own."""
    for folder, names in (("facts", ("facts.jsonl", "review.jsonl")), ("labels", ("labels.tsv",))):
        (corpus / folder).mkdir()
        for name in names:
            shutil.copy(corpus / name, corpus / folder / name)
    shutil.copytree(corpus / "run", corpus / "labels" / "run")
    empty = [path for path in corpus.rglob("*") if path.is_file() and not path.stat().st_size]
    if empty:  # then a mutation changes nothing, and what is counted was never tried
        raise RuntimeError(f"empty files in the corpus: {', '.join(map(str, empty))}")
    long = [path for path in corpus.rglob("*.*") if path.suffix != ".npz" and is_long(path)]
    if long:  # then every mutation cuts them, and nothing else is tried
        raise RuntimeError(f"files too long to be mutated: {', '.join(map(str, long))}")
    return corpus


def is_long(path: Path) -> bool:
    return path.is_file() and path.stat().st_size > 0.7 * LONGEST


def files_of(kind: Kind, corpus: Path) -> list[Path]:
    """The files of a corpus that this kind mutates."""
    found: Iterable[Path] = (corpus / kind.folder).glob(kind.pattern)
    return sorted(path for path in found if path.is_file())


__all__ = ["FILES", "SAID", "Kind", "files_of", "prepared"]
