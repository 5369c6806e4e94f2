"""What people said, in completions: what a promise accepts, and nothing that was called wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from assent.completing.completing import Completion, Outcome, Reviewed
from assent.completing.refusing import Refused
from assent.core.arrays import frozen
from assent.core.benchmark import Benchmark
from assent.core.new_facts import NewFacts
from assent.core.pairs import joined
from assent.core.queries import Queries, Subset
from assent.files.triples import named_facts
from assent.reviewing.cards import Named
from assent.reviewing.labels import RIGHT, SKIP, WRONG, Labels
from assent.reviewing.proposals import keys_of
from assent.reviewing.session import Review

Pair = tuple[int, int]  # anchor, slot


class Judged(NamedTuple):
    """What people said about a fact."""

    right: bool  # all called it right; False: someone called it wrong
    reviewers: tuple[str, ...]  # who decided about it


def completed(
    review: Review,
    precision: float,
    confidence: float,
    relations: Sequence[str] | None = None,
    review_above: float | None = None,
) -> Completion:
    """The proposals that the labels allow to accept, and those left that are so probable.

    The promise is about all accepted facts together; if relations are named, it is one about each
    of them alone.
    """
    proposals = review.proposals.facts
    names = proposals.vocabulary
    wanted: Sequence[str | None] = [None] if relations is None else relations
    parts = [review.promised(precision, confidence, relation) for relation in wanted]
    accepted = NewFacts.joined(parts, names)
    left = np.zeros(len(proposals), bool)
    if review_above is not None:
        gone = {*keys_of(accepted), *review.refused_keys()}
        left = np.array([key not in gone for key in review.proposals.keys], bool)
        left &= review.probabilities >= review_above
        if relations is not None:
            left &= np.isin(proposals.facts[:, 1], [names.relations.index(r) for r in relations])
    rest = proposals.take(left)
    rest = replace(rest, accepted=frozen(np.zeros(len(rest)), np.bool_))
    counts = [Counter(facts.facts[:, 1].tolist()) for facts in (accepted, rest)]
    nothing = Refused.joined([], names)
    outcomes = tuple(
        Outcome(
            relation, 0, counts[0][relation], counts[1][relation], 0, 0, True, nothing
        )._replace(expected=precision)
        for relation in np.unique(proposals.facts[:, 1]).tolist()
        if relations is None or names.relations[relation] in relations
    )
    said = Reviewed(
        precision,
        confidence,
        len(proposals),
        review.progress(precision, confidence).drawn,
        len(review.facts_right()),
        None if relations is None else len(relations),
        tuple(one.name for one in review.reviewers()),
    )
    facts = NewFacts.joined([accepted, rest], names)
    confirmed = _confirmed(facts, judged(review.labels))
    return Completion(facts, outcomes, len(outcomes), True, reviewed=said, confirmed_by=confirmed)


def respecting(found: Completion, said: Mapping[str, Judged]) -> Completion:
    """A completion without what anyone called wrong; what all called right is accepted.

    `said` is what `judged` found.
    """
    verdicts = [said.get(key) for key in keys_of(found.facts)]
    kept = np.array([verdict is None or verdict.right for verdict in verdicts], bool)
    right = np.array([verdict is not None and verdict.right for verdict in verdicts], bool)
    facts = replace(found.facts, accepted=frozen(found.facts.accepted | right, np.bool_)).take(kept)
    before, after = (_counted(part) for part in (found.facts, facts))
    outcomes = tuple(
        outcome._replace(
            accepted=outcome.accepted
            + after[outcome.relation, True]
            - before[outcome.relation, True],
            review=outcome.review
            + after[outcome.relation, False]
            - before[outcome.relation, False],
        )
        for outcome in found.outcomes
    )
    return replace(found, facts=facts, outcomes=outcomes, confirmed_by=_confirmed(facts, said))


def judged(labels: Labels) -> dict[str, Judged]:
    """By the keys of facts: those that all called right, and those that anyone called wrong."""
    said: dict[str, dict[str, str]] = {}
    for label in labels.current():
        if label.verdict != SKIP:
            said.setdefault(label.proposal, {})[label.reviewer] = label.verdict
    return {
        key: Judged(WRONG not in verdicts.values(), tuple(sorted(verdicts)))
        for key, verdicts in said.items()
        if WRONG in verdicts.values() or {*verdicts.values()} == {RIGHT}
    }


def taught(benchmark: Benchmark, review: Review) -> Queries:
    """The queries of valid, and those about every proposal that people looked at one by one.

    What they called right is an answer; what they did not is none. Proposals about entities that
    the benchmark lacks are left out. So are those whose ends a train fact joins, if no answer of
    valid is such: a judge would learn how valid was made.
    """
    valid, names = benchmark.valid, benchmark.vocabulary
    apart = joined(benchmark.train, valid, names.num_entities).held_out
    ends_joined = {frozenset(pair) for pair in benchmark.train[:, [0, 2]].tolist() if apart}
    entities = {name: place for place, name in enumerate(names.entities)}
    slots = {name: place for place, name in enumerate(names.relations)}
    answers: dict[Pair, set[int]] = {}
    subsets: dict[Pair, int] = {}
    for query in range(len(valid)):
        pair = int(valid.anchors[query]), int(valid.relations[query])
        mine = valid.answers[valid.offsets[query] : valid.offsets[query + 1]]
        answers.setdefault(pair, set()).update(mine.tolist())
        subsets[pair] = int(valid.subsets[query])
    for (head, relation, tail), right in review.looked_at():
        if head not in entities or tail not in entities or relation not in slots:
            continue
        ends, slot = (entities[head], entities[tail]), slots[relation]
        if frozenset(ends) in ends_joined:
            continue
        for anchor, asked, answer in (
            (ends[0], slot, ends[1]),
            (ends[1], slot + names.num_relations, ends[0]),
        ):
            mine_too = answers.setdefault((anchor, asked), set())
            subsets.setdefault((anchor, asked), int(Subset.INCOMPLETE))
            if right:
                mine_too.add(answer)
    pairs = sorted(answers, key=lambda pair: (pair[1], pair[0]))
    sizes = np.array([len(answers[pair]) for pair in pairs], np.int64)
    return Queries(
        frozen([anchor for anchor, _ in pairs]),
        frozen([slot for _, slot in pairs]),
        frozen(np.append(0, np.cumsum(sizes)), np.int64),
        frozen([answer for pair in pairs for answer in sorted(answers[pair])]),
        frozen([subsets[pair] for pair in pairs]),
    )


def _confirmed(facts: NewFacts, said: Mapping[str, Judged]) -> dict[Named, tuple[str, ...]]:
    """The facts that people called right, by name, and who did."""
    names = named_facts(facts.facts, facts.vocabulary).rows()
    found = ((name, said.get(key)) for name, key in zip(names, keys_of(facts), strict=True))
    return {name: one.reviewers for name, one in found if one is not None and one.right}


def _counted(facts: NewFacts) -> Counter[tuple[int, bool]]:
    relations, accepted = facts.facts[:, 1].tolist(), facts.accepted.tolist()
    return Counter(zip(relations, accepted, strict=True))
