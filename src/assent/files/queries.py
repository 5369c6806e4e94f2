"""The queries of assent's own layout, one a line: side, anchor, relation, subset, answers."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.arrays import Ids, frozen, offsets_of, rows_of
from assent.core.queries import Queries, Subset
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError
from assent.files.text import lines_of
from assent.files.writing import write_tsv

SUBSETS = tuple(subset.name.lower() for subset in Subset)


def write_queries(queries: Queries, vocabulary: Vocabulary, path: Path) -> None:
    """One query a line."""
    entities, relations = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    sides, relation_ids = np.divmod(queries.relations, vocabulary.num_relations)
    answers = pl.DataFrame(
        {"query": rows_of(queries.offsets), "answers": entities.gather(queries.answers)}
    )
    answers = answers.group_by("query", maintain_order=True).agg(pl.col("answers").str.join("\t"))
    frame = pl.DataFrame(
        {
            "query": np.arange(len(queries)),
            "side": pl.Series(SIDES).gather(sides),
            "anchor": entities.gather(queries.anchors),
            "relation": relations.gather(relation_ids),
            "subset": pl.Series(SUBSETS).gather(queries.subsets),
        }
    ).join(answers, on="query", how="left", maintain_order="left")
    lines = frame.select(
        pl.concat_str(
            ["side", "anchor", "relation", "subset", "answers"], separator="\t", ignore_nulls=True
        )
    )
    write_tsv(lines, path)


def read_queries(path: Path, vocabulary: Vocabulary) -> Queries:
    """Queries in the order of their lines; whatever is wrong is refused by its line."""
    fields = pl.Series(list(lines_of(path)), dtype=pl.String).str.split("\t")
    _refuse(
        fields.list.len() < 4,
        path,
        "expected side, anchor, relation, subset, then answers, separated by tabs",
    )
    sides, anchors, relations, subsets = (fields.list.get(place) for place in range(4))
    answers = fields.list.slice(4)
    counts = answers.list.len()
    rows = np.repeat(np.arange(len(fields)), counts)
    flat = answers.filter(counts > 0).explode()
    queries = Queries(
        frozen(ids_of(anchors, vocabulary.entities, path)),
        frozen(
            ids_of(relations, vocabulary.relations, path)
            + ids_of(sides, SIDES, path) * vocabulary.num_relations
        ),
        frozen(offsets_of(counts), np.int64),
        frozen(ids_of(flat, vocabulary.entities, path, lambda place: int(rows[place]) + 1)),
        frozen(ids_of(subsets, SUBSETS, path)),
    )
    for row in (answers.list.n_unique() < counts).arg_true().head(1):
        refuse_twice(answers[row].to_list(), f"{path}:{row + 1}")
    _refuse(
        (subsets == "complete") & (counts == 0),
        path,
        "a complete query without answers; expected one at least",
    )
    _refuse((subsets == "fake") & (counts > 0), path, "a fake query with answers; expected none")
    return queries


def ids_of(
    names: pl.Series,
    known: tuple[str, ...],
    path: Path,
    line: Callable[[int], int] = lambda place: place + 1,
) -> Ids:
    """The places of names among those that are known; an unknown one is refused by its line."""
    ids = names.cast(pl.Enum(known), strict=False).to_physical()
    for place in ids.is_null().arg_true().head(1):
        hint = f"choose from {', '.join(known)}" if len(known) < 5 else "not in the vocabulary"
        raise DataError(f"{path}:{line(place)}: found {names[place]!r}; {hint}")
    return ids.to_numpy().astype(np.int32)


def refuse_twice(answers: Sequence[str], where: str) -> None:
    """Refuses a query that has an answer twice."""
    for answer, count in Counter(answers).items():
        if count > 1:
            raise DataError(f"{where}: the answer {answer!r} stands twice; expected each once")


def _refuse(wrong: pl.Series, path: Path, reason: str) -> None:
    """Refuses the first line that is wrong."""
    for row in wrong.arg_true().head(1):
        raise DataError(f"{path}:{row + 1}: {reason}")
