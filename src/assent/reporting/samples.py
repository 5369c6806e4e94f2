"""A few queries of each kind, in words."""

from collections.abc import Iterator

import numpy as np

from assent.building.counting import KINDS
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries

MOST_ANSWERS = 5


def sample_queries(benchmark: Benchmark, each: int = 3, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Pairs of kind and query; an incomplete query of the kind I has answers left."""
    rng = np.random.default_rng(seed)
    test = benchmark.test
    for kind, is_kind in KINDS.items():
        of_kind = is_kind(test) & (test.has_answers if kind == "I" else True)
        rows = rng.permutation(np.flatnonzero(of_kind))[:each]
        for row in rows:
            yield kind, in_words(test, int(row), benchmark)


def in_words(queries: Queries, row: int, benchmark: Benchmark) -> str:
    """`Brazil · currency · ?` and its answers."""
    vocabulary = benchmark.vocabulary
    relation = int(queries.relations[row])
    name = vocabulary.relation(relation % vocabulary.num_relations)
    anchor = vocabulary.entity(int(queries.anchors[row]))
    asks_tail = relation < vocabulary.num_relations
    question = f"{anchor} · {name} · ?" if asks_tail else f"? · {name} · {anchor}"
    answers = queries.answers[queries.offsets[row] : queries.offsets[row + 1]]
    shown = [vocabulary.entity(int(answer)) for answer in answers[:MOST_ANSWERS]]
    more = f" and {len(answers) - len(shown)} more" if len(answers) > len(shown) else ""
    return f"{question}   → {', '.join(shown) or 'nothing'}{more}"
