"""A schema as a file of statements, and the types of entities that follow from it."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.schema import ENDS, PROPERTIES, Schema, Statement
from assent.core.types import Pairs, Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.text import check_name, lines_of


def read_schema(path: Path) -> Schema:
    """One statement a line, tab-separated: `capital range city`, `capital functional`."""
    statements = frozenset(_statements(path))
    if not statements:
        raise DataError(f"{path}: nothing in it; expected lines of relation, property, type")
    return Schema(statements)


def write_schema(schema: Schema, path: Path) -> None:
    """One statement a line, in order."""
    lines = ("\t".join(filter(None, row)) + "\n" for row in sorted(schema.statements))
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def typed(rows: pl.DataFrame, schema: Schema, vocabulary: Vocabulary) -> Types | None:
    """Types from rows (entity, type), closed upwards, with the domains and ranges of the schema.

    Rows about entities that the graph does not have are left out. None if no row is left.
    """
    rows = rows.filter(pl.col("entity").is_in(vocabulary.entities)).unique()
    if not len(rows):
        return None
    rows = pl.concat([rows, _inherited(rows, schema)]).unique()
    slots = _slots(schema, vocabulary)
    names = pl.concat([rows["type"], slots["type"]]).unique().sort()
    return Types.of_pairs(
        names.to_list(),
        _pairs(_ids(rows["entity"], vocabulary.entities), rows["type"], names),
        _pairs(slots["slot"], slots["type"], names),
        vocabulary.num_entities,
        vocabulary.num_slots,
    )


def _statements(path: Path) -> Iterator[Statement]:
    for number, line in enumerate(lines_of(path), start=1):
        if not line:
            continue
        where, fields = f"{path}:{number}", line.split("\t")
        for field in fields:
            check_name(field, "name", where)
        named = fields[1] if len(fields) > 1 else ""
        if named not in PROPERTIES:
            raise DataError(
                f"{where}: {fields[0]!r} has the property {named!r}; "
                f"expected {', '.join(PROPERTIES)}"
            )
        subject, other = PROPERTIES[named]
        expected = (subject, named, other) if other else (subject, named)
        if len(fields) != len(expected):
            raise DataError(
                f"{where}: expected {len(expected)} tab-separated columns "
                f"({', '.join(expected)}), found {len(fields)}"
            )
        yield Statement(*fields)


def _inherited(rows: pl.DataFrame, schema: Schema) -> pl.DataFrame:
    """A row for each type that is above a given one."""
    pairs = [(low, high) for low, above in schema.supertypes().items() for high in sorted(above)]
    above = pl.DataFrame(pairs, schema={"type": pl.String, "above": pl.String}, orient="row")
    return rows.join(above, on="type").select("entity", type="above")


def _slots(schema: Schema, vocabulary: Vocabulary) -> pl.DataFrame:
    """The types that the anchors of each slot may have: slot, type."""
    places = {name: place for place, name in enumerate(vocabulary.relations)}
    rows = [
        (slot, kind)
        for end, named in enumerate(ENDS)
        for relation, kind in schema.about(named)
        if relation in places
        for slot in [vocabulary.slots_of(places[relation])[end]]
    ]
    return pl.DataFrame(rows, schema={"slot": pl.Int64, "type": pl.String}, orient="row")


def _ids(names: pl.Series, known: tuple[str, ...]) -> pl.Series:
    return names.cast(pl.Enum(known)).to_physical()


def _pairs(rows: pl.Series, types: pl.Series, names: pl.Series) -> Pairs:
    ids = types.cast(pl.Enum(names)).to_physical().to_numpy()
    return np.stack([rows.cast(pl.Int64).to_numpy(), ids.astype(np.int64)], axis=1)
