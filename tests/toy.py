"""A knowledge base small enough to check by eye, and small random ones to check by loops.

Eight people and five cities. `ada` is born in one city, lives in another and knows people; cities
are twinned. `gus` knows himself.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from hypothesis import reject
from hypothesis import strategies as st

from assent.building.recipe import build
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase, Split
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError

HOME = "http://example.org/"  # of the larger world in Turtle
PEOPLE = ("ada", "ben", "cleo", "dan", "eve", "finn", "gus", "hana")
CITIES = ("kyiv", "lima", "oslo", "quito", "rome")

TRAIN = """
    ada   born_in kyiv     ben  born_in kyiv     cleo born_in lima     dan  born_in oslo
    eve   born_in oslo     finn born_in rome     gus  born_in quito    hana born_in rome
    ben   lives_in rome    cleo lives_in oslo    dan  lives_in oslo    finn lives_in kyiv
    gus   lives_in rome    hana lives_in quito
    ada   knows ben        cleo knows dan        dan  knows eve        eve  knows finn
    finn  knows ada        gus  knows gus        gus  knows hana       hana knows gus
    kyiv  twinned_with lima      lima twinned_with quito
    oslo  twinned_with rome      rome twinned_with kyiv
"""
VALID = """
    ada   lives_in oslo    ada  knows dan        kyiv twinned_with oslo
"""
TEST = """
    ada   knows cleo       ben  knows ada        eve  lives_in lima
"""

# What the schema says; about lives_in and twinned_with it says nothing.
DOMAINS = {"born_in": "person", "knows": "person"}
RANGES = {"born_in": "city", "knows": "person"}

Fact = tuple[str, str, str]
Asked = tuple[str, str, str, str, frozenset[str]]


def facts_in(text: str) -> list[Fact]:
    """The facts of a text: three words each."""
    words = text.split()
    return list(zip(words[0::3], words[1::3], words[2::3], strict=True))


def whole() -> KnowledgeBase:
    """The graph in one piece, without types."""
    return of_names(facts_in(TRAIN + VALID + TEST))


def split() -> KnowledgeBase:
    """The same graph in train, valid and test, without types."""
    return of_names(facts_in(TRAIN), facts_in(VALID), facts_in(TEST))


def typed(kb: KnowledgeBase) -> KnowledgeBase:
    """The same graph with types; `hana` has none, and everyone else is a thing."""
    entities, relations = kb.vocabulary.entities, kb.vocabulary.relations
    names = ("city", "person", "thing")
    kinds = dict.fromkeys(PEOPLE, "person") | dict.fromkeys(CITIES, "city")
    entity_pairs = [
        (entities.index(name), names.index(kind))
        for name in kinds
        if name != "hana"
        for kind in (kinds[name], "thing")
    ]
    slot_pairs = [
        (relations.index(relation) + shift, names.index(kind))
        for shift, table in ((0, DOMAINS), (len(relations), RANGES))
        for relation, kind in table.items()
    ]
    return with_types(kb, names, entity_pairs, slot_pairs)


def with_types(
    kb: KnowledgeBase,
    names: Sequence[str],
    entities: Iterable[tuple[int, int]],
    slots: Iterable[tuple[int, int]],
) -> KnowledgeBase:
    """The same graph with these (entity, type) and (slot, type) pairs."""
    sizes = (kb.vocabulary.num_entities, 2 * kb.vocabulary.num_relations)
    return replace(kb, types=Types.of_pairs(names, pairs(entities), pairs(slots), *sizes))


def of_names(*splits: Sequence[Fact]) -> KnowledgeBase:
    """A graph from train, valid and test facts, with ids in the order of the names."""
    facts = [fact for part in splits for fact in part]
    entities = sorted({name for head, _, tail in facts for name in (head, tail)})
    relations = sorted({relation for _, relation, _ in facts})
    ids = [(entities.index(h), relations.index(r), entities.index(t)) for h, r, t in facts]
    marks = [split for split, part in zip(Split, splits, strict=False) for _ in part]
    vocabulary = Vocabulary(tuple(entities), tuple(relations))
    return KnowledgeBase.of_ids(vocabulary, triples(ids), np.array(marks, np.int8))


def vocabulary_of(num_entities: int, num_relations: int) -> Vocabulary:
    """Entities e0, e1, ... and relations r0, r1, ..."""
    return Vocabulary(
        tuple(f"e{entity}" for entity in range(num_entities)),
        tuple(f"r{relation}" for relation in range(num_relations)),
    )


def triples(facts: Iterable[tuple[int, int, int]]) -> np.ndarray:
    """Facts as an array, even if there is none."""
    return np.array(list(facts), dtype=np.int32).reshape(-1, 3)


def pairs(rows: Iterable[tuple[int, int]]) -> np.ndarray:
    """Pairs as an array, even if there is none."""
    return np.array(list(rows), dtype=np.int64).reshape(-1, 2)


# Names instead of ids


def named_facts(facts: np.ndarray, vocabulary: Vocabulary) -> set[Fact]:
    """Facts as tuples of names; each stands once."""
    entities, relations = vocabulary.entities, vocabulary.relations
    names = {(entities[h], relations[r], entities[t]) for h, r, t in facts.tolist()}
    assert len(names) == len(facts), "a fact stands twice"
    return names


def named(queries: Queries, vocabulary: Vocabulary) -> set[Asked]:
    """Queries as (side, anchor, relation, C, I, N or F, answers); each query stands once."""
    asked = set()
    for query in range(len(queries)):
        side, relation = divmod(int(queries.relations[query]), vocabulary.num_relations)
        answers = queries.answers[queries.offsets[query] : queries.offsets[query + 1]]
        letter = Subset(int(queries.subsets[query])).name[0]
        asked.add(
            (
                ("tail", "head")[side],
                vocabulary.entities[queries.anchors[query]],
                vocabulary.relations[relation],
                "N" if letter == "I" and not len(answers) else letter,
                frozenset(vocabulary.entities[answer] for answer in answers),
            )
        )
    assert len({key(query) for query in asked}) == len(queries), "a query stands twice"
    return asked


def key(query: Asked) -> Fact:
    """What is asked: side, anchor, relation."""
    return query[:3]


def only(letters: str, asked: Iterable[Asked]) -> set[Asked]:
    """The queries of these subsets."""
    return {query for query in asked if query[3] in letters}


def both_splits(benchmark: Benchmark) -> tuple[set[Asked], set[Asked]]:
    """The queries of valid and of test."""
    return (
        named(benchmark.valid, benchmark.vocabulary),
        named(benchmark.test, benchmark.vocabulary),
    )


# Random graphs


@st.composite
def graphs(
    draw: st.DrawFn, most_entities: int = 6, most_relations: int = 3, most_facts: int = 24
) -> KnowledgeBase:
    """Any graph: self-loops, one entity, relations and entities that no fact has, no facts."""
    vocabulary = vocabulary_of(
        draw(st.integers(1, most_entities)), draw(st.integers(1, most_relations))
    )
    facts = draw(lists_of_facts(vocabulary, most_facts))
    return KnowledgeBase.of_ids(vocabulary, triples(facts))


def lists_of_facts(
    vocabulary: Vocabulary, most: int = 24
) -> st.SearchStrategy[list[tuple[int, int, int]]]:
    """Facts in any order, some of them twice."""
    entities = st.integers(0, vocabulary.num_entities - 1)
    relations = st.integers(0, vocabulary.num_relations - 1)
    return st.lists(st.tuples(entities, relations, entities), max_size=most)


@st.composite
def types(draw: st.DrawFn, vocabulary: Vocabulary, most: int = 4) -> Types:
    """Any types: entities without a type, slots that nothing is known of, no types at all."""
    num_types = draw(st.integers(0, most))
    num_entities, num_slots = vocabulary.num_entities, 2 * vocabulary.num_relations
    names = [f"t{kind}" for kind in range(num_types)]
    if not num_types:
        return Types.of_pairs(names, pairs([]), pairs([]), num_entities, num_slots)
    kinds = st.integers(0, num_types - 1)
    of_entities = st.lists(st.tuples(st.integers(0, num_entities - 1), kinds), max_size=20)
    of_slots = st.lists(st.tuples(st.integers(0, num_slots - 1), kinds), max_size=12)
    return Types.of_pairs(
        names, pairs(draw(of_entities)), pairs(draw(of_slots)), num_entities, num_slots
    )


@st.composite
def crowds(draw: st.DrawFn, splits: bool | None = None, typed: bool | None = None) -> KnowledgeBase:
    """Graphs large enough to build a benchmark from: two kinds of things, some noise."""
    kb = crowd(
        seed=draw(st.integers(0, 2**20)),
        num_entities=draw(st.integers(8, 40)),
        num_relations=draw(st.integers(1, 4)),
        facts_each=draw(st.integers(3, 8)),
        splits=draw(st.booleans()) if splits is None else splits,
    )
    return with_kinds(kb) if (draw(st.booleans()) if typed is None else typed) else kb


def crowd(
    seed: int, num_entities: int, num_relations: int, facts_each: int, splits: bool = False
) -> KnowledgeBase:
    """Even and odd entities; each relation goes from one kind to one kind, but for a few facts."""
    rng = np.random.default_rng(seed)
    size = num_entities * facts_each
    relations = rng.integers(num_relations, size=size)
    heads, tails = rng.integers(num_entities // 2, size=(2, size)) * 2
    heads += relations % 2
    tails += relations // 2 % 2
    noise = rng.random(size) < 0.02
    heads[noise] = rng.integers(num_entities, size=int(noise.sum()))
    marks = rng.choice(3, p=[0.8, 0.1, 0.1], size=size) if splits else np.zeros(size)
    facts = np.stack([heads, relations, tails], axis=1).astype(np.int32)
    vocabulary = vocabulary_of(num_entities, num_relations)
    return KnowledgeBase.of_ids(vocabulary, facts, marks.astype(np.int8))


def with_kinds(kb: KnowledgeBase) -> KnowledgeBase:
    """The types of a crowd: even or odd, every seventh entity without one; no schema."""
    entities = [(e, e % 2) for e in range(kb.vocabulary.num_entities) if e % 7 != 6]
    return with_types(kb, ("even", "odd"), entities, [])


def built(kb: KnowledgeBase, **settings: object) -> Benchmark:
    """The benchmark of a random graph, where it is large enough for one."""
    try:
        return build(kb, **settings)
    except DataError as error:
        if "too small a graph" in str(error) or "leaves no train fact" in str(error):
            reject()
        raise


def turtle(people: int = 80) -> str:
    """People in towns of countries; who lives in a town mostly holds its country's passport."""
    rng = np.random.default_rng(0)
    lines = [f"@prefix : <{HOME}> .", ':note :says "a literal" .']
    towns = {town: town % 4 for town in range(12)}
    lines += [f":town{town} :in :country{country} ." for town, country in towns.items()]
    for person in range(people):
        town = int(rng.integers(12))
        lines.append(f":person{person} :lives_in :town{town} .")
        if rng.random() < 0.8:
            lines.append(f":person{person} :citizen_of :country{towns[town]} .")
        lines.append(f":person{person} :knows :person{rng.integers(people)} .")
    return "\n".join(lines) + "\n"
