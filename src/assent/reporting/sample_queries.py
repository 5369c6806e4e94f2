"""A few queries in words, and the candidates of a query as in the paper's Table 3."""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from assent.building.counting import KINDS
from assent.core.arrays import Ids, Mask, frozen, pair_keys, rows_of
from assent.core.benchmark import Benchmark
from assent.core.decider import Decider
from assent.core.queries import Queries, Subset
from assent.core.scores import Scorer, Scores, collect
from assent.core.shortlist import Shortlist
from assent.core.vocabulary import Vocabulary
from assent.deciding.shortlisting import Above
from assent.reporting.grid import (
    Cell,
    Grid,
    numbers,
    probability,
    texts,
    words,
)
from assent.scoring import score

MOST_CANDIDATES = 10  # that are shown of a query


def sample_rows(benchmark: Benchmark, each: int) -> list[tuple[str, int]]:
    """Kind and place in test of a few queries, drawn at random; those of kind I have answers."""
    rng = np.random.default_rng(0)
    test, drawn = benchmark.test, []
    for kind, is_kind in KINDS.items():
        of_kind = is_kind(test) & (test.has_answers if kind == "I" else True)
        rows = rng.permutation(np.flatnonzero(of_kind))[:each]
        drawn += [(kind, int(row)) for row in rows]
    return drawn


def query_in_words(queries: Queries, row: int, names: Vocabulary) -> str:
    """`Brazil · currency · ?`"""
    slot = int(queries.relations[row])
    relation = names.relation(slot % names.num_relations)
    anchor = names.entity(int(queries.anchors[row]))
    if names.side(slot) == "tail":
        return f"{anchor} · {relation} · ?"
    return f"? · {relation} · {anchor}"


class Candidate(NamedTuple):
    """An entity that might answer a query."""

    entity: int
    probability: float  # that its score stands for
    is_answer: bool
    is_known: bool  # so that there is nothing to decide


class Candidates(NamedTuple):
    """The best candidates of a query, known ones too, and where the threshold lies."""

    row: int  # the place of the query in its split
    best: list[Candidate]  # the highest first
    threshold: float  # as a probability
    above: int  # entities above the threshold, known ones too; there may be more than are shown


def best_candidates(
    scorer: Scorer, decider: Decider, benchmark: Benchmark, rows: ArrayLike, split: str = "test"
) -> Iterator[Candidates]:
    """What a model and its decider say to the queries at these places of a split."""
    places = np.asarray(rows, np.int64)
    queries, known = benchmark.queries(split).take(places), benchmark.known(split)
    above = Above(queries, decider.floors, decider.needs_spread)
    collect(score(scorer, queries, known), above)
    decided = above.result()
    # Evaluation never looks at known entities, nor at those below the floor. To be shown between
    # the others they are scored in the same way.
    undecided, is_known = _undecided(scorer, queries, known, decided)
    owners, entities, scores, right = (
        np.append(getattr(decided, column), getattr(undecided, column))
        for column in ("rows", "entities", "scores", "right")
    )
    logits = np.append(decider.rescore(decided), decider.rescore(undecided)).astype(np.float64)
    is_known = np.append(np.zeros(len(decided), dtype=bool), is_known)
    slots = queries.relations[owners]
    accepted = decider.thresholds.accept(logits, slots) & decider.floors.accept(scores, slots)
    order = np.lexsort((entities, -logits, ~accepted, owners))
    for place, row in enumerate(places.tolist()):
        mine = order[owners[order] == place]
        columns = (entities, expit(logits), right, is_known)
        best = zip(*(column[mine[:MOST_CANDIDATES]].tolist() for column in columns), strict=True)
        threshold = decider.thresholds.values[queries.relations[place]]
        yield Candidates(
            row,
            [Candidate(*values) for values in best],
            float(expit(threshold)),
            int(accepted[mine].sum()),
        )


def _undecided(
    scorer: Scorer, queries: Queries, known: Queries, decided: Shortlist
) -> tuple[Shortlist, Mask]:
    """Known entities, and the highest of those below the floor; and which of them are known."""
    size = scorer.num_entities
    offsets, of_known = known.answers_to(queries, size)
    nothing = Queries.empty([], [], Subset.COMPLETE)
    rows: list[Ids] = []
    entities: list[Ids] = []
    scores: list[Scores] = []
    for block in score(scorer, queries, nothing):
        for place, of_entities in enumerate(block.scores, block.first):
            mine = of_known[offsets[place] : offsets[place + 1]]
            lower = np.ones(size, dtype=bool)
            lower[mine] = lower[decided.entities[decided.rows == place]] = False
            falling = np.argsort(-of_entities, kind="stable")
            mine = np.union1d(mine, falling[lower[falling]][:MOST_CANDIDATES])
            rows.append(np.full(len(mine), place, np.int32))
            entities.append(mine)
            scores.append(of_entities[mine])
    owners, found = np.concatenate(rows), np.concatenate(entities)
    keys = pair_keys(owners, found, size)
    shortlist = Shortlist(
        queries,
        frozen(owners),
        frozen(found),
        frozen(np.concatenate(scores), np.float32),
        np.isin(keys, pair_keys(rows_of(queries.offsets), queries.answers, size)),
        decided.floors,
        decided.spread,
    )
    return shortlist, np.isin(keys, pair_keys(rows_of(offsets), of_known, size))


def candidates_grid(
    name: str, said: Mapping[str, Candidates], entity_name: Callable[[int], str]
) -> Grid:
    """One query: the candidates of each run, falling, and its threshold between them.

    A known candidate is grey or italic, a right answer bold. What stands above the threshold is
    accepted.
    """
    columns = [_column(candidates, entity_name) for candidates in said.values()]
    height = max(map(len, columns), default=0)
    nothing = (Cell(""), Cell(""))
    padded = [column + [nothing] * (height - len(column)) for column in columns]
    rows = [[cell for pair in row for cell in pair] for row in zip(*padded, strict=True)]
    headings = [
        column
        for heading in said
        for column in (*texts(heading), *numbers("probability" if len(said) == 1 else ""))
    ]
    return Grid(name, headings, rows)


def _column(said: Candidates, entity_name: Callable[[int], str]) -> list[tuple[Cell, Cell]]:
    cells = [
        (
            words(entity_name(candidate.entity), _style(candidate)),
            probability(candidate.probability)._replace(style=_style(candidate)),
        )
        for candidate in said.best
    ]
    threshold = probability(said.threshold)._replace(style="threshold")
    line = (words("threshold", "threshold"), threshold)
    if said.threshold == 1 and not said.above:
        line = (words("accepts nothing", "threshold"), Cell("", style="threshold"))
    if said.above > len(cells):
        more = Cell(f"… {said.above - len(cells):,} more", style="more")
        return [*cells, (more, Cell("")), line]
    return [*cells[: said.above], line, *cells[said.above :]]


def _style(candidate: Candidate) -> str:
    return "known" if candidate.is_known else "answer" if candidate.is_answer else "other"
