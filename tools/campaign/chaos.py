"""Kills at random moments, full disks, folders that cannot be written, two commands at once.

    python -m campaign.chaos --kills 30 --seed 1

Each command of the path is killed, at random moments, by a signal that cannot be caught, and said
again until it ends by itself. Its files must then be those of a command that was never killed, bit
for bit, and no other file may be left. `make chaos` prints a table of what was tried.
"""

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from campaign.corpus import facts_of_towns, scratch, write

ASSENT = [sys.executable, "-m", "assent.cli"]
TRAINING = (
    "--model complex --set train.epochs=60 --set model.dim=8 "
    "--set train.checkpoint_minutes=0 --threads 1"
)
COMPLETING = "--precision 0.5 --no-refit --overwrite"
OF_A_RUN = tuple(
    f"run/{name}"
    for name in ("model.safetensors", "settings.toml", "entities.tsv", "relations.tsv")
)
COMPLETED = ("new.tsv", "run/completion.json", "run/facts.jsonl")
MOST_KILLS = 20  # of one command; then it may end
# Times and measured seconds differ from run to run; so do the paths of the folder that is tried in.
DIFFERS = re.compile(
    rb'"(?:time|seconds|processor_seconds|queries_per_second)": *(?:[\d.e+-]+|\{[^}]*\})'
)


class Command(NamedTuple):
    """What is said, and which files it writes."""

    name: str
    words: str  # {home}: the folder that all of them share
    writes: tuple[str, ...]


COMMANDS = (
    Command("build", "build {home}/graph.tsv --out {home}/benchmark --overwrite", ("benchmark",)),
    Command("train", f"train {{home}}/benchmark --out {{home}}/run {TRAINING}", OF_A_RUN),
    Command("tune", "tune {home}/run --rule global", ("run/decider.json",)),
    Command("evaluate", "evaluate {home}/run", ("run/metrics.json",)),
    Command("complete", f"complete {{home}}/run --out {{home}}/new.tsv {COMPLETING}", COMPLETED),
    Command("convert", "convert {home}/graph.tsv --out {home}/graph.nt", ("graph.nt",)),
)  # fmt: skip


def said(
    command: Command, home: Path, before: Callable[[], None] | None = None
) -> "subprocess.Popen[bytes]":
    words = command.words.format(home=home).split()
    return subprocess.Popen(
        [*ASSENT, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=before,
    )


def fingerprint(command: Command, home: Path) -> dict[str, str]:
    """A checksum of each file that the command writes, without times."""
    found = {}
    for name in command.writes:
        path = home / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            content = DIFFERS.sub(b"", file.read_bytes()).replace(str(home).encode(), b"HOME")
            found[str(file.relative_to(home))] = hashlib.sha256(content).hexdigest()
    return found


def litter(home: Path) -> list[str]:
    """Files that a command which was killed left beside its place."""
    return [str(p.relative_to(home)) for p in home.rglob("*") if p.suffix in (".part", ".old")]


class Table:
    """What was tried, by command and kind of trouble."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], dict[str, int]] = {}
        self.wrong: list[str] = []

    def count(self, command: str, trouble: str, **counts: int) -> None:
        row = self.rows.setdefault((command, trouble), {})
        for name, count in counts.items():
            row[name] = row.get(name, 0) + count

    def fail(self, text: str) -> None:
        self.wrong.append(text)
        print(f"  wrong: {text}", flush=True)

    def text(self) -> str:
        lines = [
            f"{'command':12}{'trouble':26}{'tried':>8}{'ends':>8}{'as wanted':>11}{'litter':>8}"
        ]
        for (command, trouble), row in self.rows.items():
            cells = (row.get(name, 0) for name in ("tried", "ends", "wanted", "litter"))
            lines.append(f"{command:12}{trouble:26}" + "{:>8}{:>8}{:>11}{:>8}".format(*cells))
        return "\n".join(lines)


def kill_often(command: Command, home: Path, rng: random.Random, most: int, table: Table) -> int:
    """Kills the command until it has had its kills, then lets it end; how many kills there were."""
    wanted, took = _untouched(command, home)
    kills = 0
    while kills < most:
        _undo(command, home)
        rounds = min(rng.randint(1, MOST_KILLS), most - kills)
        for _ in range(rounds):
            process = said(command, home)
            try:
                process.wait(rng.uniform(0.3, 1.0) * took)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                kills += 1
                table.count(command.name, "killed", tried=1)
                continue
            _expect(process, 0, command, "killed", table)
            break
        process = said(command, home)
        _expect(process, 0, command, "killed", table)
        same = fingerprint(command, home) == wanted
        left = litter(home)
        table.count(command.name, "killed", ends=1, wanted=same, litter=len(left))
        if not same:
            table.fail(f"{command.name}: other files after {rounds} kills")
        for name in left:
            _remove(home / name)
    return kills


def _untouched(command: Command, home: Path) -> tuple[dict[str, str], float]:
    """The files of a command that nothing troubles, and how long it takes."""
    _undo(command, home)
    start = time.monotonic()
    process = said(command, home)
    _, complaint = process.communicate()
    if process.returncode:
        raise RuntimeError(f"{command.name}: {complaint.decode()}")
    return fingerprint(command, home), time.monotonic() - start


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _undo(command: Command, home: Path) -> None:
    for name in (*command.writes, *(["run"] if command.name == "train" else [])):
        _remove(home / name)
    if command.name == "complete":
        shutil.rmtree(home / "run" / "completing", ignore_errors=True)


def _expect(
    process: "subprocess.Popen[bytes]", code: int, command: Command, trouble: str, table: Table
) -> None:
    """Waits for the end of a command: one line if it refuses, and the code that is right."""
    _, complaint = process.communicate()
    text = complaint.decode(errors="replace")
    if process.returncode != code or "Traceback" in text:
        table.fail(f"{command.name}, {trouble}: exit {process.returncode}: {text[-300:]}")


def full_disk(command: Command, home: Path, rng: random.Random, table: Table) -> None:
    """No file may grow beyond a few bytes or kilobytes: what a full disk does to a write."""
    import resource

    wanted, _ = _untouched(command, home)
    _undo(command, home)
    most = rng.choice((0, 10, 500, 3000, 20000))

    def bounded() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    process = said(command, home, bounded)
    _, complaint = process.communicate()
    text = complaint.decode(errors="replace")
    clear = process.returncode in (0, 2) and "Traceback" not in text
    if not clear:
        table.fail(
            f"{command.name}, disk full at {most} bytes: exit {process.returncode}: {text[-300:]}"
        )
    again = said(command, home)
    _expect(again, 0, command, "disk full, then room", table)
    same = again.returncode == 0 and fingerprint(command, home) == wanted
    if not same:
        table.fail(f"{command.name}: other files after a full disk ({most} bytes)")
    table.count(
        command.name, "disk full", tried=1, ends=1, wanted=clear and same, litter=len(litter(home))
    )


def two_at_once(command: Command, home: Path, rng: random.Random, table: Table) -> None:
    """The same command twice: each ends, or refuses in one line; the files are right."""
    wanted, took = _untouched(command, home)
    _undo(command, home)
    first = said(command, home)
    time.sleep(rng.uniform(0, took / 2))
    both = (first, said(command, home))
    clear = True
    for process in both:
        _, complaint = process.communicate()
        text = complaint.decode(errors="replace")
        if process.returncode not in (0, 2) or "Traceback" in text:
            clear = False
            table.fail(f"{command.name}, two at once: exit {process.returncode}: {text[-300:]}")
    same = fingerprint(command, home) == wanted
    if not same:
        table.fail(f"{command.name}: other files after two at once")
    table.count(
        command.name,
        "two at once",
        tried=1,
        ends=1,
        wanted=clear and same,
        litter=len(litter(home)),
    )


def no_writing(command: Command, home: Path, rng: random.Random, table: Table) -> None:
    """What it should write lies below a file: refused in one line."""
    _undo(command, home)
    words = command.words.format(home=home).split()
    if "--out" not in words:
        return
    words[words.index("--out") + 1] = str(home / "graph.tsv" / "below.tsv")
    process = subprocess.run([*ASSENT, *words], capture_output=True, check=False)
    text = process.stderr.decode(errors="replace")
    clear = process.returncode == 2 and "Traceback" not in text
    if not clear:
        table.fail(f"{command.name}, below a file: exit {process.returncode}: {text[-300:]}")
    table.count(command.name, "no place to write", tried=1, ends=1, wanted=clear)


TROUBLES: tuple[Callable[[Command, Path, random.Random, Table], None], ...] = (
    full_disk,
    two_at_once,
    no_writing,
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Troubles commands, and looks at what is left.")
    parser.add_argument("--kills", type=int, default=60, help="of all commands together")
    parser.add_argument("--rounds", type=int, default=1, help="of every other trouble")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of one command")
    parser.add_argument("--tally", type=Path, help="a file to which what was done is added")
    given = parser.parse_args()
    rng, table, home = random.Random(given.seed), Table(), scratch()
    kills = 0
    try:
        write(home / "graph.tsv", facts_of_towns(30))
        chosen = [one for one in COMMANDS if given.only in (None, one.name)]
        for command in COMMANDS:
            if command in chosen:
                kills += kill_often(command, home, rng, given.kills // len(chosen), table)
                for trouble in TROUBLES:
                    for _ in range(given.rounds):
                        trouble(command, home, rng, table)
            _untouched(command, home)  # what comes next reads it
    finally:
        shutil.rmtree(home, ignore_errors=True)
    print(table.text())
    print(f"{kills} kills, {len(table.wrong)} wrong; seed {given.seed}")
    if given.tally:
        rows = {" / ".join(key): row for key, row in table.rows.items()}
        with given.tally.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"kills": kills, "wrong": table.wrong, "rows": rows}) + "\n")
    sys.exit(1 if table.wrong else 0)


if __name__ == "__main__":
    main()
