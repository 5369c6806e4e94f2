"""What a model is worth on a benchmark: thresholds found on valid, decisions on test, measures."""

from assent.assessing.evaluating import evaluate
from assent.assessing.facts import classify_triples, rank_pairs
from assent.assessing.keeping import load_decider, save_decider
from assent.assessing.scored import Scored, heard, unheard
from assent.assessing.tuning import SHOWN, promising, tune
from assent.assessing.validating import EVALUATIONS, popularity

__all__ = [
    "EVALUATIONS",
    "SHOWN",
    "Scored",
    "classify_triples",
    "evaluate",
    "heard",
    "load_decider",
    "popularity",
    "promising",
    "rank_pairs",
    "save_decider",
    "tune",
    "unheard",
]
