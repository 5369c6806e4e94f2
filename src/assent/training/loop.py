"""The training loop: steps, evaluations, checkpoints; stops and goes on anywhere."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from assent.core.queries import Queries
from assent.files.places import CHECKPOINTS
from assent.files.runs import TRACE
from assent.geometry.threads import Crowd, with_threads
from assent.models.base import Model
from assent.training.batches import batches
from assent.training.checkpoints import (
    STEPS,
    Position,
    below,
    refuse_unlike,
)
from assent.training.interrupts import Interrupts
from assent.training.schedules import RISING
from assent.training.settings import FREE, LATER, TrainSettings, settled
from assent.training.stepping import Pull, Stepping
from assent.training.together import (
    OVER,
    SAVE,
    STOP,
    company_of,
    refuse_unshared,
    table_names,
    tables_in_checkpoint,
)
from assent.training.trace import Trace, Trained

NOTHING: Mapping[str, Any] = MappingProxyType({})
SAVING = 0.02  # share of the time that checkpoints may take, about
DERIVING = 0xDE  # keeps the random numbers of deriving apart from those of the order of queries


class Watcher(Protocol):
    """Told of what happens, to show it."""

    def step(self, epoch: int, step: int, steps: int, loss: float, queries: int) -> None: ...

    def event(self, **values: Any) -> None: ...


def train(
    model: Model,
    queries: Queries,
    settings: TrainSettings,
    evaluate: Callable[[Model], float],
    watcher: Watcher,
    folder: Path | None = None,
    minutes: float = math.inf,
    changed: Mapping[str, Any] = NOTHING,
    pull: Pull | None = None,
) -> Trained:
    """Trains `model` in place, and leaves it with its best weights.

    `evaluate` gives a number, the higher the better. In `folder`, checkpoints make sure that a
    training that was stopped at any moment goes on where it was. Its steps, those before it was
    stopped too, take `minutes` at most; with more of them, it goes on from there. `changed` are the
    settings that differ from those before it was stopped; the trace tells of them. `pull` is told
    the rate of each step, and the rows of entities that it moved, if not all of them.
    """
    if model.peers is not None:
        refuse_unshared(model)
    model.to(settings.device)
    training = _Training(model, queries, settings, evaluate, watcher, folder, minutes, pull)
    training.resume(changed)
    threads = training.company.threads(training.stepping.most_threads())
    with with_threads(threads), Interrupts() as interrupts:
        training.run(interrupts)
    return training.finish()


class _Training:
    """A training under way."""

    def __init__(
        self,
        model: Model,
        queries: Queries,
        settings: TrainSettings,
        evaluate: Callable[[Model], float],
        watcher: Watcher,
        folder: Path | None,
        minutes: float,
        pull: Pull | None,
    ) -> None:
        self.model = model
        self.queries = queries
        self.settings = settled(settings, len(queries))
        self.stepping = Stepping(model, queries, self.settings, pull)
        self.optimizer = self.stepping.optimizer
        self.evaluate = evaluate
        self.watcher = watcher
        self.minutes = minutes
        self.cut_after: float | None = None
        self.folder = folder / CHECKPOINTS if folder else None
        self.company = company_of(model, tables_in_checkpoint(model, self.optimizer))
        self.trace = Trace(folder / TRACE if folder and self.company.first else None)
        self.position = Position()
        # A copy of the best weights; none where nothing was measured yet, or nothing comes after
        # the best: a copy takes as much memory as the model.
        self.best: dict[str, Tensor] = {}
        self.identity = _identity(model, queries, self.settings)
        self.saved_at = time.monotonic()
        self.saving_took = 0.0  # seconds

    def resume(self, changed: Mapping[str, Any]) -> None:
        """Takes up the newest whole checkpoint, if there is one."""
        found = self.company.newest(self.folder, self.identity, self._fits) if self.folder else None
        if found is None:
            self.trace.rewind(0)
            self._tell(
                "start",
                queries=len(self.queries),
                steps=self.stepping.steps,
                epochs=self.settings.epochs,
            )
            return
        self.position, tensors, complaints = found
        if lost := self.trace.rewind(self.position.trace_bytes):
            complaints.append(lost)
        for complaint in complaints:
            self._tell("damaged", message=complaint)
        self.model.load_state_dict(below("model/", tensors))
        self.best = below("best/", tensors)
        self.optimizer.load(below("optimizer/", tensors))
        self._tell(
            "resume",
            epoch=self.position.epoch,
            step=self.position.step,
            epochs=self.settings.epochs,
        )
        if changed:
            self._tell("changed", settings=dict(changed), equal_bits=False)

    def _fits(self, tensors: Mapping[str, Tensor]) -> None:
        """A ValueError for tensors that this training would not have saved."""
        optimizers = {name: x for name, x in tensors.items() if name.startswith("optimizer/")}
        others = {name: x for name, x in tensors.items() if name not in optimizers}
        kept = any(name.startswith("best/") for name in others)
        newest = self.model.state_dict()
        refuse_unlike(others, _named(newest, newest if kept else {}), "")
        self.optimizer.check(below("optimizer/", optimizers))

    def run(self, interrupts: Interrupts) -> None:
        while self.position.epoch < self.settings.epochs and not self._out_of_patience():
            if not self._epoch(interrupts):
                self._cut()
                return
            position = self.position
            self._tell(
                "epoch",
                epoch=position.epoch + 1,
                seconds=round(position.seconds, 3),
                processor_seconds=round(position.processor_seconds, 3),
                loss=position.loss / self.stepping.steps,
                queries_per_second=round(len(self.queries) / max(position.seconds, 1e-9)),
            )
            position.begin(position.epoch + 1)
            self._evaluate()
            if self.company.agreed(SAVE, self._is_due()):
                self.save()
        self.save()

    def finish(self) -> Trained:
        if self.best:
            self.model.load_state_dict(self.best)
        self.model.eval()
        position = self.position
        self._tell(
            "end",
            epochs=position.epoch,
            best_epoch=position.best_epoch,
            seconds={part: round(seconds, 3) for part, seconds in position.parts.items()},
            processor_seconds=round(position.processor, 3),
        )
        return Trained(
            position.best_epoch,
            tuple(position.scores),
            position.epoch,
            self.cut_after,
            position.spent,
        )

    def save(self) -> None:
        if self.folder is None:
            return
        start = time.monotonic()
        with self.position.timed("checkpoints"):
            self._write(self.folder)
        self.saved_at = time.monotonic()
        self.saving_took = self.saved_at - start

    def _write(self, folder: Path) -> None:
        self.position.trace_bytes = self.trace.size()
        tensors = _named(self.model.state_dict(), self.best)
        tensors |= {f"optimizer/{name}": x for name, x in self.optimizer.state().items()}
        self.company.save(folder, self.position, tensors, self.identity)

    def _epoch(self, interrupts: Interrupts) -> bool:
        """Whether the epoch came to its end before the time was up."""
        settings, position = self.settings, self.position
        crowd = Crowd(torch.get_num_threads() if self.model.peers is None else 1)
        self.model.train()
        self.company.settle(self.model)
        if position.step == 0 and self.model.derives():
            self.optimizer.settle()
            self.model.derive(
                self.queries, np.random.default_rng([settings.seed, position.epoch, DERIVING])
            )
        waiting = batches(
            self.queries,
            self.stepping.batch_size,
            settings.seed,
            position.epoch,
            position.step,
            settings.slots,
        )
        while True:
            with position.timed("batches"):
                batch = next(waiting, None)
            if batch is None:
                return True
            is_over = position.spent / 60 >= self.minutes
            if self.company.heard(OVER, is_over):
                return False
            self.company.say(bool(interrupts.wanted), self._is_due(), is_over)
            clock, processor = position.seconds, position.processor_seconds
            with position.timed(STEPS):
                loss = self.stepping.step(batch, position)
            if crowd.most > 1 and not settings.threads:
                took = position.seconds - clock, position.processor_seconds - processor
                torch.set_num_threads(crowd.after_step(*took))
            position.step += 1
            position.loss += loss
            self.watcher.step(
                position.epoch, position.step, self.stepping.steps, loss, len(batch.anchors)
            )
            if self.company.heard(STOP, bool(interrupts.wanted)):
                self.save()
                interrupts.leave(self.company.first)
            if self.company.heard(SAVE, self._is_due()):
                self.save()

    def _cut(self) -> None:
        """The time is up: the newest weights may be the best ones."""
        self.save()  # before they are measured, so that more time goes on as if never cut
        self.cut_after = self.position.spent / 60
        self._tell("cut", epoch=self.position.epoch, minutes=self.cut_after)
        self._measure(last=True)

    def _evaluate(self) -> None:
        """Measures the model when it is time to: at the end, and now and then before."""
        settings, epoch = self.settings, self.position.epoch
        every, risen = settings.evaluate_every, RISING.get(settings.schedule, 0) * settings.epochs
        if not every or epoch == settings.epochs or (epoch % every == 0 and epoch >= risen):
            self._measure(last=epoch == settings.epochs)

    def _measure(self, last: bool) -> None:
        """Measures the model, and keeps its weights if they are the best."""
        position = self.position
        self.optimizer.settle()
        if not self.settings.evaluate_every:
            self._keep_newest(last=True)  # whatever comes after is better
            return
        self.model.eval()
        with position.timed("evaluations"):
            score = self.evaluate(self.model)
        better = not position.scores or score > max(position.scores)
        position.scores.append(score)
        if better:
            self._keep_newest(last)
        spent = round(position.processor, 3)
        self._tell(
            "evaluation", epoch=position.epoch, score=score, best=better, processor_so_far=spent
        )

    def _keep_newest(self, last: bool) -> None:
        newest = self.model.state_dict()
        if last:
            self.best = {}
        elif self.best:
            for name, kept in self.best.items():
                kept.copy_(newest[name])  # in place: not even for a moment are there two
        else:
            self.best = {name: tensor.detach().clone() for name, tensor in newest.items()}
        self.position.best_epoch = self.position.epoch

    def _out_of_patience(self) -> bool:
        scores = self.position.scores
        since_best = len(scores) - 1 - scores.index(max(scores)) if scores else 0
        return since_best >= self.settings.patience

    def _is_due(self) -> bool:
        """Whether to save; a slow disk is given less to do, unless every step is to be saved."""
        minutes = self.settings.checkpoint_minutes
        due = max(60 * minutes, self.saving_took / SAVING) if minutes else 0.0
        return time.monotonic() - self.saved_at >= due

    def _tell(self, event: str, **values: Any) -> None:
        self.trace(event, **values)
        self.watcher.event(event=event, **values)


def _identity(model: Model, queries: Queries, settings: TrainSettings) -> str:
    """A checksum of what decides how a training goes: its checkpoints are of no use to another."""
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    for name in table_names(model):
        shapes[name][0] = model.num_entities  # whoever has them
    fixed = {
        name: value
        for name, value in asdict(settings).items()
        if name not in FREE and not (name in LATER and value == LATER[name])
    }
    sha = hashlib.sha256(json.dumps([type(model).__name__, shapes, fixed]).encode())
    for ids in (queries.anchors, queries.relations, queries.offsets, queries.answers):
        sha.update(ids.astype("<i8").tobytes())
    return sha.hexdigest()


def _named(newest: Mapping[str, Tensor], best: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The newest and the best weights, as a checkpoint names them."""
    named = {f"model/{name}": tensor for name, tensor in newest.items()}
    return named | {f"best/{name}": tensor for name, tensor in best.items()}
