"""KGX: two tab-separated files with headers, one of nodes and one of edges, as Biolink has them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.facts import Taken
from assent.core.new_facts import ENTAILED, NewFacts
from assent.errors import DataError
from assent.files.formats import COLUMNS
from assent.files.meaning import Told
from assent.files.text import check_name, lines_of

NODES, EDGES = "nodes", "edges"
ENDS = ("subject", "predicate", "object")
# How an edge is known, and who says so, in Biolink's words.
PREDICTED = ("prediction", "computational_model")
LOGICAL = ("logical_entailment", "automated_agent")
SEVERAL = "|"  # between the values of a field that has several


def is_kgx(path: Path) -> bool:
    """Whether a path is a file of edges with nodes beside it, or a folder with one such pair."""
    return _edges_of(path) is not None


def read_kgx(path: Path) -> tuple[pl.DataFrame, Told]:
    """The edges as facts, the names and categories of the nodes as labels and types."""
    edges_file = _edges_of(path)
    assert edges_file is not None, path
    nodes_file = _beside(edges_file)
    edges = _table(edges_file, ENDS)
    rows = list(zip(*(edges[name] for name in ENDS), strict=True))
    for place, row in enumerate(rows):
        for name, field in zip(ENDS, row, strict=True):
            check_name(field, name, f"{edges_file}:{place + 2}")
    nodes = _table(nodes_file, ("id",), ("name", "category"))
    labels = {
        node: _label(name, node)
        for node, name in zip(nodes["id"], nodes["name"], strict=True)
        if name.strip()
    }
    types = [
        (node, category)
        for node, categories in zip(nodes["id"], nodes["category"], strict=True)
        for category in categories.split(SEVERAL)
        if category
    ]
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    number = frame[COLUMNS[1]].n_unique()
    taken = (
        Taken(f"edges in {edges_file.name}", len(frame), f"facts of {number:,} relations"),
        Taken(f"name in {nodes_file.name}", len(labels), "names"),
        Taken(f"category in {nodes_file.name}", len(types), "types"),
    )
    told = pl.DataFrame(types, schema={"entity": pl.String, "type": pl.String}, orient="row")
    return frame, Told(labels, told, taken=taken)


def kgx_files(path: Path) -> tuple[Path, Path]:
    """`new.kgx` -> `new_nodes.tsv` and `new_edges.tsv`."""
    return path.with_name(f"{path.stem}_{NODES}.tsv"), path.with_name(f"{path.stem}_{EDGES}.tsv")


def write_kgx(facts: NewFacts, nodes: Path, edges: Path) -> None:
    """The entities of the facts with their names, and the facts as predicted or entailed edges.

    Ids stand there as they are, with all their spaces; one that no line can hold is refused.
    """
    names, used = facts.vocabulary, np.unique(facts.facts[:, [0, 2]]).tolist()
    for kind, ids, held in (
        ("entity", names.entities, used),
        ("relation", names.relations, np.unique(facts.facts[:, 1]).tolist()),
    ):
        for one in held:
            check_name(ids[one], kind, "KGX")
    _write(
        nodes,
        ("id", "category", "name"),
        (
            (id, "biolink:NamedThing", _label(names.entity(one), id))
            for one, id in ((one, names.entities[one]) for one in used)
        ),
    )
    rows = zip(
        facts.facts.tolist(), facts.probabilities.tolist(), facts.decisions.tolist(), strict=True
    )
    _write(
        edges,
        ("id", *ENDS, "knowledge_level", "agent_type", "has_confidence_score", "decision"),
        (
            (
                f"assent:{place}",
                names.entities[head],
                names.relations[relation],
                names.entities[tail],
                *(LOGICAL if decision == ENTAILED else PREDICTED),
                f"{probability:.4f}",
                decision,
            )
            for place, ((head, relation, tail), probability, decision) in enumerate(rows, 1)
        ),
    )


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for row in (header, *rows):
            file.write("\t".join(row) + "\n")


def _label(name: str, node: str) -> str:
    """A name for people, in one line with single spaces; an id in its place stays as it is."""
    return name if name == node else " ".join(name.split())


def _edges_of(path: Path) -> Path | None:
    if path.is_dir():
        found = [one for one in sorted(path.iterdir()) if _stem(one, EDGES) and _has_nodes(one)]
        if len(found) > 1:
            raise DataError(f"{found[0]}: {found[1].name} lies beside it; keep one of the two")
        return found[0] if found else None
    return path if _stem(path, EDGES) and _has_nodes(path) else None


def _has_nodes(path: Path) -> bool:
    return _beside(path).is_file()


def _beside(edges: Path) -> Path:
    """`x_edges.tsv` -> `x_nodes.tsv`; the one that is there, gzipped or not."""
    name = edges.name.removesuffix(".gz").removesuffix(f"{EDGES}.tsv") + f"{NODES}.tsv"
    gzipped = edges.with_name(f"{name}.gz")
    return gzipped if gzipped.is_file() else edges.with_name(name)


def _stem(path: Path, kind: str) -> bool:
    name = path.name.removesuffix(".gz")
    return name == f"{kind}.tsv" or name.endswith(f"_{kind}.tsv")


def _table(
    path: Path, needed: tuple[str, ...], wanted: tuple[str, ...] = ()
) -> dict[str, list[str]]:
    """The columns with these names, as text; a wanted one that is not there is empty."""
    lines = lines_of(path)
    header = next(lines, "").split("\t")
    for name in needed:
        if name not in header:
            raise DataError(
                f"{path}:1: no column {name!r}; expected a header with {', '.join(needed)}"
            )
    places = [header.index(name) if name in header else None for name in (*needed, *wanted)]
    columns: list[list[str]] = [[] for _ in places]
    for number, line in enumerate(lines, start=2):
        if not line:
            continue
        fields = line.split("\t")
        if len(fields) != len(header):
            raise DataError(
                f"{path}:{number}: expected {len(header)} tab-separated columns, "
                f"found {len(fields)}"
            )
        for column, place in zip(columns, places, strict=True):
            column.append("" if place is None else fields[place])
    if not columns[0]:
        raise DataError(
            f"{path}: nothing but a header in it; expected a line for each of the {path.stem}"
        )
    return dict(zip((*needed, *wanted), columns, strict=True))
