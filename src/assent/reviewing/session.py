"""A review of one run: which proposal comes next, what is said about it, and what that is worth."""

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assent.core.arrays import Mask
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.new_facts import NewFacts
from assent.files.facts import rows_of_facts
from assent.reviewing.labels import RIGHT, SKIP, WRONG, Given, Label, Labels
from assent.reviewing.proposals import FOLDER, Proposals, read_proposals

Named = tuple[str, str, str]  # a fact by its names: head, relation, tail
LABELS = "labels.sqlite"
ORDERS = ("drawn", "probable", "teaches")
KNOWN_SHOWN = 12  # known facts about either end of a proposal, at most
EXAMPLES = 10  # of a batch, before it is decided
LEASE = 120.0  # seconds for which a proposal that one reviewer sees is not given to another
PLANTED_EVERY = 15  # about one of so many proposals that a reviewer sees is a planted one


class End(NamedTuple):
    """One end of a proposal, or its relation: the name in the graph, and as people read it."""

    name: str
    label: str

    @property
    def iri(self) -> str | None:
        """The address to look it up at, if its name is one."""
        return self.name if self.name.startswith(("http://", "https://")) else None


class KnownFact(NamedTuple):
    """A fact of the graph."""

    head: End
    relation: End
    tail: End


@dataclass(frozen=True)
class Card:
    """What a reviewer is shown of one proposal."""

    key: str
    head: End
    relation: End
    tail: End
    probability: float  # as the labels so far recalibrate it
    probability_before: float  # as the run had it
    order: str  # one of ORDERS: why it is shown; `decide` wants it back
    row: dict[str, Any]  # the fact as a line of .jsonl has it, with its evidence
    about_head: tuple[KnownFact, ...]
    about_tail: tuple[KnownFact, ...]
    num_about_head: int  # so many known facts there are; at most KNOWN_SHOWN are listed
    num_about_tail: int


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


class Review:
    """A review of one run folder, for any number of reviewers and threads.

    Proposals and planted facts are named by their keys.
    """

    def __init__(self, folder: Path, benchmark: Benchmark) -> None:
        self.folder, self.benchmark = Path(folder), benchmark
        self.proposals: Proposals = read_proposals(self.folder, [benchmark.vocabulary])
        self.labels = Labels(self.folder / FOLDER / LABELS)
        self._lock = threading.RLock()
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
            key = self._planted_next(reviewer, wanted, excluding) or key
            self._shown.setdefault(reviewer, {})[key] = time.monotonic()
            return self.card(key, order)

    def card(self, key: str, order: str = "probable") -> Card:
        """All that is shown of a proposal; `order`: why it is shown."""
        facts, place = self.proposals.found(key)
        row = next(rows_of_facts(facts.take([place])))
        head, relation, tail = (row[column] for column in ("head", "relation", "tail"))
        about_head, num_head = self._about(head, (head, relation, tail))
        about_tail, num_tail = self._about(tail, (head, relation, tail))
        before = float(facts.probabilities[place])
        now = float(self.probabilities[place]) if facts is self.proposals.facts else before
        return Card(
            key,
            self._entity(head),
            self._relation(relation),
            self._entity(tail),
            now,
            before,
            order,
            row,
            about_head,
            about_tail,
            num_head,
            num_tail,
        )

    @property
    def probabilities(self) -> np.ndarray:  # (proposal,)
        """How probable each proposal is, by what the labels say so far."""
        return self.proposals.facts.probabilities

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
        now = time.time()
        given = [
            Given(key, verdict, reviewer, "batch", note, {"filter": vars(wanted)}, None, now)
            for key in self._batch(wanted)
        ]
        return len(self.labels.add_all(given))

    # What that is worth

    def reviewers(self) -> list[Reviewer]:
        """What each person did."""
        by_name: dict[str, list[Label]] = {}
        for label in self.labels.current():
            if label.verdict != SKIP:
                by_name.setdefault(label.reviewer, []).append(label)
        return [self._reviewer(name, labels) for name, labels in sorted(by_name.items())]

    # Inside

    def _open(
        self, reviewer: str, order: str, wanted: Filter, excluding: Collection[str]
    ) -> Iterator[str]:
        """Keys of proposals that are still to be decided about, in an order."""
        keys = self.proposals.keys
        closed = {row.proposal for row in self.labels.current() if order != "drawn" or row.drawn}
        closed |= self._leased_to_others(reviewer) | set(excluding)
        fits = self._fitting(wanted, self.proposals.facts)
        return (keys[i] for i in self._order(order) if fits[i] and keys[i] not in closed)

    def _order(self, order: str) -> Sequence[int]:
        if order == "probable":
            return range(len(self.proposals))
        if order == "teaches":
            return list(np.argsort(np.abs(self.probabilities - 0.5), kind="stable"))
        rng = np.random.default_rng(self.proposals.seed)
        return list(np.argsort(rng.random(len(self.proposals))))

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
        mine = facts is self.proposals.facts
        probabilities = self.probabilities if mine else facts.probabilities
        fits: Mask = (probabilities >= wanted.least) & (probabilities <= wanted.most)
        if wanted.relation is not None:
            names = self.proposals.facts.vocabulary.relations
            refuse_unknown(wanted.relation, names, "relation")
            relations = facts.vocabulary.relations
            wants = np.array([name == wanted.relation for name in relations], bool)
            fits = fits & wants[facts.facts[:, 1]]
        if wanted.evidence is not None:
            fits = fits & (self._with_evidence[mine] == wanted.evidence)
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

    def _entity(self, name: str) -> End:
        return End(name, self._entity_labels.get(name, name))

    def _relation(self, name: str) -> End:
        return End(name, self._relation_labels.get(name, name))

    @cached_property
    def _entity_labels(self) -> dict[str, str]:
        names = self.benchmark.vocabulary
        return dict(zip(names.entities, names.entity_labels or names.entities, strict=True))

    @cached_property
    def _relation_labels(self) -> dict[str, str]:
        names = self.benchmark.vocabulary
        return dict(zip(names.relations, names.relation_labels or names.relations, strict=True))

    @cached_property
    def _known(self) -> dict[str, list[Named]]:
        """The known facts about each entity."""
        names, known = self.benchmark.vocabulary, self.benchmark.truth()
        facts = known.take(known.relations < names.num_relations).facts(names.num_relations)
        about: dict[str, list[Named]] = {}
        for h, r, t in facts.tolist():
            fact = names.entities[h], names.relations[r], names.entities[t]
            for end in {fact[0], fact[2]}:
                about.setdefault(end, []).append(fact)
        return about

    def _about(self, entity: str, fact: Named) -> tuple[tuple[KnownFact, ...], int]:
        """Known facts about an entity, one of each relation first, and how many there are.

        The fact itself is not among them: that a planted fact is known is not told.
        """
        facts = [known for known in self._known.get(entity, []) if known != fact]
        seen: Counter[str] = Counter()
        turns = []
        for _, relation, _ in facts:
            turns.append(seen[relation])
            seen[relation] += 1
        first = sorted(range(len(facts)), key=lambda i: (turns[i], facts[i]))[:KNOWN_SHOWN]
        shown = (
            KnownFact(self._entity(head), self._relation(relation), self._entity(tail))
            for head, relation, tail in (facts[i] for i in first)
        )
        return tuple(shown), len(facts)


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


def facts_right(review: Review) -> NewFacts:
    """The proposals that everyone who decided about them called right."""
    said: dict[str, set[str]] = {}
    for row in review.labels.current():
        if row.verdict != SKIP:
            said.setdefault(row.proposal, set()).add(row.verdict)
    keys = review.proposals.keys
    return review.proposals.facts.take(np.array([said.get(key) == {RIGHT} for key in keys], bool))
