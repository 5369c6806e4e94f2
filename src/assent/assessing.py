"""What a model is worth on a benchmark: thresholds found on valid, decisions on test, measures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from assent.adapters.popularity import Popularity
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.counts import f1
from assent.core.facts import KnowledgeBase
from assent.core.scores import Collector, QueriesDone, ScoreBlock, collect
from assent.core.thresholds import Thresholds
from assent.deciding.calibrating import Tally, calibrated
from assent.deciding.curves import Curves
from assent.deciding.objectives import FBeta, Objective
from assent.deciding.objectives import objective as parse_objective
from assent.deciding.paper import Levels
from assent.deciding.promising import Promise, promised
from assent.deciding.rules import GRID_RULES, RULES, Decider, tune_on_grid
from assent.deciding.rules import tune as tune_thresholds
from assent.deciding.shortlisting import Above, Highest
from assent.errors import ConfigError, DataError
from assent.files.deciders import (
    decider_file,
    read_decider,
    read_probabilities,
    write_decider,
)
from assent.files.judges import Particulars, read_judge, write_trees
from assent.files.triples import read
from assent.judging.features import features
from assent.judging.graph import Graph
from assent.judging.judge import FOLDS, PER_ANSWER, Judge, Source, train_judge
from assent.judging.spreads import Spreads
from assent.judging.trees import Forest
from assent.measuring.abstaining import Tops, abstaining
from assent.measuring.calibration import Reliability, recalibrated
from assent.measuring.classification import Classified
from assent.measuring.evaluation import Evaluation
from assent.measuring.pairs import BestPairs, Found, K, PairRanking, every_head, pair_facts
from assent.measuring.plain import plain
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.measuring.triples import ScoredFacts, TripleClassification, labelled
from assent.models import Model
from assent.scoring import PairScorer, Scorer, score, score_facts
from assent.training.losses import dev_loss

JUDGE = "judge"  # the rule that is learned
PRECISION = "precision"  # the rule that promises
SHOWN = ("full", "C", "C+F", "I")  # what a judge is shown to reach on valid
NOBODY: Mapping[str, Any] = MappingProxyType({})


def unheard(done: int, total: int) -> None:
    """Tells nobody."""


class Scored(Protocol):
    """A benchmark, and anything that scores its queries: a run, or a model from elsewhere."""

    @property
    def benchmark(self) -> Benchmark: ...

    @property
    def model(self) -> Scorer: ...


def tune(
    run: Scored,
    rule: str = "per-relation",
    objective: str = "f1",
    progress: QueriesDone = unheard,
    others: Mapping[str, Scored] = NOBODY,
    precision: float | None = None,
    confidence: float | None = None,
) -> Decider | Judge:
    """Finds thresholds on valid, or trains a judge there.

    Objectives: f1, f and another balance (f0.5, f2), precision=P, recall=R. A judge also hears
    what the models of other runs, by folder, say. The rule `precision` promises a precision (0.9)
    with a confidence (0.95).
    """
    aim = parse_objective(objective)
    queries, num_slots = run.benchmark.valid, 2 * run.benchmark.vocabulary.num_relations
    refuse_unknown(rule, [*RULES, PRECISION, *GRID_RULES, JUDGE], "rule")
    if others and rule != JUDGE:
        raise ConfigError(f"{rule}: only a judge can hear several models")
    promise = {"precision": precision, "confidence": confidence}
    given = {name: value for name, value in promise.items() if value is not None}
    if given and rule != PRECISION:
        raise ConfigError(f"{rule}: promises nothing; {', '.join(given)} belong to rule precision")
    if rule == PRECISION:
        if aim != FBeta():
            raise ConfigError("precision: takes a precision and a confidence, no other objective")
        return promising(run, **given, progress=progress)
    blocks = _scored(run, "valid", progress)
    if rule in GRID_RULES:
        levels = Levels(queries, num_slots)
        collect(blocks, levels)
        return tune_on_grid(rule, levels, aim)
    if rule == JUDGE:
        return _tune_judge(run, others, blocks, aim)
    highest, tally = Highest(queries, num_slots), Tally(num_slots)
    collect(blocks, highest, tally)
    decider = tune_thresholds(rule, shortlist := highest.result(), aim)
    return replace(decider, probabilities=calibrated(shortlist, tally))


def promising(
    run: Scored,
    precision: float = Promise.precision,
    confidence: float = Promise.confidence,
    progress: QueriesDone = unheard,
) -> Decider:
    """Thresholds on valid that promise a precision, with a confidence."""
    promise = Promise(precision, confidence)
    num_slots = 2 * run.benchmark.vocabulary.num_relations
    highest, tally = Highest(run.benchmark.valid, num_slots), Tally(num_slots)
    collect(_scored(run, "valid", progress), highest, tally)
    kept = promised(shortlist := highest.result(), promise)
    found = {"promise": kept.found(run.benchmark.vocabulary)}
    probabilities = calibrated(shortlist, tally)
    return Decider(PRECISION, promise.name, kept.thresholds, found, probabilities)


def _tune_judge(
    run: Scored, others: Mapping[str, Scored], blocks: Iterable[ScoreBlock], aim: Objective
) -> Judge:
    queries, models = run.benchmark.valid, _heard([run, *others.values()])
    highest = Highest(queries, 2 * run.benchmark.vocabulary.num_relations, PER_ANSWER)
    spreads = Spreads(queries)
    collect(blocks, highest, spreads)
    shortlist = highest.result()
    known = features(shortlist, spreads, Graph(run.benchmark), models)
    judge, accepted = train_judge(shortlist, known, aim)
    classified = Classified(queries, shortlist.counts(accepted))
    found = plain({"out_of_fold_f1": {name: f1(classified.of(name)) for name in SHOWN}})
    sources = map(Source, ("", *others), (model.digest() for model in models))
    return replace(judge, sources=tuple(sources), found=found)


def _heard(runs: Sequence[Scored]) -> list[PairScorer]:
    """The models of all these runs, which are of one benchmark."""
    for run in runs:
        if not isinstance(run.model, PairScorer):
            raise ConfigError("a judge needs models that assent trained: it asks for single facts")
        if run.benchmark.digest() != runs[0].benchmark.digest():
            raise ConfigError("a judge cannot hear models of several benchmarks")
    return [run.model for run in runs if isinstance(run.model, PairScorer)]


def evaluate(
    run: Scored,
    decider: Decider | Judge,
    split: str = "test",
    progress: QueriesDone = unheard,
    others: Sequence[Scored] = (),
    also: Sequence[Collector] = (),
) -> Evaluation:
    """Decides on one half of the benchmark, and measures the decisions and the ranking.

    `others` are the runs that a judge heard when it was trained; `also` look on in the same pass.
    """
    benchmark, queries = run.benchmark, run.benchmark.half(split)
    above = Above(queries, decider.thresholds)
    standings = Standings(queries, benchmark.truth(), benchmark.vocabulary.num_entities)
    tops, reliability = Tops(queries), Reliability(2 * benchmark.vocabulary.num_relations)
    collectors: list[Collector] = [above, standings, tops, reliability, *also]
    if isinstance(decider, Judge):
        collectors.append(spreads := Spreads(queries))
    probabilities = None if isinstance(decider, Judge) else decider.probabilities
    if probabilities is not None:
        collectors.append(likely := Above(queries, Thresholds.of(probabilities.floors)))
    collect(_scored(run, split, progress), *collectors)
    shortlist, raw = above.result(), reliability.result()
    if isinstance(decider, Judge):
        models = _heard([run, *others])
        if [model.digest() for model in models] != [source.sha256 for source in decider.sources]:
            raise DataError("not the models that the judge was trained with; tune again")
        known = features(shortlist, spreads, Graph(benchmark), models)
        accepted = decider.accept(shortlist, known)
    else:
        accepted = decider.accept(shortlist)
    return Evaluation(
        split,
        decider.rule,
        benchmark.vocabulary,
        shortlist,
        accepted,
        standings.ranks(),
        standings.filtered(),
        abstaining(tops, tops.accepted(shortlist, accepted)),
        raw,
        probabilities,
        None if probabilities is None else recalibrated(raw, likely.result(), probabilities),
    )


def _scored(run: Scored, split: str, progress: QueriesDone) -> Iterator[ScoreBlock]:
    """The scores of one half of the benchmark, what is known masked."""
    queries = run.benchmark.half(split)
    for block in score(run.model, queries, run.benchmark.known(split)):
        yield block
        progress(block.first + len(block.queries), len(queries))


def classify_triples(
    run: Scored, valid_false: KnowledgeBase | str | Path, test_false: KnowledgeBase | str | Path
) -> TripleClassification:
    """Tells given false facts from the true ones that the benchmark asks for."""
    halves = []
    for split, given in (("valid", valid_false), ("test", test_false)):
        false = given if isinstance(given, KnowledgeBase) else read(given)
        facts = labelled(run.benchmark, split, false)
        halves.append(ScoredFacts(facts, score_facts(run.model, facts.facts)))
    return TripleClassification.tuned(run.benchmark.vocabulary, *halves)


def rank_pairs(
    run: Scored,
    k: int = K,
    split: str = "test",
    relations: Sequence[str] | None = None,
    progress: QueriesDone = unheard,
) -> PairRanking:
    """Ranks all pairs of each relation, or of those named, that has facts in one half."""
    benchmark, known = run.benchmark, run.benchmark.known(split)
    size, facts = benchmark.vocabulary.num_entities, pair_facts(benchmark, split, relations)
    total, found = size * len(set(facts[:, 1].tolist())), list[Found]()
    for queries in every_head(facts, size):
        best = BestPairs(queries, k)
        for block in score(run.model, queries, known):
            best.add(block)
            progress(size * len(found) + block.first + len(block.queries), total)
        found.append(best.result())
    return PairRanking.of(split, k, benchmark.vocabulary, found)


def load_decider(folder: str | Path, benchmark: Benchmark) -> Decider | Judge:
    """What `assent tune` found for a run."""
    path = decider_file(Path(folder))
    rule, objective, thresholds, found = read_decider(path, benchmark.vocabulary)
    if rule != JUDGE:
        probabilities = read_probabilities(path, benchmark.vocabulary)
        return Decider(rule, objective, thresholds, found, probabilities)
    names, cut, sources, arrays = read_judge(path)
    forest = Forest.of_arrays(arrays, len(names), FOLDS)
    heard = tuple(Source(*source) for source in sources)
    return Judge(objective, thresholds, names, forest, cut, heard, found)


def save_decider(decider: Decider | Judge, folder: str | Path, benchmark: Benchmark) -> Path:
    """Puts a decider into a run folder, or into a file of its own; a judge's trees beside it."""
    path, stated = decider_file(Path(folder)), None
    if isinstance(decider, Judge):
        sources = tuple((source.path, source.sha256) for source in decider.sources)
        arrays = decider.forest.arrays()
        stated = write_trees(path, Particulars(decider.names, decider.cut, sources, arrays))
    write_decider(
        path,
        decider.rule,
        decider.objective,
        decider.thresholds,
        decider.found,
        benchmark.vocabulary,
        stated,
        None if isinstance(decider, Judge) else decider.probabilities,
    )
    return path


def popularity(benchmark: Benchmark, measure: str) -> float | None:
    """What the baseline without a model reaches on valid; of the dev loss it has none."""
    if measure not in ("f1", "mrr"):
        return None
    of_scorer = valid_f1(benchmark) if measure == "f1" else valid_mrr(benchmark)
    return of_scorer(Popularity(benchmark))


def valid_f1(benchmark: Benchmark) -> Callable[[Scorer], float]:
    """Micro-F1 on valid at the best single threshold."""
    known, num_slots = benchmark.known("valid"), 2 * benchmark.vocabulary.num_relations

    def f1_of(model: Scorer) -> float:
        highest = Highest(benchmark.valid, num_slots)
        collect(score(model, benchmark.valid, known), highest)
        return float(f1(Curves.overall(highest.result()).counts()).max(initial=0.0))

    return f1_of


def valid_mrr(benchmark: Benchmark) -> Callable[[Scorer], float]:
    known = benchmark.known("valid")
    answered = benchmark.valid.take(benchmark.valid.has_answers)

    def mrr_of(model: Scorer) -> float:
        standings = Standings(answered, known, benchmark.vocabulary.num_entities)
        collect(score(model, answered, known), standings)
        return mean_reciprocal_rank(standings.ranks().realistic())

    return mrr_of


def valid_loss(benchmark: Benchmark) -> Callable[[Model], float]:
    """The paper's criterion; negative, as higher is to be better."""
    known = benchmark.known("valid")
    return lambda model: -dev_loss(model, benchmark.valid, known)


EVALUATIONS: dict[str, Callable[[Benchmark], Callable[[Model], float]]] = {
    "f1": valid_f1,
    "mrr": valid_mrr,
    "dev-loss": valid_loss,
}
