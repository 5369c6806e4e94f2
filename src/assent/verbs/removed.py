"""Entities that building removed: the model of a run that knows them, where there can be one."""

from assent.core.benchmark import Benchmark
from assent.errors import ConfigError
from assent.models import Model
from assent.models.text import TextSettings
from assent.scoring import Scored
from assent.settings import texts_since
from assent.verbs.runs import Run


def reads_texts(run: Scored) -> bool:
    """Whether the model of a run knows new entities by what is written about them."""
    return isinstance(run, Run) and isinstance(run.settings.model, TextSettings)


def widened(run: Scored) -> Model:
    """The model of a run, which also knows the removed entities of its benchmark, after its own.

    Only the model text can be asked for that.
    """
    known, removed = run.benchmark.vocabulary.num_entities, run.benchmark.removed
    if removed is not None and isinstance(run, Run) and isinstance(run.model, Model):
        texts = texts_since(run.settings, removed.vocabulary, removed.types, known)
        if texts is not None:
            return run.model.knowing(texts)
    name = run.settings.name if isinstance(run, Run) else "a model from elsewhere"
    raise ConfigError(
        f"{name}: knows only the entities that it was trained on; the model text knows those that "
        "building removed, by what is written about them"
    )


def removed_named(benchmark: Benchmark, name: str) -> int | None:
    """The id of the removed entity with this name or label; None where a known one has it, or none.

    Removed entities come after all others.
    """
    if benchmark.removed is None:
        return None
    names, known = benchmark.removed.vocabulary, benchmark.vocabulary.num_entities
    called = names.entities_called(name)
    if not called or called[0] < known:  # they ascend
        return None
    return names.entity_named(name)


def was_removed(name: str) -> str:
    """That the model has not learned of an entity, which has this label, in words."""
    return f"building removed {name} from what the model learned"


def how_to_learn(run: Scored) -> str:
    """Which command makes a fit that has learned of removed entities; empty: none does."""
    if not isinstance(run, Run) or not run.trained.epochs:
        return ""
    where = run.folder or "RUN"
    return f"`assent complete {where} --precision P --refit` makes a fit that knows it"
