"""Dot products of single pairs of a query and an entity, and their gradients, compiled.

Torch would gather both vectors of every pair first.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import numpy as np
from numba import njit

_pass = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@_pass
def _dot(one, other):
    total = np.float32(0)
    for k in range(len(one)):
        total += one[k] * other[k]
    return total


@_pass
def _add(into, vector, times):
    for k in range(len(into)):
        into[k] += times * vector[k]


@_pass
def dots(queries, entities, rows, columns, out):
    """out[i] = queries[rows[i]] . entities[columns[i]]"""
    for i in range(len(rows)):
        out[i] = _dot(queries[rows[i]], entities[columns[i]])


@_pass
def pulls(queries, entities, rows, columns, slopes, into_queries, into_entities):
    """The gradients of sum(slopes * dots), added."""
    for i in range(len(rows)):
        row, column, slope = rows[i], columns[i], slopes[i]
        _add(into_queries[row], entities[column], slope)
        _add(into_entities[column], queries[row], slope)
