"""Deciding fact by fact: one score from both ends and the rules, then one probability.

All queries that the graph may ask are asked once, with the facts of valid and test hidden. The
held-out facts among the candidates are the rehearsal: they tell how probable the new candidates
are, and how many held-out facts the same decisions would have found. Each relation has a threshold
of its own, so that the precision wanted holds in each of them.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from assent.completing.carrying import Scale
from assent.completing.certain import certain
from assent.completing.completing import (
    Completion,
    Outcome,
    Rehearsed,
    Stopping,
    Telling,
    Wanted,
    most_probable,
)
from assent.completing.entailing import Entailed, entailed
from assent.completing.ground import Ground
from assent.completing.law import REASONS
from assent.completing.proposing import Proposed, Proposer
from assent.completing.refusing import Refused, contradicting, lawful
from assent.completing.rehearsing import (
    Candidates,
    Rehearsal,
    Values,
    folds_of,
    lowest_thresholds,
    rehearsed,
    rehearsed_by_others,
)
from assent.completing.schema import both_or_neither, only_best
from assent.core.arrays import Ids, Keys, Mask, found_in, frozen
from assent.core.considered import ENTAILED, FREE, Considered
from assent.core.facts import fact_keys
from assent.core.new_facts import HEAD, TAIL, Evidence, NewFacts
from assent.core.scores import QueriesDone
from assent.core.vocabulary import Vocabulary, last_part
from assent.errors import ConfigError

# What bars a candidate: another answer, its reverse, or the stated schema.
SECOND, ONE_WAY = "second", "one-way"
BARS = (SECOND, ONE_WAY, *REASONS, ENTAILED)
LEAST = 0.001  # candidates less probable than this are not looked at further


def refuse_impossible(precision: float, missing: float) -> None:
    """Ends before any work where no rehearsal could come to this."""
    if not 0 < precision < 1:
        raise ConfigError(f"precision {precision}; choose more than 0, less than 1")
    if not 0 < missing < np.inf:
        raise ConfigError(f"missing {missing}; choose more than 0")


class ByFact:
    """A rehearsal, then decisions about the new facts that were proposed.

    They are proposed in the rehearsal itself; or, where `final` makes one after it, by a model that
    has learned all facts, those included that the rehearsal hides.
    """

    def __init__(
        self,
        rehearsing: Proposer,
        precision: float,
        missing: float = 1.0,
        final: Callable[[], Proposer] | None = None,
        ground: Ground | None = None,
        telling: Telling = lambda work: None,
    ) -> None:
        """`ground`: what is to be decided about, where it is not all that is rehearsed.

        `telling` is told which work begins.
        """
        refuse_impossible(precision, missing)
        self.telling = telling
        self.rehearsing, self.final = rehearsing, rehearsing
        self._ground = ground
        self.precision, self.missing = precision, missing
        self._make_final = final

    @property
    def ground(self) -> Ground:
        """What the new facts stand on."""
        return self._ground or self.final.ground

    @property
    def names(self) -> Vocabulary:
        return self.ground.names

    def prepare(self, part: tuple[int, int], progress: QueriesDone, stopping: Stopping) -> bool:
        """Has the proposers keep what a part of the relations gives; False: stopped."""
        if self._make_final is not None:
            self.final = self._make_final()
        proposers = dict.fromkeys([self.rehearsing, self.final])
        return all(one.propose(progress, stopping, part) is not None for one in proposers)

    def forget(self) -> None:
        """Removes what the proposers kept, which is in one folder."""
        if self.rehearsing.keeper is not None and self.rehearsing.columns.first:
            self.rehearsing.keeper.forget()

    def result(self, progress: QueriesDone, stopping: Stopping) -> Completion:
        """The new facts of all relations; nothing if `stopping` said to stop before the end.

        What a relation lacks is estimated from all of them, so that none is decided before all are
        asked.
        """
        ground = self.ground
        nothing = Completion(
            NewFacts.nothing(ground.names), (), len(ground.relations), promises=False
        )
        if (asked := self._asked(progress, stopping)) is None:
            return nothing
        heard, candidates, rehearsal = asked
        ground, wanted = self.ground, self.ground.wanted
        plausible = [
            self._plausible(relation, mine.candidates, rehearsal)
            for relation, mine in zip(ground.relations, heard, strict=True)
        ]
        parts = [self._certain(), *(facts for facts, _ in plausible)]
        new, rivals = lawful(NewFacts.joined(parts, self.names), ground.law)
        new = new.take(~new.accepted)  # all that is not certain
        thresholds = lowest_thresholds(
            new.probabilities, new.facts[:, 1], self.names.num_relations, self.precision
        )
        against = Candidates.joined_up([mine.against for mine in heard])
        refused = self._refused(against, rivals, rehearsal, thresholds)
        self.telling("looking for held-out facts among those accepted")
        found_again = self._found_again(candidates, rehearsal, thresholds)
        facts, outcomes = list[NewFacts](), list[Outcome]()
        missing, lacks = self._missing(candidates, rehearsal), self._lacks(rehearsal)
        tested = self.rehearsing.held_out[~self._entailed_by_train(self.rehearsing.held_out)]
        held_out = np.bincount(tested[:, 1], minlength=self.names.num_relations)
        for relation, (queries, *_), (_, second) in zip(
            ground.relations, heard, plausible, strict=True
        ):
            mine = new.take(new.facts[:, 1] == relation)
            kept = self._decided(mine, rehearsal, float(thresholds[relation]))
            if len(kept):
                name = last_part(self.names.relation(relation))
                self.telling(f"looking for evidence: {name}, {len(kept):,} facts")
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
                    bool(thresholds[relation] < np.inf),
                    refused.of_relation(relation),
                    int(held_out[relation]),
                    int(found_again[relation]),
                    float(kept.probabilities[kept.accepted].mean()) if accepted else np.nan,
                    float(lacks[relation]),
                )
            )
        decided = NewFacts.joined(facts, self.names)
        if wanted.max_facts is not None:
            decided = most_probable(decided, wanted.max_facts, ground.schema)
        summary = Rehearsed(self.precision, missing)
        considered = None
        if replace(wanted, max_facts=None, review_above=None) == Wanted():
            considered = self._considered(heard, new, rivals, rehearsal, thresholds, missing)
        self.forget()
        return Completion(
            decided, tuple(outcomes), len(ground.relations), False, summary, considered
        )

    def _asked(
        self, progress: QueriesDone, stopping: Stopping
    ) -> tuple[list[Proposed], Candidates, Rehearsal] | None:
        """What is proposed of each relation to decide about; what was rehearsed; the rehearsal.

        None if `stopping` said to stop before the end.
        """
        self.telling(f"asking with {len(self.rehearsing.held_out):,} held-out facts hidden")
        heard = self.rehearsing.propose(progress, stopping)
        if not heard:
            return None
        heard = self._guessed(heard, self.rehearsing.ground)
        candidates = self._tests(Candidates.joined_up([mine.candidates for mine in heard]))
        self.telling(f"estimating what each relation lacks, by {len(candidates):,} candidates")
        rehearsal = rehearsed(candidates, self.rehearsing.known, self.missing)
        if self._make_final is None:
            of_relation = dict(zip(self.rehearsing.ground.relations, heard, strict=True))
            heard = [of_relation[relation] for relation in self.ground.relations]
            return heard, candidates, rehearsal
        self.telling("asking the model that learned all facts")
        self.final = self._make_final()
        self._ground = None
        heard = self._carried(candidates, self.final.propose(progress, stopping))
        return (self._guessed(heard, self.ground), candidates, rehearsal) if heard else None

    def _considered(
        self,
        heard: list[Proposed],
        new: NewFacts,
        rivals: Refused,
        rehearsal: Rehearsal,
        thresholds: Values,
        missing: float,
    ) -> Considered:
        """Every candidate that is not held out, and what bars it."""
        candidates = Candidates.joined_up([mine.candidates for mine in heard])
        facts = self._undecided(candidates.take(~candidates.held_out), rehearsal)
        against = Candidates.joined_up([mine.against for mine in heard])
        unlawful = contradicting(self._undecided(against, rehearsal), self.ground.law)
        keys = fact_keys(facts.facts, self.names)
        bars = np.full(len(keys), BARS.index(SECOND), np.int8)
        bars[self.ground.schema.symmetric[facts.facts[:, 1]]] = BARS.index(ONE_WAY)
        bars[found_in(np.sort(fact_keys(new.facts, self.names)), keys)] = FREE
        for refused in (rivals, unlawful):
            facts = NewFacts.joined([facts, refused.facts], self.names)
            bars = np.concatenate([bars, refused.reasons + BARS.index(REASONS[0])])
        certain = self._certain()
        facts = NewFacts.joined([facts, certain], self.names)
        bars = np.concatenate([bars, np.full(len(certain), BARS.index(ENTAILED))])
        # A candidate that the law refuses stands among the others, too.
        keys = fact_keys(facts.facts, self.names)
        order = np.lexsort((-bars, keys))
        order = order[np.diff(keys[order], prepend=-1) != 0]
        order = order[facts.probabilities[order] >= LEAST]
        return Considered(
            self.names,
            frozen(facts.facts[order]),
            frozen(facts.probabilities[order], np.float64),
            frozen(bars[order], np.int8),
            BARS,
            self.precision,
            frozen(thresholds, np.float64),
            missing,
        )

    def _certain(self) -> NewFacts:
        """What the schema entails, as facts."""
        return certain(self.ground.entailed.facts, self.names)

    def _guessed(self, heard: list[Proposed], ground: Ground) -> list[Proposed]:
        """What was proposed, but for new facts that the schema entails: these are no guesses."""
        return [mine._replace(candidates=_but_entailed(mine.candidates, ground)) for mine in heard]

    def _tests(self, candidates: Candidates) -> Candidates:
        """Without held-out facts that the schema entails from train facts: these test no model."""
        certain = self._entailed_by_train(candidates.facts)
        return candidates.take(~(candidates.held_out & certain))

    def _entailed_by_train(self, facts: Ids) -> Mask:  # (fact,)
        return self._from_train.among(facts)

    @cached_property
    def _from_train(self) -> Entailed:
        """What the schema entails from the facts that are not hidden in the rehearsal."""
        schema = self.rehearsing.ground.benchmark.schema
        return entailed(self.rehearsing.train, schema, self.rehearsing.names)

    def _missing(self, candidates: Candidates, rehearsal: Rehearsal) -> float:
        """How many facts are missing for each one held out, over all relations."""
        held_out = candidates.relations[candidates.held_out]
        return float(rehearsal.missing[held_out].mean()) if len(held_out) else 0.0

    def _lacks(self, rehearsal: Rehearsal) -> Values:  # (relation,)
        """Of the facts of each relation, the share that is missing."""
        known = self.rehearsing.known
        facts = int(known.alone.sum() + known.joined.sum())
        return rehearsal.lacks(len(self.rehearsing.held_out) / max(facts, 1))

    def _carried(
        self, rehearsed: Candidates, proposed: list[Proposed] | None
    ) -> list[Proposed] | None:
        """What the final model proposes, with scores on the scale of the rehearsal."""
        if proposed is None:
            return None
        found = Candidates.joined_up([mine.candidates for mine in proposed])
        new = rehearsed.take(~rehearsed.held_out)
        scale = Scale(found, self.final.known, new, self.rehearsing.known)
        return [
            mine._replace(candidates=scale.of(mine.candidates), against=scale.of(mine.against))
            for mine in proposed
        ]

    def _refused(
        self, against: Candidates, rivals: Refused, rehearsal: Rehearsal, thresholds: Values
    ) -> Refused:
        """What would have been accepted, were it not against the stated schema."""
        found = contradicting(self._undecided(against, rehearsal), self.ground.law)
        found = Refused.joined([found, rivals], self.names)
        about, facts = self.ground.about, found.facts.facts
        probable = found.facts.probabilities > thresholds[facts[:, 1]]
        found = found.take(probable & (about[facts[:, 0]] | about[facts[:, 2]]))
        accepted = frozen(np.ones(len(found.facts)), np.bool_)
        return found._replace(facts=replace(found.facts, accepted=accepted))

    def _plausible(
        self, relation: int, found: Candidates, rehearsal: Rehearsal
    ) -> tuple[NewFacts, int]:
        """New facts that keep to the schema, not yet decided; and how many others were dropped."""
        facts = self._undecided(found.take(~found.held_out), rehearsal)
        facts = facts.take(facts.probabilities >= LEAST)
        count = len(facts)
        facts = only_best(facts, self.ground.taken(relation, self.ground.certain))
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
            frozen(rehearsal.said(found), np.float32),
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
        relations, joined = facts.facts[:, 1], self.final.joined(facts.facts)
        share = facts.probabilities[accepted].mean() if accepted.any() else np.nan
        return replace(
            facts,
            accepted=frozen(accepted, np.bool_),
            thresholds=frozen(rehearsal.said_at(threshold, relations, joined), np.float64),
            expected=frozen(np.full(len(facts), share), np.float64),
        )

    def _found_again(
        self, candidates: Candidates, rehearsal: Rehearsal, thresholds: Values
    ) -> Keys:  # (relation,)
        """How many held-out facts of each relation are accepted, judged without their own fold."""
        folds = folds_of(candidates.facts)
        probabilities = rehearsed_by_others(candidates, self.rehearsing.known, self.missing, folds)
        found = candidates.held_out & (probabilities > thresholds[candidates.relations])
        return np.bincount(candidates.relations[found], minlength=self.names.num_relations)


def _but_entailed(candidates: Candidates, ground: Ground) -> Candidates:
    certain = ground.entailed.among(candidates.facts)
    return candidates.take(candidates.held_out | ~certain)
