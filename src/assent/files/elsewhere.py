"""A model as another library left it: names, tables of numbers, and the formula they belong to."""

from collections.abc import Mapping
from typing import NamedTuple

import polars as pl
from torch import Tensor


class Elsewhere(NamedTuple):
    """A model as another library left it."""

    library: str
    formula: str  # as that library calls it, in small letters
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    tensors: Mapping[str, Tensor]  # ENTITIES and RELATIONS, and what else the formula has
    inverses: bool  # relation r has a row for its inverse, at num_relations + r
    norm: float  # of a distance
    facts: pl.DataFrame | None  # head, relation, tail: what it learned from, where that is known


ENTITIES, RELATIONS = "entities", "relations"  # (entity, ...) and (relation, ...)
