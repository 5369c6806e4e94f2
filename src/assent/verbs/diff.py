"""diff: what came, went or changed its mind between two completions, or two benchmarks."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from assent.completing.completing import Completion
from assent.core.arrays import Ids
from assent.core.benchmark import SPLITS, Benchmark
from assent.core.considered import FREE, Considered
from assent.core.new_facts import ACCEPTED, ENTAILED
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from assent.files.benchmarks import is_benchmark, load
from assent.files.completions import considered_by
from assent.files.decided import REFUSED, Decided, Named, read_decided
from assent.files.fact_rows import rows_of_facts
from assent.files.places import COMPLETION, FACTS, SETTINGS
from assent.verbs.deciders import model_of
from assent.verbs.runs import load_run

CAME, WENT, CHANGED = "came", "went", "changed"


class Difference(NamedTuple):
    """A fact that only one side has, or about which both decided differently."""

    kind: str  # CAME, WENT or CHANGED
    head: str
    relation: str
    tail: str
    before: Decided | None
    after: Decided | None
    why: str


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """All differences between two completions or benchmarks, by relation, head and tail."""

    what: str  # `completions` or `benchmarks`
    facts: tuple[Difference, ...]
    same: int  # facts that both sides have, with the same decision
    entities: tuple[tuple[str, ...], tuple[str, ...]]  # of benchmarks: those that came, that went
    relations: tuple[tuple[str, ...], tuple[str, ...]]
    labels: Mapping[str, str]  # of entities and relations, as far as either side has them

    def of(self, kind: str) -> list[Difference]:
        return [each for each in self.facts if each.kind == kind]


class _Side:
    """One completion: its facts, and what its run tells about facts that are not among them."""

    def __init__(
        self,
        facts: Mapping[Named, Decided],
        benchmark: Benchmark | None = None,
        considered: Considered | None = None,
    ) -> None:
        self.facts, self.benchmark, self.considered = facts, benchmark, considered

    @cached_property
    def known(self) -> set[Named]:
        """All facts of its graph."""
        if self.benchmark is None:
            return set()
        whole = self.benchmark.whole()
        return set(_named(whole.train, whole.vocabulary))

    @cached_property
    def names(self) -> set[str]:
        """Its entities and relations."""
        if self.benchmark is None:
            return set()
        names = self.benchmark.whole().vocabulary
        return {*names.entities, *names.relations}

    @cached_property
    def labels(self) -> dict[str, str]:
        """Its entities and relations as people read them, by their names."""
        found = {} if self.benchmark is None else _labels(self.benchmark.whole().vocabulary)
        for fact, decided in self.facts.items():
            found |= zip(fact, decided.labels or (), strict=False)
        return found

    @cached_property
    def looked_at(self) -> dict[Named, tuple[float, str]]:
        """The candidates that were looked at: how probable, and what bars them."""
        if self.considered is None:
            return {}
        seen = self.considered
        bars = ["" if bar == FREE else seen.reasons[bar] for bar in seen.bars.tolist()]
        values = zip(seen.probabilities.tolist(), bars, strict=True)
        return dict(zip(_named(seen.facts, seen.vocabulary), values, strict=True))

    def why_not(self, fact: Named, now: str, labels: Mapping[str, str]) -> str:
        """Why a fact is not among those of this side; `now` is the word for its time."""
        if fact in self.known:
            return f"known {now}"
        if self.names and (strange := [name for name in fact if name not in self.names]):
            return f"{labels.get(strange[0], strange[0])} is not in the graph {now}"
        if fact in self.looked_at and self.considered is not None:
            probability, bar = self.looked_at[fact]
            if bar:
                return bar
            relation = self.considered.vocabulary.relations.index(fact[1])
            threshold = self.considered.thresholds[relation]
            return f"probability {probability:.3f}, threshold {threshold:.3f}"
        if self.considered is not None:
            return "less probable than any that was looked at"
        return "not among its facts"


def diff(
    before: Completion | Benchmark | str | Path,
    after: Completion | Benchmark | str | Path,
    *,
    known_before: Benchmark | str | Path | None = None,
    known_after: Benchmark | str | Path | None = None,
) -> Differences:
    """What came, went or changed its mind from `before` to `after`, and why.

    Both are completions (of memory, a file of `assent complete`, or the folder of a run that was
    completed), or both are benchmarks. Why a fact is on one side alone, the run's folder tells; for
    files, the benchmarks that they were made on tell which facts were known.
    """
    sides = [x if isinstance(x, Completion | Benchmark) else Path(x) for x in (before, after)]
    benchmarks = [
        x if isinstance(x, Benchmark) else load(x)
        for x in sides
        if not isinstance(x, Completion) and (isinstance(x, Benchmark) or is_benchmark(x))
    ]
    if len(benchmarks) == len(sides):
        return _benchmarks(*benchmarks)
    first, last = (
        _completion(x, known) for x, known in zip(sides, (known_before, known_after), strict=True)
    )
    found, same, labels = [], 0, {**first.labels, **last.labels}
    for fact in sorted({*first.facts, *last.facts}, key=lambda fact: (fact[1], fact[0], fact[2])):
        was, is_now = first.facts.get(fact), last.facts.get(fact)
        if was is not None and is_now is not None:
            if was.decision == is_now.decision:
                same += 1
                continue
            found.append(Difference(CHANGED, *fact, was, is_now, _why_changed(was, is_now)))
        elif is_now is None:
            found.append(Difference(WENT, *fact, was, None, last.why_not(fact, "now", labels)))
        else:
            why = first.why_not(fact, "before", labels)
            found.append(Difference(CAME, *fact, None, is_now, why))
    return Differences("completions", tuple(found), same, ((), ()), ((), ()), labels)


def _completion(source: object, known: Benchmark | str | Path | None) -> _Side:
    benchmark = load(known) if isinstance(known, str | Path) else known
    if isinstance(source, Completion):
        rows = rows_of_facts(source.facts)
        facts = {
            (row["head"], row["relation"], row["tail"]): Decided(
                row["decision"],
                row["probability"],
                row["score"],
                math.nan if row["threshold"] is None else row["threshold"],
                labels=(row["head_name"], row["relation_name"], row["tail_name"]),
            )
            for row in rows
        }
        return _Side(facts, benchmark, source.considered)
    if not isinstance(source, Path):
        raise DataError("a benchmark beside a completion; give two of a kind")
    if source.is_dir():
        return _of_run(source, benchmark)
    if not source.exists() and source.suffix != ".kgx":
        raise DataError(f"{source}: no such file or folder")
    return _Side(read_decided(source), benchmark)


def _of_run(folder: Path, benchmark: Benchmark | None) -> _Side:
    if is_benchmark(folder):
        raise DataError(f"{folder}: a benchmark beside a completion; give two of a kind")
    if not (folder / SETTINGS).exists():
        raise DataError(f"{folder}: no run and no benchmark; expected one, or a file of facts")
    if not any((folder / name).exists() for name in (FACTS, COMPLETION)):
        raise DataError(f"{folder}: was not completed yet; run assent complete on it first")
    run = load_run(folder)
    names = [run.benchmark.whole().vocabulary, run.benchmark.vocabulary]
    facts = read_decided(folder / FACTS)  # first: it can say what is wrong, and in which line
    considered, _ = considered_by(folder, names, model_of(run))
    return _Side(facts, benchmark or run.benchmark, considered)


def _why_changed(was: Decided, is_now: Decided) -> str:
    """What makes the difference: another probability, another threshold, or the schema."""
    if is_now.decision == REFUSED:
        return is_now.reason
    if was.decision == REFUSED:
        return f"no longer {was.reason}"
    if is_now.decision == ENTAILED:
        return "the stated schema entails it now"
    if was.decision == ENTAILED:
        return "the stated schema entails it no more"
    parts = []
    if not math.isnan(was.probability) and not math.isnan(is_now.probability):
        more = is_now.probability >= was.probability
        parts.append(
            f"{'more' if more else 'less'} probable: {was.probability:.3f} -> "
            f"{is_now.probability:.3f}"
        )
    if math.isfinite(was.threshold) and math.isfinite(is_now.threshold):
        higher = is_now.threshold > was.threshold
        # the score alone may explain it: then the threshold is not to blame
        if higher == (is_now.decision != ACCEPTED) and not math.isclose(
            was.threshold, is_now.threshold, abs_tol=1e-3
        ):
            parts.append(
                f"{'higher' if higher else 'lower'} threshold: {was.threshold:.3f} -> "
                f"{is_now.threshold:.3f}"
            )
    return "; ".join(parts) or "the files do not say"


def _benchmarks(before: Benchmark, after: Benchmark) -> Differences:
    """Facts by the split that they are in; a fact that moved to another one has changed."""
    first, last = _states(before), _states(after)
    found, same = [], 0
    for fact in sorted({*first, *last}, key=lambda fact: (fact[1], fact[0], fact[2])):
        was, is_now = first.get(fact), last.get(fact)
        if was == is_now:
            same += 1
            continue
        kind = CAME if was is None else WENT if is_now is None else CHANGED
        left, right = (None if state is None else Decided(state) for state in (was, is_now))
        why = f"{was or 'nowhere'} -> {is_now or 'nowhere'}"
        found.append(Difference(kind, *fact, left, right, why))
    mine, theirs = (x.whole().vocabulary for x in (before, after))
    return Differences(
        "benchmarks",
        tuple(found),
        same,
        _apart(mine.entities, theirs.entities),
        _apart(mine.relations, theirs.relations),
        {**_labels(mine), **_labels(theirs)},
    )


def _states(benchmark: Benchmark) -> dict[Named, str]:
    """Each fact with where it is: train, valid, test, both of these, or removed."""
    found: dict[Named, str] = {}
    for split in SPLITS:
        for fact in _named(benchmark.facts(split), benchmark.vocabulary):
            found[fact] = f"{found[fact]} and {split}" if fact in found else split
    found |= dict.fromkeys(_named(benchmark.train, benchmark.vocabulary), "train")
    if benchmark.removed is not None:
        removed = _named(benchmark.removed.facts, benchmark.removed.vocabulary)
        found |= dict.fromkeys(removed, "removed")
    return found


def _apart(
    first: tuple[str, ...], last: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return tuple(sorted({*last} - {*first})), tuple(sorted({*first} - {*last}))


def _labels(names: Vocabulary) -> dict[str, str]:
    """The entities and relations as people read them, by their names."""
    return {
        **{name: names.entity(place) for place, name in enumerate(names.entities)},
        **{name: names.relation(place) for place, name in enumerate(names.relations)},
    }


def _named(facts: Ids, names: Vocabulary) -> Iterator[Named]:
    entities, relations = names.entities, names.relations
    for head, relation, tail in np.asarray(facts).tolist():
        yield entities[head], relations[relation], entities[tail]
