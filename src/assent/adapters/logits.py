"""Scores that someone else computed, checked and turned into an array of logits."""

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
    """The scores of these queries as float32, in an array of their own.

    -inf marks what is no candidate. +inf is refused, because no threshold lies above it; so is
    a number that does not fit float32.
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
        asked = query_in_words(anchors[query], relations[query], vocabulary)
        raise DataError(
            f"{where}: {asked}: the score of {vocabulary.entities[entity]!r} is "
            f"{values[query, entity]}; expected a finite number, or -inf for no candidate"
        )
    return scores


def query_in_words(anchor: int, slot: int, vocabulary: Vocabulary) -> str:
    """`tail of (anchor, relation, ?)` or `head of (?, relation, anchor)`, by name."""
    name, side = vocabulary.entities[anchor], vocabulary.side(int(slot))
    relation = vocabulary.relation_name(int(slot))
    fact = f"({name}, {relation}, ?)" if side == "tail" else f"(?, {relation}, {name})"
    return f"{side} of {fact}"


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
    """Whether all values are finite or -inf, also after they became float32."""
    if not scores.max(initial=-np.inf) < np.inf:  # nan is not less either
        return False
    if values.dtype == np.float32 or scores.min(initial=0) > -np.inf:
        return True
    return bool(((scores > -np.inf) | (values == -np.inf)).all())


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
