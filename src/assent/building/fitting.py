"""Which entities a relation may be asked about: types given, learned, or derived from the graph."""

import re

import numpy as np
from scipy.sparse import csr_array

from assent.core.arrays import Ids, distinct, frozen, rows_of
from assent.core.types import Pairs, Types
from assent.core.vocabulary import Vocabulary

NEARLY_ALL = 0.95  # of a slot's entities have a type: then the slot takes this type
SHARED = 5  # entities that two slots share: then who stands in one fits the other

FREEBASE_PATH = re.compile(r"(/[^/]+/[^/]+)/.+")  # /people/person/spouse_s...


def seen_in(facts: Ids, num_relations: int) -> Pairs:  # (pair, 2)
    """The pairs (entity, slot) of the facts: heads stand in slot r, tails in slot r + relations."""
    heads, relations, tails = facts.T
    slots = np.concatenate([relations, relations + np.int32(num_relations)])
    return np.stack([np.concatenate([heads, tails]), slots], axis=1)


def fitting_types(given: Types | None, seen: Pairs, vocabulary: Vocabulary) -> Types:
    """The given types, their gaps learned from who stands where; without any, derived ones."""
    if given is None:
        return derived(seen, vocabulary)
    return learned(given, seen, vocabulary)


def learned(given: Types, seen: Pairs, vocabulary: Vocabulary) -> Types:
    """Fills each slot that has no types with those that nearly all its entities share.

    A type that nearly every entity has ("thing") tells nothing and is left out.
    """
    num_slots = 2 * vocabulary.num_relations
    has_type = csr_array(
        (np.ones(len(given.entity_types), np.int64), given.entity_types, given.entity_offsets),
        shape=(vocabulary.num_entities, len(given.names)),
    )
    stands = _incidence(seen, vocabulary)
    typed = np.diff(given.entity_offsets) > 0
    holders = (stands.T @ typed.astype(np.int64)).ravel()  # (slot,)
    shared = (stands.T @ has_type).tocoo()  # (slot, type)
    slots, types = shared.coords
    telling = has_type.sum(axis=0) < NEARLY_ALL * typed.sum()
    open_slots = np.diff(given.slot_offsets) == 0
    taken = (shared.data >= NEARLY_ALL * holders[slots]) & telling[types] & open_slots[slots]
    entity_pairs = np.stack([rows_of(given.entity_offsets), given.entity_types], axis=1)
    given_pairs = np.stack([rows_of(given.slot_offsets), given.slot_types], axis=1)
    new_pairs = np.stack([slots[taken], types[taken]], axis=1)
    return Types.of_pairs(
        given.names,
        entity_pairs,
        np.concatenate([given_pairs, new_pairs]),
        vocabulary.num_entities,
        num_slots,
    )


def derived(seen: Pairs, vocabulary: Vocabulary) -> Types:
    """Without types, the slots an entity stands in are its types.

    A slot takes itself and the slots that share enough entities with it. Where the relations'
    names state a domain, that counts too.
    """
    num_slots = 2 * vocabulary.num_relations
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
    """The domains that Freebase's relation names state: /people/person/spouse is a person's."""
    matches = [FREEBASE_PATH.fullmatch(name) for name in vocabulary.relations]
    domains = [match[1] for match in matches if match]
    if not domains or len(domains) < len(matches):
        return None
    names, of_relation = np.unique(domains, return_inverse=True)
    heads = seen[seen[:, 1] < vocabulary.num_relations]
    entity_pairs = np.stack([heads[:, 0], of_relation[heads[:, 1]]], axis=1)
    slot_pairs = np.stack([np.arange(vocabulary.num_relations), of_relation], axis=1)
    return Types.of_pairs(
        names.tolist(),
        entity_pairs,
        slot_pairs,
        vocabulary.num_entities,
        2 * vocabulary.num_relations,
    )


def _incidence(seen: Pairs, vocabulary: Vocabulary) -> csr_array:
    """1 where an entity stands in a slot: (entity, slot)."""
    num_slots = 2 * vocabulary.num_relations
    keys = distinct(seen[:, 0].astype(np.int64) * num_slots + seen[:, 1])
    entities, slots = np.divmod(keys, num_slots)
    return csr_array(
        (np.ones(len(keys), np.int64), (frozen(entities), frozen(slots))),
        shape=(vocabulary.num_entities, num_slots),
    )
