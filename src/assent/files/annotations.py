"""What is told about the names in a graph: labels, types, schema, lists of entities."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assent.core.types import Pairs, Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.text import check_name, is_text, lines_of, read_json
from assent.files.tsv import line_of, read_columns

SUFFIXES = (".tsv", ".txt", ".json")
ENDS = ("domain", "range")  # the types of a relation's heads, and of its tails


def find_file(folder: Path, stem: str, suffixes: Iterable[str] = SUFFIXES) -> Path | None:
    """The file of this name in a folder, with one of the suffixes, plain or .gz, if any."""
    candidates = [folder / f"{stem}{suffix}{gz}" for suffix in suffixes for gz in ("", ".gz")]
    found = [path for path in candidates if path.is_file()]
    if len(found) > 1:
        raise DataError(f"{found[0]}: {found[1].name} lies beside it; keep one of the two")
    return found[0] if found else None


def read_labels(path: str | Path | None, names: tuple[str, ...]) -> tuple[str, ...]:
    """A readable label for each name, the name itself where the file has none."""
    if path is None:
        return ()
    path = Path(path)
    labels = _json_labels(path) if _is_json(path) else _tsv_labels(path)
    return tuple(labels.get(name) or name for name in names)


def read_types(
    types: str | Path | None, schema: str | Path | None, vocabulary: Vocabulary
) -> Types | None:
    """Entity types, with the domain and range of relations where a schema gives them."""
    if types is None:
        if schema is not None:
            raise DataError(f"{schema}: a schema without types; give the entities' types as well")
        return None
    of_entities = _entity_types(Path(types))
    entities = _known(of_entities["entity"], vocabulary.entities)
    if entities.is_null().all():
        raise DataError(f"{types}: none of its {len(of_entities):,} entities is in the graph")
    of_slots = _slot_types(Path(schema), vocabulary) if schema else None
    used = of_entities["type"].filter(entities.is_not_null())
    names = used if of_slots is None else pl.concat([used, of_slots["type"]])
    names = names.unique().sort()
    entity_pairs = _pairs(entities, of_entities["type"], names)
    slot_pairs: Pairs = np.empty((0, 2), dtype=np.int64)
    if of_slots is not None:
        slot_pairs = _pairs(of_slots["slot"], of_slots["type"], names)
    return Types.of_pairs(
        names.to_list(),
        entity_pairs,
        slot_pairs,
        vocabulary.num_entities,
        vocabulary.num_slots,
    )


def read_list(path: str | Path) -> list[str]:
    """One name a line."""
    names = [line for line in lines_of(Path(path)) if line]
    if not names:
        raise DataError(f"{path}: nothing in it; expected one name a line")
    return names


def _tsv_labels(path: Path) -> dict[str, str]:
    frame = read_columns(path, ("name", "label"))
    labels: dict[str, str] = {}
    for row, (name, label) in enumerate(zip(*(column.to_list() for column in frame), strict=True)):
        if labels.setdefault(name, label) != label:
            raise DataError(f"{path}:{line_of(path, row)}: {name!r} has two labels; expected one")
    return labels


def _json_labels(path: Path) -> dict[str, str]:
    """Labels, plain or as CoDEx keeps them: {"label": ..., "description": ...}."""
    labels = {}
    for name, value in _read_object(path).items():
        label = value.get("label") if isinstance(value, dict) else value
        if not isinstance(label, str) or not is_text(label):
            raise DataError(f"{path}: the label of {name!r} is {value!r}; expected text")
        labels[name] = " ".join(label.split())  # one line, whatever JSON could hold
    return labels


def _entity_types(path: Path) -> pl.DataFrame:
    if not _is_json(path):
        return read_columns(path, ("entity", "type"))
    rows = []
    for entity, types in _read_object(path).items():
        if not isinstance(types, list) or not all(is_text(name) for name in (entity, *types)):
            raise DataError(
                f"{path}: the types of {entity!r} are {types!r}; expected a list of names"
            )
        for name in types:
            check_name(name, "type", str(path))
            rows.append((entity, name))
    return pl.DataFrame(rows, schema={"entity": pl.String, "type": pl.String}, orient="row")


def _slot_types(path: Path, vocabulary: Vocabulary) -> pl.DataFrame:
    """Slots and their types: the anchors of a query for the tail are of the domain."""
    frame = read_columns(path, ("relation", "domain or range", "type"))
    for row in (~frame["domain or range"].is_in(ENDS)).arg_true().head(1):
        relation, end, _ = frame.row(row)
        raise DataError(
            f"{path}:{line_of(path, row)}: {relation!r} has the end {end!r}; "
            "expected domain or range"
        )
    frame = frame.with_columns(
        relation=_known(frame["relation"], vocabulary.relations),
        end=_known(frame["domain or range"], ENDS),
    ).drop_nulls()
    relations, ends = (frame[name].to_numpy().astype(np.int32) for name in ("relation", "end"))
    return pl.DataFrame({"slot": vocabulary.slots_at(relations, ends), "type": frame["type"]})


def _pairs(rows: pl.Series, types: pl.Series, names: pl.Series) -> Pairs:
    frame = pl.DataFrame({"row": rows.cast(pl.Int64), "type": types}).drop_nulls()
    ids = frame["type"].cast(pl.Enum(names)).to_physical().to_numpy()
    return np.stack([frame["row"].to_numpy(), ids.astype(np.int64)], axis=1)


def _known(names: pl.Series, known: tuple[str, ...]) -> pl.Series:
    """The ids of names, null where unknown."""
    return names.cast(pl.Enum(known), strict=False).to_physical()


def _is_json(path: Path) -> bool:
    return ".json" in path.suffixes


def _read_object(path: Path) -> dict[str, Any]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise DataError(f"{path}: found {type(content).__name__}; expected a JSON object")
    return content
