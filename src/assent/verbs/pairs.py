"""pairs: ranking all pairs of entities for each relation."""

from collections.abc import Sequence

from assent.core.scores import QueriesDone
from assent.measuring.pairs import BestPairs, Found, K, PairRanking, every_head, pair_facts
from assent.reporting.progress import minutes_of_queries
from assent.reporting.showing import shown
from assent.scoring import Scored, score


def rank_pairs(
    run: Scored,
    k: int = K,
    split: str = "test",
    relations: Sequence[str] | None = None,
    progress: QueriesDone | bool = True,
) -> PairRanking:
    """Ranks all pairs of each relation, or of those named, that has facts in one split."""
    benchmark, known = run.benchmark, run.benchmark.known(split)
    size, facts = benchmark.vocabulary.num_entities, pair_facts(benchmark, split, relations)
    total, found = size * len(set(facts[:, 1].tolist())), list[Found]()
    with shown(progress, minutes_of_queries) as told:
        for queries in every_head(facts, size):
            best = BestPairs(queries, k)
            for block in score(run.model, queries, known):
                best.add(block)
                told(size * len(found) + block.first + len(block.queries), total)
            found.append(best.result())
    return PairRanking.of(split, k, benchmark.vocabulary, found)
