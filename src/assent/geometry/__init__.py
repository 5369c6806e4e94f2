"""How query vectors meet the entities, all or a sample: in slices, gradients in closed form."""

from assent.geometry.absolute import Absolute
from assent.geometry.answers import Answers
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.dot import Dot
from assent.geometry.hyperplane import Hyperplane
from assent.geometry.loss import kvsall, query_weights
from assent.geometry.manhattan import Manhattan
from assent.geometry.meetings import meeting_scores, pair_scores
from assent.geometry.peers import Peers
from assent.geometry.projected import Projected
from assent.geometry.squared import Squared
from assent.geometry.task import Drawn, Whole

__all__ = [
    "Absolute",
    "Answers",
    "Asked",
    "Dot",
    "Drawn",
    "Geometry",
    "Hyperplane",
    "Manhattan",
    "Peers",
    "Projected",
    "Squared",
    "Table",
    "Whole",
    "kvsall",
    "meeting_scores",
    "pair_scores",
    "query_weights",
]
