"""Slow twins of geometry/: (query, entity, dim) tensors, dense labels, autograd over everything."""

import math

import torch
from torch import Tensor

from assent.geometry import Drawn

NEAR = 1e-6


def dot(vectors: Tensor, weights: Tensor | None, entities: Tensor, bias: Tensor | None) -> Tensor:
    scores = (vectors[:, None] * entities[None]).sum(-1)
    return scores if bias is None else scores + bias


def squared(
    vectors: Tensor, weights: Tensor | None, entities: Tensor, bias: Tensor | None
) -> Tensor:
    a = torch.ones_like(vectors) if weights is None else weights.expand_as(vectors)
    return link((a[:, None] * (vectors[:, None] - entities[None]) ** 2).sum(-1))


def manhattan(
    vectors: Tensor, weights: Tensor | None, entities: Tensor, bias: Tensor | None
) -> Tensor:
    return link((vectors[:, None] - entities[None]).abs().sum(-1))


def hyperplane(vectors: Tensor, weights: Tensor, entities: Tensor, bias: Tensor | None) -> Tensor:
    apart = vectors[:, None] - entities[None]
    return link((apart**2).sum(-1) - (weights[:, None] * apart).sum(-1) ** 2)


def projected(vectors: Tensor, weights: Tensor, entities: Tensor, bias: Tensor | None) -> Tensor:
    """Here and below, `weights` has a matrix for each query."""
    return link(((vectors[:, None] - entities[None] @ weights) ** 2).sum(-1))


def absolute(vectors: Tensor, weights: Tensor, entities: Tensor, bias: Tensor | None) -> Tensor:
    apart = (vectors[:, None] - entities[None]).abs()
    return link((apart @ weights * apart).sum(-1))


def link(distances: Tensor) -> Tensor:
    return math.log(2) - torch.log(torch.expm1(2 * distances.clamp(min=NEAR)))


def labels(answers: list[list[int]], num_entities: int) -> Tensor:  # (query, entity)
    dense = torch.zeros(len(answers), num_entities, dtype=torch.float64)
    for query, ids in enumerate(answers):
        dense[query, ids] = 1
    return dense


def bce(scores: Tensor, labels: Tensor, smoothing: float, known: Tensor) -> Tensor:
    targets = (1 - smoothing) * labels + smoothing / labels.shape[1]
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        scores, targets.to(scores), reduction="none"
    )
    return (losses * (1 - known.to(scores))).sum() / len(scores)


def ce(scores: Tensor, labels: Tensor, smoothing: float, known: Tensor) -> Tensor:
    loss = 0 * scores.sum()
    for row, yes, out in zip(scores, labels, known, strict=True):
        if yes.any():
            targets = (1 - smoothing) * yes / yes.sum() + smoothing / len(yes)
            logs = row.masked_fill(out.bool(), -torch.inf).log_softmax(0)
            loss = loss - (logs * targets.to(row))[~out.bool()].sum()
    return loss / len(scores)


def ce_facts(scores: Tensor, labels: Tensor, smoothing: float, known: Tensor) -> Tensor:
    """As many copies of a query as it has answers, each of them asked for alone."""
    loss, facts = 0 * scores.sum(), 0
    for row, yes, out in zip(scores, labels, known, strict=True):
        logs = row.masked_fill(out.bool(), -torch.inf).log_softmax(0)
        for answer in yes.nonzero():
            everywhere = logs[~out.bool()].sum() * smoothing / len(yes)
            loss = loss - (1 - smoothing) * logs[answer].sum() - everywhere
            facts += 1
    return loss / max(facts, 1)


def drawn_bce(scores: Tensor, labels: Tensor, smoothing: float, drawn: Drawn) -> Tensor:
    """Answers count once, each other candidate that was drawn as often as it stands for."""
    everywhere = smoothing / sum(drawn.entities)
    targets = (1 - smoothing) * labels + everywhere
    losses = torch.nn.functional.binary_cross_entropy_with_logits(
        scores, targets.to(scores), reduction="none"
    )
    return (losses * _stands_for(labels, drawn).to(scores)).sum() / len(scores)


def drawn_ce(scores: Tensor, labels: Tensor, smoothing: float, drawn: Drawn) -> Tensor:
    loss = 0 * scores.sum()
    for row, yes, times in zip(scores, labels, _stands_for(labels, drawn), strict=True):
        if yes.any():
            targets = (1 - smoothing) * yes / yes.sum() + times * smoothing / sum(drawn.entities)
            total = (row + times.to(row).log()).logsumexp(0)
            loss = loss + total - (row * targets.to(row)).sum()
    return loss / len(scores)


def drawn_ce_facts(scores: Tensor, labels: Tensor, smoothing: float, drawn: Drawn) -> Tensor:
    copies = labels.sum(1).long()
    if not copies.any():
        return 0 * scores.sum()
    rows = torch.arange(len(scores)).repeat_interleave(copies)
    return drawn_ce(scores[rows], labels[rows], smoothing, drawn)


def _stands_for(labels: Tensor, drawn: Drawn) -> Tensor:  # (query, row)
    times = torch.zeros(labels.shape, dtype=torch.float64)
    start = 0
    for number, entities in zip(*drawn, strict=True):
        times[:, start : start + number] = entities / max(number, 1)
        start += number
    return torch.where(labels.bool(), 1.0, times)
