"""Slow, obvious twins of a judge's features: loops over sets of tuples, one candidate at a time."""

from math import exp, log, nan
from statistics import mean

PRIOR = 2


def sigmoid(score):
    return 1 / (1 + exp(-score))


def of_scores(scores, entity):
    """Of one candidate among {entity: score} of its query, masked ones left out."""
    mine = scores[entity]
    higher = [score for score in scores.values() if score > mine]
    total = log(sum(exp(score) for score in scores.values()))
    expected = sum(sigmoid(score) for score in scores.values())
    return {
        "score": mine,
        "rank": len(higher),
        "gap_above": min(higher) - mine if higher else nan,
        "mass_above": sum(map(sigmoid, higher)),
        "below_best": max(scores.values()) - mine,
        "best": max(scores.values()),
        "expected": expected,
        "effective": 1 / sum(exp(score - total) ** 2 for score in scores.values()),
        "share": sigmoid(mine) / expected,
        "log_softmax": mine - total,
    }


def of_all_rules(said, entity):
    """Of one candidate among {entity: what all rules say} of those shortlisted for its query."""
    mine, others = said[entity], [value for other, value in said.items() if other != entity]
    return {
        "rule_all_rank": sum(value > mine for value in others),
        "rule_all_below_best": max([mine, *others]) - mine,
        "rule_all_lead": mine - max(others) if others else nan,
    }


def of_graph(train, num_relations, anchor, slot, entity):
    """Of one candidate, from the train facts (head, relation, tail)."""
    asked = {(h, r, t) for h, r, t in train} | {(t, r + num_relations, h) for h, r, t in train}
    inverse = (slot + num_relations) % (2 * num_relations)

    def facts(of):
        return {(a, s, e) for a, s, e in asked if s == of}

    def anchors(of):
        return {a for a, _, _ in facts(of)}

    def pairs(of):
        return {(a, e) for a, _, e in facts(of)}

    def implies(other):
        return len(pairs(other) & pairs(slot)) / (len(pairs(other)) + PRIOR)

    def stands_in(entity):
        return {s for a, s, _ in asked if a == entity}

    def fits(entity, of):
        shares = [
            0 if s == of else len(anchors(s) & anchors(of)) / (len(anchors(s)) + PRIOR)
            for s in stands_in(entity)
        ]
        return (max(shares), mean(shares)) if shares else (0, 0)

    def neighbours(entity):
        return {e for a, _, e in asked if a == entity}

    shared = neighbours(anchor) & neighbours(entity)
    seen = len({e for a, _, e in facts(inverse) if a == entity})
    between = [s for a, s, e in asked if (a, e) == (anchor, entity)]
    return {
        "known": len({e for a, _, e in facts(slot) if a == anchor}),
        "relation_facts": len(facts(slot)),
        "relation_answers": len(anchors(inverse)),
        "answers_a_query": len(facts(slot)) / max(len(anchors(slot)), 1),
        "inverse_answers_a_query": len(facts(inverse)) / max(len(anchors(inverse)), 1),
        "entity_seen": seen,
        "entity_share": seen / max(len(anchors(slot)), 1),
        "anchor_degree": sum(a == anchor for a, _, _ in asked),
        "entity_degree": sum(a == entity for a, _, _ in asked),
        "anchor_fits": fits(anchor, slot)[0],
        "anchor_fits_mean": fits(anchor, slot)[1],
        "entity_fits": fits(entity, inverse)[0],
        "entity_fits_mean": fits(entity, inverse)[1],
        "shared": len(shared),
        "shared_weight": sum(1 / log(2 + len(neighbours(entity))) for entity in shared),
        "links": len(between),
        "implied": max((implies(s) for s in between if s != slot), default=0),
    }
