"""Knowledge-base completion that decides.

import assent
kb = assent.read("kb.nt")
benchmark = assent.build(kb, removed=1000, seed=7)
assent.save(benchmark, "benchmark")
run = assent.train(benchmark, model="region", out="run")
decider = assent.tune(run, rule="per-relation")
print(assent.evaluate(run, decider).f1("full"))
for fact in assent.complete(run, precision=0.9):
    print(fact["head"], fact["relation"], fact["tail"], fact["probability"])
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assent.core.version import __version__

if TYPE_CHECKING:
    from assent.adapters.adapting import Adapted, adapt
    from assent.assessing import evaluate, tune
    from assent.building.auditing import Finding, audit
    from assent.building.counting import table_one
    from assent.building.recipe import build
    from assent.completing.completion import Completion
    from assent.core.benchmark import Benchmark
    from assent.core.facts import KnowledgeBase
    from assent.core.queries import Queries, Subset
    from assent.deciding.rules import Decider
    from assent.errors import AssentError
    from assent.experiment import Run, complete, dataset, load_run, train
    from assent.files.benchmarks import load, save
    from assent.files.triples import read, write
    from assent.measuring.evaluation import Evaluation
    from assent.presenting import report

_HOMES = {
    "Adapted": "adapters.adapting",
    "AssentError": "errors",
    "Benchmark": "core.benchmark",
    "Completion": "completing.completion",
    "Decider": "deciding.rules",
    "Evaluation": "measuring.evaluation",
    "Finding": "building.auditing",
    "KnowledgeBase": "core.facts",
    "Queries": "core.queries",
    "Run": "experiment",
    "Subset": "core.queries",
    "adapt": "adapters.adapting",
    "audit": "building.auditing",
    "build": "building.recipe",
    "complete": "experiment",
    "dataset": "experiment",
    "evaluate": "assessing",
    "load": "files.benchmarks",
    "load_run": "experiment",
    "read": "files.triples",
    "report": "presenting",
    "save": "files.benchmarks",
    "table_one": "building.counting",
    "train": "experiment",
    "tune": "assessing",
    "write": "files.triples",
}

__all__ = [
    "Adapted",
    "AssentError",
    "Benchmark",
    "Completion",
    "Decider",
    "Evaluation",
    "Finding",
    "KnowledgeBase",
    "Queries",
    "Run",
    "Subset",
    "__version__",
    "adapt",
    "audit",
    "build",
    "complete",
    "dataset",
    "evaluate",
    "load",
    "load_run",
    "read",
    "report",
    "save",
    "table_one",
    "train",
    "tune",
    "write",
]


def __getattr__(name: str) -> Any:
    """Loads a name when it is first asked for: `assent --help` need not wait for all of it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
