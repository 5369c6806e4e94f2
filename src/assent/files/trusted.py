"""Which files of models may be run: those that someone named on this machine, and no others.

A run's folder names the file of its model. Were that enough, a folder from a stranger could run
any code: so `assent train --model FILE:CLASS` notes the checksum of the file among the user's own
files, and loading a run looks there.
"""

import os
import re
from pathlib import Path

from assent.files.atomic import beside

VARIABLE = "ASSENT_MODELS"  # files of models that may be run too, separated as in PATH


def trust(sha256: str) -> None:
    """Notes that the file with this checksum may be run."""
    if not is_trusted(sha256):
        known = [*_trusted(), sha256]
        with beside(_note()) as part:
            part.write_text("".join(f"{line}\n" for line in known), encoding="utf-8")


def is_trusted(sha256: str) -> bool:
    return sha256 in _trusted()


def named_files() -> list[Path]:
    """The files that the environment names."""
    return [Path(name) for name in os.environ.get(VARIABLE, "").split(os.pathsep) if name]


def _note() -> Path:
    folder = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(folder) / "assent" / "models.txt"


def _trusted() -> list[str]:
    try:
        lines = _note().read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    return [line for line in lines if re.fullmatch("[0-9a-f]{64}", line)]
