"""Accepted candidates as lines that anyone can count again without this code."""

from pathlib import Path

import numpy as np

from assent.core.arrays import Mask
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.files.saving import beside


def write_decisions(
    path: Path, shortlist: Shortlist, accepted: Mask, vocabulary: Vocabulary
) -> None:
    """`head|tail, anchor, relation, entity, score, 1|0`: side asked for, and right or not."""
    names, count = vocabulary.entities, vocabulary.num_relations
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
            side, relation = divmod(int(queries.relations[row]), count)
            file.write(
                f"{('tail', 'head')[side]}\t{names[queries.anchors[row]]}\t"
                f"{vocabulary.relations[relation]}\t{names[entity]}\t{score:.9g}\t{int(right)}\n"
            )
