"""The paper's Table 1: how many queries of which kind a benchmark asks."""

from collections.abc import Callable, Mapping

import numpy as np

from assent.core.arrays import Mask
from assent.core.benchmark import Benchmark
from assent.core.queries import SETS, Queries

KINDS: dict[str, Callable[[Queries], Mask]] = {kind: SETS[kind] for kind in ("C", "I", "N", "F")}

Table = Mapping[str, Mapping[str, int]]


def table_one(benchmark: Benchmark) -> Table:
    """The number of queries of each kind (N is a part of I), by side and by split."""
    both = Queries.joined([benchmark.valid, benchmark.test])
    heads = benchmark.vocabulary.asks_for_head(both.relations)
    in_valid = np.arange(len(both)) < len(benchmark.valid)
    table = {}
    for kind, is_kind in KINDS.items():
        those = is_kind(both)
        table[kind] = {
            "head": int(np.sum(those & heads)),
            "tail": int(np.sum(those & ~heads)),
            "total": int(np.sum(those)),
            "valid": int(np.sum(those & in_valid)),
            "test": int(np.sum(those & ~in_valid)),
        }
    return table
