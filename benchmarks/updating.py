"""A tenth of the entities comes late: an update beside a training from the start, and nothing.

    python benchmarks/updating.py codex-s world --seed 0 1 [--folder DIR]

A run is trained and tuned (rule per-relation) on a benchmark of the graph without a tenth of its
entities, drawn with the seed, and without all facts about them. Then these facts come. `update`
learns them with `assent.update`; `full` trains from the start on the benchmark that the update
made; `nothing` is the old run, which accepts nothing about an entity that it does not know.

F1 on test: `new` of the queries that the new facts brought, `old` of all others. `thresholds` are
found anew on valid, or those of the old run (`kept`). Seconds are of processor time: those of the
training with its evaluations, and of tuning; of an update, all of it. With --folder, trainings
stay there and are not done again.
"""

import argparse
import time
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

import assent
from assent.building.changing import Change, change
from assent.core.benchmark import Benchmark
from assent.core.counts import f1
from assent.core.facts import KnowledgeBase
from assent.core.scores import Scorer, collect
from assent.deciding.shortlisting import Above
from assent.scoring import Scored, score_split
from assent.training.trace import read_events

SHARE = 0.1  # of the entities


@dataclass(frozen=True)
class Asked:
    """A model, and the queries that it is asked."""

    benchmark: Benchmark
    model: Scorer


class Unaware:
    """A model that is asked about entities that it does not know: it scores none of them."""

    def __init__(self, model: Scorer, num_entities: int) -> None:
        self.model, self.num_entities = model, num_entities

    def scores(self, anchors: torch.Tensor, relations: torch.Tensor) -> torch.Tensor:
        known = self.model.num_entities
        scores = torch.full((len(anchors), self.num_entities), -torch.inf)
        mine = anchors < known
        if mine.any():
            scores[mine, :known] = self.model.scores(anchors[mine], relations[mine]).float()
        return scores


def late(graph: str, seed: int) -> tuple[KnowledgeBase, KnowledgeBase]:
    """The graph without some of its entities, and the facts about these."""
    kb = assent.dataset(graph)
    gone = np.zeros(kb.vocabulary.num_entities, bool)
    order = np.random.default_rng(seed).permutation(len(gone))
    gone[order[: round(SHARE * len(gone))]] = True
    about = gone[kb.facts[:, [0, 2]]].any(axis=1)
    base, kept = kb.take(~about), np.flatnonzero(~gone).astype(np.int32)
    ids = np.cumsum(~gone, dtype=np.int32) - np.int32(1)
    facts = np.stack([ids[base.facts[:, 0]], base.facts[:, 1], ids[base.facts[:, 2]]], axis=1)
    types = kb.types.with_entities(kept) if kb.types else None
    names = kb.vocabulary.with_entities(kept)
    return replace(base, vocabulary=names, facts=facts, types=types), kb.take(about)


def trained(benchmark: Benchmark, folder: Path) -> tuple[assent.Run, float]:
    """A run of the default settings on one thread, and the seconds that it took."""
    place = folder.with_name(folder.name.removesuffix("-run"))
    assent.save(benchmark, place, overwrite=True)
    run = assent.train(place, "complex", out=folder, changes=["train.threads=1"])
    end = next(e for e in reversed(read_events(folder / "trace.jsonl")) if e["event"] == "end")
    return run, float(end["processor_seconds"])


def both(run: Scored, decider: assent.Decider, found: Change) -> list[float]:
    """F1 of the new queries of test, and of the others."""
    above = Above(run.benchmark.test, decider.floors)
    collect(score_split(run, "test"), above)
    shortlist = above.result()
    counts = shortlist.counts(decider.accept(shortlist))
    new = found.fresh["test"]
    return [float(f1(counts.take(part).total())) for part in (new, ~new)]


def measure(graph: str, seed: int, folder: Path) -> None:
    base, new = late(graph, seed)
    before, _ = trained(assent.build(base, seed=seed), folder / f"{graph}-{seed}-base-run")
    old = assent.tune(before, "per-relation")
    found = change(before.benchmark, new, seed=seed)
    full, seconds = trained(found.benchmark, folder / f"{graph}-{seed}-new-run")
    start = time.process_time()
    full_decider = assent.tune(full, "per-relation")
    seconds += time.process_time() - start
    updated = assent.update(before, new, decider=old, seed=seed)
    assert updated.decider is not None
    unaware = Unaware(before.model, found.benchmark.vocabulary.num_entities)
    rows = {
        "nothing": (both(Asked(found.benchmark, unaware), old, found), 0.0),
        "update": (both(updated.run, updated.decider, found), updated.seconds),
        "update, kept": (both(updated.run, old, found), updated.seconds),
        "full": (both(full, full_decider, found), seconds),
    }
    best, longest = rows["full"]
    for way, (values, spent) in rows.items():
        shares = "".join(f"{v:>9.4f}{v / b:>7.0%}" for v, b in zip(values, best, strict=True))
        print(
            f"{graph:<9}{seed:>5}  {way:<14}{shares}{spent:>9.1f}{spent / longest:>8.1%}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--seed", type=int, nargs="+", default=[0])
    parser.add_argument("--folder", type=Path, help="where trainings are kept")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{'graph':<9}{'seed':>5}  {'':<14}{'new':>9}{'':>7}{'old':>9}{'':>7}{'seconds':>9}")
    with TemporaryDirectory() as temporary:
        for graph in options.graphs:
            for seed in options.seed:
                measure(graph, seed, options.folder or Path(temporary))


if __name__ == "__main__":
    main()
