"""convert: a graph in another format."""

from pathlib import Path
from typing import Annotated

import typer

import assent
from assent.cli.common import Graph, KeepBlankNodes, KeepLiterals, command, say


@command()
def convert(
    kb: Graph,
    out_file: Annotated[
        Path,
        typer.Option(
            "--out", help="A file with a suffix of {written}; a folder for a graph with splits."
        ),
    ],
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
) -> None:
    """Write a graph in another format."""
    from assent.reporting.benchmarks import graph_line

    graph = assent.read(kb, keep_literals=keep_literals, keep_blank_nodes=keep_blank_nodes)
    assent.write(graph, out_file, keep_rdf_terms=keep_literals or keep_blank_nodes)
    say(graph_line(graph))
    say(f"facts: {out_file}")
