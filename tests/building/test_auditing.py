"""The audit finds what is wrong, with the right numbers, and nothing where nothing is."""

from dataclasses import replace

import numpy as np
import pytest

from assent.building.auditing import CHECKS, audit, facts_with_twin, twin_relations
from assent.building.findings import Finding
from assent.building.recipe import build
from assent.core.arrays import frozen, offsets_of
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.datasets import located
from assent.files.benchmarks import load
from assent.files.triples import read

ANN, BOB, CAT, ROME, OSLO = range(5)
LIVES, LIKES = range(2)
LIVED_IN, LIKED_BY = 2, 3  # the inverse relations: these ask for the head
C, I, F = Subset.COMPLETE, Subset.INCOMPLETE, Subset.FAKE  # noqa: E741

VOCABULARY = Vocabulary(("Ann", "Bob", "Cat", "Rome", "Oslo"), ("lives in", "likes"))
TRAIN = [(ANN, LIVES, ROME), (ANN, LIKES, BOB), (BOB, LIKES, CAT)]


def queries(*rows):
    """Rows of (anchor, relation, subset, *answers)."""
    return Queries(
        frozen([row[0] for row in rows]),
        frozen([row[1] for row in rows]),
        frozen(offsets_of([len(row) - 3 for row in rows]), np.int64),
        frozen([answer for row in rows for answer in row[3:]]),
        frozen([row[2] for row in rows]),
    )


def benchmark(valid, test, masks_other_split=False, types=None):
    train = frozen(TRAIN)
    return Benchmark(
        VOCABULARY, train, queries(*valid), queries(*test), masks_other_split, types=types
    )


def found(benchmark) -> dict[str, Finding]:
    return {finding.name: finding for finding in audit(benchmark)}


def wrong(benchmark) -> set[str]:
    return {finding.name for finding in audit(benchmark) if finding.failed}


FINE = ([(BOB, LIVES, C, OSLO), (OSLO, LIVED_IN, C, BOB)], [(CAT, LIVES, C, ROME)])


def test_nothing_is_wrong_with_a_sound_benchmark():
    assert wrong(benchmark(*FINE)) == set()


def test_a_query_with_and_without_answers_stands_twice():
    valid, test = FINE
    twice = found(benchmark(valid, [*test, (BOB, LIVES, I)]))["queries that stand twice"]
    assert (twice.count, twice.detail) == (1, "1 with and without answers, 0 without twice")


def test_a_query_twice_without_answers_stands_twice():
    valid, test = FINE
    twice = found(benchmark([*valid, (CAT, LIKES, I)], [*test, (CAT, LIKES, F)]))
    assert twice["queries that stand twice"].detail.endswith("1 without twice")


def test_a_query_in_both_splits_is_wrong_unless_the_other_half_is_masked():
    valid, test = [(BOB, LIKES, C, ANN)], [(BOB, LIKES, C, ROME)]
    name = "queries in both valid and test"
    assert found(benchmark(valid, test))[name].failed
    safe = found(benchmark(valid, test, masks_other_split=True))
    assert safe[name].count == 1 and not safe[name].failed
    assert safe["queries that stand twice"].count == 0


def test_masking_excuses_no_query_that_is_empty_in_one_split():
    valid, test = [(BOB, LIKES, C, ANN)], [(BOB, LIKES, I)]
    twice = found(benchmark(valid, test, masks_other_split=True))["queries that stand twice"]
    assert twice.count == 1


def test_masking_excuses_no_query_that_is_empty_in_both_splits():
    rows = [(CAT, LIKES, I)]
    twice = found(benchmark(rows, rows, masks_other_split=True))["queries that stand twice"]
    assert (twice.count, twice.detail) == (1, "0 with and without answers, 1 without twice")


def test_masking_excuses_no_query_that_stands_twice_in_one_split():
    rows = [(BOB, LIKES, C, ANN), (BOB, LIKES, C, ROME)]
    twice = found(benchmark(rows, FINE[1], masks_other_split=True))["queries that stand twice"]
    assert twice.count == 1


def test_a_fake_that_is_a_real_query_is_counted_once():
    valid, test = FINE
    findings = found(benchmark([*valid, (ANN, LIKES, I, CAT)], [*test, (ANN, LIKES, F)]))
    real = findings["fakes that are a real query"]
    assert (real.count, real.among, real.detail) == (1, 1, "0 complete, 1 incomplete")
    assert findings["fakes with answers in train"].count == 0


def test_a_fake_with_answers_in_train_is_found():
    valid, test = FINE
    assert found(benchmark(valid, [*test, (ANN, LIKES, F)]))["fakes with answers in train"].failed


def test_a_fake_fits_if_one_of_its_types_does():
    types = Types.of_pairs(
        ("person", "place"),
        [(ANN, 0), (BOB, 0), (CAT, 0), (ROME, 1), (OSLO, 1)],
        [(LIVES, 0)],
        5,
        4,
    )
    valid, test = FINE
    fits = found(benchmark(valid, [*test, (CAT, LIVES, F), (ROME, LIVES, F)], types=types))
    assert fits["fakes that are a real query"].count == 1  # Cat, whom test asks about
    assert fits["fakes that fit the types"].count == 0
    fits = found(benchmark(valid, [(CAT, LIVES, F), (ROME, LIVES, F)], types=types))
    assert fits["fakes that fit the types"].count == 1
    assert fits["fakes that may fit"].verdict == "not looked for"


def test_a_fact_asked_for_from_both_sides_is_a_leak():
    leak = found(benchmark([(BOB, LIVES, C, OSLO)], [(OSLO, LIVED_IN, C, BOB)]))
    assert leak["test facts that valid asks for as well"].count == 1


def test_an_answer_in_train_is_wrong():
    assert "answers that stand in train" in wrong(benchmark([(ANN, LIVES, C, ROME)], FINE[1]))


def test_what_train_never_shows_is_counted():
    findings = found(benchmark(*FINE))
    assert findings["entities without a train fact"].count == 1  # Oslo
    lonely = replace(benchmark(*FINE), train=frozen(TRAIN[:1]))
    assert found(lonely)["relations without a train fact"].detail == "likes"


def test_an_empty_query_with_train_answers_is_empty_but_known():
    known = found(benchmark([(ANN, LIKES, I), (OSLO, LIKES, I)], FINE[1]))
    assert known["empty queries whose answers are all known"].count == 1


def test_a_benchmark_without_any_query_has_nothing_wrong():
    assert wrong(benchmark([], [])) == set()


def test_symmetric_and_duplicate_relations_are_twins():
    names = Vocabulary(tuple("abcdefg"), ("next", "near", "father"))
    both = [(h, 0, t) for a, b in ((0, 1), (2, 3), (4, 5)) for h, t in ((a, b), (b, a))]
    train = frozen([*both, *((h, 1, t) for h, _, t in both), (5, 2, 6)])
    inverse = {tuple(pair) for pair in twin_relations(train, train[:, ::-1], names)}
    same = {tuple(pair) for pair in twin_relations(train, train, names)}
    assert inverse == {(0, 0), (0, 1), (1, 0), (1, 1)}
    assert same == {(0, 0), (0, 1), (1, 0), (1, 1), (2, 2)}
    twins = facts_with_twin(frozen([(6, 0, 5), (1, 1, 0)]), train, names)
    assert (twins.inverse, twins.same, twins.either) == (1, 1, 1)


def test_every_check_has_a_name_of_its_own():
    names = [finding.name for finding in audit(benchmark(*FINE))]
    assert len(set(names)) == len(CHECKS)


def test_the_published_files_have_the_defects_that_we_know(data):
    findings = found(load(data / "fb14k-qaq"))
    assert {name: f.count for name, f in findings.items() if f.failed} == {
        "queries that stand twice": 186,
        "queries in both valid and test": 97,
        "fakes that are a real query": 146,
        "fakes with answers in train": 371,
        "fakes that fit the types": 636,
        "test facts that valid asks for as well": 16_479,
    }
    details = {name: finding.detail for name, finding in findings.items()}
    assert details["queries that stand twice"] == "91 with and without answers, 95 without twice"
    assert details["fakes that are a real query"] == "74 complete, 72 incomplete"
    assert details["fakes that fit the types"].endswith("5.8% of the tail fakes")
    assert details["test facts that valid asks for as well"] == "66.9% of the test facts"
    assert details["empty queries whose answers are all known"] == "72.1% of N"
    assert findings["entities without a train fact"].count == 54


def test_nothing_is_wrong_with_our_world_graph():
    assert wrong(build(read(located("world")))) == set()


@pytest.mark.parametrize("name", ["codex-s", "wn18rr", "umls", "kinships", "nations", "fb15k-237"])
@pytest.mark.parametrize("seed", [0, 1])
def test_nothing_is_wrong_with_our_builds(data, name, seed):
    assert wrong(build(read(data / name), seed=seed)) == set()


def test_a_published_graph_dealt_by_query_leaks(data):
    kb = read(data / "umls")
    assert wrong(build(kb, deal="by-query")) == {"test facts that valid asks for as well"}


def test_the_hold_out_of_pairs_leaves_no_twin_in_train():
    pairs = [(a, b) for a in range(30) for b in range(a)]
    facts = [fact for a, b in pairs for fact in ((a, 0, b), (b, 0, a), (a, 1, b))]
    names = Vocabulary(tuple(f"e{e:02d}" for e in range(30)), ("borders", "is near"))
    kb = KnowledgeBase.of_ids(names, frozen(facts))
    twins = found(build(kb, removed=2))["test facts that a twin relation states in train"]
    assert twins.count == 0 and twins.among > 0
