"""Deciding fact by fact: one score from both ends, one probability, one threshold.

All queries that the graph may ask are asked once, with the facts of valid and test hidden. The
held-out facts among the candidates are the rehearsal: they tell how probable the new candidates
are, and how many held-out facts the same decisions would have found.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assent.completing.asking import Fitting, asked
from assent.completing.completing import (
    Completion,
    Ground,
    Outcome,
    Rehearsed,
    Stopping,
    most_probable,
)
from assent.completing.law import KEPT, Refused, contradicting, lawful
from assent.completing.rehearsing import (
    Candidates,
    Known,
    Rehearsal,
    folds_of,
    lowest_threshold,
    rehearsed,
    rehearsed_by_others,
)
from assent.completing.schema import both_or_neither, only_best
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen, pair_keys
from assent.core.decider import Decider
from assent.core.facts import fact_keys, facts_of
from assent.core.new_facts import HEAD, TAIL, Evidence, NewFacts
from assent.core.pairs import joined
from assent.core.queries import Queries, both_ways
from assent.core.scores import QueriesDone, Scorer, Scores
from assent.core.shortlist import Shortlist
from assent.deciding.shortlisting import Highest
from assent.errors import ConfigError
from assent.scoring import PairScorer, score, score_facts, score_pairs

LEAST = 0.001  # candidates less probable than this are not looked at further

Values = NDArray[np.float64]


class ByFact:
    """A scorer at work on all relations; a decider may rescore what the scorer shortlists."""

    def __init__(
        self,
        ground: Ground,
        scorer: Scorer,
        decider: Decider,
        precision: float,
        missing: float = 1.0,
    ) -> None:
        if not 0 < precision < 1:
            raise ConfigError(f"precision {precision}; choose more than 0, less than 1")
        if not 0 < missing < np.inf:
            raise ConfigError(f"missing {missing}; choose more than 0")
        self.ground, self.scorer, self.decider = ground, scorer, decider
        self.precision, self.missing = precision, missing
        self.names, benchmark = ground.names, ground.benchmark
        self.train = benchmark.train
        keys = np.concatenate(
            [fact_keys(benchmark.facts(split), self.names) for split in ("valid", "test")]
        )
        keys = distinct(keys)
        trained = np.sort(fact_keys(self.train, self.names))
        self.held_out = facts_of(keys[~found_in(trained, keys)], self.names)  # (fact, 3)
        count = self.names.num_relations
        self.trained = Queries.grouped(*both_ways(self.train, count))
        self.hidden = Queries.grouped(*both_ways(self.held_out, count))
        # Held-out facts must fit by what train says, as facts that nobody knows would have to.
        self.fitting_train = Fitting(benchmark, self.train)
        self.joins, times = np.unique(self._ends(self.train), return_counts=True)
        self.two_kinds = joined(self.train, self.hidden, self.names.num_entities).held_out
        others = times[np.searchsorted(self.joins, self._ends(self.train))] > 1
        of_train = self.two_kinds & others
        of_held_out = self._joined(self.held_out)
        self.known = Known(
            self._by_relation(self.train[~of_train], self.held_out[~of_held_out]),
            self._by_relation(self.train[of_train], self.held_out[of_held_out]),
        )

    def result(self, progress: QueriesDone, stopping: Stopping) -> Completion:
        """The new facts of all relations; nothing if `stopping` said to stop before the end.

        The threshold is one for all relations, so that none is decided before all are asked.
        """
        ground, wanted = self.ground, self.ground.wanted
        nothing = Completion(
            NewFacts.nothing(self.names), (), len(ground.relations), promises=False
        )
        asked_of, parts, against = list[int](), list[Candidates](), list[Candidates]()
        total = sum(len(self._asked(relation)) for relation in ground.relations)
        for relation in ground.relations:
            found = self._candidates(relation, progress, sum(asked_of), total, stopping)
            if found is None:
                return nothing
            asked_of.append(len(self._asked(relation)))
            parts.append(found[0])
            against.append(found[1])
        if not parts:
            return nothing
        candidates = Candidates.joined_up(parts)
        rehearsal = rehearsed(candidates, self.known, self.missing)
        plausible = [
            self._plausible(relation, mine, rehearsal)
            for relation, mine in zip(ground.relations, parts, strict=True)
        ]
        new, rivals = lawful(
            NewFacts.joined([facts for facts, _ in plausible], self.names), ground.law
        )
        threshold = lowest_threshold(new.probabilities, self.precision)
        refused = self._refused(Candidates.joined_up(against), rivals, rehearsal, threshold)
        found_again = self._found_again(candidates, rehearsal, threshold)
        facts, outcomes = list[NewFacts](), list[Outcome]()
        held_out = np.bincount(self.held_out[:, 1], minlength=self.names.num_relations)
        for relation, queries, (_, second) in zip(
            ground.relations, asked_of, plausible, strict=True
        ):
            mine = new.take(new.facts[:, 1] == relation)
            kept = self._decided(mine, rehearsal, threshold)
            facts.append(ground.with_evidence(kept))
            accepted = int(kept.accepted.sum())
            outcomes.append(
                Outcome(
                    relation,
                    queries,
                    accepted,
                    len(kept) - accepted,
                    second,
                    0,
                    threshold < np.inf,
                    refused.of_relation(relation),
                    int(held_out[relation]),
                    int(found_again[relation]),
                    float(kept.probabilities[kept.accepted].mean()) if accepted else np.nan,
                )
            )
        decided = NewFacts.joined(facts, self.names)
        if wanted.max_facts is not None:
            decided = most_probable(decided, wanted.max_facts, ground.schema)
        summary = Rehearsed(self.precision, threshold, rehearsal.missing, rehearsal.refuted)
        return Completion(decided, tuple(outcomes), len(ground.relations), False, summary)

    def _asked(self, relation: int) -> Queries:
        """The queries about both slots of a relation, with the held-out facts for answers."""
        slots = self.names.slots_of(relation)
        queries = asked(slots, [self.ground.fitting.anchors(slot) for slot in slots])
        offsets, answers = self.hidden.answers_to(queries, self.names.num_entities)
        return Queries(
            queries.anchors, queries.relations, offsets, frozen(answers), queries.subsets
        )

    def _candidates(
        self, relation: int, progress: QueriesDone, before: int, total: int, stopping: Stopping
    ) -> tuple[Candidates, Candidates] | None:
        """The highest candidates from either end that may be decided about, and those that
        contradict the stated schema; None: stopped.
        """
        queries = self._asked(relation)
        highest = Highest(queries, self.names.num_slots, spread=self.decider.needs_spread)
        for block in score(self.scorer, queries, self.trained):
            highest.add(block)
            progress(before + block.first + len(block.queries), total)
            if stopping():
                return None
        shortlist = highest.result()
        heads, tails = self._eligible(relation, shortlist)
        scores = self._scores(relation, shortlist, heads, tails)
        facts = frozen(np.stack([heads, np.full_like(heads, relation), tails], axis=1))
        held_out = found_in(self._pairs_of(self.held_out, relation), self._pairs(heads, tails))
        found = Candidates(facts, scores, frozen(held_out, np.bool_), self._joined(facts))
        wrong = ~held_out & (self.ground.law.contradictions(facts) != KEPT)
        against = Candidates.joined_up([self._unfit(relation, shortlist), found.take(wrong)])
        return found.take(self._decidable(relation, found) & ~wrong), against

    def _eligible(self, relation: int, shortlist: Shortlist) -> tuple[Ids, Ids]:
        """Heads and tails of the shortlisted facts, each once, ascending; with their reverses if
        the relation is symmetric.

        Both ends fit the relation, and train does not have the fact.
        """
        slots, entities = shortlist.relations, shortlist.entities
        anchors = shortlist.queries.anchors[shortlist.rows]
        asks_tail = slots < self.names.num_relations
        heads, tails = (
            np.where(asks_tail, anchors, entities),
            np.where(asks_tail, entities, anchors),
        )
        if self.ground.schema.symmetric[relation]:
            heads, tails = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        pairs = distinct(self._pairs(heads, tails))
        pairs = pairs[~found_in(self._pairs_of(self.train, relation), pairs)]
        heads, tails = (ends.astype(np.int32) for ends in np.divmod(pairs, self.names.num_entities))
        head_fits, tail_fits = map(self.ground.fitting.anchors, self.names.slots_of(relation))
        kept = head_fits[heads] & tail_fits[tails]
        if self.ground.schema.irreflexive[relation]:
            kept &= heads != tails
        return heads[kept], tails[kept]

    def _unfit(self, relation: int, shortlist: Shortlist) -> Candidates:
        """Shortlisted facts with an end that the stated schema rules out.

        Nothing is asked about that end, so they have the score of the other direction alone.
        """
        anchors = shortlist.queries.anchors[shortlist.rows]
        asks_tail = shortlist.relations < self.names.num_relations
        heads = np.where(asks_tail, anchors, shortlist.entities)
        tails = np.where(asks_tail, shortlist.entities, anchors)
        facts = np.stack([heads, np.full_like(heads, relation), tails], axis=1)
        fits = [self.ground.fitting.anchors(slot) for slot in self.names.slots_of(relation)]
        unfit = ~(fits[0][heads] & fits[1][tails]) & ~shortlist.right
        unfit &= self.ground.law.contradictions(facts) != KEPT
        few = replace(
            shortlist,
            rows=frozen(shortlist.rows[unfit]),
            entities=frozen(shortlist.entities[unfit]),
            scores=frozen(shortlist.scores[unfit], np.float32),
            right=frozen(shortlist.right[unfit], np.bool_),
        )
        facts = frozen(facts[unfit])
        none = frozen(np.zeros(len(facts)), np.bool_)
        scores = frozen(self.decider.rescore(few), np.float64)
        return Candidates(facts, scores, none, self._joined(facts))

    def _refused(
        self, against: Candidates, rivals: Refused, rehearsal: Rehearsal, threshold: float
    ) -> Refused:
        """What would have been accepted, were it not against the stated schema."""
        found = contradicting(self._undecided(against, rehearsal), self.ground.law)
        found = Refused.joined([found, rivals], self.names)
        about, facts = self.ground.about, found.facts.facts
        found = found.take(
            (found.facts.probabilities > threshold) & (about[facts[:, 0]] | about[facts[:, 2]])
        )
        accepted = frozen(np.ones(len(found.facts)), np.bool_)
        return found._replace(facts=replace(found.facts, accepted=accepted))

    def _scores(self, relation: int, shortlist: Shortlist, heads: Ids, tails: Ids) -> Values:
        """One score for each fact: the mean of its two directions, as the decider rescores them.

        Of a symmetric relation, the mean of a fact and its reverse, where both are candidates.
        """
        full, order = self._from_both_ends(relation, shortlist, heads, tails)
        logits = np.empty(len(full), np.float64)
        logits[order] = self.decider.rescore(full)
        scores = (logits[: len(heads)] + logits[len(heads) :]) / 2
        if self.ground.schema.symmetric[relation]:
            pairs, reverse = self._pairs(heads, tails), self._pairs(tails, heads)
            there = found_in(pairs, reverse)
            places = np.searchsorted(pairs, reverse[there])
            scores[there] = (scores[there] + scores[places]) / 2
        return frozen(scores, np.float64)

    def _from_both_ends(
        self, relation: int, shortlist: Shortlist, heads: Ids, tails: Ids
    ) -> tuple[Shortlist, Keys]:
        """Every fact as a candidate of its tail query and of its head query.

        Returns them as a shortlist, and for each of its candidates its place among (tail queries of
        all facts, head queries of all facts).
        """
        queries, size = shortlist.queries, self.names.num_entities
        slots = np.repeat(np.array(self.names.slots_of(relation), np.int32), len(heads))
        anchors, entities = np.concatenate([heads, tails]), np.concatenate([tails, heads])
        asked_for = queries.keys(size)  # ascending, as both slots and their anchors ascend
        rows = np.searchsorted(asked_for, pair_keys(slots, anchors, size))
        order = np.lexsort((entities, rows))
        rows, slots = rows[order], slots[order]
        anchors, entities = anchors[order], entities[order]
        there = pair_keys(shortlist.rows, shortlist.entities, size)
        wanted = pair_keys(rows, entities, size)
        known = found_in(there, wanted)
        scores = np.empty(len(wanted), np.float32)
        scores[known] = shortlist.scores[np.searchsorted(there, wanted[known])]
        scores[~known] = self._scored(anchors[~known], slots[~known], entities[~known])
        right = found_in(np.sort(self._answers(queries)), wanted)
        full = replace(
            shortlist,
            rows=frozen(rows),
            entities=frozen(entities),
            scores=frozen(scores, np.float32),
            right=frozen(right, np.bool_),
        )
        return full, order

    def _scored(self, anchors: Ids, slots: Ids, entities: Ids) -> Scores:  # (candidate,)
        """The model's scores of single candidates."""
        if isinstance(self.scorer, PairScorer):
            return score_pairs(self.scorer, anchors, slots, entities)
        return score_facts(self.scorer, np.stack([anchors, slots, entities], axis=1))

    def _decidable(self, relation: int, found: Candidates) -> Mask:  # (candidate,)
        """Which candidates completing could accept, and which held-out facts it could have found.

        A functional relation gets no second answer, and no relation a pair that is joined in a way
        that excludes it. To find a held-out fact, the other held-out
        facts are hidden too, and its ends must fit by what train says.
        """
        heads, tails = found.facts[:, 0], found.facts[:, 2]
        new = ~_second(self.ground.taken(relation), heads, tails)
        new &= ~self.ground.excluded(relation, heads, tails)
        findable = ~_second(self.ground.taken(relation, self.train), heads, tails)
        for slot, ends in zip(self.names.slots_of(relation), (heads, tails), strict=True):
            findable &= self.fitting_train.anchors(slot)[ends]
        # A held-out fact of the other kind has nothing to be compared with.
        return np.where(found.held_out, findable & ~found.joined, new)

    def _plausible(
        self, relation: int, found: Candidates, rehearsal: Rehearsal
    ) -> tuple[NewFacts, int]:
        """New facts that keep to the schema, not yet decided; and how many others were dropped."""
        facts = self._undecided(found.take(~found.held_out), rehearsal)
        facts = facts.take(facts.probabilities >= LEAST)
        count = len(facts)
        facts = only_best(facts, self.ground.taken(relation))
        if self.ground.schema.symmetric[relation]:
            facts = both_or_neither(facts, self.ground.known_pairs(relation))
        return facts, count - len(facts)

    def _undecided(self, found: Candidates, rehearsal: Rehearsal) -> NewFacts:
        """Candidates as facts, none of them accepted yet."""
        count = len(found)
        unknown = frozen(np.full(count, np.nan), np.float64)
        return NewFacts(
            self.names,
            frozen(found.facts),
            frozen(np.zeros(count), np.bool_),
            frozen(rehearsal.probability(found), np.float64),
            frozen(found.scores, np.float32),
            unknown,
            unknown,
            frozen(np.full(count, TAIL | HEAD)),
            Evidence.nothing(count),
        )

    def _decided(self, facts: NewFacts, rehearsal: Rehearsal, threshold: float) -> NewFacts:
        """Accepted facts of one relation, and those to review."""
        accepted = facts.probabilities > threshold
        kept = accepted | (facts.probabilities >= self.ground.wanted.least_probability)
        kept &= self.ground.about[facts.facts[:, 0]] | self.ground.about[facts.facts[:, 2]]
        facts, accepted = facts.take(kept), accepted[kept]
        relations = facts.facts[:, 1]
        share = facts.probabilities[accepted].mean() if accepted.any() else np.nan
        return replace(
            facts,
            accepted=frozen(accepted, np.bool_),
            thresholds=frozen(
                rehearsal.scores_at(threshold, relations, self._joined(facts.facts)), np.float64
            ),
            expected=frozen(np.full(len(facts), share), np.float64),
        )

    def _found_again(
        self, candidates: Candidates, rehearsal: Rehearsal, threshold: float
    ) -> Keys:  # (relation,)
        """How many held-out facts of each relation are accepted, judged without their own fold."""
        folds = folds_of(candidates.facts)
        probabilities = rehearsed_by_others(candidates, self.known, rehearsal.missing, folds)
        found = candidates.held_out & (probabilities > threshold)
        return np.bincount(candidates.relations[found], minlength=self.names.num_relations)

    def _joined(self, facts: Ids) -> Mask:  # (fact,)
        """Whether train joins the two entities by another fact, if held-out facts are not so."""
        return frozen(self.two_kinds & found_in(self.joins, self._ends(facts)), np.bool_)

    def _ends(self, facts: Ids) -> Keys:  # (fact,)
        """One number for the two entities of a fact, whichever is the head."""
        heads, _, tails = facts.T
        return self._pairs(np.minimum(heads, tails), np.maximum(heads, tails))

    def _pairs(self, heads: Ids, tails: Ids) -> Keys:
        return pair_keys(heads, tails, self.names.num_entities)

    def _pairs_of(self, facts: Ids, relation: int) -> Keys:  # (pair,)
        """The pair keys of a relation's facts, ascending."""
        heads, _, tails = facts[facts[:, 1] == relation].T
        return np.sort(self._pairs(heads, tails))

    def _answers(self, queries: Queries) -> Keys:  # (answer,)
        """A key (row, entity) for each answer."""
        rows = np.repeat(np.arange(len(queries)), queries.num_answers)
        return pair_keys(rows, queries.answers, self.names.num_entities)

    def _by_relation(self, *parts: Ids) -> Keys:  # (relation,)
        relations = np.concatenate([part[:, 1] for part in parts])
        return np.bincount(relations, minlength=self.names.num_relations)


def _second(taken: tuple[Mask | None, Mask | None], heads: Ids, tails: Ids) -> Mask:
    """Which facts would give a second answer to a query that has its one answer."""
    second = np.zeros(len(heads), bool)
    for mask, ends in zip(taken, (heads, tails), strict=True):
        if mask is not None:
            second |= mask[ends]
    return second
