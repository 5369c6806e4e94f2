"""What may be expected of the new facts of a run, in sentences: what share is right, and why."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.core.new_facts import ACCEPTED, ENTAILED, NewFacts
from assent.files.completions import PROMISE, REHEARSAL, REVIEW, Kept
from assent.reporting.grid import at_least, counted, percent, probability_text

_BY_SCHEMA = f"{ENTAILED} by the stated schema"

Probabilities = NDArray[np.float64]  # (fact,)


class Found(NamedTuple):
    """The new facts of a run, where they were read from, and what their completion said of them."""

    facts: NewFacts
    file: str
    run: str = ""  # the run that made them; empty where the file does not say
    kept: Kept | None = None

    @property
    def is_rehearsed(self) -> bool:
        """Whether a rehearsal gave the facts their probabilities, and estimated what is right."""
        return self.kept is not None and self.kept.decided == REHEARSAL

    @property
    def is_reviewed(self) -> bool:
        """Whether people's labels decided, and promise what share is right."""
        return self.kept is not None and self.kept.decided == REVIEW


def headline(found: Found) -> str:
    """How many facts were accepted and, where it was estimated, how many of them are right.

    Those that the stated schema entails are counted apart.
    """
    accepted, entailed = len(_guessed(found.facts)), int(found.facts.entailed.sum())
    if not accepted:
        return f"{counted(entailed, 'new fact')}, {_BY_SCHEMA}" if entailed else "No new facts"
    facts, more = counted(accepted, "new fact"), f"; {entailed:,} more {_BY_SCHEMA}"
    more = more if entailed else ""
    if found.kept is not None and found.is_reviewed:
        share = at_least(found.kept.precision)
        return f"{facts}, at least {share} of them right by a review{more}"
    if not found.is_rehearsed:
        return f"{facts}{more}"
    share = at_least(share_right(found.facts))
    return f"{facts}, at least {share} of them right by estimate{more}"


def expectation(found: Found) -> list[str]:
    """What share of the accepted facts is right, how that is known, and what it rests on."""
    accepted = _guessed(found.facts)
    if found.kept is not None and found.is_rehearsed:
        sentences = _estimate(accepted, found.kept)
    elif found.kept is not None and found.is_reviewed:
        return [f"{line[0].upper()}{line[1:]}." for line in found.kept.lines]
    elif len(accepted):
        sentences = [_own_probabilities(accepted, found.kept)]
    else:
        sentences = ["No fact was accepted: none scores above the threshold of its relation."]
    if entailed := int(found.facts.entailed.sum()):
        sentences.append(
            f"{counted(entailed, 'fact')} more {'is' if entailed == 1 else 'are'} {_BY_SCHEMA} "
            "from known facts: nobody guessed them, and no estimate is about them."
        )
    return [*sentences, *_review(found.facts, found.is_rehearsed)]


def _estimate(accepted: Probabilities, kept: Kept) -> list[str]:
    """What a rehearsal says of the accepted facts."""
    if len(accepted):
        estimate = (
            f"By estimate, at least {at_least(kept.precision)} of the accepted facts of each "
            f"relation are right, and about {accepted.sum():,.0f} of all {len(accepted):,}. "
            f"{kept.assumption}"
        )
    else:
        estimate = (
            f"No fact was accepted: none are so probable that {at_least(kept.precision)} of them "
            f"are right, by estimate. {kept.assumption}"
        )
    held_out = sum(relation.held_out for relation in kept.relations)
    again = sum(relation.found for relation in kept.relations)
    if not held_out:
        return [estimate]
    return [
        estimate,
        f"In the rehearsal, {again:,} of {held_out:,} hidden facts were accepted again: about "
        f"{percent(again / held_out, 0)} of what is missing may be found.",
    ]


def _own_probabilities(accepted: Probabilities, kept: Kept | None) -> str:
    """What the probabilities of facts add up to that were accepted query by query."""
    about = (
        f"By their own probabilities, about {accepted.sum():,.0f} of the {len(accepted):,} "
        "accepted facts are right"
    )
    if kept is None:
        return f"{about}."
    how = (
        "Their thresholds promise a precision for queries like those of valid"
        if kept.decided == PROMISE
        else "Their thresholds and probabilities were found on the queries of valid"
    )
    return (
        f"{about}; it may be fewer. {how}, of which about half have an answer; of all queries that "
        "were asked here, far fewer have one. `assent complete --precision` estimates the share on "
        "the queries that are asked."
    )


def _review(facts: NewFacts, rehearsed: bool) -> Iterator[str]:
    """Facts that a person should look at; and why one may be more probable than an accepted one."""
    accepted, review = _guessed(facts), facts.probabilities[~facts.accepted]
    if not len(review):
        return
    least = probability_text(float(review.min()), 2)
    yield (
        f"{len(review):,} more, of a probability of {least} or above, are left for a person to "
        "review."
    )
    if len(accepted) and review.max() > accepted.min():
        low, high = (probability_text(float(p), 2) for p in (accepted.min(), review.max()))
        how = "so that the precision holds in each" if rehearsed else "found on valid"
        yield (
            f"Each relation has a threshold of its own, {how}. So a fact of one relation may be "
            f"accepted at {low}, and one of another left to review at {high}."
        )


def _guessed(facts: NewFacts) -> Probabilities:
    """The probabilities of the facts that were accepted as guesses: not of those entailed."""
    probabilities: Probabilities = facts.probabilities[facts.decisions == ACCEPTED]
    return probabilities


def share_right(facts: NewFacts) -> float:
    return float(_guessed(facts).mean())
