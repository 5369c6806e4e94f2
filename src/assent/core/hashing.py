"""A hash of text that Python, DuckDB and Spark compute alike: the first 15 digits of its md5.

Choices that depend on such hashes of names depend on nothing else: not on the order of lines, not
on the number of threads or machines, not on the engine.
"""

from collections.abc import Iterable
from hashlib import md5

import numpy as np

from assent.core.arrays import Keys, Mask

DIGITS = 15  # 60 bits: fits the signed numbers of every engine


def hashes_of(texts: Iterable[str]) -> Keys:  # (text,)
    """A number from 0 to 2**60 for each text."""
    firsts = b"".join(md5(text.encode(), usedforsecurity=False).digest()[:8] for text in texts)
    return (np.frombuffer(firsts, dtype=">u8") >> np.uint64(64 - 4 * DIGITS)).astype(np.int64)


def lowest(hashes: Keys, most: int) -> Mask:  # (item,)
    """The items with the lowest hashes, `most` of them; those with one hash are in or out together.

    So there is one number such that all items up to it are taken, and none above it.
    """
    ascending = np.sort(hashes)
    if most >= len(ascending):
        return np.ones(len(hashes), dtype=bool)
    # The first that is left out takes those with its hash with it.
    taken: Mask = hashes < ascending[max(most, 0)]
    return taken
