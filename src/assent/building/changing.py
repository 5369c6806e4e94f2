"""A benchmark whose graph changed: new facts and entities join it, facts taken back leave it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assent.building.asking import TEST, VALID
from assent.building.counting import table_one
from assent.building.growing import Grown, grow, pairs_of, translation
from assent.building.reasking import Parts, ask_again
from assent.building.removing import last_of_each, pairs_held_out
from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, frozen
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase, fact_keys, facts_of
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError

HELD_OUT = 0.2  # share of the new facts that is asked for: few facts are to tell much


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A changed benchmark, and what is new in it. All ids are those of the changed benchmark."""

    benchmark: Benchmark
    first_new: int  # id of the first new entity; all before it have the ids that they had
    added: Ids  # (fact, 3)  new train facts
    held_out: Ids  # (fact, 3)  new facts that valid or test ask for
    taken_back: Ids  # (fact, 3)  of those between entities that were not removed
    num_taken_back: int  # of all, those about removed entities too
    fresh: Mapping[str, Mask]  # split -> (query,)  those that the new facts brought
    known: int  # new facts that the benchmark had already
    beyond: int  # new facts about entities that building removed: they are kept with the others
    strangers: Mapping[str, int]  # relation that the benchmark does not have -> its new facts

    @property
    def num_new(self) -> int:
        """How many entities are new."""
        return self.benchmark.vocabulary.num_entities - self.first_new

    @property
    def is_new(self) -> Mask:  # (entity,)
        return np.arange(self.benchmark.vocabulary.num_entities) >= self.first_new


def change(
    benchmark: Benchmark,
    added: KnowledgeBase,
    taken_back: KnowledgeBase | None = None,
    *,
    held_out: float = HELD_OUT,
    seed: int = 0,
) -> Change:
    """The benchmark with new facts, and without those taken back.

    A share of the new facts is held out and asked for in valid and test; a fact of each new entity
    stays in train. A new fact between two entities that are asked about already is asked for as
    well, in the same split: in train, it would give the answer away.
    """
    if not 0 <= held_out < 1:
        raise ConfigError(f"held_out = {held_out}; choose a share from 0 to below 1")
    grown = grow(benchmark, added)
    whole = grown.whole
    sources = {
        "train": benchmark.train,
        "valid": benchmark.facts("valid"),
        "test": benchmark.facts("test"),
        "removed": benchmark.removed.facts if benchmark.removed else frozen(np.empty((0, 3))),
    }
    old = {name: grown.renumbered(facts) for name, facts in sources.items()}
    had = distinct(np.concatenate([fact_keys(facts, whole) for facts in old.values()]))
    out = _keys_taken_back(taken_back, whole, had)
    keys = distinct(fact_keys(grown.added, whole))
    if (both := keys[found_in(out, keys)]).size:
        raise DataError(f"{_told(both[0], whole)}: is to be added and to be taken back; choose one")
    known = found_in(had, keys)
    new = facts_of(keys[~known], whole)
    if not len(new) and not len(out):
        raise DataError(_nothing_new(len(keys), grown))
    left = {name: facts[~found_in(out, fact_keys(facts, whole))] for name, facts in old.items()}
    beyond = (new[:, [0, 2]] >= grown.kept).any(axis=1)
    inside = new[~beyond]
    streams = np.random.default_rng([seed, len(new), len(out)]).spawn(2)
    forced = _splits_given(inside, left, whole.num_entities)
    held = forced >= 0
    held |= _chosen(inside, left["train"], held, held_out, whole, streams[0])
    train = np.concatenate([left["train"], inside[~held]])
    if not len(train):
        raise DataError("no train fact would be left; take back fewer facts")
    parts = Parts(
        frozen(train),
        frozen(np.concatenate([left["removed"], new[beyond]])),
        frozen(inside[held]),
        frozen(forced[held]),
        out,
    )
    (valid, new_valid), (test, new_test) = ask_again(benchmark, grown, parts, streams[1])
    if not len(valid) or not len(test):
        raise DataError("no query of valid or of test would be left; take back fewer facts")
    changed = Benchmark(
        grown.vocabulary,
        KnowledgeBase.of_ids(grown.vocabulary, parts.train).facts,
        valid,
        test,
        benchmark.masks_other_split,
        grown.types_of_kept(),
        schema=benchmark.schema,
        # without such facts, a removed entity is one that nobody speaks of
        removed=KnowledgeBase.of_ids(whole, parts.removed, types=grown.types)
        if len(parts.removed)
        else None,
    )
    gone = facts_of(out, whole)
    found = Change(
        changed,
        grown.first_new,
        frozen(inside[~held]),
        parts.held_out,
        frozen(gone[(gone[:, [0, 2]] < grown.kept).all(axis=1)]),
        len(gone),
        {"valid": new_valid, "test": new_test},
        int(known.sum()),
        int(beyond.sum()),
        grown.strangers,
    )
    origin = _origin(benchmark, found, {"held_out": held_out, "seed": seed})
    return replace(found, benchmark=replace(changed, origin=origin))


def _keys_taken_back(kb: KnowledgeBase | None, whole: Vocabulary, had: Keys) -> Keys:
    """The keys of facts to take back, ascending; one that is not there is refused."""
    if kb is None:
        return np.empty(0, np.int64)
    if not len(kb.facts):
        raise DataError(f"{kb.source.name}: no fact to take back in it")
    entities, relations = translation(kb, whole)
    heads, rels, tails = kb.facts.T
    ids = np.stack([entities[heads], relations[rels], entities[tails]], axis=1)
    there: Mask = np.asarray((ids >= 0).all(axis=1))
    there[there] = found_in(had, fact_keys(ids[there], whole))
    if not there.all():
        place = int(np.argmin(there))
        head, relation, tail = kb.facts[place].tolist()
        names = kb.vocabulary
        fact = f"{names.entities[head]} {names.relations[relation]} {names.entities[tail]}"
        more = int((~there).sum()) - 1
        raise DataError(
            f"{kb.source.name}: {fact}: is to be taken back, but the benchmark does not have it"
            + (f", nor {more:,} more of {len(there):,}" if more else "")
        )
    return distinct(fact_keys(ids, whole))


def _nothing_new(facts: int, grown: Grown) -> str:
    if grown.strangers:
        names = ", ".join(sorted(grown.strangers)[:5])
        return f"only facts of relations that the run does not know ({names}); build and train anew"
    return f"nothing is new: all {facts:,} facts are known already" if facts else "no fact in it"


def _splits_given(new: Ids, left: Mapping[str, Ids], entities: int) -> Ids:  # (fact,)
    """VALID or TEST where the two entities are asked about there, and no train fact joins them."""
    pairs = pairs_of(new, entities)
    joined = found_in(distinct(pairs_of(left["train"], entities)), pairs)
    forced = np.full(len(new), -1, np.int32)
    for split, name in ((TEST, "test"), (VALID, "valid")):
        forced[found_in(distinct(pairs_of(left[name], entities)), pairs) & ~joined] = split
    return forced


def _chosen(
    new: Ids, train: Ids, held: Mask, share: float, whole: Vocabulary, rng: np.random.Generator
) -> Mask:  # (fact,)
    """A random share of the new facts, but for one of each entity and relation not in train yet."""
    heads, relations, tails = train.T
    lonely = np.ones(whole.num_entities, bool)
    lonely[heads] = lonely[tails] = False
    unseen = np.ones(whole.num_relations, bool)
    unseen[relations] = False
    order = rng.permutation(len(new))
    order = order[np.argsort(~held[order], kind="stable")]  # what is held out cannot stay
    last = np.zeros(len(new), bool)
    ends = new[order][:, [0, 2]]
    for names, alone in ((ends, lonely), (new[order][:, [1]], unseen)):
        keeps = np.zeros(len(new), bool)
        keeps[last_of_each(names, order, len(alone))] = True
        columns = new[:, [0, 2]] if names is ends else new[:, [1]]
        last |= keeps & alone[columns].any(axis=1)
    entities = whole.num_entities
    joined = found_in(distinct(pairs_of(train, entities)), pairs_of(new, entities))
    return pairs_held_out(new, ~last & ~joined & ~held, share, entities, rng)


def _told(key: int, names: Vocabulary) -> str:
    head, relation, tail = facts_of(np.array([key]), names)[0]
    return f"{names.entity(head)} {names.relation(relation)} {names.entity(tail)}"


def _origin(before: Benchmark, found: Change, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest: what the benchmark was built from, and each change since."""
    after = found.benchmark
    counts = {
        **before.origin.get("counts", {}),
        "entities": after.vocabulary.num_entities,
        "train_facts": len(after.train),
        "answer_facts": len(after.facts("valid")) + len(after.facts("test")),
        "queries": table_one(after),
    }
    this = {
        "before": before.digest(),
        "new_facts": len(found.added) + len(found.held_out) + found.beyond,
        "held_out_facts": len(found.held_out),
        "taken_back": found.num_taken_back,
        "new_entities": found.num_new,
        "settings": dict(settings),
    }
    changes = [*before.origin.get("changes", ()), this]
    return {**before.origin, "counts": counts, "changes": changes}
