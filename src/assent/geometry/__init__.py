"""How query vectors meet every entity: fast, in slices, without autograd over the big matrix."""

from assent.geometry.answers import Answers
from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.dot import Dot
from assent.geometry.loss import kvsall
from assent.geometry.manhattan import Manhattan
from assent.geometry.squared import Squared

__all__ = ["Answers", "Asked", "Dot", "Geometry", "Manhattan", "Squared", "Table", "kvsall"]
