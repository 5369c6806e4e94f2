"""A token for each reviewer: whoever has it decides in that person's name.

Tokens stay in the folder of the review, in a file that only its owner may read, so that an address
that was handed out still works when the server is started again. Without the file, all are new.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path

from assent.core.legible import in_words
from assent.errors import ConfigError, DataError
from assent.files.atomic import beside
from assent.files.guarding import refuse_special

FILE = "tokens.json"
LONGEST = 60  # letters of a reviewer's name


def tokens_of(reviewers: Sequence[str], folder: Path) -> dict[str, str]:
    """Each reviewer's token; those who have none yet get one, and it is kept in the folder."""
    refuse_reviewers(reviewers)
    kept = _read(folder / FILE)
    new = {name: secrets.token_urlsafe(16) for name in reviewers if name not in kept}
    if new:
        _write(folder / FILE, {**kept, **new})
    return {name: {**kept, **new}[name] for name in reviewers}


def refuse_reviewers(reviewers: Sequence[str]) -> None:
    """Raises an error for what is no name, or is two people's."""
    for name in reviewers:
        if not name or not name.isprintable() or name.strip()[:LONGEST] != name:
            raise ConfigError(f"reviewer {name!r}: expected a name of at most {LONGEST} letters")
    if not reviewers or len(set(reviewers)) < len(reviewers):
        raise ConfigError(f"reviewers {', '.join(reviewers)}: expected each name once")


def _read(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    refuse_special(path)
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(kept, dict) or not all(
            isinstance(token, str) and len(token) >= 16 and token.isascii()
            for token in kept.values()
        ):
            raise ValueError("no token of at least 16 letters for each reviewer")
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {in_words(error)}; delete it to make new tokens") from error
    return kept


def _write(path: Path, tokens: Mapping[str, str]) -> None:
    """Nobody else may read it at any moment; a link in its place is replaced, not followed."""
    if path.is_symlink():
        path.unlink()
    with beside(path, mode=0o600, own=True) as part:
        part.write_text(json.dumps(tokens, ensure_ascii=False, indent=1), encoding="utf-8")
