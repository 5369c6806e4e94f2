"""What people said about a run's proposals, as the verbs complete and tune take it in."""

from dataclasses import replace

from assent.completing.completing import Completion, Wanted, most_probable
from assent.core.benchmark import Benchmark
from assent.errors import ConfigError, DataError
from assent.reviewing.accepting import Judged, completed, judged, taught
from assent.reviewing.proposals import has_proposals, labels_in
from assent.reviewing.session import Review
from assent.reviewing.worth import CONFIDENCE
from assent.scoring import Scored
from assent.verbs.runs import folder_of


def by_labels(
    run: Scored, precision: float | None, confidence: float | None, wanted: Wanted
) -> Completion:
    """The facts of a run's review that a promise of this precision accepts."""
    if precision is None:
        raise ConfigError("reviewed: give the precision that is to be promised")
    if wanted.anchors is not None:
        raise ConfigError("reviewed: a promise is about whole relations; leave anchors out")
    review = review_of(run)
    try:
        found = completed(
            review,
            precision,
            CONFIDENCE if confidence is None else confidence,
            wanted.relations,
            wanted.review_above,
        )
    finally:
        review.close()
    if wanted.max_facts is None:
        return found
    if wanted.max_facts < int(found.facts.accepted.sum()):
        raise ConfigError("reviewed: a promise is about the whole set; leave max_facts out")
    return replace(found, facts=most_probable(found.facts, wanted.max_facts))


def judged_of(run: Scored) -> dict[str, Judged]:
    """What people called right or wrong of a run's facts, by the keys of the facts."""
    folder = folder_of(run)
    if folder is None or (labels := labels_in(folder)) is None:
        return {}
    with labels:
        return judged(labels)


def with_reviewed(run: Scored) -> Benchmark:
    """The benchmark of a run, with what people said about its proposals asked in valid too."""
    review = review_of(run)
    try:
        return replace(run.benchmark, valid=taught(run.benchmark, review))
    finally:
        review.close()


def review_of(run: Scored) -> Review:
    """The review of a loaded run."""
    folder = folder_of(run)
    if folder is None or not has_proposals(folder):
        raise DataError(f"{folder or 'this run'}: has no review yet; `assent review` begins one")
    return Review(folder, run.benchmark.whole())
