"""The command line: every verb reads what the one before it wrote."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

import assent
from assent.errors import AssentError, ConfigError, DataError, StoppedError

if TYPE_CHECKING:
    from assent.core.facts import KnowledgeBase

app = typer.Typer(
    help="Knowledge-base completion that decides.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(help="Named data sets.", no_args_is_help=True)
app.add_typer(data_app, name="data")

WIDE = 120  # columns where no terminal says how many it has

out = Console(emoji=False, width=None if sys.stdout.isatty() else WIDE)
err = Console(stderr=True, emoji=False)

Graph = Annotated[
    str,
    typer.Argument(
        metavar="KB", help="A file or folder of facts, or a name that `assent data list` shows."
    ),
]
BenchmarkFolder = Annotated[
    str, typer.Argument(metavar="BENCHMARK", help="A benchmark folder, or the name of one.")
]
KeepLiterals = Annotated[bool, typer.Option(help="Keep RDF literals as entities.")]
KeepBlankNodes = Annotated[bool, typer.Option(help="Keep RDF blank nodes as entities.")]


def main() -> None:
    """Runs a command; what a user can mend ends in one line and exit code 2."""
    try:
        app()
    except StoppedError as stop:
        err.print(f"assent: {stop}", markup=False, highlight=False)
        sys.exit(128 + (stop.signal or 2))
    except AssentError as error:
        err.print(f"assent: {error}", style="red", markup=False, highlight=False, soft_wrap=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output had enough
        sys.exit(0)


@app.command()
def build(
    kb: Graph,
    out_folder: Annotated[Path, typer.Option("--out", help="Where the benchmark goes.")],
    types: Annotated[
        Path | None,
        typer.Option(help="Entity types: TSV (entity, type) or JSON (entity -> [types])."),
    ] = None,
    schema: Annotated[
        Path | None, typer.Option(help="TSV: relation, `domain` or `range`, type.")
    ] = None,
    entity_names: Annotated[
        Path | None, typer.Option(help="Readable names: TSV (entity, label) or JSON.")
    ] = None,
    relation_names: Annotated[
        Path | None, typer.Option(help="Readable names: TSV (relation, label) or JSON.")
    ] = None,
    removed: Annotated[
        str,
        typer.Option(
            help="How many entities to remove; `auto`: a quarter of the queries lose all answers."
        ),
    ] = "auto",
    removed_list: Annotated[
        Path | None, typer.Option(help="Remove exactly these entities, one a line.")
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            help="Share of the facts to ask for, where the graph comes without valid and test."
        ),
    ] = 0.12,
    deal: Annotated[
        str, typer.Option(help="`by-fact`: leak-safe. `by-query`: as in the paper.")
    ] = "by-fact",
    seed: Annotated[int, typer.Option(help="Same seed, same input: same bytes.")] = 0,
    layout: Annotated[
        str, typer.Option(help="`assent`, or `published`: that of FB14k-QAQ.")
    ] = "assent",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a benchmark that is there already.")
    ] = False,
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
) -> None:
    """Build a benchmark of queries from a graph."""
    from assent.files.benchmarks import is_benchmark
    from assent.files.saving import refuse_to_replace
    from assent.files.sides import read_list
    from assent.reporting.progress import steps
    from assent.reporting.tables import benchmark_line, graph_line, queries_table

    refuse_to_replace(out_folder, lambda old: overwrite and is_benchmark(old))
    with steps(err) as progress:
        progress(f"reading {kb}")
        graph = _graph(
            kb,
            types=types,
            schema=schema,
            entity_names=entity_names,
            relation_names=relation_names,
            keep_literals=keep_literals,
            keep_blank_nodes=keep_blank_nodes,
        )
        benchmark = assent.build(
            graph,
            removed=read_list(removed_list) if removed_list else _number_or_auto(removed),
            held_out=held_out,
            deal=deal,
            seed=seed,
            progress=progress,
        )
        progress("saving")
        assent.save(benchmark, out_folder, layout=layout, overwrite=overwrite)
    out.print(graph_line(graph), markup=False, highlight=False)
    out.print(queries_table(benchmark))
    out.print(benchmark_line(benchmark), markup=False, highlight=False)
    for warning in benchmark.origin["warnings"]:
        err.print(f"warning: {warning}", style="yellow", markup=False, highlight=False)
    out.print(f"benchmark: {out_folder}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def audit(
    benchmark: BenchmarkFolder,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 1 if something is wrong, not merely skewed.")
    ] = False,
    json_file: Annotated[
        Path | None,
        typer.Option("--json", help="Write the findings as JSON; `-` for standard output."),
    ] = None,
) -> None:
    """Look for leaks, collisions and contradictions in a benchmark."""
    from assent.files.saving import beside
    from assent.reporting.tables import audit_table

    findings = assent.audit(assent.load(_place(benchmark)))
    text = json.dumps([{**asdict(f), "failed": f.failed} for f in findings], indent=2)
    if json_file == Path("-"):
        print(text)
    else:
        out.print(audit_table(findings))
        if json_file is not None:
            with beside(json_file) as part:
                part.write_text(text + "\n", encoding="utf-8")
    if strict and any(finding.failed for finding in findings):
        raise typer.Exit(1)


@app.command()
def train(
    benchmark: BenchmarkFolder,
    model: Annotated[str, typer.Option(help="complex, conve, distmult, region, rescal, transe.")],
    run_folder: Annotated[Path, typer.Option("--out", help="The run's folder.")],
    preset: Annotated[
        str, typer.Option(help="`default`: good and quick on a CPU. `paper`: as in the paper.")
    ] = "default",
    settings_file: Annotated[
        Path | None, typer.Option("--settings", help="A TOML file with [model] and [train].")
    ] = None,
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="section.key=value, as in train.epochs=10.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda.")] = None,
    threads: Annotated[int | None, typer.Option(help="0: as many as torch takes.")] = None,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="To RUN/tensorboard.")] = False,
    mlflow: Annotated[str | None, typer.Option(metavar="URI", help="Say sqlite:///runs.db")] = None,
) -> None:
    """Train a model; the same command again goes on where it was stopped."""
    from assent.experiment import train as run_training
    from assent.reporting.tracking import tracking
    from assent.reporting.watching import Together, watching
    from assent.settings import resolve

    changes = list(changes or ())
    changes += [f"train.device={device}"] if device else []
    changes += [f"train.threads={threads}"] if threads is not None else []
    epochs = resolve(model, preset, settings_file, changes).train.epochs
    with tracking(run_folder, tensorboard, mlflow) as trackers, watching(err, epochs) as watcher:
        run = run_training(
            _place(benchmark),
            model,
            out=run_folder,
            preset=preset,
            file=settings_file,
            changes=changes,
            watcher=Together(watcher, trackers),
        )
    best = max(run.trained.scores, default=float("nan"))
    out.print(
        f"{model}: {run.settings.train.stop_on} on valid {best:.4f} "
        f"after epoch {run.trained.best_epoch} of {run.trained.epochs}",
        highlight=False,
    )
    out.print(f"run: {run_folder}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def convert(
    kb: Graph,
    out_file: Annotated[
        Path,
        typer.Option(
            "--out", help="A .tsv, .nt or .parquet file; a folder for a graph with splits."
        ),
    ],
    keep_literals: KeepLiterals = False,
    keep_blank_nodes: KeepBlankNodes = False,
) -> None:
    """Write a graph in another format."""
    from assent.reporting.tables import graph_line

    graph = _graph(kb, keep_literals=keep_literals, keep_blank_nodes=keep_blank_nodes)
    assent.write(graph, out_file, keep_rdf_terms=keep_literals or keep_blank_nodes)
    out.print(graph_line(graph), markup=False, highlight=False)
    out.print(f"facts: {out_file}", markup=False, highlight=False, soft_wrap=True)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--out", help="Where everything goes.")] = Path(
        "assent-demo"
    ),
) -> None:
    """The whole path on the built-in world graph, with a report."""
    from assent.experiment import demo as run_demo
    from assent.reporting.progress import steps
    from assent.reporting.samples import sample_queries
    from assent.reporting.tables import KIND_NAMES, audit_table, benchmark_line, queries_table

    with steps(err) as progress:
        benchmark, findings, report = run_demo(folder, progress)
    out.print("The world graph as a benchmark:")
    out.print(queries_table(benchmark))
    out.print(benchmark_line(benchmark), markup=False, highlight=False)
    out.print("\nSome of its test queries:")
    for kind, query in sample_queries(benchmark, each=2):
        out.print(f"  {KIND_NAMES[kind]:<20} {query}", markup=False, highlight=False)
    out.print("\nThe audit:")
    out.print(audit_table(findings))
    out.print(f"\nreport: {report}", markup=False, highlight=False, soft_wrap=True)


@data_app.command("list")
def data_list() -> None:
    """Show the named data sets, and which of them are here."""
    from assent.datasets import status
    from assent.reporting.tables import datasets_table

    out.print(datasets_table(status()))


@data_app.command("fetch")
def data_fetch(
    name: Annotated[str, typer.Argument(help="A name that `assent data list` shows.")],
    to: Annotated[
        Path | None, typer.Option(help="Instead of $ASSENT_DATA or the user's cache folder.")
    ] = None,
) -> None:
    """Download a data set, checked, into the cache folder."""
    from assent.datasets import fetch
    from assent.reporting.progress import downloads

    with downloads(err) as progress:
        folder = fetch(name, to, progress)
    out.print(f"{name}: {folder}", markup=False, highlight=False, soft_wrap=True)


def _graph(kb: str, **options: object) -> "KnowledgeBase":
    return assent.read(_place(kb), **options)  # type: ignore[arg-type]


def _place(name: str) -> Path:
    """A path, or where the data set of this name is."""
    from assent.datasets import located

    path = Path(name)
    if path.exists():
        return path
    folder = located(name)
    if folder is None:
        raise DataError(f"{name}: no such file, folder or data set; `assent data list` shows names")
    return folder


def _number_or_auto(text: str) -> int | str:
    if text == "auto":
        return text
    if not text.isdecimal():
        raise ConfigError(f"removed = {text!r}; choose a number or auto")
    return int(text)


if __name__ == "__main__":
    main()
