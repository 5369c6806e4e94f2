"""Facts that come in pieces: those that stand there again are merged as they come."""

import polars as pl

from assent.files.formats import COLUMNS

FIRST_MERGED = 256 << 20  # bytes of a table that may wait; 5 million facts of short names
FEW = 0.5  # different facts, as a share of all: merging more than these gains little
VIEW = 16  # bytes
TIMES = "times"  # the column that says how often a fact stands there


class Gathering:
    """A table of facts that grows with the different facts, not with how often they stand there.

    As long as little waits, or as most of it is different, nothing is looked at twice: an ordinary
    file takes no longer.
    """

    def __init__(self, first: int = FIRST_MERGED) -> None:
        self.frames: list[pl.DataFrame] = []
        self.size: float = 0
        self.most: float = first

    def add(self, frame: pl.DataFrame) -> None:
        """Takes facts: the COLUMNS, by name."""
        self.frames.append(frame)
        self.size += size_of(frame)
        if self.size > self.most:
            self._merge()

    def facts(self) -> pl.DataFrame:
        """All that came, perhaps with the column TIMES."""
        if not self.frames:
            return pl.DataFrame(schema=dict.fromkeys(COLUMNS, pl.String))
        if any(TIMES in frame.columns for frame in self.frames):
            self.frames = [counted(frame) for frame in self.frames]
        return pl.concat(self.frames)

    def _merge(self) -> None:
        """Merges what stands there again, if that is much; then waits for twice as much."""
        whole = self.facts()
        if whole.select(COLUMNS).hash_rows().n_unique() < FEW * len(whole):
            whole = counted(whole).group_by(COLUMNS, maintain_order=True).agg(pl.sum(TIMES))
            self.frames = [whole]
            self.size = size_of(whole)
        self.most = max(self.most, 2 * self.size)


def size_of(frame: pl.DataFrame) -> float:
    """Bytes of memory, with those that polars does not tell of: one view for each name."""
    return frame.estimated_size() + VIEW * len(COLUMNS) * len(frame)


def counted(frame: pl.DataFrame) -> pl.DataFrame:
    """The same facts with how often each stands there, which is once if nothing else is said."""
    if TIMES in frame.columns:
        return frame
    return frame.with_columns(pl.lit(1, pl.Int64).alias(TIMES))


def repeated(frame: pl.DataFrame) -> int:
    """How many of the facts that a file held are merged into these."""
    return int(frame[TIMES].sum()) - len(frame) if TIMES in frame.columns else 0
