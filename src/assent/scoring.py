"""Model + queries -> a stream of score blocks, what is known masked. Torch ends here."""

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assent.core.arrays import Ids, Keys
from assent.core.benchmark import Benchmark
from assent.core.columns import Columns
from assent.core.queries import Queries, Subset
from assent.core.scores import QueriesDone, ScoreBlock, Scorer, Scores, unheard
from assent.errors import DataError
from assent.geometry import scans, threads
from assent.geometry.shared import SharedColumns
from assent.models.custom import theirs
from assent.models.embedding import Embedding

CELLS = 1 << 23  # scores of a block, 32 MB: the larger, the closer to the bare product
PAIRS = 1 << 14  # candidates scored together by themselves
ROWS = 64  # queries of a block, at least: the table of entities is read once a block


@runtime_checkable
class PairScorer(Scorer, Protocol):
    """A scorer that need not look at all entities to score one, and can be told from others."""

    def pairs(self, anchors: Tensor, relations: Tensor, entities: Tensor) -> Tensor:  # -> (fact,)
        ...

    def digest(self) -> str: ...


class Scored(Protocol):
    """A benchmark, and anything that scores its queries: a run, or a model from elsewhere."""

    @property
    def benchmark(self) -> Benchmark: ...

    @property
    def model(self) -> Scorer: ...


def score_split(run: Scored, split: str, progress: QueriesDone = unheard) -> Iterator[ScoreBlock]:
    """The scores of the queries of one split, what is known masked."""
    queries = run.benchmark.queries(split)
    for block in score(run.model, queries, run.benchmark.known(split)):
        yield block
        progress(block.first + len(block.queries), len(queries))


def score(
    scorer: Scorer, queries: Queries, known: Queries, cells: int = CELLS
) -> Iterator[ScoreBlock]:
    """The scores of all candidates, a few queries at a time.

    `known` answers are no candidates: accepting them would add nothing. Where processes share the
    entities, each has blocks of the same queries, with the candidates that it has.
    """
    size, columns = max(ROWS, cells // scorer.num_entities), columns_of(scorer)
    offsets, places = columns.own(*known.answers_to(queries, scorer.num_entities))
    for first in range(0, len(queries), size):
        part = queries.take(np.arange(first, min(first + size, len(queries))))
        with torch.no_grad(), theirs():
            given = scorer.scores(_tensor(part.anchors), _tensor(part.relations))
        scores = given.float().cpu().numpy()
        if scores.shape != (expected := (len(part), columns.count)):
            raise DataError(f"scores of {scores.shape}; expected {expected}")
        _mask(scores, offsets[first : first + len(part) + 1], places)
        yield ScoreBlock(part, scores, first, columns)


def columns_of(scorer: Scorer) -> Columns:
    """The entities that this process scores: all, or where several share them, its own."""
    peers = getattr(scorer, "peers", None)
    count = scorer.num_entities
    return Columns(count) if peers is None else SharedColumns(count, peers)


def _mask(scores: Scores, offsets: Keys, places: Ids) -> None:
    """In place: those of row i are at `offsets[i]` and on, up to those of the next."""

    def mask(part: int, parts: int) -> None:
        scans.mask(scores, offsets, places, *threads.share(len(scores), part, parts))

    threads.side_by_side(mask)


def score_facts(scorer: Scorer, facts: Ids, cells: int = CELLS) -> Scores:  # (fact,)
    """The score of each of these facts (fact, 3): that of its tail, asked for of its head.

    Each query is scored once, whatever the number of its facts, and nothing is masked.
    """
    heads, relations, tails = facts.T
    order = np.lexsort((tails, heads, relations))  # that of the answers of grouped queries
    asked, known = Queries.grouped(heads, relations, tails), Queries.empty([], [], Subset.COMPLETE)
    scores = np.empty(len(facts), np.float32)
    done = 0
    for block in score(scorer, asked, known, cells):
        mine = order[done : done + len(block.queries.answers)]
        scores[mine] = block.of_answers()
        done += len(mine)
    return scores


def score_pairs(model: PairScorer, anchors: Ids, relations: Ids, entities: Ids) -> Scores:
    """The score (candidate,) of each of these candidates, a few thousand at a time."""
    scores = np.empty(len(anchors), np.float32)
    for first in range(0, len(anchors), PAIRS):
        mine = slice(first, first + PAIRS)
        with torch.no_grad(), theirs():
            given = model.pairs(*(_tensor(ids[mine]) for ids in (anchors, relations, entities)))
        scores[mine] = given.float().cpu().numpy()
    return scores


def entity_vectors(scorer: object) -> NDArray[np.floating[Any]] | None:  # (entity, dim)
    """The entities as a model sees them; None where it has no vector for each."""
    if not isinstance(scorer, Embedding):
        return None
    with theirs():
        vectors: NDArray[np.floating[Any]] = scorer.entity_table().vectors.detach().cpu().numpy()
    return vectors if len(vectors) == scorer.num_entities else None


class SharedVectors:
    """The vectors of entities that several processes share; all of them ask for the same ones."""

    def __init__(self, model: Embedding) -> None:
        self.model = model

    def __getitem__(self, entities: Ids) -> NDArray[np.floating[Any]]:
        with theirs():
            table = self.model.rows_of(_tensor(entities))
        vectors: NDArray[np.floating[Any]] = table.vectors.detach().cpu().numpy()
        return vectors


def seen_by(scorer: object) -> NDArray[np.floating[Any]] | SharedVectors | None:
    """The entities as a model sees them, whichever process has them."""
    if isinstance(scorer, Embedding) and scorer.peers is not None:
        return SharedVectors(scorer)
    return entity_vectors(scorer)


def _tensor(ids: Ids) -> Tensor:
    return torch.from_numpy(ids.astype(np.int64))
