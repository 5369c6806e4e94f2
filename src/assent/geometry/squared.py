"""`sum_d a_d (q_d - e_d)^2`: a weighted squared distance, as one longer dot product."""

import torch
from torch import Tensor

from assent.geometry.base import Asked, Geometry, Table
from assent.geometry.links import Tanh


class Squared(Geometry):
    """a (q - e)^2 = [-2 a q, a, a q^2] . [e, e^2, 1], so that matrix products do all the work.

    With one weight a query, or none at all (then it is 1), the middle needs one column
    instead of `dim`: the squared length of e.
    """

    link = Tanh

    def __init__(self, asked: Asked, table: Table) -> None:
        super().__init__(asked, table)
        q, weights = asked.vectors, asked.weights
        e = table.vectors
        a = q.new_ones(len(q), 1) if weights is None else weights
        dim, width = e.shape[1], a.shape[1]
        constant = (a * q * q).sum(1, keepdim=True)
        self.weights = a
        self.lifted_queries = torch.cat([-2 * a * q, a, constant], 1)  # (query, dim + width + 1)
        self.lifted_entities = e.new_ones(len(e), dim + width + 1)  # (slice, dim + width + 1)
        self.lifted_entities[:, :dim] = e
        squares = self.lifted_entities[:, dim:-1]
        if width == dim:
            torch.mul(e, e, out=squares)
        else:
            squares.copy_(torch.linalg.vecdot(e, e)[:, None])

    def measure(self, out: Tensor) -> None:
        torch.mm(self.lifted_queries, self.lifted_entities.T, out=out)

    def measure_pairs(self) -> Tensor:
        raw: Tensor = torch.linalg.vecdot(self.lifted_queries, self.lifted_entities)
        return raw

    def spread_pairs(self, slopes: Tensor) -> tuple[Asked, Tensor]:
        slopes, apart = slopes[:, None], self.asked.vectors - self.table.vectors
        pulls = 2 * slopes * self.weights * apart
        weights = None
        if self.asked.weights is not None:
            weights = (slopes * apart * apart).sum_to_size(self.weights.shape)
        return Asked(pulls, weights), -pulls

    def spread(self, slopes: Tensor, asked: Asked, table: Table) -> None:
        q, a, e = self.asked.vectors, self.weights, self.table.vectors
        dim = q.shape[1]
        lifted = slopes @ self.lifted_entities
        times_e, times_square, total = lifted[:, :dim], lifted[:, dim:-1], lifted[:, -1:]
        asked.vectors.add_((q * total - times_e) * a, alpha=2)
        if asked.weights is not None:
            change = (q * total - 2 * times_e) * q
            asked.weights.add_(change.sum_to_size(a.shape)).add_(times_square)
        lifted = slopes.T @ self.lifted_queries[:, :-1]
        torch.addcmul(lifted[:, :dim], e, lifted[:, dim:], value=2, out=table.vectors)
