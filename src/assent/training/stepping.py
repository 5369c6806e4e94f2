"""One step of a training: candidates drawn or all, the loss, its gradients, and the move."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from assent.core.processors import processors
from assent.core.queries import Queries
from assent.errors import TrainingError
from assent.geometry import Answers, Drawn, query_weights
from assent.models.base import Model, Told
from assent.training.batches import Batch, num_batches, suitable_batch
from assent.training.candidates import Strata, num_drawn, num_facts, sample, sample_of
from assent.training.checkpoints import Position
from assent.training.optimizers import Optimizing
from assent.training.schedules import SCHEDULES
from assent.training.settings import TrainSettings

TELLING = 0x7E  # keeps these random numbers apart from those of the order of the queries
SMALL = 1 << 20  # multiplications of a step that a second thread makes hardly faster

Pull = Callable[[float, Tensor | None], None]


class Stepping:
    """Takes the steps of a training; all that they change is the model and the optimizer.

    `pull` is told the rate of each step, and the rows of entities that it moved, if not all of
    them. What a step draws and drops depends on the seed and the number of the step alone.
    """

    def __init__(
        self, model: Model, queries: Queries, settings: TrainSettings, pull: Pull | None
    ) -> None:
        self.model = model
        self.settings = settings
        self.pull = pull
        self.num_drawn = num_drawn(settings.candidates, model.num_entities)  # 0: all
        facts = num_facts(queries, model.num_entities)
        self.strata = Strata.of(facts, self.num_drawn) if self.num_drawn else None
        self.optimizer = Optimizing(
            model, settings.optimizer, settings.learning_rate, by_rows=self.num_drawn > 0
        )
        self.batch_size = settings.batch_size or suitable_batch(len(queries))
        self.steps = num_batches(queries, self.batch_size, settings.slots)  # of an epoch

    def most_threads(self) -> int:
        """How many threads a step may use.

        Those that the settings say; else one where steps are small, or one for each processor.
        """
        if self.settings.threads:
            return self.settings.threads
        if multiplications(self.model, self.batch_size, self.num_drawn) <= SMALL:
            return 1
        return min(torch.get_num_threads(), processors())

    def step(self, batch: Batch, position: Position) -> float:
        """Learns from a batch; returns its loss."""
        settings = self.settings
        done = position.epoch * self.steps + position.step
        rate = SCHEDULES[settings.schedule](done / (settings.epochs * self.steps), position.scores)
        self.optimizer.set_rate(rate * settings.learning_rate)
        # Dropout depends on seed and step alone, so that nothing of it need be saved.
        _seed_dropout((settings.seed << 32) + done, settings.device)
        self.optimizer.forget()
        if self.strata is None:
            loss = self._learn(batch, None, position, done)
            self.optimizer.step()
            if self.pull is not None:
                self.pull(self.optimizer.rate, None)
            return loss
        if (peers := self.model.peers) is None:
            small, ids, drawn = sample(batch, self.strata, settings.seed, done)
        else:
            small, ids, drawn = sample_of(peers, batch, self.strata, settings.seed, done)
        ids = self.model.reach(ids.to(settings.device))
        places = ids if peers is None else peers.rows_of(ids)
        rows = self.optimizer.rows(places)
        with self.model.only(rows, ids):
            loss = self._learn(small, drawn, position, done)
        self.optimizer.step(places, rows)
        if self.pull is not None:
            self.pull(self.optimizer.rate, ids)
        return loss

    def _learn(self, batch: Batch, drawn: Drawn | None, position: Position, done: int) -> float:
        """The loss of a batch; its gradients are left with the parameters."""
        settings = self.settings
        told = told_of(batch, settings, done) if settings.relation_weight else None
        batch = Batch(*(part.to(settings.device) for part in batch))
        loss, n3, relation = self.model.terms(
            batch.anchors,
            batch.relations,
            Answers(batch.offsets, batch.answers),
            n3=settings.n3 > 0,
            told=None if told is None else Told(*(part.to(settings.device) for part in told)),
            loss=settings.loss,
            label_smoothing=settings.label_smoothing,
            slice_size=settings.slice_size or None,
            drawn=drawn,
        )
        total = loss
        if n3 is not None:
            total = total + settings.n3 * n3
        if relation is not None:
            total = total + settings.relation_weight * relation
        value = loss.item()
        if not math.isfinite(value):
            raise TrainingError(
                f"the loss became {value} in epoch {position.epoch + 1}, step {position.step + 1}; "
                "lower train.learning_rate"
            )
        # Of a mean, each learner would have a part of its gradient alone.
        (total * self.model.learners).backward()  # type: ignore[no-untyped-call]
        return value


def told_of(batch: Batch, settings: TrainSettings, step: int) -> Told:
    """As many facts as there are queries, in random order; seed and step alone decide which.

    An answer of each query; or, if queries count unalike in the loss, each fact is one of a query
    that was drawn as often as it counts.
    """
    rng = np.random.default_rng([settings.seed, step, TELLING])
    counts = np.diff(batch.offsets.numpy())
    queries = rng.permutation(np.flatnonzero(counts))
    weights = query_weights(settings.loss, batch.offsets.diff())
    if weights is not None and len(queries):
        queries = rng.choice(len(counts), len(queries), p=(weights / weights.sum()).numpy())
    places = batch.offsets.numpy()[queries] + rng.integers(counts[queries])
    return Told(torch.from_numpy(queries), batch.answers[torch.from_numpy(places)])


def multiplications(model: Model, batch_size: int, num_drawn: int) -> int:
    """Of a step, about: each query meets every number of the model, but for entities not drawn."""
    tables = sum(x.numel() for x in model.entity_tables())
    met = tables * num_drawn // model.num_entities if num_drawn else tables
    return batch_size * (met + sum(x.numel() for x in model.parameters()) - tables)


def _seed_dropout(seed: int, device: str) -> None:
    """On a CPU its generator alone: torch's own function takes long to tell all other devices."""
    if device == "cpu":
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)
