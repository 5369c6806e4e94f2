"""read: a graph from a file, a folder, or a named data set."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assent.core.facts import KnowledgeBase
from assent.datasets import CATALOGUE, fetch, located
from assent.datasets.fetching import cache_folder
from assent.errors import ConfigError, DataError
from assent.files import triples
from assent.files.sparql import DEFAULTS, Paging, Store, is_store
from assent.files.sparql_pages import EVERYTHING, PagesDone, fetch_graph
from assent.files.text import unpacking


def read(
    source: str | Path,
    *,
    types: str | Path | None = None,
    schema: str | Path | None = None,
    entity_names: str | Path | None = None,
    relation_names: str | Path | None = None,
    language: str | Sequence[str] = "en",
    type_relation: Sequence[str] = (),
    subclass_relation: Sequence[str] = (),
    predict: Sequence[str] = (),
    keep_same_as: bool = False,
    keep_literals: bool = False,
    keep_blank_nodes: bool = False,
    query: str | None = None,
    paging: Paging = DEFAULTS,
    progress: PagesDone = lambda rows: None,
    max_size: int | None = None,
) -> KnowledgeBase:
    """Reads the facts of a file, of a folder with train (and valid and test), or of a data set.

    `source` is a path, or a name that `assent data list` shows. Readable names, types and a schema
    come from the files given, from those that lie in the folder, or from the graph itself.

    In RDF, names are taken in the first `language` ("en,de") that there is, then without one, then
    in any. rdf:type and rdfs:subClassOf give types, and so do the relations named here. What is
    name, type or schema in RDF is no relation to predict, unless `predict` names it. Entities that
    owl:sameAs makes one are merged, unless `keep_same_as`.

    `source` may also be a SPARQL store, sparql+http://host/path. Then a `query` selects head,
    relation and tail, or constructs triples; without one, all facts are read.

    A gzipped file may unpack to `max_size` bytes; None: to 100 times its size, or 64 MB if that is
    more.
    """
    languages = language.split(",") if isinstance(language, str) else language
    path, name = Path(), ""
    if is_store(source):
        store = Store.of(str(source))
        path = fetch_graph(store, query or EVERYTHING, cache_folder(), paging, progress)
        name = store.url
    elif query is not None:
        raise ConfigError(f"{source}: a query is for a SPARQL store, sparql+http://host/path")
    else:
        path = place(source)
    with unpacking(max_size):
        kb = triples.read(
            path,
            types=types,
            schema=schema,
            entity_names=entity_names,
            relation_names=relation_names,
            language=[name.strip() for name in languages],
            type_relation=type_relation,
            subclass_relation=subclass_relation,
            predict=predict,
            keep_same_as=keep_same_as,
            keep_literals=keep_literals,
            keep_blank_nodes=keep_blank_nodes,
        )
    return replace(kb, source=replace(kb.source, name=name)) if name else kb


def dataset(name: str) -> KnowledgeBase:
    """A named graph: built in, or fetched if it is not here yet."""
    return triples.read(located(name) or fetch(name))


def place(source: str | Path) -> Path:
    """The path itself, or where the data set of this name is."""
    path = Path(source)
    if path.exists():
        return path
    folder = located(str(source))
    if folder is None and str(source) in CATALOGUE:
        raise DataError(f"{source}: not fetched yet; `assent data fetch {source}` gets it")
    if folder is None:
        raise DataError(
            f"{source}: no such file, folder or data set; `assent data list` shows names"
        )
    return folder
