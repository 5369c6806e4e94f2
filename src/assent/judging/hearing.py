"""A judge at work: with the models that it was trained with, and the graph."""

from collections.abc import Sequence

from assent.core.benchmark import Benchmark
from assent.core.shortlist import Shortlist
from assent.errors import DataError
from assent.judging.features import features
from assent.judging.graph import Graph
from assent.judging.judge import Judge
from assent.judging.spreads import Spreads
from assent.scoring import PairScorer


class Hearing:
    """Judges the candidates of any queries about the graph."""

    def __init__(self, judge: Judge, benchmark: Benchmark, models: Sequence[PairScorer]) -> None:
        if [model.digest() for model in models] != [source.sha256 for source in judge.sources]:
            raise DataError("not the models that the judge was trained with; tune again")
        self.judge, self.graph, self.models = judge, Graph(benchmark), models

    def judged(self, shortlist: Shortlist, spreads: Spreads) -> Shortlist:
        """All candidates above the judge's floors, with its probabilities for their scores."""
        return self.judge.judged(shortlist, features(shortlist, spreads, self.graph, self.models))
