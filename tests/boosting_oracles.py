"""Slow, obvious twins of boosted trees: one row at a time, every split tried."""

from math import exp, isnan, log


def walk(arrays, row, model):
    """The logit of one row by one model of a forest (its arrays by name)."""
    logit = arrays["starts"][model]
    for root, member in zip(arrays["roots"], arrays["members"], strict=True):
        if member == model:
            logit += arrays["values"][leaf_of(arrays, root, row)]
    return logit


def leaf_of(arrays, node, row):
    while arrays["features"][node] != -1:
        node = arrays["left"][node] if goes_left(arrays, node, row) else arrays["right"][node]
    return node


def goes_left(arrays, node, row):
    value = row[arrays["features"][node]]
    return arrays["missing_left"][node] if isnan(value) else value <= arrays["thresholds"][node]


def check_grown(arrays, rows, right, settings, looked_at):
    """Follows how a forest of one model was grown; every step must be one of the best there were.

    Each tree had some of the features to choose from, those of its row of `looked_at`.

    Equally good splits are equally right, so the trees are followed and not grown again.
    """
    share = sum(right) / len(right)
    assert abs(arrays["starts"][0] - log(share / (1 - share))) < 1e-9
    logits = [arrays["starts"][0]] * len(rows)
    assert len(arrays["roots"]) == settings.trees
    for root, features in zip(arrays["roots"], looked_at, strict=True):
        probabilities = [1 / (1 + exp(-logit)) for logit in logits]
        slopes = [p - yes for p, yes in zip(probabilities, right, strict=True)]
        curves = [p * (1 - p) for p in probabilities]

        def loss(some, slopes=slopes, curves=curves):
            return sum(slopes[i] for i in some) ** 2 / (sum(curves[i] for i in some) + settings.l2)

        def gain(some, left, loss=loss):
            return loss(left) + loss([i for i in some if i not in left]) - loss(some)

        def best_gain(some, gain=gain, features=features):
            found = (gain(some, left) for left in splits(rows, some, settings, features))
            return max(found, default=0)

        leaves = {root: list(range(len(rows)))}
        while inner := [node for node in leaves if arrays["features"][node] != -1]:
            node = min(inner, key=lambda node: arrays["left"][node])  # split first
            best = max(best_gain(some) for some in leaves.values())
            some = leaves.pop(node)
            assert arrays["features"][node] in features
            left = [i for i in some if goes_left(arrays, node, rows[i])]
            others = [i for i in some if i not in left]
            assert min(len(left), len(others)) >= settings.leaf_rows
            assert gain(some, left) > best - 1e-7 * (1 + best)
            leaves |= {arrays["left"][node]: left, arrays["right"][node]: others}
        assert len(leaves) == settings.leaves or max(map(best_gain, leaves.values())) < 1e-7
        for node, some in leaves.items():
            total = sum(curves[i] for i in some) + settings.l2
            value = -settings.rate * sum(slopes[i] for i in some) / total
            assert abs(arrays["values"][node] - value) < 1e-9
            for i in some:
                logits[i] += value
    return logits


def splits(rows, some, settings, features):
    """The rows that go left, for every split between numbers, nan on either side."""
    for feature in features:
        absent = [i for i in some if isnan(rows[i][feature])]
        for number in {rows[i][feature] for i in some if i not in absent}:
            low = [i for i in some if rows[i][feature] <= number]
            for left in (low, low + absent):
                if min(len(left), len(some) - len(left)) >= settings.leaf_rows:
                    yield left
