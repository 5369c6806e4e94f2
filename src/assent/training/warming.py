"""A trained model learns of new entities: its numbers stay near, new rows start from facts."""

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from assent.core.arrays import Ids, Keys, Mask, distinct, found_in, pair_keys
from assent.core.queries import Queries, both_ways
from assent.errors import ConfigError
from assent.models.base import Model
from assent.training.settings import TrainSettings

# What new entities share with old ones, and how much it counts: the same answer in the same slot;
# where there is no such, any answer in the same slot; and where there is none either, nothing.
SAME_ANSWER, SAME_SLOT, NOTHING = 1.0, 1e-3, 1e-6
STREAM = 0xAD  # keeps the draw of queries apart from other random numbers of the same seed


@dataclass(frozen=True, slots=True)
class UpdateSettings:
    """How a trained model learns what changed."""

    epochs: int = 5
    learning_rate: float = 0.02  # the highest, as in `train`
    radius: float = 0.3  # how far a number of the old model may move
    around: float = 4.0  # queries learned again, for each one that changed, at most

    def __post_init__(self) -> None:
        for name, least in (("epochs", 1), ("around", 0)):
            if not getattr(self, name) >= least:
                raise ConfigError(f"update.{name} = {getattr(self, name)}; choose {least} or more")
        for name in ("learning_rate", "radius"):
            if not 0 < getattr(self, name) < 1e6:
                raise ConfigError(f"update.{name} = {getattr(self, name)}; choose more than 0")

    def of(self, before: TrainSettings) -> TrainSettings:
        """The settings of a training, for a few epochs and without evaluations."""
        return replace(
            before,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            schedule="one-cycle",
            evaluate_every=0,
        )


class Alike(NamedTuple):
    """What new entities share with old ones."""

    shared: csr_array  # (new, property)  how much each counts; rows sum to 1
    holders: csr_array  # (property, old)  rows sum to 1

    @classmethod
    def of(cls, facts: Ids, first_new: int, num_entities: int, num_relations: int) -> Self:
        """A property is an answer in a slot, a slot, or nothing at all, which everyone has.

        The fewer old entities have a property, the more it counts.
        """
        anchors, slots, answers = both_ways(facts, num_relations)
        num_slots = 2 * num_relations
        exact = num_slots + 1 + pair_keys(slots, answers, num_entities)
        everyone = np.arange(num_entities)
        rows = np.concatenate([anchors, anchors, everyone]).astype(np.int64)
        keys = np.concatenate([exact, 1 + slots.astype(np.int64), np.zeros(num_entities, np.int64)])
        is_new = rows >= first_new
        here = distinct(keys[is_new])  # those of new entities alone: others say nothing of them
        kept = found_in(here, keys)
        rows, is_new, columns = rows[kept], is_new[kept], np.searchsorted(here, keys[kept])
        shape = (num_entities, len(here))
        has = csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        has.data[:] = 1.0  # an entity has a slot once, however many answers
        old, new = has[:first_new], has[first_new:]
        count = np.asarray(old.sum(axis=0)).ravel()  # (property,)  old holders
        level = np.where(here > num_slots, SAME_ANSWER, np.where(here > 0, SAME_SLOT, NOTHING))
        weight = np.where(count > 0, level / np.sqrt(np.maximum(count, 1)), 0)
        shared = new * weight[None, :]
        total = np.asarray(shared.sum(axis=1)).ravel()
        shared = csr_array(shared / np.maximum(total, 1e-300)[:, None])
        return cls(shared, csr_array(old.T / np.maximum(count, 1)[:, None]))

    def rows(self, table: Tensor) -> Tensor:  # (new, ...)
        """Rows for new entities, from those (old, ...) of a table of old ones."""
        flat = table.detach().cpu().reshape(len(table), -1).numpy().astype(np.float64)
        made = self.shared @ (self.holders @ flat)
        return torch.from_numpy(made).to(table).reshape(-1, *table.shape[1:])


@torch.no_grad()
def warm(old: Model, grown: Model, alike: Alike) -> Model:
    """Gives a new model, which has more entities, the numbers of a trained one."""
    tables = {id(table) for table in grown.entity_tables()}
    state = old.state_dict()
    for name, parameter in grown.named_parameters():
        mine = state[name]
        if id(parameter) in tables:
            mine = torch.cat([mine, alike.rows(mine)])
        parameter.copy_(mine)
    for name, buffer in grown.named_buffers():
        if buffer.shape == state[name].shape:
            buffer.copy_(state[name])
    return grown


class Anchor:
    """Pulls the numbers of the old model back after each step, so that none moves farther.

    A step of Adam is at most as long as its rate. With a pull of rate / radius of the way back, no
    number comes farther than `radius` from where it was; the rows of new entities go anywhere.
    """

    def __init__(self, model: Model, first_new: int, radius: float) -> None:
        self.radius = radius
        tables = {id(table) for table in model.entity_tables()}
        self.tables = [x.detach()[:first_new] for x in model.parameters() if id(x) in tables]
        self.others = [x.detach() for x in model.parameters() if id(x) not in tables]
        self.starts = [x.clone() for x in (*self.tables, *self.others)]

    def pull(self, rate: float, rows: Tensor | None = None) -> None:
        """After a step at this rate; `rows` are those of the tables that it moved, None: all."""
        share = min(rate / self.radius, 1.0)
        for place, (now, start) in enumerate(
            zip((*self.tables, *self.others), self.starts, strict=True)
        ):
            if rows is None or place >= len(self.tables):
                now.lerp_(start, share)
            else:
                mine = rows[rows < len(now)]
                now[mine] = now[mine].lerp(start[mine], share)


def to_learn(queries: Queries, touched: Mask, changed: Keys, around: float, seed: int) -> Queries:
    """The train queries that are learned again: those that changed, and some near them.

    `changed` are the keys, ascending, of queries with a fact that came or went; `touched` (entity,)
    are the entities of such facts. Others are drawn, at most `around` for each one that changed:
    first queries about touched entities, then any.
    """
    keys = queries.keys(len(touched))
    mine = found_in(changed, keys)
    near = touched[queries.anchors]
    order = np.random.default_rng([seed, STREAM]).permutation(len(queries))
    order = order[np.lexsort((~near[order], ~mine[order]))]
    count = int(mine.sum())
    return queries.take(np.sort(order[: count + int(min(around * count, len(queries)))]))
