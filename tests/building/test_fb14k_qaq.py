"""FB15k-237 without the paper's 1,000 entities is FB14k-QAQ, to the last query.

The published files are read here in plain Python, by the rules that their description gives.
"""

import csv
import gzip
from collections import Counter, defaultdict

import pytest

import toy
from assent.building.drawing import RECIPES
from assent.building.recipe import build
from assent.files.triples import read


def lines_of(path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().removesuffix("\n").split("\n")


@pytest.fixture(scope="module", params=RECIPES)
def benchmark(data, request):
    removed = (data / "fb14k-qaq" / "removed_entities.txt").read_text("utf-8").split()
    kb = read(data / "fb15k-237")
    return build(kb, removed=removed, deal="by-query", recipe=request.param)


@pytest.fixture(scope="module")
def ours(benchmark) -> set[toy.Asked]:
    valid, test = toy.both_splits(benchmark)
    assert not valid & test
    return valid | test


@pytest.fixture(scope="module")
def published(data) -> Counter[toy.Asked]:
    """Each published query, as often as it stands in the files."""
    rows, listed = defaultdict(list), {}
    for side, name in (("tail", "obj"), ("head", "subj")):
        for part in ("valid", "test"):
            for line in lines_of(data / "fb14k-qaq" / f"{part}_{name}.txt.gz"):
                first, relation, last = line.split("\t")
                anchor, answers = (first, last) if side == "tail" else (last, first)
                rows[side, anchor, relation].append(frozenset(answers.split()))
        groups = lines_of(data / "fb14k-qaq" / f"grouping_answers_{name}.csv.gz")
        for anchor, relation, complete in list(csv.reader(groups))[1:]:
            listed[side, anchor, relation] = {"1": "C", "0": "I"}[complete]
    queries: Counter[toy.Asked] = Counter()
    for query, answer_sets in rows.items():
        letter = listed.get(query, "F")
        empty = answer_sets.count(frozenset())
        for answers in filter(None, answer_sets):
            queries[(*query, letter, answers)] += 1
        # Of the empty rows of a query that lost answers one is real, unless it has answers.
        real = int(letter == "I" and empty == len(answer_sets))
        queries[(*query, "N", frozenset())] += real
        queries[(*query, "F", frozenset())] += empty - real
    return +queries


TABLE_ONE = {
    ("C", "head"): 8_778,
    ("C", "tail"): 15_688,
    ("I", "head"): 10_676,
    ("I", "tail"): 13_144,
    ("N", "head"): 6_871,
    ("N", "tail"): 8_850,
    ("F", "head"): 5_712,
    ("F", "tail"): 11_132,
}


def test_the_rules_for_the_published_files_give_table_one(published):
    counts: Counter = Counter()
    for (side, _, _, letter, _), times in published.items():
        counts[letter, side] += times
        if letter == "N":
            counts["I", side] += times
    assert counts == TABLE_ONE


def test_building_gives_table_one(benchmark):
    table = benchmark.origin["counts"]["queries"]
    assert {(kind, side): table[kind][side] for kind, side in TABLE_ONE} == TABLE_ONE
    assert len(benchmark.valid) + len(benchmark.test) == 65_130


def test_building_gives_the_papers_train_facts_entities_and_relations(benchmark, data):
    assert len(benchmark.train) == 236_795
    assert benchmark.vocabulary.num_entities == 13_541
    assert benchmark.vocabulary.num_relations == 237
    train = {tuple(line.split("\t")) for line in lines_of(data / "fb14k-qaq" / "train.txt.gz")}
    assert toy.named_facts(benchmark.train, benchmark.vocabulary) == train
    assert benchmark.origin["warnings"] == []


@pytest.mark.parametrize("letter", ["C", "I", "N"])
def test_real_queries_and_their_answers_are_the_published_ones_key_by_key(ours, published, letter):
    theirs = {query: times for query, times in published.items() if query[3] == letter}
    assert set(theirs.values()) == {1}, "a real query stands once"
    assert toy.only(letter, ours) == set(theirs)


def test_the_builders_own_fakes_have_none_of_the_published_defects(ours, data):
    fakes = {toy.key(query) for query in toy.only("F", ours)}
    real = {toy.key(query) for query in ours if query[3] != "F"}
    assert not fakes & real
    for name in ("train", "valid", "test"):
        for line in lines_of(data / "fb15k-237" / f"{name}.txt.gz"):
            head, relation, tail = line.split("\t")
            assert ("tail", head, relation) not in fakes
            assert ("head", tail, relation) not in fakes
