"""Benchmarks to save and load: any names, any subsets."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import strategies as st

from assent.core.arrays import frozen
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.files.benchmarks import load, save
from toy import crowd, triples

CROWD = crowd(seed=3, num_entities=40, num_relations=4, facts_each=8)
BOM = "\ufeff"
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r"), min_size=1, max_size=5
)
NAMES = TEXT.filter(lambda name: not name.startswith(BOM)) | st.sampled_from(
    [" ", " a", "a ", '"', '"a"', "#", "tail", "head", "complete", "fake", "a b", "\xa0", "a\xa0b",
     "a\u2003b", "\x0b", "a\x1cb", "\x85", "\u2028", "a,b", f"a{BOM}", "\0", "1", "0", "e1",
     "rel", "n", "null"]
)  # fmt: skip


@st.composite
def small_benchmarks(draw: st.DrawFn, names: st.SearchStrategy[str] = NAMES) -> Benchmark:
    """Any names, answers and subsets, for one query of each subset on each side at least."""
    entities = sorted(draw(st.sets(names, min_size=4, max_size=7)))
    relations = sorted(draw(st.sets(NAMES, min_size=1, max_size=2)))
    some = st.integers(0, len(entities) - 1)
    facts = [(e, e % len(relations), draw(some)) for e in range(len(entities))]
    vocabulary = Vocabulary(tuple(entities), tuple(relations))
    train = KnowledgeBase.of_ids(vocabulary, triples(facts)).facts
    valid, test = (_queries(draw, some, len(relations), first) for first in (0, 2))
    return Benchmark(vocabulary, train, valid, test, masks_other_split=False)


def _queries(draw: st.DrawFn, some: st.SearchStrategy[int], relations: int, first: int) -> Queries:
    """Two anchors of its own for each split, asked about both ways."""
    rows = [(anchor, slot) for slot in (0, relations) for anchor in (first, first + 1)]
    subsets, answers = [], []
    for _ in rows:
        subset = draw(st.sampled_from(Subset))
        least = int(subset == Subset.COMPLETE)
        most = 0 if subset == Subset.FAKE else 3
        subsets.append(subset)
        answers.append(sorted(draw(st.sets(some, min_size=least, max_size=most))))
    return Queries(
        frozen([anchor for anchor, _ in rows]),
        frozen([slot for _, slot in rows]),
        frozen(np.cumsum([0, *map(len, answers)]), np.int64),
        frozen([answer for part in answers for answer in part]),
        frozen(subsets),
    )


def there_and_back(benchmark: Benchmark, layout: str = "assent") -> Benchmark:
    with TemporaryDirectory() as folder:
        save(benchmark, Path(folder) / "benchmark", layout=layout)
        return load(Path(folder) / "benchmark")


def same_queries(one: Queries, other: Queries) -> bool:
    """Every array, in the same order."""
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("anchors", "relations", "offsets", "answers", "subsets")
    )


def same_types(one: Types | None, other: Types | None) -> bool:
    return (one is None) == (other is None) and (one is None or _named(one) == _named(other))


def _named(types: Types) -> list[list[list[str]]]:
    """The types of every entity and of every slot, by name."""
    return [
        [[types.names[kind] for kind in part] for part in np.split(kinds, offsets[1:-1])]
        for offsets, kinds in (
            (types.entity_offsets, types.entity_types),
            (types.slot_offsets, types.slot_types),
        )
    ]


def check_equal(again: Benchmark, benchmark: Benchmark) -> None:
    assert again.vocabulary == benchmark.vocabulary
    assert np.array_equal(again.train, benchmark.train)
    assert same_queries(again.valid, benchmark.valid)
    assert same_queries(again.test, benchmark.test)
    assert again.masks_other_split == benchmark.masks_other_split
    assert same_types(again.types, benchmark.types)
    assert dict(again.origin) == dict(benchmark.origin)
