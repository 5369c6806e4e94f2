"""What two scorers are compared by: everything that is measured of them."""

import numpy as np
import torch

import assent


def measured(run):
    decider = assent.tune(run, rule="per-relation")
    return decider.thresholds.values.tolist(), assent.evaluate(run, decider).to_json()


def scores_of(model, queries):
    """All scores of these queries, nothing masked."""
    anchors, relations = (
        torch.from_numpy(ids.astype(np.int64)) for ids in (queries.anchors, queries.relations)
    )
    return model.scores(anchors, relations).numpy()
