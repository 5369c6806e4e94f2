"""The paper's tables as grids: our number, and the paper's beside it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from assent.core.counts import METRICS
from assent.reporting.grid import DASH, Cell, Grid, digits, numbers, texts, words
from assent.reporting.sample_queries import candidates_grid
from assent.reproducing import paper
from assent.reproducing.models import title
from assent.reproducing.results import RULES, Result, number

CUT = "†"
SPLITS = ("test", "valid")

Results = Mapping[str, Result]


def names_in(results: Results, first: Iterable[str] = paper.MODELS) -> list[str]:
    """The models of a table, then those of ours that the paper does not have."""
    return [*first, *(name for name in results if name not in paper.MODELS)]


def _name(name: str, results: Results) -> Cell:
    """Marked where training was cut short."""
    was_cut = name in results and results[name].cut_after is not None
    return words(f"{title(name)} {CUT}" if was_cut else title(name))


def scores_grid(results: Results, way: str, names: Iterable[str]) -> Grid:
    """Tables 2 and 4: MRR and F1 on test, thresholds found one `way` of `RULES`."""
    rows = []
    for name in names:
        ours = results.get(name)
        cells = [
            _beside(ours.mrr() if ours else np.nan, paper.mrr(name)),
            Cell(digits(ours.unfiltered_mrr() if ours else None)),
        ]
        for setting, rule in RULES[way].items():
            for of_set in paper.SETS:
                found = ours.f1(rule, of_set) if ours else np.nan
                cells.append(_beside(found, paper.f1(name, setting, of_set)))
        rows.append([_name(name, results), *cells])
    sets = (f"{setting}: {of_set}" for setting in paper.SETTINGS for of_set in paper.SETS)
    return Grid("scores", [*texts("model"), *numbers("MRR", "unfiltered", *sets)], rows)


def thresholds_grid(results: Results, way: str, names: Iterable[str]) -> Grid:
    """Appendix B.2, as probabilities."""
    rows = []
    for name in names:
        known = paper.thresholds(name) or (None,) * 4
        cells = map(_beside, _thresholds(results.get(name), way), known)
        rows.append([_name(name, results), *cells])
    return Grid("thresholds", [*texts("model"), *numbers("global", "mean", "min", "max")], rows)


def _thresholds(result: Result | None, way: str) -> tuple[float, ...]:
    """The one threshold; mean, least and greatest of the many."""
    if result is None:
        return (np.nan,) * 4
    found = result.values["thresholds"]
    one, many = found[RULES[way]["global"]], found[RULES[way]["multiple"]]
    return tuple(map(number, (one["mean"], many["mean"], many["min"], many["max"])))


def overall_grid(results: Results, way: str, names: Iterable[str]) -> Grid:
    """Appendix C.1: test, and valid in parentheses."""
    rows = []
    for name in names:
        ours = results.get(name)
        mrrs = [ours.mrr(split) if ours else np.nan for split in SPLITS]
        cells = [_pairs(mrrs, paper.overall(name, 0), places=4)]
        for column, rule in enumerate(RULES[way].values(), start=1):
            found = [_metric(ours, "f1", split, rule, "full") for split in SPLITS]
            cells.append(_pairs(found, paper.overall(name, column)))
        rows.append([_name(name, results), *cells])
    return Grid("overall", [*texts("model"), *numbers("MRR", "F1 global", "F1 multiple")], rows)


def detail_grid(results: Results, way: str, setting: str, names: Iterable[str]) -> Grid:
    """Appendix C.2 for one or many thresholds: test, and valid in parentheses."""
    rule = RULES[way][setting]
    rows = []
    for name in names:
        ours = results.get(name)
        for place, metric in enumerate(METRICS):
            cells = [
                _pairs(
                    [_metric(ours, metric, split, rule, of_set) for split in SPLITS],
                    paper.detail(name, metric, setting, of_set),
                )
                for of_set in paper.SETS_C_2
            ]
            rows.append([_name(name, results) if place == 0 else Cell(""), words(metric), *cells])
    return Grid("detail", [*texts("model", ""), *numbers(*paper.SETS_C_2)], rows)


def _metric(result: Result | None, metric: str, split: str, rule: str, of_set: str) -> float:
    return result.metric(metric, split, rule, of_set) if result else np.nan


def _beside(ours: float, papers: float | None) -> Cell:
    """`.334 (.293)`: ours, and the paper's."""
    return Cell(f"{digits(ours)} ({digits(papers)})")


def _pairs(ours: Sequence[float], papers: Sequence[float] | None, places: int = 3) -> Cell:
    """`.334 (.330) / .321 (.328)`: ours on test and on valid, and the paper's."""
    both = (_pair(ours, places), DASH if papers is None else _pair(papers, places))
    return Cell(" / ".join(both))


def _pair(values: Sequence[float], places: int) -> str:
    test, valid = (digits(value, places) for value in values)
    return f"{test} ({valid})"


def sample_grids(
    results: Results, models: Sequence[str], names: Sequence[str]
) -> Iterator[tuple[str, str, Grid]]:
    """Table 3: a query in words, a way of finding thresholds, and what the models say to it."""
    for place, sample in enumerate(results[models[0]].values["samples"]):
        right = ", ".join(names[answer] for answer in sample["answers"]) or "nothing"
        query = f"{sample['query']} (in {sample['set']}; right: {right})"
        for way, rules in RULES.items():
            said = {
                f"{title(model)}, {setting}": results[model].candidates(place, rule)
                for setting, rule in rules.items()
                for model in models
            }
            yield query, way, candidates_grid("sample", said, names.__getitem__)


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


def settings_grid(results: Results) -> Grid:
    """What was trained, with which seed, and how long that took."""
    rows = []
    for name, result in results.items():
        values = result.values
        trained, train = values["trained"], values["settings"]["train"]
        cells = (
            values["preset"],
            f"{trained['epochs']} of {train['epochs']}",
            trained["best_epoch"],
            f"{trained['minutes']:.1f}",
            f"{values['measuring_minutes']:.1f}",
            train["batch_size"] or "auto",
            f"{train['learning_rate']:g}, {train['schedule']}",
            train["stop_on"],
            train["seed"],
        )
        weights = words(values["weights"][:12], "code")
        rows.append([_name(name, results), *map(words, cells), weights])
    headings = (
        "model", "preset", "epochs", "best", "training min", "measuring min", "batch", "rate",
        "stopped on", "seed", "weights",
    )  # fmt: skip
    return Grid("settings", texts(*headings), rows)
