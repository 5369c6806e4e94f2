"""build: a benchmark of queries from a graph."""

from collections.abc import Sequence
from pathlib import Path

from assent.building import recipe
from assent.building.recipe import Progress
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.reporting.progress import steps
from assent.reporting.showing import shown
from assent.verbs.read import read


def build(
    kb: KnowledgeBase | str | Path,
    *,
    removed: int | str | Sequence[str] = "auto",
    held_out: float = 0.12,
    deal: str = "by-fact",
    seed: int = 0,
    progress: Progress | bool = True,
) -> Benchmark:
    """Builds a benchmark of queries from any graph (Appendix A.1 of the paper).

    `removed`: how many entities to take out, "auto" (so many that queries without an answer make
    a quarter), or the names of the entities. `held_out`: the share of facts to ask for, where the
    graph comes without valid and test. `deal`: "by-fact" (leak-safe) or "by-query" (the paper's).
    """
    graph = kb if isinstance(kb, KnowledgeBase) else read(kb)
    with shown(progress, steps) as told:
        return recipe.build(
            graph, removed=removed, held_out=held_out, deal=deal, seed=seed, progress=told
        )
