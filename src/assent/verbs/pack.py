"""pack, unpack: a run with all that it needs, as one file that travels."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from assent.core.decider import Decider
from assent.core.scores import QueriesDone
from assent.core.version import __version__
from assent.datasets.catalogue import CATALOGUE
from assent.deciding.naming import rule_name
from assent.errors import ConfigError
from assent.files import packs
from assent.files.atomic import refuse_to_write, scratch
from assent.files.benchmarks import save
from assent.files.completions import read_completion
from assent.files.places import DECIDER, SETTINGS
from assent.files.recording import record, seal_folder
from assent.files.runs import ENTITIES, RELATIONS, RULES, TRACE, WEIGHTS
from assent.reporting.deciders import found_lines
from assent.reporting.decisions import decisions_grid
from assent.reporting.grid import counted
from assent.reporting.rendering import escaped, markdown
from assent.settings import read_toml, to_toml
from assent.verbs.deciders import HEARD, hearing, load_decider, save_decider
from assent.verbs.evaluate import evaluate
from assent.verbs.runs import Run, load_run

CARD = "README.md"
BENCHMARK = "benchmark"
TRAINED = (ENTITIES, RELATIONS, WEIGHTS, TRACE, RULES)  # what training leaves, but for settings
NOT_STATED = "not stated"


def pack(
    run: str | Path,
    out: str | Path,
    *,
    benchmark: str | Path | None = None,
    with_benchmark: bool = True,
    licence: str = NOT_STATED,
    overwrite: bool = False,
    progress: QueriesDone | bool = True,
) -> Path:
    """Puts a trained run into one file: settings, weights, decider, benchmark, card, checksums.

    The card says what the model was trained on and, where there is a decider, how good its
    decisions on test are. Without its benchmark, the pack has the checksum of it alone.
    """
    folder, path = Path(run), Path(out)
    if path.suffix != ".zip":
        raise ConfigError(f"{path}: a pack is a .zip file; choose such a name")
    refuse_to_write(path, overwrite)
    loaded = load_run(folder, benchmark=benchmark)
    with scratch(path.name, path.parent) as place:
        staged = place / folder.resolve().name
        _stage(folder, staged, BENCHMARK)
        card = [*_about(loaded, folder.resolve().name, licence)]
        if (folder / DECIDER).exists():
            decider = load_decider(folder, loaded)
            save_decider(_with_heard(decider, staged), staged, loaded.benchmark)
            measured = evaluate(loaded, decider, "test", progress)
            said = "; ".join(found_lines(decider))
            card += ["## How it decides, measured on test", ""]
            card += [
                f"Rule: {rule_name(decider.rule)}.",
                "",
                markdown(decisions_grid({"run": measured})),
            ]
            card += ["", *([f"Found on valid: {escaped(said)}."] if said else [])]
        else:
            card += ["No thresholds were found yet (`assent tune`): nothing was measured."]
        card += [*_expected(folder)]
        if with_benchmark:
            save(loaded.benchmark, staged / BENCHMARK)
        (staged / CARD).write_text("\n".join(card) + "\n", encoding="utf-8")
        record(staged / CARD)
        sums = {"benchmark": loaded.benchmark.digest(), "with_benchmark": with_benchmark}
        packs.write_pack(path, staged, {"name": folder.resolve().name, **sums})
    return path


def unpack(pack: str | Path, out: str | Path) -> Path:
    """Makes a run's folder of a pack, if all of it is right."""
    packs.unpack(Path(pack), Path(out))
    return Path(out)


def _stage(run: Path, to: Path, benchmark: str) -> None:
    """Copies what training left of a run; its settings lead to where its benchmark will be."""
    to.mkdir(parents=True)
    for name in TRAINED:
        if (run / name).is_file():
            shutil.copyfile(run / name, to / name)
    sections = read_toml(run / SETTINGS)
    sections["benchmark"] = {**sections.get("benchmark", {}), "path": benchmark}
    (to / SETTINGS).write_text(to_toml(sections), encoding="utf-8")
    seal_folder(to)


def _with_heard(decider: Decider, staged: Path) -> Decider:
    """Copies the other runs that a judge hears, by number: the decider leads to the copies."""
    copies: dict[str, str] = {}

    def copied(path: str) -> str:
        if path not in copies:
            to = staged / HEARD / str(len(copies) + 1)
            _stage(Path(path), to, f"../../{BENCHMARK}")
            copies[path] = str(to)
        return copies[path]

    return hearing(decider, copied)


def _about(run: Run, name: str, licence: str) -> Iterator[str]:
    """What the model is, and what it was trained on."""
    benchmark, trained = run.benchmark, run.trained
    source = benchmark.origin.get("source")
    origin = str(source.get("name", "")) if isinstance(source, dict) else ""
    names, asked = benchmark.vocabulary, (len(benchmark.valid), len(benchmark.test))
    yield from (f"# {escaped(name)}", "")
    yield from (f"A knowledge-base completion model, packed by assent {__version__}.", "")
    numbers = sum(tensor.numel() for tensor in run.model.state_dict().values())
    yield f"- Model: {run.settings.name}, {numbers:,} numbers"
    yield f"- Trained: {counted(trained.epochs, 'epoch')}, the best was number {trained.best_epoch}"
    of = f" of {escaped(origin)}" if origin else ""
    yield f"- Trained on: {len(benchmark.train):,} facts{of}"
    entities, relations = (
        counted(names.num_entities, "entity"),
        counted(names.num_relations, "relation"),
    )
    yield f"- Benchmark: {entities}, {relations}"
    yield f"- Queries: {asked[0]:,} in valid, {asked[1]:,} in test"
    yield f"- Checksum of the benchmark: {benchmark.digest()}"
    yield f"- Checksum of the model: {run.model.digest()}"
    yield f"- Licence: {escaped(licence)}"
    if origin in CATALOGUE:
        yield f"- Licence of the data set {escaped(origin)}: {escaped(CATALOGUE[origin].licence)}"
    yield ""


def _expected(folder: Path) -> Iterator[str]:
    """What the newest completion said of its facts: a promise, or an estimate and its ground."""
    kept = read_completion(folder)
    if kept is not None:
        yield from ("", "## What may be expected of its new facts", "")
        yield from (f"- {escaped(line)}" for line in kept[0].lines)
        if kept[0].assumption:
            yield from ("", f"An estimate: {escaped(kept[0].assumption)}")
