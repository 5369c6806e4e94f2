"""Rules must tell a judge what is true, not how the benchmark was made (decision 12)."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import toy
from assent.adapters.adapting import adapt
from assent.building.recipe import build
from assent.core.arrays import frozen
from assent.core.facts import KnowledgeBase
from assent.core.pairs import joined
from assent.core.scores import collect
from assent.deciding.features import Features
from assent.deciding.graph import LINKS
from assent.deciding.judge import judged_by, train_forest
from assent.deciding.shortlisting import Highest
from assent.measuring.abstaining import auroc
from assent.models import create
from assent.rules.columns import columns
from assent.rules.firing import Firing
from assent.rules.likeness import Likeness
from assent.scoring import score
from assent.verbs.deciders import features_from, rules_of
from assent.verbs.runs import Run

ENTITIES = 90
PER_ANSWER = 40  # candidates: many, or chance alone would decide


@pytest.fixture(scope="module")
def benchmark():
    """Random pairs of entities, many of them joined by several relations; pairs are held out whole.

    Which pairs are facts nothing can tell. Only of the answers of valid and test it can be told
    that train does not join them.
    """
    rng = np.random.default_rng(5)
    pairs = np.unique(rng.integers(ENTITIES, size=(2200, 2)), axis=0)
    facts = [[head, r, tail] for head, tail in pairs for r in range(3) if rng.random() < 0.5]
    names = toy.vocabulary_of(ENTITIES, 3)
    kb = KnowledgeBase.of_ids(names, frozen(facts), np.zeros(len(facts), np.int8))
    return build(kb, removed=5, seed=1)


def shortlisted(benchmark, queries):
    """A run of an untrained model, and the candidates that it shortlists."""
    torch.manual_seed(0)
    names = benchmark.vocabulary
    model = create("complex", names.num_entities, names.num_relations, {"dim": 8})
    highest = Highest(queries, names.num_slots, PER_ANSWER, spread=True)
    collect(score(model, queries, benchmark.known("valid")), highest)
    return adapt_run(benchmark, model), highest.result()


def adapt_run(benchmark, model) -> Run:
    run = adapt(benchmark, lambda anchors, relations: model.scores(anchors, relations))
    return replace(run, model=model)


def auc(shortlist, known, names) -> float:
    """How well a judge tells answers from others, out of fold."""
    judged = judged_by(train_forest(shortlist, known, names), shortlist, known)
    return auroc(judged.scores, shortlist.right)


def without_rules(known: Features) -> Features:
    kept = known.without(LINKS)
    return kept.without([name for name in kept.names if name.startswith(("rule_", "like_"))])


def test_rules_gain_nothing_where_only_the_making_of_the_benchmark_tells(benchmark):
    names = benchmark.vocabulary
    assert joined(benchmark.train, benchmark.valid, names.num_entities).held_out
    run, shortlist = shortlisted(benchmark, benchmark.valid)
    known = features_from([run])(shortlist)
    base = without_rules(known)
    asked = (
        shortlist.queries.anchors[shortlist.rows],
        shortlist.relations,
        shortlist.entities,
    )
    rules = rules_of(benchmark)
    told = columns(Firing.of(rules, direct=True), Likeness.of(rules.graph), *asked)
    leaky = Features(
        (*base.names, *told),
        np.concatenate([base.values, np.stack(list(told.values()), axis=1)], axis=1),
    )
    plain = auc(shortlist, base, names)
    assert auc(shortlist, leaky, names) > plain + 0.05  # so there is something to be told
    assert auc(shortlist, known.without(LINKS), names) < plain + 0.03


def test_rules_gain_nothing_where_answers_are_shuffled_within_a_relation(benchmark):
    names, valid = benchmark.vocabulary, benchmark.valid
    rng = np.random.default_rng(0)
    answers, rows = valid.answers.copy(), valid.relations[np.repeat(
        np.arange(len(valid)), valid.num_answers
    )]  # fmt: skip
    for slot in np.unique(rows):
        answers[rows == slot] = rng.permutation(answers[rows == slot])
    shuffled = replace(valid, answers=frozen(answers))
    run, shortlist = shortlisted(benchmark, shuffled)
    known = features_from([run])(shortlist)
    assert shortlist.right.sum() > 150
    plain, heard = (auc(shortlist, f, names) for f in (without_rules(known), known.without(LINKS)))
    assert heard < plain + 0.03, (plain, heard)
