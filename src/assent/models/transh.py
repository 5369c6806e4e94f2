"""TransH (Wang et al., 2014): a translation on a hyperplane of the relation's own."""

from torch import Tensor, nn
from torch.nn import functional

from assent.geometry import Hyperplane
from assent.models.transe import Translation, TranslationSettings


class TransH(Translation, name="transh"):
    """P = 1 - tanh(d), d = |h' + r' - t'|^2, each of them projected onto the hyperplane of r.

    w_r, of length 1, is the normal of the hyperplane, and x' = x - (w_r . x) w_r. The original
    asks r to lie in the hyperplane, softly, by a term of its loss; here its projection does.
    """

    geometry = Hyperplane

    def __init__(
        self, num_entities: int, num_relations: int, settings: TranslationSettings
    ) -> None:
        super().__init__(num_entities, num_relations, settings)
        self.normals: nn.Parameter = self.drawn(self.slots, settings.dim)  # (slot, dim)

    def weights(self, relations: Tensor) -> Tensor:
        return functional.normalize(functional.embedding(relations % self.slots, self.normals))
