"""Training: queries a second and peak memory, beside PyKEEN, and at a million entities.

PyKEEN runs in an environment of its own (`make bench` makes it) on as many queries as it can
finish; each job is a process of its own, because peak memory never falls.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from measuring import data_folder, peak_memory

PEER = Path(__file__).resolve().parents[1] / ".venv-bench" / "bin" / "python"
DIM, BATCH, THREADS = 128, 512, 2
GOALS = {"complex": 4, "conve": 4, "distmult": 20, "transe": 20}  # times PyKEEN's speed
STEPS = 40
PEER_QUERIES = {"complex": 4096, "conve": 2048, "distmult": 1024, "transe": 1024}
MILLION = 1_000_000


def main() -> None:
    if len(sys.argv) > 1:
        print(json.dumps(ours(*sys.argv[1:])))
        return
    with tempfile.TemporaryDirectory() as scratch:
        facts = Path(scratch) / "facts.npy"
        entities, relations = save_facts(facts)
        print(f"FB14k-QAQ, dim {DIM}, batch {BATCH}, {THREADS} threads")
        print(f"  {'':<10} {'assent':>24} {'PyKEEN':>24}")
        for model, goal in GOALS.items():
            mine = run(sys.executable, __file__, model, str(facts), str(entities), str(relations))
            peer = pykeen(model, facts, entities, relations)
            ratio = f"{mine['speed'] / peer['speed']:6.1f}x (goal {goal}x)" if peer else "no PyKEEN"
            print(f"  {model:<10} {in_words(mine):>24} {in_words(peer):>24}  {ratio}", flush=True)
        large = run(sys.executable, __file__, "complex", "synthetic", str(MILLION), "100")
        print(f"  complex, {MILLION:,} entities: {in_words(large)} (goal 6 GB)")


def save_facts(path: Path) -> tuple[int, int]:
    import assent

    benchmark = assent.load(data_folder() / "fb14k-qaq")
    np.save(path, benchmark.train)
    return benchmark.vocabulary.num_entities, benchmark.vocabulary.num_relations


def run(*command: str) -> dict[str, float]:
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def pykeen(model: str, facts: Path, entities: int, relations: int) -> dict[str, float] | None:
    if not PEER.exists():
        return None
    script = Path(__file__).with_name("peers") / "pykeen_steps.py"
    sizes = (entities, relations, model, DIM, BATCH, PEER_QUERIES[model])
    found = run(str(PEER), str(script), str(facts), *map(str, sizes))
    return {"speed": found["queries"] / found["seconds"], "memory": found["memory"]}


def ours(model: str, facts: str, entities: str, relations: str) -> dict[str, float]:
    """Steps of the training loop on real batches, or on a million made-up entities."""
    import torch

    from assent.core.queries import Queries, both_ways
    from assent.geometry import Answers
    from assent.models import create
    from assent.training.batches import batches

    torch.set_num_threads(THREADS)
    num_entities, num_relations = int(entities), int(relations)
    train = synthetic(num_entities, num_relations) if facts == "synthetic" else np.load(facts)
    queries = Queries.grouped(*both_ways(train, num_relations))
    network = create(model, num_entities, num_relations, {"dim": DIM})
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    steps = 5 if facts == "synthetic" else STEPS
    start, asked = 0.0, 0
    for step, batch in zip(range(steps + 1), batches(queries, BATCH, 0, 0), strict=False):
        if step == 1:  # the first one compiles
            start, asked = time.perf_counter(), 0
        answers = Answers(batch.offsets, batch.answers)
        optimizer.zero_grad(set_to_none=True)
        network.loss(batch.anchors, batch.relations, answers).backward()
        optimizer.step()
        asked += len(batch.anchors)
    return {"speed": asked / (time.perf_counter() - start), "memory": peak_memory()}


def synthetic(num_entities: int, num_relations: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    ends = rng.integers(num_entities, size=(2, 100_000))
    relations = rng.integers(num_relations, size=100_000)
    return np.unique(np.stack([ends[0], relations, ends[1]], axis=1), axis=0).astype(np.int32)


def in_words(found: dict[str, float] | None) -> str:
    return f"{found['speed']:8,.0f} queries/s {found['memory']:.1f} GB" if found else "-"


if __name__ == "__main__":
    main()
