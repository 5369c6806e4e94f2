"""Names without what makes two spellings of one name differ."""

import re
import unicodedata


def plain(name: str) -> str:
    """Without accents and capitals: "Brasília" and "Brasilia" both become "brasilia"."""
    letters = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return letters.lower().strip()


def slug(name: str) -> str:
    """Words of a plain name joined by "_", fit for a key."""
    return re.sub(r"[^a-z0-9]+", "_", plain(name)).strip("_")
