"""Scores as someone else gives them -> logits as they mean here, or a clear refusal."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from assent.core.scores import Scores
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

Whole = NDArray[np.integer[Any]]  # ids, of 32 or 64 bits

NUMBERS = "iuf"  # kinds of dtype: whole numbers and floating-point ones


def logits(
    given: object, anchors: Whole, relations: Whole, vocabulary: Vocabulary, where: str
) -> Scores:  # (query, entity)
    """The scores of these questions as float32, in an array that nobody else holds.

    -inf is no candidate. +inf is refused: no threshold lies above it, and a probability of 1
    would be a promise. What does not fit float32 is refused as well.
    """
    values = _array(given, where)
    expected = (len(anchors), vocabulary.num_entities)
    if values.dtype.kind not in NUMBERS:
        raise DataError(f"{where}: scores of type {values.dtype}; expected numbers")
    if values.shape != expected:
        raise DataError(
            f"{where}: scores of shape {values.shape}; expected {expected}, "
            "a row for each query and a column for each entity"
        )
    with np.errstate(over="ignore"):
        # A copy, as known answers are masked in it later; by rows, as it is read.
        scores = np.array(values, np.float32, order="C")
    if not _all_fit(scores, values):
        wrong = ~np.isfinite(scores) & (values != -np.inf)
        query, entity = np.argwhere(wrong)[0]
        asked = question(anchors[query], relations[query], vocabulary)
        raise DataError(
            f"{where}: {asked}: the score of {vocabulary.entities[entity]!r} is "
            f"{values[query, entity]}; expected a finite number, or -inf for no candidate"
        )
    return scores


def question(anchor: int, relation: int, vocabulary: Vocabulary) -> str:
    """What is asked, by name."""
    side, relation = divmod(int(relation), vocabulary.num_relations)
    name, by = vocabulary.entities[anchor], vocabulary.relations[relation]
    return f"head of (?, {by}, {name})" if side else f"tail of ({name}, {by}, ?)"


def _array(given: object, where: str) -> NDArray[Any]:
    try:
        if isinstance(given, torch.Tensor):
            given = given.detach().cpu()
            # numpy has no bfloat16
            given = (given.float() if given.dtype == torch.bfloat16 else given).numpy()
        return np.asarray(given)
    except (TypeError, ValueError, RuntimeError) as error:
        raise DataError(f"{where}: no array of scores ({_first_line(error)})") from error


def _all_fit(scores: Scores, values: NDArray[Any]) -> bool:
    """Whether all are finite or -inf, and were so before they became float32."""
    if not scores.max(initial=-np.inf) < np.inf:  # nan is not less either
        return False
    if values.dtype == np.float32 or scores.min(initial=0) > -np.inf:
        return True
    return bool(((scores > -np.inf) | (values == -np.inf)).all())


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
