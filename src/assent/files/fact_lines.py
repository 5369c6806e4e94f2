"""New facts read back from the lines of a .jsonl file, which is hostile until parsed."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from assent.core.arrays import frozen
from assent.core.legible import in_words
from assent.core.new_facts import (
    AGAINST,
    ASKED,
    DECISIONS,
    ENTAILED,
    FOR,
    REVIEW,
    RULES,
    STATED,
    Evidence,
    NewFacts,
    Reason,
)
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.fact_rows import Row
from assent.files.guarding import MALFORMED
from assent.files.text import is_text, lines_of

# What reading a line raises that says something else than a completion would.


def read_facts(path: str | Path, labels: Iterable[Vocabulary] = ()) -> NewFacts:
    """The facts of a .jsonl file that `write_facts` wrote.

    Ids follow the order in which names first occur in the file. An entity or relation that one of
    the vocabularies in `labels` has a label for gets that label.
    """
    path, rows = Path(path), list[_Read]()
    names = _Names()
    for number, line in enumerate(lines_of(path), 1):
        try:
            rows.append(_read(json.loads(line), names))
        except MALFORMED as error:
            wrong = f"no {error}" if isinstance(error, KeyError) else in_words(error)
            raise DataError(
                f"{path}:{number}: {wrong}; expected a line of `assent complete`, as .jsonl"
            ) from error
    vocabulary = names.vocabulary(labels)
    if not rows:
        return NewFacts.nothing(vocabulary)
    facts, accepted, probabilities, scores, thresholds, expected, sides, evidence = zip(
        *rows, strict=True
    )
    return NewFacts(
        vocabulary,
        frozen(facts),
        frozen(accepted, np.bool_),
        frozen(probabilities, np.float64),
        frozen(scores, np.float32),
        frozen(thresholds, np.float64),
        frozen(expected, np.float64),
        frozen(sides),
        Evidence.of(
            [
                [_told(reason, fact, vocabulary) for reason in mine]
                for fact, mine in zip(facts, evidence, strict=True)
            ]
        ),
    )


class _Names:
    """Ids for names, in the order in which they come."""

    def __init__(self) -> None:
        self.entities: dict[str, int] = {}
        self.relations: dict[str, int] = {}
        self.entity_labels: dict[str, str] = {}
        self.relation_labels: dict[str, str] = {}

    def label(self, line: Row) -> None:
        """Takes the names that a line has beside the ids; lines of older versions have none."""
        for end, labels in (
            ("head", self.entity_labels),
            ("relation", self.relation_labels),
            ("tail", self.entity_labels),
        ):
            if is_text(label := line.get(f"{end}_name", "")) and label:
                labels[line[end]] = label

    def ids(self, given: Any) -> tuple[int, int, int]:
        """The ids of a head, a relation and a tail."""
        head, relation, tail = given
        if not all(is_text(name) for name in given):
            raise ValueError(f"names {given!r}")
        return (
            self.entities.setdefault(head, len(self.entities)),
            self.relations.setdefault(relation, len(self.relations)),
            self.entities.setdefault(tail, len(self.entities)),
        )

    def vocabulary(self, labels: Iterable[Vocabulary]) -> Vocabulary:
        entities, relations = dict(self.entity_labels), dict(self.relation_labels)
        for given in labels:
            entities |= dict(zip(given.entities, given.entity_labels, strict=False))
            relations |= dict(zip(given.relations, given.relation_labels, strict=False))
        return Vocabulary(
            tuple(self.entities),
            tuple(self.relations),
            tuple(entities.get(name, name) for name in self.entities),
            tuple(relations.get(name, name) for name in self.relations),
        )


class _OldChain(tuple[tuple[tuple[int, int, int], ...], int, int]):
    """Evidence of older versions: one or two known facts from head to tail, support, cases."""


# fact, accepted, probability, score, threshold, expected precision, sides, evidence
_Read = tuple[tuple[int, int, int], bool, float, float, float, float, int, list[Reason | _OldChain]]


def _read(line: Row, names: _Names) -> _Read:
    """A line of .jsonl; a ValueError says what no completion would write."""
    if line["decision"] not in DECISIONS:
        raise ValueError(f"decision {line['decision']!r}")
    if line["asked"] not in ASKED.values():
        raise ValueError(f"asked {line['asked']!r}")
    accepted = line["decision"] != REVIEW
    stated = any(given.get("kind") == STATED for given in line["evidence"])
    if line["decision"] == ENTAILED and not stated:  # older files have such facts as accepted
        raise ValueError(f"decision {ENTAILED!r} without evidence of the kind {STATED!r}")
    fact = names.ids([line["head"], line["relation"], line["tail"]])
    names.label(line)
    # A null threshold was -inf if the fact was accepted, and inf if it was not.
    no_threshold = -math.inf if accepted else math.inf
    return (
        fact,
        accepted,
        _share(line["probability"]),
        _number(line["score"]),
        no_threshold if line["threshold"] is None else _number(line["threshold"]),
        math.nan if line["expected_precision"] is None else _share(line["expected_precision"]),
        next(side for side, word in ASKED.items() if word == line["asked"]),
        [
            *(_reason(given, fact, names, FOR) for given in line["evidence"]),
            *(_reason(given, fact, names, AGAINST) for given in line.get("against", [])),
        ],
    )


def _reason(
    given: Row, fact: tuple[int, int, int], names: _Names, kinds: tuple[str, ...]
) -> Reason | _OldChain:
    support, cases = int(given["support"]), int(given["cases"])
    if "facts" in given:
        facts = tuple(names.ids(known) for known in given["facts"])
        _refuse_broken(facts, fact)
        return _OldChain((facts, support, cases))
    if given["kind"] not in kinds:
        raise ValueError(f"kind {given['kind']!r}")
    if not is_text(given["sentence"]):
        raise ValueError(f"sentence {given['sentence']!r}")
    confidence = math.nan if given["confidence"] is None else _share(given["confidence"])
    return Reason(given["kind"], confidence, support, cases, given["sentence"])


def _refuse_broken(chain: tuple[tuple[int, int, int], ...], fact: tuple[int, int, int]) -> None:
    """Raises an error for a chain that does not lead from the head of the fact to its tail."""
    stop = fact[0]
    for head, _, tail in chain:
        if stop not in (head, tail):
            raise ValueError("evidence that does not lead from head to tail")
        stop = tail if head == stop else head
    if stop != fact[2] or len(chain) not in (1, 2):
        raise ValueError("evidence that does not lead from head to tail")


def _told(reason: Reason | _OldChain, fact: tuple[int, int, int], names: Vocabulary) -> Reason:
    """A chain of older versions as a reason, in words."""
    if isinstance(reason, Reason):
        return reason
    facts, support, cases = reason
    *told, like = (
        f"{names.entity(h)} {names.relation(r)} {names.entity(t)}" for h, r, t in (*facts, fact)
    )
    said = (
        f"{', and '.join(told)}: in {support:,} of {cases:,} such cases, "
        f"a fact like “{like}” is known, too"
    )
    return Reason(RULES[-1], support / max(cases, 1), support, cases, said)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no share of 1")
    return float(value)
