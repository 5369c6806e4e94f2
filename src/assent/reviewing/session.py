"""A review of one run: which proposal comes next, what is said about it, and what that is worth."""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assent.core.arrays import Keys, Mask, frozen
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.new_facts import NewFacts
from assent.errors import ConfigError
from assent.reviewing.bounds import Audit
from assent.reviewing.cards import Card, Cards, Named
from assent.reviewing.drawing import Design
from assent.reviewing.labels import RIGHT, SKIP, WRONG, Given, Label, Labels
from assent.reviewing.proposals import FOLDER, Proposals, read_proposals
from assent.reviewing.verdicts import Values, Verdicts, recalibrated, verdicts_of

LABELS = "labels.sqlite"
ORDERS = ("drawn", "probable", "teaches")
EXAMPLES = 10  # of a batch, before it is decided
LEASE = 120.0  # seconds for which a proposal that one reviewer sees is not given to another
RELATIONS_SHOWN = 20  # of those without a label, the largest
SKIPPED_FOR = 10  # decisions until a skipped proposal that was drawn comes again
PRECISION, CONFIDENCE = 0.9, 0.95  # what is aimed at if nothing else is said
PLANTED_EVERY = 15  # about one of so many proposals that a reviewer sees is a planted one


@dataclass(frozen=True)
class Filter:
    """Which proposals are wanted."""

    relation: str | None = None  # by its name in the graph; None: all
    least: float = 0.0  # probability, recalibrated
    most: float = 1.0
    evidence: bool | None = None  # with evidence, without, or both


class Preview(NamedTuple):
    """What a batch would be about."""

    size: int
    examples: tuple[Card, ...]


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

    def in_words(self) -> str:
        """`whole graph: 225 of 2,996 proposals promised, ...`"""
        return (
            f"{self.relation or 'whole graph'}: {self.facts:,} of {self.proposals:,} proposals "
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

    def lines(self) -> list[str]:
        """The same in words."""
        lines = [
            f"{self.done:,} proposals decided about, {self.left:,} left; {self.drawn:,} of them "
            f"were drawn at random; reviewers disagree about {self.disagreements:,}"
        ]
        if self.pilot_left:
            return [*lines, f"after {self.pilot_left} more drawn labels, promises can begin"]
        lines += [promise.in_words() for promise in (self.graph, *self.relations) if promise.facts]
        if self.graph.checks is not None:
            more = f"about {self.graph.checks:,} more checks"
            lines.append(f"whole graph: {more} would add {self.graph.gains:,} facts")
        if (soonest := self.next_relation) is not None:
            more = f"about {soonest.checks:,} more checks"
            lines.append(f"the next relation: {soonest.relation}, {soonest.gains:,} facts, {more}")
        return lines


class Review:
    """A review of one run folder, for any number of reviewers and threads.

    Proposals and planted facts are named by their keys. What is drawn next is what buys a promise
    of this precision and confidence soonest; the labels serve any other promise as well.
    """

    def __init__(
        self,
        folder: Path,
        benchmark: Benchmark,
        precision: float = PRECISION,
        confidence: float = CONFIDENCE,
    ) -> None:
        refuse_promise(precision, confidence)
        self.folder, self.benchmark = Path(folder), benchmark
        self._cards = Cards(benchmark)
        self.proposals: Proposals = read_proposals(self.folder, [benchmark.vocabulary])
        self.labels = Labels(self.folder / FOLDER / LABELS)
        self.design = Design(
            self.proposals.facts.probabilities, self.proposals.relations, self.proposals.seed
        )
        self.precision, self.confidence = precision, confidence
        self._lock = threading.RLock()
        self._audits: dict[tuple[float, float, str | None], tuple[Audit, dict[int, bool]]] = {}
        self._known_verdicts: tuple[object, Verdicts] | None = None
        self._recalibration: dict[int, Values] | None = None
        self._shown: dict[str, dict[str, float]] = {}  # reviewer -> key -> when

    def close(self) -> None:
        self.labels.close()

    # Which proposal comes next

    def next(
        self,
        reviewer: str,
        *,
        order: str = "drawn",
        wanted: Filter | None = None,
        excluding: Collection[str] = (),
    ) -> Card | None:
        """The next proposal for a reviewer, in one of the ORDERS; None: all are decided.

        `drawn` follows the random design, and only then a label counts towards a promise.
        `excluding` has the keys of those that the reviewer has before them already.
        """
        refuse_unknown(order, ORDERS, "order")
        with self._lock:
            wanted = wanted or Filter()
            key = next(self._open(reviewer, order, wanted, excluding), None)
            if key is None:
                return None
            if order == "drawn":  # sorted by probability, a planted fact would stand out
                key = self._planted_next(reviewer, wanted, excluding) or key
            self._shown.setdefault(reviewer, {})[key] = time.monotonic()
            return self.card(key, order)

    def card(self, key: str, order: str = "probable") -> Card:
        """All that is shown of a proposal; `order`: why it is shown."""
        facts, place = self.proposals.found(key)
        return self._cards.of(facts, place, key, order, float(self._probable(facts)[place]))

    @property
    def probabilities(self) -> Values:  # (proposal,)
        """How probable each proposal is, by what the labels say so far."""
        return self._probable(self.proposals.facts)

    # What is said about it

    def decide(self, key: str, verdict: str, reviewer: str, note: str = "", *, order: str) -> Label:
        """Keeps a verdict; when this returns, it is on the disk. `order` is that of the card."""
        refuse_unknown(order, ORDERS, "order")
        card = self.card(key, order)
        chosen = "planted" if key in self.proposals.planted_places else order
        shown = {
            "probability": card.probability,
            "probability_before": card.probability_before,
            "order": chosen,
            "evidence": card.row["evidence"],
        }
        return self.labels.add(key, verdict, reviewer, chosen=chosen, note=note, shown=shown)

    def undo(self, reviewer: str) -> list[Label]:
        """Takes back the latest decision of a reviewer."""
        return self.labels.undo(reviewer)

    def change(self, label_id: int, verdict: str, reviewer: str, note: str = "") -> Label:
        """Another verdict in place of an earlier one."""
        return self.labels.change(label_id, verdict, reviewer, note)

    def recent(self, reviewer: str, most: int = 20) -> list[Label]:
        """The latest decisions of a reviewer, the newest first."""
        return self.labels.recent(reviewer, most)

    def preview(self, wanted: Filter) -> Preview:
        """How many proposals a batch would decide about, and some of them."""
        keys = self._batch(wanted)
        return Preview(len(keys), tuple(self.card(key) for key in keys[:EXAMPLES]))

    def decide_batch(self, wanted: Filter, verdict: str, reviewer: str, note: str = "") -> int:
        """One verdict for all proposals of a filter that nobody has decided about.

        No one looked at each, so these labels never count towards a promise.
        """
        if verdict == SKIP:
            raise ConfigError("a batch decides; to skip facts, leave them")
        now = time.time()
        given = [
            Given(key, verdict, reviewer, "batch", note, {"filter": vars(wanted)}, None, now)
            for key in self._batch(wanted)
        ]
        return len(self.labels.add_all(given))

    # What that is worth

    def promised(
        self, precision: float, confidence: float = CONFIDENCE, relation: str | None = None
    ) -> NewFacts:
        """The facts that may be accepted: this share of them is right, with this confidence.

        They are the largest set of proposals, of the graph or of one relation, that the labels of
        drawn proposals prove, and those that were looked at one by one and called right; without
        those that anyone called wrong, or did not know.
        """
        with self._lock:
            facts = self.proposals.facts.take(self._accepted(precision, confidence, relation))
        return replace(
            facts,
            accepted=frozen(np.ones(len(facts)), np.bool_),
            thresholds=frozen(np.full(len(facts), -np.inf), np.float64),
            expected=frozen(np.full(len(facts), precision), np.float64),
        )

    def facts_right(self) -> NewFacts:
        """The proposals that everyone who decided about them called right, batches included."""
        verdicts = self._verdicts()
        places = sorted(verdicts.right | verdicts.batched)
        return self.proposals.facts.take(np.array(places, np.int64))

    def refused_keys(self) -> set[str]:
        """The keys of proposals that anyone called wrong, or did not know."""
        return {self.proposals.keys[place] for place in self._verdicts().refused}

    def looked_at(self) -> list[tuple[Named, bool]]:
        """The proposals that people looked at one by one and knew, and whether they are right."""
        names, facts = self.proposals.facts.vocabulary, self.proposals.facts.facts
        found = []
        for place, right in self._verdicts().looked_at.items():
            head, relation, tail = facts[place].tolist()
            named = names.entities[head], names.relations[relation], names.entities[tail]
            found.append((named, right))
        return found

    def progress(self, precision: float = PRECISION, confidence: float = CONFIDENCE) -> Progress:
        """How far the review is, and what is promised so far."""
        with self._lock:
            verdicts, counting = self._verdicts(), self.labels.current()
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
            pilot = self._audit(precision, confidence, None).pilot_left
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

    # Inside

    def _verdicts(self) -> Verdicts:
        """Of the labels that count now."""
        counting = self.labels.current()
        version = tuple((row.id, row.verdict) for row in counting)
        if self._known_verdicts is None or self._known_verdicts[0] != version:
            self._known_verdicts = version, verdicts_of(counting, self.proposals.places)
            self._recalibration = None
        return self._known_verdicts[1]

    def _probable(self, facts: NewFacts) -> Values:  # (fact,)
        """Proposals or planted facts: their probabilities, recalibrated by the labels so far."""
        with self._lock:
            looked_at = self._verdicts().looked_at
            if self._recalibration is None:
                mine, places = self.proposals.facts, np.array(list(looked_at), np.int64)
                names = mine.vocabulary.relations
                relations = [names[relation] for relation in mine.facts[places, 1]]
                found = recalibrated(
                    mine.probabilities[places], relations, list(looked_at.values())
                )
                self._recalibration = {
                    id(part): found.of(
                        part.probabilities, [part.vocabulary.relations[r] for r in part.facts[:, 1]]
                    )
                    for part in (mine, self.proposals.planted)
                }
            return self._recalibration[id(facts)]

    def _audit(self, precision: float, confidence: float, relation: str | None) -> Audit:
        """What the labels of drawn proposals prove; kept, and brought up to date."""
        refuse_promise(precision, confidence)
        names = self.proposals.facts.vocabulary.relations
        if relation is not None:
            refuse_unknown(relation, names, "relation")
        audited, key = self._verdicts().audited, (precision, confidence, relation)
        audit, known = self._audits.get(key, (None, dict[int, bool]()))
        if audit is None or any(audited.get(place) != right for place, right in known.items()):
            family = self.design.family(None if relation is None else names.index(relation))
            audit, known = Audit(self.design, family, precision, confidence), {}
        for place, right in audited.items():
            if place not in known:
                audit.add(place, right)
        self._audits[key] = audit, dict(audited)
        return audit

    def _accepted(self, precision: float, confidence: float, relation: str | None) -> Keys:
        """Places of proposals that may be accepted, ascending."""
        accepted = set(self._audit(precision, confidence, relation).accepted().tolist())
        verdicts, names = self._verdicts(), self.proposals.facts.vocabulary.relations
        right = set(verdicts.right)
        if relation is not None:
            right = {r for r in right if names[self.proposals.relations[r]] == relation}
        return np.array(sorted((accepted | right) - verdicts.refused), np.int64)

    def _promise(self, relation: str | None, precision: float, confidence: float) -> Promised:
        audit = self._audit(precision, confidence, relation)
        facts, plan = len(self._accepted(precision, confidence, relation)), audit.plan()
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

    def _open(
        self, reviewer: str, order: str, wanted: Filter, excluding: Collection[str]
    ) -> Iterator[str]:
        """Keys of proposals that are still to be decided about, in an order."""
        keys, counting = self.proposals.keys, self.labels.current()
        decided = {
            row.proposal
            for row in counting
            if row.verdict != SKIP and (order != "drawn" or row.drawn)
        }
        mine = [row for row in counting if row.reviewer == reviewer]
        skipped = [row.proposal for row in mine if row.verdict == SKIP]
        again = [
            row.proposal
            for place, row in enumerate(mine)
            if row.verdict == SKIP and row.drawn and len(mine) - place > SKIPPED_FOR
        ]
        closed = decided | self._leased_to_others(reviewer) | set(excluding)
        fits = self._fitting(wanted, self.proposals.facts)
        # A drawn proposal without a label holds up all that were drawn after it: it comes again.
        first = [key for key in again if order == "drawn" and key not in closed]
        closed |= set(skipped)
        places = self._order(order, wanted.relation)
        return chain(first, (keys[i] for i in places if fits[i] and keys[i] not in closed))

    def _order(self, order: str, relation: str | None) -> Iterable[int]:
        """Places of proposals; those drawn: what buys a promise soonest, then all others."""
        if order == "probable":
            return range(len(self.proposals))
        if order == "teaches":
            return list(np.argsort(np.abs(self.probabilities - 0.5), kind="stable"))
        audit = self._audit(self.precision, self.confidence, relation)
        rest = (int(place) for place in np.argsort(self.design.numbers, kind="stable"))
        return chain(audit.next().tolist(), rest)

    def _planted_next(
        self, reviewer: str, wanted: Filter, excluding: Collection[str]
    ) -> str | None:
        """A planted fact now and then, each once; when is fixed by the names, not by the labels.

        It fits what the reviewer wants, as the proposals do: else it could be told apart.
        """
        mine = [row for row in self.labels.current() if row.reviewer == reviewer]
        fits = self._fitting(wanted, self.proposals.planted)
        left = {key for key, fit in zip(self.proposals.planted_keys, fits, strict=True) if fit}
        left -= {row.proposal for row in mine} | set(excluding)
        decided = len(mine) + len(excluding)
        turn = hash_of(reviewer, decided // PLANTED_EVERY) % PLANTED_EVERY
        if not left or decided % PLANTED_EVERY != turn:
            return None
        return min(left, key=lambda key: hash_of(reviewer, key))

    def _leased_to_others(self, reviewer: str) -> set[str]:
        old = time.monotonic() - LEASE
        return {
            key
            for other, keys in self._shown.items()
            for key, when in keys.items()
            if other != reviewer and when > old
        }

    def _fitting(self, wanted: Filter, facts: NewFacts) -> Mask:  # (fact,)
        """Which of the proposals, or of the planted facts, are wanted."""
        probabilities = self._probable(facts)
        fits: Mask = (probabilities >= wanted.least) & (probabilities <= wanted.most)
        if wanted.relation is not None:
            names = self.proposals.facts.vocabulary.relations
            refuse_unknown(wanted.relation, names, "relation")
            relations = facts.vocabulary.relations
            wants = np.array([name == wanted.relation for name in relations], bool)
            fits = fits & wants[facts.facts[:, 1]]
        if wanted.evidence is not None:
            fits = fits & (self._with_evidence[facts is self.proposals.facts] == wanted.evidence)
        return fits

    @cached_property
    def _with_evidence(self) -> dict[bool, Mask]:
        """Whether a rule speaks for each proposal (True: their mask), for each planted (False)."""
        both = {True: self.proposals.facts, False: self.proposals.planted}
        return {
            mine: np.array([not facts.by_similarity(place) for place in range(len(facts))], bool)
            for mine, facts in both.items()
        }

    def _batch(self, wanted: Filter) -> list[str]:
        decided = {row.proposal for row in self.labels.current() if row.verdict != SKIP}
        keys = self.proposals.keys
        return [
            keys[i]
            for i in np.flatnonzero(self._fitting(wanted, self.proposals.facts))
            if keys[i] not in decided
        ]

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


def hash_of(*parts: object) -> int:
    """A number that looks random, the same in every process."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts).encode()).digest()[:8], "big")


def _pace(labels: Sequence[Label]) -> float:
    """Decisions a minute over the last ten minutes before the latest one."""
    if not labels:
        return 0.0
    last = max(row.time for row in labels)
    recent = [row.time for row in labels if row.time > last - 600 and row.chosen != "batch"]
    if len(recent) < 2:
        return float(len(recent))
    return (len(recent) - 1) / max((last - min(recent)) / 60, 1 / 60)
