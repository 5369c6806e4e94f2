"""How models are made: with which entities, and whether their first numbers are drawn or read."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from assent.geometry import Peers

_sharing: ContextVar[Peers | None] = ContextVar("sharing", default=None)
_loading: ContextVar[bool] = ContextVar("loading", default=False)


@contextmanager
def shared_by(peers: Peers | None) -> Iterator[None]:
    """Models that are made within it have the entities of this process alone."""
    before = _sharing.set(peers)
    try:
        yield
    finally:
        _sharing.reset(before)


def shared() -> Peers | None:
    """The processes that share the entities of models that are made now, if there are several."""
    return _sharing.get()


@contextmanager
def to_be_loaded() -> Iterator[None]:
    """Models that are made within it draw no numbers: those of a file take their place.

    Until then their tables take no memory.
    """
    before = _loading.set(True)
    try:
        yield
    finally:
        _loading.reset(before)


def is_loading() -> bool:
    """Whether models that are made now draw no numbers."""
    return _loading.get()
