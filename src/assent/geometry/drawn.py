"""The loss with a sample of the entities for candidates, in place of all of them.

Answers are exact: each is scored with its query, as a pair. The other candidates are those that
were drawn, the same for the whole batch; each counts as often as the number of entities that it
stands for. For "bce" the loss and its gradients are then, on average over what may be drawn, those
of all candidates. For "ce" the sum under the logarithm is estimated so (the correction of a sampled
softmax); the logarithm of an estimate is on average a little too small, the less the more
candidates are drawn.
"""

import torch
from torch import Tensor
from torch.nn.functional import softplus

from assent.geometry.answers import Places
from assent.geometry.base import Asked, Table
from assent.geometry.task import Drawn, Gradients, Slice, Task


class _Pairs:
    """Each query with each of its answers."""

    def __init__(self, task: Task, asked: Asked, table: Table) -> None:
        self.geometry, self.asked, self.table = task.geometry, asked, table
        self.places = Places(task.answers.rows, task.answers.ids)

    def raw(self) -> Tensor:  # (pair,)
        raw = self.geometry.measure_at(self.asked, self.table, self.places)
        return raw if self.table.bias is None else raw + self.table.bias[self.places.columns]

    def add(self, slopes: Tensor, gradients: Gradients) -> None:
        """Sends d loss / d raw (pair,) to the vectors, weights and biases."""
        into = gradients.asked, gradients.table
        self.geometry.spread_at(self.asked, self.table, self.places, slopes, into)
        if gradients.table.bias is not None:
            gradients.table.bias.index_add_(0, self.places.columns, slopes)


def drawn_bce(
    task: Task, drawn: Drawn, asked: Asked, table: Table, gradients: Gradients | None
) -> Tensor:
    """Yes or no for each candidate."""
    link, everywhere = task.geometry.link, task.everywhere(table)
    _nothing_yet(drawn, gradients)
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
        loss += link.refuse_(matrix, bias, everywhere, scale, columns, met.parts)
        weights = met.parts.by_column(there)[met.answers.columns]
        loss -= ((softplus(there) - everywhere * there) * weights).sum(dtype=torch.float64)
        _forget(matrix, columns, met.answers)
        if gradients is not None:
            gradients.add(met, matrix)
    if gradients is not None:
        # sigmoid(logit) - label, without the cancellation where both are close to 1
        pairs.add(((1 - label) - (-logits).sigmoid()) * steepness * scale, gradients)
    return loss


def drawn_ce(
    task: Task,
    drawn: Drawn,
    weights: Tensor,
    asked: Asked,
    table: Table,
    gradients: Gradients | None,
) -> Tensor:
    """Softmax over the answers and, weighed, the others. Queries count by `weights` (query,)."""
    link, everywhere = task.geometry.link, task.everywhere(table)
    _nothing_yet(drawn, gradients)
    counts = task.counts
    share = (1 - task.smoothing) / counts.clamp(min=1).to(asked.vectors)  # (query,)
    pairs = _Pairs(task, asked, table)
    raw = pairs.raw()
    steepness, logits = link.steepness(raw), link.logits_(raw)
    labels = share[pairs.places.rows] + everywhere  # (pair,)
    targets = torch.zeros_like(share).index_add_(0, pairs.places.rows, labels * logits)
    totals = _ragged_logsumexp(logits, pairs.places.rows, len(share))  # (query,)
    for met in task.slices(asked, table):
        candidates, _ = _logits(met)
        times = met.parts.by_column(candidates)
        if everywhere:
            others = candidates.clone()
            others[met.answers] = 0
            targets.addmv_(others, times, alpha=everywhere)
        candidates[met.answers] = -torch.inf
        totals = torch.logaddexp(totals, candidates.add_(times.log()).logsumexp(1))
    asks = counts > 0
    totals, targets = task.totals(totals, targets)
    loss = task.once(((totals - targets) * weights)[asks].sum(dtype=torch.float64))
    if gradients is None:
        return loss
    scale = weights / max(len(counts), 1)  # (query,)  0 where nothing is asked for
    totals = totals.masked_fill(~asks, 0)
    for met in task.slices(asked, table):
        candidates, slope = _logits(met)
        candidates.sub_(totals[:, None]).exp_().sub_(everywhere)
        candidates.mul_(slope).mul_(met.parts.by_column(candidates)).mul_(scale[:, None])
        candidates[~asks] = 0  # not a product: an exponential may have been infinite
        columns = gradients.part(met).bias
        if columns is not None:
            torch.sum(candidates, 0, out=columns)
        _forget(candidates, columns, met.answers)
        gradients.add(met, candidates)
    slopes = (logits - totals[pairs.places.rows]).exp() - labels
    pairs.add(slopes * steepness * scale[pairs.places.rows], gradients)
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


def _nothing_yet(drawn: Drawn, gradients: Gradients | None) -> None:
    """Each slice writes its rows of the gradients; those after the slices begin at zero."""
    for gradient in gradients.table if gradients is not None else ():
        if gradient is not None:
            gradient[drawn.number :] = 0


def _ragged_logsumexp(values: Tensor, rows: Tensor, count: int) -> Tensor:  # (row,)
    """Of the values of each row; -inf where it has none."""
    highest = values.new_full((count,), -torch.inf).scatter_reduce_(0, rows, values, "amax")
    sums = values.new_zeros(count).index_add_(0, rows, (values - highest[rows]).exp())
    return highest + sums.log()
