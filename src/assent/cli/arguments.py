"""Arguments and options that several commands take, each of them said once."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from assent.cli.helping import dataset_or_path
from assent.errors import ConfigError
from assent.files.places import refuse_no_run

LARGEST_SIZE = 1e6  # GB

BenchmarkFolder = Annotated[
    str,
    typer.Argument(
        metavar="BENCHMARK",
        autocompletion=dataset_or_path,
        help="A benchmark: the folder that `assent build` made, or the name of a data set that is "
        "one (fb14k-qaq).",
    ),
]
Graph = Annotated[
    str,
    typer.Argument(
        metavar="KB",
        autocompletion=dataset_or_path,
        help="Your graph: a file or folder of facts, a name that `assent data list` shows, or a "
        "SPARQL store (sparql+http://host/path).",
    ),
]
Language = Annotated[
    str,
    typer.Option(
        help="Languages for readable names in RDF, or in relation_labels_en.json and the like "
        "beside the facts; the best first, as in en,de. A name without a language comes after "
        "these, then any other."
    ),
]
TypeRelation = Annotated[
    list[str] | None,
    typer.Option(
        help="A relation of your graph that says which type an entity has, as rdf:type does; may "
        "be given again."
    ),
]
SubclassRelation = Annotated[
    list[str] | None,
    typer.Option(
        help="A relation of your graph that puts a type under another, as rdfs:subClassOf does; "
        "may be given again."
    ),
]
Predict = Annotated[
    list[str] | None,
    typer.Option(
        help="Also find new facts of this RDF relation, which is otherwise read as a type, a name "
        "or part of the schema (rdf:type, rdfs:subClassOf, ...); may be given again."
    ),
]
KeepSameAs = Annotated[
    bool,
    typer.Option("--keep-same-as", help="Do not merge entities that owl:sameAs says are the same."),
]
KeepLiterals = Annotated[
    bool,
    typer.Option(
        help="Keep facts whose tail is an RDF literal (a number, a date, a text), with the literal "
        "as an entity."
    ),
]
KeepBlankNodes = Annotated[
    bool, typer.Option(help="Keep facts about RDF blank nodes, with the nodes as entities.")
]


def _a_run(folder: Path) -> Path:
    """Refuses what is no run at once, not after seconds of loading."""
    refuse_no_run(folder)
    return folder


def _runs(folders: list[Path]) -> list[Path]:
    return [_a_run(folder) for folder in folders]


RunFolder = Annotated[
    Path,
    typer.Argument(
        metavar="RUN", callback=_a_run, help="A run: the folder that `assent train` made."
    ),
]
RunFolders = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN...", callback=_runs, help="Runs: folders that `assent train` made."
    ),
]
MaxSize = Annotated[
    float | None,
    typer.Option(
        help="GB that a gzipped file may unpack to, where 100 times its size is too little."
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(metavar="GB", help="For duckdb: how much memory it may take, by default 3 GB."),
]
Scratch = Annotated[
    Path | None,
    typer.Option(
        help="For duckdb and spark: a folder with room for tables, by default that for temporary "
        "files."
    ),
]
Unfinished = Annotated[
    bool,
    typer.Option(
        "--unfinished",
        help="Do not wait for the end of a training: use the best weights that it has saved so "
        "far.",
    ),
]
OnBenchmark = Annotated[
    Path | None,
    typer.Option(
        "--on",
        metavar="BENCHMARK",
        help="Ask the queries of this benchmark instead of those of the run's own; it must have "
        "the same train facts.",
    ),
]
AtBenchmark = Annotated[
    str | None,
    typer.Option(
        "--benchmark",
        metavar="DIR",
        help="Where the benchmark that the run was trained on is now, if it was moved.",
    ),
]
Split = Annotated[
    str, typer.Option(help="Which queries to ask: test, to measure on, or valid, to tune on.")
]
Tensorboard = Annotated[
    bool, typer.Option("--tensorboard", help="Also show it in TensorBoard, in RUN/tensorboard.")
]
MLflowAddress = Annotated[
    str | None,
    typer.Option("--mlflow", metavar="URI", help="Also tell MLflow, as in sqlite:///runs.db."),
]


def in_bytes(gigabytes: float | None, option: str = "--max-size") -> int | None:
    """What --max-size, or another option, says."""
    if gigabytes is None:
        return None
    if not 0 < gigabytes < LARGEST_SIZE:
        raise ConfigError(f"{option} {gigabytes}; choose more than 0 and less than a million GB")
    return int(gigabytes * 1e9)


def no_less_than(least: int) -> Callable[[typer.CallbackParam, int], int]:
    """Refuses a smaller number, as the callback of an option."""

    def check(option: typer.CallbackParam, value: int) -> int:
        if value < least:
            raise ConfigError(f"{option.opts[0]} {value}; choose {least} or more")
        return value

    return check
