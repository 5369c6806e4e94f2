"""Rules as text, a line each, in the format of AnyBURL: cases, support, confidence, rule.

    97 <tab> 93 <tab> 0.912 <tab> time_zone(X,UTC+7) <= country(X,Indonesia)

`r(X,e)` speaks for a tail, `r(e,Y)` for a head, `r(X,Y)` for both. The confidence is written with
the prior; when rules are read, it is computed again from what was counted.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from assent.core.arrays import Ids, frozen, offsets_of, rows_of
from assent.core.legible import in_words
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.rules.constants import Constants
from assent.rules.ends import Ends
from assent.rules.graph import Graph
from assent.rules.mining import PRIOR, RuleSet
from assent.rules.paths import Paths
from assent.rules.steps import NONE, STEPS, reversed_steps

ARROW = " <= "
BETWEEN = "AB"  # variables between X and Y
VARIABLES = ("X", "Y", *BETWEEN)


def lines(
    rules: RuleSet, names: Vocabulary, most: int | None = None, prior: float = PRIOR
) -> Iterator[str]:
    """The rules as text, the surest first; of many, only so many."""
    constants, paths, ends, sizes = rules.constants, rules.paths, rules.ends, rules.graph.sizes
    support = np.concatenate([constants.support, paths.support, ends.support]).astype(np.int64)
    cases = np.concatenate([sizes[constants.bodies], paths.cases, ends.cases])
    heads, far = rows_of(constants.offsets), rows_of(ends.offsets)
    confidence = support / (cases + prior)
    for rule in np.lexsort((-support, -confidence))[:most].tolist():
        path = rule - len(constants)
        end = path - len(paths)
        if end >= 0:
            steps = int(ends.slots[end]), int(ends.items[end])
            text = _end(rules.graph, int(far[end]), *steps, names)
        elif path >= 0:
            text = _path(int(paths.relations[path]), paths.steps[path], names)
        else:
            text = _constant(rules.graph, int(heads[rule]), int(constants.bodies[rule]), names)
        yield f"{cases[rule]}\t{support[rule]}\t{confidence[rule]:.4g}\t{text}"


def parse(text: Iterable[str], graph: Graph, names: Vocabulary, where: str = "rules") -> RuleSet:
    """Rules from text. Those about what no entity of the graph has are left out: they never fire.

    How many cases a rule with constants has, the graph says; the share of them that is right, the
    text.
    """
    entities = {name: number for number, name in enumerate(names.entities)}
    relations = {name: number for number, name in enumerate(names.relations)}
    constants: list[tuple[int, int, int]] = []
    ends: list[tuple[int, int, int, int, int]] = []
    paths: list[tuple[int, tuple[int, ...], int, int]] = []
    for number, line in enumerate(text, 1):
        try:
            *counts, _, rule = line.rstrip("\n").split("\t")
            cases, support = map(_count, counts)
            if not 1 <= cases >= support:
                raise ValueError(f"{support} right of {cases} cases")
            head, body = rule.split(ARROW.strip(), 1)
            slot, start, end = _read_atom(head.strip(), entities, relations, names)
            if {start, end} == {"X", "Y"}:
                steps = _read_path(body.strip(), entities, relations, names)
                if steps[:2] == (slot, NONE):
                    raise ValueError("the body of the rule is its head")
                paths.append((slot, steps, support, cases))
                continue
            if start not in ("X", "Y"):  # r(e,Y): the head is asked for
                slot, start, end = _inverse(slot, names), end, start
            item = graph.item(frozen([slot]), frozen([end]))[0]
            first, *rest = _read_atoms(body.strip(), entities, relations, names)
            by, _, other = _from(start, first, names)
            if rest:
                last = _read_end(other, rest, graph, names)
                if item >= 0 and last >= 0:
                    ends.append((int(item), by, last, support, cases))
                continue
            free = other in VARIABLES
            property_ = (
                graph.num_items + by if free else graph.item(frozen([by]), frozen([other]))[0]
            )
            if item >= 0 and property_ >= 0:
                right = round(support / cases * int(graph.sizes[property_]))
                constants.append((int(item), int(property_), right))
        except ValueError as error:
            raise DataError(
                f"{where}:{number}: {in_words(error)}; expected cases, support, confidence, rule"
            ) from error
    far = np.array(sorted(set(ends)), np.int64).reshape(-1, 5).T
    return RuleSet(
        graph, _constants(constants, graph), _paths(paths, graph), Ends.of(graph, PRIOR, *far)
    )


def _count(text: str) -> int:
    """A number of facts, which is at most one that an id can be."""
    number = int(text)
    if not 0 <= number < 2**31:
        raise ValueError(f"{text[:20]!r} is no number of facts")
    return number


def _constants(rules: list[tuple[int, int, int]], graph: Graph) -> Constants:
    heads, bodies, support = np.array(sorted(set(rules)), np.int64).reshape(-1, 3).T
    counts = np.bincount(heads, minlength=graph.num_items)
    return Constants(frozen(offsets_of(counts), np.int64), frozen(bodies), frozen(support))


def _paths(rules: list[tuple[int, tuple[int, ...], int, int]], graph: Graph) -> Paths:
    if not rules:
        return Paths.nothing()
    slots, steps, support, cases = (list(column) for column in zip(*rules, strict=True))
    relations, walks = frozen(slots), frozen(steps)
    turned = relations >= graph.num_slots // 2
    walks = np.where(turned[:, None], reversed_steps(walks, graph.num_slots), walks)
    return Paths(
        frozen(relations % (graph.num_slots // 2)),
        frozen(walks),
        frozen(support),
        frozen(cases),
        frozen(np.ones(len(relations)), np.float32),
    )


def _constant(graph: Graph, head: int, body: int, names: Vocabulary) -> str:
    slot, entity = int(graph.item_slots[head]), names.entities[graph.item_entities[head]]
    variable = "X" if slot < names.num_relations else "Y"
    if body >= graph.num_items:
        by, other = body - graph.num_items, BETWEEN[0]
    else:
        by, other = int(graph.item_slots[body]), names.entities[graph.item_entities[body]]
    return f"{_atom(slot, variable, entity, names)}{ARROW}{_atom(by, variable, other, names)}"


def _end(graph: Graph, head: int, slot: int, item: int, names: Vocabulary) -> str:
    asked, entity = int(graph.item_slots[head]), names.entities[graph.item_entities[head]]
    variable, between = "X" if asked < names.num_relations else "Y", BETWEEN[0]
    by, last = int(graph.item_slots[item]), names.entities[graph.item_entities[item]]
    steps = _atom(slot, variable, between, names), _atom(by, between, last, names)
    return f"{_atom(asked, variable, entity, names)}{ARROW}{', '.join(steps)}"


def _path(relation: int, steps: Ids, names: Vocabulary) -> str:
    walked = [int(step) for step in steps if step != NONE]
    stops = ["X", *BETWEEN[: len(walked) - 1], "Y"]
    atoms = [
        _atom(step, start, end, names)
        for step, start, end in zip(walked, stops, stops[1:], strict=False)
    ]
    return f"{_atom(relation, 'X', 'Y', names)}{ARROW}{', '.join(atoms)}"


def _atom(slot: int, start: str, end: str, names: Vocabulary) -> str:
    relation = names.relations[slot % names.num_relations]
    return (
        f"{relation}({start},{end})" if slot < names.num_relations else f"{relation}({end},{start})"
    )


def _inverse(slot: int, names: Vocabulary) -> int:
    return (slot + names.num_relations) % names.num_slots


def _read_atom(
    text: str, entities: dict[str, int], relations: dict[str, int], names: Vocabulary
) -> tuple[int, str | int, str | int]:
    """Slot, start and end of `relation(start,end)`: variables as letters, entities as numbers.

    Names may have brackets and commas, so every way to read it is tried.
    """
    places = [place for place, letter in enumerate(text) if letter == "("]
    for place in places if text.endswith(")") else ():
        if text[:place] not in relations:
            continue
        inside, slot = text[place + 1 : -1], relations[text[:place]]
        commas = [comma for comma, letter in enumerate(inside) if letter == ","]
        for comma in commas:
            start, end = inside[:comma], inside[comma + 1 :]
            if start in VARIABLES and end in VARIABLES:
                return slot, start, end
            if start in VARIABLES and end in entities:
                return slot, start, entities[end]
            if end in VARIABLES and start in entities:
                return slot, entities[start], end
    raise ValueError(f"{text!r} is no relation of two known entities or of {', '.join(VARIABLES)}")


def _from(
    variable: str | int, atom: tuple[int, str | int, str | int], names: Vocabulary
) -> tuple[int, str | int, str | int]:
    """The atom seen from its end that is this variable."""
    slot, start, end = atom
    if start == variable:
        return atom
    if end == variable:
        return _inverse(slot, names), end, start
    raise ValueError(f"expected {variable} in the body")


def _read_atoms(
    text: str, entities: dict[str, int], relations: dict[str, int], names: Vocabulary
) -> list[tuple[int, str | int, str | int]]:
    """The atoms of a body, one after another; names may have brackets and commas."""
    atoms, rest = [], text
    while rest:
        for place, letter in enumerate(rest):
            after = rest[place + 1 :]
            if letter == ")" and (after.startswith(",") or not after):
                try:
                    atoms.append(_read_atom(rest[: place + 1], entities, relations, names))
                except ValueError:
                    if not after:
                        raise
                    continue
                rest = after.removeprefix(",").strip()
                break
        else:
            raise ValueError(f"{rest!r} is no body of known relations")
    if not atoms:
        raise ValueError("a rule without a body")
    return atoms


def _read_end(
    at: str | int,
    rest: list[tuple[int, str | int, str | int]],
    graph: Graph,
    names: Vocabulary,
) -> int:
    """The item that is asked of the entity after the first step; -1 where nobody has it."""
    if len(rest) > 1 or at not in tuple(BETWEEN):
        raise ValueError("expected one step, or two with an entity at the end")
    by, _, last = _from(at, rest[0], names)
    if not isinstance(last, int):
        raise ValueError("expected an entity at the end of the second step")
    return int(graph.item(frozen([by]), frozen([last]))[0])


def _read_path(
    text: str, entities: dict[str, int], relations: dict[str, int], names: Vocabulary
) -> tuple[int, ...]:
    """The slots that lead from X to Y."""
    atoms = _read_atoms(text, entities, relations, names)
    at: str | int = "X"
    steps = []
    for atom in atoms:
        slot, _, at = _from(at, atom, names)
        steps.append(slot)
    if at != "Y" or len(steps) > STEPS:
        raise ValueError(f"{text!r} is no path of 1 to {STEPS} steps from X to Y")
    return tuple(steps + [NONE] * (STEPS - len(steps)))
