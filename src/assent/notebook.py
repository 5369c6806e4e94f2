"""In a notebook, nouns are shown as their tables."""

import sys
from typing import Any

# Where each noun is defined: IPython looks it up there when one is shown, and imports nothing now.
SHOWN = {
    "Benchmark": "assent.core.benchmark",
    "Completion": "assent.completing.completing",
    "Evaluation": "assent.measuring.evaluation",
}


def show_tables() -> None:
    """Tells IPython, where it is running, to show these nouns as tables."""
    python: Any = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    if shell is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        for name, module in SHOWN.items():
            formatter.for_type_by_name(module, name, _html)


def _html(thing: object) -> str:
    from assent.reporting.notebooks import table

    return table(thing)._repr_html_()
