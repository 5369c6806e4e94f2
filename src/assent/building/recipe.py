"""The whole way from a knowledge base to a benchmark, on one page."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from assent.building.asking import (
    TEST,
    VALID,
    ask,
    ask_nothing,
    fakes_wanted,
    lost_keys,
)
from assent.building.drawing import RECIPES, Draws
from assent.building.fitting import fitting_types, seen_in
from assent.building.origin import counted, digest, origin_of, outline_of
from assent.building.removing import first_of, named, quarter, remove
from assent.core.arrays import Ids, Keys, Mask, distinct, frozen, pair_keys
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError

Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Shows no progress."""


def build(
    kb: KnowledgeBase,
    *,
    removed: int | str | Sequence[str] = "auto",
    held_out: float = 0.12,
    deal: str = "by-fact",
    seed: int = 0,
    recipe: int = 1,
    progress: Progress = silent,
) -> Benchmark:
    """A benchmark of queries from any graph (Appendix A.1 of the paper).

    `removed`: how many entities to take out, "auto" (so many that queries without an answer make
    a quarter), or the names of the entities. `held_out`: the share of facts to ask for, where the
    graph comes without valid and test. `deal`: "by-fact" (leak-safe) or "by-query" (the paper's).
    `recipe`: how choices are made, 1 by random streams, 2 by hashes of names as every engine does.
    """
    check_settings(held_out, deal, seed, recipe)
    removed = int(removed) if isinstance(removed, np.integer) else removed
    num_entities, num_relations = kb.vocabulary.num_entities, kb.vocabulary.num_relations
    draws: Draws = RECIPES[recipe](kb, seed)

    progress("holding out facts")
    held = draws.held_out(kb, held_out)
    progress("removing entities")
    gone = _choose(kb, held, removed, deal, draws)
    parts = remove(kb.facts, held, gone)

    progress("asking queries")
    lost = lost_keys(parts.lost, gone, num_relations)
    splits = DEALS[deal].ask(parts.answers, lost, kb.vocabulary, draws)
    if not all(map(len, splits)):
        raise too_small(len(parts.answers), _remedy(kb))
    answered = Queries.joined(splits)
    none = ask_nothing(lost, distinct(answered.keys(num_entities)), num_entities)

    progress("faking queries")
    seen = seen_in(kb.facts, num_relations)
    types = fitting_types(kb.types, seen, kb.vocabulary, kb.schema)
    wanted = fakes_wanted(answered, none, kb.vocabulary)
    taken = distinct(pair_keys(seen[:, 1], seen[:, 0], num_entities))
    fakes = draws.fakes(Queries.joined([answered, none]), taken, types, wanted)
    # Where too few fakes are found, more of N make up for them: half of all have no answer.
    none = draws.some(none, len(answered) - len(fakes))

    progress("dealing into valid and test")
    empty = (_dealt(part, kind, draws) for part, kind in ((none, "none"), (fakes, "fake")))
    dealt = zip(splits, *empty, strict=True)
    kept = np.flatnonzero(~gone).astype(np.int32)
    new_ids = np.cumsum(~gone, dtype=np.int32) - np.int32(1)  # for the kept ones
    valid, test = (_renumbered(Queries.joined(part), new_ids) for part in dealt)
    benchmark = Benchmark(
        kb.vocabulary.with_entities(kept),
        _renumbered_facts(parts.train, new_ids),
        valid,
        test,
        masks_other_split=DEALS[deal].each_fact_once,
        types=types.with_entities(kept) if kb.types else None,
        schema=kb.schema,
        removed=_removed(kb, types if kb.types else None, gone),
    )
    settings = settings_of(removed, None if kb.has_splits else held_out, deal, seed)
    counts = counted(benchmark, parts, sum(wanted))
    origin = origin_of(outline_of(kb), digest(kb), counts, settings, recipe)
    return replace(benchmark, origin=origin)


def settings_of(
    removed: int | str | Sequence[str], held_out: float | None, deal: str, seed: int
) -> dict[str, Any]:
    """The settings as a manifest tells them."""
    told = removed if isinstance(removed, int | str) else "list"
    return {"removed": told, "held_out": held_out, "deal": deal, "seed": seed}


def check_settings(held_out: float, deal: str, seed: int, recipe: int) -> None:
    """Refuses what cannot be built by, before any work is done."""
    if not 0 < held_out < 1:
        raise ConfigError(f"held_out = {held_out}; choose a share between 0 and 1")
    if deal not in DEALS:
        raise ConfigError(f"unknown deal {deal!r}; choose from {', '.join(DEALS)}")
    if seed < 0:
        raise ConfigError(f"seed = {seed}; choose 0 or more")
    if recipe not in RECIPES:
        raise ConfigError(f"recipe = {recipe}; choose from {', '.join(map(str, RECIPES))}")


def _choose(
    kb: KnowledgeBase,
    held: Mask,
    removed: int | str | Sequence[str],
    deal: str,
    draws: Draws,
) -> Mask:  # (entity,)
    """The entities to remove."""
    if not isinstance(removed, int | str):
        return named(removed, kb.vocabulary)
    order = draws.order()
    if isinstance(removed, int):
        return first_of(order, removed)
    if removed != "auto":
        raise ConfigError(f"removed = {removed!r}; choose a number, 'auto' or a list of names")
    dealt = np.zeros(len(kb.facts), dtype=np.int64)
    if DEALS[deal].each_fact_once:
        dealt[held] = draws.deal_facts(kb.facts[held], ahead=True)
    return first_of(order, quarter(kb.facts, held, order, dealt, kb.vocabulary.num_relations))


def _ask_by_fact(
    answers: Ids, lost: Keys, vocabulary: Vocabulary, draws: Draws
) -> tuple[Queries, Queries]:
    """Each fact is asked for in one split only, from both sides: the other has no answer of it."""
    dealt = draws.deal_facts(answers)
    valid, test = (ask(answers[dealt == split], lost, vocabulary) for split in (VALID, TEST))
    return valid, test


def _ask_by_query(
    answers: Ids, lost: Keys, vocabulary: Vocabulary, draws: Draws
) -> tuple[Queries, Queries]:
    """Each query is asked in one split only; a fact may be asked for in both."""
    return _dealt(ask(answers, lost, vocabulary), "answered", draws)


def _dealt(queries: Queries, what: str, draws: Draws) -> tuple[Queries, Queries]:
    """Whole queries dealt to valid and test, evenly within each slot and subset."""
    dealt = draws.deal(queries, what)
    return queries.take(dealt == VALID), queries.take(dealt == TEST)


def _removed(kb: KnowledgeBase, types: Types | None, gone: Mask) -> KnowledgeBase | None:
    """The facts about entities that are `gone`, whose ids come after those of the others."""
    if not gone.any():
        return None
    order = np.argsort(gone, kind="stable").astype(np.int32)
    new_ids = np.empty_like(order)
    new_ids[order] = np.arange(len(order), dtype=np.int32)
    facts = kb.facts[gone[kb.facts[:, [0, 2]]].any(axis=1)]
    return KnowledgeBase.of_ids(
        kb.vocabulary.with_entities(order),
        _renumbered_facts(facts, new_ids),
        types=types.with_entities(order) if types else None,
    )


def _renumbered(queries: Queries, new_ids: Ids) -> Queries:
    """The same queries, ascending, in the ids of the benchmark."""
    queries = queries.take(np.lexsort((queries.subsets, queries.anchors, queries.relations)))
    return replace(
        queries,
        anchors=frozen(new_ids[queries.anchors]),
        answers=frozen(new_ids[queries.answers]),
    )


def _renumbered_facts(facts: Ids, new_ids: Ids) -> Ids:
    heads, relations, tails = facts.T
    return frozen(np.stack([new_ids[heads], relations, new_ids[tails]], axis=1))


class Deal(NamedTuple):
    """How the answered queries come to valid and test."""

    ask: Callable[[Ids, Keys, Vocabulary, Draws], tuple[Queries, Queries]]
    each_fact_once: bool  # then the answers of either split are masked in the other: leak-safe


DEALS = {"by-fact": Deal(_ask_by_fact, True), "by-query": Deal(_ask_by_query, False)}


def too_small(num_answers: int, helps: str) -> DataError:
    """What to say where valid or test would ask nothing."""
    return DataError(
        f"too small a graph: {num_answers:,} held-out facts are left to ask for; {helps}"
    )


def _remedy(kb: KnowledgeBase) -> str:
    heads, relations, tails = kb.facts.T
    met = np.bincount(np.concatenate([heads, tails]), minlength=kb.vocabulary.num_entities)
    said = np.bincount(relations, minlength=kb.vocabulary.num_relations)
    spare = int(((met[heads] > 1) & (met[tails] > 1) & (said[relations] > 1)).sum())
    return remedy(spare, len(kb.facts), kb.has_splits)


def remedy(spare: int, num_facts: int, has_splits: bool) -> str:
    """What helps a graph with too few facts to ask for, if anything does.

    `spare` facts are not the only one of an entity or of a relation.
    """
    if has_splits or spare > 1:
        return "hold out more, or remove fewer entities"
    return (
        f"all but {spare:,} of its {num_facts:,} facts are the only one of an entity or of a "
        "relation, and must stay in train: give facts that say more about the same entities"
    )
