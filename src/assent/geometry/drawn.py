"""The loss with a sample of the entities for candidates, in place of all of them.

Answers are exact: each is scored with its query, as a pair. The other candidates are those that
were drawn, the same for the whole batch; each stands for `weight` entities. For "bce" the loss and
its gradients are then, on average over what may be drawn, those of all candidates. For "ce" the
sum under the logarithm is estimated so (the correction of a sampled softmax); the logarithm of an
estimate is on average a little too small, the less the more candidates are drawn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import softplus

from assent.errors import DataError
from assent.geometry.answers import Answers, Places
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.slices import Gradients, Slice, slices


class Drawn(NamedTuple):
    """How to read the table of a step that knows a sample of the entities.

    The first `number` rows were drawn, each of the `entities` with the same probability; the rows
    after them are there because they answer a query of the batch, and are no candidates of others.
    """

    number: int
    entities: int  # from which they were drawn

    @property
    def weight(self) -> float:
        """How many entities each of those drawn stands for."""
        return self.entities / max(self.number, 1)


@dataclass(frozen=True, slots=True)
class DrawnTask:
    """What `kvsall` is asked for, with a sample of the entities."""

    geometry: type[Geometry]
    answers: Answers  # by row of the table
    drawn: Drawn
    smoothing: float
    slice_size: int | None
    loss: str

    def run(self, asked: Asked, table: Table, gradients: Gradients | None) -> Tensor:
        """The loss, averaged over the queries, as are the gradients."""
        queries = len(asked.vectors)
        if len(self.answers.offsets) != queries + 1:
            raise DataError(f"{queries} queries, but {len(self.answers.offsets) - 1} answer sets")
        if gradients is not None:  # each slice writes its part, which leaves the rows after them
            for gradient in gradients.table:
                if gradient is not None:
                    gradient[self.drawn.number :] = 0
        return DRAWN_LOSSES[self.loss](self, asked, table, gradients) / max(queries, 1)

    @property
    def everywhere(self) -> float:
        """The label of a candidate that is no answer."""
        return self.smoothing / max(self.drawn.entities, 1)

    def slices(self, asked: Asked, table: Table) -> Iterator[Slice]:
        """Those of the entities drawn; the answers in them are no candidates, but pairs."""
        rows = torch.arange(len(self.answers.offsets) - 1, device=self.answers.ids.device)
        inside = self.answers.ids < self.drawn.number
        rows = rows.repeat_interleave(self.answers.counts, output_size=len(inside))[inside]
        offsets = torch.searchsorted(rows, torch.arange(len(self.answers.offsets)).to(rows))
        answers = Answers(offsets, self.answers.ids[inside])
        part = table.part(0, self.drawn.number)
        return slices(self.geometry, asked, part, answers, slice_size=self.slice_size)


class _Pairs:
    """Each query with each of its answers."""

    def __init__(self, task: DrawnTask, asked: Asked, table: Table) -> None:
        self.geometry, self.asked, self.table = task.geometry, asked, table
        rows = torch.arange(len(task.answers.offsets) - 1, device=task.answers.ids.device)
        self.rows = rows.repeat_interleave(task.answers.counts, output_size=len(task.answers.ids))
        self.places = Places(self.rows, task.answers.ids)

    def raw(self) -> Tensor:  # (pair,)
        raw = self.geometry.measure_at(self.asked, self.table, self.places)
        return raw if self.table.bias is None else raw + self.table.bias[self.places.columns]

    def add(self, slopes: Tensor, gradients: Gradients) -> None:
        """Sends d loss / d raw (pair,) to the vectors, weights and biases."""
        into = gradients.asked, gradients.table
        self.geometry.spread_at(self.asked, self.table, self.places, slopes, into)
        if gradients.table.bias is not None:
            gradients.table.bias.index_add_(0, self.places.columns, slopes)


def _bce(task: DrawnTask, asked: Asked, table: Table, gradients: Gradients | None) -> Tensor:
    link, everywhere, weight = task.geometry.link, task.everywhere, task.drawn.weight
    scale = 1 / max(len(asked.vectors), 1)
    pairs = _Pairs(task, asked, table)
    raw = pairs.raw()
    steepness, logits = link.steepness(raw), link.logits_(raw)
    label = 1 - task.smoothing + everywhere
    loss = (softplus(logits) - label * logits).sum(dtype=torch.float64)
    for met in task.slices(asked, table):
        bias, matrix = met.meeting.table.bias, met.buffer
        met.meeting.measure(matrix)
        columns = None if gradients is None else gradients.part(met).bias
        there = matrix[met.answers]
        there = link.logits_(there if bias is None else there + bias[met.answers.columns])
        refused = link.refuse_(matrix, bias, everywhere, scale * weight, columns)
        refused -= (softplus(there) - everywhere * there).sum(dtype=torch.float64)
        loss += weight * refused
        _forget(matrix, columns, met.answers)
        if gradients is not None:
            gradients.add(met, matrix)
    if gradients is not None:
        # sigmoid(logit) - label, without the cancellation where both are close to 1
        pairs.add(((1 - label) - (-logits).sigmoid()) * steepness * scale, gradients)
    return loss


def _ce(task: DrawnTask, asked: Asked, table: Table, gradients: Gradients | None) -> Tensor:
    link, everywhere, weight = task.geometry.link, task.everywhere, task.drawn.weight
    counts = task.answers.counts
    share = (1 - task.smoothing) / counts.clamp(min=1).to(asked.vectors)  # (query,)
    pairs = _Pairs(task, asked, table)
    raw = pairs.raw()
    steepness, logits = link.steepness(raw), link.logits_(raw)
    labels = share[pairs.rows] + everywhere  # (pair,)
    targets = torch.zeros_like(share).index_add_(0, pairs.rows, labels * logits)
    totals = _ragged_logsumexp(logits, pairs.rows, len(share))  # (query,)
    log_weight = torch.tensor(weight, dtype=share.dtype, device=share.device).log()
    for met in task.slices(asked, table):
        candidates, _ = _logits(met)
        if everywhere:
            others = candidates.clone()
            others[met.answers] = 0
            targets.add_(others.sum(1), alpha=everywhere * weight)
        candidates[met.answers] = -torch.inf
        totals = torch.logaddexp(totals, candidates.logsumexp(1) + log_weight)
    asks = counts > 0
    loss = (totals - targets)[asks].sum(dtype=torch.float64)
    if gradients is None:
        return loss
    scale = asks.to(share) / max(len(counts), 1)  # (query,)
    totals = totals.masked_fill(~asks, 0)
    for met in task.slices(asked, table):
        candidates, slope = _logits(met)
        candidates.sub_(totals[:, None]).exp_().sub_(everywhere)
        candidates.mul_(slope).mul_(weight * scale[:, None])
        candidates[~asks] = 0  # not a product: an exponential may have been infinite
        columns = gradients.part(met).bias
        if columns is not None:
            torch.sum(candidates, 0, out=columns)
        _forget(candidates, columns, met.answers)
        gradients.add(met, candidates)
    slopes = (logits - totals[pairs.rows]).exp() - labels
    pairs.add(slopes * steepness * scale[pairs.rows], gradients)
    return loss


def _logits(met: Slice) -> tuple[Tensor, Tensor]:
    """Scores in the slice's buffer, and d score / d raw."""
    met.meeting.measure(met.buffer)
    if met.meeting.table.bias is not None:
        met.buffer.add_(met.meeting.table.bias)
    steepness = met.meeting.link.steepness(met.buffer)
    return met.meeting.link.logits_(met.buffer), steepness


def _forget(slopes: Tensor, columns: Tensor | None, places: Places) -> None:
    """Zeroes single cells, and takes them out of the sums of their columns."""
    if columns is not None:
        columns.index_add_(0, places.columns, -slopes[places])
    slopes[places] = 0


def _ragged_logsumexp(values: Tensor, rows: Tensor, count: int) -> Tensor:  # (row,)
    """Of the values of each row; -inf where it has none."""
    highest = values.new_full((count,), -torch.inf).scatter_reduce_(0, rows, values, "amax")
    sums = values.new_zeros(count).index_add_(0, rows, (values - highest[rows]).exp())
    return highest + sums.log()


DRAWN_LOSSES: dict[str, Callable[[DrawnTask, Asked, Table, Gradients | None], Tensor]] = {
    "bce": _bce,
    "ce": _ce,
}
