"""Progress that verbs show without being asked, where a person watches.

A verb of the Python API takes `progress`: True shows it where somebody can see it, False never
does, and a callable (of `train` and `update`, a watcher) is told in its place. A script whose
errors go to a file, and a pipeline, show nothing.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any, TypeVar

from rich.console import Console

from assent.reporting.door import Door

T = TypeVar("T")

_telling = Lock()  # held by the verb that was called; those that it calls show nothing of their own


@contextmanager
def shown(
    progress: T | bool, display: Callable[[Console], AbstractContextManager[T]]
) -> Iterator[T]:
    """What a verb tells its progress to: `progress` itself, or a display if a person watches."""
    with only_here() as first:
        if not isinstance(progress, bool):
            yield progress
            return
        with display(_console(progress and first and is_watched())) as told:
            yield told


@contextmanager
def only_here() -> Iterator[bool]:
    """Verbs called within it show nothing of their own; False if it was so already."""
    first = _telling.acquire(blocking=False)
    try:
        yield first
    finally:
        if first:
            _telling.release()


def is_watched() -> bool:
    """Whether a person sees what goes to sys.stderr: on a terminal, or in a notebook."""
    return in_notebook() or bool(getattr(sys.stderr, "isatty", lambda: False)())


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    python: Any = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return getattr(shell, "kernel", None) is not None


def _console(visible: bool) -> Console:
    """Bars on a terminal; plain lines in a notebook, which keeps them; or nothing."""
    if not visible:
        return Door(quiet=True, force_terminal=False, force_jupyter=False)
    return Door(stderr=True, force_terminal=False if in_notebook() else None, force_jupyter=False)
