"""The trace has one line an event, and tells how a training went."""

import json

import pytest

from assent.errors import DataError
from assent.training.trace import Trace, Trained, read_events, read_trained


def test_events_are_lines_and_what_comes_after_a_checkpoint_is_forgotten(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    assert trace.size() == 0
    trace("start", queries=3)
    size = trace.size()
    trace("epoch", epoch=1, loss=0.5)
    trace.rewind(size)
    trace("end", epochs=1, best_epoch=1)
    events = read_events(tmp_path / "trace.jsonl")
    assert [event["event"] for event in events] == ["start", "end"]
    assert events[0]["queries"] == 3 and "time" in events[0]


def test_a_trace_without_a_file_keeps_its_events():
    trace = Trace(None)
    trace("start")
    trace.rewind(0)
    assert [event["event"] for event in trace.events] == ["start"] and trace.size() == 0


def test_how_a_training_went_is_read_from_its_trace(tmp_path):
    trace = Trace(tmp_path / "trace.jsonl")
    trace("evaluation", epoch=5, score=0.25)
    trace("evaluation", epoch=10, score=0.5)
    with pytest.raises(DataError, match="no end in it; train the run to its end first"):
        read_trained(tmp_path / "trace.jsonl")
    trace("cut", epoch=10, minutes=2.5)
    trace("end", epochs=10, best_epoch=10)
    assert read_trained(tmp_path / "trace.jsonl") == Trained(10, (0.25, 0.5), 10, 2.5)


@pytest.mark.parametrize("line", ["{", json.dumps({"event": "end"}), json.dumps(["end"])])
def test_a_damaged_trace_is_refused(line, tmp_path):
    (tmp_path / "trace.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match="cannot be read"):
        read_trained(tmp_path / "trace.jsonl")


@pytest.mark.parametrize("line", ["true", "0.5", '"end"', "[]", "null"])
def test_a_line_that_is_no_event_is_refused(line, tmp_path):
    (tmp_path / "trace.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match="a line that is no event"):
        read_events(tmp_path / "trace.jsonl")


def test_a_trace_that_is_a_link_to_itself_is_refused(tmp_path):
    path = tmp_path / "trace.jsonl"
    path.symlink_to(path)
    with pytest.raises(DataError, match=r"trace.jsonl: cannot be written: Too many levels"):
        Trace(path)("start")
