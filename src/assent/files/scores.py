"""Scores that someone else computed: a matrix as .npy, or single candidates as .parquet."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, frozen, rows_of
from assent.core.queries import Queries
from assent.core.scores import Scores
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError
from assent.files.guarding import parsing, refuse_special
from assent.files.parquet import names_in, read_frame
from assent.files.tsv import ids_of

COLUMNS = ("side", "anchor", "relation", "entity", "score")


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The candidates that a file lists, with their scores; any other entity is no candidate."""

    places: Queries  # where the candidates of each query stand: its "answers" are places
    entities: Ids  # (candidate,)
    scores: Scores  # (candidate,)
    num_entities: int

    def of(self, asked: Queries) -> Scores:  # (query, entity)
        """The scores of these queries; -inf for what is not listed."""
        scores = np.full((len(asked), self.num_entities), -np.inf, np.float32)
        offsets, places = self.places.answers_to(asked, self.num_entities)
        scores[rows_of(offsets), self.entities[places]] = self.scores[places]
        return scores


def map_matrix(path: Path) -> NDArray[Any]:
    """The array of a .npy file, which stays on the disk until it is read.

    Nothing is unpickled: an array of Python objects is refused.
    """
    refuse_special(path)
    with parsing(path, "a .npy file of numbers"):
        return np.lib.format.open_memmap(path, mode="r")


def read_candidates(path: Path, vocabulary: Vocabulary) -> Candidates:
    """Candidates by name: side (`head` or `tail`, what is asked for), anchor, relation, entity."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    frame = read_frame(path)
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise DataError(
            f"{path}: no column {missing[0]!r}; expected the columns {', '.join(COLUMNS)}"
        )
    if not len(frame):
        raise DataError(f"{path}: nothing in it; expected candidates")
    sides, anchors, relations, entities = (
        ids_of(names_in(frame[column], column, path), known, path)
        for column, known in zip(
            COLUMNS,
            (SIDES, vocabulary.entities, vocabulary.relations, vocabulary.entities),
            strict=False,
        )
    )
    slots = vocabulary.slots_at(relations, sides)
    _refuse_twice(frame, np.stack([slots, anchors, entities]), path)
    places = np.arange(len(frame), dtype=np.int32)
    return Candidates(
        Queries.grouped(anchors, slots, places),
        frozen(entities),
        frozen(_scores(frame["score"], path), np.float32),
        vocabulary.num_entities,
    )


def _scores(column: pl.Series, path: Path) -> Scores:
    if not column.dtype.is_numeric():
        raise DataError(f"{path}: the score column holds {column.dtype}; expected numbers")
    values = column.cast(pl.Float64)
    scores = values.cast(pl.Float32)
    good = (scores.is_finite() | (values == -np.inf)).fill_null(False)
    for row in (~good).arg_true().head(1):
        raise DataError(
            f"{path}:{row + 1}: the score is {column[row]}; "
            "expected a finite number, or -inf for no candidate"
        )
    return scores.to_numpy()


def _refuse_twice(frame: pl.DataFrame, ids: Ids, path: Path) -> None:
    """Refuses a candidate that stands twice: which of its scores would be meant?"""
    order: Keys = np.lexsort(ids[::-1])
    same = (np.diff(ids[:, order]) == 0).all(axis=0)
    for place in np.flatnonzero(same)[:1]:
        first, second = sorted(order[place : place + 2].tolist())
        side, anchor, relation, entity = (str(frame[name][second]) for name in COLUMNS[:4])
        raise DataError(
            f"{path}:{second + 1}: ({side}, {anchor}, {relation}, {entity}) stands in row "
            f"{first + 1} too; expected each candidate once"
        )
