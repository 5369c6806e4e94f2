"""Tables of the nouns, and how notebooks show a noun as its table without being asked."""

from collections.abc import Callable, Sequence
from typing import Any

from assent.building.findings import Finding
from assent.completing.completing import Completion
from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.errors import ConfigError
from assent.measuring.evaluation import Evaluation
from assent.reporting.benchmarks import audit_grid, queries_grid
from assent.reporting.deciders import thresholds_grid
from assent.reporting.decisions import decisions_grid
from assent.reporting.grid import Grid
from assent.reporting.new_facts import completion_grid
from assent.scoring import Scored


def table(thing: object, run: Scored | None = None) -> Grid:
    """A benchmark, a decider, an evaluation, a completion or findings as a table.

    It is what the command of that name prints. A notebook draws it; `print` shows its Markdown. A
    decider needs the run that it was found for.
    """
    if isinstance(thing, Decider):
        if run is None:
            raise ConfigError("a decider has no names of relations; say table(decider, run)")
        return thresholds_grid(thing, run.benchmark)
    for kind, draw in TABLES.items():
        if isinstance(thing, kind):
            return draw(thing)
    if isinstance(thing, Sequence) and all(isinstance(each, Finding) for each in thing):
        return audit_grid(thing)
    raise ConfigError(f"no table of a {type(thing).__name__}")


TABLES: dict[type, Callable[[Any], Grid]] = {
    Benchmark: queries_grid,
    Evaluation: lambda found: decisions_grid({"": found}),
    Completion: completion_grid,
}
