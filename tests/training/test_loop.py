"""Training stops and goes on anywhere, and ends with the same bits."""

import json
import math
import re
import signal
from dataclasses import replace
from itertools import pairwise

import pytest
import torch
from safetensors.torch import load_file, save_file

import toy
from assent.core.queries import Queries, both_ways
from assent.errors import ConfigError, DataError, StoppedError, TrainingError
from assent.files.checksums import digest, sealed
from assent.geometry.loss import LOSSES
from assent.models import create, names
from assent.models.transa import TransA
from assent.training.loop import train
from assent.training.settings import TrainSettings
from assent.training.trace import read_trained


class Watched:
    """Remembers events; fails, or sends itself a signal, at a given step."""

    def __init__(self, fail_at=None, signal_at=None):
        self.events, self.steps = [], 0
        self.fail_at, self.signal_at = fail_at, signal_at

    def step(self, epoch, step, steps, loss, queries):
        self.steps += 1
        if self.steps == self.fail_at:
            raise RuntimeError("power cut")
        if self.steps == self.signal_at:
            signal.raise_signal(signal.SIGTERM)

    def event(self, **values):
        self.events.append(values)


def graph():
    kb = toy.whole()
    queries = Queries.grouped(*both_ways(kb.facts, kb.vocabulary.num_relations))
    return kb.vocabulary, queries


def settings(**changes):
    return TrainSettings(
        **{"epochs": 6, "batch_size": 7, "evaluate_every": 2, "learning_rate": 0.05, **changes}
    )


def run(
    folder=None,
    watcher=None,
    model="complex",
    evaluate=None,
    minutes=math.inf,
    members=1,
    **changes,
):
    vocabulary, queries = graph()
    torch.manual_seed(0)
    shape = {"dim": 16, "members": members}
    network = create(model, vocabulary.num_entities, vocabulary.num_relations, shape)
    watcher = watcher or Watched()
    evaluate = evaluate or (lambda model: float(model.entity_tables()[0].detach().sum()))
    trained = train(network, queries, settings(**changes), evaluate, watcher, folder, minutes)
    return network, trained, watcher


def same(one, other):
    first, second = one.state_dict(), other.state_dict()
    return all(torch.equal(first[name], second[name]) for name in first)


def test_the_loss_falls():
    _, _, watcher = run(epochs=30)
    losses = [event["loss"] for event in watcher.events if event["event"] == "epoch"]
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("schedule", ["one-cycle", "constant", "plateau"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_way_to_train_trains_and_resumes_to_equal_bits(tmp_path, optimizer, schedule, loss):
    ways = {"optimizer": optimizer, "schedule": schedule, "loss": loss, "checkpoint_minutes": 0.0}
    whole, *_ = run(**ways)
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=8), **ways)
    resumed, *_ = run(tmp_path, **ways)
    assert same(whole, resumed)


def changed_with_its_checksum(weights, change):
    """Changes the tensors of a checkpoint as an enemy can: its voucher vouches for them."""
    tensors = load_file(weights)
    change(tensors)
    save_file(tensors, weights)
    voucher = weights.with_suffix(".json")
    content = json.loads(voucher.read_text())
    content.pop("checksum")
    voucher.write_text(json.dumps(sealed({**content, "sha256": digest(weights)})))


def renamed(before, after):
    return lambda tensors: tensors.update({after: tensors.pop(before)})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (renamed("model/entities", "model/entitkes"), "model/entities is missing"),
        (renamed("best/relations", "best/relatio.s"), "best/relatio.s belongs to nothing"),
        (renamed("best/entities", "x"), "best/entities is missing"),
        (renamed("optimizer/0/step", "optimizer/1e9/step"), "optimizer/0/step is missing"),
        (renamed("optimizer/0/step", "optimizer/9/step"), "optimizer/0/step is missing"),
        (lambda found: found.update(x=torch.zeros(1)), "x belongs to nothing"),
        (lambda found: found.update({"best/entities": torch.zeros(2)}), r"of shape \[2\]"),
        (lambda found: found.update({"optimizer/0/exp_avg": torch.zeros(2)}), r"of shape \[2\]"),
    ],
)
def test_a_checkpoint_of_other_tensors_is_passed_over_or_refused(tmp_path, change, said):
    whole, _, watcher = run(checkpoint_minutes=0.0)
    past = 2 * watcher.events[0]["steps"] + 3  # the first evaluation, so that there is a best
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=past), checkpoint_minutes=0.0)
    newest = sorted(tmp_path.glob("*/*.safetensors"))[-1]
    changed_with_its_checksum(newest, change)
    resumed, _, watcher = run(tmp_path, checkpoint_minutes=0.0)
    (damaged,) = [event for event in watcher.events if event["event"] == "damaged"]
    assert same(whole, resumed) and re.search(said, damaged["message"])
    for weights in tmp_path.glob("*/*.safetensors"):
        changed_with_its_checksum(weights, change)
    with pytest.raises(DataError, match="no checkpoint is whole"):
        run(tmp_path, checkpoint_minutes=0.0)


@pytest.mark.parametrize("scores", [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [1.0, 3.0, 2.0]])
@pytest.mark.parametrize("epochs", [0, 2, 4])  # until it is stopped; it is measured after 2, 4, 6
def test_the_best_weights_are_a_copy_only_where_something_comes_after_them(
    tmp_path, scores, epochs
):
    seen = []

    def evaluate(model):
        seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return scores[(len(seen) - 1) % 3]

    def has_copy():
        newest = load_file(sorted(tmp_path.glob("*/*.safetensors"))[-1])
        return any(name.startswith("best/") for name in newest)

    whole, trained, watcher = run(evaluate=evaluate)
    best = seen[scores.index(max(scores))]
    assert all(torch.equal(x, best[name]) for name, x in whole.state_dict().items())

    seen.clear()
    stop = epochs * watcher.events[0]["steps"] + 2
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=stop), evaluate=evaluate, checkpoint_minutes=0.0)
    assert has_copy() is (epochs > 0)
    again, resumed, _ = run(tmp_path, evaluate=evaluate, checkpoint_minutes=0.0)
    assert same(whole, again) and resumed.best_epoch == trained.best_epoch
    assert has_copy() is (scores[-1] != max(scores))
    after, *_ = run(tmp_path, evaluate=lambda model: 1 / 0)  # there is nothing left to do
    assert same(whole, after)


def test_rows_of_a_checkpoint_that_made_more_steps_than_there_were_are_refused(tmp_path):
    drawn = {"candidates": 2.0, "checkpoint_minutes": 0.0}
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=8), **drawn)
    for weights in tmp_path.glob("*/*.safetensors"):
        changed_with_its_checksum(weights, lambda found: found["optimizer/rows/0/steps"].add_(99))
    with pytest.raises(DataError, match="no checkpoint is whole"):
        run(tmp_path, **drawn)


@pytest.mark.parametrize("model", names())
def test_every_model_resumes_to_equal_bits(tmp_path, model):
    whole, *_ = run(model=model)
    for fail_at in (3, 2, 5):
        with pytest.raises(RuntimeError):
            run(tmp_path, Watched(fail_at=fail_at), model=model, checkpoint_minutes=0.0)
    resumed, *_ = run(tmp_path, model=model, checkpoint_minutes=0.0)
    assert same(whole, resumed)


@pytest.mark.parametrize("candidates", [2.0, 5.0])
@pytest.mark.parametrize("model", names())
@pytest.mark.parametrize("loss", LOSSES)
def test_every_model_learns_from_drawn_candidates_and_resumes_to_equal_bits(
    tmp_path, model, candidates, loss
):
    ways = {"model": model, "candidates": candidates, "loss": loss, "n3": 0.01, "epochs": 10}
    whole, _, watched = run(**ways)
    losses = [event["loss"] for event in watched.events if event["event"] == "epoch"]
    assert losses[-1] < losses[0]
    for fail_at in (3, 9):
        with pytest.raises(RuntimeError):
            run(tmp_path, Watched(fail_at=fail_at), checkpoint_minutes=0.0, **ways)
    resumed, *_ = run(tmp_path, checkpoint_minutes=0.0, **ways)
    assert same(whole, resumed)


@pytest.mark.parametrize("candidates", [0.0, 4.0])
@pytest.mark.parametrize(("model", "members"), [("complex", 2), ("transe", 1), ("conve", 1)])
def test_relations_told_train_and_resume_to_equal_bits(tmp_path, model, members, candidates):
    ways = {"model": model, "members": members, "candidates": candidates, "loss": "ce"}
    ways |= {"relation_weight": 1.0, "n3": 0.01}
    whole, _, watched = run(**ways)
    losses = [event["loss"] for event in watched.events if event["event"] == "epoch"]
    assert losses[-1] < losses[0]
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=8), checkpoint_minutes=0.0, **ways)
    resumed, *_ = run(tmp_path, checkpoint_minutes=0.0, **ways)
    assert same(whole, resumed)
    without, *_ = run(**(ways | {"relation_weight": 0.0}))
    assert not same(whole, without)


@pytest.mark.parametrize("candidates", [0.0, 4.0])
def test_batches_of_few_slots_train_and_resume_to_equal_bits(tmp_path, candidates):
    ways = {"model": "transr", "slots": 2, "candidates": candidates}
    whole, _, watched = run(**ways)
    losses = [event["loss"] for event in watched.events if event["event"] == "epoch"]
    assert losses[-1] < losses[0]
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=8), checkpoint_minutes=0.0, **ways)
    resumed, *_ = run(tmp_path, checkpoint_minutes=0.0, **ways)
    assert same(whole, resumed)


@pytest.mark.parametrize("candidates", [0.0, 4.0])
def test_what_is_not_learned_is_derived_before_each_epoch_from_the_newest_weights(
    monkeypatch, candidates
):
    derived = []

    def derive(model, queries, rng):
        derived.append((len(queries), rng.integers(1 << 30), model.entities.detach().clone()))

    monkeypatch.setattr(TransA, "derive", derive)
    _, queries = graph()
    model, *_ = run(model="transa", epochs=3, evaluate_every=0, candidates=candidates)
    assert [count for count, *_ in derived] == [len(queries)] * 3
    assert len({drawn for _, drawn, _ in derived}) == 3
    tables = [table for *_, table in derived] + [model.entities]
    assert all(not torch.equal(one, other) for one, other in pairwise(tables))


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("schedule", ["one-cycle", "constant", "plateau"])
def test_drawn_candidates_resume_to_equal_bits_whatever_moves_the_rows(
    tmp_path, optimizer, schedule
):
    ways = {"optimizer": optimizer, "schedule": schedule, "candidates": 4.0, "members": 2}
    whole, *_ = run(**ways)
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=8), checkpoint_minutes=0.0, **ways)
    resumed, *_ = run(tmp_path, checkpoint_minutes=0.0, **ways)
    assert same(whole, resumed)


def test_the_best_weights_of_drawn_candidates_are_those_that_were_measured():
    seen = []

    def evaluate(model):
        seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return -float(len(seen))  # the first is the best

    model, *_ = run(evaluate=evaluate, candidates=4.0)
    assert all(torch.equal(seen[0][name], tensor) for name, tensor in model.state_dict().items())


def test_more_candidates_than_half_of_the_entities_are_all_of_them():
    entities = graph()[0].num_entities
    assert same(run(candidates=float(entities // 2 + 1))[0], run()[0])
    assert not same(run(candidates=float(entities // 2))[0], run()[0])


def test_without_a_recent_checkpoint_only_the_time_since_the_last_one_is_lost(tmp_path):
    whole, trained, _ = run()
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=8))  # a checkpoint is due in a minute: none was written
    resumed, again, _ = run(tmp_path)
    assert same(whole, resumed)
    assert replace(trained, seconds=0.0) == replace(again, seconds=0.0)  # time is never the same


def test_a_signal_ends_training_after_the_step_with_a_checkpoint(tmp_path):
    whole, _, unstopped = run()
    with pytest.raises(StoppedError, match="the same command goes on from here"):
        run(tmp_path, Watched(signal_at=8))
    watcher = Watched()
    resumed, *_ = run(tmp_path, watcher)
    assert watcher.events[0]["event"] == "resume"
    assert watcher.steps == unstopped.steps - 8
    assert same(whole, resumed)


def test_a_finished_training_is_not_done_again(tmp_path):
    whole, trained, _ = run(tmp_path)
    watcher = Watched()
    again, trained_again, _ = run(tmp_path, watcher)
    assert watcher.steps == 0 and same(whole, again) and trained == trained_again


def test_the_best_weights_are_kept_and_patience_ends_training():
    scores = iter([0.3, 0.5, 0.4, 0.2, 0.1, 0.6])
    seen = []

    def evaluate(model):
        seen.append({name: tensor.clone() for name, tensor in model.state_dict().items()})
        return next(scores)

    model, trained, _ = run(epochs=12, evaluate=evaluate, patience=3, schedule="constant")
    assert trained.scores == (0.3, 0.5, 0.4, 0.2, 0.1)
    assert (trained.best_epoch, trained.epochs) == (4, 10)
    assert all(torch.equal(seen[1][name], tensor) for name, tensor in model.state_dict().items())


@pytest.mark.parametrize(("schedule", "epochs"), [("one-cycle", 12), ("constant", 8)])
def test_a_rate_that_falls_to_the_end_is_given_all_its_epochs(schedule, epochs):
    scores = iter([0.5, 0.4, 0.2, 0.1, 0.1, 0.1])
    _, trained, _ = run(epochs=12, evaluate=lambda _: next(scores), schedule=schedule)
    assert trained.epochs == epochs


@pytest.mark.parametrize(
    ("schedule", "measured"), [("one-cycle", [4, 6, 8, 10, 12]), ("constant", [2, 4, 6, 8, 10, 12])]
)
def test_nothing_is_measured_while_the_rate_only_rises(schedule, measured):
    _, _, watcher = run(epochs=12, patience=9, schedule=schedule)
    found = [event["epoch"] for event in watcher.events if event["event"] == "evaluation"]
    assert found == measured


def test_the_end_is_measured_whatever_the_schedule():
    _, trained, _ = run(epochs=1)
    assert len(trained.scores) == 1 and trained.best_epoch == 1


def test_patience_survives_a_restart(tmp_path):
    scores = iter([0.3, 0.5, 0.4, 0.2, 0.1])

    def evaluate(_):
        return next(scores)

    ways = {"epochs": 12, "checkpoint_minutes": 0.0, "schedule": "constant"}
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=40), evaluate=evaluate, **ways)
    _, trained, _ = run(tmp_path, evaluate=evaluate, **ways)
    assert trained.scores == (0.3, 0.5, 0.4, 0.2, 0.1)


def test_the_trace_has_one_line_an_event_and_no_epoch_twice(tmp_path):
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=20), checkpoint_minutes=0.0)
    run(tmp_path, checkpoint_minutes=0.0)
    lines = (tmp_path / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    epochs = [event for event in events if event["event"] == "epoch"]
    assert [event["epoch"] for event in epochs] == [1, 2, 3, 4, 5, 6]
    assert all(event["seconds"] > 0 and event["loss"] > 0 for event in epochs)
    assert events[-1]["event"] == "end"


def test_the_trace_says_where_the_time_went_also_across_a_stop(tmp_path):
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=20), checkpoint_minutes=0.0)
    run(tmp_path, checkpoint_minutes=0.0)
    lines = (tmp_path / "trace.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    end = events[-1]
    assert set(end["seconds"]) == {"batches", "steps", "evaluations", "checkpoints"}
    assert min(end["seconds"].values()) >= 0
    epochs = [event for event in events if event["event"] == "epoch"]
    assert end["seconds"]["steps"] == pytest.approx(sum(e["seconds"] for e in epochs), abs=0.01)
    assert end["processor_seconds"] > sum(e["processor_seconds"] for e in epochs) > 0
    spent = [e["processor_so_far"] for e in events if e["event"] == "evaluation"]
    assert spent == sorted(spent) and spent[-1] <= end["processor_seconds"]


def test_a_slow_disk_gets_fewer_checkpoints(tmp_path, monkeypatch):
    """Each takes a second of a clock on which nothing else takes any time but a step, .1 s."""
    now, saved = [0.0], []
    monkeypatch.setattr("assent.training.loop.time.monotonic", lambda: now[0])

    def slow(folder, position, tensors, *_):
        saved.append(now[0])
        now[0] += 1.0

    monkeypatch.setattr("assent.training.together.save_checkpoint", slow)

    class Ticking(Watched):
        def step(self, *values):
            now[0] += 0.1

    run(tmp_path, Ticking(), epochs=200, patience=1000, checkpoint_minutes=0.01)
    between = [later - one for one, later in pairwise(saved[:-1])]  # the last one is the end's
    assert saved[0] < 1.0 and len(between) > 2
    assert min(between) >= 1.0 / 0.02


def test_the_trace_of_a_training_that_begins_anew_begins_anew(tmp_path):
    with pytest.raises(RuntimeError):
        run(tmp_path, Watched(fail_at=20))  # a checkpoint is due in a minute: none was written
    _, trained, watcher = run(tmp_path)
    assert watcher.events[0]["event"] == "start"
    assert read_trained(tmp_path / "trace.jsonl") == trained


def test_a_loss_that_is_no_number_ends_in_a_clear_line(tmp_path):
    with pytest.raises(TrainingError, match=r"the loss became .* in epoch .*learning_rate"):
        run(tmp_path, learning_rate=1e30, schedule="constant")


@pytest.mark.parametrize(
    ("name", "value"),
    [("optimizer", "sgd"), ("schedule", "x"), ("loss", "hinge"),
     ("epochs", -1), ("batch_size", -1), ("learning_rate", 0.0), ("label_smoothing", 1.0),
     ("seed", -1), ("patience", -1), ("candidates", -1.0), ("candidates", 1.5)],
)  # fmt: skip
def test_settings_that_make_no_sense_are_refused_by_name(name, value):
    with pytest.raises(ConfigError, match=name):
        settings(**{name: value})


def test_no_more_minutes_than_given_and_the_weights_at_the_cut_are_measured(tmp_path):
    model, trained, watcher = run(tmp_path, minutes=1e-9)
    assert watcher.steps == 1 and trained.epochs == 0 and len(trained.scores) == 1
    assert trained.cut_after is not None and read_trained(tmp_path / "trace.jsonl") == trained
    again, trained_again, watcher = run(tmp_path, minutes=1e-9)
    assert watcher.steps == 0 and same(model, again) and trained == trained_again


def test_a_training_that_was_cut_goes_on_with_more_minutes_to_equal_bits(tmp_path):
    whole, trained, _ = run()
    run(tmp_path, minutes=1e-9)
    resumed, again, _ = run(tmp_path)
    assert same(whole, resumed) and trained == again
    assert again.cut_after is None and read_trained(tmp_path / "trace.jsonl") == again


def test_time_that_is_up_with_the_last_step_cuts_nothing(tmp_path):
    _, _, watcher = run(tmp_path)
    _, trained, _ = run(tmp_path, minutes=1e-9)
    assert watcher.steps and trained.cut_after is None


@pytest.mark.parametrize(
    ("threads", "small", "expected"), [(0, True, 1), (0, False, 2), (2, True, 2)]
)
def test_small_steps_take_one_thread_unless_told_otherwise(threads, small, expected, monkeypatch):
    monkeypatch.setattr("assent.training.stepping.SMALL", 1 << 30 if small else 0)
    # Others may use the machine at the same time; that threads then give way is another test's.
    monkeypatch.setattr("assent.training.loop.Crowd.after_step", lambda crowd, *took: crowd.most)
    before, seen = torch.get_num_threads(), set()
    torch.set_num_threads(2)
    try:
        run(evaluate=lambda model: float(not seen.add(torch.get_num_threads())), threads=threads)
        assert seen == {expected} and torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
