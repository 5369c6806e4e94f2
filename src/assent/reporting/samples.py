"""A few queries of each kind, and a few decisions, in words."""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit

from assent.building.counting import KINDS
from assent.core.arrays import Keys
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries
from assent.core.vocabulary import Vocabulary
from assent.measuring.evaluation import Evaluation

MOST_ANSWERS = 5


def sample_queries(benchmark: Benchmark, each: int = 3, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Pairs of kind and query; an incomplete query of the kind I has answers left."""
    for kind, row in sample_rows(benchmark, each, seed):
        yield kind, in_words(benchmark.test, row, benchmark)


def sample_rows(benchmark: Benchmark, each: int = 3, seed: int = 0) -> list[tuple[str, int]]:
    """Pairs of kind and place in test, drawn at random."""
    rng = np.random.default_rng(seed)
    test, drawn = benchmark.test, []
    for kind, is_kind in KINDS.items():
        of_kind = is_kind(test) & (test.has_answers if kind == "I" else True)
        rows = rng.permutation(np.flatnonzero(of_kind))[:each]
        drawn += [(kind, int(row)) for row in rows]
    return drawn


def sample_decisions(evaluation: Evaluation, most: int = 10) -> Iterator[tuple[str, str]]:
    """The surest decision about each of some relations: right or not, question and answer."""
    found, names = evaluation.shortlist, evaluation.vocabulary
    for place in surest(evaluation)[:most]:
        question = asked_in_words(found.queries, int(found.rows[place]), names)
        answer, chance = names.entity(int(found.entities[place])), expit(found.scores[place])
        verdict = "right" if found.right[place] else "not in the graph"
        yield verdict, f"{question}   → {answer} ({chance:.2f})"


def surest(evaluation: Evaluation) -> Keys:  # (relation,)
    """The places in the shortlist of the surest decision about each relation, falling."""
    found = evaluation.shortlist
    taken = np.flatnonzero(evaluation.accepted)
    taken = taken[np.argsort(-found.scores[taken], kind="stable")]
    _, first = np.unique(found.relations[taken], return_index=True)
    return taken[np.sort(first)]


def asked_in_words(queries: Queries, row: int, vocabulary: Vocabulary) -> str:
    """`Brazil · currency · ?`"""
    relation = int(queries.relations[row])
    name = vocabulary.relation(relation % vocabulary.num_relations)
    anchor = vocabulary.entity(int(queries.anchors[row]))
    asks_tail = relation < vocabulary.num_relations
    return f"{anchor} · {name} · ?" if asks_tail else f"? · {name} · {anchor}"


def in_words(queries: Queries, row: int, benchmark: Benchmark) -> str:
    """A query and its answers."""
    vocabulary = benchmark.vocabulary
    question = asked_in_words(queries, row, vocabulary)
    answers = queries.answers[queries.offsets[row] : queries.offsets[row + 1]]
    shown = [vocabulary.entity(int(answer)) for answer in answers[:MOST_ANSWERS]]
    more = f" and {len(answers) - len(shown)} more" if len(answers) > len(shown) else ""
    return f"{question}   → {', '.join(shown) or 'nothing'}{more}"
