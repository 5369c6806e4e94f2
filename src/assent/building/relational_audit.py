"""The audit of `auditing.py` again, as SQL over the tables of a benchmark that fits no memory.

Tables: `train` (head, relation, tail; each once), `asked` (part, slot, anchor, subset, answers: one
row a query and how many answers it has), and `answers` (part, slot, anchor, subset, answer: one row
an answer).
"""

from dataclasses import dataclass

import numpy as np

from assent.building import findings
from assent.building.asking import TEST, VALID
from assent.building.auditing import OVERLAP
from assent.building.findings import FEW_ANSWERS, Finding
from assent.building.relational_fakes import domains_of, slots_alike
from assent.building.relational_steps import both_ways, number
from assent.core.arrays import rows_of
from assent.core.engine import Engine
from assent.core.pairs import Joined
from assent.core.queries import Subset
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A benchmark whose facts and queries are in the tables of an engine."""

    vocabulary: Vocabulary
    masks_other_split: bool
    types: Types | None


def audit(benchmark: Asked, engine: Engine) -> list[Finding]:
    """The finding of every check, in the order of `auditing.CHECKS`."""
    names, safe = benchmark.vocabulary, benchmark.masks_other_split
    fake = f"subset = {Subset.FAKE:d}"

    def count(table: str, where: str = "1 = 1") -> int:
        return number(engine, f"SELECT count(*) AS n FROM {table} WHERE {where}")

    engine.keep("keys", "SELECT DISTINCT slot, anchor FROM asked")
    engine.keep("real", f"SELECT DISTINCT slot, anchor FROM asked WHERE NOT {fake}")
    engine.keep("known", f"SELECT DISTINCT slot, anchor FROM {both_ways('train', names)}")
    engine.keep(
        "fakes",
        f"""SELECT a.slot, a.anchor, r.slot IS NOT NULL AS is_real, i.slot IS NOT NULL AS is_lost,
                k.slot IS NOT NULL AS is_known
            FROM (SELECT slot, anchor FROM asked WHERE {fake}) a
            LEFT JOIN real r ON r.slot = a.slot AND r.anchor = a.anchor
            LEFT JOIN (SELECT DISTINCT slot, anchor FROM asked
                WHERE subset = {Subset.INCOMPLETE:d}) i ON i.slot = a.slot AND i.anchor = a.anchor
            LEFT JOIN known k ON k.slot = a.slot AND k.anchor = a.anchor""",
    )
    engine.keep("lone", "SELECT slot, anchor FROM fakes WHERE NOT is_real")
    num_keys, lone = count("keys"), count("lone")
    both = " JOIN ".join(
        f"(SELECT DISTINCT slot, anchor FROM asked WHERE part = {part}) p{part}"
        for part in (VALID, TEST)
    )
    on = f"p{VALID}.slot = p{TEST}.slot AND p{VALID}.anchor = p{TEST}.anchor"
    found = [
        _standing_twice(engine, safe),
        findings.in_both_splits(count(f"{both} ON {on}"), num_keys, safe),
        findings.real_fakes(
            count("fakes", "is_real"), count("fakes"), count("fakes", "is_real AND is_lost")
        ),
        findings.known_fakes(count("fakes", "NOT is_real AND is_known"), lone),
    ]
    _see(engine, names)
    found.append(_fitting(engine, benchmark, lone))
    engine.keep("facts_asked", _facts("answers", names, "part"))
    found.append(_leaked(engine))
    same = "t.head = f.head AND t.relation = f.relation AND t.tail = f.tail"
    found.append(
        findings.trained_answers(count(f"facts_asked f JOIN train t ON {same}"), count("answers"))
    )
    found.append(_perhaps_fitting(engine, benchmark, lone))
    engine.drop("seen")
    seen = number(
        engine,
        """SELECT count(*) AS n FROM (
            SELECT head AS entity FROM train UNION SELECT tail FROM train) e""",
    )
    found.append(findings.unseen_entities(names.num_entities - seen, names.num_entities))
    there = set(engine.found("SELECT DISTINCT relation FROM train")["relation"].tolist())
    unseen = [names.relation(r) for r in range(names.num_relations) if r not in there]
    found.append(findings.unseen_relations(unseen, names.num_relations))
    none = f"q.subset = {Subset.INCOMPLETE:d} AND q.answers = 0"
    in_train = "JOIN known k ON k.slot = q.slot AND k.anchor = q.anchor"
    found.append(findings.known_empty(count(f"asked q {in_train}", none), count("asked q", none)))
    enough = engine.found(
        f"""SELECT slot FROM asked WHERE part = {VALID} GROUP BY slot
            HAVING sum(answers) >= {FEW_ANSWERS}"""
    )
    found.append(findings.few_answers(names.num_slots - len(enough["slot"]), names.num_slots))
    found.append(_top(engine))
    engine.drop("keys", "real", "known", "fakes", "lone")
    found.append(_twins(engine, names))
    found.append(_apart(engine))
    return found


def _standing_twice(engine: Engine, safe: bool) -> Finding:
    """As `auditing.keys_standing_twice`: in a leak-safe benchmark a query may have two answer sets.

    There, an answered query is another one in either split, and one without answers is the one
    that the other split answers.
    """
    mark = f"CASE WHEN q.part = {VALID} THEN 1 ELSE 0 END"
    table = """asked q LEFT JOIN (SELECT DISTINCT slot, anchor FROM asked WHERE answers > 0) o
        ON o.slot = q.slot AND o.anchor = q.anchor"""
    kind = f"""CASE WHEN q.answers > 0 THEN {mark} WHEN o.slot IS NOT NULL THEN 1 - {mark}
        ELSE 0 END"""
    groups = f"""SELECT count(*) AS times, sum(CASE WHEN answers > 0 THEN 1 ELSE 0 END) AS answered
        FROM (SELECT q.slot, q.anchor, q.answers, {kind if safe else "0"} AS kind FROM {table}) k
        GROUP BY slot, anchor, kind"""
    engine.keep("groups", groups)
    numbers = [
        number(engine, f"SELECT count(*) AS n FROM groups WHERE {where}")
        for where in (
            "times > 1",
            "1 = 1",
            "times > 1 AND answered > 0 AND answered < times",
            "times > 1 AND answered = 0",
        )
    ]
    engine.drop("groups")
    return findings.standing_twice(*numbers)


def _facts(table: str, names: Vocabulary, *others: str) -> str:
    """The facts that answers make with their queries, with these other columns."""
    inverse = f"slot >= {names.num_relations}"
    more = "".join(f", {other}" for other in others)
    return f"""SELECT CASE WHEN {inverse} THEN answer ELSE anchor END AS head,
        slot % {names.num_relations} AS relation,
        CASE WHEN {inverse} THEN anchor ELSE answer END AS tail{more} FROM {table}"""


def _see(engine: Engine, names: Vocabulary) -> None:
    """The table `seen`: the slots of entities, in train and in real queries and their answers."""
    engine.keep(
        "seen",
        f"""SELECT slot, anchor FROM known
            UNION SELECT slot, anchor FROM real
            UNION SELECT (slot + {names.num_relations}) % {names.num_slots}, answer FROM answers""",
    )


def _fitting(engine: Engine, benchmark: Asked, lone: int) -> Finding:
    """By the types given, or by the domains that the relations' names state."""
    names, types = benchmark.vocabulary, benchmark.types
    if types is not None:
        entities = rows_of(types.entity_offsets).astype(np.int32)
        engine.put("entity_types", {"entity": entities, "type": types.entity_types})
        slots = rows_of(types.slot_offsets).astype(np.int32)
        engine.put("slot_types", {"slot": slots, "type": types.slot_types})
    else:
        rows = domains_of(engine, names)
        if rows is None:
            return findings.NO_TYPES
        engine.keep("entity_types", rows)
        engine.keep("slot_types", "SELECT slot, type FROM domains")
    fit, tails_fit = _fit(engine, names)
    where = f"SELECT count(*) AS n FROM lone WHERE slot < {names.num_relations}"
    return findings.fitting_fakes(fit, lone, tails_fit, number(engine, where), types is not None)


def _perhaps_fitting(engine: Engine, benchmark: Asked, lone: int) -> Finding:
    """By types derived from the graph, which may be wrong: a suspicion, no proof."""
    if benchmark.types is not None:
        return findings.TYPES_GIVEN
    slots_alike(engine, benchmark.vocabulary)
    return findings.perhaps_fitting_fakes(_fit(engine, benchmark.vocabulary)[0], lone)


def _fit(engine: Engine, names: Vocabulary) -> tuple[int, int]:
    """How many lone fakes have a type that their slot takes, and how many of these ask for tails.

    Uses up the tables `entity_types` and `slot_types`.
    """
    engine.keep(
        "fitting",
        """SELECT DISTINCT l.slot, l.anchor FROM lone l
            JOIN entity_types e ON e.entity = l.anchor
            JOIN slot_types t ON t.slot = l.slot AND t.type = e.type""",
    )
    counts = [
        number(
            engine,
            f"""SELECT count(*) AS n FROM lone l JOIN fitting f
                ON f.slot = l.slot AND f.anchor = l.anchor WHERE {where}""",
        )
        for where in ("1 = 1", f"l.slot < {names.num_relations}")
    ]
    engine.drop("fitting", "entity_types", "slot_types")
    return counts[0], counts[1]


def _leaked(engine: Engine) -> Finding:
    engine.keep(
        "test_facts", f"SELECT DISTINCT head, relation, tail FROM facts_asked WHERE part = {TEST}"
    )
    valid = f"(SELECT DISTINCT head, relation, tail FROM facts_asked WHERE part = {VALID}) v"
    leaked = number(
        engine,
        f"""SELECT count(*) AS n FROM test_facts t JOIN {valid}
            ON v.head = t.head AND v.relation = t.relation AND v.tail = t.tail""",
    )
    return findings.leaked_facts(leaked, number(engine, "SELECT count(*) AS n FROM test_facts"))


def _top(engine: Engine) -> Finding:
    """From how many queries have how many answers."""
    found = engine.found(
        """SELECT answers, count(*) AS times FROM asked WHERE answers > 0
            GROUP BY answers ORDER BY answers DESC"""
    )
    sizes, times = found["answers"].astype(np.int64), found["times"].astype(np.int64)
    top = int(np.ceil(times.sum() / 100))
    before = np.cumsum(times) - times
    held = int((np.clip(top - before, 0, times) * sizes).sum())
    return findings.answers_of_top(held, int((sizes * times).sum()))


def _twins(engine: Engine, names: Vocabulary) -> Finding:
    """Counts what `auditing.facts_with_twin` counts, by SQL."""
    sizes = np.zeros(names.num_relations, dtype=np.int64)
    there = engine.found("SELECT relation, count(*) AS times FROM train GROUP BY relation")
    sizes[there["relation"]] = there["times"]
    for name, ends in (("inverse", ("tail", "head")), ("same", ("head", "tail"))):
        shared = engine.found(
            f"""SELECT a.relation AS r, b.relation AS s, count(*) AS times FROM train a
                JOIN train b ON b.{ends[0]} = a.head AND b.{ends[1]} = a.tail
                {"WHERE a.relation <> b.relation" if name == "same" else ""}
                GROUP BY a.relation, b.relation"""
        )
        enough = shared["times"] >= OVERLAP * sizes[shared["r"]]
        engine.put(name, {"r": shared["r"][enough], "s": shared["s"][enough]})
        engine.keep(
            f"by_{name}",
            f"""SELECT DISTINCT f.head, f.relation, f.tail FROM test_facts f
                JOIN {name} w ON w.r = f.relation JOIN train t
                ON t.relation = w.s AND t.{ends[0]} = f.head AND t.{ends[1]} = f.tail""",
        )
    inverse, same, either, among = (
        number(engine, f"SELECT count(*) AS n FROM {table}")
        for table in (
            "by_inverse",
            "by_same",
            "(SELECT * FROM by_inverse UNION SELECT * FROM by_same) e",
            "test_facts",
        )
    )
    engine.drop("inverse", "same", "by_inverse", "by_same", "test_facts")
    return findings.stated_by_twins(either, among, inverse, same)


def _apart(engine: Engine) -> Finding:
    """Counts what `core.pairs.joined` counts, by SQL."""
    engine.keep(
        "pairs",
        """SELECT least(head, tail) AS low, greatest(head, tail) AS high, count(*) AS times
            FROM train GROUP BY least(head, tail), greatest(head, tail)""",
    )
    there, total, several, train = (
        number(engine, sql)
        for sql in (
            """SELECT count(*) AS n FROM answers a JOIN pairs p
                ON p.low = least(a.anchor, a.answer) AND p.high = greatest(a.anchor, a.answer)""",
            "SELECT count(*) AS n FROM answers",
            "SELECT sum(times) AS n FROM pairs WHERE times > 1",
            "SELECT sum(times) AS n FROM pairs",
        )
    )
    engine.drop("pairs", "facts_asked")
    return findings.held_apart(Joined(there / max(total, 1), several / max(train, 1)), total)
