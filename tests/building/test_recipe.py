"""A benchmark is what the paper describes and, dealt by fact, its splits give nothing away."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import oracles
import toy
from assent.building.drawing import RECIPES
from assent.building.fitting import fitting_types, seen_in
from assent.building.recipe import DEALS, build
from assent.building.removing import AUTO_LIMIT
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase, Split
from assent.core.queries import Queries
from assent.errors import ConfigError, DataError

seeds = st.integers(0, 2**16)
deals = st.sampled_from(sorted(DEALS))
removals = st.one_of(st.just("auto"), st.integers(0, 6))


@pytest.fixture(scope="module", params=RECIPES, autouse=True)
def recipe(request):
    """All that is said here holds for every recipe."""
    usual = build.__kwdefaults__["recipe"]
    build.__kwdefaults__["recipe"] = request.param
    yield request.param
    build.__kwdefaults__["recipe"] = usual


def paper_of(kb: KnowledgeBase, benchmark: Benchmark) -> oracles.Paper:
    """What A.1 makes of the same graph, with the same facts held out and entities removed.

    A fact that lost an end is held out in the end, wherever it came from; so what was held out
    can be read from the benchmark's train facts.
    """
    facts = toy.named_facts(kb.facts, kb.vocabulary)
    train = toy.named_facts(benchmark.train, benchmark.vocabulary)
    removed = set(kb.vocabulary.entities) - set(benchmark.vocabulary.entities)
    assert train <= facts
    return oracles.appendix_a1(train, facts - train, removed)


def all_asked(benchmark: Benchmark) -> set[toy.Asked]:
    valid, test = toy.both_splits(benchmark)
    return valid | test


def fakes_of(benchmark: Benchmark) -> set[toy.Asked]:
    return toy.only("F", all_asked(benchmark))


def same(one: Benchmark, other: Benchmark) -> bool:
    """The same arrays, names and origin."""
    arrays = [
        [
            b.train,
            *(getattr(part, name) for part in (b.valid, b.test) for name in Queries.__slots__),
        ]
        for b in (one, other)
    ]
    return (
        one.vocabulary == other.vocabulary
        and one.origin == other.origin
        and all(np.array_equal(a, b) for a, b in zip(*arrays, strict=True))
    )


# By query, as the paper does


def test_the_toy_without_dan_and_oslo():
    benchmark = build(toy.typed(toy.split()), removed=["dan", "oslo"], deal="by-query", seed=3)
    asked = all_asked(benchmark)
    assert toy.only("CI", asked) == {
        ("tail", "ada", "knows", "I", frozenset({"cleo"})),  # dan is lost
        ("head", "cleo", "knows", "C", frozenset({"ada"})),
        ("tail", "ben", "knows", "C", frozenset({"ada"})),
        ("head", "ada", "knows", "C", frozenset({"ben"})),
        ("tail", "eve", "lives_in", "C", frozenset({"lima"})),
        ("head", "lima", "lives_in", "C", frozenset({"eve"})),
    }
    # Six have answers, so three are empty and three are fake.
    assert len(toy.only("N", asked)) == len(toy.only("F", asked)) == 3
    assert {query[1:3] for query in toy.only("N", asked)} <= {
        ("eve", "born_in"),
        ("ada", "lives_in"),
        ("cleo", "lives_in"),
        ("cleo", "knows"),
        ("eve", "knows"),
        ("kyiv", "twinned_with"),
        ("rome", "twinned_with"),
    }
    assert benchmark.vocabulary.num_entities == 11
    assert not {"dan", "oslo"} & set(benchmark.vocabulary.entities)


@given(toy.crowds(splits=True), st.data(), seeds)
def test_by_query_equals_the_paper_key_by_key(kb, data, seed):
    assume(kb.has_splits)
    names = st.sampled_from(kb.vocabulary.entities)
    removed = data.draw(st.lists(names, max_size=kb.vocabulary.num_entities // 3))
    benchmark = toy.built(kb, removed=removed, deal="by-query", seed=seed)
    train = toy.named_facts(kb.part(Split.TRAIN), kb.vocabulary)
    held = toy.named_facts(kb.part(Split.VALID, Split.TEST), kb.vocabulary)
    paper = oracles.appendix_a1(train, held, removed)
    asked, expected = all_asked(benchmark), paper.asked()
    assert toy.named_facts(benchmark.train, benchmark.vocabulary) == paper.train
    assert set(benchmark.vocabulary.entities) == set(kb.vocabulary.entities) - set(removed)
    assert toy.only("CI", asked) == toy.only("CI", expected)
    none = toy.only("N", expected)
    assert toy.only("N", asked) <= none
    if 2 * len(none) <= len(toy.only("CI", asked)):
        assert toy.only("N", asked) == none


@given(toy.crowds(), removals, seeds)
def test_by_query_without_splits_is_the_paper_too(kb, removed, seed):
    benchmark = toy.built(kb, removed=removed, deal="by-query", seed=seed)
    asked, expected = all_asked(benchmark), paper_of(kb, benchmark).asked()
    assert toy.only("CI", asked) == toy.only("CI", expected)
    assert toy.only("N", asked) <= toy.only("N", expected)


@given(toy.crowds(), removals, seeds)
def test_by_query_each_query_stands_in_one_split_and_splits_are_even(kb, removed, seed):
    valid, test = toy.both_splits(toy.built(kb, removed=removed, deal="by-query", seed=seed))
    assert not {toy.key(query) for query in valid} & {toy.key(query) for query in test}
    for letters in ("CI", "N", "F"):
        assert abs(len(toy.only(letters, valid)) - len(toy.only(letters, test))) <= 1
    counts = Counter(query[0:1] + query[2:4] for query in valid)
    counts.subtract(query[0:1] + query[2:4] for query in test)
    assert all(abs(difference) <= 1 for difference in counts.values())


@given(toy.crowds(), seeds)
def test_by_query_only_train_is_masked(kb, seed):
    benchmark = toy.built(kb, deal="by-query", seed=seed)
    train = oracles.grouped(toy.named_facts(benchmark.train, benchmark.vocabulary))
    known = toy.named(benchmark.known("valid"), benchmark.vocabulary)
    assert {query[:3]: set(query[4]) for query in known} == train


# By fact: nothing that one split asks for is known to the other


@given(toy.crowds(), removals, seeds)
def test_by_fact_each_fact_is_asked_in_one_split_and_there_from_both_sides(kb, removed, seed):
    benchmark = toy.built(kb, removed=removed, seed=seed)
    valid, test = toy.both_splits(benchmark)
    kept = set(benchmark.vocabulary.entities)
    train = toy.named_facts(benchmark.train, benchmark.vocabulary)
    held = {
        (head, relation, tail)
        for head, relation, tail in toy.named_facts(kb.facts, kb.vocabulary) - train
        if {head, tail} <= kept
    }
    in_valid, in_test = oracles.answer_facts(valid), oracles.answer_facts(test)
    assert in_valid | in_test == held
    assert not in_valid & in_test
    for part, facts in ((valid, in_valid), (test, in_test)):
        answers = {query[:3]: set(query[4]) for query in part if query[4]}
        assert answers == oracles.grouped(facts)


@given(toy.crowds(), removals, seeds)
def test_by_fact_the_facts_of_each_relation_are_dealt_evenly(kb, removed, seed):
    valid, test = toy.both_splits(toy.built(kb, removed=removed, seed=seed))
    in_valid, in_test = oracles.answer_facts(valid), oracles.answer_facts(test)
    counts = Counter(relation for _, relation, _ in in_valid)
    counts.subtract(relation for _, relation, _ in in_test)
    assert all(abs(difference) <= 1 for difference in counts.values())
    assert abs(len(in_valid) - len(in_test)) <= 1


@given(toy.crowds(), removals, seeds)
def test_by_fact_no_query_is_empty_only_because_its_answers_went_to_the_other_split(
    kb, removed, seed
):
    valid, test = toy.both_splits(toy.built(kb, removed=removed, seed=seed))
    empty = {toy.key(query) for query in valid | test if not query[4]}
    answered = {toy.key(query) for query in valid | test if query[4]}
    assert not empty & answered


@given(toy.crowds(), removals, seeds)
def test_by_fact_a_query_is_incomplete_if_the_graph_lost_an_answer_to_it(kb, removed, seed):
    benchmark = toy.built(kb, removed=removed, seed=seed)
    paper = paper_of(kb, benchmark)
    for part in toy.both_splits(benchmark):
        for query in toy.only("CIN", part):
            assert toy.key(query) in (paper.complete if query[3] == "C" else paper.incomplete)
        for query in toy.only("N", part):
            assert not paper.incomplete[toy.key(query)]


@given(toy.crowds(), removals, seeds)
def test_by_fact_empty_and_fake_queries_stand_in_one_split_each_and_evenly(kb, removed, seed):
    valid, test = toy.both_splits(toy.built(kb, removed=removed, seed=seed))
    for letter in "NF":
        in_valid, in_test = toy.only(letter, valid), toy.only(letter, test)
        assert not in_valid & in_test
        assert abs(len(in_valid) - len(in_test)) <= 1


@given(toy.crowds(), removals, seeds)
def test_by_fact_train_and_the_other_splits_answers_are_masked_and_nothing_else(kb, removed, seed):
    benchmark = toy.built(kb, removed=removed, seed=seed)
    valid, test = toy.both_splits(benchmark)
    train = toy.named_facts(benchmark.train, benchmark.vocabulary)
    for split, mine, other in (("valid", valid, test), ("test", test, valid)):
        known = toy.named(benchmark.known(split), benchmark.vocabulary)
        masked = {query[:3]: set(query[4]) for query in known}
        assert masked == oracles.known(train, other, masks_other_split=True)
        assert not oracles.answer_facts(known) & oracles.answer_facts(mine)


# How many of each kind


@given(toy.crowds(), removals, deals, seeds)
def test_half_of_the_queries_have_answers_and_at_most_a_quarter_lost_all(kb, removed, deal, seed):
    benchmark = toy.built(kb, removed=removed, deal=deal, seed=seed)
    queries = Queries.joined([benchmark.valid, benchmark.test])
    answered, none = int(queries.has_answers.sum()), int(queries.is_none.sum())
    fakes = len(queries) - answered - none
    fakes_short = any("fewer fake quer" in line for line in benchmark.origin["warnings"])
    assert none + fakes <= answered
    if fakes_short:
        lost = paper_of(kb, benchmark).incomplete
        all_none = sum(not answers for answers in lost.values())
        assert none == min(all_none, answered - fakes), "N fills up what fakes are missing"
    else:
        assert none + fakes == answered
        assert none <= (answered + 1) // 2


@given(toy.crowds(), seeds)
def test_auto_makes_the_empty_queries_half_of_the_answered_ones_or_hits_its_limit(kb, seed):
    benchmark = toy.built(kb, removed="auto", deal="by-query", seed=seed)
    counts = benchmark.origin["counts"]
    limit = max(1, int(AUTO_LIMIT * kb.vocabulary.num_entities))
    assert counts["removed_entities"] <= limit
    assert counts["removed_entities"] == kb.vocabulary.num_entities - counts["entities"]
    none = counts["queries"]["N"]["total"]
    answered = counts["queries"]["C"]["total"] + counts["queries"]["I"]["total"] - none
    fakes_short = any("fewer fake quer" in line for line in benchmark.origin["warnings"])
    lost = paper_of(kb, benchmark).incomplete.values()
    limit_hit = 2 * sum(not answers for answers in lost) < answered
    assert limit_hit or fakes_short or abs(2 * none - answered) <= 2


def test_auto_needs_no_limit_in_a_dense_graph():
    for seed in range(5):
        kb = toy.crowd(seed=seed, num_entities=200, num_relations=4, facts_each=6)
        benchmark = build(toy.with_kinds(kb), deal="by-query", seed=seed)
        assert not benchmark.origin["warnings"]
        queries = benchmark.origin["counts"]["queries"]
        none = queries["N"]["total"]
        answered = queries["C"]["total"] + queries["I"]["total"] - none
        assert 0 < benchmark.origin["counts"]["removed_entities"] < 50
        assert abs(2 * none - answered) <= 2


def test_as_many_entities_are_removed_as_the_number_says():
    kb = toy.crowd(seed=1, num_entities=30, num_relations=2, facts_each=6)
    for count in (0, 1, 7):
        assert build(kb, removed=count).vocabulary.num_entities == 30 - count


def test_with_nobody_removed_nothing_is_incomplete():
    kb = toy.crowd(seed=1, num_entities=30, num_relations=2, facts_each=6)
    for removed in (0, []):
        benchmark = build(kb, removed=removed)
        assert not toy.only("IN", all_asked(benchmark))
        assert benchmark.vocabulary == kb.vocabulary


# Fakes


@given(toy.crowds(), removals, deals, seeds)
def test_fakes_violate_the_types_and_no_fact_of_the_graph_answers_them(kb, removed, deal, seed):
    benchmark = toy.built(kb, removed=removed, deal=deal, seed=seed)
    valid, test = toy.both_splits(benchmark)
    fakes = toy.only("F", valid) | toy.only("F", test)
    keys = {toy.key(query) for query in fakes}
    assert len(keys) == benchmark.origin["counts"]["queries"]["F"]["total"], "none stands twice"
    assert not keys & {toy.key(query) for query in (valid | test) - fakes}
    assert not keys & set(oracles.grouped(toy.named_facts(kb.facts, kb.vocabulary)))
    types = fitting_types(kb.types, seen_in(kb.facts, kb.vocabulary.num_relations), kb.vocabulary)
    for side, anchor, relation in keys:
        slot = kb.vocabulary.relations.index(relation)
        slot += kb.vocabulary.num_relations * (side == "head")
        entity = kb.vocabulary.entities.index(anchor)
        assert types.violate(np.array([entity]), np.array([slot])).all()


@given(toy.crowds(), removals, deals, seeds)
def test_neither_anchor_nor_relation_alone_gives_a_fake_away(kb, removed, deal, seed):
    asked = all_asked(toy.built(kb, removed=removed, deal=deal, seed=seed))
    # Some of N may have been left out since, so it is the graph that is asked here.
    real = oracles.grouped(toy.named_facts(kb.facts, kb.vocabulary))
    for side, anchor, relation, *_ in toy.only("F", asked):
        assert any(anchor == other for _, other, _ in real)
        assert any((side, relation) == (where, what) for where, _, what in real)


def test_a_typed_benchmark_keeps_its_types_and_fakes_violate_these():
    kb = toy.with_kinds(toy.crowd(seed=2, num_entities=30, num_relations=4, facts_each=6))
    benchmark = build(kb, removed=5, seed=1)
    assert len(benchmark.types.entity_offsets) == 25 + 1
    for part in (benchmark.valid, benchmark.test):
        fakes = part.take(part.subsets == 2)
        assert len(fakes)
        assert benchmark.types.violate(fakes.anchors, fakes.relations).all()
    for new, name in enumerate(benchmark.vocabulary.entities):
        old = kb.vocabulary.entities.index(name)
        mine, before = (
            types.entity_types[types.entity_offsets[e] : types.entity_offsets[e + 1]].tolist()
            for types, e in ((benchmark.types, new), (kb.types, old))
        )
        assert mine == before


def test_a_benchmark_of_a_graph_without_types_has_none():
    kb = toy.crowd(seed=2, num_entities=30, num_relations=4, facts_each=6)
    assert build(kb).types is None


# The same and not the same


@given(toy.crowds(), removals, deals, seeds)
def test_the_same_seed_builds_the_same_benchmark(kb, removed, deal, seed):
    settings = {"removed": removed, "deal": deal, "seed": seed}
    assert same(toy.built(kb, **settings), build(kb, **settings))


@given(toy.crowds(), deals, seeds)
def test_the_order_of_the_input_lines_leaves_no_trace(kb, deal, seed):
    benchmark = toy.built(kb, deal=deal, seed=seed)
    order = np.random.default_rng(seed).permutation(len(kb.facts))
    shuffled = KnowledgeBase.of_ids(
        kb.vocabulary, kb.facts[order], kb.splits[order], kb.source, kb.types
    )
    assert same(benchmark, build(shuffled, deal=deal, seed=seed))


@pytest.mark.parametrize("deal", DEALS)
@pytest.mark.parametrize("splits", [True, False])
def test_another_seed_builds_another_benchmark(deal, splits):
    kb = toy.crowd(seed=3, num_entities=40, num_relations=3, facts_each=6, splits=splits)
    one, other = (build(kb, deal=deal, seed=seed) for seed in (1, 2))
    assert toy.both_splits(one) != toy.both_splits(other)


def test_building_leaves_the_graph_as_it_was():
    kb = toy.crowd(seed=3, num_entities=40, num_relations=3, facts_each=6)
    facts, splits = kb.facts.copy(), kb.splits.copy()
    build(kb)
    assert np.array_equal(kb.facts, facts)
    assert np.array_equal(kb.splits, splits)


def test_progress_is_told_stage_by_stage():
    told = []
    build(toy.crowd(seed=3, num_entities=40, num_relations=3, facts_each=6), progress=told.append)
    assert told[0] == "holding out facts"
    assert told[-1] == "dealing into valid and test"


@given(toy.crowds(), deals, seeds)
def test_queries_ascend_and_all_arrays_refuse_changes(kb, deal, seed):
    benchmark = toy.built(kb, deal=deal, seed=seed)
    for part in (benchmark.valid, benchmark.test):
        assert (np.diff(part.keys(benchmark.vocabulary.num_entities)) > 0).all()
        for name in Queries.__slots__:
            assert not getattr(part, name).flags.writeable
    assert not benchmark.train.flags.writeable


def test_labels_go_with_their_entities():
    kb = toy.crowd(seed=3, num_entities=40, num_relations=3, facts_each=6)
    labels = tuple(f"label of {name}" for name in kb.vocabulary.entities)
    kb = replace(kb, vocabulary=replace(kb.vocabulary, entity_labels=labels))
    vocabulary = build(kb, removed=9).vocabulary
    assert vocabulary.entity_labels == tuple(f"label of {name}" for name in vocabulary.entities)


# What is refused


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_outside_0_and_1_is_refused(share):
    with pytest.raises(ConfigError, match=r"held_out = .*; choose a share between 0 and 1"):
        build(toy.whole(), held_out=share)


def test_an_unknown_deal_is_refused():
    with pytest.raises(ConfigError, match="unknown deal 'fair'; choose from by-fact, by-query"):
        build(toy.whole(), deal="fair")


def test_a_negative_seed_is_refused():
    with pytest.raises(ConfigError, match="seed = -1; choose 0 or more"):
        build(toy.whole(), seed=-1)


@pytest.mark.parametrize("removed", [-1, 13, 1_000_000])
def test_removing_everyone_or_fewer_than_nobody_is_refused(removed):
    with pytest.raises(ConfigError, match=r"removed = .*; choose from 0 to 12"):
        build(toy.whole(), removed=removed)


def test_removing_someone_unknown_is_refused():
    with pytest.raises(DataError, match="removed entity 'zoe' is not in the graph"):
        build(toy.whole(), removed=["ada", "zoe"])


def test_a_word_that_is_no_number_of_entities_is_refused():
    with pytest.raises(ConfigError, match="removed = 'ada'; choose a number, 'auto' or a list"):
        build(toy.whole(), removed="ada")


def test_a_removal_that_empties_train_is_refused():
    with pytest.raises(DataError, match="removing 12 of 13 entities leaves no train fact"):
        build(toy.split(), removed=[name for name in toy.PEOPLE + toy.CITIES if name != "ada"])


@pytest.mark.parametrize("deal", DEALS)
def test_a_graph_with_too_little_to_ask_for_is_refused(deal):
    tiny = toy.of_names([("ada", "knows", "ben"), ("ben", "knows", "ada")])
    with pytest.raises(DataError, match="too small a graph: 0 held-out facts"):
        build(tiny, removed=0, deal=deal)


def test_by_fact_a_single_held_out_fact_cannot_be_dealt_into_two_splits():
    kb = toy.of_names([("ada", "knows", "ben"), ("ben", "knows", "ada")], [("ada", "knows", "ada")])
    with pytest.raises(DataError, match="too small a graph: 1 held-out facts are left to ask for"):
        build(kb, removed=0)


@pytest.mark.parametrize("removed", ["auto", 0])
@pytest.mark.parametrize("num_entities", [0, 1, 3])
def test_a_graph_without_facts_is_refused_in_one_clear_line(removed, num_entities):
    kb = KnowledgeBase.of_ids(toy.vocabulary_of(num_entities, 1), toy.triples([]))
    with pytest.raises((ConfigError, DataError)):
        build(kb, removed=removed)
