"""verify: whether a benchmark, run, pack or file of facts is as assent wrote it."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

from assent.core.benchmark import Benchmark
from assent.errors import AssentError, DataError, PlaceError
from assent.files import benchmarks
from assent.files.atomic import scratch
from assent.files.benchmarks import is_benchmark
from assent.files.checksums import (
    ABSENT,
    CHECKSUMS,
    Known,
    changed,
    check_file,
    digest,
    files_in,
    read_checksums,
)
from assent.files.completions import (
    UNTOLD,
    Kept,
    own_record,
    place_from,
    read_completion,
    read_kept,
    renew_completion,
    written_by,
)
from assent.files.considered import read_record
from assent.files.decided import is_decided, read_decided
from assent.files.packs import is_pack, names_in, unpack
from assent.files.places import (
    CHECKPOINTS,
    COMPLETION,
    CONSIDERED,
    DECIDER,
    FACTS,
    REVIEWING,
    SETTINGS,
)
from assent.files.recording import record, reseal
from assent.files.runs import ENTITIES, PLACE, RELATIONS, TRACE, WEIGHTS
from assent.files.text import read_json
from assent.files.triples import read
from assent.reviewing.proposals import LABELS, labels_in, read_proposals
from assent.training.checkpoints import checkpoint_of, read_checkpoint, vouchers
from assent.verbs.deciders import load_decider, model_of
from assent.verbs.refit import REFIT
from assent.verbs.runs import MOST_BESIDE, Run, load_run

RIGHT, WRONG, MISSING, UNCHECKED = "right", "wrong", "missing", "unchecked"
BAD = (WRONG, MISSING)
RUN, BENCHMARK = "run", "benchmark"  # kinds of folders
NO_SUM = "has no checksum"
# What has a checksum within it, and which files it vouches for; all are read with the run.
# Nothing rests on the place of a benchmark: it has none.
OWN = {
    DECIDER: (DECIDER, "decider.npz"),
    COMPLETION: (COMPLETION, FACTS),
    CONSIDERED: (CONSIDERED,),
    PLACE: (PLACE,),
}


class Check(NamedTuple):
    """What was found of one thing."""

    name: str
    state: str  # RIGHT, WRONG, MISSING or UNCHECKED
    detail: str = ""


def verify(
    path: str | Path, *, benchmark: str | Path | None = None, renew: bool = False
) -> list[Check]:
    """Checks all that a benchmark, run, pack or file of facts holds, a `Check` for each thing.

    Those of the final fit of a run begin with `refit/`.

    `benchmark` says where that of a run is. With `renew`, files that were changed by hand are taken
    as they are, if all of them still fit one another; otherwise an error says what does not.
    """
    path = Path(path)
    if renew:
        _renew(path, benchmark)
    if path.is_dir() and (kind := _kind(path)) is not None:
        return [*_files(path), *(_run(path, benchmark) if kind == RUN else _benchmark(path))]
    if is_pack(path):
        return [*_pack(path)]
    if path.is_file():
        return [*_tried(path.name, lambda: _read_facts(path))]
    raise DataError(f"{path}: nothing to verify; expected a benchmark, run, pack or file of facts")


def _kind(folder: Path) -> str | None:
    """RUN or BENCHMARK, by a file that marks it; where that is lost, by the checksums beside it."""
    if (folder / SETTINGS).exists():
        return RUN
    if is_benchmark(folder):
        return BENCHMARK
    if not (folder / CHECKSUMS).exists():
        return None
    try:
        return RUN if SETTINGS in read_checksums(folder) else BENCHMARK
    except DataError:  # `_files` says what is wrong with them
        return RUN if (folder / TRACE).exists() else BENCHMARK


def _files(folder: Path) -> Iterator[Check]:
    """Each file of a folder against its checksum."""
    try:
        known = read_checksums(folder)
    except DataError as error:
        yield Check(CHECKSUMS, WRONG, str(error))
        return
    there = {file.name for file in files_in(folder)}
    there -= {file for name, files in OWN.items() if name in there for file in files}
    for name in sorted({*known, *there}):
        if ABSENT not in known.get(name, (ABSENT,)) and not (folder / name).exists():
            yield Check(name, MISSING, "was there when assent wrote the folder; put it back")
        elif name in known:
            yield from _tried(name, partial(check_file, folder / name, known[name]))
        else:
            yield Check(name, UNCHECKED, NO_SUM)


def _run(folder: Path, benchmark: Benchmark | str | Path | None) -> Iterator[Check]:
    """What only the parts of a run together can tell."""
    yield from _checkpoints(folder / CHECKPOINTS)
    if (folder / REVIEWING).is_dir():
        yield from _tried(REVIEWING, lambda: _read_review(folder))
    try:
        run = load_run(folder, benchmark=benchmark, unfinished=not (folder / WEIGHTS).exists())
    except AssentError as error:
        yield Check(RUN, WRONG, str(error))
        if (folder / REFIT).is_dir():
            yield from _within(REFIT, _files(folder / REFIT))
        return
    yield Check(RUN, RIGHT, "its benchmark is found, and names and weights fit")
    if (folder / DECIDER).exists():
        yield from _tried(DECIDER, lambda: load_decider(folder, run) and "found for these weights")
    yield from _completion(folder, run)
    if (folder / REFIT).is_dir():
        yield from _within(REFIT, _refit(folder / REFIT, run))


def _completion(folder: Path, run: Run) -> Iterator[Check]:
    """The newest completion: its record, its facts, and what decided about them."""
    if (folder / COMPLETION).exists():
        if not (folder / FACTS).exists():
            yield Check(FACTS, MISSING, f"{COMPLETION} is about it; put it back, or complete again")
            return
        yield from _tried(COMPLETION, lambda: read_completion(folder) and f"and {FACTS}")
    try:
        kept = read_kept(folder)
    except DataError:  # said above
        kept = None
    gone = kept is not None and kept.considered not in (None, UNTOLD)
    if (folder / CONSIDERED).exists():
        yield from _tried(CONSIDERED, lambda: _read_considered(folder, kept, model_of(run)))
    elif gone:
        yield Check(
            CONSIDERED, MISSING, f"{COMPLETION} is about it; put it back, or complete again"
        )


def _read_considered(folder: Path, kept: Kept | None, model: str) -> str:
    """What decided about the facts of a completion, or what `ask` keeps for itself."""
    if kept is not None and own_record(folder, kept) is not None:
        return "by which the newest completion decided"
    record = read_record(folder)
    if record is not None and record.model != model:
        raise DataError(
            f"{folder / CONSIDERED}: of another completion, for another model was asked; remove it"
        )
    return "what `assent ask --precision` goes by"


def _refit(folder: Path, run: Run) -> Iterator[Check]:
    """The final fit: a run within the folder of its run, which learned from the whole graph."""
    yield from _files(folder)
    if (folder / WEIGHTS).exists():
        yield from _run(folder, run.benchmark.whole())
    else:
        yield from _checkpoints(folder / CHECKPOINTS)
        yield Check(RUN, UNCHECKED, "did not end; `assent complete` goes on with it")


def _within(name: str, checks: Iterator[Check]) -> Iterator[Check]:
    """The checks of a folder within the folder, by their names from there."""
    return (check._replace(name=f"{name}/{check.name}") for check in checks)


def _checkpoints(folder: Path) -> Iterator[Check]:
    """Each checkpoint of a training: the newest, and the one before it."""
    vouched = {voucher.stem: voucher for voucher in vouchers(folder)}
    for name in sorted({*vouched, *(checkpoint_of(file) for file in folder.glob("*.safetensors"))}):
        what = f"{folder.name}/{name}"
        if name in vouched:
            yield from _tried(what, partial(read_checkpoint, vouched[name]))
        else:
            yield Check(what, UNCHECKED, "has no voucher, and is not taken up")


def _pack(path: Path) -> Iterator[Check]:
    """Each file of a pack, unpacked where nobody sees it, and then the run."""
    try:
        with scratch("verify") as place:
            unpack(path, folder := place / "run")
            yield from (Check(name, RIGHT) for name in names_in(path))
            if is_benchmark(folder / "benchmark"):
                yield from _run(folder, folder / "benchmark")
            else:
                yield Check(RUN, UNCHECKED, "the pack is without its benchmark")
    except PlaceError:  # no room to unpack it says nothing of the pack
        raise
    except AssentError as error:
        yield Check(path.name, WRONG, str(error))


def _benchmark(path: Path) -> Iterator[Check]:
    return _tried(BENCHMARK, lambda: _read_benchmark(path))


def _read_benchmark(path: Path) -> str:
    found = benchmarks.load(path)
    queries = len(found.valid) + len(found.test)
    return f"{len(found.train):,} train facts and {queries:,} queries, as its manifest counts"


def _read_review(folder: Path) -> str:
    """The proposals of a run's review as it began with, and all rows of its labels."""
    number = len(read_proposals(folder))
    if not os.access(folder / REVIEWING, os.W_OK):  # without the right to, they cannot be opened
        return f"{number:,} proposals; {LABELS} was not looked at, for its folder is read-only"
    labels = labels_in(folder)
    assert labels is not None  # there are proposals, so a review has begun
    with labels:
        labels.refuse_damaged()
        return f"{number:,} proposals, and {len(labels.rows()):,} rows of labels that can be read"


def _read_facts(path: Path) -> str:
    """A file of facts against the run beside it that wrote it; where there is none, it is read."""
    here, checksum = path.resolve().parent, digest(path)
    runs = [folder for folder in (here, *sorted(here.iterdir())) if (folder / COMPLETION).is_file()]
    written = {run: written_by(run) for run in runs[:MOST_BESIDE]}
    for run, known in written.items():
        if checksum in known.values():
            return f"as `assent complete {run.name}` wrote it"
    for run, known in written.items():
        if path.name in known or place_from(run, path) in known:
            raise changed(path)
    number = len(read_decided(path)) if is_decided(path) else len(read(path).facts)
    return f"{number:,} facts can be read; no run beside it has its checksum"


def _tried(name: str, check: Callable[[], object]) -> Iterator[Check]:
    try:
        found = check()
        yield Check(name, RIGHT, found if isinstance(found, str) else "")
    except AssentError as error:
        yield Check(name, WRONG, str(error))


def _renew(path: Path, benchmark: str | Path | None) -> None:
    """Takes the files of a folder as they are; where one does not fit, none is."""
    if (path / SETTINGS).exists():
        try:
            known = read_checksums(path)
            _refuse_unfit(path, benchmark, known)
        except AssentError as error:
            raise DataError(f"nothing was renewed: {error}") from error
        names = dict.fromkeys((SETTINGS, ENTITIES, RELATIONS, WEIGHTS, TRACE, *known))
        record(*(path / name for name in names if (path / name).exists()))
        if (path / DECIDER).exists():
            reseal(path / DECIDER)
        if (path / COMPLETION).exists():
            renew_completion(path)
    elif path.is_dir() and is_benchmark(path):
        benchmarks.renew(path)
    else:
        raise DataError(f"{path}: only benchmarks and runs can be renewed; make it anew")


def _refuse_unfit(folder: Path, benchmark: str | Path | None, known: Known) -> None:
    """Raises an error for a file of a run that is lost or damaged, whatever its checksum."""
    run = load_run(folder, benchmark=benchmark, renewing=True)
    for name, sums in known.items():
        if not (file := folder / name).exists():
            check_file(file, sums)
        elif file.suffix == ".json":
            read_json(file)
    if not (folder / TRACE).read_bytes().endswith(b"\n"):
        raise DataError(f"{folder / TRACE}: cut in its last line; `assent train` mends it")
    for voucher in vouchers(folder / CHECKPOINTS):
        read_checkpoint(voucher)
    if (folder / DECIDER).exists():
        load_decider(folder, run, renewing=True)
    found, record = read_completion(folder, renewing=True), read_record(folder)
    if found is None or record is None or record.asked:
        return
    if found[0].considered is None or record.model != found[0].model:
        raise DataError(f"{record.path}: of another completion; remove it")
