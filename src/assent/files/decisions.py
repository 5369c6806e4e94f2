"""Accepted candidates as lines of text, so that anyone can recount them without this code."""

import re
from pathlib import Path

import numpy as np

from assent.core.arrays import Mask
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.files.atomic import beside

LOOKED_AT = 10_000  # bytes of a file that may hold decisions
LINE = re.compile(rb"(head|tail)\t[^\t\n]+\t[^\t\n]+\t[^\t\n]+\t[^\t\n]+\t[01]\n")


def is_decisions(path: Path) -> bool:
    """Whether a file begins as one that `write_decisions` wrote."""
    with path.open("rb") as file:
        return LINE.match(file.read(LOOKED_AT)) is not None


def write_decisions(
    path: Path, shortlist: Shortlist, accepted: Mask, vocabulary: Vocabulary
) -> None:
    """A line each: `head|tail, anchor, relation, entity, score, 1|0`.

    The first column says what is asked for, the last one whether the entity is an answer.
    """
    names = vocabulary.entities
    queries = shortlist.queries
    places = np.flatnonzero(accepted)
    with beside(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        for row, entity, score, right in zip(
            shortlist.rows[places].tolist(),
            shortlist.entities[places].tolist(),
            shortlist.scores[places].tolist(),
            shortlist.right[places].tolist(),
            strict=True,
        ):
            slot = int(queries.relations[row])
            relation = vocabulary.relation_name(slot)
            file.write(
                f"{vocabulary.side(slot)}\t{names[queries.anchors[row]]}\t"
                f"{relation}\t{names[entity]}\t{score:.9g}\t{int(right)}\n"
            )
