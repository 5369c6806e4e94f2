"""pack, unpack: a run as one file that travels."""

from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import AtBenchmark, RunFolder
from assent.cli.common import command, notes, tell


@command()
def pack(
    run_folder: RunFolder,
    out_file: Annotated[Path, typer.Option("--out", help="The pack, a .zip file.")],
    without_benchmark: Annotated[
        bool,
        typer.Option(
            "--without-benchmark", help="Leave the benchmark out; the pack has its checksum alone."
        ),
    ] = False,
    licence: Annotated[
        str, typer.Option(help="Under which licence others may use it; the card says so.")
    ] = "not stated",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a file that is there already.")
    ] = False,
    benchmark: AtBenchmark = None,
) -> None:
    """Put a run, its benchmark and a card that describes it into one file."""
    from assent.reporting.progress import queries
    from assent.verbs.pack import pack as write

    with queries(notes) as progress:
        path = write(
            run_folder,
            out_file,
            benchmark=benchmark,
            with_benchmark=not without_benchmark,
            licence=licence,
            overwrite=overwrite,
            progress=progress,
        )
    tell("pack", path, f" ({path.stat().st_size / 1e6:.1f} MB)")


@command()
def unpack(
    pack_file: Annotated[Path, typer.Argument(metavar="PACK", help="A file of `assent pack`.")],
    out_folder: Annotated[Path, typer.Option("--out", help="The new folder of the run.")],
) -> None:
    """Make a run of a pack, after all of it was checked."""
    from assent.verbs.pack import unpack as read

    tell("run", read(pack_file, out_folder))
