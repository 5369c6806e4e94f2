"""Proposing facts: the highest candidates of every query, each fact once, with one score.

A fact is asked for from both of its ends. Its score is the mean of the two. What the rules of the
graph say to it stands beside the score.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from assent.completing.asking import Fitting, asked
from assent.completing.completing import Stopping
from assent.completing.ground import Ground
from assent.completing.holes import Holes
from assent.completing.keeping import Keeper
from assent.completing.law import KEPT
from assent.completing.rehearsing import Candidates, Known
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen, pair_keys
from assent.core.benchmark import SPLITS
from assent.core.decider import Decider
from assent.core.facts import fact_keys, facts_of
from assent.core.pairs import joined
from assent.core.queries import Queries, both_ways
from assent.core.scores import QueriesDone, Scorer, Scores
from assent.core.shortlist import Shortlist
from assent.deciding.shortlisting import Highest
from assent.scoring import PairScorer, columns_of, score, score_facts, score_pairs

Values = NDArray[np.float64]
Rules = Callable[[Ids], Values]  # of facts (fact, 3): the log-odds that rules add up to


def no_rules(facts: Ids) -> Values:
    """Nothing speaks for or against any fact."""
    return np.zeros(len(facts))


class Proposed(NamedTuple):
    """What a relation's queries gave."""

    queries: int
    candidates: Candidates  # that may be decided about
    against: Candidates  # that contradict the stated schema


class Proposer:
    """A scorer that has learned the facts `train` (fact, 3), asked about all that fits.

    Facts that are `held_out` (fact, 3) are candidates, as if nobody knew them. A decider may
    rescore what the scorer shortlists. `rules` are those of the facts `train`.
    """

    def __init__(
        self,
        ground: Ground,
        scorer: Scorer,
        decider: Decider,
        train: Ids,
        held_out: Ids,
        *,
        rules: Rules = no_rules,
        two_kinds: bool | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        """`keeper` keeps what each relation gave, and gives back what was kept.

        `two_kinds`: whether held-out facts are such that no train fact joins their entities. None:
        it shows in them.
        """
        self.ground, self.scorer, self.decider, self.rules = ground, scorer, decider, rules
        self.keeper, self.columns = keeper, columns_of(scorer)
        self.names = ground.names
        self.train, self.held_out = train, held_out
        count = self.names.num_relations
        self.trained = Queries.grouped(*both_ways(self.train, count))
        self.hidden = Queries.grouped(*both_ways(self.held_out, count))
        # Held-out facts must fit by what train says, as facts that nobody knows would have to.
        self.fitting_train = Fitting(ground.benchmark, self.train)
        self.joins, times = np.unique(self._ends(self.train), return_counts=True)
        if two_kinds is None:
            two_kinds = joined(self.train, self.hidden, self.names.num_entities).held_out
        self.two_kinds = two_kinds
        others = times[np.searchsorted(self.joins, self._ends(self.train))] > 1
        of_train = self.two_kinds & others
        of_held_out = self.joined(self.held_out)
        self.known = Known(
            self._by_relation(self.train[~of_train], self.held_out[~of_held_out]),
            self._by_relation(self.train[of_train], self.held_out[of_held_out]),
            Holes.counted(
                ground.facts,
                ground.lost,
                ground.benchmark.types,
                self.names,
                len(held_out) / max(len(train) + len(held_out), 1),
            ),
        )

    @classmethod
    def rehearsing(
        cls,
        ground: Ground,
        scorer: Scorer,
        decider: Decider,
        *,
        rules: Rules = no_rules,
        keeper: Keeper | None = None,
    ) -> Self:
        """With the facts of valid and test hidden, as they were in training."""
        names, benchmark = ground.names, ground.benchmark
        parts = [fact_keys(benchmark.facts(split), names) for split in SPLITS]
        keys = distinct(np.concatenate(parts))
        trained = np.sort(fact_keys(benchmark.train, names))
        held_out = facts_of(keys[~found_in(trained, keys)], names)
        train = benchmark.train
        return cls(ground, scorer, decider, train, held_out, rules=rules, keeper=keeper)

    def propose(
        self, progress: QueriesDone, stopping: Stopping, part: tuple[int, int] = (1, 1)
    ) -> list[Proposed] | None:
        """What each relation's queries give; None if `stopping` said to stop before the end.

        Of a part (3, 8), every eighth relation from the third on.
        """
        number, count = part
        relations = self.ground.relations[number - 1 :: count]
        total = sum(len(self._asked(relation)) for relation in relations)
        found, before = list[Proposed](), 0
        for relation in relations:
            kept = self.keeper.load(relation) if self.keeper else None
            lacking = self.columns.any(kept is None)  # by any of several processes
            mine = Proposed(*kept) if kept and not lacking else None
            if mine is None:
                mine = self._proposed(relation, progress, before, total, stopping)
                if mine is None:
                    return None
                if self.keeper and self.columns.first:
                    self.keeper.save(relation, *mine)
            found.append(mine)
            before += mine.queries
        return found

    def _asked(self, relation: int) -> Queries:
        """The queries about both slots of a relation, with the held-out facts for answers."""
        slots = self.names.slots_of(relation)
        queries = asked(slots, [self.ground.fitting.anchors(slot) for slot in slots])
        offsets, answers = self.hidden.answers_to(queries, self.names.num_entities)
        return Queries(
            queries.anchors, queries.relations, offsets, frozen(answers), queries.subsets
        )

    def _proposed(
        self, relation: int, progress: QueriesDone, before: int, total: int, stopping: Stopping
    ) -> Proposed | None:
        """The highest candidates from either end of a relation's facts; None: stopped."""
        queries = self._asked(relation)
        highest = Highest(queries, self.names.num_slots, spread=self.decider.needs_spread)
        for block in score(self.scorer, queries, self.trained):
            highest.add(block)
            progress(before + block.first + len(block.queries), total)
            if block.columns.any(stopping()):
                return None
        shortlist = highest.result()
        heads, tails = self._eligible(relation, shortlist)
        scores = self._scores(relation, shortlist, heads, tails)
        facts = frozen(np.stack([heads, np.full_like(heads, relation), tails], axis=1))
        held_out = found_in(self._pairs_of(self.held_out, relation), self._pairs(heads, tails))
        spoken = self._spoken(relation, facts)
        found = Candidates(facts, scores, spoken, frozen(held_out, np.bool_), self.joined(facts))
        wrong = ~held_out & (self.ground.law.contradictions(facts) != KEPT)
        against = Candidates.joined_up([self._unfit(relation, shortlist), found.take(wrong)])
        decidable = self._decidable(relation, found) & ~wrong
        return Proposed(len(queries), found.take(decidable), against)

    def _eligible(self, relation: int, shortlist: Shortlist) -> tuple[Ids, Ids]:
        """Heads and tails of the shortlisted facts that may be new, each once, ascending.

        Both ends fit the relation, and train does not have the fact. Of a symmetric relation, the
        reverses of these facts are among them.
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
        spoken = frozen(self.rules(facts), np.float64)
        return Candidates(facts, scores, spoken, none, self.joined(facts))

    def _scores(self, relation: int, shortlist: Shortlist, heads: Ids, tails: Ids) -> Values:
        """One score for each fact: the mean of its two directions, as the decider rescores them."""
        full, order = self._from_both_ends(relation, shortlist, heads, tails)
        logits = np.empty(len(full), np.float64)
        logits[order] = self.decider.rescore(full)
        scores = (logits[: len(heads)] + logits[len(heads) :]) / 2
        return self._both_ways(relation, heads, tails, scores)

    def _spoken(self, relation: int, facts: Ids) -> Values:  # (fact,)
        """What the rules say, for facts by ascending heads and tails."""
        return self._both_ways(relation, facts[:, 0], facts[:, 2], self.rules(facts))

    def _both_ways(self, relation: int, heads: Ids, tails: Ids, values: Values) -> Values:
        """Of a symmetric relation, the mean of a fact and its reverse, where both are there."""
        if self.ground.schema.symmetric[relation]:
            pairs, reverse = self._pairs(heads, tails), self._pairs(tails, heads)
            there = found_in(pairs, reverse)
            places = np.searchsorted(pairs, reverse[there])
            values[there] = (values[there] + values[places]) / 2
        return frozen(values, np.float64)

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
        that excludes it. To find a held-out fact, the other held-out facts are hidden too, and its
        ends must fit by what train says.
        """
        heads, tails = found.facts[:, 0], found.facts[:, 2]
        new = ~_second(self.ground.taken(relation), heads, tails)
        new &= ~self.ground.excluded(relation, heads, tails)
        findable = ~_second(self.ground.taken(relation, self.train), heads, tails)
        for slot, ends in zip(self.names.slots_of(relation), (heads, tails), strict=True):
            findable &= self.fitting_train.anchors(slot)[ends]
        # A held-out fact of the other kind has nothing to be compared with.
        return np.where(found.held_out, findable & ~found.joined, new)

    def joined(self, facts: Ids) -> Mask:  # (fact,)
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
