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

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Said before anything is read that an older Python cannot parse.
if sys.version_info < (3, 11):  # noqa: UP036
    raise ImportError("assent needs Python 3.11 or later; this is " + sys.version.split()[0])

from assent.core.version import __version__

# A thread that waits for others sleeps, where it would otherwise spin on a processor that those
# others may need: on a busy machine steps are three times as fast. Read when torch is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

if TYPE_CHECKING:
    from assent.adapters.adapting import Adapted, adapt
    from assent.adapters.graphs import from_ogb, from_pyg, to_ogb, to_pyg
    from assent.building.counting import table_one
    from assent.building.findings import Finding
    from assent.completing.completing import Completion
    from assent.core.benchmark import Benchmark
    from assent.core.decider import Decider
    from assent.core.facts import KnowledgeBase
    from assent.core.queries import Queries, Subset
    from assent.errors import AssentError
    from assent.files.triples import write
    from assent.measuring.evaluation import Evaluation
    from assent.reporting.notebooks import table
    from assent.reviewing.session import Review
    from assent.verbs.adopt import adopt
    from assent.verbs.ask import ask
    from assent.verbs.audit import audit
    from assent.verbs.build import build, build_folder
    from assent.verbs.complete import complete
    from assent.verbs.deciders import load_decider, save_decider
    from assent.verbs.diff import Differences, diff
    from assent.verbs.evaluate import evaluate
    from assent.verbs.explain import explain
    from assent.verbs.pack import pack, unpack
    from assent.verbs.read import dataset, read
    from assent.verbs.report import report
    from assent.verbs.review import propose, review
    from assent.verbs.runs import Run, load_run
    from assent.verbs.saving import load, save
    from assent.verbs.search import search
    from assent.verbs.train import train
    from assent.verbs.tune import tune
    from assent.verbs.update import Updated, update
    from assent.verbs.verify import verify

_HOMES = {
    "Adapted": "adapters.adapting",
    "AssentError": "errors",
    "Benchmark": "core.benchmark",
    "Completion": "completing.completing",
    "Decider": "core.decider",
    "Differences": "verbs.diff",
    "Evaluation": "measuring.evaluation",
    "Finding": "building.findings",
    "KnowledgeBase": "core.facts",
    "Queries": "core.queries",
    "Run": "verbs.runs",
    "Subset": "core.queries",
    "Updated": "verbs.update",
    "adapt": "adapters.adapting",
    "adopt": "verbs.adopt",
    "ask": "verbs.ask",
    "audit": "verbs.audit",
    "build": "verbs.build",
    "build_folder": "verbs.build",
    "complete": "verbs.complete",
    "dataset": "verbs.read",
    "diff": "verbs.diff",
    "evaluate": "verbs.evaluate",
    "explain": "verbs.explain",
    "from_ogb": "adapters.graphs",
    "from_pyg": "adapters.graphs",
    "load": "verbs.saving",
    "load_decider": "verbs.deciders",
    "load_run": "verbs.runs",
    "Review": "reviewing.session",
    "propose": "verbs.review",
    "read": "verbs.read",
    "report": "verbs.report",
    "review": "verbs.review",
    "save": "verbs.saving",
    "save_decider": "verbs.deciders",
    "search": "verbs.search",
    "table": "reporting.notebooks",
    "table_one": "building.counting",
    "to_ogb": "adapters.graphs",
    "to_pyg": "adapters.graphs",
    "train": "verbs.train",
    "pack": "verbs.pack",
    "unpack": "verbs.pack",
    "verify": "verbs.verify",
    "tune": "verbs.tune",
    "update": "verbs.update",
    "write": "files.triples",
}

__all__ = [
    "Adapted",
    "AssentError",
    "Benchmark",
    "Completion",
    "Decider",
    "Differences",
    "Evaluation",
    "Finding",
    "KnowledgeBase",
    "Queries",
    "Review",
    "Run",
    "Subset",
    "Updated",
    "__version__",
    "adapt",
    "adopt",
    "ask",
    "audit",
    "build",
    "build_folder",
    "complete",
    "dataset",
    "diff",
    "evaluate",
    "explain",
    "from_ogb",
    "from_pyg",
    "load",
    "load_decider",
    "load_run",
    "pack",
    "propose",
    "read",
    "report",
    "review",
    "save",
    "save_decider",
    "search",
    "table",
    "table_one",
    "to_ogb",
    "to_pyg",
    "train",
    "tune",
    "unpack",
    "update",
    "verify",
    "write",
]


if "IPython" in sys.modules:  # a notebook shows nouns as tables
    import_module(f"{__name__}.notebook").show_tables()


def __getattr__(name: str) -> Any:
    """Loads a name when it is first asked for: `assent --help` need not wait for all of it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
