"""Models of other libraries turned into our own: the same formula, the same numbers."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor

from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.elsewhere import ENTITIES, RELATIONS, Elsewhere
from assent.models import Model, create

SHOWN = 3  # missing names in an error
PLAIN = {"anchor_dropout": 0.0, "query_dropout": 0.0}
DOT = {**PLAIN, "entity_bias": False}


class Ours(NamedTuple):
    """A model of ours: its name, its settings, and its numbers."""

    name: str
    settings: Mapping[str, Any]
    weights: Mapping[str, Tensor]


class Tables(NamedTuple):
    """Another library's numbers, in the order of a benchmark's names."""

    entities: Tensor  # (entity, ...)
    relations: Tensor  # (relation, ...); with inverses (2 * relation, ...), those after the others
    inverses: bool
    norm: float
    others: Mapping[str, Tensor]

    def slots(self, inverse: Callable[[Tensor], Tensor]) -> Tensor:  # (slot, ...)
        """Relations in both directions; `inverse` gives those that have no numbers of their own."""
        return (
            self.relations
            if self.inverses
            else torch.cat([self.relations, inverse(self.relations)])
        )


def adopted(model: Elsewhere, names: Vocabulary) -> tuple[Ours, Model]:
    """The model with the entities and relations of a benchmark, in its order, and how it is made.

    Distances become the probability 1 - tanh(distance), as in our own TransE; of the L2 norm, its
    square is taken. Neither changes any order of candidates.
    """
    key = model.formula.removesuffix("model")
    if key not in FORMULAS:
        raise ConfigError(
            f"{model.library} calls this model {model.formula}; adopt knows "
            f"{', '.join(FORMULAS)}; for others there is assent.adapt, in Python"
        )
    ours = FORMULAS[key](_tables(model, names))
    made = create(ours.name, names.num_entities, names.num_relations, dict(ours.settings))
    expected = {name: tuple(tensor.shape) for name, tensor in made.state_dict().items()}
    for name, tensor in ours.weights.items():
        if tuple(tensor.shape) != expected.get(name):
            raise DataError(
                f"{model.library}'s {model.formula}: {name} of shape {tuple(tensor.shape)}; "
                f"expected {expected.get(name)}"
            )
        if not bool(torch.isfinite(tensor).all()):
            raise DataError(f"{model.library}'s {model.formula}: {name} has numbers that are not")
    made.load_state_dict({**made.state_dict(), **ours.weights})
    return ours, made.eval()


def _tables(model: Elsewhere, names: Vocabulary) -> Tables:
    tensors = dict(model.tensors)
    for name in (ENTITIES, RELATIONS):
        if name not in tensors or tensors[name].ndim < 2:
            raise DataError(f"{model.library}'s {model.formula}: no table of {name}")
    entities, relations = tensors.pop(ENTITIES), tensors.pop(RELATIONS)
    directions = 2 if model.inverses else 1
    for kind, table, count in (
        (ENTITIES, entities, len(model.entities)),
        (RELATIONS, relations, directions * len(model.relations)),
    ):
        if len(table) != count:
            raise DataError(
                f"{model.library}'s {model.formula}: numbers for {len(table):,} {kind}, but names "
                f"for {count:,}; expected the dataset that it was trained on"
            )
    rows = _rows(names.entities, model.entities, ENTITIES)
    mine = _rows(names.relations, model.relations, RELATIONS)
    both = [mine + direction * len(model.relations) for direction in range(directions)]
    return Tables(
        entities[rows].float(),
        relations[torch.cat(both)].float(),
        model.inverses,
        model.norm,
        tensors,
    )


def _rows(wanted: tuple[str, ...], there: tuple[str, ...], kind: str) -> Tensor:
    places = {name: place for place, name in enumerate(there)}
    missing = [name for name in wanted if name not in places]
    if missing:
        shown = ", ".join(map(repr, missing[:SHOWN])) + (", ..." if len(missing) > SHOWN else "")
        raise DataError(
            f"the model lacks {len(missing):,} of the benchmark's {len(wanted):,} {kind}: {shown}; "
            "expected a benchmark of the graph that it was trained on"
        )
    return torch.tensor([places[name] for name in wanted], dtype=torch.int64)


def _distmult(tables: Tables) -> Ours:
    """<head, relation, tail> is the same from both ends."""
    weights = {"entities": tables.entities, "relations": tables.slots(lambda forward: forward)}
    return Ours("distmult", {**DOT, "dim": tables.entities.shape[1]}, weights)


def _complex(tables: Tables) -> Ours:
    """From the tail, it is the conjugate of the relation."""

    def conjugate(forward: Tensor) -> Tensor:
        real, imaginary = forward.chunk(2, dim=1)
        return torch.cat([real, -imaginary], dim=1)

    weights = {"entities": tables.entities, "relations": tables.slots(conjugate)}
    return Ours("complex", {**DOT, "dim": tables.entities.shape[1]}, weights)


def _rescal(tables: Tables) -> Ours:
    """From the tail, it is the transposed matrix."""
    dim = tables.entities.shape[1]
    if tables.relations[:1].numel() not in (0, dim * dim):
        raise DataError(
            f"rescal: relations of {tables.relations[:1].numel()} numbers; expected {dim}²"
        )
    matrices = tables._replace(relations=tables.relations.reshape(-1, dim, dim))
    relations = matrices.slots(lambda forward: forward.transpose(1, 2))
    return Ours(
        "rescal", {**DOT, "dim": dim}, {"entities": tables.entities, "relations": relations}
    )


def _transe(tables: Tables) -> Ours:
    if tables.norm not in (1, 2):
        raise ConfigError(f"transe: a norm of {tables.norm:g}; adopt knows 1 and 2")
    settings = {
        **PLAIN,
        "dim": tables.entities.shape[1],
        "norm": int(tables.norm),
        "normalize": False,
        "reciprocal": tables.inverses,
    }
    return Ours("transe", settings, {"entities": tables.entities, "relations": tables.relations})


def _conve(tables: Tables) -> Ours:
    """LibKGE's ConvE: the first number of an entity is its bias, and there is no input norm.

    What it adds before a norm is taken from that norm's mean, where ours has no place for it.
    """
    others = {name.removeprefix("_scorer."): tensor for name, tensor in tables.others.items()}
    if not tables.inverses or "convolution.weight" not in others:
        raise ConfigError("conve: adopt knows LibKGE's, with reciprocal relations, alone")
    dim, filters = tables.entities.shape[1] - 1, others["convolution.weight"].float()
    channels, places = len(filters), others["projection.weight"].shape[1] // len(filters)
    # (2 height - 2) (width - 2) places of a 3x3 filter, and height * width = dim
    heights = [
        height
        for height in range(1, dim + 1)
        if dim % height == 0 and (2 * height - 2) * (dim // height - 2) == places
    ]
    if tuple(filters.shape[1:]) != (1, 3, 3) or len(heights) != 1:
        raise ConfigError(
            "conve: adopt knows filters of 3 x 3, stride 1, no padding, and pictures twice as "
            "wide as high alone"
        )
    nothing = torch.zeros(channels)
    projection = others["projection.weight"].float().view(dim, channels, places)
    weights = {
        "entities": tables.entities[:, 1:],
        "bias": tables.entities[:, 0],
        "relations": tables.relations[:, 1:],
        "input_norm.weight": torch.full((1,), math.sqrt(1 + 1e-5)),  # undoes the norm's epsilon
        "filters.weight": filters.reshape(channels, 9),
        "feature_norm.running_mean": others["bn1.running_mean"].float()
        - others.get("convolution.bias", nothing),
        "feature_norm.running_var": others["bn1.running_var"].float(),
        "projection.weight": projection.transpose(1, 2).reshape(dim, channels * places),
        "query_norm.running_mean": others["bn2.running_mean"].float() - others["projection.bias"],
        "query_norm.running_var": others["bn2.running_var"].float(),
    }
    settings = {**DOT, "entity_bias": True, "dim": dim, "channels": channels, "height": heights[0]}
    return Ours("conve", {**settings, "feature_dropout": 0.0}, weights)


# The formulas of other libraries by the names that these have for them -> our models.
FORMULAS: dict[str, Callable[[Tables], Ours]] = {
    "complex": _complex,
    "conve": _conve,
    "distmult": _distmult,
    "rescal": _rescal,
    "transe": _transe,
}
