"""convert: a graph in another format."""

from pathlib import Path
from typing import Annotated

import typer

import assent
from assent.cli.arguments import (
    Graph,
    KeepBlankNodes,
    KeepLiterals,
    KeepSameAs,
    Language,
    MaxSize,
    Predict,
    SubclassRelation,
    TypeRelation,
    in_bytes,
)
from assent.cli.common import command, say, show, tell


@command()
def convert(
    kb: Graph,
    out_file: Annotated[
        Path,
        typer.Option(
            "--out",
            help="A file that ends in one of {written}; a folder for a graph that has splits.",
        ),
    ],
    language: Language = "en",
    type_relation: TypeRelation = None,
    subclass_relation: SubclassRelation = None,
    predict: Predict = None,
    keep_same_as: KeepSameAs = False,
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
    max_size: MaxSize = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there already.")
    ] = False,
) -> None:
    """Write the facts of a graph to a file of another format."""
    from assent.files.atomic import refuse_to_write
    from assent.reporting.benchmarks import graph_line
    from assent.reporting.meanings import meanings_grid

    if out_file.suffix:
        refuse_to_write(out_file, overwrite)
    graph = assent.read(
        kb,
        language=language,
        type_relation=type_relation or (),
        subclass_relation=subclass_relation or (),
        predict=predict or (),
        keep_same_as=keep_same_as,
        keep_literals=keep_literals,
        keep_blank_nodes=keep_blank_nodes,
        max_size=in_bytes(max_size),
    )
    assent.write(graph, out_file, keep_rdf_terms=graph.source.rdf_terms)
    say(graph_line(graph))
    if graph.source.taken:
        show(meanings_grid(graph))
    tell("facts", out_file)
