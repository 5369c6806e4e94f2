"""Optimizers: of all parameters, or of the rows that a step with a sample of entities knows."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor, nn

from assent.geometry import rows
from assent.geometry.rows import AdamRows
from assent.models.base import Model
from assent.training.checkpoints import below, load_optimizer, optimizer_state, refuse_unlike

SETTLED = 1 << 16  # rows at a time that are brought up to date, each of which is copied, too


class RowOptimizer(ABC):
    """Moves the rows of tables that have gradients, as if the others had gradients of zero."""

    common: ClassVar[tuple[str, ...]] = ()  # tensors of its state that have no row an entity

    def __init__(self, tables: Sequence[nn.Parameter]) -> None:
        self.tables = [table.detach() for table in tables]  # the same numbers

    @abstractmethod
    def rows(self, ids: Tensor) -> list[Tensor]:
        """A copy of these rows of each table, as they are now."""

    @abstractmethod
    def step(self, ids: Tensor, slopes: Sequence[Tensor | None], rate: float) -> None:
        """Moves these rows by the gradients of each table that has some.

        `rows` was asked for the same ones before.
        """

    @abstractmethod
    def state(self) -> list[dict[str, Tensor]]:
        """Tensors by name, for each table."""

    @abstractmethod
    def load(self, states: Sequence[Mapping[str, Tensor]]) -> None: ...

    def check(self, states: Sequence[Mapping[str, Tensor]]) -> None:
        """A ValueError for what is no state of these tables."""
        for place, (mine, state) in enumerate(zip(self.state(), states, strict=True)):
            refuse_unlike(state, mine, f"optimizer/rows/{place}/")


class RowAdam(RowOptimizer):
    """As `torch.optim.Adam`; `geometry/rows.py` says how."""

    common = ("coasts",)

    def __init__(self, tables: Sequence[nn.Parameter]) -> None:
        super().__init__(tables)
        self.adams = [AdamRows.of(table) for table in self.tables]

    def rows(self, ids: Tensor) -> list[Tensor]:
        pairs = zip(self.tables, self.adams, strict=True)
        return [rows.catch_up(table, adam, ids) for table, adam in pairs]

    def step(self, ids: Tensor, slopes: Sequence[Tensor | None], rate: float) -> None:
        if not self.adams:
            return
        coasts = self.adams[0].after_step(rate).coasts  # the same for all tables
        self.adams = [adam._replace(coasts=coasts) for adam in self.adams]
        for table, adam, given in zip(self.tables, self.adams, slopes, strict=True):
            if given is not None:
                rows.move(table, adam, ids, given, rate)

    def state(self) -> list[dict[str, Tensor]]:
        # a file of tensors takes none that are the same in memory
        return [adam._replace(coasts=adam.coasts.clone())._asdict() for adam in self.adams]

    def load(self, states: Sequence[Mapping[str, Tensor]]) -> None:
        self.adams = []
        for table, state in zip(self.tables, states, strict=True):
            moved = {name: x.to(table.device) for name, x in state.items() if name != "coasts"}
            self.adams.append(AdamRows(**moved, coasts=state["coasts"]))

    def check(self, states: Sequence[Mapping[str, Tensor]]) -> None:
        # Coasts have a place a step, and steps of rows are places in them.
        super().check(
            [
                {name: x[:1] if name == "coasts" and x.ndim else x for name, x in state.items()}
                for state in states
            ]
        )
        for state in states:
            steps = state["steps"]
            if len(steps) and not 0 <= int(steps.min()) <= int(steps.max()) < len(state["coasts"]):
                raise ValueError("optimizer/rows: steps that were not made")


class RowAdagrad(RowOptimizer):
    """As `torch.optim.Adagrad`, which leaves rows without a gradient where they are."""

    EPSILON: ClassVar[float] = 1e-10

    def __init__(self, tables: Sequence[nn.Parameter]) -> None:
        super().__init__(tables)
        self.sums = [torch.zeros_like(table) for table in self.tables]

    def rows(self, ids: Tensor) -> list[Tensor]:
        return [table.index_select(0, ids) for table in self.tables]

    def step(self, ids: Tensor, slopes: Sequence[Tensor | None], rate: float) -> None:
        for table, sums, given in zip(self.tables, self.sums, slopes, strict=True):
            if given is not None:
                here = sums[ids].addcmul_(given, given)
                sums[ids] = here
                table[ids] -= rate * given / here.sqrt().add_(self.EPSILON)

    def state(self) -> list[dict[str, Tensor]]:
        return [{"sums": sums} for sums in self.sums]

    def load(self, states: Sequence[Mapping[str, Tensor]]) -> None:
        for sums, state in zip(self.sums, states, strict=True):
            sums.copy_(state["sums"])


class Kind(NamedTuple):
    """An optimizer for all parameters, and the same one for rows of tables."""

    whole: Callable[..., torch.optim.Optimizer]
    moments: tuple[str, ...]  # what the first keeps in the shape of a parameter
    rows: type[RowOptimizer]


OPTIMIZERS = {
    "adam": Kind(
        lambda parameters, rate: torch.optim.Adam(parameters, lr=rate, fused=True),
        ("exp_avg", "exp_avg_sq"),
        RowAdam,
    ),
    "adagrad": Kind(
        lambda parameters, rate: torch.optim.Adagrad(parameters, lr=rate), ("sum",), RowAdagrad
    ),
}


class Optimizing:
    """All parameters of a model on their way; tables by rows, where steps know a sample."""

    def __init__(self, model: Model, name: str, rate: float, by_rows: bool) -> None:
        self.model = model
        self.name = name
        self.rate = rate
        tables = model.entity_tables() if by_rows else []
        self.tables = OPTIMIZERS[name].rows(tables)
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
        return [nn.Parameter(rows) for rows in self.tables.rows(ids)]

    def step(self, ids: Tensor | None = None, rows: Sequence[nn.Parameter] = ()) -> None:
        """Moves the rows, and all parameters that are no tables, by their gradients."""
        if ids is not None:
            self.tables.step(ids, [part.grad for part in rows], self.rate)
        self.whole.step()

    def settle(self) -> None:
        """Brings every row to where it is now, so that the whole model may be used."""
        for start in range(0, self.model.num_rows, SETTLED):
            stop = min(start + SETTLED, self.model.num_rows)
            self.tables.rows(torch.arange(start, stop, device=self.model.device))

    def state(self) -> dict[str, Tensor]:
        """Tensors by name; rows may be behind, and go on from there."""
        state = optimizer_state(self.whole)
        for place, tensors in enumerate(self.tables.state()):
            state |= {f"rows/{place}/{name}": x for name, x in tensors.items()}
        return state

    def tables_in_state(self) -> list[str]:
        """The names of those of the tensors that have a row an entity."""
        tables = {id(table) for table in self.model.entity_tables()}
        parameters = [x for group in self.whole.param_groups for x in group["params"]]
        found = [
            f"{place}/{name}"
            for place, parameter in enumerate(parameters)
            if id(parameter) in tables
            for name in OPTIMIZERS[self.name].moments
        ]
        return found + [
            f"rows/{place}/{name}"
            for place, tensors in enumerate(self.tables.state())
            for name in tensors
            if name not in self.tables.common
        ]

    def check(self, state: Mapping[str, Tensor]) -> None:
        """A ValueError for what is no state of these parameters."""
        like = dict[str, Tensor]()
        parameters = [x for group in self.whole.param_groups for x in group["params"]]
        for place, parameter in enumerate(parameters):
            if below(f"{place}/", state):  # there is nothing before its first step
                like |= {f"{place}/{name}": parameter for name in OPTIMIZERS[self.name].moments}
                like[f"{place}/step"] = torch.zeros(())
        rows = self._rows_in(state)
        known = {f"rows/{place}/{name}" for place, mine in enumerate(rows) for name in mine}
        refuse_unlike({k: x for k, x in state.items() if k not in known}, like, "optimizer/")
        self.tables.check(rows)

    def load(self, state: Mapping[str, Tensor]) -> None:
        load_optimizer(self.whole, {k: x for k, x in state.items() if not k.startswith("rows/")})
        self.tables.load(self._rows_in(state))

    def _rows_in(self, state: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
        """The state of each table, of all that there is."""
        return [below(f"rows/{place}/", state) for place in range(len(self.tables.tables))]
