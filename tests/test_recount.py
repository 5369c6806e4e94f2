"""F1 counted again from a file of decisions and the published data, with none of our code.

python tests/test_recount.py fb14k-qaq DECISIONS prints it for a run of your own.
"""

import gzip
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path


def recounted(published, decisions):
    """Precision, recall and F1 of the decisions about the published test queries."""
    taken, accepted = defaultdict(set), 0
    for line in decisions.read_text(encoding="utf-8").splitlines():
        side, anchor, relation, entity, *_ = line.split("\t")
        taken[side, anchor, relation].add(entity)
        accepted += 1
    correct = relevant = 0
    for side, name in (("tail", "test_obj.txt.gz"), ("head", "test_subj.txt.gz")):
        for line in gzip.decompress((published / name).read_bytes()).decode().splitlines():
            first, relation, last = line.split("\t")
            anchor, answers = (first, last) if side == "tail" else (last, first)
            relevant += len(answers.split())
            correct += len(taken[side, anchor, relation] & set(answers.split()))
    return correct / accepted, correct / relevant, 2 * correct / (accepted + relevant)


def test_the_printed_f1_is_that_of_the_decisions_file_to_the_last_digit(data, tmp_path):
    published, run, decisions = data / "fb14k-qaq", tmp_path / "run", tmp_path / "decisions"

    def assent(*words):
        command = [sys.executable, "-m", "assent.cli", *map(str, words)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    quick = ["model.dim=16", "train.epochs=1", "train.batch_size=1024", "train.evaluate_every=0"]
    settings = [word for change in quick for word in ("--set", change)]
    assent("train", published, "--model", "complex", "--out", run, *settings)
    assent("tune", run, "--rule", "per-relation")
    printed = json.loads(assent("evaluate", run, "--decisions", decisions, "--json"))
    found = printed["classification"]["full"]
    assert found["correct"] > 0
    assert recounted(published, decisions) == (found["precision"], found["recall"], found["f1"])


if __name__ == "__main__":
    print("precision {}\nrecall {}\nF1 {}".format(*recounted(*map(Path, sys.argv[1:]))))
