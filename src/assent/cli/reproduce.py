"""The command for the paper's experiments: reproduce."""

import math
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.common import OnBenchmark, command, notes, say
from assent.errors import ConfigError, DataError

BENCHMARK = "fb14k-qaq"


@command(with_json=False)
def reproduce(
    out_folder: Annotated[Path, typer.Option("--out", help="Where runs and the report go.")],
    data: Annotated[
        Path | None,
        typer.Option(help=f"A folder that holds {BENCHMARK}; else where `assent data` put it."),
    ] = None,
    models: Annotated[
        str,
        typer.Option(
            help="As in region-64,complex-128. `paper`: all that the paper has; `kin`: TransE, "
            "Region and their family."
        ),
    ] = "paper",
    preset: Annotated[str, typer.Option(help="`default` or `paper`, as in `train`.")] = "default",
    budget: Annotated[
        float | None, typer.Option(metavar="MINUTES", help="The most training for each model.")
    ] = None,
    on: OnBenchmark = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="section.key=value, for all models.")
    ] = None,
) -> None:
    """Run the paper's experiments; again, to go on.

    Trains its models on its benchmark, and sets our numbers beside those that it printed.
    """
    from assent.reporting.progress import watching
    from assent.reproducing.models import Spec
    from assent.reproducing.paper import ORDERS
    from assent.reproducing.running import Order, reproduce
    from assent.verbs.read import place

    if budget is not None and not budget > 0:
        raise ConfigError(f"--budget {budget:g}; choose more than 0 minutes")
    names = ORDERS.get(models) or tuple(dict.fromkeys(models.split(",")))
    specs = [Spec.of(name.strip(), preset, tuple(changes or ())) for name in names]
    for spec in specs:
        _ = spec.settings  # a wrong setting is refused before any training
    benchmark = place(BENCHMARK) if data is None else data / BENCHMARK
    if not benchmark.is_dir():
        raise DataError(
            f"{benchmark}: no such folder; `assent data fetch {BENCHMARK} --to {data}` gets it"
        )
    said = shlex.join(["assent", *sys.argv[1:]])
    order = Order(benchmark, out_folder, specs, budget or math.inf, said, on)
    report = reproduce(order, say, lambda: watching(notes))
    say(f"report: {report}")
