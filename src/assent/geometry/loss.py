"""KvsAll: every entity is a candidate of every question; loss and gradients in closed form.

One buffer (query, slice) holds raw numbers, then gradients; answers are single cells in it, so
there are no dense labels. Autograd sees one node, from the vectors to the loss.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from assent.errors import ConfigError, DataError
from assent.geometry.answers import Answers, Places
from assent.geometry.base import Asked, Geometry, Table

# Cells of the buffer. On a CPU long slices win, up to what malloc keeps for the next step instead
# of giving it back to the system: 28 MB of float32.
CELLS = {"cpu": 7 << 20, "cuda": 1 << 27}


def kvsall(
    geometry: type[Geometry],
    asked: Asked,
    table: Table,
    answers: Answers,
    *,
    loss: str = "bce",
    label_smoothing: float = 0.0,
    known: Answers | None = None,
    slice_size: int | None = None,
) -> Tensor:
    """The loss of a batch: summed over entities, averaged over questions.

    - "bce": each candidate is a yes or a no. An answer's label is 1 - eps + eps / entities, any
      other's eps / entities, where eps is the label smoothing.
    - "ce": softmax over all entities; the target is spread evenly over the question's answers,
      and eps of it over all entities. A question without answers adds nothing.

    Answers in `known`, none of them in `answers`, are no candidates: the loss of a development
    set leaves out what was learned by heart. Labels are not smoothed then.
    """
    if loss not in LOSSES:
        raise ConfigError(f"unknown loss {loss!r}; choose from {', '.join(LOSSES)}")
    if known is not None and label_smoothing:
        raise ConfigError("a loss without the known answers takes no label smoothing")
    task = _Task(geometry, answers, known, label_smoothing, slice_size, LOSSES[loss])
    inputs = (asked.vectors, asked.weights, table.vectors, table.bias)
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in inputs):
        result: Tensor = _KvsAll.apply(task, *inputs)  # type: ignore[no-untyped-call]
        return result
    return task.run(asked, table, None).to(asked.vectors.dtype)


class _KvsAll(torch.autograd.Function):
    """Computes the gradients along with the loss, and hands them out on the way back."""

    @staticmethod
    def forward(
        ctx: Any,
        task: "_Task",
        vectors: Tensor,
        weights: Tensor | None,
        entities: Tensor,
        bias: Tensor | None,
    ) -> Tensor:
        asked, table = Asked(vectors, weights), Table(entities, bias)
        ctx.gradients = _Gradients.of(asked, table)
        return task.run(asked, table, ctx.gradients).to(vectors.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        asked, table = ctx.gradients.asked, ctx.gradients.table
        del ctx.gradients  # scaled in place: a second time would be wrong
        if scale.device.type != "cpu" or scale != 1:  # a pass over the table less, if it is 1
            for gradient in (*asked, *table):
                if gradient is not None:
                    gradient *= scale
        return None, *asked, *table


@dataclass(frozen=True, slots=True)
class _Gradients:
    """Where the gradients of a batch are gathered, slice after slice."""

    asked: Asked  # starts at zero: every slice adds to it
    table: Table  # starts anyhow: every slice writes its part

    @classmethod
    def of(cls, asked: Asked, table: Table) -> Self:
        weights = None if asked.weights is None else torch.zeros_like(asked.weights)
        bias = None if table.bias is None else torch.empty_like(table.bias)
        return cls(
            Asked(torch.zeros_like(asked.vectors), weights),
            Table(torch.empty_like(table.vectors), bias),
        )

    def add(self, met: "_Slice", slopes: Tensor) -> None:
        """Sends d loss / d raw of this slice to the vectors and weights."""
        met.meeting.spread(slopes, self.asked, self.part(met))

    def part(self, met: "_Slice") -> Table:
        return self.table.part(met.start, met.start + met.buffer.shape[1])


@dataclass(frozen=True, slots=True)
class _Slice:
    """All questions in front of some of the entities."""

    start: int  # the first of the entities
    meeting: Geometry
    buffer: Tensor  # (query, slice)
    answers: Places
    known: Places | None


@dataclass(frozen=True, slots=True)
class _Task:
    geometry: type[Geometry]
    answers: Answers
    known: Answers | None
    smoothing: float
    slice_size: int | None
    method: "Callable[[_Task, Asked, Table, _Gradients | None], Tensor]"

    def run(self, asked: Asked, table: Table, gradients: _Gradients | None) -> Tensor:
        """The loss, averaged over the questions, as are the gradients."""
        queries = len(asked.vectors)
        if len(self.answers.offsets) != queries + 1:
            raise DataError(f"{queries} questions, but {len(self.answers.offsets) - 1} answer sets")
        return self.method(self, asked, table, gradients) / max(queries, 1)

    def slices(self, asked: Asked, table: Table) -> Iterator[_Slice]:
        """The slices of the table, one after another, in the same buffer."""
        queries, entities = len(asked.vectors), len(table.vectors)
        size = self.slice_size or CELLS.get(asked.vectors.device.type, 1 << 22) // max(queries, 1)
        count = max(1, -(-entities // max(size, 1)))
        size = -(-entities // count)  # all about as long: no short rest
        starts = range(0, entities, max(size, 1))
        answers = self.answers.cut(starts)
        known = [None] * len(starts) if self.known is None else self.known.cut(starts)
        cells = asked.vectors.new_empty(queries * size)
        for start, here, masked in zip(starts, answers, known, strict=True):
            part = table.part(start, start + size)
            width = len(part.vectors)
            buffer = cells[: queries * width].view(queries, width)
            yield _Slice(start, self.geometry(asked, part), buffer, here, masked)


def _bce(task: _Task, asked: Asked, table: Table, gradients: _Gradients | None) -> Tensor:
    everywhere = task.smoothing / max(len(table.vectors), 1)
    scale = 1 / max(len(asked.vectors), 1)
    loss = torch.zeros((), dtype=torch.float64, device=asked.vectors.device)
    for met in task.slices(asked, table):
        link, bias, matrix = met.meeting.link, met.meeting.table.bias, met.buffer
        met.meeting.measure(matrix)
        raw = _raw_at(met.answers, matrix, bias)
        masked = None if met.known is None else _raw_at(met.known, matrix, bias)
        columns = None if gradients is None else gradients.part(met).bias
        loss += link.refuse_(matrix, bias, everywhere, scale, columns)
        # Until here all were labelled alike. An answer's label is higher by 1 - eps.
        pull = link.steepness(raw).mul((1 - task.smoothing) * scale).expand_as(raw)
        _change(matrix, columns, met.answers, -pull)
        loss -= link.logits_(raw).sum(dtype=torch.float64) * (1 - task.smoothing)
        if met.known is not None and masked is not None:
            _change(matrix, columns, met.known, -matrix[met.known])
            loss -= softplus(link.logits_(masked)).sum(dtype=torch.float64)
        if gradients is not None:
            gradients.add(met, matrix)
    return loss


def _ce(task: _Task, asked: Asked, table: Table, gradients: _Gradients | None) -> Tensor:
    counts = task.answers.counts
    share = (1 - task.smoothing) / counts.clamp(min=1).to(asked.vectors)  # (query,)
    everywhere = task.smoothing / max(len(table.vectors), 1)
    totals = torch.full_like(share, -torch.inf)  # (query,)  log of the sum of exp(score)
    targets = torch.zeros_like(share)  # (query,)  score expected under the target
    for met in task.slices(asked, table):
        logits, steepness = _logits(met)
        totals = torch.logaddexp(totals, logits.logsumexp(1))
        targets.index_add_(0, met.answers.rows, logits[met.answers] * share[met.answers.rows])
        if everywhere:
            targets.add_(logits.sum(1), alpha=everywhere)
    loss = (totals - targets)[counts > 0].sum(dtype=torch.float64)
    if gradients is None:
        return loss
    whole = logits.shape[1] == len(table.vectors)
    for met in task.slices(asked, table):
        if not whole:  # the buffer has moved on, so the scores are worked out again
            logits, steepness = _logits(met)
        slopes = logits.sub_(totals[:, None]).exp_()
        if everywhere:
            slopes -= everywhere
        slopes[met.answers] -= share[met.answers.rows]
        slopes.mul_(steepness).mul_(1 / len(counts))
        slopes[counts == 0] = 0  # not a product: with all entities known there are nans
        gradients.add(met, slopes)
        columns = gradients.part(met).bias
        if columns is not None:
            torch.sum(slopes, 0, out=columns)
    return loss


def _raw_at(places: Places, matrix: Tensor, bias: Tensor | None) -> Tensor:  # (place,)
    raw = matrix[places]
    return raw if bias is None else raw + bias[places.columns]


def _change(matrix: Tensor, columns: Tensor | None, places: Places, by: Tensor) -> None:
    """Adds to single cells, and to the sums of their columns."""
    matrix[places] += by
    if columns is not None:
        columns.index_add_(0, places.columns, by)


def _logits(met: _Slice) -> tuple[Tensor, Tensor]:
    """Scores in the slice's buffer, -inf where known, and d score / d raw."""
    met.meeting.measure(met.buffer)
    if met.meeting.table.bias is not None:
        met.buffer.add_(met.meeting.table.bias)
    steepness = met.meeting.link.steepness(met.buffer)
    logits = met.meeting.link.logits_(met.buffer)
    if met.known is not None:
        logits[met.known] = -torch.inf
    return logits, steepness


LOSSES = {"bce": _bce, "ce": _ce}
