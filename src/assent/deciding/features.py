"""What is known of each shortlisted candidate when it is judged: a table of named features.

A feature is a function in `FEATURES` from what is `Known` to named columns. It may look at scores
and at train facts, never at the answers of valid or test.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from assent.core.arrays import Ids
from assent.core.scores import Scores
from assent.core.shortlist import Shortlist
from assent.deciding.graph import Columns, Graph
from assent.errors import DataError

# anchors, slots, entities (candidate,) -> the scores (candidate,) that a model gives them
PairScores = Callable[[Ids, Ids, Ids], Scores]

# anchors, slots, entities (candidate,) -> what the rules of the graph say, as columns (candidate,)
RuleColumns = Callable[[Ids, Ids, Ids], Columns]
ALL_RULES = "rule_all"  # the column of what all rules say together


class Known(NamedTuple):
    """What the features of a shortlist are computed from."""

    shortlist: Shortlist  # with its spread
    graph: Graph
    models: Sequence[PairScores]  # first the one whose scores were shortlisted
    rules: RuleColumns


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """A row for each candidate, a named column for each thing that is known of it."""

    names: tuple[str, ...]
    values: NDArray[np.float64]  # (candidate, feature)   nan = there is no such thing

    @classmethod
    def of(cls, columns: Mapping[str, NDArray[Any]], num_candidates: int) -> Self:
        values = np.empty((num_candidates, len(columns)))
        for place, column in enumerate(columns.values()):
            values[:, place] = column
        return cls(tuple(columns), values)

    def only(self, names: Sequence[str]) -> Self:
        """The columns of these names, in this order."""
        if missing := [name for name in names if name not in self.names]:
            raise DataError(f"the judge was trained on other features: {', '.join(missing)}")
        return type(self)(tuple(names), self.values[:, [self.names.index(n) for n in names]])

    def without(self, names: Sequence[str]) -> Self:
        return self.only([name for name in self.names if name not in names])


def features(known: Known) -> Features:
    """All columns of the table, computed for every candidate."""
    columns: Columns = {}
    for of in FEATURES.values():
        columns |= of(known)
    return Features.of(columns, len(known.shortlist))


def of_scores(known: Known) -> Columns:
    """The candidate among those of its query that score higher, all of which are shortlisted."""
    rows, scores = known.shortlist.rows, known.shortlist.scores.astype(np.float64)
    order, starts, leaders = _ranked(rows, scores)
    falling = scores[order]
    gap = np.where(leaders > starts, falling[np.maximum(leaders - 1, 0)] - falling, np.nan)
    summed = np.append(0, np.cumsum(expit(falling)))
    return {
        "score": scores,
        "rank": _back(leaders - starts, order),
        "gap_above": _back(gap, order),
        "mass_above": _back(summed[leaders] - summed[starts], order),
    }


def of_spread(known: Known) -> Columns:
    """The candidate among all of its query, shortlisted or not."""
    shortlist, spread = known.shortlist, known.shortlist.spread
    if spread is None:
        raise DataError("a judge needs to know how the scores of each query are spread")
    rows, scores = shortlist.rows, shortlist.scores.astype(np.float64)
    best, total, expected = spread.best[rows], spread.total[rows], spread.expected[rows]
    return {
        "below_best": best - scores,
        "best": best,
        "expected": expected,
        "effective": spread.effective[rows],
        "share": expit(scores) / expected,
        "log_softmax": scores - total,
    }


def of_graph(known: Known) -> Columns:
    """What the train facts say."""
    return known.graph.columns(*_asked(known.shortlist))


def of_rules(known: Known) -> Columns:
    """What the rules of the graph say; facts between anchor and entity have no part in it.

    And where the candidate stands by what all rules say together, among the shortlisted of its
    query: its rank, how far it is below the best, and how far above the best of the others.
    """
    columns = known.rules(*_asked(known.shortlist))
    rows, said = known.shortlist.rows, columns[ALL_RULES].astype(np.float64)
    order, starts, leaders = _ranked(rows, said)
    falling, places = said[order], np.arange(len(order))
    ends = np.searchsorted(rows[order], rows[order], side="right")
    second = falling[np.minimum(starts + 1, len(order) - 1)]
    others = np.where(places > starts, falling[starts], np.where(ends > starts + 1, second, np.nan))
    return columns | {
        f"{ALL_RULES}_rank": _back(leaders - starts, order),
        f"{ALL_RULES}_below_best": _back(falling[starts] - falling, order),
        f"{ALL_RULES}_lead": _back(falling - others, order),
    }


def of_models(known: Known) -> Columns:
    """The score of the fact asked from its other end, and what other models say to both."""
    anchors, slots, entities = _asked(known.shortlist)
    inverse = known.graph.names.inverse(slots)
    own, *others = known.models
    scores, reverses = [known.shortlist.scores], [own(entities, inverse, anchors)]
    columns: Columns = {"reverse": reverses[0]}
    if not others:
        return columns
    for place, model in enumerate(others, 1):
        scores.append(model(anchors, slots, entities))
        reverses.append(model(entities, inverse, anchors))
        columns |= {f"score_{place}": scores[-1], f"reverse_{place}": reverses[-1]}
    return columns | {"mean": np.mean(scores, axis=0), "reverse_mean": np.mean(reverses, axis=0)}


def _asked(shortlist: Shortlist) -> tuple[Ids, Ids, Ids]:
    """Anchor, slot and entity of each candidate."""
    queries, rows = shortlist.queries, shortlist.rows
    return queries.anchors[rows], queries.relations[rows], shortlist.entities


def _ranked(
    rows: Ids, values: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The candidates by query and falling value, and two places in this order for each of them.

    The first is where its query begins; the second that of the first candidate of the query with
    the same value, for those share a rank.
    """
    order = np.lexsort((-values, rows))
    ranked, falling = rows[order], values[order]
    places = np.arange(len(order))
    starts = np.searchsorted(ranked, ranked)
    first = (places == starts) | (np.diff(falling, prepend=np.nan) != 0)
    return order, starts, np.maximum.accumulate(np.where(first, places, 0))


def _back(values: NDArray[np.generic], order: NDArray[np.int64]) -> NDArray[np.generic]:
    """Values in the order of the candidates again."""
    back = np.empty_like(values)
    back[order] = values
    return back


FEATURES: dict[str, Callable[[Known], Columns]] = {
    "scores": of_scores,
    "spread": of_spread,
    "graph": of_graph,
    "rules": of_rules,
    "models": of_models,
}
