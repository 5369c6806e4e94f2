"""What is known of each shortlisted candidate when it is judged: from scores and train alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assent.core.scores import Scores
from assent.core.shortlist import Shortlist
from assent.errors import DataError
from assent.judging.graph import Columns, Graph
from assent.judging.spreads import Spreads
from assent.scoring import PairScorer, score_pairs


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """A row for each candidate, a named column for each thing that is known of it."""

    names: tuple[str, ...]
    values: NDArray[np.float64]  # (candidate, feature)   nan = there is no such thing

    def only(self, names: tuple[str, ...]) -> Self:
        """The columns of these names, in this order."""
        if missing := set(names) - set(self.names):
            raise DataError(f"the judge was trained on other features: {', '.join(missing)}")
        return type(self)(names, self.values[:, [self.names.index(name) for name in names]])

    def without(self, names: tuple[str, ...]) -> Self:
        return self.only(tuple(name for name in self.names if name not in names))


def features(
    shortlist: Shortlist, spreads: Spreads, graph: Graph, models: Sequence[PairScorer]
) -> Features:
    """All columns. The first of the models is the one whose scores were shortlisted."""
    queries, rows = shortlist.queries, shortlist.rows
    asked = queries.anchors[rows], queries.relations[rows], shortlist.entities
    columns = {
        **of_scores(shortlist),
        **of_spreads(shortlist, spreads),
        **graph.columns(*asked),
        **of_models(shortlist, models),
    }
    values = np.stack([np.asarray(column, np.float64) for column in columns.values()], axis=1)
    return Features(tuple(columns), values)


def of_scores(shortlist: Shortlist) -> Columns:
    """The candidate among those of its query that score higher, all of which are shortlisted."""
    rows, scores = shortlist.rows, shortlist.scores.astype(np.float64)
    order = np.lexsort((-scores, rows))
    ranked, falling = rows[order], scores[order]
    places = np.arange(len(order))
    starts = np.searchsorted(ranked, ranked)
    # Those that score the same stand together, whatever their order.
    first = (places == starts) | (np.diff(falling, prepend=np.nan) != 0)
    leaders = np.maximum.accumulate(np.where(first, places, 0))
    gap = np.where(leaders > starts, falling[np.maximum(leaders - 1, 0)] - falling, np.nan)
    summed = np.append(0, np.cumsum(expit(falling)))
    return {
        "score": scores,
        "rank": _back(leaders - starts, order),
        "gap_above": _back(gap, order),
        "mass_above": _back(summed[leaders] - summed[starts], order),
    }


def of_spreads(shortlist: Shortlist, spreads: Spreads) -> Columns:
    """The candidate among all of its query."""
    rows, scores = shortlist.rows, shortlist.scores.astype(np.float64)
    best, total, expected = spreads.best[rows], spreads.total[rows], spreads.expected[rows]
    return {
        "below_best": best - scores,
        "best": best,
        "expected": expected,
        "effective": spreads.effective[rows],
        "share": expit(scores) / expected,
        "log_softmax": scores - total,
    }


def of_models(shortlist: Shortlist, models: Sequence[PairScorer]) -> Columns:
    """The question turned round, and what other models say to both."""
    own, reverse = shortlist.scores, _reverse(models[0], shortlist)
    columns: Columns = {"reverse": reverse}
    if len(models) > 1:
        said, turned = [own], [reverse]
        for place, model in enumerate(models[1:], 1):
            said.append(_scores(model, shortlist))
            turned.append(_reverse(model, shortlist))
            columns |= {f"score_{place}": said[-1], f"reverse_{place}": turned[-1]}
        columns |= {"mean": np.mean(said, axis=0), "reverse_mean": np.mean(turned, axis=0)}
    return columns


def _scores(model: PairScorer, shortlist: Shortlist) -> Scores:
    queries, rows = shortlist.queries, shortlist.rows
    return score_pairs(model, queries.anchors[rows], queries.relations[rows], shortlist.entities)


def _reverse(model: PairScorer, shortlist: Shortlist) -> Scores:
    """The score of the anchor when the entity is asked with the inverse relation."""
    num_slots = len(shortlist.floors)
    inverse = (shortlist.relations + num_slots // 2) % num_slots
    return score_pairs(
        model, shortlist.entities, inverse, shortlist.queries.anchors[shortlist.rows]
    )


def _back(values: NDArray[np.generic], order: NDArray[np.int64]) -> NDArray[np.generic]:
    """Values in the order of the candidates again."""
    back = np.empty_like(values)
    back[order] = values
    return back
