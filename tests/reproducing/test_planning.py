"""What is left, by the epochs in the trace."""

import json

from assent.reproducing.planning import plan, total_line
from assent.reproducing.specs import PAPER, Spec


def traced(out, name, *events):
    folder = out / "runs" / "default" / name
    folder.mkdir(parents=True)
    lines = [json.dumps(event) + "\n" for event in events]
    (folder / "trace.jsonl").write_text("".join(lines), encoding="utf-8")


def epochs(count, seconds):
    return [{"event": "epoch", "epoch": n + 1, "seconds": seconds} for n in range(count)]


def planned(out, *names, budget=float("inf")):
    specs = [Spec.of(name, "default", ("train.epochs=10",)) for name in names]
    return plan(specs, out, out, "a checksum", budget)


def test_the_epochs_left_take_as_long_as_the_epochs_done(tmp_path):
    traced(tmp_path, "complex-64", *epochs(4, 60.0))
    tasks = planned(tmp_path, "complex-64", "conve-64")
    assert tasks[0].line().split(maxsplit=1)[1] == "epoch 4 of 10 is done, 6 min at most"
    assert tasks[1].line().split(maxsplit=1)[1] == "to train, no epoch yet to tell how long"
    expected = "0 of 2 models done; training: 6 min more at most; no epoch yet of 1"
    assert total_line(tasks) == expected


def test_a_budget_is_the_most_there_is_to_wait_for(tmp_path):
    traced(tmp_path, "complex-64", *epochs(4, 60.0))
    tasks = planned(tmp_path, "complex-64", "conve-64", budget=5.0)
    assert tasks[0].minutes == 1.0
    assert total_line(tasks, 5.0) == "0 of 2 models done; training: 6 min more at most"


def test_a_cut_training_is_as_good_as_done_until_it_may_take_longer(tmp_path):
    end = {"event": "end", "epochs": 2, "best_epoch": 2}
    cut = {"event": "cut", "epoch": 2, "minutes": 2.5}
    traced(tmp_path, "complex-64", *epochs(2, 60.0), cut, end)
    assert planned(tmp_path, "complex-64", budget=2.0)[0].is_trained
    assert not planned(tmp_path, "complex-64", budget=3.0)[0].is_trained
    assert not planned(tmp_path, "complex-64")[0].is_trained


def test_every_model_of_the_paper_has_settings_under_both_presets():
    for preset in ("default", "paper"):
        for name in PAPER:
            settings = Spec.of(name, preset).settings
            assert settings.model.dim == int(name.rpartition("-")[2])
    assert Spec.of("region-sphere-64", "paper").settings.model.shape == "sphere"
