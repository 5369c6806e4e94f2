"""Models in the formats of other libraries, and their formulas, one fact at a time."""

import json
import math
import sys
from types import ModuleType

import numpy as np
import torch
from safetensors.torch import save_file


class _Config:
    """What a LibKGE checkpoint keeps its settings in: an object of the class kge.config.Config."""

    __module__, __qualname__ = "kge.config", "Config"

    def __init__(self, options):
        self.folder, self.log_folder, self.options = "/somewhere", None, options


def write_checkpoint(path, options, weights, names=None):
    """A checkpoint as LibKGE's training writes it; with `names`, a packaged model."""
    package, config = ModuleType("kge"), ModuleType("kge.config")
    config.Config = _Config
    sys.modules |= {"kge": package, "kge.config": config}
    try:
        document = {
            "type": "train" if names is None else "package",
            "epoch": 3,
            "valid_trace": [{"epoch": 3, "mean_reciprocal_rank_filtered": 0.5}],
            "model": (weights, {}),
            "optimizer_state_dict": {"state": {0: {"sum": torch.ones(2)}}, "param_groups": []},
            "job_id": "a-b-c",
            "config": _Config(options),
        }
        if names is not None:
            meta = {"entity_ids": list(names[0]), "relation_ids": list(names[1])}
            document["dataset"] = {"num_entities": len(names[0]), "meta": meta}
        torch.save(document, path)
    finally:
        del sys.modules["kge"], sys.modules["kge.config"]


def libkge_weights(formula, entities, relations, dim, inverses, rng):
    """Random numbers under LibKGE's names; a reciprocal model has each of them twice."""
    width = dim + 1 if formula == "conve" else dim
    across = dim * dim if formula == "rescal" else width
    tables = {
        "_entity_embedder._embeddings.weight": drawn(rng, entities, width),
        "_relation_embedder._embeddings.weight": drawn(
            rng, relations * (2 if inverses else 1), across
        ),
    }
    if formula == "conve":
        height = int(math.sqrt(dim / 2))
        places = (2 * height - 2) * (2 * height - 2)
        tables |= {
            "_scorer.convolution.weight": drawn(rng, 32, 1, 3, 3),
            "_scorer.convolution.bias": drawn(rng, 32),
            "_scorer.bn1.running_mean": drawn(rng, 32),
            "_scorer.bn1.running_var": drawn(rng, 32).exp(),
            "_scorer.bn1.num_batches_tracked": torch.tensor(7),
            "_scorer.projection.weight": drawn(rng, dim, 32 * places) / 10,
            "_scorer.projection.bias": drawn(rng, dim),
            "_scorer.bn2.running_mean": drawn(rng, dim),
            "_scorer.bn2.running_var": drawn(rng, dim).exp(),
            "_scorer.bn2.num_batches_tracked": torch.tensor(7),
        }
    if inverses:
        tables = {f"_base_model.{name}": tensor for name, tensor in tables.items()} | tables
    return tables


def drawn(rng, *shape):
    return torch.from_numpy(rng.normal(0, 0.5, shape).astype(np.float32))


def libkge_score(formula, weights, head, relation, tail, norm=1.0):
    """The score of one fact, by ids, as LibKGE's documentation defines it."""
    entities = weights["_entity_embedder._embeddings.weight"].double()
    row = weights["_relation_embedder._embeddings.weight"].double()[relation]
    h, t = entities[head], entities[tail]
    if formula == "distmult":
        return float(sum(a * b * c for a, b, c in zip(h, row, t, strict=True)))
    if formula == "complex":
        h, r, t = (torch.complex(*vector.chunk(2)) for vector in (h, row, t))
        return float((h * r * t.conj()).sum().real)
    if formula == "rescal":
        return float(h @ row.view(len(h), len(h)) @ t)
    if formula == "transe":
        return -float(torch.linalg.vector_norm(h + row - t, norm))
    assert formula == "conve"
    height = int(math.sqrt((len(h) - 1) / 2))
    scorer = {
        name.removeprefix("_scorer."): tensor.double()
        for name, tensor in weights.items()
        if name.startswith("_scorer.")
    }

    def normed(values, which, shape):
        mean, var = scorer[f"{which}.running_mean"], scorer[f"{which}.running_var"]
        return (values - mean.view(shape)) / torch.sqrt(var.view(shape) + 1e-5)

    picture = torch.cat([h[1:].view(height, -1), row[1:].view(height, -1)])[None, None]
    x = torch.conv2d(picture, scorer["convolution.weight"], scorer["convolution.bias"])
    x = normed(x, "bn1", (1, -1, 1, 1)).relu().flatten()
    x = scorer["projection.weight"] @ x + scorer["projection.bias"]
    return float(normed(x, "bn2", (-1,)).relu() @ t[1:] + t[0])


def write_export(folder, document, tensors):
    """What the documentation lets people write where assent is not installed."""
    folder.mkdir()
    save_file(tensors, folder / "model.safetensors")
    (folder / "pykeen.json").write_text(json.dumps(document), encoding="utf-8")
