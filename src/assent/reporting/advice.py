"""Advice after a training that came to little, or that more time would have made better."""

import math

from assent.training.trace import Trained

STILL = 0.01  # a score on valid that rose by more than this share of it is still getting better
PATIENT = 20  # evaluations, to be advised where training ended early
FEW_FACTS = 2000  # train facts; the smallest graph that the defaults were chosen with has more


def advice(trained: Trained, baseline: float | None, facts: int, planned: int) -> str | None:
    """What a person should know before using a model that is poor, or was still getting better.

    `baseline` is what popularity alone reaches on valid; `facts` is how many were learned from.
    `planned` epochs were allowed; none for rules, which are counted once.
    """
    best = max(trained.scores, default=math.nan)
    rules = "--model rules needs no epochs and may do better"
    more = f"epochs={3 * trained.epochs}" if trained.epochs >= planned else f"patience={PATIENT}"
    longer = f"--set train.{more} and another --out trains longer"
    if baseline is not None and best <= baseline:
        if not planned:
            return "no better than popularity alone: too few facts of this graph follow rules"
        return f"no better than popularity alone: {longer}; {rules}; `assent search` tries settings"
    before = max(trained.scores[:-1], default=math.nan)
    if trained.best_epoch == trained.epochs and best - before > STILL * abs(best):
        return f"still getting better at the end (from {before:.4f} to {best:.4f}): {longer}"
    if trained.scores and planned and facts < FEW_FACTS:
        epochs = f"{longer}; " if trained.best_epoch == trained.epochs else ""
        return (
            f"only {facts:,} train facts, far fewer than the default settings were chosen with: "
            f"{epochs}{rules}; `assent search` tries settings"
        )
    return None
