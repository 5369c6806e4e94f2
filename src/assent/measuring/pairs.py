"""Entity-pair ranking: which pairs does a model put first for a relation? (Wang et al., 2019)

All pairs (?, relation, ?) that are candidates are ranked together. Of pairs that score the same,
the false ones come first. So a true pair is among the first k only if fewer than k false pairs
score at least as high. The highest k + T pairs, where T is the number of true pairs, are therefore
enough to know its rank, whichever of those that tie at the end are kept.

With T_r the true pairs of a relation, MAP@k = sum_r AP@k_r w_r / sum_r w_r, w_r = min(k, |T_r|),
and Hits@k the same mean of hits (Wang et al., "On Evaluating Embedding Models for Knowledge Base
Completion", RepL4NLP 2019). AP@k_r and hits are themselves shares of w_r, the most there could be.
The authors' draft in LibKGE has these weights; what they divide AP and hits by we have not seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, found_in, frozen, offsets_of, pair_keys, rows_of
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.counts import ratio
from assent.core.queries import Queries, Subset
from assent.core.scores import ScoreBlock, Scores
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError
from assent.measuring.plain import plain

K = 100
MOST_K = 1_000_000  # the pairs that are kept in memory grow with it

LOWEST = np.float32(-np.inf)


def pair_facts(benchmark: Benchmark, split: str, relations: Sequence[str] | None) -> Ids:
    """The facts (fact, 3) that one split asks for, or those of them about the relations named."""
    facts, names = benchmark.facts(split), benchmark.vocabulary.relations
    if relations is None:
        return facts
    for name in relations:
        refuse_unknown(name, names, "relation")
    return facts[np.isin(facts[:, 1], [names.index(name) for name in relations])]


def every_head(facts: Ids, num_entities: int) -> Iterator[Queries]:
    """For each relation of these facts (fact, 3), a query for the tail about every entity."""
    facts = facts[np.lexsort((facts[:, 2], facts[:, 0], facts[:, 1]))]
    for relation in np.unique(facts[:, 1]):
        heads, _, tails = facts[facts[:, 1] == relation].T
        yield Queries(
            frozen(np.arange(num_entities)),
            frozen(np.full(num_entities, relation)),
            frozen(offsets_of(np.bincount(heads, minlength=num_entities)), np.int64),
            frozen(tails),
            frozen(np.full(num_entities, Subset.COMPLETE)),
        )


class Found(NamedTuple):
    """Which true pairs of a relation are among its first k pairs."""

    relation: int
    true: int  # how many true pairs there are
    ranks: Keys  # (found,)  of those among the first k, ascending


class BestPairs:
    """A collector of scores that keeps the highest pairs of one relation, asked by `every_head`."""

    def __init__(self, queries: Queries, k: int = K) -> None:
        if not 1 <= k <= MOST_K:
            raise ConfigError(f"k: choose from 1 to {MOST_K:,}, found {str(k)[:30]}")
        self.queries = queries
        self.k = k
        self.most = k + len(queries.answers)
        self.floor = LOWEST
        self.num_entities = 1
        self.pairs: Keys = np.empty(0, np.int64)  # (pair,)  head and tail as one key
        self.scores: Scores = np.empty(0, np.float32)  # (pair,)

    def add(self, block: ScoreBlock) -> None:
        self.num_entities = block.scores.shape[1]
        # Without a floor every pair is kept: the first few rows raise it.
        first, size = 0, len(block.scores) if self.floor > LOWEST else 1
        while first < len(block.scores):
            self._add(block.scores[first : first + size], block.first + first)
            first, size = first + size, 2 * size

    def _add(self, scores: Scores, first: int) -> None:
        # Soon hardly a row has a score above the floor: rows without one are skipped.
        heads = np.flatnonzero(scores.max(axis=1) > self.floor)
        scores = scores[heads]
        rows, tails = np.divmod(np.flatnonzero(scores > self.floor), self.num_entities)
        pairs = pair_keys(heads[rows] + first, tails, self.num_entities)
        self.pairs = np.append(self.pairs, pairs)
        self.scores = np.append(self.scores, scores[rows, tails])
        if len(self.pairs) > self.most:
            kept = np.argpartition(self.scores, -self.most)[-self.most :]
            self.pairs, self.scores = self.pairs[kept], self.scores[kept]
        if len(self.pairs) == self.most:
            self.floor = self.scores.min()

    def result(self) -> Found:
        true = pair_keys(rows_of(self.queries.offsets), self.queries.answers, self.num_entities)
        right = found_in(true, self.pairs)
        ranks: Keys = np.flatnonzero(right[np.lexsort((right, -self.scores))]) + 1
        return Found(int(self.queries.relations[0]), len(true), ranks[ranks <= self.k])


@dataclass(frozen=True, slots=True, eq=False)
class PairRanking:
    """The ranks of the true pairs of each relation that are among its first k."""

    split: str
    k: int
    vocabulary: Vocabulary
    relations: Ids  # (relation,)      those that were ranked
    true: Keys  # (relation,)          true pairs
    offsets: Keys  # (relation + 1,)   ranks of relation r: ranks[offsets[r]:offsets[r + 1]]
    ranks: Keys  # (found,)            ascending within a relation

    @classmethod
    def of(cls, split: str, k: int, vocabulary: Vocabulary, found: Sequence[Found]) -> Self:
        """From what was found for each relation."""
        relations, true, ranks = zip(*found, strict=True) if found else ((), (), ())
        return cls(
            split,
            k,
            vocabulary,
            frozen(relations),
            frozen(true, np.int64),
            frozen(offsets_of([len(part) for part in ranks]), np.int64),
            frozen(np.concatenate([np.empty(0, np.int64), *ranks]), np.int64),
        )

    @property
    def weights(self) -> Keys:  # (relation,)
        """The most true pairs that can be among the first k."""
        return np.minimum(self.true, self.k)

    @property
    def hits(self) -> Keys:  # (relation,)
        """How many true pairs are among the first k."""
        return np.diff(self.offsets)

    def average_precision(self) -> NDArray[np.float64]:  # (relation,)
        values: NDArray[np.float64] = ratio(self._precision(), self.weights)
        return values

    def mean_average_precision(self) -> float:
        """MAP@k: the mean of the average precisions of the relations, weighted by `weights`."""
        return float(ratio(self._precision().sum(), self.weights.sum()))

    def hits_at_k(self) -> float:
        """Hits@k: the mean of the shares of hits of the relations, weighted by `weights`."""
        return float(ratio(self.hits.sum(), self.weights.sum()))

    def _precision(self) -> NDArray[np.float64]:  # (relation,)
        """The sum of the precisions at the ranks of the true pairs that were found."""
        rows = rows_of(self.offsets)
        found = np.arange(len(rows)) - self.offsets[rows] + 1
        return np.bincount(rows, found / self.ranks, len(self.relations)).astype(np.float64)

    def to_json(self) -> dict[str, Any]:
        """Plain values; what is undefined is null."""
        columns = {
            "true_pairs": self.true,
            "hits": self.hits,
            "average_precision": self.average_precision(),
            "hits_at_k": ratio(self.hits, self.weights),
        }
        found = {
            "split": self.split,
            "k": self.k,
            "true_pairs": self.true.sum(),
            "hits": self.hits.sum(),
            "mean_average_precision": self.mean_average_precision(),
            "hits_at_k": self.hits_at_k(),
            "relations": {
                self.vocabulary.relations[relation]: {
                    name: values[place] for name, values in columns.items()
                }
                for place, relation in enumerate(self.relations)
            },
        }
        return plain(found)
