"""KvsAll: all entities, or a sample, are candidates of a query; gradients in closed form.

One buffer (query, slice) holds raw numbers, then gradients; answers are single cells in it, so
there are no dense labels. Autograd sees one node, from the vectors to the loss.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import softplus

from assent.errors import ConfigError, DataError
from assent.geometry.answers import Answers, Places
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.drawn import drawn_bce, drawn_ce
from assent.geometry.peers import Peers
from assent.geometry.task import Drawn, Gradients, Slice, Task, Whole


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
    drawn: Drawn | None = None,
    whole: Whole | None = None,
) -> Tensor:
    """The loss of a batch: summed over entities, averaged over queries.

    - "bce": each candidate is a yes or a no. An answer's label is 1 - eps + eps / entities, any
      other's eps / entities, where eps is the label smoothing.
    - "ce": softmax over all entities; the target is spread evenly over the query's answers,
      and eps of it over all entities. A query without answers adds nothing.
    - "ce-facts": the same, but a query counts as often as it has answers: averaged over facts.
      `query_weights` has the same weights for the terms that a step adds to the loss.

    Answers in `known`, none of them in `answers`, are no candidates: the loss of a development
    set leaves out what was learned by heart. Labels are not smoothed then.

    With `drawn`, `table` holds a sample of the entities, and the loss estimates that of all of
    them (see `drawn.py`).

    With `whole`, `table`, `answers` and `known` are those of one process of several. The loss and
    the gradients of the queries are then summed over all of them, in one message.
    """
    if loss not in LOSSES:
        raise ConfigError(f"unknown loss {loss!r}; choose from {', '.join(LOSSES)}")
    if known is not None and label_smoothing:
        raise ConfigError("a loss without the known answers takes no label smoothing")
    if known is not None and drawn is not None:
        raise ConfigError("a loss without the known answers takes all candidates")
    task = Task(geometry, answers, known, label_smoothing, slice_size, drawn, whole)
    inputs = (asked.vectors, asked.weights, table.vectors, table.bias)
    if torch.is_grad_enabled() and any(x is not None and x.requires_grad for x in inputs):
        result: Tensor = _KvsAll.apply(  # type: ignore[no-untyped-call]
            LOSSES[loss], task, asked.owners, *inputs
        )
        return result
    value = _mean(LOSSES[loss], task, asked, table, None).to(asked.vectors.dtype)
    if whole is not None:
        whole.peers.sum_(value)
    return value


def _mean(
    method: "Method", task: Task, asked: Asked, table: Table, gradients: Gradients | None
) -> Tensor:
    """The loss, averaged over the queries, as are the gradients."""
    queries = len(asked.vectors)
    if len(task.answers.offsets) != queries + 1:
        raise DataError(f"{queries} queries, but {len(task.answers.offsets) - 1} answer sets")
    return method(task, asked, table, gradients) / max(queries, 1)


class _KvsAll(torch.autograd.Function):
    """Computes the gradients along with the loss, and hands them out on the way back."""

    @staticmethod
    def forward(
        ctx: Any,
        method: "Method",
        task: Task,
        owners: Tensor | None,
        vectors: Tensor,
        weights: Tensor | None,
        entities: Tensor,
        bias: Tensor | None,
    ) -> Tensor:
        asked, table = Asked(vectors, weights, owners), Table(entities, bias)
        ctx.gradients = Gradients.of(asked, table)
        loss = _mean(method, task, asked, table, ctx.gradients).to(vectors.dtype)
        if task.whole is not None:
            _sum_(task.whole.peers, loss, ctx.gradients.asked, owners, ctx.needs_input_grad[4])
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        asked, table = ctx.gradients.asked, ctx.gradients.table
        del ctx.gradients  # scaled in place: a second time would be wrong
        if scale.device.type != "cpu" or scale != 1:  # a pass over the table less, if it is 1
            for gradient in (*asked, *table):
                if gradient is not None:
                    gradient *= scale
        return None, None, None, asked.vectors, asked.weights, *table


def _sum_(peers: Peers, loss: Tensor, asked: Asked, owners: Tensor | None, learned: bool) -> None:
    """Adds up what the entities of all processes make of a loss and its gradients, in place.

    Of weights with a row for each slot, only those of the slots in the batch have a gradient.
    """
    if asked.weights is None or not learned:
        peers.sum_(asked.vectors, loss)
    elif owners is None:
        peers.sum_(asked.vectors, asked.weights, loss)
    else:
        present = torch.unique(owners)
        weights = asked.weights[present]
        peers.sum_(asked.vectors, weights, loss)
        asked.weights[present] = weights


def _bce(task: Task, asked: Asked, table: Table, gradients: Gradients | None) -> Tensor:
    if task.drawn is not None:
        return drawn_bce(task, task.drawn, asked, table, gradients)
    everywhere = task.everywhere(table)
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


def _ce(
    weigh: "Weigh", task: Task, asked: Asked, table: Table, gradients: Gradients | None
) -> Tensor:
    counts = task.counts
    weights = weigh(counts.to(asked.vectors))  # (query,)
    if task.drawn is not None:
        return drawn_ce(task, task.drawn, weights, asked, table, gradients)
    share = (1 - task.smoothing) / counts.clamp(min=1).to(asked.vectors)  # (query,)
    everywhere = task.everywhere(table)
    totals = torch.full_like(share, -torch.inf)  # (query,)  log of the sum of exp(score)
    targets = torch.zeros_like(share)  # (query,)  score expected under the target
    for met in task.slices(asked, table):
        logits, steepness = _logits(met)
        totals = torch.logaddexp(totals, logits.logsumexp(1))
        targets.index_add_(0, met.answers.rows, logits[met.answers] * share[met.answers.rows])
        if everywhere:
            targets.add_(logits.sum(1), alpha=everywhere)
    totals, targets = task.totals(totals, targets)
    loss = task.once(((totals - targets) * weights)[counts > 0].sum(dtype=torch.float64))
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
        slopes.mul_(steepness).mul_((weights / len(counts))[:, None])
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


def _logits(met: Slice) -> tuple[Tensor, Tensor]:
    """Scores in the slice's buffer, -inf where known, and d score / d raw."""
    met.meeting.measure(met.buffer)
    if met.meeting.table.bias is not None:
        met.buffer.add_(met.meeting.table.bias)
    steepness = met.meeting.link.steepness(met.buffer)
    logits = met.meeting.link.logits_(met.buffer)
    if met.known is not None:
        logits[met.known] = -torch.inf
    return logits, steepness


def _each_query(counts: Tensor) -> Tensor:
    """All queries that have answers count alike."""
    return (counts > 0).to(counts)


def _each_fact(counts: Tensor) -> Tensor:
    """All answers count alike."""
    return counts / counts.mean().clamp(min=torch.finfo(counts.dtype).tiny)


def query_weights(loss: str, counts: Tensor) -> Tensor | None:  # (query,)
    """How often each query counts in this loss, 1 on average; None where all count alike.

    `counts` are their numbers of answers.
    """
    weigh = WEIGHINGS.get(loss)
    return None if weigh is None else weigh(counts.to(torch.float64))


Weigh = Callable[[Tensor], Tensor]  # numbers of answers (query,) -> how often each query counts
Method = Callable[[Task, Asked, Table, Gradients | None], Tensor]
WEIGHINGS: dict[str, Weigh] = {"ce-facts": _each_fact}  # of losses in which queries count unalike
LOSSES: dict[str, Method] = {
    "bce": _bce,
    "ce": partial(_ce, _each_query),
    "ce-facts": partial(_ce, WEIGHINGS["ce-facts"]),
}
