"""Which relation joins two entities: the term of a loss that asks for it (Chen et al., 2021)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from assent.geometry import meeting_scores, pair_scores

if TYPE_CHECKING:
    from assent.models.embedding import Embedding

CELLS = 1 << 12  # facts times slots that are scored pair by pair in a step


def relation_loss(
    model: "Embedding", anchors: Tensor, relations: Tensor, entities: Tensor
) -> Tensor:
    """The mean cross-entropy of the slots of facts, among all slots.

    Facts come in random order, their ends as vectors (fact, dim). Where the formula has to be
    worked out for each fact and slot, only the first of them are asked about.
    """
    scores = slot_scores(model, anchors, entities)
    return functional.cross_entropy(scores, relations[: len(scores)])


def slot_scores(model: "Embedding", anchors: Tensor, entities: Tensor) -> Tensor:  # (fact, slot)
    """The score of each fact in every slot, without the bias of its entity: no slot has another."""
    slots = torch.arange(model.num_slots, device=anchors.device)
    turned = model.turned_round(anchors, entities, slots) if _can_turn(type(model)) else None
    if turned is not None:
        return meeting_scores(model.geometry, *turned).T
    count = max(CELLS // model.num_slots, 1)
    return scores_by_slot(model, anchors[:count], entities[:count], slots)


def scores_by_slot(
    model: "Embedding", anchors: Tensor, entities: Tensor, slots: Tensor
) -> Tensor:  # (fact, slot)
    """Each fact in each slot as a query with one candidate: right for any formula."""
    every = slots.repeat_interleave(len(anchors))  # slot by slot, as geometries like them
    with _norms_as_they_are(model):
        asked = model.asked(anchors.repeat(len(slots), 1), every)
    scores = pair_scores(model.geometry, asked, entities.repeat(len(slots), 1))
    return scores.view(len(slots), len(anchors)).T


def _can_turn(kind: type["Embedding"]) -> bool:
    """Whether `turned_round` is about the formula in use: a subclass may have one of its own."""
    place = {name: i for i, cls in reversed([*enumerate(kind.__mro__)]) for name in vars(cls)}
    return place["turned_round"] <= place["encode"]


@contextmanager
def _norms_as_they_are(model: nn.Module) -> Iterator[None]:
    """Most of these queries make no sense: batch norms must not remember them."""
    norms = [part for part in model.modules() if isinstance(part, nn.modules.batchnorm._BatchNorm)]
    momenta = [norm.momentum for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    try:
        yield
    finally:
        for norm, momentum in zip(norms, momenta, strict=True):
            norm.momentum = momentum
