"""Training in several processes that share the entities: time, memory and bytes of a step.

ComplEx with 128 dimensions, batches of 512 queries, random facts; all entities as candidates, or
2,048 that are drawn. Each process has one thread. Where there are more processes than processors
the clock says little, so that the table has the processor time of one process, too.

Beside each measured number stands what the model of the cost says. It knows the shapes, and how
long this machine takes for a product, a cell, a number of Adam, a row and a byte, which it finds
out with small tables before anything else. The last table is computed by the same
model, and was not run.

    python benchmarks/sharding.py [--entities 100000 1000000] [--processes 1 2 4] [--out FILE]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from assent.core.queries import Queries, both_ways
from assent.geometry import Peers
from assent.geometry.links import Logistic
from assent.models import create
from assent.models.making import shared_by
from assent.training.batches import batches
from assent.training.candidates import Strata, num_facts, sample_of
from assent.training.checkpoints import Position
from assent.training.launching import launched
from assent.training.settings import TrainSettings
from assent.training.stepping import Stepping

DIM, BATCH, DRAWN, RELATIONS, FACTS = 128, 512, 2048, 100, 40_000
STEPS = {0: 4, DRAWN: 20}  # that are measured, with all candidates and with some
WARM = 2
FLOAT = 4  # bytes


@dataclass(frozen=True)
class Measured:
    """Of a step, in one process of several."""

    seconds: float  # by the clock
    processor: float  # seconds
    memory: float  # bytes, at most
    sent: float  # bytes that left the process: by the formulas of the two collectives
    on_wire: float  # bytes on the loopback device, divided by the processes; others may use it


def facts(entities: int) -> Queries:
    rng = np.random.default_rng(0)
    ends = rng.integers(0, entities, (2, FACTS))
    some = np.stack([ends[0], rng.integers(0, RELATIONS, FACTS), ends[1]], 1).astype(np.int32)
    return Queries.grouped(*both_ways(np.unique(some, axis=0), RELATIONS))


def measure(entities: int, candidates: int) -> Measured | None:
    """In a process of its own, or one of several that a launcher started; the first tells."""
    torch.set_num_threads(1)
    asked = facts(entities)
    with launched() as peers:
        torch.manual_seed(0)
        with shared_by(peers):
            model = create("complex", entities, RELATIONS, {"dim": DIM})
        settings = TrainSettings(epochs=1, batch_size=BATCH, candidates=candidates)
        stepping, position = Stepping(model, asked, settings, None), Position()
        model.train()
        waiting = batches(asked, BATCH, 0, 0)
        for _ in range(WARM):
            stepping.step(next(waiting), position)
        steps, wire = STEPS[candidates], _loopback()
        handed, summed = (0, 0) if peers is None else (peers.handed, peers.summed)
        clock, processor = time.perf_counter(), time.process_time()
        for _ in range(steps):
            stepping.step(next(waiting), position)
        clock, processor = time.perf_counter() - clock, time.process_time() - processor
        sent, size = 0.0, 1
        if peers is not None:
            size = peers.size
            sent = sent_by(peers.handed - handed, peers.summed - summed, size) / steps
        wire = (_loopback() - wire) / steps / size
        memory = _most_memory()
        first = peers is None or peers.first
        found = Measured(clock / steps, processor / steps, memory, sent, wire)
    return found if first else None


def _loopback() -> int:
    """Bytes that were sent to this machine by itself."""
    line = next(x for x in Path("/proc/net/dev").read_text().splitlines() if "lo:" in x)
    return int(line.split()[9])


def _most_memory() -> int:
    """Bytes; `getrusage` would count what the process that started this one had."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM")).split()[1])


def sent_by(handed: float, summed: float, size: int) -> float:
    """A ring sends what it gathers to each of the others, and what it adds up twice, in parts."""
    return handed * (size - 1) + summed * 2 * (size - 1) / size


def run(entities: int, candidates: int, size: int) -> Measured:
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={size}"]
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        words = [__file__, "--measure", str(entities), str(candidates), str(result)]
        command = [sys.executable, *(launcher if size > 1 else []), *words]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
        return Measured(**json.loads(result.read_text()))


def timed(work, times: int) -> float:
    """Seconds of processor time, the least of a few tries."""
    tries = []
    for _ in range(times):
        start = time.process_time()
        work()
        tries.append(time.process_time() - start)
    return min(tries)


@dataclass(frozen=True)
class Costs:
    """What this machine takes, with one thread."""

    flop: float  # seconds, in the three products of a step
    cell: float  # seconds, of a score in the pass over scores
    number: float  # seconds, of a number of a table in a step of Adam
    fixed: float  # seconds, of a step that has hardly any candidates
    draw: float  # seconds, of drawing a row; every process draws all of them
    row: float  # seconds, of a row that is drawn, beyond its products, its cells and the draw
    place: float  # seconds, of an entity that has a place in a sample or not; in one process only
    byte: float  # seconds, of a byte that is sent
    base: float  # bytes, of a process with a small table

    def seconds(self, entities: int, candidates: int, size: int) -> float:
        """Of processor time, of a step in one process."""
        met = (candidates or entities) / size
        moved = entities / size * DIM if not candidates else 0
        work = 6 * BATCH * met * DIM * self.flop + BATCH * met * self.cell + moved * self.number
        if candidates:
            work += met * self.row + candidates * self.draw + (size == 1) * entities * self.place
        return self.fixed + work + self.sent(size) * self.byte

    @staticmethod
    def sent(size: int) -> float:
        """Bytes that leave a process in a step."""
        # Of 512 anchors that fall to processes at random, one has a few more than its share.
        rows = BATCH / size + 1.2 * (BATCH / size * np.log(size)) ** 0.5 if size > 1 else 0
        return sent_by(rows * DIM * FLOAT, (BATCH * DIM + 4) * FLOAT, size)

    def memory(self, entities: int, candidates: int, size: int) -> float:
        """Bytes: weights, and two numbers of Adam for each; with all candidates, gradients too."""
        table = entities / size * (DIM + 1) * FLOAT
        return self.base + table * (3 if candidates else 4)


def costs() -> Costs:
    torch.set_num_threads(1)
    wide = 8192
    queries, entities = torch.randn(BATCH, DIM), torch.randn(wide, DIM)
    scores = torch.empty(BATCH, wide)

    def products() -> None:
        torch.mm(queries, entities.T, out=scores)
        torch.mm(scores, entities)
        torch.mm(scores.T, queries)

    parameter = torch.nn.Parameter(torch.randn(200_000, DIM))
    parameter.grad = torch.randn_like(parameter)
    adam = torch.optim.Adam([parameter], fused=True)
    buffer = torch.randn(BATCH, wide)
    flop = timed(products, 7) / (6 * BATCH * wide * DIM)
    cell = timed(lambda: Logistic.refuse_(buffer, None, 0.0), 7) / (BATCH * wide)
    number = timed(adam.step, 5) / parameter.numel()
    small = run(1000, 0, 1)
    fixed = small.processor - 6 * BATCH * 1000 * DIM * flop - BATCH * 1000 * cell
    drawn = run(20_000, DRAWN, 1)
    products_of_drawn = 6 * BATCH * DRAWN * DIM * flop + BATCH * DRAWN * cell
    asked = facts(1_000_000)
    strata = Strata.of(num_facts(asked, 1_000_000), DRAWN)
    batch = next(batches(asked, BATCH, 0, 0))
    draw = timed(lambda: sample_of(Peers(0, 2), batch, strata, 0, 0), 7) / DRAWN
    place = timed(lambda: np.full(1_000_000, -1, dtype=np.int64), 7) / 1_000_000
    row = (drawn.processor - fixed - products_of_drawn) / DRAWN - draw
    two = run(1000, 0, 2)
    half = 6 * BATCH * 500 * DIM * flop + BATCH * 500 * cell
    byte = max(two.processor - fixed - half, 0) / two.sent
    return Costs(flop, cell, number, fixed, draw, row, place, byte, small.memory)


def millions(number: float) -> str:
    return f"{number / 1e6:,.1f}"


def tables(found: list[dict], mine: Costs) -> str:
    lines = [
        "| entities | candidates | processes | s a step | processor s of one: found | computed "
        "| GB of one: found | computed | MB sent by one: found | on the wire | computed |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for each in found:
        case = each["entities"], each["candidates"], each["processes"]
        lines.append(
            f"| {case[0]:,} | {case[1] or 'all'} | {case[2]} | {each['seconds']:.3f} "
            f"| {each['processor']:.3f} | {mine.seconds(*case):.3f} "
            f"| {each['memory'] / 1e9:.2f} | {mine.memory(*case) / 1e9:.2f} "
            f"| {millions(each['sent'])} | {millions(each['on_wire'])} "
            f"| {millions(mine.sent(case[2]))} |"
        )
    return "\n".join(lines)


def far(mine: Costs, entities: int = 86_054_151, size: int = 16) -> str:
    """What a large graph would take, one process a machine; computed, not run.

    Its facts are counted as those of Freebase with as many entities. Each asks for either end; an
    answer takes 4 bytes, a query 20, and there is at most a query for each answer.
    """
    answers = 2 * 338_586_276
    table = entities / size * (DIM + 1) * FLOAT
    few = DRAWN * 8
    what = f"{entities:,} entities, {size} processes: computed, not run"
    lines = [f"| {what} | all candidates | {few:,} drawn |", "|---|---|---|"]
    sent = mine.sent(size) / 1e6
    pair = [(entities, each, size) for each in (0, few)]
    rows = {
        "processor s a step, one thread": [f"{mine.seconds(*case):.3f}" for case in pair],
        "GB a process: table, Adam, best weights": [
            f"{(mine.memory(*case) + table) / 1e9:.1f}" for case in pair
        ],
        "MB sent by a process a step": [f"{sent:.1f}"] * 2,
        "s a step to send it, 10 Gbit/s": [f"{sent / 1250:.4f}"] * 2,
        "GB a process: the facts, answers and queries, at most": [f"{answers * 24 / 1e9:.1f}"] * 2,
        "GB of a shard of a checkpoint": [f"{4 * table / 1e9:.1f}"] * 2,
    }
    lines += [f"| {name} | {' | '.join(values)} |" for name, values in rows.items()]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--entities", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--candidates", type=int, nargs="*", default=[DRAWN, 0], choices=STEPS)
    parser.add_argument("--out", type=Path, help="keep what was measured here, and go on from it")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        entities, candidates, result = options.measure
        if (found := measure(int(entities), int(candidates))) is not None:
            Path(result).write_text(json.dumps(vars(found)))
        return
    kept = json.loads(options.out.read_text()) if options.out and options.out.exists() else {}
    kept.setdefault("costs", vars(costs()) if "costs" not in kept else None)
    rows = kept.setdefault("runs", [])
    for entities in options.entities:
        for candidates in options.candidates:
            for size in options.processes:
                case = {"entities": entities, "candidates": candidates, "processes": size}
                if not any(case.items() <= each.items() for each in rows):
                    rows.append({**case, **vars(run(entities, candidates, size))})
                if options.out:
                    options.out.write_text(json.dumps(kept, indent=1))
    mine = Costs(**kept["costs"])
    print("\n".join(f"{name}: {value:.3g}" for name, value in kept["costs"].items()))
    print(f"\n{tables(rows, mine)}\n\n{far(mine)}")


if __name__ == "__main__":
    main()
