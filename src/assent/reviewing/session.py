"""A review of one run: which proposal comes next, what is said about it, and what that is worth."""

import threading
import time
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assent.core.arrays import frozen
from assent.core.benchmark import Benchmark
from assent.core.new_facts import NewFacts
from assent.errors import ConfigError
from assent.reviewing.cards import Card, Cards, Named, Told
from assent.reviewing.choosing import Choosing, Filter
from assent.reviewing.labels import SKIP, Given, Label
from assent.reviewing.proposals import Proposals, labels_in, read_proposals
from assent.reviewing.verdicts import Values
from assent.reviewing.worth import (
    CONFIDENCE,
    PRECISION,
    Progress,
    Reviewer,
    Worth,
    refuse_promise,
)

EXAMPLES = 10  # of a batch, before it is decided


class Preview(NamedTuple):
    """What a batch would be about."""

    size: int
    examples: tuple[Card, ...]


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
        self.precision, self.confidence = precision, confidence
        self.proposals: Proposals = read_proposals(self.folder, [benchmark.vocabulary])
        labels = labels_in(self.folder)
        assert labels is not None  # there are proposals, so a review has begun
        self.labels = labels
        self.worth = Worth(self.proposals, self.labels)
        self._choosing = Choosing(self.worth, precision, confidence)
        self._cards = Cards(benchmark)
        self._lock = threading.RLock()

    def close(self) -> None:
        self.labels.close()

    def relation_labels(self) -> dict[str, str]:
        """Relations as people read them, by their names in the graph."""
        names = self.benchmark.vocabulary
        return dict(zip(names.relations, names.relation_labels or names.relations, strict=True))

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
        with self._lock:
            key = self._choosing.next(reviewer, order, wanted or Filter(), excluding)
            return None if key is None else self.card(key, order)

    def card(self, key: str, order: str = "probable") -> Card:
        """All that is shown of a proposal; `order`: why it is shown."""
        facts, place = self.proposals.found(key)
        with self._lock:
            probability = float(self.worth.probable(facts)[place])
            labels = len(self.worth.verdicts().looked_at)
        return self._cards.of(facts, place, key, order, probability, labels)

    def told(self, key: str) -> Told:
        """A proposal as people read it."""
        facts, place = self.proposals.found(key)
        names, (head, relation, tail) = facts.vocabulary, facts.facts[place].tolist()
        return self._cards.told(
            names.entities[head], names.relations[relation], names.entities[tail]
        )

    @property
    def probabilities(self) -> Values:  # (proposal,)
        """How probable each proposal is, by what the labels say so far."""
        with self._lock:
            return self.worth.probable(self.proposals.facts)

    # What is said about it

    def decide(self, key: str, verdict: str, reviewer: str, note: str = "", *, order: str) -> Label:
        """Keeps a verdict; when this returns, it is on the disk.

        `order` is that of the card. Where it is not the one in which the proposal was last shown to
        this reviewer, that one is kept: only what was drawn counts towards a promise.
        """
        with self._lock:
            order = self._choosing.order_of(reviewer, key, order)
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
        with self._lock:
            keys = self._choosing.batch(wanted)
        return Preview(len(keys), tuple(self.card(key) for key in keys[:EXAMPLES]))

    def decide_batch(self, wanted: Filter, verdict: str, reviewer: str) -> int:
        """One verdict for all proposals of a filter that nobody has decided about.

        No one looked at each, so these labels never count towards a promise.
        """
        if verdict == SKIP:
            raise ConfigError("a batch decides; to skip facts, leave them")
        now = time.time()
        with self._lock:
            keys = self._choosing.batch(wanted)
        given = [
            Given(key, verdict, reviewer, "batch", "", {"filter": vars(wanted)}, None, now)
            for key in keys
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
            facts = self.proposals.facts.take(self.worth.accepted(precision, confidence, relation))
        return replace(
            facts,
            accepted=frozen(np.ones(len(facts)), np.bool_),
            thresholds=frozen(np.full(len(facts), -np.inf), np.float64),
            expected=frozen(np.full(len(facts), precision), np.float64),
        )

    def facts_right(self) -> NewFacts:
        """The proposals that everyone who decided about them called right, batches included."""
        with self._lock:
            verdicts = self.worth.verdicts()
        places = sorted(verdicts.right | verdicts.batched)
        return self.proposals.facts.take(np.array(places, np.int64))

    def refused_keys(self) -> set[str]:
        """The keys of proposals that anyone called wrong, or did not know."""
        with self._lock:
            return {self.proposals.keys[place] for place in self.worth.verdicts().refused}

    def looked_at(self) -> list[tuple[Named, bool]]:
        """The proposals that people looked at one by one and knew, and whether they are right."""
        names, facts = self.proposals.facts.vocabulary, self.proposals.facts.facts
        with self._lock:
            verdicts = self.worth.verdicts()
        found = []
        for place, right in verdicts.looked_at.items():
            head, relation, tail = facts[place].tolist()
            named = names.entities[head], names.relations[relation], names.entities[tail]
            found.append((named, right))
        return found

    def progress(self, precision: float = PRECISION, confidence: float = CONFIDENCE) -> Progress:
        """How far the review is, and what is promised so far."""
        with self._lock:
            return self.worth.progress(precision, confidence)

    def reviewers(self) -> list[Reviewer]:
        """What each person did."""
        return self.worth.reviewers()
