"""Deciders and judges as files of a run."""

from pathlib import Path

from assent.assessing.tuning import JUDGE
from assent.core.benchmark import Benchmark
from assent.deciding.rules import Decider
from assent.files.deciders import decider_file, read_decider, read_probabilities, write_decider
from assent.files.judges import Particulars, read_judge, write_trees
from assent.judging.judge import FOLDS, Judge, Source
from assent.judging.trees import Forest


def load_decider(folder: str | Path, benchmark: Benchmark) -> Decider | Judge:
    """What `assent tune` found for a run."""
    path = decider_file(Path(folder))
    rule, objective, thresholds, found = read_decider(path, benchmark.vocabulary)
    if rule != JUDGE:
        probabilities = read_probabilities(path, benchmark.vocabulary)
        return Decider(rule, objective, thresholds, found, probabilities)
    names, cuts, sources, arrays = read_judge(path, benchmark.vocabulary)
    forest = Forest.of_arrays(arrays, len(names), FOLDS)
    heard = tuple(Source(*source) for source in sources)
    return Judge(objective, thresholds, names, forest, cuts, heard, found)


def save_decider(decider: Decider | Judge, folder: str | Path, benchmark: Benchmark) -> Path:
    """Puts a decider into a run folder, or into a file of its own; a judge's trees beside it."""
    path, stated = decider_file(Path(folder)), None
    if isinstance(decider, Judge):
        sources = tuple((source.path, source.sha256) for source in decider.sources)
        arrays = decider.forest.arrays()
        particulars = Particulars(decider.names, decider.cuts, sources, arrays)
        stated = write_trees(path, particulars, benchmark.vocabulary)
    write_decider(
        path,
        decider.rule,
        decider.objective,
        decider.thresholds,
        decider.found,
        benchmark.vocabulary,
        stated,
        decider.probabilities,
    )
    return path
