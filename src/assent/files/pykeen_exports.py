"""A PyKEEN model as safetensors and JSON: PyKEEN's own file is a pickle, and never opened here."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import torch
from safetensors.torch import save_file
from torch import Tensor

from assent.core.legible import in_words
from assent.errors import DataError
from assent.files.atomic import folder_beside
from assent.files.elsewhere import ENTITIES, RELATIONS, Elsewhere
from assent.files.formats import COLUMNS
from assent.files.tensors import read_tensors
from assent.files.text import is_text, read_json

TENSORS, EXPORT = "model.safetensors", "pykeen.json"
FACTS = "facts"  # (fact, 3)  the triples that the model learned from, by PyKEEN's ids


def write_export(folder: Path, document: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> None:
    """Writes tables of numbers, and beside them the names, the formula and its options."""
    whole = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with folder_beside(folder, lambda old: (old / EXPORT).is_file(), overwrite=True) as part:
        save_file(whole, part / TENSORS)
        text = json.dumps(document, ensure_ascii=False, allow_nan=False)
        (part / EXPORT).write_text(text + "\n", encoding="utf-8")


def read_export(folder: Path) -> Elsewhere:
    """What `write_export` wrote, PyKEEN's order of relations and complex numbers made ours."""
    path, document = folder / EXPORT, read_json(folder / EXPORT)
    try:
        entities, relations = (_in_order(document[kind]) for kind in (ENTITIES, RELATIONS))
        formula, inverses = str(document["model"]).lower(), bool(document["inverses"])
        numbers, norm = [*map(str, document["complex"])], float(document["norm"] or 1)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise DataError(f"{path}: not an export of a PyKEEN model ({in_words(error)})") from error
    path = folder / TENSORS
    tensors = read_tensors(path, "the numbers of a PyKEEN model")
    for name in numbers:
        table = tensors.get(name, torch.empty(0))
        if table.ndim < 2 or table.shape[-1] != 2:
            raise DataError(f"{path}: {name} without real and imaginary parts")
        # Side by side in PyKEEN; here the real parts come first, then the imaginary ones.
        tensors[name] = torch.cat([table[..., 0], table[..., 1]], dim=-1)
    if inverses and RELATIONS in tensors and tensors[RELATIONS].ndim:
        # PyKEEN numbers a relation 2 r, and its inverse 2 r + 1.
        tensors[RELATIONS] = torch.cat([tensors[RELATIONS][0::2], tensors[RELATIONS][1::2]])
    facts = tensors.pop(FACTS, None)
    learned = None if facts is None else _named(facts, entities, relations, path)
    return Elsewhere("PyKEEN", formula, entities, relations, tensors, inverses, norm, learned)


def _in_order(ids: Mapping[str, int]) -> tuple[str, ...]:
    """The names by their ids, which count from 0 without a gap."""
    order = sorted(ids, key=ids.__getitem__)
    if [ids[name] for name in order] != list(range(len(order))):
        raise ValueError("ids that do not count from 0 without a gap")
    if not all(map(is_text, order)):
        raise ValueError("names that are no text")
    return tuple(order)


def _named(
    facts: Tensor, entities: tuple[str, ...], relations: tuple[str, ...], path: Path
) -> pl.DataFrame:
    if facts.ndim != 2 or facts.shape[1] != 3 or facts.dtype != torch.int64:
        raise DataError(f"{path}: {FACTS} of shape {tuple(facts.shape)}; expected 3 ids a row")
    named = {}
    for name, ids, known in zip(COLUMNS, facts.T, (entities, relations, entities), strict=True):
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < len(known):
            raise DataError(f"{path}: {FACTS} of ids that {EXPORT} has no names for")
        named[name] = pl.Series(known, dtype=pl.String).gather(ids.contiguous().numpy())
    return pl.DataFrame(named)
