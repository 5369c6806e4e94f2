"""The models to reproduce, by name: `complex-128` is ComplEx with 128 dimensions."""

from dataclasses import dataclass
from typing import NamedTuple, Self

from assent.core.checking import refuse_unknown
from assent.errors import ConfigError
from assent.models import names, registry
from assent.reproducing.paper import MODELS
from assent.settings import Settings, resolve


class Variant(NamedTuple):
    """A kind of a model that the paper tells apart from others of the same model."""

    model: str
    changes: tuple[str, ...]  # of its settings
    title: str
    reported: tuple[str, ...] = ()  # what the default preset had when the paper's rows were made


# As many as FB14k-QAQ gets anyway; plans and times left need a number before any graph is read.
EPOCHS = {"default": ("train.epochs=30",)}
PLAIN = ('model.anchor="plain"', "model.start=1")  # the paper's formula of Region
WHOLE = ("train.candidates=0",)
VARIANTS = {
    "region": Variant("region", ('model.shape="ellipse"', *PLAIN), "Region ellipse", WHOLE),
    "region-sphere": Variant("region", ('model.shape="sphere"', *PLAIN), "Region sphere", WHOLE),
    "region-scaled": Variant("region", ('model.anchor="scaled"', "model.start=4"), "Region scaled"),
    "transe": Variant("transe", ("model.norm=1",), "TransE", ("train.learning_rate=0.003", *WHOLE)),
    "transa-diagonal": Variant("transa", ('model.metric="diagonal"',), "TransA diagonal"),
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
        """From a name such as `complex-128`; `changes` of settings, as `--set` takes them."""
        kind, _, dim = name.rpartition("-")
        if not dim.isdecimal():
            example = next(iter(MODELS))
            raise ConfigError(f"unknown model {name!r}; expected a kind and a size: {example}")
        variant = _variant(kind)
        settings = (f"model.dim={int(dim)}", *variant.changes, *EPOCHS.get(preset, ()))
        if preset == "default":
            settings += variant.reported
        settings += changes
        return cls(name, preset, variant.model, settings)

    @property
    def settings(self) -> Settings:
        return resolve(self.model, self.preset, changes=self.changes)


def title(name: str) -> str:
    """As the paper writes it: ComplEx 128."""
    kind, _, dim = name.rpartition("-")
    return f"{_variant(kind).title} {dim}"


def _variant(kind: str) -> Variant:
    """Any model there is can be reproduced, under the name of its class."""
    refuse_unknown(kind, [*names(), *VARIANTS], "model")
    return VARIANTS.get(kind) or Variant(kind, (), registry.title(kind))
