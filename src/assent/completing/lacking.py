"""What each relation lacks: how many of its facts are missing for each one that was held out.

Among the candidates of one relation and of about one score, let `h` be held out, `w` new and wrong.
If `m` facts are missing for each one held out, and score like those held out, `m h` more are new
and right. So of all candidates there a share of `h / (h + m h + w)` is held out. Where the score is
so high that hardly a wrong fact has it, that share is `1 / (1 + m)`: as much as 1 if nothing is
missing, a third if two facts are missing for each one held out. That is what tells `m`.

With odds of `h` to `w` that rise with the score, `exp(a + b score)`, the share is a sigmoid with a
ceiling: `sigmoid(a + b score + log(1 + m)) / (1 + m)`. A new candidate is right with probability
`sigmoid(a + b score + log m)`. For each of some numbers `m` the sigmoids that fit best are found.
How well they fit says how probable each number is in the relation; how many relations lack so much
says how probable it was before (Robbins, 1956: empirical Bayes; by EM). A relation with few
held-out facts, or without any that is sure, thus lacks what the others do, as far as anyone can
tell.

Not all that a relation lacks comes up among these candidates (`rehearsing.py`: two kinds). If a
share `s` does, `m s` takes the place of `m` above, so that relations are alike in what they lack as
a whole.

The holes of a graph (`holes.py`) say what a relation lacks as well, whatever its candidates score.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assent.completing.holes import NO_HOLES, Holes
from assent.core.arrays import Ids, Mask
from assent.core.probabilities import near, sigmoid
from assent.core.sigmoids import step

NUMBERS = 13  # of missing facts that are compared, nothing among them
HELD = (1.0, 10.0)  # how firmly a relation is held to the sigmoid of all: intercept, slope
HARDLY = (0.01, 0.01)  # the same for the sigmoid of all relations, which is held to the score
TURNS = 200  # steps of the search, at most; some 20 are enough
CLOSE = 1e-6  # the search ends when no number moves farther
ROUNDS = 3  # of fitting the sigmoid of all relations to what each of them lacks
STEPS_OF_EM = 1000  # at most
STILL = 1e-6  # EM ends when no share of the relations moves farther

Values = NDArray[np.float64]


class Sigmoids(NamedTuple):
    """The log-odds of held out to wrong, `start + slope * score`, of each group of candidates."""

    starts: Values  # (group,)
    slopes: Values  # (group,)
    fits: Values  # (group,)  log of how probable what was held out is, whatever the sigmoid


class Lacking(NamedTuple):
    """How many facts each relation may lack, how probable that is, and the sigmoids for each."""

    numbers: Values  # (number,)             facts missing for each one held out
    probabilities: Values  # (number, relation)  of each number
    starts: Values  # (number, relation)     log-odds of held out to wrong: intercepts
    slopes: Values  # (number, relation)     and slopes

    @property
    def means(self) -> Values:  # (relation,)
        """The number that is to be expected."""
        return self.numbers @ self.probabilities


def numbers_up_to(most: float) -> Values:
    """Nothing, and numbers that grow by the root of 2 up to the most."""
    return np.concatenate([[0.0], most * 2.0 ** (-np.arange(NUMBERS - 2, -1, -1) / 2)])


def lacking(
    scores: Values,
    relations: Ids,
    held_out: Mask,
    shares: Values,
    most: float,
    holes: Holes = NO_HOLES,
) -> Lacking:
    """What each relation lacks, by its candidates and holes: at most `most` for each held out.

    Of what a relation lacks, a share (relation,) may come up among its candidates.
    """
    numbers, everything = numbers_up_to(most), np.zeros_like(relations)
    size, here = len(shares), shares[relations]
    each = np.array(
        [sigmoids_of(scores, everything, held_out, 1, m * here, HARDLY).fits[0] for m in numbers]
    )
    means = np.full(size, numbers[np.argmax(each)])
    for _ in range(ROUNDS):
        (start,), (slope,), _ = sigmoids_of(
            scores, everything, held_out, 1, means[relations] * here, HARDLY
        )
        fitted = list[Sigmoids]()
        for number in numbers:
            fitted.append(
                sigmoids_of(
                    start + slope * scores,
                    relations,
                    held_out,
                    size,
                    number * here,
                    HELD,
                    fitted[-1:],
                )
            )
        starts, slopes, fits = map(np.array, zip(*fitted, strict=True))
        probable = posterior(fits, numbers, holes)
        found = Lacking(numbers, probable, starts + slopes * start, slopes * slope)
        means = found.means
    return found


def posterior(
    fits: Values, numbers: Values, holes: Holes = NO_HOLES
) -> Values:  # (number, relation)
    """How probable each number is in each relation, given the log of how well it fits there.

    How probable it is before, the same for all relations, is what fits all of them best; so is the
    share of the slots in which everyone of a kind has an answer.
    """
    count, size = fits.shape
    before, everyone = np.full((count, 1), 1 / count), 0.5
    fits = np.exp(fits - fits.max(axis=0))
    if_all, if_some = holes.fits(numbers), holes.otherwise()
    for _ in range(STEPS_OF_EM):
        both = everyone * if_all + (1 - everyone) * if_some  # (number, slot)
        after = before * fits
        np.multiply.at(after.T, holes.relations, (both / both.max(axis=0)).T)
        after /= after.sum(axis=0)
        moved = (after.sum(axis=1, keepdims=True) + 1 / count) / (size + 1)
        of_all = (after[:, holes.relations] * everyone * if_all / both).sum()
        sure = (of_all + 0.5) / (len(holes.relations) + 1)
        done = max(np.abs(moved - before).max(), abs(sure - everyone)) < STILL
        before, everyone = moved, sure
        if done:
            break
    return after


def sigmoids_of(
    scores: Values,
    groups: Ids,
    held_out: Mask,
    size: int,
    missing: float | Values,
    held: tuple[float, float],
    near_to: Sequence[Sigmoids] = (),
) -> Sigmoids:
    """The sigmoids that fit best if so many facts are `missing` for each one held out.

    That is one number, or one for each candidate. The sigmoids are held to `0 + 1 * score` as by a
    normal prior with the two precisions `held`. Found by Fisher scoring, from those that they are
    `near_to`; Laplace's approximation tells how they fit.
    """
    a, b = (near_to[0].starts, near_to[0].slopes) if near_to else (np.zeros(size), np.ones(size))
    raised = np.log1p(missing)
    for _ in range(TURNS):
        logits = near(a[groups] + b[groups] * scores + raised)
        above, below = sigmoid(logits), sigmoid(-logits)
        # Of q = above / (1 + missing): its derivative by the logit, over q (1 - q).
        tells = (1 + missing) * below / (missing + below)
        gap, weight = (
            (above / (1 + missing) - held_out) * tells,
            above * below * tells / (1 + missing),
        )
        a, b, curved, moved = step(a, b, scores, groups, gap, weight, held)
        if moved < CLOSE:
            break
    said = np.where(held_out, np.log(above), np.log(missing + below)) - raised
    prior = (held[0] * a**2 + held[1] * (b - 1) ** 2 - np.log(held[0] * held[1])) / 2
    return Sigmoids(a, b, np.bincount(groups, said, size) - prior - np.log(curved) / 2)
