"""Fakes as `faking.fakes_by_hash` draws them, and the types that they violate, as SQL."""

import numpy as np

from assent.building.asking import Quota
from assent.building.faking import SMALL, cells_of, draw_rounds, proposals
from assent.building.fitting import SHARED, domains_stated, types_taken
from assent.building.relational_steps import both_ways, highest_of, number, query_hash, text
from assent.core.arrays import rows_of
from assent.core.engine import Engine, Outline
from assent.core.queries import Subset
from assent.core.types import Types
from assent.core.vocabulary import SIDES, Vocabulary


def learn_types(engine: Engine, graph: Outline) -> Types | None:
    """The tables `seen`, `entity_types` and `slot_types`, as `fitting.fitting_types` finds them.

    Returns the given types with those that were learned; None where all were derived.
    """
    names = graph.vocabulary
    engine.keep("seen", f"SELECT DISTINCT slot, anchor FROM {both_ways('parts', names)}")
    if graph.types is None:
        slots_alike(engine, names)
        return None
    types = graph.types
    pairs = {
        "entity": rows_of(types.entity_offsets).astype(np.int32),
        "type": types.entity_types,
    }
    engine.put("entity_types", pairs)
    shared = engine.found(
        """SELECT s.slot, e.type, count(*) AS times FROM seen s
            JOIN entity_types e ON e.entity = s.anchor GROUP BY s.slot, e.type ORDER BY 1, 2"""
    )
    typed = engine.found(
        """SELECT s.slot, count(*) AS times FROM seen s
            JOIN (SELECT DISTINCT entity FROM entity_types) e ON e.entity = s.anchor
            GROUP BY s.slot"""
    )
    holders = np.zeros(names.num_slots, dtype=np.int64)
    holders[typed["slot"]] = typed["times"]
    learned = types_taken(
        types, shared["slot"], shared["type"], shared["times"], holders, names, graph.schema
    )
    slots = {"slot": rows_of(learned.slot_offsets).astype(np.int32), "type": learned.slot_types}
    engine.put("slot_types", slots)
    return learned


def slots_alike(engine: Engine, names: Vocabulary) -> None:
    """`entity_types` and `slot_types` from `seen`, as `fitting.derived` finds them.

    The types of an entity are the slots that it occurs in.
    """
    alike = engine.found(
        f"""SELECT a.slot, b.slot AS type FROM seen a JOIN seen b ON b.anchor = a.anchor
            GROUP BY a.slot, b.slot HAVING count(*) >= {SHARED}"""
    )
    own = np.arange(names.num_slots)
    slots, types = np.append(own, alike["slot"]), np.append(own, alike["type"])
    rows = "SELECT anchor AS entity, slot AS type FROM seen"
    if stated := domains_of(engine, names):
        domains = engine.found("SELECT slot, type FROM domains")
        slots, types = np.append(slots, domains["slot"]), np.append(types, domains["type"])
        rows += f" UNION ALL {stated}"
    engine.keep("entity_types", rows)
    pairs = np.unique(np.stack([slots, types], axis=1), axis=0).astype(np.int32)
    engine.put("slot_types", {"slot": pairs[:, 0], "type": pairs[:, 1]})


def domains_of(engine: Engine, names: Vocabulary) -> str | None:
    """The table `domains` of slots, and the SQL of which entities in `seen` have which of these.

    None where the names of the relations state no domains.
    """
    stated = domains_stated(names)
    if stated is None:
        return None
    slots = np.arange(names.num_relations, dtype=np.int32)
    types = (names.num_slots + stated).astype(np.int32)  # after the slots, which are types as well
    engine.put("domains", {"slot": slots, "type": types})
    return """SELECT DISTINCT s.anchor AS entity, d.type FROM seen s
        JOIN domains d ON d.slot = s.slot"""


def fake(engine: Engine, names: Vocabulary, wanted: Quota, seed: int) -> int:
    """The table `fakes`; returns how many there are."""
    engine.keep(
        "real",
        query_hash(
            engine,
            seed,
            """SELECT DISTINCT slot, anchor, 0 AS subset FROM (
                SELECT slot, anchor FROM asked UNION ALL SELECT slot, anchor FROM none) r""",
        ),
    )
    tables = [
        table
        for side, count in zip(SIDES, (wanted.tails, wanted.heads), strict=True)
        for table in _fakes_of(engine, names, side, count, seed)
    ]
    empty = "SELECT slot, anchor, subset, hash FROM none WHERE 1 = 0"
    engine.keep("fakes", " UNION ALL ".join([empty, *(f"SELECT * FROM {t}" for t in tables)]))
    engine.drop("real", "seen", "entity_types", "slot_types", *tables)
    return number(engine, "SELECT count(*) AS n FROM fakes")


def _fakes_of(engine: Engine, names: Vocabulary, side: str, count: int, seed: int) -> list[str]:
    """Tables of fakes for one side, `count` of them together if so many are found."""
    first = SIDES.index(side) * names.num_relations
    mine = f"slot >= {first} AND slot < {first + names.num_relations}"
    found = engine.found(
        f"SELECT slot, count(*) AS times FROM real WHERE {mine} GROUP BY slot ORDER BY slot"
    )
    times = np.zeros(names.num_relations, dtype=np.int64)
    times[found["slot"] - first] = found["times"]
    cells = cells_of(times)
    if not len(cells):
        return []
    total = number(engine, "SELECT count(*) AS n FROM real")
    ids = np.arange(len(cells))
    engine.put("cells", {"cell": ids, "slot": (first + cells).astype(np.int32)})
    tables: list[str] = []

    def add(proposed: str, missing: int) -> int:
        """Keeps those of the proposed that are fakes and new, at most as many as are missing."""
        engine.keep("proposed", f"SELECT DISTINCT slot, anchor FROM ({proposed}) p")
        engine.keep("free", query_hash(engine, seed, _violating(tables)))
        highest = highest_of(engine, "free", missing)
        table = f"fakes_{side}_{len(tables)}"
        engine.keep(table, f"SELECT * FROM free WHERE hash <= {highest}")
        engine.drop("proposed", "free")
        tables.append(table)
        return number(engine, f"SELECT count(*) AS n FROM {table}")

    def propose(round_number: int, missing: int) -> int:
        drawn = engine.hash(text(f"'{seed}/fake/{side}/{round_number}/'", "hash"))
        return add(
            f"""SELECT c.slot, d.anchor FROM (
                    SELECT anchor, {drawn} % {len(cells) * total} AS drawn FROM real) d
                JOIN cells c ON c.cell = d.drawn % {len(cells)}
                WHERE d.drawn < {len(cells) * proposals(missing)}""",
            missing,
        )

    missing = count - draw_rounds(propose, count)
    anchors = number(engine, "SELECT count(DISTINCT anchor) AS n FROM real")
    if missing > 0 and anchors * np.count_nonzero(times) <= SMALL:
        add(
            f"""SELECT s.slot, a.anchor FROM (SELECT DISTINCT anchor FROM real) a
                CROSS JOIN (SELECT DISTINCT slot FROM real WHERE {mine}) s""",
            missing,
        )
    engine.drop("cells")
    return tables


def _violating(tables: list[str]) -> str:
    """What is proposed, violates the types, has no answer, and is in none of these tables."""
    known = ["SELECT slot, anchor FROM seen", *(f"SELECT slot, anchor FROM {t}" for t in tables)]
    return f"""SELECT p.slot, p.anchor, {Subset.FAKE:d} AS subset FROM proposed p
        WHERE p.slot IN (SELECT slot FROM slot_types)
        AND p.anchor IN (SELECT entity FROM entity_types)
        AND NOT EXISTS (SELECT 1 FROM ({" UNION ALL ".join(known)}) k
            WHERE k.slot = p.slot AND k.anchor = p.anchor)
        AND NOT EXISTS (SELECT 1 FROM (
                SELECT o.slot, o.anchor FROM proposed o JOIN entity_types e ON e.entity = o.anchor
                JOIN slot_types t ON t.slot = o.slot AND t.type = e.type) f
            WHERE f.slot = p.slot AND f.anchor = p.anchor)"""
