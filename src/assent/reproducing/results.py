"""What was measured of a model, kept as JSON, and whether it is still true."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard

from assent.core.counts import METRICS, Counts
from assent.errors import DataError
from assent.files.atomic import beside
from assent.files.guarding import refuse_special
from assent.files.runs import WEIGHTS
from assent.reporting.sample_queries import Candidate, Candidates

FORMAT = 3
RULES = {  # how thresholds are found -> the rule for one of them, and for many
    "paper": {"global": "paper-global", "multiple": "paper-relation"},
    "exact": {"global": "global", "multiple": "per-relation"},
}


@dataclass(frozen=True, slots=True, eq=False)
class Result:
    """A model's file of results; `values` is what `measuring.measured` gave, and the origin."""

    name: str
    values: dict[str, Any]

    @property
    def cut_after(self) -> float | None:
        """Minutes, where training was cut short."""
        found: float | None = self.values["trained"]["cut_after"]
        return found

    def mrr(self, split: str = "test") -> float:
        """Filtered; most probably, so is the paper's."""
        return number(self.values["mrr"][split])

    def unfiltered_mrr(self) -> float:
        """Only train answers left out, as §4 has it."""
        return number(self.values["unfiltered_mrr"]["test"])

    def metric(self, metric: str, split: str, rule: str, of_set: str) -> float:
        counts = Counts(*self.values["counts"][split][rule][of_set])
        return float(METRICS[metric](counts))

    def f1(self, rule: str, of_set: str = "full") -> float:
        return self.metric("f1", "test", rule, of_set)

    def candidates(self, sample: int, rule: str) -> Candidates:
        """What the model said to one of the sample queries, decided by a rule."""
        said = self.values["samples"][sample]["candidates"][rule]
        best = [Candidate(**candidate) for candidate in said["best"]]
        return Candidates(**{**said, "best": best})


def number(value: float | None) -> float:
    """JSON has no nan: null stands for what is undefined."""
    return float("nan") if value is None else float(value)


def all_rules() -> list[str]:
    """Every rule that the tables are made with."""
    return [rule for rules in RULES.values() for rule in rules.values()]


def result_file(out: Path, preset: str, name: str) -> Path:
    return out / "results" / preset / f"{name}.json"


def run_folder(out: Path, preset: str, name: str) -> Path:
    return out / "runs" / preset / name


def read_result(path: Path, name: str) -> Result | None:
    """None where there is no file, or one that cannot be used."""
    try:
        refuse_special(path)
        values = json.loads(path.read_text(encoding="utf-8"))
        return Result(name, values) if values["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, DataError):
        return None


def write_result(path: Path, values: dict[str, Any]) -> None:
    with beside(path) as part:
        text = json.dumps({"format": FORMAT, **values}, allow_nan=False)
        part.write_text(text + "\n", encoding="utf-8")


def results_there(
    runs: Path, results: Path, preset: str, benchmark: str, first: Sequence[str] = ()
) -> dict[str, Result]:
    """Whatever was measured before and still is of the weights that its run has.

    The models named in `first` come first.
    """
    found: dict[str, Result] = {}
    for path in sorted(result_file(results, preset, "any").parent.glob("*.json")):
        result = read_result(path, path.stem)
        weights = weights_sum(run_folder(runs, preset, path.stem))
        if is_of(result, {"weights": weights, "benchmark": benchmark}):
            found[path.stem] = result
    return {name: found[name] for name in (*first, *found) if name in found}


def origin(folder: Path, settings: dict[str, Any], benchmark: str) -> dict[str, Any]:
    """What a result depends on: weights, settings, benchmark."""
    return {"weights": weights_sum(folder), "settings": settings, "benchmark": benchmark}


def is_of(result: Result | None, current: dict[str, Any]) -> TypeGuard[Result]:
    """Whether a result was measured of just this."""
    if result is None or current["weights"] is None:
        return False
    return all(result.values.get(key) == value for key, value in current.items())


def weights_sum(folder: Path) -> str | None:
    """A checksum of the weights of a run; None where there are none."""
    path = folder / WEIGHTS
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
