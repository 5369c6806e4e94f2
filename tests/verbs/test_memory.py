"""A loaded run holds its table once: in a process of its own, which tells what it took at most."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import assent
import toy
from assent.core.benchmark import Benchmark
from assent.core.queries import Queries
from assent.core.vocabulary import Vocabulary
from assent.models import create
from assent.settings import resolve
from assent.training.trace import Trained
from assent.verbs.runs import Run

ENTITIES, DIM = 100_000, 512  # 205 MB
LOADING = """
import sys
from pathlib import Path
import torch
import assent
from assent.models import create
import assent.verbs.runs

def kilobytes(name):
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(name)).split()[1])

torch.set_num_threads(1)
benchmark = assent.load(Path(sys.argv[1]) / "../benchmark")
create("distmult", 10, 2, {"dim": 8})  # all that a model imports
before = kilobytes("VmRSS:")
run = assent.load_run(sys.argv[1], benchmark=benchmark)
run.model.digest()
run.model.scores(torch.tensor([3]), torch.tensor([1]))
after = kilobytes("VmHWM:")
print((after - before) * 1024 / sum(x.nbytes for x in run.model.parameters()))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A run whose table is larger than all else that loading it takes."""
    names = Vocabulary(tuple(f"e{entity}" for entity in range(ENTITIES)), ("r",))
    facts = np.array([[0, 0, 1], [2, 0, 3]], np.int32)
    nothing = Queries.grouped(*np.zeros((3, 0), np.int32))
    benchmark = Benchmark(names, facts, nothing, nothing, True)
    settings = resolve("distmult", changes=[f"model.dim={DIM}"])
    model = create("distmult", ENTITIES, 1, settings.model)
    folder = tmp_path_factory.mktemp("large")
    assent.save(benchmark, folder / "benchmark")
    assent.save(Run(benchmark, settings, model.eval(), Trained(1, (), 1)), folder / "run")
    return folder


def test_a_run_that_is_loaded_and_scores_has_its_table_once(folder):
    command = [sys.executable, "-c", LOADING, str(folder / "run")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert 0.9 < float(done.stdout) < 1.5


def test_loading_draws_no_random_numbers(tmp_path):
    benchmark = toy.built(toy.crowd(0, num_entities=60, num_relations=4, facts_each=8))
    tiny = ["model.dim=16", "train.epochs=1", "train.threads=1"]
    for kind in ("complex", "conve", "transa"):
        run = assent.train(benchmark, kind, out=tmp_path / kind, changes=tiny)
        torch.manual_seed(5)
        again = assent.load_run(tmp_path / kind, benchmark=benchmark)
        assert again.model.digest() == run.model.digest()
        assert {name: x.requires_grad for name, x in again.model.named_parameters()} == {
            name: x.requires_grad for name, x in run.model.named_parameters()
        }


def test_weights_of_another_kind_of_numbers_become_those_of_the_model():
    made, other = (create("distmult", 5, 2, {"dim": 4}) for _ in range(2))
    made.take({name: x.double() for name, x in other.state_dict().items()})
    assert made.digest() == other.digest()
    assert {x.dtype for x in made.state_dict().values()} == {torch.float32}


@pytest.mark.parametrize("change", ["missing", "more", "shape"])
def test_weights_that_do_not_fit_are_refused(change):
    made = create("distmult", 5, 2, {"dim": 4})
    weights = dict(made.state_dict())
    if change == "missing":
        del weights["bias"]
    elif change == "more":
        weights["other"] = torch.zeros(1)
    else:
        weights["bias"] = torch.zeros(6)
    with pytest.raises(RuntimeError, match=r"bias|other"):
        made.take(weights)
