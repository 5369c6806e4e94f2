"""Recipe 2 again, as SQL over tables: the way from a graph that fits no memory to a benchmark.

Step by step the same as `recipe.py` with `drawing.Hashes`, and to the same bytes. What grows with
the facts is a table of the engine; what grows with the entities alone is an array here.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assent.building.asking import TEST, VALID, Quota, balanced
from assent.building.drawing import coin, entity_hashes, slot_hashes
from assent.building.origin import Counted, digest_of, origin_of
from assent.building.recipe import (
    DEALS,
    Progress,
    check_settings,
    remedy,
    settings_of,
    silent,
    too_small,
)
from assent.building.relational_fakes import fake, learn_types
from assent.building.relational_steps import (
    both_ways,
    dealt,
    facts_in,
    highest_of,
    number,
    queries_in,
    query_hash,
    table_one_of,
    text,
)
from assent.building.removing import auto_limit, fewest, first_of, named, no_train_fact
from assent.core.arrays import Ids, Keys, frozen
from assent.core.benchmark import SPLITS
from assent.core.engine import Engine, Outline
from assent.core.queries import Subset
from assent.core.streamed import Removed, Streamed
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError

RECIPE = 2


def build(
    graph: Outline,
    engine: Engine,
    *,
    removed: int | str | Sequence[str] = "auto",
    held_out: float = 0.12,
    deal: str = "by-fact",
    seed: int = 0,
    progress: Progress = silent,
) -> Streamed:
    """A benchmark of queries from the facts in the engine's table `facts`; as `recipe.build`.

    The tables that its blocks come from stay in the engine until the blocks have been read.
    """
    check_settings(held_out, deal, seed, RECIPE)
    removed = int(removed) if isinstance(removed, np.integer) else removed
    names, by_fact = graph.vocabulary, DEALS[deal].each_fact_once
    order, listed = _order(names, removed, seed)
    _put_names(engine, names, order, seed)

    progress("checking the graph")
    sha256 = digest_of(
        graph,
        facts_in(engine, "SELECT head, relation, tail FROM facts ORDER BY head, relation, tail"),
        _splits(engine, graph),
    )
    progress("holding out facts")
    _hold_out(engine, graph, held_out, seed)
    progress("removing entities")
    count = _quarter(engine, names, seed, by_fact) if removed == "auto" else listed
    parts = _part(engine, count)
    if not parts["train"]:
        raise no_train_fact(count, names.num_entities)

    progress("asking queries")
    _ask(engine, names, count, seed, by_fact)
    answered = _sides(engine, "(SELECT DISTINCT part, slot, anchor FROM asked) q", names)
    if not {VALID, TEST} <= set(engine.found("SELECT DISTINCT part FROM asked")["part"].tolist()):
        raise too_small(parts["answers"], remedy(_spare(engine), graph.num_facts, graph.has_splits))
    wanted = balanced(answered, _sides(engine, "none q", names))

    progress("faking queries")
    types = learn_types(engine, graph)
    fakes = fake(engine, names, wanted, seed)
    # Where too few fakes are found, more of N make up for them: half of all have no answer.
    highest = highest_of(engine, "none", sum(answered) - fakes)
    engine.keep("few", f"SELECT * FROM none WHERE hash <= {highest}")

    progress("dealing into valid and test")
    for table, what in (("few", "none"), ("fakes", "fake")):
        engine.keep(f"dealt_{table}", dealt(table, ("slot", "subset"), "anchor", coin(seed, what)))
    engine.keep(
        "asking",
        "SELECT part, slot, anchor, subset, answer FROM asked "
        + "".join(
            f"UNION ALL SELECT part, slot, anchor, subset, -1 FROM dealt_{table} "
            for table in ("few", "fakes")
        ),
    )
    train = engine.found(
        "SELECT relation, count(*) AS times FROM parts WHERE part = 'train' GROUP BY relation"
    )
    of_relation = np.zeros(names.num_relations, dtype=np.int64)
    of_relation[train["relation"]] = train["times"]
    counts = Counted(
        names.num_entities - count,
        of_relation,
        parts["answers"],
        parts["lost"],
        table_one_of(engine, names),
        sum(wanted),
    )
    settings = settings_of(removed, None if graph.has_splits else held_out, deal, seed)
    origin = origin_of(graph, sha256, counts, settings, RECIPE)
    return _streamed(engine, graph, types, order, count, by_fact, origin)


def _order(
    names: Vocabulary, removed: int | str | Sequence[str], seed: int
) -> tuple[Keys, int]:  # (entity,)
    """All entities, those to be removed first, and how many of them are said to be removed."""
    if isinstance(removed, int | str):
        order = np.argsort(entity_hashes(names, seed), kind="stable")
        if isinstance(removed, int):
            return order, int(first_of(order, removed).sum())
        if removed != "auto":
            raise ConfigError(f"removed = {removed!r}; choose a number, 'auto' or a list of names")
        return order, 0
    gone = named(removed, names)
    return np.argsort(~gone, kind="stable"), int(gone.sum())


def _put_names(engine: Engine, names: Vocabulary, order: Keys, seed: int) -> None:
    """The tables `entities` (with the place of each in the order of removal) and `slots`."""
    places = np.empty(len(order), dtype=np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    ids = np.arange(len(order), dtype=np.int32)
    engine.put("entities", {"id": ids, "hash": entity_hashes(names, seed), "place": places})
    slots = np.arange(names.num_slots, dtype=np.int32)
    engine.put("slots", {"slot": slots, "hash": slot_hashes(names, seed)})


def _splits(engine: Engine, graph: Outline) -> Iterable[NDArray[np.integer[Any]]]:
    """The split of each fact, in the order of the facts, in blocks."""
    if not graph.has_splits:
        return [np.zeros(graph.num_facts, dtype=np.int8)]
    blocks = engine.blocks("SELECT split FROM facts ORDER BY head, relation, tail")
    return (block["split"] for block in blocks)


def _hold_out(engine: Engine, graph: Outline, share: float, seed: int) -> None:
    """The table `held`: all facts with the hash of their pair, and whether they are held out.

    The pairs of entities with the lowest hashes are held out. What stays of each entity and each
    relation is the pair with the highest.
    """
    pair = text(f"'{seed}/pair/'", "least(a.hash, b.hash)", "'/'", "greatest(a.hash, b.hash)")
    engine.keep(
        "hashed",
        f"""SELECT f.head, f.relation, f.tail, f.split, {engine.hash(pair)} AS hash,
                a.place AS head_place, b.place AS tail_place
            FROM facts f JOIN entities a ON a.id = f.head JOIN entities b ON b.id = f.tail""",
    )
    engine.drop("facts")
    if graph.has_splits:
        engine.keep("held", "SELECT *, split <> 0 AS is_held FROM hashed")
        engine.drop("hashed")
        return
    engine.keep(
        "ends",
        """SELECT entity, max(hash) AS last FROM (
                SELECT head AS entity, hash FROM hashed
                UNION ALL SELECT tail, hash FROM hashed) e
            GROUP BY entity""",
    )
    engine.keep("said", "SELECT relation, max(hash) AS last FROM hashed GROUP BY relation")
    engine.keep(
        "spare",
        """SELECT f.hash, count(*) AS size FROM hashed f
            JOIN ends a ON a.entity = f.head JOIN ends b ON b.entity = f.tail
            JOIN said r ON r.relation = f.relation
            GROUP BY f.hash
            HAVING min(CASE WHEN f.hash < a.last AND f.hash < b.last AND f.hash < r.last
                THEN 1 ELSE 0 END) = 1""",
    )
    engine.drop("ends", "said")
    highest = highest_of(engine, "spare", round(share * graph.num_facts), weight="size")
    engine.keep(
        "held",
        f"""SELECT f.*, s.hash IS NOT NULL AS is_held FROM hashed f
            LEFT JOIN (SELECT hash FROM spare WHERE hash <= {highest}) s ON s.hash = f.hash""",
    )
    engine.drop("hashed", "spare")


def _quarter(engine: Engine, names: Vocabulary, seed: int, by_fact: bool) -> int:
    """How many entities to remove so that queries that lost all answers make a quarter of all.

    As `removing.outcomes`: each query is empty, or answered, for one range of that number.
    """
    size = names.num_entities
    if by_fact:
        engine.keep("held_only", "SELECT * FROM held WHERE is_held")
        engine.keep("ahead", dealt("held_only", ("relation",), "head, tail", coin(seed, "facts")))
    rows = both_ways("held", names, "is_held", ends=("head_place", "tail_place"))
    table = "ahead" if by_fact else "(SELECT *, 0 AS part FROM held WHERE is_held) h"
    asked = both_ways(table, names, "part", ends=("head_place", "tail_place"))
    none = _covered(
        engine,
        f"""SELECT greatest(min(answer), max(CASE WHEN is_held THEN answer ELSE -1 END)) + 1
                AS first, anchor AS last FROM {rows} GROUP BY slot, anchor""",
        size,
    )
    answered = _covered(
        engine,
        f"""SELECT 0 AS first, least(max(answer), anchor) AS last FROM {asked}
            GROUP BY slot, anchor, part""",
        size,
    )
    engine.drop("held_only", "ahead")
    return fewest(none, answered, auto_limit(size))


def _covered(engine: Engine, ranges: str, size: int) -> Keys:  # (size + 1,)
    """How many of the ranges [first, last] that a query finds hold each number from 0 to `size`."""
    engine.keep("ranges", f"SELECT first, last FROM ({ranges}) r WHERE first <= last")
    change = np.zeros(size + 2, dtype=np.int64)
    for place, step in (("first", 1), ("last + 1", -1)):
        found = engine.found(
            f"SELECT {place} AS place, count(*) AS times FROM ranges GROUP BY {place}"
        )
        change[found["place"]] += step * found["times"]
    engine.drop("ranges")
    return np.cumsum(change)[: size + 1]


def _part(engine: Engine, count: int) -> dict[str, int]:
    """The table `parts`: facts by what they are used for; returns how many of each there are."""
    gone = [f"(CASE WHEN {end}_place < {count} THEN 1 ELSE 0 END)" for end in ("head", "tail")]
    engine.keep(
        "parts",
        f"""SELECT head, relation, tail, hash, head_place, tail_place,
                CASE {" + ".join(gone)} WHEN 2 THEN 'dropped' WHEN 1 THEN 'lost'
                ELSE CASE WHEN is_held THEN 'answers' ELSE 'train' END END AS part
            FROM held""",
    )
    engine.drop("held")
    found = engine.found("SELECT part, count(*) AS times FROM parts GROUP BY part")
    times = dict(zip(found["part"].tolist(), found["times"].tolist(), strict=True))
    return {part: int(times.get(part, 0)) for part in ("train", "answers", "lost", "dropped")}


def _ask(engine: Engine, names: Vocabulary, count: int, seed: int, by_fact: bool) -> None:
    """The tables `asked` (answers of queries, dealt) and `none` (queries that lost them all)."""
    lost = both_ways("(SELECT * FROM parts WHERE part = 'lost') p", names, ends=("head", "tail"))
    engine.keep(
        "lost",
        f"""SELECT DISTINCT l.slot, l.anchor FROM {lost} JOIN entities e ON e.id = l.anchor
            WHERE e.place >= {count}""",
    )
    engine.keep("answers", "SELECT head, relation, tail, hash FROM parts WHERE part = 'answers'")
    subset = f"CASE WHEN m.slot IS NULL THEN {Subset.COMPLETE:d} ELSE {Subset.INCOMPLETE:d} END"
    missing = "LEFT JOIN lost m ON m.slot = l.slot AND m.anchor = l.anchor"
    if by_fact:
        engine.keep("part_of", dealt("answers", ("relation",), "head, tail", coin(seed, "facts")))
        rows = both_ways("part_of", names, "part")
        engine.keep(
            "asked",
            f"SELECT l.part, l.slot, l.anchor, {subset} AS subset, l.answer FROM {rows} {missing}",
        )
    else:
        rows = both_ways("answers", names)
        engine.keep(
            "keys",
            query_hash(
                engine,
                seed,
                f"SELECT DISTINCT l.slot, l.anchor, {subset} AS subset FROM {rows} {missing}",
            ),
        )
        engine.keep("part_of", dealt("keys", ("slot", "subset"), "anchor", coin(seed, "answered")))
        engine.keep(
            "asked",
            f"""SELECT k.part, l.slot, l.anchor, k.subset, l.answer FROM {rows}
                JOIN part_of k ON k.slot = l.slot AND k.anchor = l.anchor""",
        )
    engine.drop("answers", "part_of", "keys")
    engine.keep(
        "none",
        query_hash(
            engine,
            seed,
            f"""SELECT l.slot, l.anchor, {Subset.INCOMPLETE:d} AS subset FROM lost l
                LEFT JOIN (SELECT DISTINCT slot, anchor FROM asked) a
                ON a.slot = l.slot AND a.anchor = l.anchor WHERE a.slot IS NULL""",
        ),
    )


def _sides(engine: Engine, table: str, names: Vocabulary) -> Quota:
    """How many queries of a table ask for heads, and for tails."""
    heads = number(engine, f"SELECT count(*) AS n FROM {table} WHERE slot >= {names.num_relations}")
    return Quota(heads, number(engine, f"SELECT count(*) AS n FROM {table}") - heads)


def _spare(engine: Engine) -> int:
    """How many facts are neither the only one of an entity nor of a relation."""
    met = """(SELECT entity FROM (SELECT head AS entity FROM parts
        UNION ALL SELECT tail FROM parts) e GROUP BY entity HAVING count(*) > 1)"""
    said = "(SELECT relation FROM parts GROUP BY relation HAVING count(*) > 1)"
    return number(
        engine,
        f"""SELECT count(*) AS n FROM parts
            WHERE head IN {met} AND tail IN {met} AND relation IN {said}""",
    )


def _streamed(
    engine: Engine,
    graph: Outline,
    types: Types | None,
    order: Keys,
    count: int,
    by_fact: bool,
    origin: dict[str, Any],
) -> Streamed:
    """The benchmark, in ids of its own: those of the kept entities, then of the removed ones."""
    names = graph.vocabulary
    gone = np.zeros(names.num_entities, dtype=bool)
    gone[order[:count]] = True
    sorted_ids = np.argsort(gone, kind="stable").astype(np.int32)
    new_ids = np.empty_like(sorted_ids)
    new_ids[sorted_ids] = np.arange(len(sorted_ids), dtype=np.int32)
    kept: Ids = sorted_ids[: len(sorted_ids) - count]
    in_order = "SELECT head, relation, tail FROM parts WHERE {} ORDER BY head, relation, tail"
    engine.put("new_ids", {"id": np.arange(len(new_ids), dtype=np.int32), "new": new_ids})
    about_removed = """SELECT a.new AS head, p.relation, b.new AS tail FROM parts p
        JOIN new_ids a ON a.id = p.head JOIN new_ids b ON b.id = p.tail
        WHERE p.part = 'lost' OR p.part = 'dropped' ORDER BY 1, 2, 3"""
    removed = None
    if count:
        removed = Removed(
            names.with_entities(sorted_ids),
            lambda: facts_in(engine, about_removed),
            types.with_entities(sorted_ids) if types else None,
        )
    return Streamed(
        names.with_entities(kept),
        lambda: facts_in(engine, in_order.format("part = 'train'"), frozen(new_ids)),
        {
            split: queries_in(engine, part, frozen(new_ids))
            for split, part in zip(SPLITS, (VALID, TEST), strict=True)
        },
        by_fact,
        types.with_entities(kept) if types else None,
        graph.schema,
        removed,
        origin,
    )
