"""Which settings of a model are worth searching, and between which bounds."""

from typing import NamedTuple

TRANSLATIONS = ("transa", "transe", "transh", "transr", "region")
PRODUCTS = ("attention", "complex", "distmult", "text")


class Between(NamedTuple):
    """A number between two bounds; even in its logarithm unless it has a step."""

    low: float
    high: float
    step: float | None = None


Choice = tuple[int | str | bool, ...]
Space = dict[str, Between | Choice]  # by setting, as `--set` names it

RATE: Space = {"train.learning_rate": Between(5e-4, 2e-2)}
DROPOUT: Space = {
    "model.anchor_dropout": Between(0, 0.5, 0.1),
    "model.query_dropout": Between(0, 0.5, 0.1),
}
DIM: Space = {"model.dim": (64, 128, 256)}


def space(model: str) -> Space:
    """What a search tries for a model."""
    if model == "rules":
        return {
            "model.discount": Between(0, 1, 0.1),
            "model.prior": Between(1, 20),
            "model.slots_weight": Between(0, 0.5, 0.1),
        }
    found = {**RATE, **DIM, **DROPOUT}
    if model in PRODUCTS:
        found |= {"train.n3": Between(5e-3, 0.3)}
    if model in TRANSLATIONS:
        found |= {"model.init_scale": Between(0.03, 1), "model.normalize": (True, False)}
    return {**found, **OWN.get(model, {})}


OWN: dict[str, Space] = {
    "conve": {"model.feature_dropout": Between(0, 0.5, 0.1), "model.dim": (64, 128)},
    "rescal": {"model.dim": (32, 64, 128)},
    "region": {
        "model.anchor": ("scaled", "plain"),
        "model.pace": Between(1, 10),
        "model.shape": ("ellipse", "sphere"),
        "model.start": Between(0.5, 10),
    },
    "transa": {"model.dim": (32, 64), "model.far": Between(2, 20)},
    "transe": {"model.norm": (1, 2)},
    "transr": {"model.dim": (32, 64)},
}
