"""Troubles of a command: kills, full disks, folders that cannot be written, twice at once, damage.

After each, the command is said again. Its files must then be those of a command that nothing
troubled, bit for bit, and no other file may be left.
"""

import hashlib
import random
import re
import resource
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from campaign.commands import Command
from campaign.forking import Ended, Fork, as_nobody, counting, dying, writable

KILLED = "killed"
MOST_KILLS = 8  # of one command; then it may end
TEMPORARY = "temporary"  # beside the folder that is tried in: the system's own, for the commands
SMALL = (0, 10, 500, 3000, 20000)  # bytes that a file may have on a disk that is full
# What may differ without harm: a hint, and what is done again where it is damaged.
UNVOUCHED = ("benchmark.path", "completing")
# Times and measured seconds differ from run to run; so do the paths of the folder that is tried in.
DIFFERS = re.compile(
    rb'"(?:time|seconds|processor_seconds|queries_per_second)": *(?:[\d.e+-]+|\{[^}]*\})'
)


def said(command: Command, home: Path, before: Callable[[], None] | None = None) -> Fork:
    return Fork(command.words.format(home=home).split(), before)


def fingerprint(command: Command, home: Path) -> dict[str, str]:
    """A checksum of each file that the command writes, without times."""
    found = {}
    for name in command.writes:
        path = home / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if not file.is_dir():
                there = file.read_bytes() if file.is_file() else b"not there"
                content = DIFFERS.sub(b"", there).replace(str(home).encode(), b"HOME")
                found[str(file.relative_to(home))] = hashlib.sha256(content).hexdigest()
    return found


def litter(home: Path) -> list[str]:
    """What a command that was killed left beside its place, or among the temporary files."""
    temporary = home.with_name(TEMPORARY)
    left = [path for path in home.rglob("*") if path.suffix in (".part", ".old")]
    left += [path for path in temporary.iterdir() if "assent" in path.name]
    return [str(path.relative_to(home.parent)) for path in left]


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
            f"{'command':16}{'trouble':26}{'tried':>8}{'ends':>8}{'as wanted':>11}{'litter':>8}"
        ]
        for (command, trouble), row in self.rows.items():
            cells = (row.get(name, 0) for name in ("tried", "ends", "wanted", "litter"))
            lines.append(f"{command:16}{trouble:26}" + "{:>8}{:>8}{:>11}{:>8}".format(*cells))
        return "\n".join(lines)


class Place:
    """A folder in which one command is troubled again and again, from the same start."""

    def __init__(self, command: Command, home: Path, table: Table) -> None:
        self.command, self.home, self.table = command, home, table
        self.before = home.with_name("before")  # all that came before this command
        remove(self.before)
        shutil.copytree(home, self.before)
        start = time.monotonic()
        self._must(said(command, home))
        self.took = time.monotonic() - start
        self.wanted = self._files()
        self.after = home.with_name("after")
        remove(self.after)
        shutil.copytree(home, self.after)
        self.again()
        noted = home.with_name("changes")
        self._must(said(command, home, counting(noted)))
        self.changes = int(noted.read_text()) if noted.exists() else 0
        if self._files() != self.wanted:
            raise RuntimeError(f"{command.name}: other files the second time, and nothing was done")

    def _must(self, fork: Fork) -> None:
        ended = fork.end()
        if ended.code:
            raise RuntimeError(f"{self.command.name}: {ended.complaint}")

    def _files(self) -> dict[str, str]:
        """What the command left, after what shows it was said."""
        if self.command.shown_by:
            Fork(self.command.shown_by.format(home=self.home).split()).end()
        return fingerprint(self.command, self.home)

    def again(self) -> None:
        """All as it was before the command."""
        remove(self.home)
        shutil.copytree(self.before, self.home)

    def afterwards(self) -> None:
        """All as it was after the command, when nothing had troubled it."""
        remove(self.home)
        shutil.copytree(self.after, self.home)

    def compare(self, trouble: str, clear: bool, tried: int = 1) -> None:
        """Says the command once more, which must end; its files must be those that were wanted."""
        what = f"{self.command.name}, after: {trouble}"
        ended = said(self.command, self.home).end()
        same = self._files() == self.wanted
        done = same and "is there already" in ended.complaint  # it had ended before the kill
        clear &= self.table.expect(ended, (0, 2) if done else (0,), what)
        left = litter(self.home)
        if not same:
            self.table.fail(f"{what}: other files")
        for name in left:
            self.table.fail(f"{what}: {name} is left")
        counts = {"tried": tried, "ends": 1, "wanted": int(clear and same), "litter": len(left)}
        self.table.count(self.command.name, trouble, **counts)


def killed(place: Place, rng: random.Random) -> int:
    """Kills the command a few times, each time it is said; then lets it end. How many kills.

    Half of the kills come at a moment by the clock, half just before a change of a name.
    """
    place.again()
    kills = 0
    for _ in range(rng.randint(1, MOST_KILLS)):
        at_a_change = rng.random() < 0.5
        moment, change = rng.uniform(0.0, 1.1) * place.took, rng.randint(1, max(place.changes, 1))
        process = said(place.command, place.home, dying(change) if at_a_change else None)
        ended = process.wait() if at_a_change else process.wait(moment)
        if ended is None or ended.code == -signal.SIGKILL:
            # It may have ended in this very moment.
            kills += 1 if ended is not None else process.kill().code < 0
        elif ended.code == 2 and "is there already" in ended.complaint:
            break  # it was through before it was killed
        else:
            place.table.expect(ended, (0,), f"{place.command.name}, said after {kills} kills")
            break
    place.compare(KILLED, True, kills)
    return kills


def full_disk(place: Place, rng: random.Random) -> None:
    """No file may grow beyond a few bytes or kilobytes: what a full disk does to a write."""
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
    """Nothing may be written where it writes: refused in one line; with the right to, it works."""
    place.again()
    ended = said(place.command, place.home, as_nobody(place.home)).end()
    writable(place.home)
    name = f"{place.command.name}, read-only"
    codes = (2,) if place.command.writes else (0,)
    place.compare("read-only", place.table.expect(ended, codes, name))


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
    if not place.command.writes:
        return
    place.afterwards()
    checked = place.home / Path(place.command.writes[0]).parts[0]
    if checked.name == "search" or (
        checked.suffix not in ("", ".zip") and checked.name != "new.tsv"
    ):
        return  # nothing that `verify` is for
    files = [
        path
        for path in (checked.rglob("*") if checked.is_dir() else [checked])
        if path.is_file() and not {*path.relative_to(place.home).parts} & {*UNVOUCHED}
    ]
    file = rng.choice(sorted(path for path in files if path.stat().st_size))
    content = file.read_bytes()
    spot = rng.randrange(len(content))
    match rng.randrange(3):
        case 0:
            flipped = bytes([content[spot] ^ 1 << rng.randrange(8)])
            content = content[:spot] + flipped + content[spot + 1 :]
        case 1:
            content = content[:spot]
        case _:
            content = b""
    verify = ["verify", str(checked)]
    whole = place.table.expect(Fork(verify).end(), (0,), f"verify {checked.name}, whole")
    file.write_bytes(content)
    name = f"verify {checked.name}, damaged {file.relative_to(place.home)} at {spot}"
    found = place.table.expect(Fork(verify).end(), (1, 2), name)
    counts = {"tried": 1, "ends": 2, "wanted": int(whole and found)}
    place.table.count("verify", f"damaged by {place.command.name}", **counts)


TROUBLES: tuple[Callable[[Place, random.Random], None], ...] = (
    full_disk,
    two_at_once,
    read_only,
    no_place,
    damaged,
)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
