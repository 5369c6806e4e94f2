"""The whole way from a knowledge base to a benchmark, on one page."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from assent.building.asking import ask, ask_nothing, lost_keys
from assent.building.dealing import TEST, VALID, Quota, fakes_wanted, halved, halves_of
from assent.building.faking import fake
from assent.building.fitting import fitting_types, seen_in
from assent.building.holding import hold_out
from assent.building.origin import origin_of
from assent.building.removing import Removal, first_of, named, quarter, remove
from assent.core.arrays import Ids, Keys, Mask, distinct, frozen
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, both_ways
from assent.core.types import Types
from assent.errors import ConfigError, DataError

Progress = Callable[[str], None]
DEALS = ("by-fact", "by-query")


def silent(_: str) -> None:
    """Shows no progress."""


def build(
    kb: KnowledgeBase,
    *,
    removed: int | str | Sequence[str] = "auto",
    held_out: float = 0.12,
    deal: str = "by-fact",
    seed: int = 0,
    progress: Progress = silent,
) -> Benchmark:
    """A benchmark of queries from any graph (Appendix A.1 of the paper).

    `removed`: how many entities to take out, "auto" (so many that queries without an answer make
    a quarter), or the names of the entities. `held_out`: the share of facts to ask for, where the
    graph comes without valid and test. `deal`: "by-fact" (leak-safe) or "by-query" (the paper's).
    """
    _check(held_out, deal, seed)
    removed = int(removed) if isinstance(removed, np.integer) else removed
    num_entities, num_relations = kb.vocabulary.num_entities, kb.vocabulary.num_relations
    # A stream of its own for each step: an option of one leaves the choices of the others alone.
    streams = np.random.default_rng(seed).spawn(5)
    for_holding, for_removing, for_dealing, for_faking, for_trimming = streams

    progress("holding out facts")
    held = hold_out(kb, held_out, for_holding)
    progress("removing entities")
    gone = _choose(kb, held, removed, deal, for_removing)
    parts = remove(kb.facts, held, gone)

    progress("asking queries")
    lost = lost_keys(parts.lost, gone, num_relations)
    halves = _ask(parts, lost, num_entities, num_relations, deal, for_dealing)
    answered = Queries.joined(halves)
    none = ask_nothing(lost, distinct(answered.keys(num_entities)), num_entities)

    progress("faking queries")
    types = fitting_types(kb.types, seen_in(kb.facts, num_relations), kb.vocabulary)
    wanted = fakes_wanted(answered, none, num_relations)
    fakes = _fake(Queries.joined([answered, none]), kb, types, wanted, for_faking)
    # Where too few fakes can be found, more of N keep half of the queries without answers.
    none = none.take(for_trimming.permutation(len(none))[: len(answered) - len(fakes)])

    progress("dealing into valid and test")
    dealt = zip(halves, halved(none, for_dealing), halved(fakes, for_dealing), strict=True)
    kept = np.flatnonzero(~gone).astype(np.int32)
    new_ids = np.cumsum(~gone, dtype=np.int32) - np.int32(1)  # for the kept ones
    valid, test = (_renumbered(Queries.joined(part), new_ids) for part in dealt)
    benchmark = Benchmark(
        kb.vocabulary.with_entities(kept),
        _renumbered_facts(parts.train, new_ids),
        valid,
        test,
        masks_other_split=deal == "by-fact",
        types=types.with_entities(kept) if kb.types else None,
    )
    settings = {
        "removed": removed if isinstance(removed, int | str) else "list",
        "held_out": None if kb.has_splits else held_out,
        "deal": deal,
        "seed": seed,
    }
    return replace(benchmark, origin=origin_of(kb, benchmark, parts, settings, sum(wanted)))


def _check(held_out: float, deal: str, seed: int) -> None:
    if not 0 < held_out < 1:
        raise ConfigError(f"held_out = {held_out}; choose a share between 0 and 1")
    if deal not in DEALS:
        raise ConfigError(f"unknown deal {deal!r}; choose from {', '.join(DEALS)}")
    if seed < 0:
        raise ConfigError(f"seed = {seed}; choose 0 or more")


def _choose(
    kb: KnowledgeBase,
    held: Mask,
    removed: int | str | Sequence[str],
    deal: str,
    rng: np.random.Generator,
) -> Mask:  # (entity,)
    """The entities to remove."""
    if not isinstance(removed, int | str):
        return named(removed, kb.vocabulary)
    order = rng.permutation(kb.vocabulary.num_entities)
    if isinstance(removed, int):
        return first_of(order, removed)
    if removed != "auto":
        raise ConfigError(f"removed = {removed!r}; choose a number, 'auto' or a list of names")
    halves = np.zeros(len(kb.facts), dtype=np.int64)
    if deal == "by-fact":
        halves[held] = halves_of(kb.facts[held, 1], rng)
    return first_of(order, quarter(kb.facts, held, order, halves, kb.vocabulary.num_relations))


def _ask(
    parts: Removal,
    lost: Keys,
    num_entities: int,
    num_relations: int,
    deal: str,
    rng: np.random.Generator,
) -> tuple[Queries, Queries]:
    """The queries with answers, valid and test.

    By fact, each fact is asked for in one half only, from both sides, so that no half knows an
    answer that the other one asks for. By query, a fact may be asked for in both.
    """
    if deal == "by-fact":
        halves = halves_of(parts.answers[:, 1], rng)
        valid, test = (
            ask(parts.answers[halves == half], lost, num_entities, num_relations)
            for half in (VALID, TEST)
        )
    else:
        valid, test = halved(ask(parts.answers, lost, num_entities, num_relations), rng)
    if not (len(valid) and len(test)):
        raise DataError(
            f"too small a graph: {len(parts.answers):,} held-out facts are left to ask for; "
            "hold out more, or remove fewer entities"
        )
    return valid, test


def _fake(
    real: Queries, kb: KnowledgeBase, types: Types, wanted: Quota, rng: np.random.Generator
) -> Queries:
    num_entities, num_relations = kb.vocabulary.num_entities, kb.vocabulary.num_relations
    anchors, relations, _ = both_ways(kb.facts, num_relations)
    taken = distinct(relations.astype(np.int64) * num_entities + anchors)
    tails, heads = range(num_relations), range(num_relations, 2 * num_relations)
    return Queries.joined(
        [
            fake(real, taken, types, wanted.tails, tails, rng),
            fake(real, taken, types, wanted.heads, heads, rng),
        ]
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
