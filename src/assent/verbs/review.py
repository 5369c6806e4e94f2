"""review: proposals for people to decide about, and what their labels are worth."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.core.arrays import Ids, found_in, frozen
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase, fact_keys
from assent.core.new_facts import NewFacts
from assent.core.scores import QueriesDone
from assent.errors import ConfigError, DataError
from assent.files.places import SETTINGS
from assent.files.triples import write
from assent.reviewing.proposals import (
    Proposals,
    has_proposals,
    ordered,
    planted_among,
    refuse_second,
    write_proposals,
)
from assent.reviewing.session import Review
from assent.reviewing.worth import CONFIDENCE, PRECISION
from assent.settings import read_toml
from assent.verbs.complete import complete
from assent.verbs.runs import Run, find_benchmark

LEAST = 0.05  # how probable a proposal is, at least
MOST = 10_000  # proposals; beyond them the least probable are left out
TRIED = 5  # times as many facts are tried as are planted: rules speak for few false ones
PLANTED = 100  # true facts among the proposals, and as many false ones, at most


def review(
    run_folder: str | Path, precision: float = PRECISION, confidence: float = CONFIDENCE
) -> Review:
    """The review of a run, which `propose` has made proposals for.

    What is drawn next is what buys a promise of this precision and confidence soonest.
    """
    folder = Path(run_folder)
    if not has_proposals(folder):
        raise DataError(f"{folder}: has no proposals yet; `assent review` makes them")
    return Review(folder, benchmark_of(folder).whole(), precision, confidence)


def propose(
    run: Run,
    *,
    least: float = LEAST,
    most: int = MOST,
    planted: int = PLANTED,
    seed: int = 0,
    progress: QueriesDone | bool = True,
) -> Proposals:
    """Makes the proposals of a run, once: the new facts that are at least so probable.

    They go into the run's folder, with known facts planted among them. `seed` fixes the random
    design by which proposals are drawn for a promise.
    """
    if run.folder is None:
        raise ConfigError("a run without a folder has no place for proposals; train with out=")
    refuse_second(run.folder)
    found = complete(run, 0.9, review_above=least, entailed=False, progress=progress)
    facts = ordered(found.facts)
    whole = run.benchmark.whole()
    fitted_again = facts.vocabulary.entities == whole.vocabulary.entities
    proposals = Proposals(
        facts.take(np.arange(len(facts)) < most),
        _planted(facts, whole if fitted_again else run.benchmark, planted, seed),
        seed,
        least,
        max(len(facts) - most, 0),
    )
    write_proposals(run.folder, proposals)
    return proposals


def write_accepted(opened: Review, path: str | Path) -> int:
    """Writes the proposals that people called right as a graph; returns how many there are."""
    facts = opened.facts_right()
    names = replace(facts.vocabulary, entity_labels=(), relation_labels=())  # facts alone
    write(KnowledgeBase.of_ids(names, facts.facts), path)
    return len(facts)


def benchmark_of(run_folder: Path, given: str | Path | None = None) -> Benchmark:
    """The benchmark that a run was trained on; `given` says where it is now."""
    return find_benchmark(run_folder, read_toml(run_folder / SETTINGS).get("benchmark", {}), given)


def _planted(facts: NewFacts, benchmark: Benchmark, count: int, seed: int) -> NewFacts:
    """Planted facts with the evidence that they would have if they were new.

    Those that no rule speaks for are left out: hardly a proposal is such, so they would stand out.
    """
    rng = np.random.default_rng((seed, 1))
    planted = planted_among(facts, benchmark.train, TRIED * count, rng)
    without = _without(benchmark, planted.facts)
    ground = Ground(without, Wanted())
    parts = [
        ground.with_evidence(planted.take(planted.facts[:, 1] == relation))
        for relation in np.unique(planted.facts[:, 1])
    ]
    found = NewFacts.joined(parts, facts.vocabulary)
    # No proposal is entailed, and a fact that is cannot be taken for false.
    certain = ground.entailed.among(found.facts)
    found = found.take(~certain)
    found = found.take([not found.by_similarity(place) for place in range(len(found))])
    kept = [
        rng.permutation(np.flatnonzero(found.accepted == true))[:count] for true in (True, False)
    ]
    return found.take(np.sort(np.concatenate(kept)))


def _without(benchmark: Benchmark, facts: Ids) -> Benchmark:
    """The benchmark without these train facts."""
    names = benchmark.vocabulary
    gone = found_in(np.sort(fact_keys(facts, names)), fact_keys(benchmark.train, names))
    return replace(benchmark, train=frozen(benchmark.train[~gone]))
