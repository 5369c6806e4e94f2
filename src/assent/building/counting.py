"""The paper's Table 1: how many queries of which kind a benchmark asks."""

from collections.abc import Callable, Mapping

import numpy as np

from assent.core.arrays import Mask
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries, Subset

KINDS: dict[str, Callable[[Queries], Mask]] = {
    "C": lambda queries: queries.subsets == Subset.COMPLETE,
    "I": lambda queries: queries.subsets == Subset.INCOMPLETE,
    "N": lambda queries: queries.is_none,
    "F": lambda queries: queries.subsets == Subset.FAKE,
}

Table = Mapping[str, Mapping[str, int]]


def table_one(benchmark: Benchmark) -> Table:
    """Queries by kind (N is a part of I), and by side and half."""
    num_relations = benchmark.vocabulary.num_relations
    both = Queries.joined([benchmark.valid, benchmark.test])
    heads = both.relations >= num_relations
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
