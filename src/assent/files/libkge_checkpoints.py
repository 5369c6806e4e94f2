"""LibKGE's checkpoints and packaged models, read as tensors and plain values alone."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import torch
from torch import Tensor

from assent.core.legible import in_words
from assent.errors import DataError
from assent.files.elsewhere import ENTITIES, RELATIONS, Elsewhere
from assent.files.guarding import refuse_special
from assent.files.libkge import names_of, setting, train_facts

RECIPROCAL = "reciprocal_relations_model"
TABLES = {  # LibKGE's names -> ours; a reciprocal model has each of its tensors twice
    "_entity_embedder._embeddings.weight": ENTITIES,
    "_relation_embedder._embeddings.weight": RELATIONS,
}
WRONG = (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError)


class Config:
    """Stands in for the object in which LibKGE keeps settings: only its values are looked at."""

    __module__, __qualname__ = "kge.config", "Config"


def read_checkpoint(path: Path, dataset: Path | None = None) -> Elsewhere:
    """The model of a checkpoint, or of a packaged model, which knows its names.

    `dataset` is the folder that the model was trained on; a checkpoint needs it for the names.
    """
    found = _loaded(path)
    try:
        weights, options = dict(found["model"][0]), found["config"].options
        formula, inverses, own = setting(options, "model"), False, options
        if formula == RECIPROCAL:
            own = setting(options, f"{RECIPROCAL}.base_model")
            formula, inverses = setting(own, "type"), True
        if not isinstance(formula, str):
            raise TypeError("no name of a model")
        norm = setting(own, "l_norm") or setting(options, f"{formula}.l_norm") or 1.0
        length = float(norm)  # type: ignore[arg-type]
        listed = (found.get("dataset") or {}).get("meta") or {}
        named = [listed.get("entity_ids"), listed.get("relation_ids")]
    except WRONG as error:
        raise DataError(f"{path}: not a checkpoint of LibKGE ({in_words(error)})") from error
    if dataset is not None:
        entities, relations = names_of(dataset)
    elif all(isinstance(names, list) for names in named):
        entities, relations = (tuple(map(str, names or ())) for names in named)
    else:
        raise DataError(
            f"{path}: has no names of entities and relations; give the folder of the LibKGE "
            "dataset that it was trained on: --dataset FOLDER"
        )
    tensors = {_our_name(str(name)): _whole(value, path) for name, value in weights.items()}
    facts: pl.DataFrame | None = None if dataset is None else train_facts(dataset)
    return Elsewhere(
        "LibKGE", formula.lower(), entities, relations, tensors, inverses, length, facts
    )


def _loaded(path: Path) -> Mapping[str, Any]:
    refuse_special(path)
    try:
        with torch.serialization.safe_globals([Config]):
            found: Mapping[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise DataError(
            f"{path}: refused, as it holds more than tensors and plain values, and might run code "
            f"when it is opened ({_reason(error)})"
        ) from error
    except Exception as error:  # damaged bytes lead torch's loader to all kinds of them
        raise DataError(f"{path}: cannot be read as a checkpoint: {_reason(error)}") from error
    return found


def _our_name(theirs: str) -> str:
    # Older versions of LibKGE left the underscore out.
    name = theirs.removeprefix("_base_model.").replace("r.embeddings.", "r._embeddings.")
    return TABLES.get(name, name)


def _whole(tensor: object, path: Path) -> Tensor:
    """A tensor whose numbers are all in the file: a view may claim any amount of memory."""
    if (
        not isinstance(tensor, Tensor)
        or tensor.layout != torch.strided
        or tensor.device.type != "cpu"
        or tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes()
    ):
        raise DataError(f"{path}: holds weights that are no plain tensors")
    return tensor.detach()


def _reason(error: Exception) -> str:
    """The heart of what torch says; the rest is advice to open the file all the same."""
    text = " ".join(str(error).split()).rpartition("WeightsUnpickler error: ")[2]
    return text.partition(" Please ")[0].partition(". ")[0][:160] or type(error).__name__
