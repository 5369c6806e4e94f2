"""Kills at random moments, full disks, folders that cannot be written, two commands at once.

    python -m campaign.chaos --kills 300 --seed 1

Each command of the path is killed, at random moments, by a signal that cannot be caught, and said
again until it ends by itself. Its files must then be those of a command that was never killed, bit
for bit, and no other file may be left. Then come other troubles (`troubles.py`). `make chaos`
prints a table of what was tried.
"""

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from campaign.commands import BEFORE, COMMANDS, prepare_home
from campaign.corpus import scratch
from campaign.forking import Fork, warm
from campaign.fuzz import code_state
from campaign.troubles import KILLED, TEMPORARY, TROUBLES, Place, Table, killed, said


def trouble_all(given: argparse.Namespace, home: Path, table: Table) -> None:
    """Every command in turn, until it had its share of the kills or of the time."""
    chosen = [one for one in COMMANDS if not given.only or one.name in given.only]
    for command in COMMANDS[: COMMANDS.index(chosen[-1]) + 1]:
        if (prepare := BEFORE.get(command.name)) is not None:
            ended = Fork(None, partial(prepare, home)).end()
            if ended.code:
                raise RuntimeError(f"before {command.name}: {ended.complaint}")
        if command not in chosen:
            said(command, home).end()
            continue
        start = time.monotonic()
        place, rng = Place(command, home, table), random.Random(f"{given.seed}/{command.name}")
        for trouble in TROUBLES:
            for _ in range(given.rounds):
                trouble(place, rng)
        mine, until = 0, time.monotonic() + 60 * given.minutes / len(chosen)
        while mine < given.kills / len(chosen) and time.monotonic() < until:
            mine += killed(place, rng)
        took = time.monotonic() - start
        print(f"{command.name}: {mine} kills, {place.changes} changes, {took:.0f} s", flush=True)
        place.afterwards()  # what comes next reads it


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    parser = argparse.ArgumentParser(description="Troubles commands, and looks at what is left.")
    parser.add_argument("--kills", type=int, default=60, help="of all commands together")
    parser.add_argument("--minutes", type=float, default=60.0, help="at most, for all the kills")
    parser.add_argument("--rounds", type=int, default=1, help="of every other trouble")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="the name of a command; may be said again")
    parser.add_argument("--tally", type=Path, help="a file to which what was done is added")
    given = parser.parse_args()
    table, folder = Table(), scratch()
    warm()
    folder.chmod(0o755)
    (temporary := folder / TEMPORARY).mkdir()
    temporary.chmod(0o1777)
    tempfile.tempdir = str(temporary)
    start, code = time.monotonic(), code_state()
    signal.signal(signal.SIGTERM, _stop)
    try:
        prepare_home(folder / "home")
        trouble_all(given, folder / "home", table)
    except RuntimeError as error:
        table.fail(str(error))
    except KeyboardInterrupt:  # what was done until then is told all the same
        print("stopped before its end", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table.text())
    kills = sum(row["tried"] for (_, trouble), row in table.rows.items() if trouble == KILLED)
    seconds, processor = time.monotonic() - start, sum(os.times()[:4])
    print(
        f"{kills:,} kills, {len(table.wrong)} wrong, in {seconds:,.0f} s ({processor:,.0f} s of "
        f"processor time); seed {given.seed}, code {code}"
    )
    if given.tally:
        rows = {" / ".join(key): row for key, row in table.rows.items()}
        told = {
            "code": code, "seed": given.seed, "seconds": round(seconds),
            "processor_seconds": round(processor), "kills": kills,
        }  # fmt: skip
        with given.tally.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**told, "wrong": table.wrong, "rows": rows}) + "\n")
    sys.exit(1 if table.wrong else 0)


if __name__ == "__main__":
    main()
