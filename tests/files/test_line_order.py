"""The order of the input's lines leaves no trace in a benchmark."""

import json
import random
from pathlib import Path

import pytest

from assent.building.recipe import build
from assent.files.benchmarks import save
from assent.files.triples import read
from toy import crowd, named_facts

KB = crowd(seed=7, num_entities=40, num_relations=3, facts_each=6)
FACTS = sorted(named_facts(KB.facts, KB.vocabulary))
TYPES = {f"e{number}": ["even", "odd"][number % 2 :] for number in range(40)}


def put(folder: Path, seed: int, suffix: str) -> Path:
    """The same graph with its lines in another order, some of them twice."""
    rng = random.Random(seed)
    facts = FACTS + FACTS[:20]
    rng.shuffle(facts)
    names = sorted(TYPES)
    rng.shuffle(names)
    folder.mkdir()
    line = {"tsv": "{}\t{}\t{}\n", "nt": "<urn:{}> <urn:{}> <urn:{}> .\n"}[suffix]
    start = {"tsv": "", "nt": "urn:"}[suffix]
    (folder / f"train.{suffix}").write_text("".join(line.format(*fact) for fact in facts))
    (folder / "entity_types.json").write_text(json.dumps({start + n: TYPES[n] for n in names}))
    labels = "".join(f"{start}{name}\tentity {name}\n" for name in reversed(names))
    (folder / "entity_names.tsv").write_text(labels)
    return folder


def made_from(folder: Path, deal: str, seed: int) -> dict[str, bytes]:
    """The files of the benchmark that is built from this graph."""
    benchmark = build(read(folder), removed=4, deal=deal, seed=seed)
    save(benchmark, folder.parent / "benchmark")
    return {path.name: path.read_bytes() for path in (folder.parent / "benchmark").iterdir()}


@pytest.mark.parametrize("deal", ["by-fact", "by-query"])
@pytest.mark.parametrize("suffix", ["tsv", "nt"])
def test_shuffled_lines_give_the_same_bytes(suffix, deal, tmp_path):
    made = []
    for seed in range(3):
        (tmp_path / str(seed)).mkdir()
        made.append(made_from(put(tmp_path / str(seed) / "kb", seed, suffix), deal, seed=11))
    assert made[0] == made[1] == made[2]
    assert {"manifest.json", "entities.tsv", "train.tsv", "entity_types.tsv"} <= set(made[0])


def test_another_seed_gives_another_benchmark(tmp_path):
    made = []
    for seed in range(2):
        (tmp_path / str(seed)).mkdir()
        made.append(made_from(put(tmp_path / str(seed) / "kb", 0, "tsv"), "by-fact", seed=seed))
    assert made[0]["valid.tsv"] != made[1]["valid.tsv"]
