"""Results as JSON takes them."""

from collections.abc import Mapping
from typing import Any

import numpy as np


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values in lists, dicts and Python's own numbers; nan and infinities become null."""
    return {key: _plain(value) for key, value in values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return plain(value)
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value
