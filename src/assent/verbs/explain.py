"""explain: the rules that speak for a fact, and what speaks against it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from assent.completing.completing import Wanted
from assent.completing.evidence import Vectors
from assent.completing.ground import Ground
from assent.completing.objecting import Objections
from assent.core.new_facts import AGAINST, RULES, SIMILAR, STATED, Reason
from assent.core.vocabulary import Vocabulary
from assent.files.fact_rows import reason_row
from assent.files.runs import WEIGHTS
from assent.scoring import Scored, entity_vectors
from assent.verbs.refit import REFIT
from assent.verbs.removed import how_to_learn, was_removed
from assent.verbs.runs import Run


@dataclass(frozen=True, slots=True)
class Explanation:
    """All that the known facts say about a fact."""

    head: str
    relation: str
    tail: str
    sentence: str  # the fact in words
    known: bool  # whether the graph has it
    reasons: tuple[Reason, ...]  # rules that speak for it, the surest first
    against: tuple[Reason, ...]
    nearest: tuple[Reason, ...] = ()  # known facts like it, where no rule speaks
    refused: tuple[str, ...] = ()  # why it is never accepted as a new fact, if it is not
    notes: tuple[str, ...] = ()  # what else must be known

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "head": self.head,
            "relation": self.relation,
            "tail": self.tail,
            "sentence": self.sentence,
            "known": self.known,
            "for": [reason_row(reason) for reason in (*self.reasons, *self.nearest)],
            "against": [reason_row(reason) for reason in self.against],
            "refused": list(self.refused),
            "notes": list(self.notes),
        }


def explain(run: Scored, head: str, relation: str, tail: str, most: int = 5) -> Explanation:
    """Why a fact, known or not, may be true: in sentences, the surest rule first.

    Names or labels. The rules are counted over all known facts, those of valid and test and of
    entities that building removed too; the fact itself, if it is known, has no part in them. What
    the stated schema says against the fact is told, too.
    """
    benchmark = run.benchmark.whole()
    names = benchmark.vocabulary
    ground = Ground(benchmark, Wanted(), partial(_vectors, run, names.num_entities))
    place = names.relation_named(relation)
    heads, tails = map(ground.fitting.anchors, names.slots_of(place))
    fact = (names.entity_named(head, heads), place, names.entity_named(tail, tails))
    one = np.array([fact], np.int32)
    found = ground.evidence_of(one, most).at(0)
    refused = () if ground.entailed.among(one)[0] else Objections(ground).of(*fact)
    return Explanation(
        *_labels(fact, names),
        ground.explainer.words.told(*fact),
        bool((ground.facts == fact).all(axis=1).any()),
        tuple(reason for reason in found if reason.kind in (STATED, *RULES)),
        tuple(reason for reason in found if reason.kind in AGAINST),
        tuple(reason for reason in found if reason.kind == SIMILAR),
        tuple(one.sentence for one in refused),
        tuple(_notes(run, fact, ground)),
    )


def _vectors(run: Scored, num_entities: int) -> Vectors | None:
    """The entities as the model sees them; it has not seen those that building removed."""
    seen = entity_vectors(run.model)
    if seen is None:
        return None
    unseen = np.zeros((num_entities - len(seen), seen.shape[1]), seen.dtype)
    return np.concatenate([seen, unseen])


def _notes(run: Scored, fact: tuple[int, int, int], ground: Ground) -> Iterator[str]:
    """That the model has not learned of an entity, if no final fit has."""
    if isinstance(run, Run) and run.folder and (run.folder / REFIT / WEIGHTS).exists():
        return
    known, words = run.benchmark.vocabulary.num_entities, ground.explainer.words
    if removed := [words.entity(end) for end in fact[::2] if end >= known]:
        yield was_removed(" and ".join(dict.fromkeys(removed)))
        if how := how_to_learn(run):
            yield how


def _labels(fact: tuple[int, int, int], names: Vocabulary) -> tuple[str, str, str]:
    head, relation, tail = fact
    return names.entity(head), names.relation(relation), names.entity(tail)
