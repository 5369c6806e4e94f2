"""ask: the answers to one query, those that are known, accepted, and not accepted."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from assent.completing.by_fact import ONE_WAY, SECOND, refuse_impossible
from assent.completing.completing import Rehearsed, Wanted
from assent.completing.evidence import Vectors
from assent.completing.ground import Ground
from assent.completing.objecting import Objections
from assent.completing.rehearsing import lowest_thresholds
from assent.core.arrays import Ids, Mask
from assent.core.benchmark import Benchmark
from assent.core.considered import ENTAILED, Considered
from assent.core.decider import Decider
from assent.core.new_facts import NewFacts, Reason
from assent.core.probabilities import Values, sigmoid
from assent.core.queries import Queries, Subset
from assent.core.scores import QueriesDone
from assent.errors import ConfigError
from assent.files.completions import considered_by, keep_asked
from assent.files.considered import read_considered
from assent.files.fact_rows import reason_row
from assent.files.places import DECIDER
from assent.reviewing.accepting import Judged
from assent.reviewing.proposals import key_of
from assent.scoring import Scored, entity_vectors, score
from assent.verbs.complete import complete
from assent.verbs.deciders import load_decider, model_of
from assent.verbs.labelled import judged_of
from assent.verbs.refit import refit as final_fit
from assent.verbs.removed import (
    how_to_learn,
    reads_texts,
    removed_named,
    was_removed,
    widened,
)
from assent.verbs.runs import Run, folder_of

ASKED = ("?", "_")  # stand for the end that is asked for; a shell may take ? for itself
NAMED = {f"\\{word}": word for word in ASKED}  # stand for entities that have such a name
SHOWN = 0.001  # answers less probable than this are not shown
UNFIT = ("domain", "range", "disjoint")  # answers of the wrong kind are shown after the others
BELOW = "its score is below the threshold"
WHY = {  # a candidate is left out that contradicts other candidates, not what is known
    SECOND: "there is only one answer, and another new one is surer",
    ONE_WAY: "the relation holds both ways, and the reverse fact was left out",
    "functional": "the schema allows only one answer, and another new one is surer",
    "disjoint": "the schema says that it contradicts a new fact that is surer",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A candidate of a query: how probable it is, why it is not accepted if it is not, evidence."""

    name: str
    label: str
    probability: float
    why: str  # it is not accepted; empty: it is
    reasons: tuple[Reason, ...]
    against: tuple[Reason, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "label": self.label,
            "probability": self.probability,
            "why": self.why,
            "evidence": [reason_row(reason) for reason in self.reasons],
            "against": [reason_row(reason) for reason in self.against],
        }


@dataclass(frozen=True, slots=True)
class Answers:
    """All that there is to say about one query."""

    query: str  # in words
    known: tuple[tuple[str, str], ...]  # names and labels
    accepted: tuple[Answer, ...]  # the most probable first
    rejected: tuple[Answer, ...]  # the most probable first, not all
    precision: float  # wanted; nan: the run's decider decided
    threshold: float  # of probability; nan: the decider has one of scores
    notes: tuple[str, ...]  # how it was decided, and what else must be known

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "query": self.query,
            "known": [{"name": name, "label": label} for name, label in self.known],
            "accepted": [answer.to_json() for answer in self.accepted],
            "rejected": [answer.to_json() for answer in self.rejected],
            "precision": _finite(self.precision),
            "threshold": _finite(self.threshold),
            "notes": list(self.notes),
        }


def ask(
    run: Scored,
    head: str | None,
    relation: str,
    tail: str | None = None,
    *,
    precision: float | None = None,
    most: int = 5,
    progress: QueriesDone | bool = True,
) -> Answers:
    """The answers to (head, relation, ?), or to (?, relation, tail) with None or "?" for the head.

    Names or labels; an entity that is named ? or _ itself is written \\? or \\_. It accepts what
    `complete` accepts at the same `precision`: that goes by what the newest completion of all
    relations left in the run's folder. Where there is none, all queries are asked once, and kept.
    Without a precision it is that of this completion; if there is none, the decider of the run
    decides. At most so many answers are shown that are not accepted.

    An entity that building removed is answered about by a completion with a final fit. Where there
    is none, a model that reads texts answers by these; of other models, what is known is all.
    """
    if precision is not None:
        refuse_impossible(precision, 1.0)
    ends = [None if end is None or end in ASKED else end for end in (head, tail)]
    if (ends[0] is None) == (ends[1] is None):
        raise ConfigError(
            "give a head or a tail, and ? for the other one (explain takes both); an entity that "
            f"is named {' or '.join(ASKED)} is written {' or '.join(NAMED)}"
        )
    found, *how = _considered(run, precision, progress)
    benchmark, asks_head = run.benchmark, ends[0] is None
    given = str(ends[1] if asks_head else ends[0])
    if found is None or found.vocabulary.num_entities == benchmark.vocabulary.num_entities:
        removed = removed_named(benchmark, NAMED.get(given, given))
        if removed is not None:
            place = benchmark.vocabulary.relation_named(relation)
            answers = _about_removed(run, removed, place, asks_head, most)
            return replace(answers, notes=tuple(filter(None, (*answers.notes, how[-1]))))
    if found is None and not how[0]:
        nothing = "nothing decides yet: give a precision, or tune the run, or complete"
        raise ConfigError(f"{nothing} ({how[1]})" if how[1] else nothing)
    if found is not None and found.vocabulary.num_entities != benchmark.vocabulary.num_entities:
        benchmark = benchmark.whole()
    names = benchmark.vocabulary
    place = names.relation_named(relation)
    slot = names.slots_of(place)[asks_head]
    ground = Ground(benchmark, Wanted(), partial(_vectors, run, benchmark))
    given = given if given in names.entities else NAMED.get(given, given)
    anchor = names.entity_named(given, ground.fitting.anchors(slot))
    query = _Query(ground, anchor, place, slot, asks_head)
    if found is not None:
        return query.by_rehearsal(found, precision, most, how, judged_of(run))
    return query.by_decider(run, most, progress, how)


@dataclass(frozen=True)
class _Query:
    """A query, and what is known before its candidates are looked at."""

    ground: Ground
    anchor: int
    relation: int
    slot: int
    asks_head: bool

    def by_rehearsal(
        self,
        found: Considered,
        precision: float | None,
        most: int,
        how: list[str],
        judged: Mapping[str, Judged],
    ) -> Answers:
        """By the probabilities of a rehearsal, and by what people said."""
        thresholds = found.thresholds
        if precision is None:
            precision = found.precision
        elif precision != found.precision:
            free, size = found.free, found.vocabulary.num_relations
            thresholds = lowest_thresholds(
                found.probabilities[free], found.facts[free, 1], size, precision
            )
        threshold = float(thresholds[self.relation])
        rows = np.flatnonzero(self._mine(found.facts))
        rows = rows[np.lexsort((found.facts[rows, self._other], -found.probabilities[rows]))]
        unfit = np.isin(found.bars[rows], [found.reasons.index(reason) for reason in UNFIT])
        rows = rows[np.argsort(unfit, kind="stable")]
        names = found.vocabulary
        people = [
            judged.get(key_of(names.entities[h], names.relations[r], names.entities[t]))
            for h, r, t in found.facts[rows].tolist()
        ]
        why = [
            self._why(found, row, threshold, said)
            for row, said in zip(rows.tolist(), people, strict=True)
        ]
        left_out = [place for place, reason in enumerate(why) if reason]
        kept = [place for place in range(len(why)) if place not in set(left_out[most:])]
        answers = self._answers(
            found.facts[rows[kept]],
            found.probabilities[rows[kept]].tolist(),
            [why[place] for place in kept],
        )
        rests_on = Rehearsed(precision, found.missing).assumption
        notes = [f"{how[0]}; precision wanted: {precision:g}", *how[1:]]
        if all(why):
            notes += self._notes()
        if math.isinf(threshold):
            notes.append(
                f"no facts of this relation are so probable that {precision:.0%} of them are right"
            )
        return self._result(answers, precision, threshold, [*notes, rests_on])

    def by_decider(
        self, run: Scored, most: int, progress: QueriesDone | bool, how: list[str]
    ) -> Answers:
        """By the decider that the run was tuned with: all queries of the relation are asked."""
        names = self.ground.names
        wanted = [names.relations[self.relation]]
        done = complete(run, review_above=SHOWN, relations=wanted, progress=progress)
        found = done.facts.take(self._mine(done.facts.facts))
        refused = done.refused.take(self._mine(done.refused.facts.facts))
        facts = NewFacts.joined([found, refused.facts], names)
        why = ["" if accepted else BELOW for accepted in found.accepted]
        why += map(self._objection, refused.facts.facts, refused.words())
        last = np.repeat([0, 1], [len(found), len(refused.facts)])  # those that are refused
        left_out = np.array([bool(reason) for reason in why], bool)
        order = np.lexsort((facts.facts[:, self._other], -facts.probabilities, last, left_out))
        order = order[: int((~left_out).sum()) + most]
        facts = facts.take(order)
        answers = self._answers(
            facts.facts, facts.probabilities.tolist(), [why[place] for place in order]
        )
        notes = [*how, *(self._notes() if left_out.all() else [])]
        return self._result(answers, math.nan, math.nan, notes)

    def by_texts(self, run: Scored, most: int) -> Answers:
        """By what is written about an anchor that the model has not learned of."""
        decider = _thresholds_of(run)
        facts, probabilities, passing = self._estimated(run, decider)
        looked_at = np.sort(np.append(np.flatnonzero(passing), np.flatnonzero(~passing)[:most]))
        why = list[str]()
        for place in looked_at.tolist():
            objections = self._objections.of(*facts[place].tolist())
            if objections:
                why.append(objections[0].sentence)
            elif not passing[place]:
                why.append(BELOW if decider else "nothing decides: the run has no thresholds")
            else:
                is_second = "" in why and self.ground.schema.functional[self.slot]
                why.append(WHY[SECOND] if is_second else "")
        left_out = [place for place, reason in enumerate(why) if reason]
        kept = [place for place in range(len(why)) if place not in set(left_out[most:])]
        rows = looked_at[kept]
        answers = self._answers(
            facts[rows], probabilities[rows].tolist(), [why[place] for place in kept]
        )
        told = f"{was_removed(self._name)}: what is written about it decides, which is an estimate"
        notes = [f"{told} that was not tuned on such queries", how_to_learn(run)]
        if all(why):
            notes += self._notes()
        return self._result(answers, math.nan, math.nan, notes)

    def _estimated(self, run: Scored, decider: Decider | None) -> tuple[Ids, Values, Mask]:
        """Facts (fact, 3) with each candidate, the most probable first; which pass the decider.

        All that pass are there, and all others whose probability can be shown.
        """
        ground = self.ground
        asked = Queries.empty([self.anchor], [self.slot], Subset.COMPLETE)
        (block,) = score(widened(run), asked, ground.known)
        scores, slots = block.scores[0], np.full(len(block.scores[0]), self.slot)
        able = np.isfinite(scores) & ground.fitting.anchors(self.slot)[self.anchor]
        able &= ground.fitting.anchors(int(ground.names.inverse(np.array([self.slot]))[0]))
        if ground.schema.irreflexive[self.relation]:
            able[self.anchor] = False
        if decider is None:
            probabilities = sigmoid(scores.astype(np.float64))
            passing = np.zeros(len(scores), bool)
        else:
            probabilities = decider.probability(scores, slots)
            passing = decider.thresholds.accept(scores, slots)
        found = np.flatnonzero(able & (passing | (probabilities > SHOWN)))
        found = found[np.argsort(-probabilities[found], kind="stable")]
        facts = np.full((len(found), 3), self.anchor, np.int32)
        facts[:, 1], facts[:, self._other] = self.relation, found
        return facts, probabilities[found], passing[found]

    def unasked(self, run: Scored) -> Answers:
        """What is known about an anchor that the model knows nothing of."""
        told = f"nothing is asked: {was_removed(self._name)}"
        return self._result([], math.nan, math.nan, [told, how_to_learn(run)])

    @property
    def _name(self) -> str:
        return self.ground.explainer.words.entity(self.anchor)

    @cached_property
    def _objections(self) -> Objections:
        return Objections(self.ground)

    @property
    def _other(self) -> int:
        """Where the end that is asked for stands in a fact."""
        return 0 if self.asks_head else 2

    def _mine(self, facts: Ids) -> Mask:  # (fact,)
        mine: Mask = (facts[:, 1] == self.relation) & (facts[:, 2 - self._other] == self.anchor)
        return mine

    def _answers(self, facts: Ids, probabilities: list[float], why: list[str]) -> list[Answer]:
        evidence, names = self.ground.evidence_of(facts), self.ground.names
        return [
            Answer(
                names.entities[entity],
                names.entity(entity),
                probability,
                reason,
                evidence.speaking(row),
                evidence.opposing(row),
            )
            for row, (entity, probability, reason) in enumerate(
                zip(facts[:, self._other].tolist(), probabilities, why, strict=True)
            )
        ]

    def _notes(self) -> list[str]:
        """What keeps all candidates of the query from being asked about."""
        if not self.ground.fitting.anchors(self.slot)[self.anchor]:
            unfit = f"by its types, {self._name} is none that this is asked about"
            return [f"nothing is asked: {unfit}"]
        found = self._objections.of_query(self.anchor, self.slot)
        return [f"nothing is accepted: {one.sentence}" for one in found[:1]]

    def _why(self, found: Considered, row: int, threshold: float, said: Judged | None) -> str:
        """Why a candidate is not accepted; empty: it is."""
        if said is not None and not said.right:
            return "a person called it wrong"
        if said is not None or (found.free[row] and found.probabilities[row] > threshold):
            return ""
        if not found.free[row] and found.reasons[found.bars[row]] == ENTAILED:
            return ""
        if not found.free[row]:
            return self._objection(found.facts[row], found.reasons[found.bars[row]])
        if math.isinf(threshold):
            return "no fact of this relation is accepted at this precision"
        return f"it would have to be more probable than {threshold:.2f}"

    def _objection(self, fact: Ids, bar: str) -> str:
        """What bars a candidate, in words."""
        head, relation, tail = fact.tolist()
        for objection in self._objections.of(head, relation, tail):
            if objection.reason == bar:
                return objection.sentence
        return WHY[bar]

    def _result(
        self, answers: list[Answer], precision: float, threshold: float, notes: list[str]
    ) -> Answers:
        ground, names = self.ground, self.ground.names
        known = ground.answers(self.anchor, self.slot)
        return Answers(
            ground.explainer.words.asked(self.anchor, self.slot),
            tuple((names.entities[entity], names.entity(entity)) for entity in known),
            tuple(answer for answer in answers if not answer.why),
            tuple(answer for answer in answers if answer.why),
            precision,
            threshold,
            tuple(note for note in notes if note),
        )


def _about_removed(run: Scored, anchor: int, relation: int, asks_head: bool, most: int) -> Answers:
    """The answers about an entity that building removed, and that no final fit has learned of."""
    benchmark = run.benchmark.whole()
    ground = Ground(benchmark, Wanted(), lambda: entity_vectors(widened(run)))
    slot = benchmark.vocabulary.slots_of(relation)[asks_head]
    query = _Query(ground, anchor, relation, slot, asks_head)
    return query.by_texts(run, most) if reads_texts(run) else query.unasked(run)


def _thresholds_of(run: Scored) -> Decider | None:
    """The thresholds that a run was tuned with; None: it has none, or a judge."""
    folder = folder_of(run)
    if folder is None or not (folder / DECIDER).exists():
        return None
    decider = load_decider(folder, run)
    return None if decider.needs_spread else decider


def _considered(
    run: Scored, precision: float | None, progress: QueriesDone | bool
) -> tuple[Considered | None, str, str]:
    """What decides, how it came about, and what is amiss, in words; None: the run's decider does.

    No words of how it came about: there is no decider either.

    What `ask` found for itself, at a precision that was wanted then, decides only where one is
    wanted again.
    """
    folder, model, amiss = folder_of(run), model_of(run), ""
    if folder is not None:
        names = [run.benchmark.whole().vocabulary, run.benchmark.vocabulary]
        found, amiss = considered_by(folder, names, model)
        if found is not None:
            return found, "as the newest completion of all relations decided", ""
        if precision is not None and (found := read_considered(folder, names, model)) is not None:
            return found, "as all queries were asked before", amiss
    if precision is None:
        if folder is None or not (folder / DECIDER).exists():
            return None, "", amiss
        how = "the run's decider decided; a precision would estimate how many facts are right"
        return None, how, amiss
    found = complete(run, precision, progress=progress).considered
    assert found is not None  # all relations were asked about
    if folder is not None:
        keep_asked(folder, found, model)
    how = "all queries were asked now, as no completion was kept; the next time is quick"
    return found, how, amiss


def _vectors(run: Scored, benchmark: Benchmark) -> Vectors | None:
    """The entities as the model sees them that was asked: the final fit, if there was one."""
    if benchmark is run.benchmark:
        return entity_vectors(run.model)
    return entity_vectors(final_fit(run).model) if isinstance(run, Run) else None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
