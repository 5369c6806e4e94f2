"""LibKGE's folders: dataset.yaml, facts as numbers, and the names behind the numbers."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from assent.core.facts import Split
from assent.errors import DataError
from assent.files.columns import read_columns

MARKER = "dataset.yaml"


def read_libkge(folder: Path, columns: tuple[str, ...]) -> Mapping[Split, pl.DataFrame]:
    """The facts of each split, numbers replaced by names."""
    settings = _settings(folder / MARKER)
    entities = _names(_file(folder, settings, "entity_ids"))
    relations = _names(_file(folder, settings, "relation_ids"))
    frames = {}
    for split in Split:
        key = split.name.lower()
        file = _file(folder, settings, key)
        if file.is_file():
            frames[split] = _named(file, columns, (entities, relations, entities))
        elif split is Split.TRAIN or f"files.{key}.filename" in settings:
            raise DataError(f"{file}: no such file, though {MARKER} asks for it")
    return frames


def _settings(path: Path) -> Mapping[str, Any]:
    """The `dataset` section with its nested keys joined by dots, as LibKGE itself reads it."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise DataError(f"{path}: not YAML that can be read: {error}".replace("\n", " ")) from error
    if not isinstance(content, dict) or not isinstance(content.get("dataset"), dict):
        raise DataError(f"{path}: no section `dataset`; expected LibKGE's description of a dataset")
    return dict(_flat(content["dataset"], ""))


def _flat(section: Mapping[str, Any], prefix: str) -> list[tuple[str, Any]]:
    pairs: list[tuple[str, Any]] = []
    for key, value in section.items():
        if isinstance(value, dict):
            pairs += _flat(value, f"{prefix}{key}.")
        else:
            pairs.append((f"{prefix}{key}", value))
    return pairs


def _file(folder: Path, settings: Mapping[str, Any], key: str) -> Path:
    name = settings.get(f"files.{key}.filename", f"{key}.del")
    if not isinstance(name, str) or Path(name).name != name:
        raise DataError(f"{folder / MARKER}: {name!r} for {key}; expected a file of this folder")
    return folder / name


def _names(path: Path) -> pl.DataFrame:
    """Number and name, one pair a line."""
    frame = read_columns(path, ("id", "name"))
    if frame["id"].is_duplicated().any():
        raise DataError(f"{path}: an id stands twice; expected each once")
    return frame


def _named(path: Path, columns: tuple[str, ...], tables: tuple[pl.DataFrame, ...]) -> pl.DataFrame:
    frame = read_columns(path, columns)
    named = {}
    for column, table in zip(columns, tables, strict=True):
        named[column] = frame[column].replace_strict(table["id"], table["name"], default=None)
        if named[column].null_count():
            line = int(named[column].is_null().arg_max() or 0) + 1
            raise DataError(f"{path}:{line}: {column} {frame[column][line - 1]} has no name")
    return pl.DataFrame(named)
