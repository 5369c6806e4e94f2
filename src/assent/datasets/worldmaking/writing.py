"""The world graph as a folder of small files, the same bytes on every run."""

import gzip
import io
from collections.abc import Iterable, Sequence
from pathlib import Path

from assent.datasets.worldmaking.graph import WorldGraph
from assent.datasets.worldmaking.notice import notice
from assent.datasets.worldmaking.schema import RELATIONS
from assent.datasets.worldmaking.sources import installed_versions, licence_texts


def write_world(graph: WorldGraph, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    relation_names = [(name, relation.label) for name, relation in sorted(RELATIONS.items())]
    _write(folder / "train.tsv.gz", _zipped(table(graph.facts())))
    _write(folder / "entity_names.tsv.gz", _zipped(table(graph.labels())))
    _write(folder / "entity_types.tsv.gz", _zipped(table(graph.types())))
    _write(folder / "relation_names.tsv", table(relation_names))
    _write(folder / "schema.tsv", table(_schema_rows()))
    _write(folder / "NOTICE", notice(installed_versions(), licence_texts()).encode())


def table(rows: Iterable[Sequence[str]]) -> bytes:
    """Tab-separated lines, without a header."""
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def _schema_rows() -> list[tuple[str, str, str]]:
    rows = []
    for name, relation in sorted(RELATIONS.items()):
        rows.append((name, "domain", relation.domain))
        rows.append((name, "range", relation.range))
    return rows


def _zipped(content: bytes) -> bytes:
    """Without time and file name, which would change the bytes and not the content."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    """Beside, then renamed: a reader never meets half a file."""
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_bytes(content)
    unfinished.replace(path)
