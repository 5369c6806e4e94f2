"""A benchmark that is saved loads equal, in either layout; a damaged one is refused."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.core.arrays import frozen
from assent.core.benchmark import Benchmark
from assent.core.facts import KnowledgeBase
from assent.core.queries import Queries, Subset
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.benchmarks import is_benchmark, load, save
from toy import built, crowd, crowds, halves, named_facts, pairs, triples, typed, whole, with_kinds

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
    """Two anchors of its own for each half, asked about both ways."""
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


# Our own layout


@pytest.mark.parametrize("deal", ["by-fact", "by-query"])
@pytest.mark.parametrize(
    "kb", [CROWD, with_kinds(CROWD), typed(whole())], ids=["plain", "typed", "toy"]
)
def test_a_benchmark_loads_equal(kb, deal):
    benchmark = built(kb, deal=deal, removed=2, held_out=0.4)
    check_equal(there_and_back(benchmark), benchmark)


@settings(max_examples=25)
@given(kb=crowds(), deal=st.sampled_from(["by-fact", "by-query"]))
def test_the_benchmark_of_any_graph_loads_equal(kb, deal):
    benchmark = built(kb, deal=deal, removed=2)
    check_equal(there_and_back(benchmark), benchmark)


@settings(max_examples=100)
@given(benchmark=small_benchmarks())
def test_a_benchmark_loads_equal_whatever_its_names(benchmark):
    check_equal(there_and_back(benchmark), benchmark)


@pytest.mark.parametrize("layout", ["assent", "published"])
def test_labels_load_equal(layout):
    benchmark = built(CROWD, deal="by-query", removed=2)
    vocabulary = benchmark.vocabulary
    labelled = replace(
        vocabulary,
        entity_labels=tuple(f"entity number {name}" for name in vocabulary.entities),
        relation_labels=tuple(f"is “{name}” of" for name in vocabulary.relations),
    )
    benchmark = replace(benchmark, vocabulary=labelled)
    again = there_and_back(benchmark, layout)
    known = dict(zip(labelled.entities, labelled.entity_labels, strict=True))
    assert again.vocabulary.entity_labels == tuple(known[e] for e in again.vocabulary.entities)
    assert again.vocabulary.relation_labels == labelled.relation_labels
    if layout == "assent":
        check_equal(again, benchmark)


def test_where_a_benchmark_came_from_loads_equal():
    benchmark = built(CROWD, removed=2, seed=5)
    again = there_and_back(benchmark)
    assert again.origin["settings"]["seed"] == 5
    assert dict(again.origin) == dict(benchmark.origin)


@pytest.mark.parametrize("slots", [[], [(0, 0)]])
def test_types_that_few_kept_entities_have_load_equal(slots):
    benchmark = with_types([(3, 1)], slots)
    check_equal(there_and_back(benchmark), benchmark)


@pytest.mark.parametrize("slots", [[], [(0, 0)]])
def test_types_that_no_kept_entity_has_load_as_none(slots):
    benchmark = with_types([], slots)
    check_equal(there_and_back(benchmark), replace(benchmark, types=None))


def with_types(entities: list[tuple[int, int]], slots: list[tuple[int, int]]) -> Benchmark:
    benchmark = built(CROWD, removed=2)
    sizes = (benchmark.vocabulary.num_entities, 2 * benchmark.vocabulary.num_relations)
    types = Types.of_pairs(("even", "odd"), pairs(entities), pairs(slots), *sizes)
    return replace(benchmark, types=types)


def test_a_benchmark_saved_twice_is_the_same_bytes(tmp_path):
    benchmark = built(with_kinds(CROWD), removed=2)
    save(benchmark, tmp_path / "one")
    save(load(tmp_path / "one"), tmp_path / "two")
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("one", "two")
    )
    assert one == two


# The published layout


def test_a_published_benchmark_loads_equal():
    benchmark = built(CROWD, deal="by-query", removed=2)
    again = there_and_back(benchmark, "published")
    assert halves(again) == halves(benchmark)
    assert named_facts(again.train, again.vocabulary) == named_facts(
        benchmark.train, benchmark.vocabulary
    )
    assert not again.masks_other_split


@settings(max_examples=25)
@given(kb=crowds(typed=False))
def test_the_published_benchmark_of_any_graph_loads_equal(kb):
    benchmark = built(kb, deal="by-query", removed=2)
    again = there_and_back(benchmark, "published")
    assert halves(again) == halves(benchmark)
    assert named_facts(again.train, again.vocabulary) == named_facts(
        benchmark.train, benchmark.vocabulary
    )


@settings(max_examples=100)
@given(benchmark=small_benchmarks(NAMES.filter(lambda name: " " not in name)))
def test_a_published_benchmark_loads_equal_whatever_its_names(benchmark):
    again = there_and_back(benchmark, "published")
    assert again.vocabulary == benchmark.vocabulary
    assert np.array_equal(again.train, benchmark.train)
    assert halves(again) == halves(benchmark)


def test_other_spaces_do_not_part_published_answers():
    names = ("a\xa0b", "c\u2003d", "e\x0bf", "g")
    vocabulary = Vocabulary(names, ("in",))
    facts = triples([(0, 0, 1), (2, 0, 3)])
    valid = Queries.grouped(*(np.array(ids) for ids in ([3, 3], [0, 0], [0, 1])))
    test = Queries.grouped(*(np.array([ids]) for ids in (0, 0, 2)))
    benchmark = Benchmark(vocabulary, facts, valid, test, masks_other_split=False)
    assert halves(there_and_back(benchmark, "published")) == halves(benchmark)


def test_a_leak_safe_benchmark_does_not_fit_the_published_layout(tmp_path):
    benchmark = built(CROWD, deal="by-fact", removed=2)
    with pytest.raises(DataError, match="cannot say that the other half's answers are masked"):
        save(benchmark, tmp_path / "benchmark", layout="published")
    assert not list(tmp_path.iterdir())


def test_names_with_spaces_do_not_fit_the_published_layout(tmp_path):
    benchmark = built(CROWD, deal="by-query", removed=2)
    vocabulary = benchmark.vocabulary
    spaced = replace(vocabulary, entities=("new york", *vocabulary.entities[1:]))
    with pytest.raises(DataError, match="separates answers by spaces, 'new york' has one"):
        save(replace(benchmark, vocabulary=spaced), tmp_path / "benchmark", layout="published")
    assert not list(tmp_path.iterdir())


def test_either_layout_may_replace_the_other(tmp_path):
    benchmark = built(CROWD, deal="by-query", removed=2)
    for layout in ("assent", "published", "assent"):
        save(benchmark, tmp_path / "benchmark", layout=layout, overwrite=True)
        assert is_benchmark(tmp_path / "benchmark")
        assert halves(load(tmp_path / "benchmark")) == halves(benchmark)
    assert list(tmp_path.iterdir()) == [tmp_path / "benchmark"]


# Damage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(built(CROWD, deal="by-query", removed=2), tmp_path / "benchmark")
    return tmp_path / "benchmark"


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("train.tsv", "nobody\tr0\te1", "found 'nobody'; not in the"),
        ("train.tsv", "e1\tlikes\te1", "found 'likes'; choose from r0, r1, r2, r3"),
        ("train.tsv", "e1\tr0", "expected 3 tab-separated columns"),
        ("valid.tsv", "tail\tnobody\tr0\tcomplete\te1", "found 'nobody'; not in the"),
        ("valid.tsv", "tail\te1\tr0\tcomplete\te1\tnobody", "found 'nobody'; not in the"),
        ("valid.tsv", "tail\te1\tlikes\tcomplete\te1", "found 'likes'; choose from r0, r1, r2, r3"),
        ("test.tsv", "tail\te1\tr0\tperfect\te1", "found 'perfect'; choose from complete, incompl"),
        ("test.tsv", "left\te1\tr0\tcomplete\te1", "found 'left'; choose from tail, head"),
        ("test.tsv", "tail\te1\tr0", "expected side, anchor, relation, subset, then answers"),
        ("test.tsv", "tail\te1\tr0\tcomplete\te1\te1", "the answer 'e1' stands twice"),
        ("test.tsv", "tail\te1\tr0\tcomplete", "a complete query without answers; expected one"),
        ("test.tsv", "tail\te1\tr0\tfake\te1", "a fake query with answers; expected none"),
        ("entities.tsv", "e1\te1\te1", "expected"),
    ],
)
def test_a_wrong_line_is_refused_by_its_number(name, line, message, folder):
    path = folder / name
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, line]) + "\n")
    with pytest.raises(DataError) as refusal:
        load(folder)
    assert str(refusal.value).startswith(f"{path}:{len(lines) + 1}: {message}")


@pytest.mark.parametrize("stem", ["entities", "relations", "train", "valid", "test"])
def test_a_missing_file_is_refused_by_its_name(stem, folder):
    (folder / f"{stem}.tsv").unlink()
    with pytest.raises(DataError, match=rf"{stem}\.tsv: No such file"):
        load(folder)


@pytest.mark.parametrize("end", [0, 37, 111])
def test_a_manifest_cut_short_is_refused(end, folder):
    path = folder / "manifest.json"
    path.write_bytes(path.read_bytes()[:end])
    with pytest.raises(DataError, match=r"manifest\.json:\d+: .*; expected JSON"):
        load(folder)


@pytest.mark.parametrize("number", ["0", "3", '"1"', "null", "[1]", "true", "1.0"])
def test_a_manifest_of_another_format_is_refused(number, folder):
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"format": 2', f'"format": {number}'))
    with pytest.raises(DataError, match=r"manifest\.json: not a manifest of format 1 or 2; build"):
        load(folder)


@pytest.mark.parametrize("masks", ["true", "false"])
def test_a_manifest_of_the_first_format_still_loads(masks, folder):
    path = folder / "manifest.json"
    text = path.read_text().replace('"format": 2', '"format": 1')
    for value in ("true", "false"):
        text = text.replace(f'"masks_other_split": {value}', f'"masks_other_half": {masks}')
    path.write_text(text)
    again = load(folder)
    assert again.masks_other_split == (masks == "true")
    assert "masks_other_half" not in again.origin


def test_a_folder_of_something_else_is_no_benchmark(tmp_path):
    (tmp_path / "train.txt").write_text("a\tin\tb\n")
    assert not is_benchmark(tmp_path)
    with pytest.raises(DataError, match=r"not a benchmark; expected a folder with manifest\.json"):
        load(tmp_path)


def test_the_published_benchmark_is_read(data):
    folder = data / "fb14k-qaq"
    if not is_benchmark(folder):
        pytest.skip(f"no benchmark in {folder}")
    benchmark = load(folder)
    assert benchmark.vocabulary.num_relations == 237
    assert benchmark.valid.has_answers.any()
    assert benchmark.test.is_none.any()
