"""A knowledge base to a file or folder; what is written reads back equal."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

from assent.core.arrays import Ids
from assent.core.facts import KnowledgeBase, Split
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.rdf import write_nt
from assent.files.saving import beside, folder_beside


def write(kb: KnowledgeBase, path: str | Path, *, keep_rdf_terms: bool = False) -> None:
    """Writes the facts: .tsv, .nt or .parquet; a graph with splits to a folder of .tsv files.

    Into N-Triples, a name that is no IRI goes as <urn:assent:...>, percent-encoded. With
    `keep_rdf_terms`, names that read as literals or blank nodes are written as these.
    """
    path = Path(path)
    if path.suffix == "":
        _write_folder(kb, path)
        return
    if kb.has_splits:
        raise DataError(f"{path}: the graph has splits, a file has none; write it to a folder")
    if path.suffix not in WRITERS:
        raise DataError(f"{path}: cannot write {path.suffix}; choose from {' '.join(WRITERS)}")
    with beside(path) as part:
        WRITERS[path.suffix](named_facts(kb.facts, kb.vocabulary), part, keep_rdf_terms)


def named_facts(facts: Ids, vocabulary: Vocabulary) -> pl.DataFrame:
    """Facts by name: head, relation, tail."""
    entities, relations = pl.Series(vocabulary.entities), pl.Series(vocabulary.relations)
    heads, rels, tails = (np.ascontiguousarray(column) for column in facts.T)
    return pl.DataFrame(
        {
            "head": entities.gather(heads),
            "relation": relations.gather(rels),
            "tail": entities.gather(tails),
        }
    )


def write_tsv(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool = False) -> None:
    """Tab-separated, no header, no quotes: no name holds a tab or a line break."""
    frame.write_csv(path, separator="\t", include_header=False, quote_style="never")


def _write_parquet(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool) -> None:
    frame.write_parquet(path)


def _write_nt(frame: pl.DataFrame, path: Path, keep_rdf_terms: bool) -> None:
    write_nt(frame.iter_rows(), path, keep_rdf_terms)


def _write_folder(kb: KnowledgeBase, path: Path) -> None:
    with folder_beside(path, may_replace=lambda _: False) as part:
        for split in Split:
            facts = kb.part(split)
            if len(facts):
                write_tsv(named_facts(facts, kb.vocabulary), part / f"{split.name.lower()}.tsv")


WRITERS: dict[str, Callable[[pl.DataFrame, Path, bool], None]] = {
    ".tsv": write_tsv,
    ".nt": _write_nt,
    ".parquet": _write_parquet,
}
