"""Optimizers: of all parameters, or of the rows that a step with a sample of entities knows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from assent.geometry import rows
from assent.geometry.rows import AdamRows
from assent.models.base import Model
from assent.training.checkpoints import below, load_optimizer, optimizer_state


class RowOptimizer(ABC):
    """Moves the rows of a table that have gradients, as if the others had gradients of zero."""

    def __init__(self, table: nn.Parameter) -> None:
        self.table = table.detach()  # the same numbers

    @abstractmethod
    def rows(self, ids: Tensor) -> Tensor:
        """A copy of these rows as they are now."""

    @abstractmethod
    def step(self, ids: Tensor, slopes: Tensor, rate: float) -> None:
        """Moves these rows by their gradients; `rows` was asked for the same ones before."""

    @abstractmethod
    def state(self) -> dict[str, Tensor]: ...

    @abstractmethod
    def load(self, state: Mapping[str, Tensor]) -> None: ...


class RowAdam(RowOptimizer):
    """As `torch.optim.Adam`; `geometry/rows.py` says how."""

    def __init__(self, table: nn.Parameter) -> None:
        super().__init__(table)
        self.adam = AdamRows.of(self.table)

    def rows(self, ids: Tensor) -> Tensor:
        return rows.catch_up(self.table, self.adam, ids)

    def step(self, ids: Tensor, slopes: Tensor, rate: float) -> None:
        self.adam = rows.adam_step(self.table, self.adam, ids, slopes, rate)

    def state(self) -> dict[str, Tensor]:
        return self.adam._asdict()

    def load(self, state: Mapping[str, Tensor]) -> None:
        device = self.table.device
        moved = {name: x.to(device) for name, x in state.items() if name != "coasts"}
        self.adam = AdamRows(**moved, coasts=state["coasts"])


class RowAdagrad(RowOptimizer):
    """As `torch.optim.Adagrad`, which leaves rows without a gradient where they are."""

    EPSILON: ClassVar[float] = 1e-10

    def __init__(self, table: nn.Parameter) -> None:
        super().__init__(table)
        self.sums = torch.zeros_like(self.table)

    def rows(self, ids: Tensor) -> Tensor:
        return self.table.index_select(0, ids)

    def step(self, ids: Tensor, slopes: Tensor, rate: float) -> None:
        sums = self.sums[ids].addcmul_(slopes, slopes)
        self.sums[ids] = sums
        self.table[ids] -= rate * slopes / sums.sqrt().add_(self.EPSILON)

    def state(self) -> dict[str, Tensor]:
        return {"sums": self.sums}

    def load(self, state: Mapping[str, Tensor]) -> None:
        self.sums.copy_(state["sums"])


class Kind(NamedTuple):
    """An optimizer for all parameters, and the same one for rows of tables."""

    whole: Callable[..., torch.optim.Optimizer]
    rows: type[RowOptimizer]


OPTIMIZERS = {
    "adam": Kind(
        lambda parameters, rate: torch.optim.Adam(parameters, lr=rate, fused=True), RowAdam
    ),
    "adagrad": Kind(lambda parameters, rate: torch.optim.Adagrad(parameters, lr=rate), RowAdagrad),
}


class Optimizing:
    """All parameters of a model on their way; tables by rows, where steps know a sample."""

    def __init__(self, model: Model, name: str, rate: float, by_rows: bool) -> None:
        self.model = model
        self.rate = rate
        tables = model.entity_tables() if by_rows else []
        self.tables = [OPTIMIZERS[name].rows(table) for table in tables]
        apart = {id(table) for table in tables}
        others = [x for x in model.parameters() if id(x) not in apart]
        self.whole = OPTIMIZERS[name].whole(others, rate)

    def set_rate(self, rate: float) -> None:
        self.rate = rate
        for group in self.whole.param_groups:
            group["lr"] = rate

    def forget(self) -> None:
        """Forgets the gradients of the step before."""
        self.whole.zero_grad(set_to_none=True)

    def rows(self, ids: Tensor) -> list[nn.Parameter]:
        """These rows of each table, to be given gradients."""
        return [nn.Parameter(table.rows(ids)) for table in self.tables]

    def step(self, ids: Tensor | None = None, rows: Sequence[nn.Parameter] = ()) -> None:
        """Moves the rows, and all parameters that are no tables, by their gradients."""
        for table, part in zip(self.tables, rows, strict=True):
            if ids is not None and part.grad is not None:
                table.step(ids, part.grad, self.rate)
        self.whole.step()

    def settle(self) -> None:
        """Brings every row to where it is now, so that the whole model may be used."""
        for table in self.tables:
            table.rows(torch.arange(len(table.table), device=table.table.device))

    def state(self) -> dict[str, Tensor]:
        """Tensors by name; rows may be behind, and go on from there."""
        state = optimizer_state(self.whole)
        for place, table in enumerate(self.tables):
            state |= {f"rows/{place}/{name}": x for name, x in table.state().items()}
        return state

    def load(self, state: Mapping[str, Tensor]) -> None:
        load_optimizer(self.whole, {k: x for k, x in state.items() if not k.startswith("rows/")})
        for place, table in enumerate(self.tables):
            table.load(below(f"rows/{place}/", state))
