"""LibKGE's folders: dataset.yaml, facts as numbers, and the names behind the numbers."""

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import yaml

from assent.core.facts import Split
from assent.errors import DataError
from assent.files.formats import COLUMNS
from assent.files.text import is_name, lines_of
from assent.files.tsv import line_of, read_columns

MARKER = "dataset.yaml"


def _read(folder: Path) -> Mapping[Split, pl.DataFrame]:
    """The facts of each split, numbers replaced by names."""
    settings = _settings(folder / MARKER)
    entities = _names(_file(folder, settings, "entity_ids"))
    relations = _names(_file(folder, settings, "relation_ids"))
    frames = {}
    for split in Split:
        key = split.name.lower()
        file = _file(folder, settings, key)
        if file.is_file():
            frames[split] = _named(file, (entities, relations, entities))
        elif split is Split.TRAIN or setting(settings, f"files.{key}.filename") is not None:
            raise DataError(f"{file}: no such file, though {MARKER} asks for it")
    return frames


class _Loader(yaml.SafeLoader):
    """Refuses `<<`: a few lines that merge mappings into one another can fill all memory."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Does nothing, so that the parser meets `<<` as a key and refuses it."""


def _settings(path: Path) -> Mapping[str, object]:
    """The `dataset` section."""
    text = "\n".join(lines_of(path))
    try:
        content = yaml.load(text, _Loader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise DataError(f"{path}{line}: {error.problem}; expected YAML") from error
    except RecursionError as error:
        raise DataError(f"{path}: nested too deeply; expected YAML") from error
    except (yaml.YAMLError, ValueError, TypeError, LookupError, AttributeError) as error:
        # All of these mean a value that is not what it looks like or is tagged as, say a date.
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: {reason}; expected YAML") from error
    if not isinstance(content, dict) or not isinstance(content.get("dataset"), dict):
        raise DataError(f"{path}: no section `dataset`; expected LibKGE's description of a dataset")
    return dict(content["dataset"])


def setting(section: object, key: str) -> object:
    """The value of a dotted key, if there is one. As in LibKGE, a dot may stand for nesting."""
    if not isinstance(section, dict):
        return None
    if key in section:
        return section[key]
    parts = key.split(".")
    for size in range(1, len(parts)):
        value = setting(section.get(".".join(parts[:size])), ".".join(parts[size:]))
        if value is not None:
            return value
    return None


def _file(folder: Path, settings: Mapping[str, object], key: str) -> Path:
    name = setting(settings, f"files.{key}.filename")
    if name is None:
        return folder / f"{key}.del"
    if not is_name(name):
        shown = f"{name[:20]}..." if isinstance(name, str) and len(name) > 40 else name
        raise DataError(f"{folder / MARKER}: {shown!r} for {key}; expected a file of this folder")
    return folder / str(name)


def names_of(folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The entities and the relations of a dataset folder, each at the place of its number."""
    settings = _settings(folder / MARKER)
    entities, relations = (
        _in_order(_file(folder, settings, key)) for key in ("entity_ids", "relation_ids")
    )
    return entities, relations


def train_facts(folder: Path) -> pl.DataFrame:
    """The facts that models of a dataset folder are trained on: head, relation, tail."""
    return _read(folder)[Split.TRAIN]


def _in_order(path: Path) -> tuple[str, ...]:
    frame = _names(path)
    ids = frame["id"].cast(pl.Int64, strict=False)
    if ids.null_count() or ids.sort().to_list() != list(range(len(ids))):
        raise DataError(f"{path}: ids that do not count from 0 without a gap")
    return tuple(frame["name"].gather(ids.arg_sort()).to_list())


def _names(path: Path) -> pl.DataFrame:
    """Number and name, one pair a line."""
    frame = read_columns(path, ("id", "name"))
    for row in (~frame["id"].is_first_distinct()).arg_true().head(1):
        raise DataError(
            f"{path}:{line_of(path, row)}: the id {frame['id'][row]} stands twice; "
            "expected each once"
        )
    return frame


def _named(path: Path, tables: tuple[pl.DataFrame, ...]) -> pl.DataFrame:
    """Facts as numbers, turned into names by a table for each column."""
    frame = read_columns(path, COLUMNS)
    named = {}
    for column, table in zip(COLUMNS, tables, strict=True):
        named[column] = frame[column].replace_strict(table["id"], table["name"], default=None)
        for row in named[column].is_null().arg_true().head(1):
            ids = "relation_ids" if column == "relation" else "entity_ids"
            raise DataError(
                f"{path}:{line_of(path, row)}: the {column} {frame[column][row]} has no name; "
                f"expected an id of {ids}.del"
            )
    return pl.DataFrame(named)


FOLDERS: dict[str, Callable[[Path], Mapping[Split, pl.DataFrame]]] = {MARKER: _read}
