"""adopt: a model that another library trained becomes a run."""

from pathlib import Path

import numpy as np
import polars as pl

from assent.adapters.adopting import adopted
from assent.core.arrays import Ids, found_in
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.facts import fact_keys
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.atomic import refuse_to_replace
from assent.files.checksums import digest
from assent.files.elsewhere import Elsewhere
from assent.files.libkge_checkpoints import read_checkpoint
from assent.files.pykeen_exports import EXPORT, TENSORS, read_export
from assent.files.recording import record
from assent.files.runs import TRACE, keep_place, save_weights
from assent.settings import Settings, model_settings
from assent.training.settings import TrainSettings
from assent.training.trace import ADOPTED, Trace, Trained
from assent.verbs.read import place
from assent.verbs.runs import Run, load_benchmark, new_run, origin_for

BEST = "checkpoint_best.pt"  # in the folder of a LibKGE experiment
PICKLES = (".pkl", ".pickle")


def adopt(
    source: str | Path,
    benchmark: Benchmark | str | Path,
    *,
    out: str | Path | None = None,
    dataset: str | Path | None = None,
) -> Run:
    """Makes a run of a model that another library trained; with `out`, in a folder.

    `source` is a LibKGE checkpoint, packaged model or experiment folder, or a folder that
    `assent.adapters.pykeen.export` wrote. A LibKGE checkpoint needs the folder of its `dataset`.
    Entities and relations are matched by name with those of the benchmark.
    """
    where = "" if isinstance(benchmark, Benchmark) else str(place(benchmark).resolve())
    benchmark = load_benchmark(benchmark)
    names = benchmark.vocabulary
    file, found = _read(Path(source), None if dataset is None else Path(dataset))
    ours, model = adopted(found, names)
    settings = Settings(ours.name, model_settings(ours.name, dict(ours.settings)), TrainSettings())
    folder = None if out is None else Path(out)
    if folder is not None:
        refuse_to_replace(folder, lambda _: False)
        about = {
            "library": found.library,
            "model": found.formula,
            "file": str(file.resolve()),
            "sha256": digest(file),
            "learned": leaked(found, benchmark),
        }
        with new_run(folder, settings, origin_for(folder, where, benchmark), names) as part:
            save_weights(part, model.state_dict())
            trace = Trace(part / TRACE)
            trace(ADOPTED, **about)
            trace("end", epochs=0, best_epoch=0)
            record(part / TRACE)
            if where:
                keep_place(part, Path(where))
    return Run(benchmark, settings, model, Trained(0, (), 0), folder)


def _read(source: Path, dataset: Path | None) -> tuple[Path, Elsewhere]:
    """The file that holds the numbers, and what it and those beside it hold."""
    if (source / EXPORT).is_file():
        return source / TENSORS, read_export(source)
    if (source / BEST).is_file():
        source = source / BEST
    pickles = [source] if source.is_file() else sorted(source.glob("*"))
    for file in pickles:
        if file.suffix in PICKLES:
            raise DataError(
                f"{file}: a pickle can run any code when it is opened, and so is not; where PyKEEN "
                "is installed, assent.adapters.pykeen.export(result, FOLDER) writes what can be "
                "adopted"
            )
    if not source.is_file():
        raise DataError(
            f"{source}: nothing to adopt; expected a LibKGE checkpoint (.pt), a folder with "
            f"{BEST}, or a folder with {EXPORT}, which assent.adapters.pykeen.export writes"
        )
    return source, read_checkpoint(source, dataset)


def leaked(model: Elsewhere, benchmark: Benchmark) -> dict[str, int] | None:
    """How many answers of each split the model learned from, where that is known.

    A model of the same graph, but of another division into train and the rest, has seen them: what
    is measured with these is too good.
    """
    if model.facts is None:
        return None
    names = benchmark.vocabulary
    learned = np.sort(fact_keys(_ids(model.facts, names), names))
    return {
        split: int(found_in(learned, fact_keys(benchmark.facts(split), names)).sum())
        for split in SPLITS
    }


def _ids(facts: pl.DataFrame, names: Vocabulary) -> Ids:  # (fact, 3)
    """The facts all of whose names the benchmark has, by its ids."""
    entities, relations = (
        {name: place for place, name in enumerate(known)}
        for known in (names.entities, names.relations)
    )
    ids = [
        (entities.get(head, -1), relations.get(relation, -1), entities.get(tail, -1))
        for head, relation, tail in facts.iter_rows()
    ]
    found = np.array(ids, np.int32).reshape(-1, 3)
    return found[(found >= 0).all(axis=1)]
