"""Building benchmarks: FB15k-237 against reading it, and synthetic graphs of growing size.

`python benchmarks/building.py engines SIZE...` builds synthetic graphs of so many facts, from file
to benchmark, by memory (recipe 2) and DuckDB, audits them, and tells time and peak memory;
`--engine NAME` only by this one, `--scratch FOLDER` where there is room (60 bytes a fact for the
file, 150 for tables).
"""

import argparse
import filecmp
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import assent
from assent.core.facts import KnowledgeBase
from assent.core.vocabulary import Vocabulary
from measuring import data_folder, medians, peak_memory

SIZES = (100_000, 1_000_000, 10_000_000)
RELATIONS = 500
KINDS = 20  # of entities

Columns = tuple[np.ndarray, np.ndarray, np.ndarray]  # heads, relations, tails
Draw = Callable[[np.random.Generator, int, int], Columns]  # of the first fact's number, how many


def main() -> None:
    if sys.argv[1:2] == ["engines"]:
        by_engine(sys.argv[2:])
        return
    if len(sys.argv) == 2:
        grow(int(sys.argv[1]))
        return
    against_reading()
    print("synthetic graphs, Zipf")
    header = ("facts", "entities", "build", "save", "facts/s", "peak memory")
    print(
        "  "
        + "  ".join(
            f"{name:>{width}}" for name, width in zip(header, (10, 10, 8, 8, 10, 11), strict=True)
        )
    )
    for size in SIZES:
        # A process of its own each: peak memory never falls.
        subprocess.run([sys.executable, __file__, str(size)], check=True)


def against_reading() -> None:
    folder = data_folder() / "fb15k-237"
    kb = assent.read(folder)
    benchmark = assent.build(kb)
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "benchmark"
        seconds = medians(
            {
                "read": lambda: assent.read(folder),
                "build": lambda: assent.build(kb),
                "save": lambda: assent.save(benchmark, out, overwrite=True),
            }
        )
    both = seconds["build"] + seconds["save"]
    print(f"FB15k-237 to a benchmark of {len(benchmark.valid) + len(benchmark.test):,} queries")
    for name, took in seconds.items():
        print(f"  {name:<6} {1000 * took:7.0f} ms")
    print(f"  build and save take {both / seconds['read']:.2f}x the reading (goal 3x)")


def grow(size: int) -> None:
    kb = synthetic(size)
    start = time.perf_counter()
    benchmark = assent.build(kb)
    built = time.perf_counter()
    with tempfile.TemporaryDirectory() as scratch:
        assent.save(benchmark, Path(scratch) / "benchmark")
    saved = time.perf_counter()
    print(
        f"  {len(kb.facts):>10,}  {kb.vocabulary.num_entities:>10,}"
        f"  {built - start:>6.1f} s  {saved - built:>6.1f} s"
        f"  {len(kb.facts) / (saved - start):>10,.0f}  {peak_memory():>8.1f} GB"
    )


def by_engine(arguments: list[str]) -> None:
    """Time, processor time and peak memory of `assent build` and `assent audit`, by engine."""
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", nargs="+", type=int)
    parser.add_argument("--engine", action="append", choices=("memory", "duckdb", "spark"))
    parser.add_argument("--scratch", type=Path)
    given = parser.parse_args(arguments)
    print("      facts  engine  command: time, processor time, peak memory")
    for size in given.sizes:
        with tempfile.TemporaryDirectory(dir=given.scratch) as scratch:
            folder = Path(scratch)
            write_synthetic(size, folder / "graph.tsv")
            built = []
            for engine in given.engine or ("memory", "duckdb"):
                built.append(folder / engine)
                by = ["--engine", engine, "--scratch", scratch]
                told = [f"  {size:>9,}  {engine:<6}"]
                graph = folder / "graph.tsv"
                told += _measured("build", graph, "--out", built[-1], *by, "--recipe", 2)
                told += _measured("audit", built[-1], *by)
                print("".join(told), flush=True)
            for other in built[1:]:
                same = filecmp.cmpfiles(
                    built[0], other, [path.name for path in built[0].iterdir()], shallow=False
                )
                assert not same[1] and not same[2], f"{built[0].name} and {other.name} differ"


def _measured(*arguments: object) -> list[str]:
    """A command in a process of its own: what it took."""
    took = used_by([sys.executable, "-m", "assent", *map(str, arguments), "--quiet"])
    return [
        f"  {arguments[0]}  {took['clock']:>6.0f} s  {took['processor']:>6.0f} s"
        f"  {took['memory']:>6.2f} GB"
    ]


def used_by(command: list[str]) -> dict[str, Any]:
    """Seconds by the clock and of the processor, GB of memory at most, and what was said."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        process = subprocess.Popen(command, stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if status:
            raise SystemExit(f"{' '.join(command)} failed")
        said.seek(0)
        return {
            "clock": time.perf_counter() - start,
            "processor": used.ru_utime + used.ru_stime,
            "memory": used.ru_maxrss * 1024 / 1e9,
            "said": said.read(),
        }


def write_synthetic(
    size: int, path: Path, draw: Draw | None = None, block: int = 5_000_000
) -> None:
    """A file of lines of drawn facts, by default like those of `synthetic`, block by block.

    A few stand twice.
    """
    rng = np.random.default_rng(size)
    draw = draw or partial(_drawn, size // 10)
    ends = pl.format(
        "entity/{}\trelation/{}\tentity/{}",
        *(
            pl.col(name).cast(pl.String).str.zfill(digits)
            for name, digits in (("head", 8), ("relation", 3), ("tail", 8))
        ),
    )
    with path.open("wb") as file:
        for start in range(0, size, block):
            drawn = int(1.04 * min(block, size - start))
            frame = pl.DataFrame(
                dict(zip(("head", "relation", "tail"), draw(rng, start, drawn), strict=True))
            )
            frame.select(ends).write_csv(file, include_header=False, quote_style="never")


def _drawn(num_entities: int, rng: np.random.Generator, start: int, count: int) -> Columns:
    relations = (RELATIONS * rng.random(count) ** 3).astype(np.int64)
    heads, tails = (
        (num_entities // KINDS * rng.random(count) ** 4).astype(np.int64) * KINDS + kind
        for kind in (relations % KINDS, relations // KINDS % KINDS)
    )
    return heads, relations, tails


def synthetic(size: int) -> KnowledgeBase:
    """So many different facts between entities drawn by Zipf's law, exponent 3/4.

    Entities are of twenty kinds, and each relation joins two of them.
    """
    rng = np.random.default_rng(size)
    num_entities, kinds, drawn = size // 10, KINDS, int(1.6 * size)
    relations = (RELATIONS * rng.random(drawn) ** 3).astype(np.int64)
    ends = [
        (num_entities // kinds * rng.random(drawn) ** 4).astype(np.int64) * kinds + kind
        for kind in (relations % kinds, relations // kinds % kinds)
    ]
    keys = np.unique((ends[0] * RELATIONS + relations) * num_entities + ends[1])
    keys = rng.permutation(keys)[:size]
    pairs, tails = np.divmod(keys, num_entities)
    heads, relations = np.divmod(pairs, RELATIONS)
    names, places = np.unique(np.concatenate([heads, tails]), return_inverse=True)
    vocabulary = Vocabulary(
        tuple(f"entity/{name:07d}" for name in names),
        tuple(f"relation/{name:03d}" for name in range(RELATIONS)),
    )
    facts = np.stack([places[: len(keys)], relations, places[len(keys) :]], axis=1)
    return KnowledgeBase.of_ids(vocabulary, facts.astype(np.int32))


if __name__ == "__main__":
    main()
