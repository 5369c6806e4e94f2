"""The models of the paper by name: `complex-128` is ComplEx of 128 dimensions."""

from dataclasses import dataclass
from typing import Self

from assent.core.checking import refuse_unknown
from assent.errors import ConfigError
from assent.settings import Settings, resolve

PAPER = (
    "conve-128",
    "conve-64",
    "complex-128",
    "complex-64",
    "transe-128",
    "transe-64",
    "distmult-64",
    "distmult-128",
    "region-64",
    "region-sphere-64",
)

KINDS: dict[str, tuple[str, tuple[str, ...]]] = {  # -> model, changes of its settings
    "conve": ("conve", ()),
    "complex": ("complex", ()),
    "transe": ("transe", ()),
    "distmult": ("distmult", ()),
    "region": ("region", ('model.shape="ellipse"',)),
    "region-sphere": ("region", ('model.shape="sphere"',)),
    "rescal": ("rescal", ()),
}
TITLES = {
    "conve": "ConvE",
    "complex": "ComplEx",
    "transe": "TransE",
    "distmult": "DistMult",
    "region": "Region ellipse",
    "region-sphere": "Region sphere",
    "rescal": "RESCAL",
}


@dataclass(frozen=True, slots=True)
class Spec:
    """A model to train, and how."""

    name: str
    preset: str
    model: str
    changes: tuple[str, ...]

    @classmethod
    def of(cls, name: str, preset: str, changes: tuple[str, ...] = ()) -> Self:
        kind, _, dim = name.rpartition("-")
        if not dim.isdecimal():
            raise ConfigError(f"unknown model {name!r}; expected a kind and a size: {PAPER[0]}")
        refuse_unknown(kind, KINDS, "model")
        model, own = KINDS[kind]
        return cls(name, preset, model, (f"model.dim={int(dim)}", *own, *changes))

    @property
    def settings(self) -> Settings:
        return resolve(self.model, self.preset, changes=self.changes)


def title(name: str) -> str:
    """As the paper writes it: ComplEx 128."""
    kind, _, dim = name.rpartition("-")
    return f"{TITLES[kind]} {dim}"
