"""Models whose entities have vectors that are made of others: summed up once, at rest."""

from abc import abstractmethod
from typing import Any, Self

import torch
from torch import Tensor

from assent.geometry import Table
from assent.models.base import WHOLE
from assent.models.complex import ComplEx

Versions = tuple[int, ...]  # of the parameters: how often each was changed


class Composed(ComplEx):
    """ComplEx over vectors that are made of the parameters."""

    _at_hand: tuple[Table, Versions] | None = None

    @abstractmethod
    def composed(self, which: slice | Tensor) -> Table:
        """The vectors and biases of these entities, made anew."""

    def vectors_of(self, which: slice | Tensor) -> Tensor:
        return self.entity_table(which).vectors

    def entity_table(self, which: slice | Tensor = WHOLE) -> Table:
        if self.training or torch.is_grad_enabled():
            return self.composed(which)
        table = self._kept_at_hand()
        if isinstance(which, slice) and which == WHOLE:
            return table
        return Table(table.vectors[which], None if table.bias is None else table.bias[which])

    def _kept_at_hand(self) -> Table:
        """All entities; at rest, all queries meet the same ones, which are made once."""
        now = tuple(x._version for x in self.parameters())
        if self._at_hand is None or self._at_hand[1] != now:
            self._at_hand = self.composed(WHOLE), now
        return self._at_hand[0]

    def forget(self) -> None:
        """What is kept at hand is about to change, by ways that no version tells of."""
        self._at_hand = None

    def train(self, mode: bool = True) -> Self:
        if mode:
            self.forget()
        return super().train(mode)

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        self.forget()
        return super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
