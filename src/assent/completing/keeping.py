"""What each relation's queries gave, kept in a folder.

So a completion can be stopped, go on, and be shared among several machines.
"""

import hashlib
import json
import shutil
from dataclasses import fields
from pathlib import Path

from assent.completing.ground import Ground
from assent.completing.rehearsing import Candidates
from assent.core.version import __version__
from assent.errors import DataError
from assent.files.arrays import read_arrays, write_arrays
from assent.files.guarding import parsing
from assent.files.places import COMPLETING


class Keeper:
    """Keeps the candidates of one model over one ground, a file a relation."""

    def __init__(self, folder: Path, model: str, ground: Ground) -> None:
        wanted = ground.wanted
        told = (__version__, model, ground.benchmark.digest(), wanted.functional, wanted.symmetric)
        self.folder = folder / COMPLETING
        self.name = hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    def load(self, relation: int) -> tuple[int, Candidates, Candidates] | None:
        """Queries, candidates, and those against the schema; None: not kept."""
        try:
            found = read_arrays(self._path(relation))
            if found is None:
                return None
            with parsing(self._path(relation), "the candidates of a relation"):
                parts = [
                    Candidates(*(found[f"{part}.{field.name}"] for field in fields(Candidates)))
                    for part in ("candidates", "against")
                ]
                return int(found["queries"]), parts[0], parts[1]
        except DataError:  # damaged: asked again
            return None

    def save(self, relation: int, queries: int, found: Candidates, against: Candidates) -> None:
        arrays = {
            f"{name}.{field.name}": getattr(part, field.name)
            for name, part in (("candidates", found), ("against", against))
            for field in fields(Candidates)
        }
        write_arrays(self._path(relation), {"queries": queries, **arrays})

    def forget(self) -> None:
        """Removes all that was kept, of other models too."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, relation: int) -> Path:
        return self.folder / f"{self.name}-{relation}.npz"
