"""Small benchmarks with random scores, and completions of them."""

from dataclasses import replace

import numpy as np
import torch
from hypothesis import strategies as st

import toy
from assent.completing.by_query import ByQuery
from assent.completing.completing import Wanted
from assent.completing.ground import Ground
from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.core.new_facts import NewFacts
from assent.core.queries import Queries
from assent.core.thresholds import Thresholds

LEVELS = np.array([-4, -2, -1, -0.5, 0, 0.5, 1, 2, 4], np.float32)  # few, so that there are ties
NO_SCHEMA = Wanted(functional=False, symmetric=False)


class Fixed:
    """Scores (slot, anchor, entity) from an array."""

    def __init__(self, scores):
        self.array = scores
        self.num_entities = scores.shape[2]

    def scores(self, anchors, relations):
        return torch.from_numpy(self.array[relations.numpy(), anchors.numpy()].copy())


def benchmark_of(kb, asked=0):
    """A benchmark whose graph is `kb`; the last `asked` facts are asked for in valid."""
    names = kb.vocabulary
    cut = len(kb.facts) - min(asked, len(kb.facts))
    late = kb.facts[cut:].astype(np.int32)
    valid = Queries.grouped(late[:, 0], late[:, 1], late[:, 2])
    nothing = Queries.grouped(*np.zeros((3, 0), np.int32))
    return Benchmark(names, kb.facts[:cut], valid, nothing, True, kb.types)


@st.composite
def worlds(draw):
    """A benchmark, scores of every candidate, a threshold for each slot: some accept nothing."""
    kb = draw(toy.graphs(most_entities=5, most_relations=2, most_facts=12))
    if draw(st.booleans()):
        kb = toy.with_kinds(kb)
    names = kb.vocabulary
    rng = np.random.default_rng(draw(st.integers(0, 2**20)))
    slots = 2 * names.num_relations
    scores = rng.choice(LEVELS, (slots, names.num_entities, names.num_entities))
    thresholds = rng.choice([*LEVELS[3:], np.inf], slots).astype(np.float64)
    return benchmark_of(kb, draw(st.integers(0, 3))), scores, thresholds


def completed(benchmark, scores, thresholds, review_above=0.5, wanted=NO_SCHEMA):
    """The outcomes and the facts of all relations."""
    decider = Decider.of_thresholds("given", "f1", Thresholds.of(thresholds))
    wanted = replace(wanted, review_above=review_above)
    work = ByQuery(Ground(benchmark, wanted), Fixed(scores), decider)
    found = list(work.run(lambda done, total: None, lambda: False))
    facts = NewFacts.joined([facts for _, facts in found], benchmark.vocabulary)
    return [outcome for outcome, _ in found], facts


def as_sets(facts):
    """{(head, relation, tail): (accepted, probability, score, threshold, sides)}."""
    assert len(set(map(tuple, facts.facts.tolist()))) == len(facts), "a fact stands twice"
    rows = zip(
        facts.accepted.tolist(),
        facts.probabilities.tolist(),
        facts.scores.tolist(),
        facts.thresholds.tolist(),
        facts.sides.tolist(),
        strict=True,
    )
    return dict(zip(map(tuple, facts.facts.tolist()), rows, strict=True))
