"""What the labels of a review are worth: probabilities recalibrated by them, promises, progress."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from assent.core.arrays import Keys
from assent.core.checking import refuse_unknown
from assent.core.new_facts import NewFacts
from assent.core.vocabulary import last_part
from assent.errors import ConfigError
from assent.reviewing.bounds import Audit
from assent.reviewing.drawing import Design
from assent.reviewing.labels import RIGHT, SKIP, WRONG, Label, Labels
from assent.reviewing.proposals import Proposals
from assent.reviewing.verdicts import Values, Verdicts, recalibrated, verdicts_of

RELATIONS_SHOWN = 20  # of those without a label, the largest
PRECISION, CONFIDENCE = 0.9, 0.95  # what is aimed at if nothing else is said


class Reviewer(NamedTuple):
    """What one person did."""

    name: str
    decided: int
    a_minute: float  # decisions, over the last ten minutes of work
    planted: int  # planted facts decided about
    planted_right: int  # of these, decided rightly


class Promised(NamedTuple):
    """What is promised of the graph, or of a relation, and what the next step would take."""

    relation: str | None  # None: the whole graph
    facts: int  # that may be accepted; 0: nothing is proved yet
    precision: float
    confidence: float
    proposals: int  # that there are
    checks: int | None  # about so many more prove the next set; None: not known yet, or all done
    gains: int  # about so many more facts may be accepted then

    def about(self, labels: Mapping[str, str]) -> str:
        """What it is about, as people read it."""
        if self.relation is None:
            return "whole graph"
        return last_part(labels.get(self.relation, self.relation))

    def in_words(self, labels: Mapping[str, str]) -> str:
        """`whole graph: 225 of 2,996 proposals promised, ...`"""
        return (
            f"{self.about(labels)}: {self.facts:,} of {self.proposals:,} proposals "
            f"promised, at least {self.precision:.0%} right, with confidence {self.confidence:.0%}"
        )


class Progress(NamedTuple):
    """How far a review is."""

    done: int  # proposals decided about
    left: int
    drawn: int  # of those done, drawn by the random design
    pilot_left: int  # proposals of the pilot to be labelled before anything can be proved
    a_minute: float  # decisions of all reviewers, over the last ten minutes of work
    reviewers: tuple[Reviewer, ...]
    disagreements: int  # proposals that reviewers decided about differently
    graph: Promised
    relations: tuple[Promised, ...]  # the largest, and those with drawn proposals
    next_relation: Promised | None  # of those without a promise, the one that is bought soonest

    def lines(self, labels: Mapping[str, str]) -> list[str]:
        """How far the review is, in sentences; `labels` are what people call the relations."""
        lines = [
            f"{self.done:,} proposals decided about, {self.left:,} left; {self.drawn:,} of them "
            f"were drawn at random; reviewers disagree about {self.disagreements:,}"
        ]
        if self.pilot_left:
            wanted = f"{self.pilot_left} more drawn label{'' if self.pilot_left == 1 else 's'}"
            return [*lines, f"after {wanted}, promises can begin"]
        promised = [one for one in (self.graph, *self.relations) if one.facts]
        lines += [one.in_words(labels) for one in promised]
        if self.graph.checks is not None:
            more = f"about {self.graph.checks:,} more checks"
            lines.append(f"whole graph: {more} would add {self.graph.gains:,} facts")
        if (soonest := self.next_relation) is not None:
            more = f"about {soonest.checks:,} more checks"
            lines.append(
                f"the next relation: {soonest.about(labels)}, {soonest.gains:,} facts, {more}"
            )
        return lines


class Worth:
    """What the labels of these proposals come to; brought up to date when it is asked for.

    One thread at a time.
    """

    def __init__(self, proposals: Proposals, labels: Labels) -> None:
        self.proposals, self.labels = proposals, labels
        self.design = Design(proposals.facts.probabilities, proposals.relations, proposals.seed)
        self._audits: dict[tuple[float, float, str | None], tuple[Audit, dict[int, bool]]] = {}
        self._known_verdicts: tuple[object, Verdicts] | None = None
        self._recalibration: dict[int, Values] | None = None

    def verdicts(self) -> Verdicts:
        """Of the labels that count now."""
        counting = self.labels.current()
        version = tuple((row.id, row.verdict) for row in counting)
        if self._known_verdicts is None or self._known_verdicts[0] != version:
            self._known_verdicts = version, verdicts_of(counting, self.proposals.places)
            self._recalibration = None
        return self._known_verdicts[1]

    def probable(self, facts: NewFacts) -> Values:  # (fact,)
        """Proposals or planted facts: their probabilities, recalibrated by the labels so far."""
        looked_at = self.verdicts().looked_at
        if self._recalibration is None:
            mine, places = self.proposals.facts, np.array(list(looked_at), np.int64)
            names = mine.vocabulary.relations
            relations = [names[relation] for relation in mine.facts[places, 1]]
            found = recalibrated(mine.probabilities[places], relations, list(looked_at.values()))
            self._recalibration = {
                id(part): found.of(
                    part.probabilities, [part.vocabulary.relations[r] for r in part.facts[:, 1]]
                )
                for part in (mine, self.proposals.planted)
            }
        return self._recalibration[id(facts)]

    def audit(self, precision: float, confidence: float, relation: str | None) -> Audit:
        """What the labels of drawn proposals prove; kept, and brought up to date."""
        refuse_promise(precision, confidence)
        names = self.proposals.facts.vocabulary.relations
        if relation is not None:
            refuse_unknown(relation, names, "relation")
        audited, key = self.verdicts().audited, (precision, confidence, relation)
        audit, known = self._audits.get(key, (None, dict[int, bool]()))
        if audit is None or any(audited.get(place) != right for place, right in known.items()):
            family = self.design.family(None if relation is None else names.index(relation))
            audit, known = Audit(self.design, family, precision, confidence), {}
        for place, right in audited.items():
            if place not in known:
                audit.add(place, right)
        self._audits[key] = audit, dict(audited)
        return audit

    def accepted(self, precision: float, confidence: float, relation: str | None) -> Keys:
        """Places of proposals that may be accepted, ascending."""
        accepted = set(self.audit(precision, confidence, relation).accepted().tolist())
        verdicts, names = self.verdicts(), self.proposals.facts.vocabulary.relations
        right = set(verdicts.right)
        if relation is not None:
            right = {r for r in right if names[self.proposals.relations[r]] == relation}
        return np.array(sorted((accepted | right) - verdicts.refused), np.int64)

    def _promise(self, relation: str | None, precision: float, confidence: float) -> Promised:
        audit = self.audit(precision, confidence, relation)
        facts, plan = len(self.accepted(precision, confidence, relation)), audit.plan()
        proved = len(audit.accepted()) > 0
        return Promised(
            relation,
            facts if proved else 0,
            precision,
            confidence,
            len(audit.family.members),
            None if plan is None else plan.checks,
            0 if plan is None else plan.gains,
        )

    def progress(self, precision: float = PRECISION, confidence: float = CONFIDENCE) -> Progress:
        """How far the review is, and what is promised so far."""
        verdicts, counting = self.verdicts(), self.labels.current()
        names = self.proposals.facts.vocabulary.relations
        counts = Counter(self.proposals.relations.tolist())
        drawn = {int(self.proposals.relations[place]) for place in verdicts.audited}
        largest = [relation for relation, _ in counts.most_common(RELATIONS_SHOWN)]
        graph = self._promise(None, precision, confidence)
        relations = tuple(
            self._promise(names[relation], precision, confidence)
            for relation in sorted({*drawn, *largest}, key=lambda r: -counts[r])
        )
        decided = len(verdicts.right | verdicts.batched | verdicts.refused)
        pilot = self.audit(precision, confidence, None).pilot_left
        waiting = [one for one in relations if not one.facts and one.checks is not None]
        return Progress(
            decided,
            len(self.proposals) - decided,
            len(verdicts.audited),
            len(pilot),
            _pace(counting),
            tuple(self.reviewers()),
            len(self.labels.disagreements()),
            graph,
            relations,
            min(waiting, key=lambda one: one.checks or 0, default=None),
        )

    def reviewers(self) -> list[Reviewer]:
        """What each person did."""
        by_name: dict[str, list[Label]] = {}
        for label in self.labels.current():
            if label.verdict != SKIP:
                by_name.setdefault(label.reviewer, []).append(label)
        return [self._reviewer(name, labels) for name, labels in sorted(by_name.items())]

    def _reviewer(self, name: str, labels: list[Label]) -> Reviewer:
        planted = [row for row in labels if row.proposal in self.proposals.planted_places]
        truth = self.proposals.planted.accepted
        right = sum(
            row.verdict == (RIGHT if truth[self.proposals.planted_places[row.proposal]] else WRONG)
            for row in planted
        )
        return Reviewer(name, len(labels), _pace(labels), len(planted), right)


def refuse_promise(precision: float, confidence: float) -> None:
    """Raises an error for numbers that no promise can have."""
    if not 0 < precision < 1:
        raise ConfigError(f"precision {precision}; choose more than 0, less than 1")
    if not 0.5 <= confidence < 1:
        raise ConfigError(f"confidence {confidence}; choose from 0.5 to less than 1")


def _pace(labels: Sequence[Label]) -> float:
    """Decisions a minute over the last ten minutes before the latest one."""
    if not labels:
        return 0.0
    last = max(row.time for row in labels)
    recent = [row.time for row in labels if row.time > last - 600 and row.chosen != "batch"]
    if len(recent) < 2:
        return float(len(recent))
    return (len(recent) - 1) / max((last - min(recent)) / 60, 1 / 60)
