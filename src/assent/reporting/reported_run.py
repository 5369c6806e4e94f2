"""A run as the report shows it: all that was measured of it, and the charts of that."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from assent.core.benchmark import Benchmark
from assent.core.counts import METRICS, Counts, precision, recall
from assent.core.decider import Decider
from assent.measuring.evaluation import Evaluation
from assent.measuring.separation import Separation
from assent.reporting import charts
from assent.reporting.chart import Chart
from assent.reporting.charts import Curve, Dot
from assent.reporting.decisions import DecidedRun, metric_name
from assent.reporting.grid import counted, measure_name
from assent.reporting.sample_queries import Candidates, sample_rows

SAMPLES = 2  # queries of each kind
METRIC_CAPTIONS = {
    "precision": "Precision: how much of what is accepted is right.",
    "recall": "Recall: how much of what is there to find is accepted.",
    "f1": "F1: both in one number. Where intervals overlap, a difference may be luck.",
}


@dataclass(frozen=True, eq=False)
class ReportedRun:
    """All that a report shows of a run; nothing in it needs the model any more."""

    name: str
    dataset: str  # what the benchmark is called
    benchmark: Benchmark
    settings: Mapping[str, Mapping[str, Any]]  # section -> key -> value
    decider: Decider
    evaluation: Evaluation  # on test
    separation: Separation
    curve: Counts  # of arrays (point,)   as one threshold for all relations falls
    candidates: Sequence[Candidates]  # of the sample queries, the same for all runs of a benchmark
    events: Sequence[Mapping[str, Any]] = field(default=())  # of its trace

    @property
    def model(self) -> str:
        """`complex`, or `4 x complex` of a run with members."""
        settings = self.settings["model"]
        members = f"{settings['members']} x " if settings.get("members", 1) > 1 else ""
        return f"{members}{settings['name']}"

    @property
    def dim(self) -> int | None:
        """How many dimensions its vectors have; None of a model that has none."""
        return self.settings["model"].get("dim")

    @property
    def epochs(self) -> int | None:
        """How many epochs were trained to their end; None where no trace tells."""
        return max((int(epoch) for epoch, _ in _points(self, "epoch", "seconds")), default=None)

    @property
    def made(self) -> str:
        """`complex, 256 dimensions, 40 epochs`, of what is known of these."""
        sizes = ((self.dim, "dimension"), (self.epochs, "epoch"))
        return ", ".join([self.model, *(counted(n, what) for n, what in sizes if n is not None)])

    @property
    def decided(self) -> DecidedRun:
        return DecidedRun(self.name, self.decider, self.evaluation)


class Section(NamedTuple):
    """Charts of one section of the page, and how wide they are there."""

    name: str
    width: str  # `third`, `half`, `square`, or `` as wide as the page
    charts: Sequence[Chart]


def sampled_rows(benchmark: Benchmark) -> list[int]:
    """The places in test of the queries that the page shows, each once."""
    return list(dict.fromkeys(row for _, row in sample_rows(benchmark, SAMPLES)))


def sections_of(runs: Sequence[ReportedRun]) -> list[Section]:
    """All charts of a report; what there is no data for is left out."""
    evaluations = {run.name: run.evaluation for run in runs}
    decisions = [
        charts.by_subset(metric, METRIC_CAPTIONS.get(metric, metric_name(metric)), evaluations)
        for metric in METRICS
    ]
    found = [
        Section("training", "half", list(_training(runs))),
        Section("decisions", "third", decisions),
        Section("curves", "square", [_curves(runs)]),
        Section("scores", "" if len(runs) == 1 else "half", list(_scores(runs))),
        Section(
            "probabilities",
            "square",
            [
                charts.reliability(
                    "On the dashed line, of the candidates given 70 % seven in ten are right. "
                    "Below it the probabilities are too high. Dotted: what the scores say; solid: "
                    "calibrated on valid, where the decider is. Hover to see how many candidates a "
                    "dot stands for.",
                    evaluations,
                )
            ],
        ),
    ]
    if len(runs) > 1:
        dots = {run.name: [Dot(run.evaluation.mrr, run.evaluation.f1())] for run in runs}
        caption = (
            "Were ranking well and deciding well the same, the dots would lie on a rising line."
        )
        chart = charts.mrr_and_f1("mrr-and-f1", "MRR beside F1", caption, dots)
        found.append(Section("ranking", "square", [chart]))
    return found


def _training(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    losses = {run.name: list(_points(run, "epoch", "loss")) for run in runs}
    if any(losses.values()):
        caption = "The loss on train facts, averaged over an epoch. It should fall and level off."
        yield charts.by_epoch("loss", "loss", caption, losses)
    scores = {run.name: list(_points(run, "evaluation", "score")) for run in runs}
    if any(scores.values()):
        stops = {str(run.settings["train"]["stop_on"]) for run in runs if "train" in run.settings}
        measure = measure_name(stops.pop()) if len(stops) == 1 else "score"
        caption = (
            f"{measure[0].upper()}{measure[1:]} on valid, by which the best epoch is chosen. "
            "Falling at the end means that training went on for too long."
        )
        yield charts.by_epoch("valid", f"{measure} on valid", caption, scores)


def _points(run: ReportedRun, event: str, key: str) -> Iterator[tuple[int, float]]:
    """Epoch and value of each event of a trace that has both."""
    for line in run.events:
        values = line.get("epoch"), line.get(key)
        if line.get("event") == event and all(map(_is_number, values)):
            yield line["epoch"], line[key]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and bool(np.isfinite(value))


def _curves(runs: Sequence[ReportedRun]) -> Chart:
    found = {}
    for run in runs:
        counts = run.evaluation.classified.of("full")
        stop = Dot(recall(counts), precision(counts))
        found[run.name] = Curve(recall(run.curve), precision(run.curve), [stop])
    caption = (
        "The line is what one threshold for all relations gives as it falls; the dot is what the "
        "run really accepts. A dot above its line is what deciding relation by relation gains. "
        "Along a dashed line F1 is the same."
    )
    return charts.precision_recall("Precision and recall", caption, found)


def _scores(runs: Sequence[ReportedRun]) -> Iterator[Chart]:
    for place, run in enumerate(runs, 1):
        counted = run.separation.floors is not None
        yield charts.separation(
            "scores" if len(runs) == 1 else f"scores-{place}",
            f"Scores on test, {run.name}",
            f"The scores of {run.name}.",
            run.separation.shares(),
            0.0 if counted else _floor(run),
            "score, counted from its relation's floor" if counted else "score (logit)",
            "can be accepted",
        )


def _floor(run: ReportedRun) -> float | None:
    """The one floor of a decider; None where nothing is accepted."""
    floors = floors_asked(run.decider, run.benchmark)
    return float(floors[0]) if len(floors) and np.isfinite(floors[0]) else None


def floors_asked(decider: Decider, benchmark: Benchmark) -> charts.Values:
    """The different floors of the slots that test asks about."""
    return np.unique(decider.floors.values[np.unique(benchmark.test.relations)])
