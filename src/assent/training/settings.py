"""How to train: the settings of a training, checked when they are made."""

from dataclasses import dataclass, replace

from assent.errors import ConfigError
from assent.geometry.loss import LOSSES
from assent.training.batches import suitable_epochs
from assent.training.optimizers import OPTIMIZERS
from assent.training.schedules import RISING, SCHEDULES

# Settings that do not change the model: they may change whenever a run is resumed.
FREE = ("threads", "device", "slice_size", "checkpoint_minutes")
# Settings that came later, with the values at which a training goes as it went before them: a
# checkpoint of before is still one of this training.
LATER = {"relation_weight": 0.0, "evaluate_queries": 0}
PATIENCE = 3  # evaluations, where the rate does not fall to the end
SCORES = 10**10  # of an evaluation, about a minute of processor time
FEWEST = 500  # queries that an evaluation asks, if there are as many
MOST_THREADS = 1024  # more than any machine here had; far more end in a crash


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
    relation_weight: float = 0.0  # of asking which relation joins an anchor and its answer
    stop_on: str = "f1"  # what an evaluation on valid measures
    evaluate_every: int = 5  # epochs; 0: never
    evaluate_queries: int = 0  # of valid that an evaluation asks; 0: see `num_evaluated`
    patience: int = 0  # evaluations without a better one, then training ends; 0: by the schedule
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
        if not self.learning_rate > 0:
            raise ConfigError(f"learning_rate = {self.learning_rate}; choose more than 0")
        for name in (
            "epochs",
            "batch_size",
            "slots",
            "n3",
            "relation_weight",
            "evaluate_every",
            "evaluate_queries",
            "patience",
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


def num_evaluated(settings: TrainSettings, num_queries: int, num_entities: int) -> int:
    """How many of so many queries of valid an evaluation asks.

    As many as the settings say; or else all, but no more than make `SCORES` with all entities, so
    that evaluations of millions of entities do not take longer than the training.
    """
    most = settings.evaluate_queries or max(SCORES // max(num_entities, 1), FEWEST)
    return min(most, num_queries)


def settled(settings: TrainSettings, num_queries: int) -> TrainSettings:
    """The settings with the epochs and the patience that suit so many queries and the schedule.

    What they say of either is kept. A rate that falls to the end makes the last epochs the best,
    however long nothing got better before them: such a training is not stopped.
    """
    epochs = settings.epochs or suitable_epochs(num_queries)
    patience = settings.patience or (epochs if settings.schedule in RISING else PATIENCE)
    return replace(settings, epochs=epochs, patience=patience)
