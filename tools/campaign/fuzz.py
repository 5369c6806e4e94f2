"""Mutated inputs by the hundred thousand: `make fuzz MINUTES=5`.

    python -m campaign.fuzz --minutes 5 --seed 1 --tally tally.json

Each input follows from the seed and its number alone. A process of its own reads them, with 4 GB of
memory more than it began with. If it ends, or sits at one input for 20 seconds of processor time,
that input is a finding, and another process goes on after it. An input counts when it has ended.
"""

import argparse
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from random import Random
from typing import Any

from assent.errors import AssentError
from campaign.containers import mutated
from campaign.corpus import make, make_commands_once, scratch
from campaign.kinds import FILES, SAID, files_of, prepared
from campaign.readers import FindingError, benchmark_read_once
from campaign.seals import changed_pack, renew

MOST_BYTES = 4 << 30
HANGS = 20.0  # seconds of processor time
WAITS = 120.0  # seconds asleep: it waits for something (readers of Parquet wait for 20)
IN_ONE_PROCESS = 20_000  # inputs; then a new one, so that what is left in memory does not add up
RENEWED = 0.85  # share of the mutated files whose checksums are made right again
ODD = 0.02  # share of the inputs in whose place lies something that is no file

ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}  # inputs are small

ENDS = ("read", "refused", "sealed")  # all others are findings
WRONG_SUM = re.compile("not as assent wrote it|checksum is wrong|not the trees that")
PATHS = re.compile(r"\S*/\S*")
NAMES = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\S*\d\S*")
SHOWN = 80  # letters of a refusal by which it is told from others
MOST_WAYS = 10_000  # refusals of one kind of file that are told apart

ROOT = Path(__file__).resolve().parents[2] / "src"
KINDS = [*FILES, *SAID]
WEIGHTS = [kind.weight for kind in FILES.values()] + [weight for _, weight in SAID.values()]


def random_of(seed: int, number: int) -> Random:
    return Random(f"{seed}/{number}")


def tried(seed: int, number: int, corpus: Path, only: str | None = None) -> tuple[str, str, str]:
    """Makes an input and has it read: its kind, what became of it, and what was said of it."""
    rng = random_of(seed, number)
    name = only or rng.choices(KINDS, WEIGHTS)[0]
    try:
        if name in SAID:
            SAID[name][0](corpus, rng)
        else:
            _try_file(name, corpus, rng)
        return name, "read", ""
    except AssentError as error:
        told = str(error)
        return name, "sealed" if WRONG_SUM.search(told) else "refused", _without_names(told)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        outcome = "4 GB" if isinstance(error, MemoryError) else "traceback"
        if isinstance(error, FindingError):
            outcome = "wrong"
        return name, outcome, traceback.format_exc()


def _without_names(told: str) -> str:
    """A refusal without what differs from file to file: paths, names, numbers."""
    return NAMES.sub("N", PATHS.sub("", told))[:SHOWN]


def _try_file(name: str, corpus: Path, rng: Random) -> None:
    kind = FILES[name]
    folder = corpus / kind.folder
    file = rng.choice(files_of(kind, corpus))
    before = file.read_bytes()
    whole = (
        _contents(folder) if kind.changes else _contents(file.parent, "*") if kind.sealed else {}
    )
    try:
        if rng.random() < ODD:
            _replace(file, rng)
        else:
            change = changed_pack if file.suffix == ".zip" else None
            file.write_bytes(change(before, rng) if change else mutated(before, rng, file.name))
            if kind.sealed and rng.random() < RENEWED:
                renew(folder, file)
        with benchmark_read_once(corpus, folder):
            kind.read(folder, file)
    finally:
        _clear(file)
        file.write_bytes(before)
        if kind.changes:
            for path in set(_files(folder)) - set(whole):
                _clear(path)
        for path, content in whole.items():
            if kind.changes or path.read_bytes() != content:
                _clear(path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)


def _contents(folder: Path, pattern: str = "**/*") -> dict[Path, bytes]:
    """What lies in a folder; by "*", only what vouches for others of it."""
    return {
        path: path.read_bytes()
        for path in folder.glob(pattern)
        if path.is_file() and (pattern != "*" or path.suffix == ".json")
    }


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir()]


def _clear(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _replace(file: Path, rng: Random) -> None:
    """Something that is no file, in place of a file."""
    file.unlink()
    match rng.randrange(6):
        case 0:
            file.mkdir()
        case 1:
            os.mkfifo(file)
        case 2:
            file.symlink_to(file)
        case 3:
            file.symlink_to(file.parent / "nowhere")
        case 4:
            file.symlink_to("/dev/zero")
        case _:
            pass


def _work(
    seed: int,
    first: int,
    last: int,
    end: float,
    corpus: Path,
    now: Any,
    results: Any,
    only: str | None,
) -> None:
    """Reads inputs one after another, and says after each what became of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    make_commands_once()
    os.chdir(corpus)
    tempfile.tempdir = str(corpus.parent)  # in memory, as the corpus is
    silent = os.open(os.devnull, os.O_RDWR)
    os.dup2(silent, 0)
    log = os.open(corpus.parent / "stderr.txt", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 2)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_BYTES,) * 2)
    for number in range(first, last):
        if time.time() > end:
            break
        now.value = number
        results.send((number, *tried(seed, number, corpus, only)))


class Campaign:
    """Inputs of one seed, from one number on. An input counts when it has ended."""

    def __init__(self, seed: int, first: int, corpus: Path, only: str | None = None) -> None:
        self.seed, self.next, self.corpus, self.only = seed, first, corpus, only
        self.counts: Counter[tuple[str, str]] = Counter()
        self.ways: dict[str, set[str]] = {}  # the refusals of each kind, without names and numbers
        self.findings: list[dict[str, Any]] = []
        self.under_way = ""  # the input, if any, that had not ended when the time was up

    def run(self, seconds: float, most: int) -> None:
        """Until the time is up, or so many inputs are through."""
        end, last = time.time() + seconds, self.next + most
        while self.next < last and time.time() < end:
            self._one_process(min(last, self.next + IN_ONE_PROCESS), end)

    def _one_process(self, last: int, end: float) -> None:
        """Has inputs read until the process ends, hangs, or is through with its share."""
        copy = self.corpus.parent / "work" / "corpus"
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(self.corpus, copy, symlinks=True)
        # A new interpreter: threads of polars and torch do not survive a fork.
        context = multiprocessing.get_context("spawn")
        now: Synchronized[int] = context.Value("q", self.next)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_work,
            args=(self.seed, self.next, last, end, copy, now, theirs, self.only),
            daemon=True,
        )
        process.start()
        theirs.close()
        assert process.pid is not None
        outcome = self._watch(process, ours, now, end)
        at = now.value
        process.kill()
        process.join()
        while self._heard(ours):  # what ended before it was stopped
            pass
        ours.close()
        if outcome and self.next <= at:
            name = self.only or random_of(self.seed, at).choices(KINDS, WEIGHTS)[0]
            if outcome == "under way":
                self.under_way = f"input {at}, {name}"
                return
            tail = (copy.parent / "stderr.txt").read_text(errors="replace")[-2000:]
            self.counts[name, outcome] += 1
            self._found(at, name, outcome, f"exit code {process.exitcode}\n{tail}")
            self.next = at + 1

    def _watch(self, process: Any, ours: Any, now: "Synchronized[int]", end: float) -> str:
        """Counts what ends until nothing more comes; returns why, if that is nothing good."""
        number, asleep, spent = -1, 0.0, 0.0
        looked = time.monotonic()
        while True:
            if ours.poll(0.5):
                if not self._heard(ours):
                    process.join()
                    return "abort" if process.exitcode else ""
                if time.monotonic() - looked < 0.5:
                    continue
            passed, looked = time.monotonic() - looked, time.monotonic()
            processor, waits = _processor(process.pid)
            if now.value != number:
                number, asleep, spent = now.value, 0.0, processor
            asleep += passed if waits else 0.0
            if processor - spent > HANGS or asleep > WAITS:
                return "hangs"
            if time.time() > end + HANGS:
                return "under way"

    def _heard(self, ours: Any) -> bool:
        """Takes one result, and waits for it; whether there was one."""
        try:
            number, name, outcome, told = ours.recv()
        except (EOFError, OSError):
            return False
        self.counts[name, outcome] += 1
        self.next = number + 1
        if outcome not in ENDS:
            self._found(number, name, outcome, told)
        elif told and len(ways := self.ways.setdefault(name, set())) < MOST_WAYS:
            ways.add(told)
        return True

    def _found(self, number: int, name: str, outcome: str, text: str) -> None:
        self.findings.append(
            {"seed": self.seed, "number": number, "kind": name, "outcome": outcome, "text": text}
        )
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        print(f"  {outcome}: seed {self.seed}, input {number}, {name}: {last[:160]}", flush=True)


def _processor(pid: int) -> tuple[float, bool]:
    """Seconds of processor time of a process, and whether it waits for anything but a processor."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0, False
    seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return seconds, fields[0] != "R"


def _of_children() -> float:
    """Seconds of processor time of all processes that this one began, and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def code_state() -> str:
    """Which code this is: the commit, and a plus if files differ from it."""
    return _git("rev-parse", "--short", "HEAD") + (
        "+" if _git("status", "--porcelain", "..") else ""
    )


def _git(*words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def table(counts: dict[str, dict[str, int]], ways: dict[str, int]) -> str:
    """A line for each kind: how many inputs, what became of them, and how many other refusals.

    `sealed`: refused by a checksum alone. `ways`: refusals that differ in more than names and
    numbers, which shows how far into the code the inputs came.
    """
    outcomes = (*ENDS, "traceback", "wrong", "abort", "hangs", "4 GB")
    lines = [f"{'kind':24}" + "".join(f"{word:>10}" for word in ("inputs", *outcomes, "ways"))]
    total: Counter[str] = Counter()
    for name, found in sorted(counts.items()):
        total.update(found)
        lines.append(_row(name, found, outcomes, ways.get(name, 0)))
    return "\n".join([*lines, _row("all", total, outcomes, sum(ways.values()))])


def _row(name: str, found: Mapping[str, int], outcomes: Sequence[str], ways: int) -> str:
    cells = (sum(found.values()), *(found.get(word, 0) for word in outcomes), ways)
    return f"{name:24}" + "".join(f"{cell:>10,}" for cell in cells)


def by_kind(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (name, outcome), count in counts.items():
        mine = found.setdefault(name, {})
        mine[outcome] = mine.get(outcome, 0) + count
    return found


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutated inputs, until the time is up.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--inputs", type=int, default=1 << 40, help="at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--tally", type=Path, help="a file to which what was done is added")
    parser.add_argument("--corpus", type=Path, help="one that was made before")
    parser.add_argument("--only", choices=KINDS, metavar="KIND", help="inputs of this kind alone")
    parser.add_argument("--one", type=int, help="only this input, in this process")
    given = parser.parse_args()
    home = scratch()
    try:
        corpus = home / "corpus"
        if given.corpus:
            shutil.copytree(given.corpus, corpus, symlinks=True)
        else:
            prepared(make(corpus))
        if given.one is not None:
            os.chdir(corpus)
            name, outcome, told = tried(given.seed, given.one, corpus, given.only)
            sys.exit(f"{name}: {outcome}\n{told}")
        campaign = Campaign(given.seed, given.first, corpus, given.only)
        os.environ |= ONE_THREAD
        start, before = time.monotonic(), _of_children()
        signal.signal(signal.SIGTERM, _stop)
        try:
            campaign.run(60 * given.minutes, given.inputs)
        except KeyboardInterrupt:  # what was done until then is told all the same
            print("stopped before its end", flush=True)
        seconds, processor = time.monotonic() - start, _of_children() - before
    finally:
        shutil.rmtree(home, ignore_errors=True)
    counts = by_kind(campaign.counts)
    ways = {name: len(found) for name, found in campaign.ways.items()}
    print(table(counts, ways))
    inputs = sum(campaign.counts.values())
    print(
        f"{inputs:,} inputs in {seconds:,.0f} s ({processor:,.0f} s of processor time), "
        f"{inputs / seconds:,.0f} a second; seed {given.seed}, code {code_state()}"
    )
    if campaign.under_way:
        print(f"not counted, under way when the time was up: {campaign.under_way}")
    if given.tally:
        said = {
            "code": code_state(), "seed": given.seed, "first": given.first, "inputs": inputs,
            "seconds": round(seconds), "processor_seconds": round(processor),
            "under_way": campaign.under_way, "counts": counts, "ways": ways,
            "findings": campaign.findings,
        }  # fmt: skip
        with given.tally.open("a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")
    sys.exit(1 if campaign.findings else 0)


if __name__ == "__main__":
    main()
