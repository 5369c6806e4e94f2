"""What reading a graph took for what."""

from assent.core.facts import KnowledgeBase
from assent.reporting.grid import Grid, count, numbers, texts, words


def meanings_grid(kb: KnowledgeBase) -> Grid:
    """What each kind of statement was taken for; no rows where all statements are facts."""
    rows = [
        [words(what), count(statements), words(meaning)]
        for what, statements, meaning in kb.source.taken
    ]
    columns = [*texts("in the graph"), *numbers("statements"), *texts("taken for")]
    return Grid("meanings", columns, rows)
