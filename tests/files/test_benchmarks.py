"""A benchmark that is saved loads equal, in either layout; a damaged one is refused."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.core.benchmark import Benchmark
from assent.core.types import Types
from assent.errors import DataError
from assent.files.benchmarks import is_benchmark, load, save
from assent.files.own_layout import REMOVED, REMOVED_FACTS
from files.benchmarks_by_hand import CROWD, check_equal, small_benchmarks, there_and_back
from toy import both_splits, built, crowds, pairs, typed, whole, with_kinds

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


def test_either_layout_may_replace_the_other(tmp_path):
    benchmark = built(CROWD, deal="by-query", removed=2)
    for layout in ("assent", "published", "assent"):
        save(benchmark, tmp_path / "benchmark", layout=layout, overwrite=True)
        assert is_benchmark(tmp_path / "benchmark")
        assert both_splits(load(tmp_path / "benchmark")) == both_splits(benchmark)
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
    (folder / "checksums.json").unlink()  # such benchmarks had none
    again = load(folder)
    assert again.masks_other_split == (masks == "true")
    assert "masks_other_half" not in again.origin


def test_a_folder_of_something_else_is_no_benchmark(tmp_path):
    (tmp_path / "train.txt").write_text("a\tin\tb\n")
    assert not is_benchmark(tmp_path)
    with pytest.raises(DataError, match=r"not a benchmark; expected a folder with manifest\.json"):
        load(tmp_path)


@pytest.mark.parametrize("pair", [(REMOVED, REMOVED_FACTS), (REMOVED_FACTS, REMOVED)])
def test_of_the_files_of_removed_entities_one_alone_is_refused(tmp_path, pair):
    gone, there = pair
    save(built(CROWD, removed=2), tmp_path / "benchmark")
    (tmp_path / "benchmark" / gone).unlink()
    with pytest.raises(
        DataError, match=f"{gone}: not there, but {there} is; put it back, or build"
    ):
        load(tmp_path / "benchmark")
