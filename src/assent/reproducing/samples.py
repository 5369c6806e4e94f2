"""The three queries of the paper's Table 3, and what a model answers to them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

from assent.core.benchmark import Benchmark
from assent.core.vocabulary import Vocabulary
from assent.deciding.rules import Decider
from assent.experiment import Run
from assent.files.annotations import find_file, read_labels
from assent.reporting.asked import asked
from assent.reproducing.markdown import markdown_table, plain_cell


@dataclass(frozen=True, slots=True)
class Sample:
    words: str  # the query as the paper writes it
    kind: str  # C, I or F
    side: int  # 0 asks for the tail, 1 for the head
    anchor: str
    relation: str


SAMPLES = (
    Sample("Thomas Lennon · has profession · ?", "I", 0, "/m/06pcz0", "/people/person/profession"),
    Sample(
        "Marion County · in time zones · ?", "C", 0, "/m/0mx48", "/location/location/time_zones"
    ),
    Sample(
        "? · has currency · Meryl Streep",
        "F",
        1,
        "/m/0h0wc",
        "/location/statistical_region/gni_per_capita_in_ppp_dollars."
        "/measurement_unit/dated_money_value/currency",
    ),
)

# The benchmark has no readable names; these are the ones that the paper uses.
NAMES = {
    **{"/m/02hrh1q": "actor", "/m/0dxtg": "screenwriter", "/m/01d_h8": "film producer"},
    **{"/m/03gjzk": "tv producer", "/m/02jknp": "film director", "/m/018gz8": "comedian"},
    **{"/m/09jwl": "musician", "/m/0cbd2": "writer", "/m/0kyk": "author", "/m/0n1h": "artist"},
    **{"/m/02lcqs": "Pacific", "/m/02hcv8": "Eastern", "/m/02hczc": "Mountain"},
    **{"/m/02fqwt": "Central", "/m/03plfd": "Eastern European", "/m/052vwh": "time in China"},
    **{"/m/0gsrz4": "East Africa", "/m/09nqf": "US dollar", "/m/02l6h": "euro"},
    **{"/m/01nv4h": "pound sterling", "/m/09c7w0": "USA", "/m/07ssc": "UK", "/m/0f8l9c": "France"},
    **{"/m/03rt9": "Ireland", "/m/06mkj": "Spain", "/m/0d060g": "Canada", "/m/03rjj": "Italy"},
    **{"/m/0ctw_b": "New Zealand", "/m/0k6nt": "Denmark", "/m/0d0vqn": "Sweden"},
}


def asked_samples(
    run: Run, deciders: Mapping[str, Decider], samples: tuple[Sample, ...] = SAMPLES
) -> list[dict[str, Any]]:
    """The best candidates of each sample that test has, known ones too, and where the lines lie."""
    found = []
    for sample in samples:
        row = _row(run.benchmark, sample)
        if row is not None:
            found.append({"query": sample.words, "set": sample.kind, **_asked(run, row, deciders)})
    return found


def _row(benchmark: Benchmark, sample: Sample) -> int | None:
    names, test = benchmark.vocabulary, benchmark.test
    if sample.anchor not in names.entities or sample.relation not in names.relations:
        return None
    slot = names.relations.index(sample.relation) + sample.side * names.num_relations
    same = (test.relations == slot) & (test.anchors == names.entities.index(sample.anchor))
    rows = np.flatnonzero(same)
    return int(rows[0]) if len(rows) else None


def _asked(run: Run, row: int, deciders: Mapping[str, Decider]) -> dict[str, Any]:
    benchmark, query = run.benchmark, run.benchmark.test.take(np.array([row]))
    (said,) = asked(run.model, benchmark, [row])
    names, slot = benchmark.vocabulary.entities, int(query.relations[0])
    lines = {rule: float(d.thresholds.values[slot]) for rule, d in deciders.items()}
    shown = zip(said.best, said.falling, said.answers, said.known, strict=False)
    return {
        "answers": [names[answer] for answer in query.answers],
        "best": [
            {
                "entity": names[entity],
                "probability": float(expit(score)),
                "answer": bool(answer),
                "known": bool(known),
            }
            for entity, score, answer, known in shown
        ],
        "thresholds": {rule: float(expit(line)) for rule, line in lines.items()},
        "above": {rule: said.above(line) for rule, line in lines.items()},
    }


def sample_table(
    columns: Mapping[str, tuple[Mapping[str, Any], str]], names: Mapping[str, str]
) -> str:
    """One query: heading -> what a model said to it, and the rule that draws the line."""
    cells = [_column(said, rule, names) for said, rule in columns.values()]
    height = max(map(len, cells))
    padded = [column + [""] * (height - len(column)) for column in cells]
    return markdown_table(tuple(columns), zip(*padded, strict=True))


def _column(said: Mapping[str, Any], rule: str, names: Mapping[str, str]) -> list[str]:
    cells = [_marked(candidate, names) for candidate in said["best"]]
    above, line = said["above"][rule], f"— th = {said['thresholds'][rule]:.2g} —"
    if above > len(cells):
        return [*cells, f"… {above - len(cells):,} more", line]
    return [*cells[:above], line, *cells[above:]]


def _marked(candidate: Mapping[str, Any], names: Mapping[str, str]) -> str:
    name = plain_cell(names.get(candidate["entity"], candidate["entity"]))
    if candidate["known"]:
        return f"*{name}*"
    return f"**{name}**" if candidate["answer"] else name


def readable(vocabulary: Vocabulary, beside: Path) -> dict[str, str]:
    """Names of entities: the paper's, then the benchmark's, then those of FB15k-237 beside it."""
    labels = vocabulary.entity_labels
    if not labels:
        file = find_file(beside / "fb15k-237", "entity_names")
        labels = read_labels(file, vocabulary.entities)
    return dict(zip(vocabulary.entities, labels, strict=False)) | NAMES
