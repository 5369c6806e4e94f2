"""A changed benchmark: ids stay, new ones are appended, facts taken back are nowhere."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import assent
import toy
from assent.building.changing import change
from assent.errors import DataError


def facts_of(benchmark, split):
    return toy.named_facts(benchmark.facts(split), benchmark.vocabulary)


def everywhere(benchmark):
    """All facts of a benchmark by their names, and where each is."""
    found = {
        "train": toy.named_facts(benchmark.train, benchmark.vocabulary),
        "valid": facts_of(benchmark, "valid"),
        "test": facts_of(benchmark, "test"),
        "removed": set(),
    }
    if benchmark.removed:
        found["removed"] = toy.named_facts(benchmark.removed.facts, benchmark.removed.vocabulary)
    return found


@st.composite
def changes(draw):
    """A benchmark, facts that come to it with new entities, and facts that are taken back."""
    seed = draw(st.integers(0, 50))
    kb = toy.crowd(seed, num_entities=30, num_relations=3, facts_each=5)
    old = toy.built(kb, deal=draw(st.sampled_from(["by-fact", "by-query"])))
    names = old.whole().vocabulary
    ends = st.sampled_from([*names.entities, "new1", "new2", "new3"])
    fact = st.tuples(ends, st.sampled_from([*names.relations, "unheard_of"]), ends)
    added = draw(st.lists(fact, min_size=1, max_size=12, unique=True))
    there = sorted(set.union(*everywhere(old).values()))
    gone = draw(st.lists(st.sampled_from(there), max_size=6, unique=True))
    assume(not {*added} & {*gone})
    return old, added, gone


@given(changes(), st.integers(0, 3))
@settings(max_examples=60, deadline=None)
def test_ids_stay_new_ones_come_after_and_facts_taken_back_are_nowhere(given_change, seed):
    old, added, gone = given_change
    before = everywhere(old)
    known = set.union(*before.values())
    heard = {fact for fact in added if fact[1] != "unheard_of"}
    assume(heard - known or gone)
    try:
        found = change(
            old, toy.of_names(added), toy.of_names(gone) if gone else None, seed=seed, held_out=0.4
        )
    except DataError as error:
        if "would be left" not in str(error):
            raise
        return
    new, after = found.benchmark, everywhere(found.benchmark)
    size = old.vocabulary.num_entities
    assert new.vocabulary.entities[:size] == old.vocabulary.entities
    assert new.vocabulary.relations == old.vocabulary.relations
    assert {*new.vocabulary.entities[size:]} <= {"new1", "new2", "new3"}
    assert set.union(*after.values()) == (known | heard) - {*gone}
    assert not {*gone} & set.union(*after.values())
    for split in ("train", "removed"):
        assert before[split] - {*gone} <= after[split]
    for split in ("valid", "test"):
        assert before[split] - {*gone} <= after[split]
        assert not after[split] & after["train"]
    assert found.known == len(heard & known)
    assert found.num_taken_back == len(gone)  # those about removed entities too
    assert (found.num_taken_back > len(found.taken_back)) == bool(
        {*gone} - {fact for fact in known if {fact[0], fact[2]} <= {*old.vocabulary.entities}}
    )
    assert sum(found.strangers.values()) == len(added) - len(heard)
    in_train = np.unique(new.train[:, [0, 2]])
    assert {*range(size, new.vocabulary.num_entities)} <= {*in_train.tolist()}
    for finding in assent.audit(new):
        if finding.name in ("fakes with answers in train", "answers that stand in train"):
            assert finding.count == 0


def test_no_fake_is_answered_by_a_new_fact():
    old = toy.built(toy.crowd(1, num_entities=40, num_relations=3, facts_each=6))
    fakes = old.valid.take(old.valid.subsets == 2)
    names = old.vocabulary
    slot, anchor = int(fakes.relations[0]), names.entities[int(fakes.anchors[0])]
    other = names.entities[-1]
    fact = (anchor, names.relation_name(slot), other)
    if slot >= names.num_relations:
        fact = (other, names.relation_name(slot), anchor)
    new = change(old, toy.of_names([fact]), held_out=0).benchmark
    left = new.valid.take(new.valid.subsets == 2)
    key = (int(fakes.relations[0]), int(fakes.anchors[0]))
    pairs = zip(left.relations.tolist(), left.anchors.tolist(), strict=True)
    assert key not in pairs


@pytest.fixture
def old():
    return toy.built(toy.crowd(0, num_entities=40, num_relations=3, facts_each=6))


def test_what_is_known_already_is_no_change(old):
    known = toy.of_names(sorted(everywhere(old)["train"])[:3])
    with pytest.raises(DataError, match="all 3 facts are known already"):
        change(old, known)


def test_a_fact_that_is_not_there_cannot_be_taken_back(old):
    added = toy.of_names([("new", old.vocabulary.relations[0], old.vocabulary.entities[0])])
    with pytest.raises(DataError, match="does not have it"):
        change(old, added, toy.of_names([("nobody", "knows", "noone")]))


def test_a_fact_cannot_come_and_go(old):
    fact = toy.of_names(sorted(everywhere(old)["train"])[:1])
    with pytest.raises(DataError, match="choose one"):
        change(old, fact, fact)


def test_facts_of_new_relations_alone_need_a_training(old):
    added = toy.of_names([(old.vocabulary.entities[0], "unheard_of", old.vocabulary.entities[1])])
    with pytest.raises(DataError, match="build and train anew"):
        change(old, added)


def test_without_any_removed_fact_left_it_is_written_and_read_again(old, tmp_path):
    assert old.removed is not None
    gone = toy.of_names(sorted(everywhere(old)["removed"]))
    added = toy.of_names([("new", old.vocabulary.relations[0], old.vocabulary.entities[0])])
    new = change(old, added, gone).benchmark
    assert new.removed is None
    assent.save(new, tmp_path / "new")
    assert assent.load(tmp_path / "new").digest() == new.digest()
