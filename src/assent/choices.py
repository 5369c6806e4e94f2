"""Names to choose from, found without loading what they name: for help and shell completion."""

from assent import models
from assent.datasets import CATALOGUE
from assent.training.presets import PRESETS

COUNTED = ("rules",)  # models whose numbers are counted in one go, not trained in steps


def model_names() -> tuple[str, ...]:
    """The models there are, trained or counted."""
    return tuple(sorted((*models.names(), *COUNTED)))


def dataset_names() -> tuple[str, ...]:
    """The named data sets, here or not."""
    return tuple(CATALOGUE)


def preset_names() -> tuple[str, ...]:
    """The settings that `assent train` can start from."""
    return tuple(PRESETS)
