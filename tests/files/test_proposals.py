"""Files of `assent complete`, line by line."""

import json
from pathlib import Path

import pytest

from assent.core.completions import Chain
from assent.errors import DataError
from assent.files.proposals import read_proposals

LINE = {
    "head": "ada", "relation": "knows", "tail": "<b>ben</b>", "decision": "accepted",
    "probability": 0.93, "score": 2.6, "threshold": 1.0, "expected_precision": None,
    "asked": "both",
    "evidence": [{"facts": [["ada", "likes", "ben"]], "support": 3, "cases": 4}],
}  # fmt: skip


def written(folder: Path, *lines: object) -> Path:
    path = folder / "facts.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_a_line_is_a_fact_with_its_evidence(tmp_path):
    (one,) = read_proposals(written(tmp_path, json.dumps(LINE)))
    assert one.fact == ("ada", "knows", "<b>ben</b>") and one.probability == 0.93
    assert one.expected_precision is None
    assert one.evidence == (Chain((("ada", "likes", "ben"),), 3, 4),)


def test_no_lines_are_no_facts(tmp_path):
    assert list(read_proposals(written(tmp_path))) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"probability": 1.5}, "1.5 is no share of 1"),
        ({"probability": True}, "True is no share of 1"),
        ({"probability": float("nan")}, "nan is no share of 1"),
        ({"decision": "maybe"}, "decision 'maybe'"),
        ({"head": 3}, "names [3, 'knows', '<b>ben</b>']"),
        ({"evidence": [{"facts": [["a", "b"]], "support": 1, "cases": 1}]}, "expected a line"),
        ({"evidence": 7}, "expected a line of `assent complete`"),
    ],
)
def test_what_no_completion_writes_is_refused_with_its_line(tmp_path, change, complaint):
    path = written(tmp_path, json.dumps(LINE), json.dumps({**LINE, **change}))
    with pytest.raises(DataError) as refused:
        list(read_proposals(path))
    assert f"{path}:2: " in str(refused.value) and complaint in str(refused.value)


@pytest.mark.parametrize("line", ["", "ada\tknows\tben", "[]", "3", '{"head": "ada"}', "[" * 9999])
def test_other_files_are_refused_in_one_line(tmp_path, line):
    path = written(tmp_path, line)
    with pytest.raises(DataError, match=r"facts\.jsonl:1: .*expected a line of `assent complete`"):
        list(read_proposals(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="nowhere"):
        list(read_proposals(tmp_path / "nowhere.jsonl"))
