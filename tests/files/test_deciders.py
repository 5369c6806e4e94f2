"""Thresholds on disk: they come back as they were, or the file is refused by its name."""

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import toy
from assent.core.decider import Decider
from assent.core.probabilities import Probabilities
from assent.core.thresholds import Thresholds
from assent.errors import DataError
from assent.files.deciders import decider_file, read_decider, write_decider

VOCABULARY = toy.vocabulary_of(2, 2)
FOUND = {"shrink": 2.0, "trials": [[0.0, 0.25], [2.0, 0.5]]}


def saved(path, values=(0.5, 1.0, np.inf, -np.inf), found=FOUND, **more):
    decider = Decider.of_thresholds(
        "per-relation", "f1", Thresholds.of(values), found=found, **more
    )
    write_decider(path, decider, VOCABULARY)
    return path


def read(path):
    return read_decider(path, VOCABULARY, no_judge)


def no_judge(stated, arrays):
    raise AssertionError("there is no judge in the file")


def strictly(path):
    """What other readers of JSON see, to whom NaN and Infinity mean nothing."""

    def refuse(name):
        raise AssertionError(name)

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


@given(st.lists(st.floats(allow_nan=False), min_size=4, max_size=4))
def test_thresholds_come_back_to_the_last_bit(tmp_path_factory, values):
    path = saved(tmp_path_factory.mktemp("run") / "decider.json", values)
    again = read(path)
    assert again.thresholds.values.tolist() == again.floors.values.tolist() == values
    assert (again.rule, again.objective, again.found) == ("per-relation", "f1", FOUND)
    strictly(path)


def test_a_threshold_stands_under_its_side_and_the_name_of_its_relation(tmp_path):
    assert strictly(saved(tmp_path / "decider.json"))["thresholds"] == {
        "tail": {"r0": 0.5, "r1": 1.0},
        "head": {"r0": "inf", "r1": "-inf"},
    }


def test_what_json_cannot_say_is_said_in_words(tmp_path):
    found = {"shrink": np.inf, "trials": [(0.0, np.nan), (np.inf, 0.5)]}
    path = saved(tmp_path / "decider.json", found=found)
    assert strictly(path)["found"] == {"shrink": "inf", "trials": [[0.0, "nan"], ["inf", 0.5]]}
    again = read(path).found
    assert again["shrink"] == np.inf
    assert np.array_equal(again["trials"], found["trials"], equal_nan=True)


def test_a_run_folder_has_its_decider_under_a_name_of_its_own(tmp_path):
    assert decider_file(tmp_path) == tmp_path / "decider.json"
    assert decider_file(tmp_path / "mine.json") == tmp_path / "mine.json"


def test_a_file_that_is_not_there_says_how_to_get_it(tmp_path):
    with pytest.raises(DataError, match=r"decider\.json: no thresholds yet; `assent tune .*`"):
        read(tmp_path / "decider.json")


def refused(path, match="not a decider for this benchmark"):
    with pytest.raises(DataError, match=match) as refusal:
        read(path)
    assert str(path) in str(refusal.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"thresholds", b"{", b"\xff\xfe{}", b"[" * 100_000, b'{"format": 1' + b"0" * 5000 + b"}"],
    ids=["empty", "a word", "cut short", "not utf-8", "deep nesting", "a long number"],
)
def test_what_is_not_json_is_refused(tmp_path, content):
    path = tmp_path / "decider.json"
    path.write_bytes(content)
    refused(path, "expected JSON|UTF-8")


@pytest.mark.parametrize("content", ["null", "1", '"inf"', "[]", "{}", "[{}]"])
def test_json_that_says_something_else_is_refused(tmp_path, content):
    path = tmp_path / "decider.json"
    path.write_text(content, encoding="utf-8")
    refused(path)


def test_what_is_nested_deeply_but_not_too_deeply_for_json_is_no_reason_to_fail(tmp_path):
    path = saved(tmp_path / "decider.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"shrink": 2.0', f'"shrink": {"[" * 900}{"]" * 900}'))
    with suppress(DataError):
        read(path)


def test_a_folder_is_no_decider(tmp_path):
    refused(tmp_path, "is a folder; expected a file")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("thresholds", "tail", "r0"), value)
        for value in ["nan", "0.5", "", None, True, [], {}, float("nan"), 10**400]
    ]
    + [
        (("thresholds", "tail"), []),
        (("thresholds", "head"), "r0"),
        (("thresholds", "head"), None),
        (("thresholds",), [0.5, 0.5]),
        (("found",), [1]),
        (("found",), "nothing"),
        (("found",), None),
    ],
    ids=str,
)
def test_a_strange_value_is_refused_wherever_it_stands(tmp_path, place, value):
    path = saved(tmp_path / "decider.json")
    document = strictly(path)
    inner = document
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path)


@pytest.mark.parametrize("name", ["format", "rule", "objective", "found", "thresholds", "floors"])
def test_a_missing_part_is_named(tmp_path, name):
    path = saved(tmp_path / "decider.json")
    document = strictly(path)
    del document[name]
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path, name)


def test_a_relation_without_a_threshold_is_named(tmp_path):
    path = saved(tmp_path / "decider.json")
    document = strictly(path)
    del document["thresholds"]["head"]["r1"]
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path, "'r1'")


def test_a_threshold_of_a_relation_that_the_benchmark_lacks_is_named(tmp_path):
    path = saved(tmp_path / "decider.json")
    document = strictly(path)
    document["thresholds"]["tail"]["loves"] = 0.5
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(path, "a number for 'loves', unknown to the benchmark")


def test_another_format_is_refused_by_its_number(tmp_path):
    path = saved(tmp_path / "decider.json")
    path.write_text(json.dumps({**strictly(path), "format": 3}), encoding="utf-8")
    refused(path, "format 3; expected 2 or 1")


SIGMOIDS = Probabilities.made([0.5, 1, 2, 3], [1, 2, 3, 4], [-np.inf, 0, 1, 2], [0, 0.1, 0.2, 0])


def with_probabilities(path):
    return saved(path, [0.0] * 4, probabilities=SIGMOIDS)


def test_probabilities_come_back_to_the_last_bit_by_name(tmp_path):
    path = with_probabilities(tmp_path / "decider.json")
    again = read(path).probabilities
    for name in ("intercepts", "slopes", "floors", "below"):
        assert getattr(again, name).tolist() == getattr(SIGMOIDS, name).tolist()
    assert strictly(path)["probabilities"]["head"]["r1"] == {
        "intercept": 3.0, "slope": 4.0, "floor": 2.0, "below": 0.0,
    }  # fmt: skip


def test_a_decider_without_probabilities_comes_back_without(tmp_path):
    assert read(saved(tmp_path / "decider.json")).probabilities is None


@pytest.mark.parametrize("value", [[], "0", {}, {"tail": {}, "head": {}}, True, -1.0])
def test_strange_probabilities_are_refused(tmp_path, value):
    path = with_probabilities(tmp_path / "decider.json")
    document = strictly(path)
    if value == -1.0:
        document["probabilities"]["tail"]["r0"]["slope"] = value
    else:
        document["probabilities"] = value
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(DataError, match=r"decider\.json: not probabilities for this benchmark"):
        read(path)


def test_expected_precision_comes_back_unknown_where_it_was_unknown(tmp_path):
    path = saved(tmp_path / "decider.json", expected_precision=[0.5, np.nan, 1.0, np.nan])
    assert strictly(path)["expected_precision"]["tail"] == {"r0": 0.5, "r1": None}
    again = read(path).expected_precision
    assert np.array_equal(again, [0.5, np.nan, 1.0, np.nan], equal_nan=True)


def test_a_promise_of_format_1_has_its_expected_precision_in_what_was_found(tmp_path):
    path = saved(tmp_path / "decider.json")
    document = strictly(path)
    expected = {"tail": {"r0": 0.9, "r1": None}, "head": {"r0": None, "r1": 0.8}}
    del document["floors"], document["expected_precision"], document["checksum"]
    found = {"promise": {"precision": 0.7, "expected_precision": expected}}
    path.write_text(json.dumps({**document, "format": 1, "found": found}), encoding="utf-8")
    again = read(path)
    assert np.array_equal(again.expected_precision, [0.9, np.nan, np.nan, 0.8], equal_nan=True)
    assert again.found == {"promise": {"precision": 0.7}}
    assert again.floors.values.tolist() == again.thresholds.values.tolist()


def test_a_decider_that_cannot_be_written_leaves_the_old_one(tmp_path):
    path = saved(tmp_path / "decider.json")
    before = path.read_bytes()
    with pytest.raises(TypeError):
        saved(path, found={"shrink": object()})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["decider.json"]
