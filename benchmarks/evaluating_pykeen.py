"""Ranking beside PyKEEN: answers ranked a second by its evaluator and by ours, on the same model.

    python benchmarks/evaluating_pykeen.py [SECONDS]

The shapes of FB14k-QAQ, random weights of 128 real dimensions, filtered ranks of both sides with
all ways to break ties. PyKEEN runs in an environment of its own (`make bench` makes it), with the
batch that suits it best, on as many facts as it ranks in SECONDS; ours ranks the same facts, and
then all of them.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import assent
from assent.core.arrays import Ids, distinct, rows_of
from assent.core.facts import fact_keys, facts_of
from assent.core.queries import Queries, both_ways
from assent.core.scores import collect
from assent.core.vocabulary import Vocabulary
from assent.measuring.ranking import Standings, ranking
from assent.models import Model, create
from assent.scoring import score
from measuring import data_folder, medians

ROOT = Path(__file__).resolve().parents[1]
PEER = Path(os.environ.get("ASSENT_BENCH_PYTHON") or ROOT / ".venv-bench" / "bin" / "python")
DIM, THREADS, ROUNDS = 128, 2, 3
SECONDS = 25
SAME = 1e-5  # how far mean ranks may be apart: sums round differently, and ranks with them


def main() -> None:
    torch.set_num_threads(THREADS)
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    benchmark = assent.load(data_folder() / "fb14k-qaq")
    names = benchmark.vocabulary
    facts = np.unique(benchmark.test.facts(names.num_relations), axis=0)
    facts = np.random.default_rng(0).permutation(facts)
    print(f"FB14k-QAQ: {names.num_entities:,} entities, dim {DIM}, {THREADS} threads")
    for name in ("distmult", "complex"):
        weights = drawn(name, names.num_entities, names.num_relations)
        peer = beside_pykeen(name, weights, benchmark.train, facts, seconds)
        model = of_weights(name, *weights)
        report(name, model, names, peer, benchmark.train, facts)


def drawn(name: str, num_entities: int, num_relations: int) -> tuple[np.ndarray, np.ndarray]:
    """Random numbers, complex for ComplEx: half as many."""
    rng = np.random.default_rng(0)
    tables = []
    for count in (num_entities, num_relations):
        numbers = rng.normal(0, 0.4, (count, DIM)).astype(np.float32)
        tables.append(numbers.view(np.complex64) if name == "complex" else numbers)
    return tables[0], tables[1]


def of_weights(name: str, entities: np.ndarray, relations: np.ndarray) -> Model:
    """Our model with these numbers; a head is asked for by the relation's conjugate."""
    model = create(name, len(entities), len(relations), {"dim": DIM, "entity_bias": False})
    both = np.concatenate([relations, relations.conj()])
    with torch.no_grad():
        for own, table in ((model.entities, entities), (model.relations, both)):
            parts = [table.real, table.imag] if np.iscomplexobj(table) else [table]
            own.copy_(torch.from_numpy(np.concatenate(parts, axis=1)))
    return model


def beside_pykeen(
    name: str, weights: tuple[np.ndarray, np.ndarray], train: Ids, facts: Ids, seconds: float
) -> dict[str, float] | None:
    """What PyKEEN reached; None where it is not installed."""
    if not PEER.exists():
        return None
    script = Path(__file__).with_name("peers") / "pykeen_ranking.py"
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "weights.npz"
        np.savez(path, entities=weights[0], relations=weights[1], train=train, test=facts)
        command = [str(PEER), str(script), str(path), name, str(seconds)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def rank(model: Model, names: Vocabulary, train: Ids, facts: Ids) -> float:
    """The filtered mean rank, all that PyKEEN computes beside it, and all before it."""
    count = model.num_relations
    asked = Queries.grouped(*both_ways(facts, count))
    keys = np.concatenate([fact_keys(part, names) for part in (train, facts)])
    truth = Queries.grouped(*both_ways(facts_of(distinct(keys), names), count))
    nothing = Queries.grouped(*both_ways(facts[:0], count))
    standings = Standings(asked, truth, model.num_entities)
    collect(score(model, asked, nothing), standings)
    for_heads = asked.relations[rows_of(asked.offsets)] >= count
    found = ranking(standings.filtered(), for_heads)
    return found["both"]["realistic"]["arithmetic_mean_rank"]


def report(
    name: str,
    model: Model,
    names: Vocabulary,
    peer: dict[str, float] | None,
    train: Ids,
    facts: Ids,
) -> None:
    sample = facts[: int(peer["facts"])] if peer else facts
    mean = rank(model, names, train, sample)  # compiles the loops
    took = medians({"sample": lambda: rank(model, names, train, sample)}, ROUNDS)["sample"]
    start = time.perf_counter()
    rank(model, names, train, facts)
    whole = 2 * len(facts) / (time.perf_counter() - start)
    ours = 2 * len(sample) / took
    print(f"  {name}, {2 * len(sample):,} answers, a head and a tail of each fact")
    if peer:
        theirs = 2 * len(sample) / peer["seconds"]
        same = np.isclose(mean, peer["mean_rank"], rtol=SAME)
        check = "the same" if same else f"{peer['mean_rank']:,.2f} in PyKEEN"
        print(f"    PyKEEN  {theirs:10,.0f} answers/s, {peer['batch']} facts at a time")
        print(
            f"    assent  {ours:10,.0f} answers/s  {ours / theirs:6.1f}x    "
            f"mean rank {mean:,.2f}: {check}"
        )
    else:
        print(f"    assent  {ours:10,.0f} answers/s    no PyKEEN")
    ratio = f"  {whole / theirs:6.1f}x" if peer else ""
    print(
        f"    assent  {whole:10,.0f} answers/s{ratio}    on all {2 * len(facts):,} answers",
        flush=True,
    )


if __name__ == "__main__":
    main()
