"""The figures of the report: which there are, and what to see in each."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assent.core.counts import METRICS
from assent.files.atomic import beside
from assent.reporting import charts
from assent.reporting.charts import Spec
from assent.reporting.subject import Subject

SVG_WIDTH = 640

MEASURES = {"f1": "F1", "mrr": "MRR", "dev-loss": "minus the dev loss"}


class Figure(NamedTuple):
    """A drawing, and what a reader should look for in it."""

    name: str
    section: str
    caption: str
    spec: Spec
    style: str = ""  # `third`, `half`, `square`; else it is as wide as the page


def figures(subjects: Sequence[Subject]) -> list[Figure]:
    """All of them; what there is no data for is left out."""
    return [*_training(subjects), *_decisions(subjects), *_scores(subjects)]


def _training(subjects: Sequence[Subject]) -> Iterator[Figure]:
    events = {line.get("event") for subject in subjects for line in subject.events}
    if "epoch" not in events:
        return
    yield Figure(
        "loss",
        "training",
        "The loss on train facts, averaged over an epoch. It should fall and level off.",
        charts.training(subjects, "epoch", "loss", "loss"),
        "half",
    )
    if "evaluation" not in events:
        return
    stops = {str(subject.settings["train"]["stop_on"]) for subject in subjects}
    measure = MEASURES.get(next(iter(stops)), "score") if len(stops) == 1 else "score"
    yield Figure(
        "valid",
        "training",
        f"{measure[0].upper()}{measure[1:]} on valid, by which the best epoch is chosen. "
        "Falling at the end means that training went on for too long.",
        charts.training(subjects, "evaluation", "score", f"{measure} on valid"),
        "half",
    )


def _decisions(subjects: Sequence[Subject]) -> Iterator[Figure]:
    told = {
        "precision": "Precision: how much of what is accepted is right.",
        "recall": "Recall: how much of what is there to find is accepted.",
        "f1": "F1: both in one number. Where intervals overlap, a difference may be luck.",
    }
    for metric in METRICS:
        drawn = charts.by_subset(subjects, metric)
        yield Figure(f"{metric}-by-subset", "decisions", told[metric], drawn, "third")
    if len(subjects) > 1:
        yield Figure(
            "mrr-and-f1",
            "ranking",
            "Were ranking well and deciding well the same, the dots would lie on a rising line.",
            charts.mrr_and_f1(subjects),
            "square",
        )
    yield Figure(
        "precision-recall",
        "curves",
        "The line is what one threshold for all relations gives as it falls; the dot is what the "
        "run really accepts. A dot above its line is what deciding relation by relation gains. "
        "Along a dashed line F1 is the same.",
        charts.curves(subjects),
        "square",
    )


def _scores(subjects: Sequence[Subject]) -> Iterator[Figure]:
    for place, subject in enumerate(subjects):
        yield Figure(
            "scores" if len(subjects) == 1 else f"scores-{place + 1}",
            "scores",
            f"{subject.name}. " * (len(subjects) > 1)
            + "Everything right of the dashed line is accepted"
            + (" for the judge to look at" if subject.judged else "")
            + ": green there is found, any other colour there is a mistake. "
            "The outermost bars hold all that lies beyond.",
            charts.separation(subject),
            "" if len(subjects) == 1 else "half",
        )
    yield Figure(
        "reliability",
        "probabilities",
        "On the dashed line, of the candidates given 70 % seven in ten are right. Below it the "
        "probabilities are too high. Dotted: what the scores say; solid: calibrated on valid, "
        "where the decider is. Hover to see how many candidates a dot stands for.",
        charts.reliability(subjects),
        "square",
    )


def write_figures(drawn: Sequence[Figure], folder: Path) -> list[Path]:
    """Each as an SVG file of its own."""
    import vl_convert

    paths = []
    for figure in drawn:
        spec = {**figure.spec, "width": SVG_WIDTH, "title": figure.spec["description"]}
        path = folder / f"{figure.name}.svg"
        with beside(path) as part:
            part.write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")
        paths.append(path)
    return paths
