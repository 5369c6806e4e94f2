"""Which entities a slot may be asked about: by types given, learned, or derived from the graph."""

import re
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from assent.core.arrays import Ids, Keys, distinct, frozen, pair_keys, rows_of
from assent.core.queries import both_ways
from assent.core.schema import NOTHING_STATED, Schema
from assent.core.types import Pairs, Types
from assent.core.vocabulary import Vocabulary

NEARLY_ALL = 0.95  # share of a slot's entities that must have a type for the slot to take it
SHARED = 5  # entities that two slots must share for those of one to fit the other

FREEBASE_PATH = re.compile(r"(/[^/]+/[^/]+)/.+")  # /people/person/spouse_s...


def seen_in(facts: Ids, num_relations: int) -> Pairs:  # (pair, 2)
    """The pairs (entity, slot) where a fact makes the entity an anchor of the slot."""
    anchors, slots, _ = both_ways(facts, num_relations)
    return np.stack([anchors, slots], axis=1)


def fitting_types(
    given: Types | None, seen: Pairs, vocabulary: Vocabulary, schema: Schema = NOTHING_STATED
) -> Types:
    """The given types, with those of slots that have none learned; without any, derived ones."""
    if given is None:
        return derived(seen, vocabulary)
    return learned(given, seen, vocabulary, schema)


def learned(
    given: Types, seen: Pairs, vocabulary: Vocabulary, schema: Schema = NOTHING_STATED
) -> Types:
    """Fills each slot that has no types with those that nearly all its entities share."""
    has_type = csr_array(
        (np.ones(len(given.entity_types), np.int64), given.entity_types, given.entity_offsets),
        shape=(vocabulary.num_entities, len(given.names)),
    )
    stands = _incidence(seen, vocabulary)
    typed = np.diff(given.entity_offsets) > 0
    holders = (stands.T @ typed.astype(np.int64)).ravel()  # (slot,)
    shared = (stands.T @ has_type).tocoo()  # (slot, type)
    slots, types = shared.coords
    return types_taken(given, slots, types, shared.data, holders, vocabulary, schema)


def types_taken(
    given: Types,
    slots: Keys,
    types: Keys,
    shared: Keys,
    holders: Keys,
    vocabulary: Vocabulary,
    schema: Schema,
) -> Types:
    """The given types, with those of slots that have none taken from how many entities have them.

    Of the entities in `slots` (pair,), `shared` (pair,) have `types` (pair,); `holders` (slot,)
    have any type. A type that nearly every entity has, such as "thing", is left out. So is a type
    that the schema puts above another one of the slot: to have either of them would be enough.
    """
    typed = int(np.sum(np.diff(given.entity_offsets) > 0))
    telling = np.bincount(given.entity_types, minlength=len(given.names)) < NEARLY_ALL * typed
    open_slots = np.diff(given.slot_offsets) == 0
    taken = (shared >= NEARLY_ALL * holders[slots]) & telling[types] & open_slots[slots]
    entity_pairs = np.stack([rows_of(given.entity_offsets), given.entity_types], axis=1)
    given_pairs = np.stack([rows_of(given.slot_offsets), given.slot_types], axis=1)
    new_pairs = _lowest(np.stack([slots[taken], types[taken]], axis=1), given.names, schema)
    return Types.of_pairs(
        given.names,
        entity_pairs,
        np.concatenate([given_pairs, new_pairs]),
        vocabulary.num_entities,
        vocabulary.num_slots,
    )


def _lowest(slot_types: Pairs, names: Sequence[str], schema: Schema) -> Pairs:
    """The (slot, type) pairs without those whose type is above another type of the slot."""
    places = {name: place for place, name in enumerate(names)}
    above = {
        places[low]: {places[high] for high in highs if high in places}
        for low, highs in schema.supertypes().items()
        if low in places
    }
    taken = set(map(tuple, slot_types.tolist()))
    # Types in a circle are the same: of these the first stays.
    covered = {
        (slot, high)
        for slot, low in taken
        for high in above.get(low, ())
        if low not in above.get(high, ()) or low < high
    }
    return np.array(sorted(taken - covered), dtype=np.int64).reshape(-1, 2)


def derived(seen: Pairs, vocabulary: Vocabulary) -> Types:
    """Types for a graph without any: the types of an entity are the slots that it occurs in.

    A slot takes the entities that occur in it, or in a slot that shares enough entities with it.
    Where the names of the relations state a domain, entities of that domain are taken as well.
    """
    num_slots = vocabulary.num_slots
    stands = _incidence(seen, vocabulary)
    shared = (stands.T @ stands).tocoo()
    alike = shared.data >= SHARED
    slots = np.arange(num_slots)
    slot_pairs = np.concatenate(
        [np.stack([slots, slots], axis=1), np.stack([c[alike] for c in shared.coords], axis=1)]
    )
    names = [f"head of {name}" for name in vocabulary.relations]
    names += [f"tail of {name}" for name in vocabulary.relations]
    entity_pairs: Pairs = seen
    stated = stated_types(seen, vocabulary)
    if stated is not None:
        shift = [0, len(names)]
        names += stated.names
        entity_types = np.stack([rows_of(stated.entity_offsets), stated.entity_types], axis=1)
        slot_types = np.stack([rows_of(stated.slot_offsets), stated.slot_types], axis=1)
        entity_pairs = np.concatenate([entity_pairs, entity_types + shift])
        slot_pairs = np.concatenate([slot_pairs, slot_types + shift])
    return Types.of_pairs(names, entity_pairs, slot_pairs, vocabulary.num_entities, num_slots)


def stated_types(seen: Pairs, vocabulary: Vocabulary) -> Types | None:
    """The domains that names of Freebase state: heads of /people/person/spouse are persons."""
    domains = _domains(vocabulary)
    if not domains:
        return None
    names, of_relation = np.unique(domains, return_inverse=True)
    heads = seen[~vocabulary.asks_for_head(seen[:, 1])]
    entity_pairs = np.stack([heads[:, 0], of_relation[heads[:, 1]]], axis=1)
    slot_pairs = np.stack([np.arange(vocabulary.num_relations), of_relation], axis=1)
    return Types.of_pairs(
        names.tolist(),
        entity_pairs,
        slot_pairs,
        vocabulary.num_entities,
        vocabulary.num_slots,
    )


def domains_stated(vocabulary: Vocabulary) -> Keys | None:  # (relation,)
    """The number of the domain that each relation's name states, if all of them state one."""
    domains = _domains(vocabulary)
    return np.unique(domains, return_inverse=True)[1].astype(np.int64) if domains else None


def _domains(vocabulary: Vocabulary) -> list[str]:
    """The domain that each relation's name states; none if one of them states none."""
    matches = [FREEBASE_PATH.fullmatch(name) for name in vocabulary.relations]
    domains = [match[1] for match in matches if match]
    return domains if len(domains) == len(matches) else []


def _incidence(seen: Pairs, vocabulary: Vocabulary) -> csr_array:
    """A matrix (entity, slot): 1 where an entity occurs in a slot."""
    num_slots = vocabulary.num_slots
    keys = distinct(pair_keys(seen[:, 0], seen[:, 1], num_slots))
    entities, slots = np.divmod(keys, num_slots)
    return csr_array(
        (np.ones(len(keys), np.int64), (frozen(entities), frozen(slots))),
        shape=(vocabulary.num_entities, num_slots),
    )
