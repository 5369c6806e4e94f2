"""The paper's tables as Markdown: our number, and the paper's beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from assent.core.counts import METRICS
from assent.reporting.results import DASH, share
from assent.reproducing import paper_numbers as paper
from assent.reproducing.markdown import markdown_table
from assent.reproducing.results import RULES, Result, number
from assent.reproducing.specs import PAPER, title

CUT = "†"
SPLITS = ("test", "valid")
IN_TABLE_2 = tuple(name for (name,) in paper.TABLE_2)
IN_TABLE_4 = ("transe-64", "region-64", "region-sphere-64")
F1_COLUMNS = tuple(f"{setting}: {name}" for setting in paper.SETTINGS for name in paper.SETS)

Results = Mapping[str, Result]


def names_in(results: Results, first: Sequence[str] = PAPER) -> list[str]:
    """The models of a table, then those of ours that it does not have."""
    return [*first, *(name for name in results if name not in PAPER)]


def name_cell(name: str, results: Results) -> str:
    """Marked where training was cut short."""
    was_cut = name in results and results[name].cut_after is not None
    return f"{title(name)} {CUT}" if was_cut else title(name)


def scores_table(results: Results, way: str, names: Iterable[str]) -> str:
    """Tables 2 and 4: MRR and F1 on test, thresholds found one `way` of `RULES`."""
    rows = []
    for name in names:
        ours = results.get(name)
        cells = [beside(ours.mrr() if ours else np.nan, paper.mrr(name))]
        cells.append(digits_of(ours.unfiltered_mrr() if ours else None))
        for setting, rule in RULES[way].items():
            for of_set in paper.SETS:
                found = ours.f1(rule, of_set) if ours else np.nan
                cells.append(beside(found, paper.f1(name, setting, of_set)))
        rows.append([name_cell(name, results), *cells])
    return markdown_table(("model", "MRR", "unfiltered", *F1_COLUMNS), rows)


def thresholds_table(results: Results, way: str, names: Iterable[str]) -> str:
    """Appendix B.2, as probabilities."""
    rows = []
    for name in names:
        known = paper.thresholds(name) or (None,) * 4
        rows.append(
            [
                name_cell(name, results),
                *map(beside, _thresholds(results.get(name), way), known),
            ]
        )
    return markdown_table(("model", "global", "mean", "min", "max"), rows)


def _thresholds(result: Result | None, way: str) -> tuple[float, ...]:
    """The one threshold; mean, least and greatest of the many."""
    if result is None:
        return (np.nan,) * 4
    found = result.values["thresholds"]
    one, many = found[RULES[way]["global"]], found[RULES[way]["multiple"]]
    return tuple(map(number, (one["mean"], many["mean"], many["min"], many["max"])))


def overall_table(results: Results, way: str, names: Iterable[str]) -> str:
    """Appendix C.1: test, and valid in parentheses."""
    rows = []
    for name in names:
        ours = results.get(name)
        cells = [pair([ours.mrr(split) if ours else np.nan for split in SPLITS], digits=4)]
        cells[0] += _and_paper(paper.overall(name, 0), digits=4)
        for column, rule in enumerate(RULES[way].values(), start=1):
            found = [_metric(ours, "f1", split, rule, "full") for split in SPLITS]
            cells.append(pair(found) + _and_paper(paper.overall(name, column)))
        rows.append([name_cell(name, results), *cells])
    return markdown_table(("model", "MRR", "F1 global", "F1 multiple"), rows)


def detail_table(results: Results, way: str, setting: str, names: Iterable[str]) -> str:
    """Appendix C.2 for one or many thresholds: test, and valid in parentheses."""
    rule = RULES[way][setting]
    rows = []
    for name in names:
        ours = results.get(name)
        for place, metric in enumerate(METRICS):
            cells = [
                pair([_metric(ours, metric, split, rule, of_set) for split in SPLITS])
                + _and_paper(paper.detail(name, metric, setting, of_set))
                for of_set in paper.SETS_C_2
            ]
            rows.append([name_cell(name, results) if place == 0 else "", metric, *cells])
    return markdown_table(("model", "", *paper.SETS_C_2), rows)


def _metric(result: Result | None, metric: str, split: str, rule: str, of_set: str) -> float:
    return result.metric(metric, split, rule, of_set) if result else np.nan


def beside(ours: float, papers: float | None) -> str:
    """`.334 (.293)`: ours, and the paper's."""
    return f"{digits_of(ours)} ({digits_of(papers)})"


def pair(values: Sequence[float], digits: int = 3) -> str:
    """`.334 (.330)`: test, and valid."""
    test, valid = (digits_of(value, digits) for value in values)
    return f"{test} ({valid})"


def _and_paper(values: Sequence[float] | None, digits: int = 3) -> str:
    return " / " + (pair(values, digits) if values else DASH)


def digits_of(value: float | None, digits: int = 3) -> str:
    """As the paper writes numbers: without the zero; a dash for what there is not."""
    if value is None or np.isnan(value):
        return DASH
    return share(value) if digits == 3 else f"{value:.{digits}f}".removeprefix("0")


def cut_notes(results: Results) -> Iterator[str]:
    """Whose training was cut short, and when."""
    for name, result in results.items():
        if result.cut_after is not None:
            trained = result.values["trained"]
            epochs = result.values["settings"]["train"]["epochs"]
            yield (
                f"{CUT} {title(name)}: training was cut after {result.cut_after:.1f} minutes, "
                f"{trained['epochs']} of at most {epochs} epochs."
            )


def settings_table(results: Results) -> str:
    """What was trained, with which seed, and how long that took."""
    rows = []
    for name, result in results.items():
        values = result.values
        trained, train = values["trained"], values["settings"]["train"]
        rows.append(
            [
                name_cell(name, results),
                values["preset"],
                f"{trained['epochs']} of {train['epochs']}",
                str(trained["best_epoch"]),
                f"{trained['minutes']:.1f}",
                f"{values['measuring_minutes']:.1f}",
                f"{train['batch_size'] or 'auto'}",
                f"{train['learning_rate']:g}, {train['schedule']}",
                train["stop_on"],
                str(train["seed"]),
                f"`{values['weights'][:12]}`",
            ]
        )
    header = (
        "model", "preset", "epochs", "best", "training min", "measuring min", "batch", "rate",
        "stopped on", "seed", "weights",
    )  # fmt: skip
    return markdown_table(header, rows)
