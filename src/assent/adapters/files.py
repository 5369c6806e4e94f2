"""Files of scores as a scorer: a matrix or a list of candidates for each split of a benchmark."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from assent.adapters.logits import logits, query_in_words
from assent.core.arrays import Keys, found_in, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries
from assent.core.scores import Scores
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.scores import map_matrix, read_candidates

CLOSE = 1e-4  # rounding differs with the batch that a score was computed in
ROWS = 64  # compared together

Read = Callable[[Keys], NDArray[Any]]  # places of queries in their split -> scores (query, entity)


@dataclass(frozen=True, slots=True)
class Files:
    """Where the scores of each split lie."""

    valid: Path | None
    test: Path | None

    def on(self, benchmark: Benchmark) -> "FileScorer":
        parts = tuple(
            Part(str(path), queries, _reader(path, queries, benchmark))
            for path, queries in ((self.valid, benchmark.valid), (self.test, benchmark.test))
            if path is not None
        )
        return FileScorer.of(parts, benchmark.vocabulary)


def of(valid: str | Path | None = None, test: str | Path | None = None) -> Files:
    """Scores of valid and of test, each in a file; `adapt` takes them.

    `.npy`: a matrix (query, entity), rows in the order of that split's queries, columns in the
    order of the entities. `.parquet`: candidates with the columns side (head or tail, what is
    asked for), anchor, relation, entity, score; one that is not listed is no candidate.
    """
    if valid is None and test is None:
        raise ConfigError("no file of scores; expected valid=..., test=... or both")
    return Files(*(Path(path) if path is not None else None for path in (valid, test)))


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The scores of one split."""

    where: str
    queries: Queries
    read: Read


@dataclass(frozen=True, slots=True, eq=False)
class FileScorer:
    """Looks queries up in the files of all splits."""

    vocabulary: Vocabulary
    parts: tuple[Part, ...]
    queries: Queries  # of all parts, one after another
    keys: Keys  # (distinct query,)  ascending
    rows: Keys  # (distinct query,)  where each stands first among the queries

    @classmethod
    def of(cls, parts: tuple[Part, ...], vocabulary: Vocabulary) -> "FileScorer":
        queries = Queries.joined([part.queries for part in parts])
        keys = queries.keys(vocabulary.num_entities)
        order = np.argsort(keys, kind="stable")
        first = np.append(True, np.diff(keys[order]) != 0)[: len(order)]
        rows = order[first]
        scorer = cls(vocabulary, parts, queries, keys[rows], rows)
        earlier = rows[np.cumsum(first) - 1]  # (query,)  the same query, met first
        scorer._refuse_difference(earlier[~first], order[~first])
        return scorer

    @property
    def num_entities(self) -> int:
        return self.vocabulary.num_entities

    def scores(self, anchors: Tensor, relations: Tensor) -> Tensor:  # -> (query, entity)
        keys = pair_keys(relations.numpy(), anchors.numpy(), self.num_entities)
        for query in np.flatnonzero(~found_in(self.keys, keys))[:1]:
            asked = query_in_words(int(anchors[query]), int(relations[query]), self.vocabulary)
            given = ", ".join(part.where for part in self.parts)
            raise DataError(f"{given}: no scores for the {asked}; give a file for its split")
        return torch.from_numpy(self._read(self.rows[np.searchsorted(self.keys, keys)]))

    def _read(self, rows: Keys) -> Scores:  # (row, entity)
        scores = np.empty((len(rows), self.num_entities), np.float32)
        start = 0
        for part in self.parts:
            mine = (start <= rows) & (rows < start + len(part.queries))
            asked = self.queries.take(rows[mine])
            given = part.read(rows[mine] - start)
            scores[mine] = logits(
                given, asked.anchors, asked.relations, self.vocabulary, part.where
            )
            start += len(part.queries)
        return scores

    def _refuse_difference(self, earlier: Keys, again: Keys) -> None:
        """Refuses a query that is asked twice with different scores: which would be meant?"""
        for start in range(0, len(again), ROWS):
            mine = slice(start, start + ROWS)
            one, other = self._read(earlier[mine]), self._read(again[mine])
            for query, entity in np.argwhere(~np.isclose(one, other, CLOSE, CLOSE))[:1]:
                row, name = again[mine][query], self.vocabulary.entities[entity]
                anchor, slot = self.queries.anchors[row], self.queries.relations[row]
                asked = query_in_words(anchor, slot, self.vocabulary)
                raise DataError(
                    f"{' and '.join(part.where for part in self.parts)}: "
                    f"the {asked} is asked twice, and {name!r} "
                    f"scores {one[query, entity]:g} and {other[query, entity]:g}; "
                    "expected the scores of one model, before anything is masked"
                )


def _reader(path: Path, queries: Queries, benchmark: Benchmark) -> Read:
    if path.suffix not in READERS:
        found = path.suffix or "none"
        raise DataError(f"{path}: unknown suffix {found}; choose from {', '.join(READERS)}")
    return READERS[path.suffix](path, queries, benchmark)


def _matrix(path: Path, queries: Queries, benchmark: Benchmark) -> Read:
    matrix = map_matrix(path)
    expected = (len(queries), benchmark.vocabulary.num_entities)
    if matrix.shape != expected:
        raise DataError(
            f"{path}: a matrix of shape {matrix.shape}; expected {expected}, "
            "a row for each query and a column for each entity"
        )
    return lambda rows: matrix[rows]


def _candidates(path: Path, queries: Queries, benchmark: Benchmark) -> Read:
    names = benchmark.vocabulary
    listed = read_candidates(path, names)
    asked = [part.keys(names.num_entities) for part in (benchmark.valid, benchmark.test)]
    known = found_in(np.sort(np.concatenate(asked)), listed.places.keys(names.num_entities))
    for query in np.flatnonzero(~known)[:1]:
        anchor, relation = listed.places.anchors[query], listed.places.relations[query]
        raise DataError(
            f"{path}: candidates for the {query_in_words(anchor, relation, names)}, "
            "which the benchmark does not ask; expected candidates for its queries"
        )
    return lambda rows: listed.of(queries.take(rows))


READERS = {".npy": _matrix, ".parquet": _candidates}
