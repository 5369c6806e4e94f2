"""Processes that share the entities of a trained model: each loads its portion of the tables."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from assent.core.columns import tile_width
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.checksums import check
from assent.files.portions import digest_of_weights, read_portion
from assent.files.runs import WEIGHTS
from assent.geometry import Peers
from assent.models.base import Model
from assent.models.making import shared_by
from assent.settings import Settings, new_model
from assent.training.launching import launched
from assent.training.together import refuse_unshared, share_threads, table_names


@contextmanager
def sharing() -> Iterator[Peers | None]:
    """Where a launcher started several processes, runs that are loaded within it are shared."""
    with launched() as peers:
        if peers is not None:
            share_threads(peers)
        with shared_by(peers):
            yield peers


def load_portion(folder: Path, settings: Settings, names: Vocabulary, peers: Peers) -> Model:
    """The model of a run, with the entities of this process alone."""
    width = tile_width(names.num_entities)
    mine = peers.in_tiles(width)
    with shared_by(mine), torch.device("meta"):  # nothing is drawn that is read at once
        model = new_model(settings, names)
    refuse_unshared(model)
    assert isinstance(model, Model)
    if peers.first:
        check(folder, (WEIGHTS,))
        digest = digest_of_weights(folder, type(model).__name__)
    model.whole_digest = peers.told(digest if peers.first else "")
    weights = read_portion(folder, table_names(model), mine)
    try:
        model.load_state_dict(weights, assign=True)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{folder / WEIGHTS}: not the weights of this model ({reason})") from error
    return model.eval()
