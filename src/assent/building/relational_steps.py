"""The SQL that several steps of `relational.py` share, and how its results come back."""

from collections.abc import Callable, Iterator

import numpy as np

from assent.building.asking import VALID
from assent.building.counting import Table
from assent.core.arrays import Ids, Keys, frozen
from assent.core.engine import Columns, Engine
from assent.core.queries import Queries, Subset
from assent.core.vocabulary import Vocabulary

BUCKETS = 1 << 16  # that hashes fall into; one of them at a time is looked at closely
WIDTH = (1 << 60) // BUCKETS


def text(*parts: str) -> str:
    """The SQL of a text made of these, numbers among them."""
    return f"concat({', '.join(f'cast({part} AS STRING)' for part in parts)})"


def number(engine: Engine, sql: str) -> int:
    """The one number `n` that a query finds; 0 for a sum over nothing."""
    found = engine.found(f"SELECT coalesce(cast(n AS BIGINT), 0) AS n FROM ({sql}) q")
    return int(found["n"][0])


def both_ways(
    table: str, names: Vocabulary, *others: str, ends: tuple[str, str] = ("head", "tail")
) -> str:
    """A subquery `l`: each fact as two rows (slot, anchor, answer), with these other columns."""
    head, tail = ends
    more = "".join(f", {other}" for other in others)
    return f"""(SELECT relation AS slot, {head} AS anchor, {tail} AS answer{more} FROM {table}
        UNION ALL SELECT relation + {names.num_relations}, {tail}, {head}{more} FROM {table}) l"""


def dealt(table: str, groups: tuple[str, ...], ties: str, first: int) -> str:
    """The rows of a table with their `part`: even within each group, even overall.

    As `drawing.alternating` over the order of groups, hashes, and `ties` where hashes are equal.
    Each group begins where the one before it left off.
    """
    by = ", ".join(groups)
    same = " AND ".join(f"g.{group} = t.{group}" for group in groups)
    return f"""SELECT t.*, cast((g.before + row_number() OVER (
            PARTITION BY {", ".join(f"t.{group}" for group in groups)}
            ORDER BY t.hash, {", ".join(f"t.{tie.strip()}" for tie in ties.split(","))}
        ) - 1 + {first}) % 2 AS INT) AS part
        FROM {table} t JOIN (
            SELECT {by}, sum(times) OVER (ORDER BY {by}) - times AS before
            FROM (SELECT {by}, count(*) AS times FROM {table} GROUP BY {by}) c
        ) g ON {same}"""


def query_hash(engine: Engine, seed: int, sql: str) -> str:
    """The rows of a query for (slot, anchor, subset), with the `hash` of what each asks."""
    asked = text(f"'{seed}/query/'", "s.hash", "'/'", "e.hash")
    return f"""SELECT q.slot, q.anchor, q.subset, {engine.hash(asked)} AS hash FROM ({sql}) q
        JOIN slots s ON s.slot = q.slot JOIN entities e ON e.id = q.anchor"""


def highest_of(engine: Engine, table: str, most: int, weight: str = "1") -> int:
    """The number up to which hashes are the lowest of a table that weigh `most` together; -1: none.

    As `hashing.lowest`: rows with the same hash are in or out together. Buckets of hashes are
    weighed first, so that no table needs to be sorted.
    """
    bucket = f"cast(floor(hash / {WIDTH}) AS INT)"
    found = engine.found(
        f"""SELECT {bucket} AS bucket, cast(sum({weight}) AS BIGINT) AS weight FROM {table}
            GROUP BY {bucket} ORDER BY 1"""
    )
    sums = np.cumsum(found["weight"])
    whole = int(np.searchsorted(sums, most, side="right"))  # so many buckets fit
    if whole == len(sums):
        return 1 << 60
    left = most - (int(sums[whole - 1]) if whole else 0)
    inside = engine.found(
        f"""SELECT hash, cast(sum({weight}) AS BIGINT) AS weight FROM {table}
            WHERE {bucket} = {int(found["bucket"][whole])} GROUP BY hash ORDER BY hash"""
    )
    fitting = int(np.searchsorted(np.cumsum(inside["weight"]), left, side="right"))
    return int(inside["hash"][fitting]) - 1


def facts_in(engine: Engine, sql: str, new_ids: Ids | None = None) -> Iterator[Ids]:
    """The facts that a query finds, in blocks; with other ids for their entities, where given."""
    for block in engine.blocks(sql):
        heads, tails = block["head"], block["tail"]
        if new_ids is not None:
            heads, tails = new_ids[heads], new_ids[tails]
        yield frozen(np.stack([heads, block["relation"], tails], axis=1))


def queries_in(engine: Engine, part: int, new_ids: Ids) -> Callable[[], Iterator[Queries]]:
    """The queries of one split, ascending, in blocks."""
    sql = f"""SELECT slot, anchor, subset, answer FROM asking WHERE part = {part}
        ORDER BY slot, anchor, subset, answer"""

    def blocks() -> Iterator[Queries]:
        left: Columns = {}
        for block in engine.blocks(sql):
            rows = {name: np.append(left.get(name, block[name][:0]), block[name]) for name in block}
            # The last query may go on in the next block.
            start = int(_starts(rows)[-1])
            left = {name: values[start:] for name, values in rows.items()}
            if start:
                yield _grouped({name: values[:start] for name, values in rows.items()}, new_ids)
        if left:
            yield _grouped(left, new_ids)

    return blocks


def _starts(rows: Columns) -> Keys:
    """Where each query begins."""
    changed = (np.diff(rows["slot"]) != 0) | (np.diff(rows["anchor"]) != 0)
    return np.flatnonzero(np.append(True, changed))


def _grouped(rows: Columns, new_ids: Ids) -> Queries:
    """Rows of one answer each, or of none (-1), as queries."""
    starts, there = _starts(rows), rows["answer"] >= 0
    offsets = np.append(0, np.cumsum(there))[np.append(starts, len(there))]
    return Queries(
        frozen(new_ids[rows["anchor"][starts]]),
        frozen(rows["slot"][starts]),
        frozen(offsets, np.int64),
        frozen(new_ids[rows["answer"][there]]),
        frozen(rows["subset"][starts]),
    )


def table_one_of(engine: Engine, names: Vocabulary) -> Table:
    """`counting.table_one` of the table `asking`."""
    found = engine.found(
        f"""SELECT part, head, subset, is_empty, count(*) AS times FROM (
                SELECT part, slot >= {names.num_relations} AS head, subset, slot, anchor,
                    max(answer) < 0 AS is_empty
                FROM asking GROUP BY part, slot, anchor, subset) q
            GROUP BY part, head, subset, is_empty"""
    )
    subsets, empty = found["subset"], found["is_empty"].astype(bool)
    heads, in_valid = found["head"].astype(bool), found["part"] == VALID
    kinds = {
        "C": subsets == Subset.COMPLETE,
        "I": subsets == Subset.INCOMPLETE,
        "N": (subsets == Subset.INCOMPLETE) & empty,
        "F": subsets == Subset.FAKE,
    }
    columns = {
        "head": heads,
        "tail": ~heads,
        "total": np.ones(len(heads), dtype=bool),
        "valid": in_valid,
        "test": ~in_valid,
    }
    return {
        kind: {name: int(found["times"][those & mine].sum()) for name, mine in columns.items()}
        for kind, those in kinds.items()
    }
