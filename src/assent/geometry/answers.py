"""Answer sets as tensors, and where they lie in each slice of the entity table."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor

from assent.core.queries import Queries


class Places(NamedTuple):
    """Single cells of a (query, slice) matrix."""

    rows: Tensor  # (place,)  int64
    columns: Tensor  # (place,)  int64, counted from the start of the slice


class Answers(NamedTuple):
    """Ragged answer sets, none of them with an entity twice; a set may be empty."""

    offsets: Tensor  # (query + 1,) int64   answers of query q: ids[offsets[q]:offsets[q + 1]]
    ids: Tensor  # (answer,)     int64

    @classmethod
    def of(cls, queries: Queries, device: torch.device | str = "cpu") -> Self:
        """The answers of these queries."""
        offsets = torch.tensor(queries.offsets, dtype=torch.int64, device=device)
        return cls(offsets, torch.tensor(queries.answers, dtype=torch.int64, device=device))

    @property
    def counts(self) -> Tensor:  # (query,)
        return self.offsets.diff()

    @property
    def rows(self) -> Tensor:  # (answer,)
        """The query of each answer."""
        rows = torch.arange(len(self.offsets) - 1, device=self.ids.device)
        return rows.repeat_interleave(self.counts, output_size=len(self.ids))

    def below(self, stop: int) -> Self:
        """The answers among the entities before `stop`."""
        inside = self.ids < stop
        before = torch.cat([inside.new_zeros(1, dtype=torch.int64), inside.cumsum(0)])
        return type(self)(before[self.offsets], self.ids[inside])

    def cut(self, starts: Sequence[int]) -> list[Places]:
        """The places of the answers in each of the slices that start at these entities."""
        rows = self.rows
        if len(starts) == 1:  # nothing to sort out
            return [Places(rows, self.ids - starts[0])]
        ids, order = self.ids.sort()
        rows = rows[order]
        bounds = torch.searchsorted(ids, torch.tensor(starts, device=ids.device)).tolist()
        ends = [*bounds[1:], len(ids)]
        return [
            Places(rows[low:high], ids[low:high] - start)
            for start, low, high in zip(starts, bounds, ends, strict=True)
        ]
