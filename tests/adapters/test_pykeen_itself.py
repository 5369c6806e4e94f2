"""With the real PyKEEN: the adapter gives its scores, and our ranks are those it finds."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import toy
from assent.core.arrays import rows_of
from assent.core.facts import Split
from assent.core.queries import Queries, both_ways
from assent.core.scores import ScoreBlock, collect
from assent.measuring.ranking import Standings, ranking

ROOT = Path(__file__).resolve().parents[2]
PYTHON = Path(os.environ.get("ASSENT_BENCH_PYTHON") or ROOT / ".venv-bench" / "bin" / "python")
MODELS = [("distmult", False), ("transe", False), ("complex", True), ("distmult", True)]
METRICS = ["inverse_harmonic_mean_rank", "arithmetic_mean_rank", "median_rank"]
METRICS += [f"hits_at_{k}" for k in (1, 3, 5, 10)]

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(),
    reason="no PyKEEN: `make .venv-bench/.ready`, or set ASSENT_BENCH_PYTHON",
)


@pytest.fixture(scope="module")
def graph():
    """Sixteen entities; PyKEEN numbers them in another order than we do."""
    kb = toy.crowd(3, 16, 3, 6, splits=True)
    names, rng = kb.vocabulary, np.random.default_rng(0)
    train, test = (kb.facts[kb.splits == split] for split in (Split.TRAIN, Split.TEST))
    by_name = {
        split: [(names.entities[h], names.relations[r], names.entities[t]) for h, r, t in facts]
        for split, facts in (("train", train), ("test", test))
    }
    return {
        **by_name,
        "models": MODELS,
        "entities": names.entities,
        "relations": names.relations,
        "entity_to_id": {n: i for i, n in enumerate(rng.permutation(names.entities).tolist())},
        "relation_to_id": {n: i for i, n in enumerate(rng.permutation(names.relations).tolist())},
        "ids": {"train": train.tolist(), "test": test.tolist()},
    }


@pytest.fixture(scope="module")
def found(graph, tmp_path_factory):
    """(scores, metrics) of each model, from PyKEEN's own environment."""
    folder = tmp_path_factory.mktemp("pykeen")
    (folder / "graph.json").write_text(json.dumps(graph), encoding="utf-8")
    script = Path(__file__).with_name("pykeen_itself.py")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [PYTHON, script, folder], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {
        (name, inverse): (
            dict(np.load(folder / f"{name}-{inverse}.npz")),
            json.loads((folder / f"{name}-{inverse}.json").read_text(encoding="utf-8")),
        )
        for name, inverse in MODELS
    }


def under_our_ids(scores, graph):
    """PyKEEN's (slot, anchor, entity), as we number them."""
    entities = [graph["entity_to_id"][name] for name in graph["entities"]]
    relations = [graph["relation_to_id"][name] for name in graph["relations"]]
    sides = [scores[side][np.ix_(relations, entities, entities)] for side in ("tails", "heads")]
    return np.concatenate(sides)


@pytest.mark.parametrize("model", MODELS)
def test_the_adapter_gives_the_scores_of_pykeen(graph, found, model):
    scores, _ = found[model]
    assert np.allclose(scores["ours"], under_our_ids(scores, graph), rtol=0, atol=1e-6)


@pytest.mark.parametrize("model", MODELS)
def test_ranks_are_those_of_pykeens_evaluator(graph, found, model):
    scores, theirs = found[model]
    count = len(graph["relations"])
    train, test = (np.array(graph["ids"][split], np.int32) for split in ("train", "test"))
    asked = Queries.grouped(*both_ways(test, count))
    truth = Queries.grouped(*both_ways(np.unique(np.concatenate([train, test]), axis=0), count))
    block = ScoreBlock(asked, under_our_ids(scores, graph)[asked.relations, asked.anchors])
    standings = Standings(asked, truth, block.scores.shape[1])
    collect([block], standings)
    asks_for_head = asked.relations[rows_of(asked.offsets)] >= count
    ours = ranking(standings.filtered(), asks_for_head)
    compared = [
        (side, ties, metric)
        for side in ("head", "tail", "both")
        for ties in ("optimistic", "realistic", "pessimistic")
        for metric in METRICS
    ]
    for side, ties, metric in compared:
        expected = theirs[side][ties][metric]
        assert ours[side][ties][metric] == pytest.approx(expected, abs=1e-6), (side, ties, metric)
    tied = ours["both"]["optimistic"] != ours["both"]["pessimistic"]
    assert tied, "the test wants ties"
