"""Altair, which draws all charts, or one line that says why it cannot be used here.

It copies docstrings as it is imported, and cannot be without them.
"""

import sys

from assent.errors import ConfigError

if sys.flags.optimize > 1:
    raise ConfigError(
        "PYTHONOPTIMIZE=2 (or python -OO) removes docstrings, and charts cannot be drawn without "
        "them; set it to 1 or leave it out"
    )

import altair as alt

__all__ = ["alt"]
