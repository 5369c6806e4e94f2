"""The paper's thesis: do ranking and classification put models in the same order?"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from assent.core.counts import Number, ratio
from assent.reproducing import paper_numbers
from assent.reproducing.results import RULES, Result

FEWEST = 3  # models that have an order worth comparing

Values = NDArray[np.float64]


def agreement(results: Sequence[Result]) -> dict[str, Any]:
    """Rule -> Spearman's correlation of MRR and F1 on test, and its bootstrap interval."""
    if len(results) < FEWEST:
        return {}
    ranked = _draws(results, "mrr")
    found = {}
    for rule in (rule for rules in RULES.values() for rule in rules.values()):
        drawn = spearman(ranked, _draws(results, rule))
        drawn = drawn[~np.isnan(drawn)]
        found[rule] = {
            "spearman": spearman(
                np.array([result.mrr() for result in results]),
                np.array([result.f1(rule) for result in results]),
            ),
            "interval": np.quantile(drawn, [0.025, 0.975]).tolist() if len(drawn) else None,
        }
    return found


def in_the_paper(names: Sequence[str] | None = None) -> dict[str, float]:
    """Setting -> the same of the paper's own numbers, of these models or of all it prints."""
    there = [key[0] for key in {**paper_numbers.TABLE_2, **paper_numbers.TABLE_4}]
    chosen = [name for name in there if names is None or name in names]
    ranked = np.array([paper_numbers.mrr(name) for name in chosen], np.float64)
    return {
        setting: spearman(
            ranked,
            np.array([paper_numbers.f1(name, setting, "full") for name in chosen], np.float64),
        )
        if len(chosen) >= FEWEST
        else np.nan
        for setting in paper_numbers.SETTINGS
    }


def spearman(one: Values, other: Values) -> Number:
    """Pearson's correlation of the ranks along the first axis, ties in the middle.

    nan where all are the same.
    """
    x, y = (rankdata(values, axis=0) - (len(values) + 1) / 2 for values in (one, other))
    spread = (x * x).sum(axis=0) * (y * y).sum(axis=0)
    return ratio((x * y).sum(axis=0), np.sqrt(spread))


def _draws(results: Sequence[Result], name: str) -> Values:  # (model, draw)
    return np.array([result.values["draws"][name] for result in results], np.float64)
