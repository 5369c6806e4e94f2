"""Every engine builds the same bytes by recipe 2, and audits find the same on each."""

import gzip
import json
import logging
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import assent
import toy
from assent.building import recipe
from assent.building.recipe import DEALS
from assent.building.relational_steps import BUCKETS, WIDTH, highest_of
from assent.core.facts import KnowledgeBase
from assent.core.hashing import hashes_of, lowest
from assent.errors import DEBUGGING, ConfigError, DataError
from assent.files.engines import choosing, with_spark
from assent.files.engines.choosing import engine_for, started
from assent.files.triples import write

FEW = settings(max_examples=12)  # each starts a database
removals = st.one_of(st.just("auto"), st.integers(0, 6), st.just(["e1", "e3"]))
deals = st.sampled_from(sorted(DEALS))
seeds = st.integers(0, 2**16)
MB = 1_000_000


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def in_memory(kb: KnowledgeBase, folder: Path, **options: object) -> dict[str, bytes] | str:
    """The files of the benchmark that memory builds, or why it builds none."""
    try:
        assent.save(recipe.build(kb, recipe=2, **options), folder)
    except (DataError, ConfigError) as error:
        return str(error)
    return content(folder)


def by(engine: str, kb: KnowledgeBase, folder: Path, **options: object) -> dict[str, bytes] | str:
    """The same by another engine."""
    try:
        assent.build_folder(kb, folder, engine=engine, memory=500 * MB, progress=False, **options)
    except (DataError, ConfigError) as error:
        return str(error)
    return content(folder)


@FEW
@given(toy.crowds(), removals, deals, seeds, st.sampled_from([0.05, 0.12, 0.5]))
@example(toy.whole(), "auto", "by-fact", 0, 0.12)
@example(toy.typed(toy.split()), ["dan", "oslo"], "by-query", 3, 0.12)
@example(toy.whole(), ["nobody"], "by-fact", 0, 0.12)
@example(toy.whole(), 12, "by-fact", 0, 0.12)
def test_duckdb_builds_the_bytes_that_memory_builds(
    tmp_path_factory, kb, removed, deal, seed, share
):
    folder = tmp_path_factory.mktemp("same")
    options = {"removed": removed, "deal": deal, "seed": seed, "held_out": share}
    expected = in_memory(kb, folder / "memory", **options)
    assert by("duckdb", kb, folder / "duckdb", **options) == expected


@FEW
@given(toy.graphs(most_entities=12, most_facts=40), seeds)
def test_duckdb_refuses_what_memory_refuses(tmp_path_factory, kb, seed):
    if not len(kb.facts):
        return
    folder = tmp_path_factory.mktemp("small")
    assert by("duckdb", kb, folder / "a", seed=seed) == in_memory(kb, folder / "b", seed=seed)


def freebase() -> KnowledgeBase:
    """A graph whose relations name their domains."""
    kb = toy.crowd(seed=6, num_entities=40, num_relations=4, facts_each=6)
    names = tuple(f"/kind{place % 2}/thing/{name}" for place, name in enumerate("abcd"))
    return replace(kb, vocabulary=replace(kb.vocabulary, relations=names))


def everyone_knows_everyone() -> KnowledgeBase:
    names = [f"friend{number}" for number in range(8)]
    return toy.of_names([(one, "knows", other) for one in names for other in names])


GRAPHS = {
    "plain": toy.crowd(seed=3, num_entities=40, num_relations=3, facts_each=6),
    "typed": toy.with_kinds(toy.crowd(seed=3, num_entities=40, num_relations=3, facts_each=6)),
    "split": toy.crowd(seed=5, num_entities=30, num_relations=3, facts_each=6, splits=True),
    "freebase": freebase(),
    "no fakes": everyone_knows_everyone(),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("deal", DEALS)
def test_duckdb_agrees_on_every_kind_of_graph(tmp_path, name, deal):
    expected = in_memory(GRAPHS[name], tmp_path / "memory", deal=deal)
    assert isinstance(expected, dict)
    assert by("duckdb", GRAPHS[name], tmp_path / "duckdb", deal=deal) == expected


def test_fakes_of_large_graphs_are_only_drawn_and_engines_agree(tmp_path, monkeypatch):
    for module in ("faking", "relational_fakes"):
        monkeypatch.setattr(f"assent.building.{module}.SMALL", 0)
    monkeypatch.setattr("assent.building.faking.CELLS", 16)
    kb = toy.crowd(seed=8, num_entities=200, num_relations=4, facts_each=6)
    expected = in_memory(kb, tmp_path / "memory")
    assert json.loads(expected["manifest.json"])["counts"]["queries"]["F"]["total"] > 50
    assert by("duckdb", kb, tmp_path / "duckdb") == expected


# Files that are read in blocks


def lines_of(kb: KnowledgeBase, separator: str = "\t") -> list[str]:
    return [separator.join(fact) for fact in sorted(toy.named_facts(kb.facts, kb.vocabulary))]


def files_in(folder: Path) -> Iterator[Path]:
    """The same graph in every format that is read in blocks, and with what is unusual in it."""
    kb = GRAPHS["plain"]
    lines = lines_of(kb)
    texts = {
        "plain.tsv": "\n".join(lines) + "\n",
        "twice.txt": "\n".join([*lines[::-1], *lines[:9]]),
        "windows.tsv": "\ufeff" + "\r\n".join(lines) + "\r\n\r\n",
        "comma.csv": "\n".join(["head,relation,tail", *lines_of(kb, ",")]),
        "quoted.csv": "\n".join(
            f'"{line.replace(",", chr(34) + "," + chr(34))}"' for line in lines_of(kb, ",")
        ),
    }
    for name, text in texts.items():
        path = folder / name
        path.write_text(text, encoding="utf-8", newline="")
        yield path
    path = folder / "zipped.tsv.gz"
    path.write_bytes(gzip.compress(texts["plain.tsv"].encode()))
    yield path
    path = folder / "table.parquet"
    write(kb, path)
    yield path


def test_files_in_blocks_are_read_as_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr("assent.files.tsv.fact_blocks.__defaults__", ("\t", 100))
    monkeypatch.setattr("assent.files.parquet.ROWS", 7)
    for path in files_in(tmp_path):
        for out in ("memory", "duckdb"):
            shutil.rmtree(tmp_path / out, ignore_errors=True)
        expected = in_memory(assent.read(path), tmp_path / "memory")
        assert by("duckdb", path, tmp_path / "duckdb") == expected, path.name


def test_a_folder_with_splits_names_types_and_schema_is_read_as_in_memory(tmp_path):
    kb = GRAPHS["split"]
    folder = tmp_path / "graph"
    write(kb, folder)
    entities = kb.vocabulary.entities
    named = {
        "entity_names.tsv": [f"{name}\tlabel of {name}" for name in entities],
        "entity_types.tsv": [f"{e}\t{('even', 'odd')[i % 2]}" for i, e in enumerate(entities)],
        "schema.tsv": ["r0\tdomain\teven", "r1\tsymmetric"],
    }
    for name, lines in named.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    expected = in_memory(assent.read(folder), tmp_path / "memory")
    found = by("duckdb", folder, tmp_path / "duckdb")
    assert found == expected
    assert {"entity_types.tsv", "schema.tsv", "stated.tsv", "removed_facts.tsv"} <= set(found)


def test_rdf_is_read_into_memory_and_built_by_the_engine(tmp_path):
    path = tmp_path / "graph.ttl"
    path.write_text(toy.turtle(), encoding="utf-8")
    expected = in_memory(assent.read(path), tmp_path / "memory")
    assert by("duckdb", path, tmp_path / "duckdb") == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tr\tb\na\tr\n", "graph.tsv:2: expected 3 tab-separated columns"),
        ("a\tr\tb\n\na\t\tb\n", "graph.tsv:3: the relation is empty"),
        ("\n\n", "graph.tsv: nothing in it; expected facts"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(tmp_path, text, message):
    path = tmp_path / "graph.tsv"
    path.write_text(text, encoding="utf-8")
    assert message in by("duckdb", path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bytes_that_are_no_text_are_refused_by_their_line(tmp_path):
    path = tmp_path / "graph.tsv"
    path.write_bytes(b"a\tr\tb\nc\tr\t\xff\n")
    assert "graph.tsv:2: byte 0xff" in by("duckdb", path, tmp_path / "out")


def test_large_files_are_built_by_duckdb_unless_another_engine_is_named(tmp_path, monkeypatch):
    path = tmp_path / "graph.tsv"
    path.write_text("\n".join(lines_of(GRAPHS["plain"])) + "\n", encoding="utf-8")
    assert engine_for(path) == "memory"
    monkeypatch.setattr(choosing, "LARGE", path.stat().st_size - 1)
    assert engine_for(path) == "duckdb"


# Steps


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 3)), max_size=20), st.integers(0, 40))
@FEW
def test_the_highest_hash_that_is_taken_is_that_of_the_lowest_ones(tmp_path_factory, rows, most):
    # Some in one bucket, some far apart.
    hashes = np.array([place * (WIDTH * BUCKETS // 64) + place % 3 for place, _ in rows], np.int64)
    sizes = np.array([size for _, size in rows], np.int64)
    expected = lowest(np.repeat(hashes, sizes), most)
    with started("duckdb", tmp_path_factory.mktemp("steps"), 200 * MB) as engine:
        engine.put("items", {"hash": hashes, "size": sizes})
        highest = highest_of(engine, "items", most, weight="size")
    assert (np.repeat(hashes, sizes) <= highest).tolist() == expected.tolist()


def test_engines_hash_as_python_does(tmp_path):
    with started("duckdb", tmp_path, 200 * MB) as engine:
        engine.put("items", {"number": np.arange(50)})
        found = engine.found(
            f"SELECT {engine.hash('cast(number AS STRING)')} AS hash FROM items ORDER BY number"
        )
    assert found["hash"].tolist() == hashes_of(map(str, range(50))).tolist()


def test_an_engine_leaves_nothing_behind(tmp_path):
    with started("duckdb", tmp_path, 200 * MB) as engine:
        engine.put("items", {"number": np.arange(5)})
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_an_unknown_engine_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="unknown engine 'abacus'; choose from memory, duckdb"):
        assent.build_folder(toy.whole(), tmp_path / "out", engine="abacus", progress=False)


# The command


def test_the_command_builds_and_audits_by_an_engine(tmp_path, say):
    path = tmp_path / "graph.tsv"
    path.write_text("\n".join(lines_of(GRAPHS["plain"])) + "\n", encoding="utf-8")
    for engine in ("duckdb", "memory"):
        out = tmp_path / engine
        code, told, _ = say("build", path, "--out", out, "--engine", engine, "--recipe", 2, "-q")
        assert code == 0
        assert "3 relations" in told and "train facts" in told and "complete (C)" in told
    assert content(tmp_path / "duckdb") == content(tmp_path / "memory")
    code, told, _ = say("audit", tmp_path / "duckdb", "--engine", "duckdb", "--strict")
    assert code == 0 and "queries that stand twice" in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "abacus"], "unknown engine 'abacus'; choose from memory, duckdb, spark"),
        (["--engine", "duckdb", "--recipe", 1], "builds by recipe 2 only"),
        (["--engine", "duckdb", "--layout", "published"], "written by --engine memory only"),
        (["--engine", "duckdb", "--memory", 0], "--memory 0.0; choose more than 0"),
        (["--engine", "memory", "--memory", 1], "--memory: is for --engine duckdb; leave it out"),
        (["--scratch", "x"], "--scratch: is for --engine duckdb or --engine spark; leave it out"),
        (["--engine", "spark", "--memory", 1], "--memory: is for --engine duckdb; leave it out"),
        (["--recipe", 3], "recipe = 3; choose from 1, 2"),
        (["--engine", "duckdb", "--held-out", 2], "held_out = 2.0; choose a share"),
    ],
)
def test_what_an_engine_cannot_do_is_refused_in_a_line(tmp_path, say, options, message):
    path = tmp_path / "graph.tsv"
    path.write_text("a\tr\tb\n", encoding="utf-8")
    code, _, complaint = say("build", path, "--out", tmp_path / "out", *options)
    assert code == 2
    assert message in " ".join(complaint.split())
    assert not (tmp_path / "out").exists()


def test_what_spark_says_itself_goes_nowhere_and_its_end_hides_no_other(capfd, monkeypatch):
    monkeypatch.setattr(logging.getLogger("py4j"), "level", logging.WARNING)
    speak = [sys.executable, "-c", "import sys; print('WARN', file=sys.stderr)"]
    with with_spark._silent():
        subprocess.run(speak, check=True)
    assert capfd.readouterr().err == ""
    monkeypatch.setenv(DEBUGGING, "1")
    with with_spark._silent():
        subprocess.run(speak, check=True)
    assert capfd.readouterr().err == "WARN\n"


# The audit


@FEW
@given(toy.crowds(), deals, seeds)
def test_audits_find_the_same_in_memory_and_by_duckdb(tmp_path_factory, kb, deal, seed):
    folder = tmp_path_factory.mktemp("audit") / "benchmark"
    assent.save(toy.built(kb, deal=deal, seed=seed), folder)
    assert assent.audit(folder, engine="duckdb") == assent.audit(folder, engine="memory")


def test_audits_agree_on_a_benchmark_full_of_faults(tmp_path):
    benchmark = recipe.build(freebase(), deal="by-query")
    both = assent.Queries.joined([benchmark.valid, benchmark.test])
    fakes = both.take(both.subsets == 2)
    real = both.take(both.has_answers)
    copies = replace(fakes.take([0] * 5), anchors=real.anchors[:5], relations=real.relations[:5])
    bad = replace(
        benchmark,
        train=np.concatenate([benchmark.train, real.facts(4)[:7]]),
        valid=assent.Queries.joined([benchmark.valid, real.take([0, 1, 2]), copies]),
        test=assent.Queries.joined([benchmark.test, fakes.take([0, 1])]),
        origin={},
    )
    assent.save(bad, tmp_path / "bad")
    found = assent.audit(tmp_path / "bad", engine="duckdb")
    assert found == assent.audit(tmp_path / "bad", engine="memory")
    assert sum(finding.failed for finding in found) >= 5


# Spark


@pytest.fixture(scope="module")
def spark():
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java: `apt-get install default-jre-headless`")
    session = (
        pyspark.sql.SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.codegen.wholeStage", "false")  # to compile takes longer than to run
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.mark.filterwarnings("ignore")  # of pyspark itself
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {}),
        ("typed", {"removed": 4, "deal": "by-query", "seed": 2}),
        ("split", {"removed": ["e1", "e3"]}),
    ],
)
def test_spark_builds_the_bytes_that_memory_builds(tmp_path, spark, name, options):
    expected = in_memory(GRAPHS[name], tmp_path / "memory", **options)
    assert isinstance(expected, dict)
    assert by("spark", GRAPHS[name], tmp_path / "spark", **options) == expected


@pytest.mark.filterwarnings("ignore")
def test_spark_reads_files_and_its_audit_finds_what_memory_finds(tmp_path, spark):
    path = tmp_path / "graph.tsv"
    path.write_text("\n".join(lines_of(GRAPHS["plain"])) + "\n", encoding="utf-8")
    expected = in_memory(assent.read(path), tmp_path / "memory", seed=4)
    assert by("spark", path, tmp_path / "spark", seed=4) == expected
    found = assent.audit(tmp_path / "spark", engine="spark")
    assert found == assent.audit(tmp_path / "spark", engine="memory")
