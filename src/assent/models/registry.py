"""Models by name, with settings that were checked."""

import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any

import torch

import assent.models
from assent.core.arrays import Ids
from assent.core.checking import checked, refuse_unknown
from assent.core.legible import first_line
from assent.core.memory import memory
from assent.core.texts import Texts
from assent.errors import ConfigError, ModelFileError
from assent.models.base import Model, ModelSettings
from assent.models.custom import Custom, load, theirs
from assent.models.embedding import Embedding
from assent.models.members import Members

BYTES = 4  # of a number
COPIES = 4  # the weights, their gradients, and two numbers of Adam for each


def create(
    name: str,
    num_entities: int,
    num_relations: int,
    settings: Mapping[str, Any] | ModelSettings | None = None,
    texts: Texts | None = None,
    facts: Ids | None = None,
) -> Model:
    """A new model with random parameters, drawn with torch's generator.

    `texts` are what is written about the entities, for models that read it; `facts` (fact, 3) those
    that it is trained on, for models that need them beside.
    """
    if not isinstance(settings, ModelSettings):
        settings = settings_of(name, settings or {})
    model = _model(name)
    if type(settings) is not model.Settings:
        expected, found = model.Settings.__name__, type(settings).__name__
        raise ConfigError(f"model {name!r}: expected {expected}, found {found}")
    _refuse_large(name, num_entities, num_relations, settings)
    count = max(settings.members, 1)
    with theirs():
        members = [model(num_entities, num_relations, settings) for _ in range(count)]
        if texts is not None:
            for each in members:
                each.read(texts)
        if facts is not None:
            for each in members:
                each.see(facts)
    return Members(members) if len(members) > 1 else members[0]


def _refuse_large(
    name: str, num_entities: int, num_relations: int, settings: ModelSettings
) -> None:
    """Raises an error for a model that this machine has no memory to train, before it is made."""
    try:
        with theirs(), torch.device("meta"):  # shapes alone
            made = _model(name)(num_entities, num_relations, settings)
            shapes = chain(made.parameters(), made.buffers())  # TransA's metrics are buffers
            numbers = max(settings.members, 1) * sum(shape.numel() for shape in shapes)
    except (RuntimeError, TypeError, OverflowError) as error:  # more than any number can count
        raise ConfigError(f"model {name}: too large to be made ({first_line(error)})") from error
    here = int(os.environ.get("LOCAL_WORLD_SIZE", 1))  # processes that share this machine
    needed, there = numbers * BYTES * COPIES, memory() // here
    each = " a process" if here > 1 else ""
    if needed > there:
        raise ConfigError(
            f"model {name}: {numbers:,} numbers, which take {needed / 1e9:,.0f} GB to train; this "
            f"machine has {there / 1e9:,.0f} GB{each}: choose a smaller model.dim or model.members"
        )


def settings_of(name: str, values: Mapping[str, Any]) -> ModelSettings:
    """The model's settings: its defaults, and these values instead."""
    kind = _model(name).Settings
    with theirs():
        return kind(**checked(kind, values, "model"))


def title(name: str) -> str:
    """A model as papers write it: the name of its class."""
    return _model(name).__name__


def _model(name: str) -> type[Embedding]:
    if (custom := Custom.of(name)) is not None:
        _import_all()  # now, as the file may import some of them
        return load(custom if custom.sha256 else custom.pinned())
    refuse_unknown(name, assent.models.names(), "model")
    _import_all()
    if name not in Embedding.registered:
        Embedding.registered[name] = _of_package(name)
    return Embedding.registered[name]


def _of_package(name: str) -> type[Embedding]:
    """The class that an installed package has under this name."""
    try:
        found = assent.models.in_packages()[name].load()
    except Exception as error:
        raise ModelFileError(f"model {name!r} of an installed package: {error!r}") from error
    if not (isinstance(found, type) and issubclass(found, Embedding)):
        raise ModelFileError(f"model {name!r} of an installed package: {found!r} is no Embedding")
    return found


@cache
def _import_all() -> None:
    """Imports every file of the folder: the models in them register themselves."""
    for module in pkgutil.iter_modules(assent.models.__path__):
        importlib.import_module(f"assent.models.{module.name}")
