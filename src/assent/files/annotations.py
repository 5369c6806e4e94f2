"""What is told about the names in a graph: labels, types, schema, lists of entities."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.text import check_name, is_text, lines_of, read_json
from assent.files.tsv import line_of, read_columns

SUFFIXES = (".tsv", ".txt", ".json")


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


def read_entity_types(path: Path, vocabulary: Vocabulary) -> pl.DataFrame:
    """Rows (entity, type); at least one entity is one of the graph."""
    rows = _entity_types(path)
    if not rows["entity"].is_in(vocabulary.entities).any():
        raise DataError(f"{path}: none of its {len(rows):,} entities is in the graph")
    return rows


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


def _is_json(path: Path) -> bool:
    return ".json" in path.suffixes


def _read_object(path: Path) -> dict[str, Any]:
    content = read_json(path)
    if not isinstance(content, dict):
        raise DataError(f"{path}: found {type(content).__name__}; expected a JSON object")
    return content
