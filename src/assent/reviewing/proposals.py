"""Proposals: the candidate facts that a review of one run is about, frozen before the first label.

They are the population of every promise. Their order, by falling probability, is fixed before
anyone looks at them: the sets that can be promised are the first so many of it.

Among them a reviewer meets planted facts, true and false ones that are known. They tell how well
the reviewer decides, and are no part of the population.
"""

import hashlib
import json
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from assent.core.arrays import Ids, frozen
from assent.core.legible import in_words
from assent.core.new_facts import NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.checksums import digest, sealed, unsealed
from assent.files.fact_lines import read_facts
from assent.files.facts import write_facts
from assent.files.guarding import MALFORMED
from assent.files.places import REVIEWING
from assent.files.text import read_json
from assent.reviewing.labels import Labels, head_of

PROPOSALS, PLANTED, DESIGN = "proposals.jsonl", "planted.jsonl", "design.json"
LABELS = "labels.sqlite"
KEY_DIGITS = 16


def key_of(head: str, relation: str, tail: str) -> str:
    """A short name for a fact, the same in every run; it does not tell whether it was planted."""
    return hashlib.sha256("\t".join((head, relation, tail)).encode()).hexdigest()[:KEY_DIGITS]


def keys_of(facts: NewFacts) -> tuple[str, ...]:
    entities, relations = facts.vocabulary.entities, facts.vocabulary.relations
    return tuple(key_of(entities[h], relations[r], entities[t]) for h, r, t in facts.facts.tolist())


@dataclass(frozen=True)
class Proposals:
    """Candidate facts by falling probability, and planted ones, which look alike."""

    facts: NewFacts  # (proposal,)  the most probable first
    planted: NewFacts  # (planted,)  accepted: those known to be true; the others are false
    seed: int  # of the random design
    least: float  # how probable each is, at least
    left_out: int  # so probable too, but beyond the most that are kept

    def __post_init__(self) -> None:
        if (np.diff(self.facts.probabilities) > 0).any():
            raise DataError("proposals: expected the most probable first")
        if len(set(self.keys) | set(self.planted_keys)) != len(self.facts) + len(self.planted):
            raise DataError("proposals: a fact stands twice; expected each once")

    def __len__(self) -> int:
        return len(self.facts)

    @cached_property
    def keys(self) -> tuple[str, ...]:  # (proposal,)
        return keys_of(self.facts)

    @cached_property
    def planted_keys(self) -> tuple[str, ...]:  # (planted,)
        return keys_of(self.planted)

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each proposal by its key."""
        return {key: place for place, key in enumerate(self.keys)}

    @cached_property
    def planted_places(self) -> dict[str, int]:
        """The place of each planted fact by its key."""
        return {key: place for place, key in enumerate(self.planted_keys)}

    @property
    def relations(self) -> Ids:  # (proposal,)
        return self.facts.facts[:, 1]

    @cached_property
    def digest(self) -> str:
        """A checksum of all that a promise depends on but the labels."""
        sha = hashlib.sha256(f"{self.seed}\n".encode())
        for key, probability in zip(self.keys, self.facts.probabilities.tolist(), strict=True):
            sha.update(f"{key} {probability!r}\n".encode())
        return sha.hexdigest()

    @cached_property
    def planted_digest(self) -> str:
        """A checksum of the planted facts, and of which are true."""
        true = self.planted.accepted.tolist()
        return hashlib.sha256(json.dumps([self.planted_keys, true]).encode()).hexdigest()

    def found(self, key: str) -> tuple[NewFacts, int]:
        """The facts among which a key stands, and its place there."""
        if (place := self.places.get(key)) is not None:
            return self.facts, place
        if (place := self.planted_places.get(key)) is not None:
            return self.planted, place
        raise DataError(f"{key!r}: no proposal of this review has this key")


def ordered(facts: NewFacts) -> NewFacts:
    """The most probable first; of facts that are equally probable, in the order of their names."""
    entities, relations = facts.vocabulary.entities, facts.vocabulary.relations
    names = [(entities[h], relations[r], entities[t]) for h, r, t in facts.facts.tolist()]
    falling = sorted(range(len(facts)), key=lambda i: (-facts.probabilities[i], names[i]))
    return facts.take(np.array(falling, np.int64))


def planted_among(
    proposals: NewFacts, known: Ids, count: int, rng: np.random.Generator
) -> NewFacts:
    """Known facts (fact, 3) and false ones made of them, at most `count` of either kind.

    A false fact has the tail of another known fact of its relation; it is neither known nor
    proposed. Relations and probabilities are those of proposals drawn at random, so that planted
    facts look like them. Their evidence is yet to be found.
    """
    taken = {tuple(fact) for fact in (*known.tolist(), *proposals.facts.tolist())}
    rows = rng.integers(len(proposals), size=2 * count if len(proposals) else 0).tolist()
    made: dict[
        tuple[int, ...], tuple[int, bool]
    ] = {}  # fact -> proposal it looks like, whether true
    for number, row in enumerate(rows):
        facts = known[known[:, 1] == proposals.facts[row, 1]]
        if not len(facts):
            continue
        true = number % 2 == 0
        fact = tuple(rng.choice(facts).tolist())
        if not true:
            fact = (*fact[:2], int(rng.choice(facts[:, 2])))
            if fact in taken or fact[0] == fact[2]:
                continue
        made.setdefault(fact, (row, true))
    like = proposals.take(np.array([row for row, _ in made.values()], np.int64))
    return replace(
        like,
        facts=frozen(np.array(list(made)).reshape(-1, 3)),
        accepted=frozen([true for _, true in made.values()], np.bool_),
    )


def write_proposals(run_folder: Path, proposals: Proposals) -> None:
    """Puts proposals into a run's folder, where there are none yet, and an empty file of labels."""
    refuse_second(run_folder)
    folder = Path(run_folder) / REVIEWING
    folder.mkdir(parents=True, exist_ok=True)
    for name, facts in ((PROPOSALS, proposals.facts), (PLANTED, proposals.planted)):
        with beside(folder / name, own=True) as part:
            write_facts(part, facts)
    Labels(folder / LABELS).close()
    design = {
        "seed": proposals.seed,
        "least_probability": proposals.least,
        "proposals": len(proposals),
        "left_out": proposals.left_out,
        "sha256": proposals.digest,
        "planted_sha256": proposals.planted_digest,
        "files": {name: digest(folder / name) for name in (PROPOSALS, PLANTED)},
    }
    with beside(folder / DESIGN, own=True) as part:  # the last one: with it, the folder is whole
        part.write_text(json.dumps(sealed(design), indent=2) + "\n", encoding="utf-8")


def refuse_second(run_folder: Path) -> None:
    """Raises an error where a review has begun: its proposals stay as they are."""
    if has_proposals(run_folder):
        folder = Path(run_folder) / REVIEWING
        raise DataError(f"{folder}: has proposals; labels are about these, so they stay")


def has_proposals(run_folder: Path) -> bool:
    """Whether a review of this run has begun."""
    folder = Path(run_folder) / REVIEWING
    if (folder / DESIGN).exists():
        return True
    with nullcontext() if (labels := labels_in(run_folder)) is None else labels:
        if labels is not None and labels.rows():
            raise DataError(f"{folder / DESIGN}: is gone, but there are labels; {_mend(folder)}")
    return False


def labels_in(run_folder: Path) -> Labels | None:
    """The labels of a run's review, opened; None where no review has begun."""
    folder = Path(run_folder) / REVIEWING
    if (path := folder / LABELS).exists():
        return Labels(path)
    if (folder / DESIGN).exists() or head_of(path).exists():
        raise DataError(f"{path}: the labels of this review are gone; {_mend(folder)}")
    return None


def read_proposals(run_folder: Path, labels: Iterable[Vocabulary] = ()) -> Proposals:
    """The proposals of a run; names that one of these vocabularies has a label for get it."""
    folder, labels = Path(run_folder) / REVIEWING, list(labels)
    try:
        design = read_json(folder / DESIGN)
        facts, planted = (read_facts(folder / name, labels) for name in (PROPOSALS, PLANTED))
    except DataError as error:
        raise DataError(f"{error}; {_mend(folder)}") from error
    try:
        seed, least = int(design["seed"]), float(design["least_probability"])
        left_out, sha256 = int(design["left_out"]), str(design["sha256"])
        proposals = Proposals(facts, planted, seed, least, left_out)
        planted_sha256 = design.get("planted_sha256", proposals.planted_digest)
        files = {str(name): str(sha) for name, sha in design.get("files", {}).items()}
    except (*MALFORMED, DataError) as error:
        raise DataError(
            f"{folder / DESIGN}: {in_words(error)}; expected what `assent review` wrote; "
            f"{_mend(folder)}"
        ) from error
    try:
        unsealed(design, folder / DESIGN)
    except DataError as error:
        raise DataError(f"{folder / DESIGN}: its checksum is wrong; {_mend(folder)}") from error
    for name, found, expected in (
        (PROPOSALS, proposals.digest, sha256),
        (PLANTED, proposals.planted_digest, planted_sha256),
    ):
        if found != expected:
            wrong = "not the facts that the review began with"
            raise DataError(f"{folder / name}: {wrong}; {_mend(folder)}")
    for name in (PROPOSALS, PLANTED):  # with the evidence, which their digests are not about
        if digest(folder / name) != files.get(name, digest(folder / name)):
            raise DataError(f"{folder / name}: its checksum is wrong; {_mend(folder)}")
    return proposals


def _mend(folder: Path) -> str:
    """What to do if a file of a review is gone or damaged."""
    return f"put the file back, or remove {folder} to begin a new review"
