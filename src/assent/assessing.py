"""What a model is worth on a benchmark: thresholds found on valid, decisions on test, measures."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from assent.adapters.popularity import Popularity
from assent.core.benchmark import Benchmark
from assent.core.checking import refuse_unknown
from assent.core.counts import f1
from assent.core.facts import KnowledgeBase
from assent.core.scores import ScoreBlock, collect
from assent.deciding.curves import Curves
from assent.deciding.objectives import objective as parse_objective
from assent.deciding.paper import Levels
from assent.deciding.rules import GRID_RULES, RULES, Decider, tune_on_grid
from assent.deciding.rules import tune as tune_thresholds
from assent.deciding.shortlisting import Above, Highest
from assent.files.deciders import decider_file, read_decider, write_decider
from assent.files.triples import read
from assent.measuring.abstaining import Tops, abstaining
from assent.measuring.calibration import Reliability
from assent.measuring.evaluation import Evaluation
from assent.measuring.pairs import BestPairs, Found, K, PairRanking, every_head, pair_facts
from assent.measuring.ranking import Standings, mean_reciprocal_rank
from assent.measuring.triples import ScoredFacts, TripleClassification, labelled
from assent.models import Model
from assent.scoring import Scorer, score, score_facts
from assent.training.losses import dev_loss

QueriesDone = Callable[[int, int], None]  # told how many queries of how many are scored


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
) -> Decider:
    """Finds thresholds on valid.

    Objectives: f1, f and another balance (f0.5, f2), precision=P, recall=R.
    """
    aim = parse_objective(objective)
    queries, num_slots = run.benchmark.valid, 2 * run.benchmark.vocabulary.num_relations
    refuse_unknown(rule, [*RULES, *GRID_RULES], "rule")
    blocks = _scored(run, "valid", progress)
    if rule in GRID_RULES:
        levels = Levels(queries, num_slots)
        collect(blocks, levels)
        return tune_on_grid(rule, levels, aim)
    highest = Highest(queries, num_slots)
    collect(blocks, highest)
    return tune_thresholds(rule, highest.result(), aim)


def evaluate(
    run: Scored, decider: Decider, split: str = "test", progress: QueriesDone = unheard
) -> Evaluation:
    """Decides on one half of the benchmark, and measures the decisions and the ranking."""
    benchmark, queries = run.benchmark, run.benchmark.half(split)
    above = Above(queries, decider.thresholds)
    standings = Standings(queries, benchmark.truth(), benchmark.vocabulary.num_entities)
    tops, reliability = Tops(queries), Reliability(2 * benchmark.vocabulary.num_relations)
    collect(_scored(run, split, progress), above, standings, tops, reliability)
    shortlist = above.result()
    return Evaluation(
        split,
        decider.rule,
        benchmark.vocabulary,
        shortlist,
        decider.accept(shortlist),
        standings.ranks(),
        standings.filtered(),
        abstaining(tops, decider.thresholds),
        reliability.result(),
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


def load_decider(folder: str | Path, benchmark: Benchmark) -> Decider:
    """What `assent tune` found for a run."""
    return Decider(*read_decider(decider_file(Path(folder)), benchmark.vocabulary))


def save_decider(decider: Decider, folder: str | Path, benchmark: Benchmark) -> Path:
    """Puts a decider into a run folder, or into a file of its own."""
    path = decider_file(Path(folder))
    write_decider(
        path,
        decider.rule,
        decider.objective,
        decider.thresholds,
        decider.found,
        benchmark.vocabulary,
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
