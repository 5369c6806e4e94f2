"""Entities that building removed: the model of a run that knows them, where there can be one."""

from assent.errors import ConfigError
from assent.models import Model
from assent.scoring import Scored
from assent.settings import texts_since
from assent.verbs.runs import Run


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
