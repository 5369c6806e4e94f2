"""The training loop: steps, evaluations, checkpoints; stops and goes on anywhere."""

import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from assent.core.queries import Queries
from assent.errors import ConfigError, TrainingError
from assent.files.runs import CHECKPOINTS
from assent.geometry import Answers, Drawn
from assent.geometry.loss import LOSSES
from assent.geometry.threads import Crowd, processors, with_threads
from assent.models.base import Model
from assent.training.batches import Batch, batches, num_batches, suitable_batch, suitable_epochs
from assent.training.candidates import Strata, num_drawn, num_facts, sample
from assent.training.checkpoints import (
    STEPS,
    Position,
    below,
    newest_checkpoint,
    save_checkpoint,
)
from assent.training.interrupts import Interrupts
from assent.training.optimizers import OPTIMIZERS, Optimizing
from assent.training.schedules import SCHEDULES
from assent.training.trace import Trace, Trained

# Settings that do not change the model: they may change whenever a run is resumed.
FREE = ("threads", "device", "slice_size", "checkpoint_minutes")
NOTHING: Mapping[str, Any] = MappingProxyType({})
SAVING = 0.02  # share of the time that checkpoints may take, about
MOST_THREADS = 1024  # more than any machine here had; far more end in a crash
DERIVING = 0xDE  # keeps the random numbers of deriving apart from those of the order of queries
SMALL = 1 << 20  # multiplications of a step that a second thread makes hardly faster


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """How to train."""

    epochs: int = 0  # at most; 0: by the number of queries, see `suitable_epochs`
    batch_size: int = 0  # queries; 0: by their number, see `suitable_batch`
    slots: int = 0  # that the queries of a batch have at most; 0: as many as come
    learning_rate: float = 3e-3  # the highest
    optimizer: str = "adam"
    schedule: str = "one-cycle"
    loss: str = "bce"
    candidates: float = 0.0  # of a step, drawn: a share of the entities or a number; 0: all
    label_smoothing: float = 0.0  # share of each target moved to all entities
    n3: float = 0.0  # weight of the cubed norms of the embeddings in a batch
    stop_on: str = "f1"  # what an evaluation on valid measures
    evaluate_every: int = 5  # epochs; 0: never
    patience: int = 3  # evaluations without a better one, then training ends
    seed: int = 0
    threads: int = 0  # 0: one where steps are small, else as many as torch takes
    device: str = "cpu"
    slice_size: int = 0  # entities scored at a time; 0: as suits the machine
    checkpoint_minutes: float = 1.0

    def __post_init__(self) -> None:
        for name, choices in (
            ("optimizer", OPTIMIZERS),
            ("schedule", SCHEDULES),
            ("loss", LOSSES),
        ):
            if getattr(self, name) not in choices:
                raise ConfigError(
                    f"{name} = {getattr(self, name)!r}; choose from {', '.join(choices)}"
                )
        for name in ("learning_rate", "patience"):
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} = {getattr(self, name)}; choose more than 0")
        for name in (
            "epochs",
            "batch_size",
            "slots",
            "n3",
            "evaluate_every",
            "threads",
            "slice_size",
            "checkpoint_minutes",
            "seed",
        ):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"{name} = {getattr(self, name)}; choose 0 or more")
        if self.seed >= 2**63:
            raise ConfigError(f"seed = {self.seed}; choose less than 2 to the 63rd power")
        if self.threads > MOST_THREADS:
            raise ConfigError(f"threads = {self.threads}; choose {MOST_THREADS} at most")
        if not self.candidates >= 0 or (self.candidates > 1 and self.candidates % 1):
            raise ConfigError(
                f"candidates = {self.candidates}; choose 0 (all entities), a share of them below "
                "1, or a whole number"
            )
        if not 0 <= self.label_smoothing < 1:
            raise ConfigError(f"label_smoothing = {self.label_smoothing}; choose from 0 to below 1")


def settled(settings: TrainSettings, num_queries: int) -> TrainSettings:
    """The settings with the number of epochs that suits so many queries, if they leave it open."""
    return replace(settings, epochs=settings.epochs or suitable_epochs(num_queries))


Pull = Callable[[float, Tensor | None], None]


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
    model.to(settings.device)
    training = _Training(model, queries, settings, evaluate, watcher, folder, minutes, pull)
    training.resume(changed)
    with with_threads(training.most_threads()), Interrupts() as interrupts:
        training.run(interrupts)
    return training.finish()


def multiplications(model: Model, batch_size: int, num_drawn: int) -> int:
    """Of a step, about: each query meets every number of the model, but for entities not drawn."""
    tables = sum(x.numel() for x in model.entity_tables())
    met = tables * num_drawn // model.num_entities if num_drawn else tables
    return batch_size * (met + sum(x.numel() for x in model.parameters()) - tables)


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
        self.pull = pull
        self.model = model
        self.queries = queries
        self.settings = settled(settings, len(queries))
        self.evaluate = evaluate
        self.watcher = watcher
        self.minutes = minutes
        self.cut_after: float | None = None
        self.folder = folder / CHECKPOINTS if folder else None
        self.trace = Trace(folder / "trace.jsonl" if folder else None)
        self.num_drawn = num_drawn(settings.candidates, model.num_entities)  # 0: all
        facts = num_facts(queries, model.num_entities)
        self.strata = Strata.of(facts, self.num_drawn) if self.num_drawn else None
        self.optimizer = Optimizing(
            model, settings.optimizer, settings.learning_rate, by_rows=self.num_drawn > 0
        )
        self.position = Position()
        self.best = _copied(model.state_dict())
        self.batch_size = settings.batch_size or suitable_batch(len(queries))
        self.steps = num_batches(queries, self.batch_size, settings.slots)
        self.identity = _identity(model, queries, self.settings)
        self.saved_at = time.monotonic()
        self.saving_took = 0.0  # seconds

    def most_threads(self) -> int:
        """As asked for, or one where steps are small, or as many as there are processors."""
        if self.settings.threads:
            return self.settings.threads
        if multiplications(self.model, self.batch_size, self.num_drawn) <= SMALL:
            return 1
        return min(torch.get_num_threads(), processors())

    def resume(self, changed: Mapping[str, Any]) -> None:
        """Takes up the newest whole checkpoint, if there is one."""
        found = newest_checkpoint(self.folder, self.identity) if self.folder else None
        if found is None:
            self.trace.rewind(0)
            self._tell(
                "start", queries=len(self.queries), steps=self.steps, epochs=self.settings.epochs
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
                loss=position.loss / self.steps,
                queries_per_second=round(len(self.queries) / max(position.seconds, 1e-9)),
            )
            position.begin(position.epoch + 1)
            self._evaluate()
            self._maybe_save()
        self.save()

    def finish(self) -> Trained:
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
        tensors = {f"model/{name}": x for name, x in self.model.state_dict().items()}
        tensors |= {f"best/{name}": x for name, x in self.best.items()}
        tensors |= {f"optimizer/{name}": x for name, x in self.optimizer.state().items()}
        save_checkpoint(folder, self.position, tensors, self.identity)

    def _epoch(self, interrupts: Interrupts) -> bool:
        """Whether the epoch came to its end before the time was up."""
        settings, position = self.settings, self.position
        crowd = Crowd(torch.get_num_threads())
        self.model.train()
        if position.step == 0 and self.model.derives():
            self.optimizer.settle()
            self.model.derive(
                self.queries, np.random.default_rng([settings.seed, position.epoch, DERIVING])
            )
        waiting = batches(
            self.queries,
            self.batch_size,
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
            if position.spent / 60 >= self.minutes:
                return False
            clock, processor = position.seconds, position.processor_seconds
            with position.timed(STEPS):
                loss = self._step(batch)
            if crowd.most > 1 and not settings.threads:
                took = position.seconds - clock, position.processor_seconds - processor
                torch.set_num_threads(crowd.after_step(*took))
            position.step += 1
            position.loss += loss
            self.watcher.step(position.epoch, position.step, self.steps, loss, len(batch.anchors))
            if interrupts.wanted:
                self.save()
                interrupts.leave()
            self._maybe_save()

    def _cut(self) -> None:
        """The time is up: the newest weights may be the best ones."""
        self.save()  # before they are measured, so that more time goes on as if never cut
        self.cut_after = self.position.spent / 60
        self._tell("cut", epoch=self.position.epoch, minutes=self.cut_after)
        self._measure()

    def _step(self, batch: Batch) -> float:
        settings, position = self.settings, self.position
        done = position.epoch * self.steps + position.step
        rate = SCHEDULES[settings.schedule](done / (settings.epochs * self.steps), position.scores)
        self.optimizer.set_rate(rate * settings.learning_rate)
        # Dropout depends on seed and step alone, so that nothing of it need be saved.
        _seed_dropout((settings.seed << 32) + done, settings.device)
        self.optimizer.forget()
        if self.strata is None:
            loss = self._learn(batch, None)
            self.optimizer.step()
            if self.pull is not None:
                self.pull(self.optimizer.rate, None)
            return loss
        small, ids, drawn = sample(batch, self.strata, settings.seed, done)
        ids = ids.to(settings.device)
        rows = self.optimizer.rows(ids)
        with self.model.only(rows, ids):
            loss = self._learn(small, drawn)
        self.optimizer.step(ids, rows)
        if self.pull is not None:
            self.pull(self.optimizer.rate, ids)
        return loss

    def _learn(self, batch: Batch, drawn: Drawn | None) -> float:
        """The loss of a batch; its gradients are left with the parameters."""
        settings, position = self.settings, self.position
        batch = Batch(*(part.to(settings.device) for part in batch))
        asked = batch.anchors, batch.relations, Answers(batch.offsets, batch.answers)
        options: dict[str, Any] = {
            "loss": settings.loss,
            "label_smoothing": settings.label_smoothing,
            "slice_size": settings.slice_size or None,
            "drawn": drawn,
        }
        if settings.n3:
            loss, n3 = self.model.loss_and_n3(*asked, **options)
            total = loss + settings.n3 * n3
        else:
            total = loss = self.model.loss(*asked, **options)
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss became {value} in epoch {position.epoch + 1}, step {position.step + 1}; "
                "lower train.learning_rate"
            )
        # Of a mean, each learner would have a part of its gradient alone.
        (total * self.model.learners).backward()  # type: ignore[no-untyped-call]
        return value

    def _evaluate(self) -> None:
        """Measures the model when it is time to."""
        every, position = self.settings.evaluate_every, self.position
        if not every or position.epoch % every == 0 or position.epoch == self.settings.epochs:
            self._measure()

    def _measure(self) -> None:
        """Measures the model, and keeps its weights if they are the best."""
        position = self.position
        self.optimizer.settle()
        if not self.settings.evaluate_every:
            self._keep_newest()
            return
        self.model.eval()
        with position.timed("evaluations"):
            score = self.evaluate(self.model)
        better = not position.scores or score > max(position.scores)
        position.scores.append(score)
        if better:
            self._keep_newest()
        spent = round(position.processor, 3)
        self._tell(
            "evaluation", epoch=position.epoch, score=score, best=better, processor_so_far=spent
        )

    def _keep_newest(self) -> None:
        self.best = _copied(self.model.state_dict())
        self.position.best_epoch = self.position.epoch

    def _out_of_patience(self) -> bool:
        scores = self.position.scores
        since_best = len(scores) - 1 - scores.index(max(scores)) if scores else 0
        return since_best >= self.settings.patience

    def _maybe_save(self) -> None:
        """When it is time to; a slow disk is given less to do, unless every step is to be saved."""
        minutes = self.settings.checkpoint_minutes
        due = max(60 * minutes, self.saving_took / SAVING) if minutes else 0.0
        if time.monotonic() - self.saved_at >= due:
            self.save()

    def _tell(self, event: str, **values: Any) -> None:
        self.trace(event, **values)
        self.watcher.event(event=event, **values)


def _identity(model: Model, queries: Queries, settings: TrainSettings) -> str:
    """A checksum of what decides how a training goes: its checkpoints are of no use to another."""
    shapes = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    fixed = {name: value for name, value in asdict(settings).items() if name not in FREE}
    sha = hashlib.sha256(json.dumps([type(model).__name__, shapes, fixed]).encode())
    for ids in (queries.anchors, queries.relations, queries.offsets, queries.answers):
        sha.update(ids.astype("<i8").tobytes())
    return sha.hexdigest()


def _seed_dropout(seed: int, device: str) -> None:
    """On a CPU its generator alone: torch's own function takes long to tell all other devices."""
    if device == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


def _copied(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in state.items()}
