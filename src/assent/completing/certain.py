"""Certain facts: what the stated schema entails, as new facts beside those that were guessed."""

from dataclasses import replace

import numpy as np

from assent.completing.completing import Completion, Outcome, most_probable
from assent.completing.ground import Ground
from assent.core.arrays import Ids, frozen
from assent.core.new_facts import HEAD, TAIL, Evidence, NewFacts
from assent.core.probabilities import FARTHEST
from assent.core.vocabulary import Vocabulary


def with_entailed(found: Completion, ground: Ground) -> Completion:
    """A completion with all that the schema entails, accepted, apart from what was guessed."""
    facts, about = ground.entailed.facts, ground.about
    mine = np.isin(facts[:, 1], [outcome.relation for outcome in found.outcomes])
    facts = facts[mine & (about[facts[:, 0]] | about[facts[:, 2]])]
    again = ground.entailed.among(found.facts.facts)  # found query by query
    guessed, dropped = found.facts.take(~again), found.facts.take(again)
    outcomes, parts = list[Outcome](), [guessed]
    for outcome in found.outcomes:
        its = ground.with_evidence(certain(facts[facts[:, 1] == outcome.relation], ground.names))
        gone = dropped.accepted[dropped.facts[:, 1] == outcome.relation]
        outcomes.append(
            outcome._replace(
                entailed=len(its),
                accepted=outcome.accepted - int(gone.sum()),
                review=outcome.review - int((~gone).sum()),
            )
        )
        parts.append(its)
    decided = NewFacts.joined(parts, ground.names)
    if ground.wanted.max_facts is not None:
        decided = most_probable(decided, ground.wanted.max_facts, ground.schema)
    return replace(found, facts=decided, outcomes=tuple(outcomes))


def certain(facts: Ids, names: Vocabulary) -> NewFacts:
    """Facts that are certain: accepted whatever the threshold, and no part of any estimate."""
    size = len(facts)
    return NewFacts(
        names,
        frozen(facts),
        frozen(np.ones(size), np.bool_),
        frozen(np.ones(size), np.float64),
        frozen(np.full(size, FARTHEST), np.float32),
        frozen(np.full(size, -np.inf), np.float64),
        frozen(np.full(size, np.nan), np.float64),
        frozen(np.full(size, TAIL | HEAD)),
        Evidence.nothing(size),
    )
