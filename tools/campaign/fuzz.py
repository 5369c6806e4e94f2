"""Mutated inputs by the hundred thousand: `make fuzz MINUTES=5`.

    python -m campaign.fuzz --minutes 5 --seed 1 --tally tally.json

Each input follows from the seed and its number alone. A process of its own reads them, with 4 GB of
memory more than it began with. If it ends, or sits at one input for 20 seconds of processor time,
that input is a finding, and another process goes on after it.
"""

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from random import Random
from typing import Any

from assent.errors import AssentError
from campaign.corpus import make, scratch
from campaign.kinds import FILES, SAID, FindingError, files_of, prepared
from campaign.mutating import mutated

MOST_BYTES = 4 << 30
HANGS = 20.0  # seconds of processor time
WAITS = 90.0  # seconds by the clock, without processor time: it waits for something
ODD = 0.02  # share of the inputs in whose place lies something that is no file

ROOT = Path(__file__).resolve().parents[2] / "src"
KINDS = [*FILES, *SAID]
WEIGHTS = [kind.weight for kind in FILES.values()] + [weight for _, weight in SAID.values()]


def random_of(seed: int, number: int) -> Random:
    return Random(f"{seed}/{number}")


def tried(seed: int, number: int, corpus: Path, only: str | None = None) -> tuple[str, str, str]:
    """Makes an input and has it read: its kind, what became of it, and the finding if it is one."""
    rng = random_of(seed, number)
    name = only or rng.choices(KINDS, WEIGHTS)[0]
    try:
        if name in SAID:
            SAID[name][0](corpus, rng)
        else:
            _try_file(name, corpus, rng)
        return name, "read", ""
    except AssentError:
        return name, "refused", ""
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        outcome = "4 GB" if isinstance(error, MemoryError) else "traceback"
        if isinstance(error, FindingError):
            outcome = "wrong"
        return name, outcome, traceback.format_exc()


def _try_file(name: str, corpus: Path, rng: Random) -> None:
    kind = FILES[name]
    folder = corpus / kind.folder
    file = rng.choice(files_of(kind, corpus))
    before = file.read_bytes()
    whole = (
        {path: path.read_bytes() for path in _files(folder)} if kind.changes or kind.mend else {}
    )
    try:
        if rng.random() < ODD:
            _replace(file, rng)
        else:
            file.write_bytes(mutated(before, rng, file.name))
            if kind.mend is not None and rng.random() < 0.7:
                kind.mend(folder)
        kind.read(folder, file)
    finally:
        _clear(file)
        if whole:
            for path in set(_files(folder)) - set(whole):
                _clear(path)
            for path, content in whole.items():
                _clear(path)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        else:
            file.write_bytes(before)


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


def _work(seed: int, first: int, last: int, corpus: Path, now: Any, results: Any) -> None:
    """Reads inputs one after another, and says after each what became of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(corpus)
    silent = os.open(os.devnull, os.O_RDWR)
    os.dup2(silent, 0)
    log = os.open(corpus.parent / "stderr.txt", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 2)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + MOST_BYTES,) * 2)
    counts: Counter[tuple[str, str]] = Counter()
    sent = time.monotonic()
    for number in range(first, last):
        now.value = number
        name, outcome, finding = tried(seed, number, corpus)
        counts[name, outcome] += 1
        if finding or time.monotonic() - sent > 0.3:
            results.send((number, dict(counts), (name, outcome, finding) if finding else None))
            counts.clear()
            sent = time.monotonic()
    results.send((last - 1, dict(counts), None))


class Campaign:
    """Inputs of one seed, from one number on."""

    def __init__(self, seed: int, first: int, corpus: Path) -> None:
        self.seed, self.next, self.corpus = seed, first, corpus
        self.counts: Counter[tuple[str, str]] = Counter()
        self.findings: list[dict[str, Any]] = []

    def run(self, seconds: float, most: int) -> None:
        """Until the time is up, or so many inputs are through."""
        end, last = time.monotonic() + seconds, self.next + most
        while self.next < last and time.monotonic() < end:
            self._one_process(last, end)

    def _one_process(self, last: int, end: float) -> None:
        copy = self.corpus.parent / "work" / "corpus"
        shutil.rmtree(copy.parent, ignore_errors=True)
        shutil.copytree(self.corpus, copy, symlinks=True)
        context = multiprocessing.get_context(
            "spawn"
        )  # threads of polars and torch do not survive a fork
        now: Synchronized[int] = context.Value("q", self.next)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(
            target=_work, args=(self.seed, self.next, last, copy, now, theirs), daemon=True
        )
        process.start()
        theirs.close()
        assert process.pid is not None
        number, since, spent = -1, time.monotonic(), 0.0
        outcome = ""
        while True:
            try:
                if ours.poll(0.5):
                    self._take(*ours.recv())
                    continue
            except EOFError:
                process.join()
                outcome = f"ended by {process.exitcode}" if process.exitcode else ""
                break
            if time.monotonic() > end:
                break
            if now.value != number:
                number, since, spent = now.value, time.monotonic(), _processor(process.pid)
            elif _processor(process.pid) - spent > HANGS or time.monotonic() - since > WAITS:
                outcome = "hangs"
                break
        at = now.value
        if process.is_alive():
            process.kill()
            process.join()
        while outcome != "" and ours.poll(0):
            try:
                self._take(*ours.recv())
            except EOFError:
                break
        ours.close()
        if outcome:
            name = random_of(self.seed, at).choices(KINDS, WEIGHTS)[0]
            tail = (copy.parent / "stderr.txt").read_text(errors="replace")[-2000:]
            # Those before it were read, though not yet told of one by one.
            self.counts["not told of", "read or refused"] += max(at - self.next, 0)
            self._found(at, name, "abort" if outcome != "hangs" else outcome, f"{outcome}\n{tail}")
            self.next = at + 1

    def _take(self, number: int, counts: dict[tuple[str, str], int], finding: Any) -> None:
        self.counts.update(counts)
        self.next = number + 1
        if finding is not None:
            name, outcome, text = finding
            self._found(number, name, outcome, text, counted=True)

    def _found(
        self, number: int, name: str, outcome: str, text: str, counted: bool = False
    ) -> None:
        if not counted:
            self.counts[name, outcome] += 1
        self.findings.append(
            {"seed": self.seed, "number": number, "kind": name, "outcome": outcome, "text": text}
        )
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        print(f"  {outcome}: seed {self.seed}, input {number}, {name}: {last[:160]}", flush=True)


def _processor(pid: int) -> float:
    """Seconds of processor time of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def code_state() -> str:
    """Which code this is: the commit, and a plus if files differ from it."""
    return _git("rev-parse", "--short", "HEAD") + (
        "+" if _git("status", "--porcelain", "..") else ""
    )


def _git(*words: str) -> str:
    command = ["git", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def table(counts: dict[str, dict[str, int]]) -> str:
    """A line for each kind: how many inputs, and what became of them."""
    outcomes = ("read", "refused", "traceback", "wrong", "abort", "hangs", "4 GB")
    lines = [f"{'kind':28}" + "".join(f"{word:>11}" for word in ("inputs", *outcomes))]
    total: Counter[str] = Counter()
    for name, found in sorted(counts.items()):
        total.update(found)
        cells = (sum(found.values()), *(found.get(word, 0) for word in outcomes))
        lines.append(f"{name:28}" + "".join(f"{cell:>11,}" for cell in cells))
    cells = (sum(total.values()), *(total.get(word, 0) for word in outcomes))
    return "\n".join([*lines, f"{'all':28}" + "".join(f"{cell:>11,}" for cell in cells)])


def by_kind(counts: Counter[tuple[str, str]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (name, outcome), count in counts.items():
        mine = found.setdefault(name, {})
        mine[outcome] = mine.get(outcome, 0) + count
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Mutated inputs, until the time is up.")
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--inputs", type=int, default=1 << 40, help="at most")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--tally", type=Path, help="a file to which what was done is added")
    parser.add_argument("--corpus", type=Path, help="one that was made before")
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
            name, outcome, finding = tried(given.seed, given.one, corpus)
            sys.exit(f"{name}: {outcome}\n{finding}")
        campaign = Campaign(given.seed, given.first, corpus)
        start = time.monotonic()
        campaign.run(60 * given.minutes, given.inputs)
        seconds = time.monotonic() - start
    finally:
        shutil.rmtree(home, ignore_errors=True)
    counts = by_kind(campaign.counts)
    print(table(counts))
    inputs = sum(campaign.counts.values())
    print(
        f"{inputs:,} inputs in {seconds:,.0f} s, {inputs / seconds:,.0f} a second; "
        f"seed {given.seed}, code {code_state()}"
    )
    if given.tally:
        said = {
            "code": code_state(), "seed": given.seed, "first": given.first, "inputs": inputs,
            "seconds": round(seconds), "counts": counts, "findings": campaign.findings,
        }  # fmt: skip
        with given.tally.open("a", encoding="utf-8") as file:
            file.write(json.dumps(said) + "\n")
    sys.exit(1 if campaign.findings else 0)


if __name__ == "__main__":
    main()
