"""What is told about the names in a graph: labels, types, schema, lists of entities."""

import warnings
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


def find_labels(folder: Path, what: str, languages: Iterable[str]) -> Path | None:
    """The file with readable names of `entity` or `relation` in a folder, if any.

    `relation_names`, or `relation_labels`, or with the first language there is behind it, as CoDEx
    has it: `relation_labels_en.json`.
    """
    stems = [f"{what}_names", f"{what}_labels", *(f"{what}_labels_{one}" for one in languages)]
    return next((path for stem in stems if (path := find_file(folder, stem))), None)


def read_labels(path: str | Path | None, names: tuple[str, ...]) -> tuple[str, ...]:
    """A readable label for each name, the name itself where the file has none."""
    if path is None:
        return ()
    path = Path(path)
    labels = _json_labels(path) if _is_json(path) else _tsv_labels(path)
    if labels and names and labels.keys().isdisjoint(names):
        warnings.warn(
            f"{path}: none of its {len(labels):,} names is in the graph; nothing has a label by it",
            stacklevel=2,
        )
    return tuple(labels.get(name) or name for name in names)


def read_texts(path: str | Path, names: tuple[str, ...]) -> tuple[str, ...]:
    """What a file tells of each name, its label and its description; empty where it has none."""
    path = Path(path)
    texts = _json_texts(path) if _is_json(path) else _tsv_labels(path)
    found = tuple(texts.get(name, "") for name in names)
    if not any(found):
        raise DataError(f"{path}: none of its {len(texts):,} names is in the graph")
    return found


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
    return {name: parts[0] for name, parts in _json_parts(path).items()}


def _json_texts(path: Path) -> dict[str, str]:
    """Labels and the descriptions that stand beside them."""
    return {name: ", ".join(filter(None, parts)) for name, parts in _json_parts(path).items()}


def _json_parts(path: Path) -> dict[str, tuple[str, str]]:
    """Label and description of each name, in one line each; no description is empty."""
    found = {}
    for name, value in _read_object(path).items():
        parts = value if isinstance(value, dict) else {"label": value}
        label, description = parts.get("label"), parts.get("description") or ""
        for what, text in (("label", label), ("description", description)):
            if not isinstance(text, str) or not is_text(text):
                raise DataError(f"{path}: the {what} of {name!r} is {value!r}; expected text")
        found[name] = (" ".join(str(label).split()), " ".join(description.split()))
    return found


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
