"""New facts as files: tables for people and programs, N-Triples for graph stores.

All formats but N-Triples have the same columns. A .jsonl file is read back into the same noun.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from assent.core.arrays import frozen, offsets_of
from assent.core.new_facts import ASKED, DECISIONS, NONE, Chain, Evidence, NewFacts
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.rdf import write_nt
from assent.files.sparql import GRAPH, Store, is_store, send_facts
from assent.files.text import is_text, lines_of
from assent.files.triples import named_facts

Row = dict[str, Any]  # a fact as a line of .jsonl has it


def write_refused(path: str | Path, facts: NewFacts, reasons: Iterable[str]) -> None:
    """Facts that were refused, and why: tab-separated, with a header."""
    path = Path(path)
    frame = _columns(facts).select("head", "relation", "tail", "decision", "probability")
    frame = frame.with_columns(refused_for=pl.Series(list(reasons), dtype=pl.String))
    with beside(path) as part:
        frame.write_csv(part, separator="\t", quote_style="never")


def write_facts(path: str | Path, facts: NewFacts, graph: str = GRAPH) -> None:
    """Writes facts in the format that the file's name ends in; WRITERS has the formats.

    To a SPARQL store, they go into a named graph.
    """
    if is_store(path):
        rows = named_facts(facts.facts, facts.vocabulary).iter_rows()
        return send_facts(Store.of(str(path)), rows, graph)
    path = Path(path)
    refuse_suffix(path)
    with beside(path) as part:
        WRITERS[path.suffix](facts, part)


def refuse_suffix(path: str | Path) -> None:
    """Raises an error for a file name that ends in no known format, before any work is done."""
    if is_store(path):
        return
    path = Path(path)
    if path.suffix not in WRITERS:
        found = path.suffix or "a file without a suffix"
        raise DataError(f"{path}: cannot write {found}; choose from {' '.join(WRITERS)}")


def partial(path: Path) -> Path:
    """Where the facts go if completing was stopped before its end: `new.nt` -> `new.partial.nt`."""
    return path.with_suffix(f".partial{path.suffix}")


def table_of(facts: NewFacts) -> pl.DataFrame:
    """One row a fact, by name; evidence as JSON text."""
    evidence = [json.dumps(chains, ensure_ascii=False) for chains in _evidence_of(facts)]
    return _columns(facts).with_columns(evidence=pl.Series(evidence, dtype=pl.String))


def rows_of_facts(facts: NewFacts) -> Iterator[Row]:
    """One dictionary a fact, as a line of .jsonl has it."""
    rows = _columns(facts).iter_rows(named=True)
    for row, chains in zip(rows, _evidence_of(facts), strict=True):
        yield {**row, "evidence": chains}


def read_facts(path: str | Path, labels: Iterable[Vocabulary] = ()) -> NewFacts:
    """The facts of a .jsonl file that `write_facts` wrote.

    Ids follow the order in which names first occur in the file. An entity or relation that one of
    the vocabularies in `labels` has a label for gets that label.
    """
    path, rows = Path(path), list[_Read]()
    names = _Names()
    for number, line in enumerate(lines_of(path), 1):
        try:
            rows.append(_read(json.loads(line), names))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            wrong = f"no {error}" if isinstance(error, KeyError) else str(error)
            raise DataError(
                f"{path}:{number}: {wrong}; expected a line of `assent complete`, as .jsonl"
            ) from error
    vocabulary = names.vocabulary(labels)
    if not rows:
        return NewFacts.nothing(vocabulary)
    facts, accepted, probabilities, scores, thresholds, expected, sides, evidence = zip(
        *rows, strict=True
    )
    return NewFacts(
        vocabulary,
        frozen(facts),
        frozen(accepted, np.bool_),
        frozen(probabilities, np.float64),
        frozen(scores, np.float32),
        frozen(thresholds, np.float64),
        frozen(expected, np.float64),
        frozen(sides),
        _joined_chains(facts, evidence, vocabulary.num_relations),
    )


def in_words(chains: Sequence[Chain], vocabulary: Vocabulary) -> str:
    """`head relation tail, head relation tail (12 of 15); ...`"""
    return "; ".join(
        f"{', '.join(' '.join(_by_name(fact, vocabulary)) for fact in chain.facts)} "
        f"({chain.support} of {chain.cases})"
        for chain in chains
    )


def _columns(facts: NewFacts) -> pl.DataFrame:
    """All that is written about a fact but its evidence."""
    return named_facts(facts.facts, facts.vocabulary).with_columns(
        decision=pl.Series(facts.decisions.tolist(), dtype=pl.String),
        probability=pl.Series(facts.probabilities),
        score=pl.Series(facts.scores.astype(np.float64)),
        # Null where the threshold is infinite: nothing can be accepted, or everything is.
        threshold=pl.Series(
            np.where(np.isfinite(facts.thresholds), facts.thresholds, np.nan)
        ).fill_nan(None),
        expected_precision=pl.Series(facts.expected).fill_nan(None),
        asked=pl.Series([ASKED[side] for side in facts.sides.tolist()], dtype=pl.String),
    )


def _evidence_of(facts: NewFacts) -> Iterator[list[Row]]:
    """The chains of each fact, by name."""
    for place in range(len(facts)):
        yield [
            {
                "facts": [_by_name(fact, facts.vocabulary) for fact in chain.facts],
                "support": chain.support,
                "cases": chain.cases,
            }
            for chain in facts.chains(place)
        ]


def _by_name(fact: tuple[int, int, int], vocabulary: Vocabulary) -> tuple[str, str, str]:
    head, relation, tail = fact
    entities = vocabulary.entities
    return entities[head], vocabulary.relations[relation], entities[tail]


# Reading


class _Names:
    """Ids for names, in the order in which they come."""

    def __init__(self) -> None:
        self.entities: dict[str, int] = {}
        self.relations: dict[str, int] = {}

    def ids(self, given: Any) -> tuple[int, int, int]:
        """The ids of a head, a relation and a tail."""
        head, relation, tail = given
        if not all(is_text(name) for name in given):
            raise ValueError(f"names {given!r}")
        return (
            self.entities.setdefault(head, len(self.entities)),
            self.relations.setdefault(relation, len(self.relations)),
            self.entities.setdefault(tail, len(self.entities)),
        )

    def vocabulary(self, labels: Iterable[Vocabulary]) -> Vocabulary:
        entities: dict[str, str] = {}
        relations: dict[str, str] = {}
        for given in labels:
            entities |= dict(zip(given.entities, given.entity_labels, strict=False))
            relations |= dict(zip(given.relations, given.relation_labels, strict=False))
        return Vocabulary(
            tuple(self.entities),
            tuple(self.relations),
            tuple(entities.get(name, name) for name in self.entities),
            tuple(relations.get(name, name) for name in self.relations),
        )


# fact, accepted, probability, score, threshold, expected precision, sides, evidence
_Read = tuple[tuple[int, int, int], bool, float, float, float, float, int, list[Chain]]


def _read(line: Row, names: _Names) -> _Read:
    """A line of .jsonl; a ValueError says what no completion would write."""
    if line["decision"] not in DECISIONS:
        raise ValueError(f"decision {line['decision']!r}")
    if line["asked"] not in ASKED.values():
        raise ValueError(f"asked {line['asked']!r}")
    accepted = line["decision"] == DECISIONS[0]
    fact = names.ids([line["head"], line["relation"], line["tail"]])
    # A null threshold was -inf if the fact was accepted, and inf if it was not.
    no_threshold = -math.inf if accepted else math.inf
    return (
        fact,
        accepted,
        _share(line["probability"]),
        _number(line["score"]),
        no_threshold if line["threshold"] is None else _number(line["threshold"]),
        math.nan if line["expected_precision"] is None else _share(line["expected_precision"]),
        next(side for side, word in ASKED.items() if word == line["asked"]),
        [_chain(given, fact, names) for given in line["evidence"]],
    )


def _chain(given: Row, fact: tuple[int, int, int], names: _Names) -> Chain:
    chain = Chain(
        tuple(names.ids(known) for known in given["facts"]),
        int(given["support"]),
        int(given["cases"]),
    )
    _stops(chain, fact)
    return chain


def _stops(chain: Chain, fact: tuple[int, int, int]) -> list[int]:
    """The entities that a chain leads through, from the head of the fact to its tail."""
    stops = [fact[0]]
    for head, _, tail in chain.facts:
        if stops[-1] not in (head, tail):
            raise ValueError("evidence that does not lead from head to tail")
        stops.append(tail if head == stops[-1] else head)
    if stops[-1] != fact[2] or len(chain.facts) not in (1, 2):
        raise ValueError("evidence that does not lead from head to tail")
    return stops


def _joined_chains(
    facts: Sequence[tuple[int, int, int]], evidence: Sequence[list[Chain]], num_relations: int
) -> Evidence:
    steps, middles = list[list[int]](), list[int]()
    for fact, chains in zip(facts, evidence, strict=True):
        for chain in chains:
            stops = _stops(chain, fact)
            slots = [
                relation if head == start else relation + num_relations
                for (head, relation, _), start in zip(chain.facts, stops, strict=False)
            ]
            steps.append([*slots, NONE][:2])
            middles.append(stops[1] if len(slots) == 2 else NONE)
    every = [chain for chains in evidence for chain in chains]
    return Evidence(
        frozen(offsets_of([len(chains) for chains in evidence]), np.int64),
        frozen(np.array(steps).reshape(-1, 2)),
        frozen(middles),
        frozen([chain.support for chain in every], np.int64),
        frozen([chain.cases for chain in every], np.int64),
    )


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is no number")
    return float(value)


def _share(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{value!r} is no share of 1")
    return float(value)


# Writing


def _write_tsv(facts: NewFacts, path: Path) -> None:
    words = [in_words(facts.chains(place), facts.vocabulary) for place in range(len(facts))]
    frame = _columns(facts).drop("decision", "asked")
    frame = frame.with_columns(evidence=pl.Series(words, dtype=pl.String))
    frame.write_csv(path, separator="\t", quote_style="never")


def _write_nt(facts: NewFacts, path: Path) -> None:
    # What came in as a literal or a blank node, if these were kept, goes out as one.
    write_nt(named_facts(facts.facts, facts.vocabulary).iter_rows(), path, keep=True)


def _write_parquet(facts: NewFacts, path: Path) -> None:
    table_of(facts).write_parquet(path)


def _write_jsonl(facts: NewFacts, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in rows_of_facts(facts):
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


WRITERS: dict[str, Callable[[NewFacts, Path], None]] = {
    ".tsv": _write_tsv,
    ".nt": _write_nt,
    ".parquet": _write_parquet,
    ".jsonl": _write_jsonl,
}
