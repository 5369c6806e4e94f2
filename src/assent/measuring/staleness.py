"""Whether a decider still serves after its graph changed, relation by relation."""

import math
from dataclasses import dataclass

import numpy as np

from assent.core.arrays import Mask
from assent.core.counts import Counts, f1
from assent.core.decider import Decider
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary

KEEP, TUNE, TRAIN = "keep", "tune again", "train again"
FEWEST = 10  # answers among the new queries of a relation: with fewer, nothing is said about it
SURE = 2.0  # standard errors that a difference must have to count


@dataclass(frozen=True, slots=True)
class Staleness:
    """How decisions about the new queries of one relation went, beside the old ones."""

    relation: str
    before: Counts  # the old model and thresholds, on the old queries
    kept: Counts  # the updated model with the old thresholds, on the new queries
    tuned: Counts  # the same with thresholds found anew
    better: int  # decisions about candidates that only the new thresholds get right
    worse: int  # those that only the old ones get right
    expected: float  # share of right ones among those `kept` accepts, by its probabilities
    suggestion: str  # KEEP, TUNE or TRAIN
    told: bool  # False: there are too few answers to say more than KEEP


def staleness(
    before: tuple[Shortlist, Mask],
    after: Shortlist,
    kept: Decider,
    tuned: Decider,
    names: Vocabulary,
) -> list[Staleness]:
    """Both deciders on the new queries, for each relation that these ask about.

    `before` are the old model's candidates and which of them were accepted. A relation is to be
    tuned again where clearly more decisions are right with new thresholds than with the old ones
    (McNemar's test). It is to be trained again where, even then, its F1 is clearly below the one
    that old queries had; the error of an F1 is taken for that of a share of the answers.
    """
    decisions = {name: each.accept(after) for name, each in (("kept", kept), ("tuned", tuned))}
    right = {name: accepted == after.right for name, accepted in decisions.items()}
    slots = after.relations
    probabilities = kept.probability(after.scores, slots)
    of_old = before[0].counts(before[1])
    of_new = {name: after.counts(accepted) for name, accepted in decisions.items()}
    found = []
    for relation in np.unique(names.relations_of(after.queries.relations)).tolist():
        mine = names.relations_of(slots) == relation
        asked = names.relations_of(after.queries.relations) == relation
        was = names.relations_of(before[0].queries.relations) == relation
        better = int((mine & right["tuned"] & ~right["kept"]).sum())
        worse = int((mine & right["kept"] & ~right["tuned"]).sum())
        accepted = mine & decisions["kept"]
        old = of_old.take(was).total()
        with_kept, with_tuned = (of_new[name].take(asked).total() for name in ("kept", "tuned"))
        found.append(
            Staleness(
                names.relations[relation],
                old,
                with_kept,
                with_tuned,
                better,
                worse,
                float(probabilities[accepted].mean()) if accepted.any() else math.nan,
                suggested(old, with_tuned, better, worse),
                with_tuned.relevant >= FEWEST,
            )
        )
    return found


def suggested(before: Counts, tuned: Counts, better: int, worse: int) -> str:
    """What to do about a relation."""
    if tuned.relevant < FEWEST:
        return KEEP
    was, is_now = f1(before), f1(tuned)
    if before.relevant >= FEWEST and was > is_now:
        errors = (was * (1 - was) / before.relevant, is_now * (1 - is_now) / tuned.relevant)
        if was - is_now > SURE * math.sqrt(sum(errors)):
            return TRAIN
    return TUNE if better - worse > SURE * math.sqrt(better + worse) else KEEP
