"""The layout in which FB14k-QAQ was published: four query files and two grouping files."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.arrays import frozen, offsets_of
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset
from assent.core.vocabulary import SIDES, Vocabulary
from assent.errors import DataError
from assent.files.annotations import find_file, read_labels
from assent.files.text import check_name, lines_of
from assent.files.triples import named_facts
from assent.files.tsv import read_columns, read_lines, write_tsv

NAMES = {"tail": "obj", "head": "subj"}  # what is asked for -> how files are called
GROUPING_HEADER = {"tail": ["e1", "rel", "n"], "head": ["e2", "rel", "n"]}
TEXT = (".txt", ".tsv")

Key = tuple[str, str, str]  # side, anchor, relation


@dataclass(slots=True)
class Row:
    """A query as its line has it; its subset follows from all rows together."""

    key: Key
    answers: list[str]
    subset: Subset = Subset.FAKE


def looks_published(folder: Path) -> bool:
    return find_file(folder, "valid_obj", TEXT) is not None


def read_published(folder: Path) -> Benchmark:
    """Reads the folder; the subsets follow from the grouping files by the rule of `mark`."""
    splits = {
        split: [row for side in NAMES for row in _read_queries(folder, split, side)]
        for split in SPLITS
    }
    all_rows = [row for rows in splits.values() for row in rows]
    mark(all_rows, _read_grouping(folder))
    train = read_columns(_need(folder, "train", TEXT), ("head", "relation", "tail"))
    vocabulary = _vocabulary(folder, train, all_rows)
    entity_ids = {name: place for place, name in enumerate(vocabulary.entities)}
    relation_ids = {name: place for place, name in enumerate(vocabulary.relations)}
    facts = np.stack(
        [
            train[column].cast(pl.Enum(names)).to_physical().to_numpy().astype(np.int32)
            for column, names in (
                ("head", vocabulary.entities),
                ("relation", vocabulary.relations),
                ("tail", vocabulary.entities),
            )
        ],
        axis=1,
    )
    valid, test = (_queries(rows, entity_ids, relation_ids, vocabulary) for rows in splits.values())
    facts = KnowledgeBase.of_ids(vocabulary, facts).facts
    return Benchmark(vocabulary, facts, valid, test, masks_other_split=False)


def mark(rows: list[Row], lost: dict[Key, bool]) -> None:
    """Sets the subset of each row. `lost`: whether a listed query lost an answer.

    The published rows contradict each other where a fake was drawn that is a real query. Read so,
    they give the paper's Table 1: a row with answers is what its key is listed as; an empty row is
    fake, unless its key is listed as incomplete, has no row with answers, and had no empty row yet.
    """
    answered = {row.key for row in rows if row.answers}
    emptied: set[Key] = set()
    for row in rows:
        if row.answers:
            row.subset = Subset.INCOMPLETE if lost.get(row.key) else Subset.COMPLETE
        elif lost.get(row.key) and row.key not in answered and row.key not in emptied:
            row.subset = Subset.INCOMPLETE
            emptied.add(row.key)


def write_published(benchmark: Benchmark, folder: Path) -> None:
    """Writes the paper's layout, where it can hold the benchmark."""
    vocabulary = benchmark.vocabulary
    if benchmark.masks_other_split:
        raise DataError(
            "the published layout cannot say that the other split's answers are masked; "
            "deal by query, or use the layout assent"
        )
    spaced = next((name for name in vocabulary.entities if " " in name), None)
    if spaced is not None:
        raise DataError(f"the published layout separates answers by spaces, {spaced!r} has one")
    write_tsv(named_facts(benchmark.train, vocabulary), folder / "train.txt")
    for stem, names, labels in (
        ("entity_names", vocabulary.entities, vocabulary.entity_labels),
        ("relation_names", vocabulary.relations, vocabulary.relation_labels),
    ):
        if labels:
            write_tsv(pl.DataFrame({"name": names, "label": labels}), folder / f"{stem}.tsv")
    grouping: dict[str, set[tuple[str, str, int]]] = {side: set() for side in NAMES}
    for split in SPLITS:
        lines: dict[str, list[str]] = {side: [] for side in NAMES}
        for side, anchor, relation, subset, answers in named_queries(
            benchmark.queries(split), vocabulary
        ):
            columns = [anchor, relation, " ".join(answers)]
            lines[side].append("\t".join(columns if side == "tail" else columns[::-1]) + "\n")
            if subset != Subset.FAKE:
                grouping[side].add((anchor, relation, int(subset == Subset.COMPLETE)))
        for side, name in NAMES.items():
            _write_text(folder / f"{split}_{name}.txt", "".join(lines[side]))
    for side, name in NAMES.items():
        path = folder / f"grouping_answers_{name}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(GROUPING_HEADER[side])
            writer.writerows(sorted(grouping[side]))


def named_queries(
    queries: Queries, vocabulary: Vocabulary
) -> Iterator[tuple[str, str, str, Subset, list[str]]]:
    """Queries by name: side, anchor, relation, subset, answers."""
    for query in range(len(queries)):
        slot = int(queries.relations[query])
        answers = queries.answers[queries.offsets[query] : queries.offsets[query + 1]]
        yield (
            vocabulary.side(slot),
            vocabulary.entities[queries.anchors[query]],
            vocabulary.relation_name(slot),
            Subset(int(queries.subsets[query])),
            [vocabulary.entities[answer] for answer in answers],
        )


def refuse_twice(answers: Sequence[str], where: str) -> None:
    """Refuses a query that has an answer twice."""
    for answer, count in Counter(answers).items():
        if count > 1:
            raise DataError(f"{where}: the answer {answer!r} stands twice; expected each once")


def _read_queries(folder: Path, split: str, side: str) -> list[Row]:
    path = _need(folder, f"{split}_{NAMES[side]}", TEXT)
    rows = []
    for number, line in enumerate(lines_of(path), start=1):
        columns = line.split("\t")
        if len(columns) != 3:
            raise DataError(
                f"{path}:{number}: expected 3 tab-separated columns, found {len(columns)}"
            )
        anchor, relation, answers = columns if side == "tail" else columns[::-1]
        names = [name for name in answers.split(" ") if name]
        kinds = ("anchor", "relation", *["answer"] * len(names))
        for kind, name in zip(kinds, (anchor, relation, *names), strict=True):
            check_name(name, kind, f"{path}:{number}")
        refuse_twice(names, f"{path}:{number}")
        rows.append(Row((side, anchor, relation), names))
    return rows


def _read_grouping(folder: Path) -> dict[Key, bool]:
    """Whether each listed query lost an answer."""
    lost = {}
    for side, name in NAMES.items():
        path = _need(folder, f"grouping_answers_{name}", (".csv",))
        for number, row in read_lines(path, ("anchor", "relation", "0 or 1"), ","):
            if number == 1 and row == GROUPING_HEADER[side]:
                continue
            if row[2] not in ("0", "1"):
                raise DataError(f"{path}:{number}: found {row}; expected anchor, relation, 0 or 1")
            lost[side, row[0], row[1]] = row[2] == "0"
    return lost


def _vocabulary(folder: Path, train: pl.DataFrame, rows: list[Row]) -> Vocabulary:
    names = {name for row in rows for name in (row.key[1], *row.answers)}
    names |= set(train["head"]) | set(train["tail"])
    entities = tuple(sorted(names))
    relations = tuple(sorted({row.key[2] for row in rows} | set(train["relation"])))
    return Vocabulary(
        entities,
        relations,
        read_labels(find_file(folder, "entity_names"), entities),
        read_labels(find_file(folder, "relation_names"), relations),
    )


def _queries(
    rows: list[Row], entities: dict[str, int], relations: dict[str, int], vocabulary: Vocabulary
) -> Queries:
    return Queries(
        frozen([entities[row.key[1]] for row in rows]),
        vocabulary.slots_at(
            frozen([relations[row.key[2]] for row in rows]),
            frozen([SIDES.index(row.key[0]) for row in rows]),
        ),
        frozen(offsets_of([len(row.answers) for row in rows]), np.int64),
        frozen([entities[answer] for row in rows for answer in row.answers]),
        frozen([row.subset for row in rows]),
    )


def _need(folder: Path, stem: str, suffixes: tuple[str, ...]) -> Path:
    path = find_file(folder, stem, suffixes)
    if path is None:
        raise DataError(f"{folder}: no file {stem}{suffixes[0]}, plain or .gz; expected one")
    return path


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
