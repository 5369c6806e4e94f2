"""Whether a folder is a run, told at a glance; and what commands after training put into it."""

from pathlib import Path

from assent.errors import DataError
from assent.files.guarding import refuse_special

SETTINGS = "settings.toml"  # what makes a folder a run
MANIFEST = "manifest.json"  # what makes a folder a benchmark
DECIDER = "decider.json"
COMPLETION, FACTS, CONSIDERED = "completion.json", "facts.jsonl", "considered.npz"
NAMING = ".naming.json"  # there while the files of a completion get their names

# Folders within that of a run that hold nothing but what assent keeps there for itself.
REVIEWING, CHECKPOINTS, COMPLETING, UPDATING = FOLDERS = (
    "review",
    "checkpoints",
    "completing",
    "updating",
)

# Folders within that of a run that hold nothing but what assent keeps there for itself.
REVIEWING, CHECKPOINTS, COMPLETING, UPDATING = FOLDERS = (
    "review",
    "checkpoints",
    "completing",
    "updating",
)


def refuse_no_run(folder: Path) -> None:
    """Raises an error if a folder is no run, and says what makes one."""
    if (folder / SETTINGS).is_file():
        return
    refuse_special(folder / SETTINGS)
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder; `assent train BENCHMARK --out RUN` makes a run")
    if (folder / MANIFEST).is_file():
        raise DataError(
            f"{folder}: a benchmark, not a run; `assent train {folder} --model complex --out RUN` "
            "makes a run of it"
        )
    raise DataError(
        f"{folder}: not a run, for it has no {SETTINGS}; `assent train BENCHMARK --out RUN` makes "
        "one"
    )
