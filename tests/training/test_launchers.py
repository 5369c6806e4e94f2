"""Spark, Ray, or a program that joined them, has two processes train together (docs/shards.md)."""

import shutil
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file

import assent
import toy

CHANGES = ["train.epochs=2", "model.dim=8", "train.threads=1", "train.evaluate_every=0"]
LEARN = """
def learn(benchmark, out, changes):
    import assent

    assent.train(benchmark, "complex", out=out, changes=changes)
"""
# As Ray's trainer does: the processes are joined before the function is called.
JOINED = f"""
import sys
from pathlib import Path
import torch.distributed as dist
{LEARN}
benchmark, out, *changes = sys.argv[1:]
dist.init_process_group("gloo")
learn(benchmark, out, changes)
assert dist.is_initialized()  # it is for whoever joined them to part them
dist.destroy_process_group()
threads = [Path(task, "comm").read_text() for task in Path("/proc/self/task").glob("*")]
left = [name for name in threads if "gloo" in name]
assert not left, left  # a thread that outlives the group can abort when Python ends
"""
SPARK = f"""
import sys
from pyspark.ml.torch.distributor import TorchDistributor
from pyspark.sql import SparkSession
{LEARN}
benchmark, out, *changes = sys.argv[1:]
spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False).getOrCreate()
TorchDistributor(num_processes=2, local_mode=True, use_gpu=False).run(
    learn, benchmark, out, changes
)
spark.stop()
"""
RAY = f"""
import os, sys
os.environ |= {{"RAY_USAGE_STATS_ENABLED": "0", "RAY_TRAIN_V2_ENABLED": "1"}}
os.environ |= {{"RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S": "300"}}  # for busy machines
import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer
{LEARN}
def learn_of(config):
    learn(**config)

benchmark, out, *changes = sys.argv[1:]
ray.init(num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1")
TorchTrainer(
    learn_of,
    train_loop_config=dict(benchmark=benchmark, out=out, changes=changes),
    torch_config=TorchConfig(backend="gloo"),
    scaling_config=ScalingConfig(num_workers=2, resources_per_worker=dict(CPU=0.5)),
    run_config=RunConfig(storage_path=out + "-of-ray"),
).fit()
ray.shutdown()
"""


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")


@pytest.mark.parametrize(
    ("launcher", "program"),
    [(TORCHRUN, JOINED), ((), SPARK), ((), RAY)],
    ids=["joined", "spark", "ray"],
)
def test_a_launcher_makes_the_run_that_one_process_makes(tmp_path, launcher, program):
    if program == SPARK:
        pytest.importorskip("pyspark", reason="pyspark is not installed")
        if shutil.which("java") is None:
            pytest.skip("pyspark needs a Java runtime (Debian: default-jre-headless)")
    if program == RAY:
        pytest.importorskip("ray.train.torch", reason="pip install 'ray[train]'")
    (tmp_path / "graph.ttl").write_text(toy.turtle(), encoding="utf-8")
    assent.save(assent.build(assent.read(tmp_path / "graph.ttl")), tmp_path / "benchmark")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    words = [tmp_path / "program.py", tmp_path / "benchmark", tmp_path / "two", *CHANGES]
    done = subprocess.run(
        [sys.executable, *launcher, *map(str, words)], capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(list(tmp_path.glob("two/checkpoints/*-of-2.safetensors"))) == 2
    assent.train(tmp_path / "benchmark", "complex", out=tmp_path / "one", changes=CHANGES)
    one, two = (load_file(tmp_path / run / "model.safetensors") for run in ("one", "two"))
    for name, weights in one.items():
        torch.testing.assert_close(two[name], weights, rtol=1e-3, atol=1e-4)
