"""The command for the paper's experiments: reproduce."""

import math
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.arguments import OnBenchmark
from assent.cli.common import command, notes, say
from assent.errors import ConfigError, DataError

BENCHMARK = "fb14k-qaq"


@command(with_json=False)
def reproduce(
    out_folder: Annotated[
        Path, typer.Option("--out", help="The folder for the runs and the report.")
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            help=f"The folder that {BENCHMARK} is in; if not given, where `assent data fetch` "
            "put it."
        ),
    ] = None,
    models: Annotated[
        str,
        typer.Option(
            help="Which models, each with its dimension, as in region-64,complex-128; or `paper`, "
            "all that the paper has; or `kin`, TransE, Region and the models like them."
        ),
    ] = "paper",
    preset: Annotated[
        str,
        typer.Option(help="Settings to start from, `default` or `paper`, as for `assent train`."),
    ] = "default",
    budget: Annotated[
        float | None,
        typer.Option(metavar="MINUTES", help="Train each model for so many minutes at most."),
    ] = None,
    on: OnBenchmark = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change one setting of all models, as in train.epochs=10.",
        ),
    ] = None,
) -> None:
    """Run the paper's experiments, and compare the numbers.

    Trains the models of Speranskaya, Schmitt & Roth (AKBC 2020) on FB14k-QAQ, which takes hours,
    and writes OUT/report.md with our numbers beside those that the paper printed. After Ctrl-C, the
    same command goes on.
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
