"""What a completion leaves in a run's folder is read back as it was."""

import json
import math

import pytest

import toy
from assent.core.new_facts import NewFacts
from assent.errors import DataError
from assent.files.atomic import together
from assent.files.completions import Kept, OfRelation, read_completion, write_completion
from assent.files.places import COMPLETION, FACTS, NAMING

KEPT = Kept(
    "sha",
    "rehearsal",
    0.7,
    ("a line", "and another"),
    "It rests on that.",
    (OfRelation("r<1>", 2, 1, 0.8, 30, 10), OfRelation("r2", 0, 0, math.nan, 5, 0)),
)


@pytest.fixture
def folder(tmp_path):
    with together(tmp_path / NAMING) as files:
        write_completion(tmp_path, KEPT, NewFacts.nothing(toy.vocabulary_of(2, 1)), files=files)
    return tmp_path


def test_it_comes_back_and_what_is_no_number_is_not_known(folder):
    kept, facts = read_completion(folder)
    assert len(facts) == 0
    first, second = kept.relations
    assert first == KEPT.relations[0] and math.isnan(second.expected)
    assert kept._replace(relations=()) == KEPT._replace(relations=())


def test_without_a_record_there_is_nothing(folder):
    (folder / COMPLETION).unlink()
    assert read_completion(folder) is None


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"model": None, "relations": 3},
        {"relations": [{"relation": "r"}]},
        {"precision": "much"},
        {"precision": True},
        {"lines": 1},
    ],
)
def test_what_no_completion_wrote_is_refused_in_one_line(folder, change):
    record = json.loads((folder / COMPLETION).read_text())
    (folder / COMPLETION).write_text(json.dumps(record | change))
    with pytest.raises(DataError, match="no record of a completion"):
        read_completion(folder)


def test_a_record_without_its_facts_is_refused(folder):
    (folder / FACTS).unlink()
    with pytest.raises(DataError, match=FACTS):
        read_completion(folder)
