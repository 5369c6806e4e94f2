"""All verbs in order: the whole path of a fact, from a graph to new facts for people to judge."""

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assent.building.recipe import Progress, silent
from assent.completing.completing import Completion
from assent.core.arrays import Mask
from assent.core.facts import KnowledgeBase
from assent.core.new_facts import REVIEW
from assent.files.benchmarks import save
from assent.reviewing.proposals import has_proposals
from assent.training.loop import Watcher
from assent.verbs.audit import audit
from assent.verbs.build import build
from assent.verbs.complete import complete
from assent.verbs.completions import keep_completion
from assent.verbs.deciders import save_decider
from assent.verbs.evaluate import evaluate
from assent.verbs.read import read
from assent.verbs.refit import refit
from assent.verbs.report import report
from assent.verbs.review import propose, review
from assent.verbs.train import train
from assent.verbs.tune import tune

REVIEW_ABOVE = 0.5  # facts so probable that were not accepted are kept for a person to look at
Show = Callable[[str, Any], None]  # told the name of each verb and what it returned
Named = tuple[str, str, str]  # a fact by its names: head, relation, tail


class Found(NamedTuple):
    """What a completion found of the facts that had been hidden from all verbs before it."""

    completion: Completion
    hidden: int  # how many there were
    findable: int  # those of them about entities that the benchmark has
    right: Mask  # (accepted fact,)  whether it is a hidden one


def experiment(
    source: str | Path,
    out: str | Path,
    *,
    hide: float = 0.0,
    model: str = "complex",
    changes: Iterable[str] = (),
    precision: float = 0.7,
    seed: int = 0,
    show: Show = lambda verb, result: None,
    progress: Progress = silent,
    watcher: Watcher | None = None,
) -> Path:
    """Runs every verb on one graph; all that they make goes into the folder `out`.

    This share of the facts is hidden first, to see in the end which of them are found again. New
    facts are accepted at this `precision`, by estimate. Returns the page of the report.
    """
    folder = Path(out)
    show("read", whole := read(source))
    hides = np.random.default_rng(seed).random(len(whole.facts)) < hide
    show("build", benchmark := build(whole.take(~hides), seed=seed, progress=progress))
    save(benchmark, folder / "benchmark", overwrite=True)
    show("audit", audit(benchmark))
    run = train(folder / "benchmark", model, out=folder / "run", changes=changes, watcher=watcher)
    show("train", run)
    show("tune", decider := tune(run, "per-relation"))
    save_decider(decider, folder / "run", benchmark)
    show("evaluate", evaluate(run, decider))
    refit(run, watcher)
    completion = complete(run, precision, refit=True, review_above=REVIEW_ABOVE)
    keep_completion(completion, run, folder / "run")
    show("complete", found_again(completion, named(whole.take(hides))))
    page = report([run], folder / "report.html")
    show("report", page)
    if not has_proposals(folder / "run"):
        propose(run)
    with closing(review(folder / "run")) as opened:
        show("review", opened)
    return page


def found_again(completion: Completion, hidden: set[Named]) -> Found:
    """Which of the accepted facts are among those hidden."""
    entities = set(completion.vocabulary.entities)
    findable = sum(head in entities and tail in entities for head, _, tail in hidden)
    accepted = (fact for fact in completion if fact["decision"] != REVIEW)
    right = [(fact["head"], fact["relation"], fact["tail"]) in hidden for fact in accepted]
    return Found(completion, len(hidden), findable, np.array(right, bool))


def named(kb: KnowledgeBase) -> set[Named]:
    """The facts of a graph by their names."""
    entities, relations = kb.vocabulary.entities, kb.vocabulary.relations
    return {(entities[h], relations[r], entities[t]) for h, r, t in kb.facts.tolist()}
