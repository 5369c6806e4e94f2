"""Measuring on valid where several processes share the entities: each looks at its own.

What goes from process to process is in proportion to the queries and their answers, never to the
entities.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol, TypeGuard

import numpy as np
import torch

from assent.core.arrays import Keys, rows_of
from assent.core.queries import Queries
from assent.core.scores import ScoreBlock, Scores
from assent.deciding.shortlisting import Highest
from assent.geometry import Peers, scans, threads
from assent.measuring.ranking import Standings
from assent.models.base import Model

CELLS = 1 << 23  # scores of a block, 32 MB
ROWS = 64  # queries of a block, at least


class ShareBlock(NamedTuple):
    """Some of the queries, and their scores of the entities that this process has."""

    queries: Queries
    scores: Scores  # (query, row)
    first: int  # place of the first of these queries among all queries asked
    peers: Peers

    def of_ids(self, offsets: Keys, ids: np.ndarray) -> Scores:  # (id,)
        """The scores of entities of each query, ragged, from whichever process has them."""
        found = np.zeros(len(ids), np.float32)
        mine = ids % self.peers.size == self.peers.rank
        found[mine] = self.scores[rows_of(offsets)[mine], ids[mine] // self.peers.size]
        total = torch.from_numpy(found)
        self.peers.sum_(total)
        return total.numpy()


class ShareCollector(Protocol):
    """Takes from each block what it needs, and at last puts together what all processes took."""

    def add(self, block: ShareBlock) -> None: ...

    def join(self, peers: Peers, num_entities: int) -> None: ...


def is_shared(model: object) -> TypeGuard[Model]:
    """Whether this process has some of the entities of a model alone."""
    return isinstance(model, Model) and model.peers is not None


def collect_shares(
    model: Model, queries: Queries, known: Queries, collector: ShareCollector
) -> None:
    """One pass over the scores of all candidates; `known` answers are none."""
    assert model.peers is not None
    for block in _blocks(model, model.peers, queries, known):
        collector.add(block)
    collector.join(model.peers, model.num_entities)


def _blocks(model: Model, peers: Peers, queries: Queries, known: Queries) -> Iterator[ShareBlock]:
    # The same in all processes, whose numbers of entities may differ by one.
    size = max(ROWS, CELLS * peers.size // model.num_entities)
    for first in range(0, len(queries), size):
        part = queries.take(np.arange(first, min(first + size, len(queries))))
        anchors, relations = (
            torch.from_numpy(ids.astype(np.int64)) for ids in (part.anchors, part.relations)
        )
        scores = model.scores(anchors, relations).float().cpu().numpy()
        offsets, ids = known.answers_to(part, model.num_entities)
        mine = ids % peers.size == peers.rank
        scores[rows_of(offsets)[mine], ids[mine] // peers.size] = -np.inf
        yield ShareBlock(part, scores, first, peers)


class ShortlistOfShares:
    """Each process keeps the highest of its candidates; all have the highest of these at last."""

    def __init__(self, highest: Highest) -> None:
        self.highest = highest

    def add(self, block: ShareBlock) -> None:
        self.highest.add(ScoreBlock(block.queries, block.scores, block.first))

    def join(self, peers: Peers, num_entities: int) -> None:
        (rows, places, scores), floors = self.highest.kept_here()
        entities = places * np.int32(peers.size) + np.int32(peers.rank)
        columns = [_ragged(peers, column) for column in (rows, entities, scores)]
        all_floors = peers.all_parts(torch.from_numpy(floors)).numpy()
        rooms = list(zip(*columns, strict=True))
        self.highest.take_up(rooms, list(all_floors), num_entities)


class StandingsOfShares:
    """Each process counts which of its candidates stand higher than an answer."""

    def __init__(self, standings: Standings) -> None:
        self.standings = standings

    def add(self, block: ShareBlock) -> None:
        asked = block.queries
        of_answers = block.of_ids(asked.offsets, asked.answers)
        higher, equal = np.zeros((2, len(asked.answers)), np.int64)

        def stand(part: int, parts: int) -> None:
            rows = threads.share(len(asked), part, parts)
            scans.standings_of(block.scores, asked.offsets, of_answers, *rows, higher, equal)

        threads.side_by_side(stand)
        offsets, true = self.standings.true_of(block.first, len(asked))
        of_true = block.of_ids(offsets, true)
        self.standings.note(block.first, asked, (higher, equal), of_answers, (offsets, of_true))

    def join(self, peers: Peers, num_entities: int) -> None:
        self.standings.add_up(lambda counts: _summed(peers, counts))


def _summed(peers: Peers, counts: Keys) -> Keys:
    """Whole numbers of all processes, added up."""
    parts = peers.all_parts(torch.from_numpy(counts))
    return parts.sum(0).numpy()


def _ragged(peers: Peers, column: np.ndarray) -> list[np.ndarray]:
    """What each process has of a column, of whatever length."""
    lengths = peers.all_parts(torch.tensor([len(column)])).flatten()
    padded = torch.from_numpy(np.resize(column, int(lengths.max()))) if len(column) else None
    if padded is None:
        padded = torch.from_numpy(np.zeros(int(lengths.max()), column.dtype))
    parts = peers.all_parts(padded).numpy()
    return [part[:length] for part, length in zip(parts, lengths.tolist(), strict=True)]
