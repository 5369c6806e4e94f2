"""The random design: in which order proposals are drawn, fixed by a seed before any label is seen.

Every proposal has a random number. A set of proposals is sampled in the order of these numbers, so
that the first so many of any set are a random sample of it without replacement, whichever other
sets were looked at before, and whatever was found there. A label counts for a set as soon as all
members with smaller numbers are labelled too. So a person may go from set to set as the labels
suggest: what a set proves does not depend on the way.

The sets are the first so many proposals by falling probability: of the whole graph, and of each
relation. A few proposals, the pilot, are drawn first, evenly over the order. They show where the
calibration is off, and so which sets are worth testing; they are no part of any sample.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from assent.core.arrays import Ids, Keys, Mask

PILOT = 12  # proposals drawn first, at most
PILOT_START = 0.01  # the first of them is drawn from this share of the proposals, the most probable
SMALLEST = 10  # proposals in the smallest set, if there are as many
GROWTH = 1.12  # of the sizes of sets
FARTHEST = 1e-6  # probabilities are taken for at least this, and at most 1 less this

Values = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class Family:
    """Nested sets of proposals, each the first so many of one order."""

    relation: int | None  # None: the whole graph
    members: Keys  # (member,)  places of proposals, by falling probability
    sizes: Keys  # (set,)  ascending
    pilot: tuple[Keys, ...]  # of each set: its members that are in the pilot
    drawn: tuple[Keys, ...]  # of each set: its other members, in the order in which they are drawn

    @classmethod
    def of(cls, relation: int | None, members: Keys, numbers: Values, in_pilot: Mask) -> Self:
        """The sets of these members, who are given by falling probability."""
        sizes = sizes_of(len(members))
        by_number = np.argsort(numbers[members], kind="stable")
        by_number = by_number[~in_pilot[members[by_number]]]
        return cls(
            relation,
            members,
            sizes,
            tuple(members[:size][in_pilot[members[:size]]] for size in sizes),
            tuple(members[by_number[by_number < size]] for size in sizes),
        )

    def __len__(self) -> int:
        return len(self.sizes)


class Design:
    """The random numbers of all proposals, the pilot, and the families of sets."""

    def __init__(self, probabilities: Values, relations: Ids, seed: int) -> None:
        self.probabilities, self.relations = probabilities, relations  # (proposal,)
        rng = np.random.default_rng(seed)
        self.numbers = rng.random(len(probabilities))  # (proposal,)
        self.pilot = pilot_of(len(probabilities), rng)  # places, in the order they are drawn
        self._in_pilot = np.zeros(len(probabilities), bool)
        self._in_pilot[self.pilot] = True
        self._families: dict[int | None, Family] = {}

    def __len__(self) -> int:
        return len(self.probabilities)

    def family(self, relation: int | None = None) -> Family:
        """The sets of a relation, or those of the whole graph."""
        if relation not in self._families:
            mine = np.full(len(self), True) if relation is None else self.relations == relation
            members = np.flatnonzero(mine)
            self._families[relation] = Family.of(relation, members, self.numbers, self._in_pilot)
        return self._families[relation]

    @cached_property
    def logits(self) -> Values:  # (proposal,)
        return logits_of(self.probabilities)


def logits_of(probabilities: Values) -> Values:
    """Log odds, finite also where a probability is 0 or 1."""
    clipped = np.clip(probabilities, FARTHEST, 1 - FARTHEST)
    odds: Values = np.log(clipped / (1 - clipped))
    return odds


def sizes_of(count: int) -> Keys:  # (set,)
    """The sizes of the sets that are tested, the last one all of these proposals."""
    if not count:
        return np.empty(0, np.int64)
    steps = int(np.log(max(count / SMALLEST, 1)) / np.log(GROWTH)) + 1
    sizes = np.floor(SMALLEST * GROWTH ** np.arange(steps))
    return np.unique(np.append(sizes[sizes < count], count).astype(np.int64))


def pilot_of(count: int, rng: np.random.Generator) -> Keys:  # (pilot,)
    """One proposal at random from each stretch of the order, each stretch longer than the last."""
    if not count:
        return np.empty(0, np.int64)
    stretches = np.geomspace(max(count * PILOT_START, 1), count, PILOT)
    ends: Keys = np.unique(np.append(0, np.round(stretches)).astype(np.int64))
    return rng.permutation(rng.integers(ends[:-1], ends[1:]))
