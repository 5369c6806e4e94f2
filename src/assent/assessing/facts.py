"""Two measures of others: telling given false facts from true ones, and ranking all pairs."""

from collections.abc import Sequence
from pathlib import Path

from assent.assessing.scored import Scored, unheard
from assent.core.facts import KnowledgeBase
from assent.core.scores import QueriesDone
from assent.files.triples import read
from assent.measuring.pairs import BestPairs, Found, K, PairRanking, every_head, pair_facts
from assent.measuring.triples import ScoredFacts, TripleClassification, labelled
from assent.scoring import score, score_facts


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
