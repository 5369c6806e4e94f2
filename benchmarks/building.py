"""Building benchmarks: FB15k-237 against reading it, and synthetic graphs of growing size."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import assent
from assent.core.facts import KnowledgeBase
from assent.core.vocabulary import Vocabulary
from measuring import data_folder, medians, peak_memory

SIZES = (100_000, 1_000_000, 10_000_000)
RELATIONS = 500


def main() -> None:
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


def synthetic(size: int) -> KnowledgeBase:
    """So many different facts between entities drawn by Zipf's law, exponent 3/4.

    Entities are of twenty kinds, and each relation joins two of them.
    """
    rng = np.random.default_rng(size)
    num_entities, kinds, drawn = size // 10, 20, int(1.6 * size)
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
