"""What lies around entities: their train facts from both ends, all of them or some, drawn anew."""

from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from assent.core.arrays import Ids, offsets_of
from assent.core.queries import both_ways
from assent.geometry.attending import Messages


class Around(NamedTuple):
    """Train facts by the entities that they are about: each fact stands at both of its ends."""

    offsets: Tensor  # (entity + 1,)
    others: Tensor  # (link,) int32  the entity at the other end
    slots: Tensor  # (link,) int32  that leads from the entity to the other

    @classmethod
    def of(cls, facts: Ids, num_entities: int, num_relations: int) -> Self:
        anchors, slots, answers = both_ways(facts, num_relations)
        order = np.lexsort((answers, slots, anchors))
        offsets = offsets_of(np.bincount(anchors, minlength=num_entities))
        columns = (x[order].astype(np.int32) for x in (answers, slots))
        return cls(torch.from_numpy(offsets), *map(torch.from_numpy, columns))

    def told(self, hearers: Tensor, most: int, *, drawn: bool) -> Messages:
        """What these entities are told by all their facts, or by `most` of them.

        These are `drawn` by torch's generator, with repetition, or evenly spaced.
        """
        starts = self.offsets[hearers]
        there = self.offsets[hearers + 1] - starts
        counts = there.clamp(max=most)
        offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        of = torch.repeat_interleave(counts)
        places = torch.arange(len(of), device=of.device) - offsets[of]
        is_more = (there > most)[of]
        more = there[of][is_more]
        if drawn:
            random = torch.rand(len(more), dtype=torch.float64, device=of.device)
            places[is_more] = (random * more).long()
        else:
            places[is_more] = places[is_more] * more // most
        places += starts[of]
        louder = (there.clamp(min=1) / counts.clamp(min=1)).log()
        return Messages(offsets, self.others[places].long(), self.slots[places].long(), louder)

    def fits(self, num_entities: int, num_slots: int) -> bool:
        """Whether these can be the facts of a graph: what was read from a file may be anything."""
        offsets, others, slots = self
        return (
            len(offsets) == num_entities + 1
            and int(offsets[0]) == 0
            and bool((offsets.diff() >= 0).all())
            and len(others) == len(slots) == int(offsets[-1])
            and bool(((others >= 0) & (others < num_entities)).all())
            and bool(((slots >= 0) & (slots < num_slots)).all())
        )
