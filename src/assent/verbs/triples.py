"""triples: telling given false facts from true ones."""

from pathlib import Path

from assent.core.facts import KnowledgeBase
from assent.errors import DataError
from assent.measuring.triples import ScoredFacts, TripleClassification, labelled
from assent.scoring import Scored, score_facts
from assent.verbs.read import read


def classify_triples(
    run: Scored, valid_false: KnowledgeBase | str | Path, test_false: KnowledgeBase | str | Path
) -> TripleClassification:
    """Tells given false facts from the true ones that the benchmark asks for."""
    parts = []
    for split, given in (("valid", valid_false), ("test", test_false)):
        false = given if isinstance(given, KnowledgeBase) else read(given)
        facts = labelled(run.benchmark, split, false)
        if facts.true.all():
            reasons = ", ".join(f"{n:,} {why}" for why, n in facts.left_out.items())
            raise DataError(f"{split}: no false fact can be used ({reasons}); give others")
        parts.append(ScoredFacts(facts, score_facts(run.model, facts.facts)))
    return TripleClassification.tuned(run.benchmark.vocabulary, *parts)
