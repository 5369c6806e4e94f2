"""Whole and right files of every kind that assent reads, made by assent itself on a small graph."""

import io
import json
import os
import random
import shutil
import sys
import tarfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pyoxigraph as ox
import typer.main

import assent
from assent.cli import main
from campaign.elsewhere import make_elsewhere

HOME = "http://example.org/"
RULES = ("global", "per-relation", "paper-global", "precision", "judge")
TRAINING = ("train.epochs=8", "train.evaluate_every=2", "train.threads=1", "train.batch_size=64")
SELECT = "SELECT ?h ?r ?t WHERE { ?h ?r ?t }"

DOUBTFUL = 0.035  # probability above which a fact is reviewed: some are, and not all
MOST_PROPOSED = 40
KNOWN = 0.7  # share of the facts that follow from others: there must be some to find

Rows = list[tuple[str, ...]]


def make_commands_once() -> None:
    """Keeps Typer's commands in this process.

    Typer makes all of them anew whenever one is said, which takes as long as most of them.
    """
    typer.main.get_command = cache(typer.main.get_command)


def say(*words: object) -> tuple[int, str]:
    """Runs a command in this process: its exit code, and all that it printed."""
    printed = io.StringIO()
    before = sys.argv
    sys.argv = ["assent", *map(str, words)]
    try:
        with redirect_stdout(printed), redirect_stderr(printed):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
        return code, printed.getvalue()
    finally:
        sys.argv = before
    return 0, printed.getvalue()


def needed(*words: object) -> None:
    """Runs a command that must succeed."""
    code, printed = say(*words)
    if code:
        raise RuntimeError(f"assent {' '.join(map(str, words))}: exit {code}\n{printed}")


def facts_of_towns(people: int = 40, seed: int = 7) -> Rows:
    """People of towns of countries; some facts follow from others, some of which are lacking."""
    rng = random.Random(seed)
    countries = [f"c{i}" for i in range(3)]
    towns = {f"t{i}": rng.choice(countries) for i in range(6)}
    facts = {(town, "in", country) for town, country in towns.items()}
    homes = {f"p{i:02d}": rng.choice(list(towns)) for i in range(people)}
    for person, town in homes.items():
        facts.add((person, "lives_in", town))
        if rng.random() < KNOWN:
            facts.add((person, "citizen_of", towns[town]))
        if rng.random() < KNOWN:
            facts.add((person, "speaks", f"l{countries.index(towns[town])}"))
        for other in rng.sample(list(homes), 2):
            facts.add((person, "knows", other))
    return sorted(facts)


def make_graphs(folder: Path) -> tuple[Rows, list[str], Rows]:
    """Fills a new folder with graphs of every format; returns facts, names and types of one."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = facts_of_towns()
    names = sorted({name for head, _, tail in facts for name in (head, tail)})
    kinds = {"p": "person", "t": "town", "c": "country", "l": "tongue"}
    types: Rows = [(name, kinds[name[0]]) for name in names]
    _graphs(folder / "graphs", facts[:12])
    _folders(folder, facts, names, types)
    return facts, names, types


def make(folder: Path) -> Path:
    """Fills a new folder with a corpus; returns it."""
    facts, names, types = make_graphs(folder)
    whole = folder / "whole"
    whole.mkdir()
    write(whole / "graph.tsv", facts)
    write(whole / "types.tsv", types)
    write(whole / "names.tsv", [(name, f"The {name}") for name in names])
    write(whole / "schema.tsv", [("in", "domain", "town"), ("lives_in", "functional")])
    sides = ("--types", whole / "types.tsv", "--entity-names", whole / "names.tsv")
    stated = ("--schema", whole / "schema.tsv")
    needed(
        "build", whole / "graph.tsv", "--out", folder / "benchmark", *sides, *stated, "--seed", 3
    )
    needed(
        "build",
        whole / "graph.tsv",
        "--out",
        folder / "published",
        "--layout",
        "published",
        "--deal",
        "by-query",
    )
    _runs(folder)
    _beside(folder, facts)
    make_elsewhere(folder, assent.load(folder / "benchmark"))
    return folder


def write(path: Path, rows: Sequence[Sequence[str]], separator: str = "\t") -> None:
    path.write_text("".join(separator.join(row) + "\n" for row in rows), encoding="utf-8")


def _graphs(folder: Path, facts: Rows) -> None:
    """One graph in every format."""
    folder.mkdir()
    write(folder / "graph.tsv", facts)
    write(folder / "graph.txt", facts)
    write(folder / "graph.csv", [("head", "relation", "tail"), *facts], ",")
    pl.DataFrame(facts, schema=["head", "relation", "tail"], orient="row").write_parquet(
        folder / "graph.parquet"
    )
    home = ox.NamedNode(HOME + "g")
    statements = [
        ox.Quad(ox.NamedNode(HOME + h), ox.NamedNode(HOME + r), ox.NamedNode(HOME + t), home)
        for h, r, t in facts
    ]
    label = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    statements.append(
        ox.Quad(ox.NamedNode(HOME + "c0"), label, ox.Literal("C zero", language="en"))
    )
    statements.append(
        ox.Quad(ox.BlankNode("b0"), ox.NamedNode(HOME + "knows"), ox.NamedNode(HOME + "p00"))
    )
    for suffix, form in (
        ("nt", ox.RdfFormat.N_TRIPLES),
        ("ttl", ox.RdfFormat.TURTLE),
        ("nq", ox.RdfFormat.N_QUADS),
        ("trig", ox.RdfFormat.TRIG),
        ("rdf", ox.RdfFormat.RDF_XML),
        ("owl", ox.RdfFormat.RDF_XML),
        ("jsonld", ox.RdfFormat.JSON_LD),
    ):
        if form.supports_datasets:
            ox.serialize(statements, str(folder / f"graph.{suffix}"), form)
        else:
            ox.serialize(
                [quad.triple for quad in statements], str(folder / f"graph.{suffix}"), form
            )
    import gzip

    for name in ("graph.tsv", "graph.csv", "graph.nt"):
        (folder / f"{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes(), mtime=0))


def _folders(folder: Path, facts: Rows, names: list[str], types: Rows) -> None:
    """Graphs that are folders: splits, LibKGE's layout, KGX."""
    splits = folder / "splits"
    splits.mkdir()
    write(splits / "train.tsv", facts[6:])
    write(splits / "valid.tsv", facts[:3])
    write(splits / "test.tsv", facts[3:6])
    write(splits / "entity_types.tsv", types)
    (splits / "entity_names.json").write_text(
        json.dumps({name: {"label": f"The {name}"} for name in names[:5]})
    )
    write(splits / "relation_names.tsv", [("in", "lies in")])
    write(splits / "schema.tsv", [("in", "domain", "town"), ("knows", "symmetric")])
    libkge = folder / "libkge"
    libkge.mkdir()
    relations = sorted({fact[1] for fact in facts})
    for kind, words in (("entity", names), ("relation", relations)):
        write(libkge / f"{kind}_ids.del", [(str(place), word) for place, word in enumerate(words)])
    numbers = [
        (str(names.index(head)), str(relations.index(relation)), str(names.index(tail)))
        for head, relation, tail in facts
    ]
    for name, rows in (("train", numbers[6:]), ("valid", numbers[:3]), ("test", numbers[3:6])):
        write(libkge / f"{name}.del", rows)
    listed = {
        f"files.{name}.filename": f"{name}.del"
        for name in ("train", "valid", "test", "entity_ids", "relation_ids")
    }
    (libkge / "dataset.yaml").write_text(
        "dataset:\n" + "".join(f"  {key}: {value}\n" for key, value in listed.items())
    )
    kgx = folder / "kgx"
    kgx.mkdir()
    nodes = [
        ("id", "name", "category"),
        *((name, f"The {name}", f"biolink:{kind}") for name, kind in types),
    ]
    write(kgx / "graph_nodes.tsv", nodes)
    edges = [("subject", "predicate", "object"), *facts]
    write(kgx / "graph_edges.tsv", edges)


def _runs(folder: Path) -> None:
    """A run with all that the verbs put into it, one of rules, and one that was stopped."""
    run, benchmark = folder / "run", folder / "benchmark"
    small = ("--set", "model.dim=8", *(word for change in TRAINING for word in ("--set", change)))
    needed("train", benchmark, "--model", "complex", "--out", run, *small)
    needed("train", benchmark, "--model", "rules", "--out", folder / "rules")
    deciders = folder / "deciders"
    deciders.mkdir()
    for rule in RULES:
        promised = ("--precision", 0.2, "--confidence", 0.6) if rule == "precision" else ()
        needed("tune", run, "--rule", rule, "--out", deciders / f"{rule}.json", *promised)
    needed("tune", run, "--rule", "global")
    needed("evaluate", run)
    files = (
        "--out",
        folder / "facts.jsonl",
        "--review",
        folder / "review.jsonl",
        "--review-above",
        DOUBTFUL,
    )
    needed("complete", run, *files, "--precision", 0.2, "--no-refit")
    opened = assent.load_run(run)
    from contextlib import closing

    from assent.verbs.complete import prepare
    from assent.verbs.review import propose, review

    propose(opened, least=DOUBTFUL, most=MOST_PROPOSED, planted=4)
    with closing(review(run)) as reviewed:
        for key in list(reviewed.proposals.keys)[:5]:
            reviewed.decide(key, "right", "ann", order="probable")
    needed("review", run, "--export", folder / "labels.tsv")
    prepare(opened, (1, 1), refit=False)
    (folder / "packs").mkdir()
    needed("pack", run, "--out", folder / "packs" / "pack.zip")
    stopped = folder / "stopped"
    shutil.copytree(run, stopped)
    for name in (
        "model.safetensors",
        "decider.json",
        "metrics.json",
        "completion.json",
        "facts.jsonl",
        "considered.npz",
    ):
        (stopped / name).unlink(missing_ok=True)
    for name in ("review", "completing", "refit"):
        shutil.rmtree(stopped / name, ignore_errors=True)


def _beside(folder: Path, facts: Rows) -> None:
    """Files that are given by option: scores, rules, lists, settings, archives, answers."""
    benchmark = assent.load(folder / "benchmark")
    given = folder / "given"
    given.mkdir()
    rng = np.random.default_rng(0)
    for split in ("valid", "test"):
        shape = (len(benchmark.queries(split)), benchmark.vocabulary.num_entities)
        # The same scores for a query that both splits ask: one number for each entity.
        np.save(
            given / f"{split}.npy",
            np.tile(rng.normal(size=shape[1]).astype(np.float32), (shape[0], 1)),
        )
    names, asked = benchmark.vocabulary, benchmark.test
    pl.DataFrame(
        {
            "side": [
                "head" if names.asks_for_head(slot) else "tail" for slot in asked.relations[:9]
            ],
            "anchor": [names.entities[place] for place in asked.anchors[:9]],
            "relation": [names.relations[names.relations_of(slot)] for slot in asked.relations[:9]],
            "entity": [names.entities[place] for place in range(9)],
            "score": [float(place) for place in range(9)],
        }
    ).write_parquet(given / "test.parquet")
    shutil.copy(folder / "rules" / "rules.tsv", given / "rules.tsv")
    (given / "settings.toml").write_text(
        '[model]\ndim = 4\nmembers = 2\n[train]\nepochs = 3\nloss = "bce"\nlearning_rate = 0.01\n'
    )
    (given / "list.txt").write_text("p00\np01\n")
    write(
        given / "false.tsv", [("p00", "lives_in", "c0"), ("p01", "knows", "t0"), ("t0", "in", "l0")]
    )
    with tarfile.open(given / "data.tar.gz", "w:gz") as archive:
        archive.add(folder / "splits" / "train.tsv", "set/train.tsv")
        archive.add(folder / "splits" / "valid.tsv", "set/valid.tsv")
    nodes = [
        {key: {"type": "uri", "value": HOME + name} for key, name in zip("hrt", fact, strict=True)}
        for fact in facts[:6]
    ]
    (given / "answer.json").write_text(
        json.dumps({"head": {"vars": ["h", "r", "t"]}, "results": {"bindings": nodes}})
    )
    (given / "answer.nt").write_text(
        "".join(f"<{HOME}{h}> <{HOME}{r}> <{HOME}{t}> .\n" for h, r, t in facts[:6])
    )
    (given / "result.json").write_text(
        json.dumps(
            {
                "format": 3, "weights": "x", "benchmark": "y", "settings": {},
                "trained": {"cut_after": None}, "mrr": {"test": 0.3},
                "unfiltered_mrr": {"test": 0.2},
                "counts": {"test": {"global": {"full": [1, 2, 3]}}},
                "samples": [],
            }
        )
    )  # fmt: skip
    (given / "tokens.json").write_text(json.dumps({"ann": "x" * 22}))


def scratch() -> Path:
    """A folder of the file system in memory, where there is one; never of the repository."""
    import tempfile

    memory = Path("/dev/shm")
    within = memory if memory.is_dir() and os.access(memory, os.W_OK) else None
    return Path(tempfile.mkdtemp(prefix="assent-campaign-", dir=within))
