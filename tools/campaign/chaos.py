"""Kills at random moments, full disks, folders that cannot be written, two commands at once.

    python -m campaign.chaos --kills 30 --seed 1

Each command of the path is killed, at random moments, by a signal that cannot be caught, and said
again until it ends by itself. Its files must then be those of a command that was never killed, bit
for bit, and no other file may be left. Then come other troubles: a disk that is full, a folder that
cannot be written, the same command twice at once, files that were damaged (which `assent verify`
must find). `make chaos` prints a table of what was tried.
"""

import argparse
import hashlib
import json
import random
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from campaign.corpus import facts_of_towns, scratch, write
from campaign.forking import Ended, Fork, as_nobody, warm, writable
from campaign.fuzz import code_state

TRAINING = (
    "--model complex --set train.epochs=12 --set model.dim=8 "
    "--set train.checkpoint_minutes=0 --threads 1"
)
COMPLETING = "--precision 0.5 --no-refit --overwrite"
OF_A_RUN = tuple(
    f"run/{name}"
    for name in ("model.safetensors", "settings.toml", "entities.tsv", "relations.tsv")
)
COMPLETED = ("new.tsv", "run/completion.json", "run/facts.jsonl")
MOST_KILLS = 8  # of one command; then it may end
SMALL = (0, 10, 500, 3000, 20000)  # bytes that a file may have on a disk that is full
UNVOUCHED = ("trace.jsonl", "benchmark.path")  # what may differ without harm: a log, a hint
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


def said(command: Command, home: Path, before: Callable[[], None] | None = None) -> Fork:
    return Fork(command.words.format(home=home).split(), before)


def fingerprint(command: Command, home: Path) -> dict[str, str]:
    """A checksum of each file that the command writes, without times."""
    found = {}
    for name in command.writes:
        path = home / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            there = file.read_bytes() if file.is_file() else b"not there"
            content = DIFFERS.sub(b"", there).replace(str(home).encode(), b"HOME")
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

    def expect(self, ended: Ended, codes: tuple[int, ...], what: str) -> bool:
        """Whether a command ended as it may; if not, that is noted."""
        right = ended.code in codes and "Traceback" not in ended.complaint
        if not right:
            self.fail(f"{what}: exit {ended.code}: {ended.complaint[-300:]}")
        return right

    def text(self) -> str:
        lines = [
            f"{'command':12}{'trouble':26}{'tried':>8}{'ends':>8}{'as wanted':>11}{'litter':>8}"
        ]
        for (command, trouble), row in self.rows.items():
            cells = (row.get(name, 0) for name in ("tried", "ends", "wanted", "litter"))
            lines.append(f"{command:12}{trouble:26}" + "{:>8}{:>8}{:>11}{:>8}".format(*cells))
        return "\n".join(lines)


class Place:
    """A folder in which one command is troubled again and again, from the same start."""

    def __init__(self, command: Command, home: Path, table: Table) -> None:
        self.command, self.home, self.table = command, home, table
        self.before = home.with_name("before")  # all that came before this command
        _remove(self.before)
        shutil.copytree(home, self.before)
        start = time.monotonic()
        ended = said(command, home).end()
        if ended.code:
            raise RuntimeError(f"{command.name}: {ended.complaint}")
        self.took = time.monotonic() - start
        self.wanted = fingerprint(command, home)
        self.after = home.with_name("after")
        _remove(self.after)
        shutil.copytree(home, self.after)

    def again(self) -> None:
        """All as it was before the command."""
        _remove(self.home)
        shutil.copytree(self.before, self.home)

    def compare(self, trouble: str, clear: bool, tried: int = 1) -> None:
        """Says the command once more, which must end; its files must be those that were wanted."""
        what = f"{self.command.name}, after: {trouble}"
        clear &= self.table.expect(said(self.command, self.home).end(), (0,), what)
        same = fingerprint(self.command, self.home) == self.wanted
        left = litter(self.home)
        if not same:
            self.table.fail(f"{what}: other files")
        for name in left:
            self.table.fail(f"{what}: {name} is left")
        counts = {"tried": tried, "ends": 1, "wanted": int(clear and same), "litter": len(left)}
        self.table.count(self.command.name, trouble, **counts)


def killed(place: Place, rng: random.Random, most: int = MOST_KILLS) -> int:
    """Kills the command a few times, each time it is said; then lets it end. How many kills."""
    place.again()
    kills = 0
    for _ in range(min(rng.randint(1, MOST_KILLS), most)):
        process = said(place.command, place.home)
        ended = process.wait(rng.uniform(0.0, 1.1) * place.took)
        if ended is not None:
            place.table.expect(ended, (0,), f"{place.command.name}, said after {kills} kills")
            break
        kills += process.kill().code < 0  # it may have ended in this very moment
    place.compare("killed", True, kills)
    return kills


def full_disk(place: Place, rng: random.Random) -> None:
    """No file may grow beyond a few bytes or kilobytes: what a full disk does to a write."""
    import resource
    import signal

    place.again()
    most = rng.choice(SMALL)

    def bounded() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # then writing fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

    ended = said(place.command, place.home, bounded).end()
    name = f"{place.command.name}, disk full at {most} bytes"
    place.compare("disk full", place.table.expect(ended, (0, 2), name))


def two_at_once(place: Place, rng: random.Random) -> None:
    """The same command twice: each ends, or refuses in one line; the files are right."""
    place.again()
    first = said(place.command, place.home)
    time.sleep(rng.uniform(0, place.took / 2))
    second = said(place.command, place.home)
    name = f"{place.command.name}, two at once"
    clear = [place.table.expect(one.end(), (0, 2), name) for one in (first, second)]
    place.compare("two at once", all(clear))


def read_only(place: Place, rng: random.Random) -> None:
    """Nothing may be written anywhere: refused in one line; later, with the right to, it works."""
    place.again()
    ended = said(place.command, place.home, as_nobody(place.home)).end()
    writable(place.home)
    name = f"{place.command.name}, read-only"
    place.compare("read-only", place.table.expect(ended, (2,), name))


def no_place(place: Place, rng: random.Random) -> None:
    """What it should write lies below a file: refused in one line."""
    place.again()
    words = place.command.words.format(home=place.home).split()
    if "--out" in words:
        words[words.index("--out") + 1] = str(place.home / "graph.tsv" / "below.tsv")
        name = f"{place.command.name}, below a file"
        place.compare("no place to write", place.table.expect(Fork(words).end(), (2,), name))


def damaged(place: Place, rng: random.Random) -> None:
    """A file of what it wrote is changed: `assent verify` says so, and says nothing without."""
    _remove(place.home)
    shutil.copytree(place.after, place.home)
    folder = place.home / Path(place.command.writes[0]).parts[0]
    if not folder.is_dir():
        return
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in UNVOUCHED]
    file = rng.choice(sorted(files))
    content = file.read_bytes()
    spot = rng.randrange(len(content))
    match rng.randrange(3):
        case 0:
            content = (
                content[:spot]
                + bytes([content[spot] ^ 1 << rng.randrange(8)])
                + content[spot + 1 :]
            )
        case 1:
            content = content[:spot]
        case _:
            content = b""
    whole = place.table.expect(
        Fork(["verify", str(folder)]).end(), (0,), f"verify {folder.name}, whole"
    )
    file.write_bytes(content)
    name = f"verify {folder.name}, damaged {file.relative_to(folder)} ({len(content)} bytes)"
    found = place.table.expect(Fork(["verify", str(folder)]).end(), (1, 2), name)
    counts = {"tried": 1, "ends": 2, "wanted": int(whole and found)}
    place.table.count("verify", f"damaged by {place.command.name}", **counts)


TROUBLES: tuple[Callable[[Place, random.Random], None], ...] = (
    full_disk,
    two_at_once,
    read_only,
    no_place,
    damaged,
)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def trouble_all(given: argparse.Namespace, home: Path, table: Table) -> int:
    """Every command in turn, until it had its share of the kills or of the time; all kills."""
    chosen = [one for one in COMMANDS if given.only in (None, one.name)]
    kills = 0
    for command in COMMANDS[: COMMANDS.index(chosen[-1]) + 1]:
        place = Place(command, home, table)
        if command in chosen:
            rng = random.Random(f"{given.seed}/{command.name}")
            for trouble in TROUBLES:
                for _ in range(given.rounds):
                    trouble(place, rng)
            mine, until = 0, time.monotonic() + 60 * given.minutes / len(chosen)
            while mine < given.kills / len(chosen) and time.monotonic() < until:
                mine += killed(place, rng)
            kills += mine
            print(f"{command.name}: {mine} kills", flush=True)
        place.again()
        said(command, home).end()  # what comes next reads it
    return kills


def main() -> None:
    parser = argparse.ArgumentParser(description="Troubles commands, and looks at what is left.")
    parser.add_argument("--kills", type=int, default=60, help="of all commands together")
    parser.add_argument("--minutes", type=float, default=60.0, help="at most, for all the kills")
    parser.add_argument("--rounds", type=int, default=1, help="of every other trouble")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="the name of one command")
    parser.add_argument("--tally", type=Path, help="a file to which what was done is added")
    given = parser.parse_args()
    table, folder = Table(), scratch()
    warm()
    folder.chmod(0o755)
    home = folder / "home"
    start, code = time.monotonic(), code_state()
    try:
        home.mkdir()
        write(home / "graph.tsv", facts_of_towns(30))
        kills = trouble_all(given, home, table)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table.text())
    seconds = time.monotonic() - start
    print(
        f"{kills:,} kills, {len(table.wrong)} wrong, in {seconds:,.0f} s; seed {given.seed}, "
        f"code {code}"
    )
    if given.tally:
        rows = {" / ".join(key): row for key, row in table.rows.items()}
        told = {"code": code, "seed": given.seed, "seconds": round(seconds), "kills": kills}
        with given.tally.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**told, "wrong": table.wrong, "rows": rows}) + "\n")
    sys.exit(1 if table.wrong else 0)


if __name__ == "__main__":
    main()
