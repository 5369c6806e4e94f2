"""What entities hear of their neighbours: messages weighed by attention, compiled.

A message is the complex product of its sender's vector and of a vector of the slot by which it
comes; the first half of a vector is real, the second imaginary. Its weight is a softmax over the
messages of its hearer and silence, which scores 0: where nothing is worth hearing, little is heard.
Vectors are cut into heads, each with weights of its own. No tensor has a vector for each message,
neither here nor on the way back.
"""

from typing import Any, NamedTuple, Self

import numpy as np
import torch
from numba import njit
from torch import Tensor
from torch.autograd.function import once_differentiable

from assent.geometry import threads

CELLS = 1 << 24  # numbers of messages that torch holds at a time, where no compiled loop runs


class Messages(NamedTuple):
    """Who tells whom, by which slot."""

    offsets: Tensor  # (hearer + 1,)  those of hearer v: from offsets[v] to offsets[v + 1]
    senders: Tensor  # (message,)  int64
    slots: Tensor  # (message,)  int64
    louder: Tensor  # (hearer,)  log of how many messages each of its messages stands for

    @property
    def hearers(self) -> Tensor:  # (message,)
        hearers = torch.arange(len(self.louder), device=self.offsets.device)
        return hearers.repeat_interleave(self.offsets.diff(), output_size=len(self.senders))

    def of(self, hearers: Tensor) -> Self:
        """What these of the hearers (row,) hear."""
        starts = self.offsets[hearers]
        counts = self.offsets[hearers + 1] - starts
        offsets = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        shifts = torch.repeat_interleave(starts - offsets[:-1], counts)
        places = torch.arange(len(shifts), device=shifts.device) + shifts
        return type(self)(offsets, self.senders[places], self.slots[places], self.louder[hearers])

    def kept(self, which: Tensor) -> Self:
        """Those of the messages under a mask (message,)."""
        before = torch.cat([which.new_zeros(1, dtype=torch.int64), which.cumsum(0)])
        return type(self)(before[self.offsets], self.senders[which], self.slots[which], self.louder)


class Ears(NamedTuple):
    """How messages are made and weighed."""

    relations: Tensor  # (slot, dim)
    asking: Tensor  # (hearer, dim)  a message scores its product with this
    leanings: Tensor  # (slot, head)  and this more


def heard(messages: Messages, senders: Tensor, ears: Ears) -> Tensor:  # -> (hearer, dim)
    """What each hearer hears of the vectors of senders (row, dim): its messages, weighed."""
    if senders.device.type == "cpu":
        sums: Tensor = _Heard.apply(senders, *ears, *messages)  # type: ignore[no-untyped-call]
        return sums
    return in_turns(messages, senders, ears)


def in_turns(messages: Messages, senders: Tensor, ears: Ears) -> Tensor:  # -> (hearer, dim)
    """What each hearer hears, in plain torch: some hearers at a time, to bound the memory."""
    most = max(CELLS // senders.shape[1], 1)
    parts, first, ends = [], 0, messages.offsets.tolist()
    for hearer in range(1, len(ends)):
        if hearer == len(ends) - 1 or ends[hearer + 1] - ends[first] > most:
            rows = torch.arange(first, hearer, device=senders.device)
            mine = ears._replace(asking=ears.asking[first:hearer])
            parts.append(heard_plainly(messages.of(rows), senders, mine))
            first = hearer
    return torch.cat(parts) if parts else ears.asking


def heard_plainly(messages: Messages, senders: Tensor, ears: Ears) -> Tensor:  # -> (hearer, dim)
    """What each hearer hears, in plain torch and at once: with a vector for each message."""
    hearers, slots = messages.hearers, messages.slots
    heads = ears.leanings.shape[1]

    def cut(vectors: Tensor) -> tuple[Tensor, Tensor]:  # (row, head, width)  real and imaginary
        real, imaginary = _by_head(heads, vectors)[0].unbind(1)
        return real, imaginary

    (real, imaginary), (r_real, r_imaginary), (ask, ask_i) = (
        cut(x) for x in (senders[messages.senders], ears.relations[slots], ears.asking[hearers])
    )
    told = torch.stack(
        [real * r_real - imaginary * r_imaginary, real * r_imaginary + imaginary * r_real], 1
    )  # (message, 2, head, width)
    scores = (told * torch.stack([ask, ask_i], 1)).sum((1, 3))  # (message, head)
    scores = scores + ears.leanings[slots] + messages.louder[hearers, None]
    silence = scores.new_zeros(len(ears.asking), heads)
    places = hearers[:, None].expand(-1, heads)
    highest = silence.scatter_reduce(0, places, scores.detach(), "amax")
    shares = (scores - highest[hearers]).exp()
    shares = shares / (-highest).exp().index_add(0, hearers, shares)[hearers]
    sums = told.new_zeros(len(ears.asking), *told.shape[1:])
    return sums.index_add(0, hearers, told * shares[:, None, :, None]).flatten(1)


class _Heard(torch.autograd.Function):
    """Both ways are loops. Each thread has some of the heads: none writes where another does."""

    @staticmethod
    def forward(
        ctx: Any,
        senders: Tensor,
        relations: Tensor,
        asking: Tensor,
        leanings: Tensor,
        *messages: Tensor,
    ) -> Tensor:
        inputs = [x.contiguous() for x in (senders, relations, asking, leanings)]
        shares = senders.new_empty(leanings.shape[1], len(messages[1]))  # (head, message)
        sums = torch.zeros_like(inputs[2])
        *vectors, leanings = inputs
        heads = len(shares)
        given = _arrays(
            *messages, *_by_head(heads, *vectors), leanings, shares, *_by_head(heads, sums)
        )

        def job(part: int, parts: int) -> None:
            _hear(*given, *threads.share(len(shares), part, parts))

        threads.side_by_side(job)
        ctx.save_for_backward(*inputs[:3], *messages[:3], shares, sums)
        return sums

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, slopes: Tensor) -> tuple[Tensor | None, ...]:
        senders, relations, asking, *messages, shares, sums = ctx.saved_tensors
        leanings = relations.new_zeros(len(relations), len(shares))
        into = [*(torch.zeros_like(x) for x in (senders, relations, asking)), leanings]
        heads = len(shares)
        given = _arrays(
            *(*messages, *_by_head(heads, senders, relations, asking), shares),
            *(*_by_head(heads, sums, slopes.contiguous(), *into[:3]), leanings),
        )

        def job(part: int, parts: int) -> None:
            _send_back(*given, *threads.share(len(shares), part, parts))

        threads.side_by_side(job)
        return *into, None, None, None, None


def _by_head(heads: int, *vectors: Tensor) -> list[Tensor]:  # (row, real or not, head, width)
    return [x.view(len(x), 2, heads, x.shape[1] // (2 * heads)) for x in vectors]


def _arrays(*tensors: Tensor) -> list[Any]:
    return [tensor.detach().numpy() for tensor in tensors]


_pass: Any = njit(nogil=True, cache=True, fastmath={"contract", "reassoc"}, error_model="numpy")


@_pass
def _hear(  # type: ignore[no-untyped-def]
    offsets, senders, slots, louder, vectors, relations, asking, leanings, shares, sums, low, high
):
    width, zero = vectors.shape[3], shares.dtype.type(0)
    for hearer in range(len(offsets) - 1):
        places = range(offsets[hearer], offsets[hearer + 1])
        for head in range(low, high):
            mine = shares[head]
            a, b = asking[hearer, 0, head], asking[hearer, 1, head]
            out, out_i = sums[hearer, 0, head], sums[hearer, 1, head]
            highest = zero
            for place in places:
                sender, slot = senders[place], slots[place]
                e, e_i = vectors[sender, 0, head], vectors[sender, 1, head]
                r, r_i = relations[slot, 0, head], relations[slot, 1, head]
                score = zero
                for k in range(width):
                    score += a[k] * (e[k] * r[k] - e_i[k] * r_i[k])
                    score += b[k] * (e[k] * r_i[k] + e_i[k] * r[k])
                mine[place] = score + leanings[slot, head] + louder[hearer]
                highest = max(highest, mine[place])
            total = np.exp(-highest)
            for place in places:
                mine[place] = np.exp(mine[place] - highest)
                total += mine[place]
            for place in places:
                mine[place] /= total
                sender, slot, share = senders[place], slots[place], mine[place]
                e, e_i = vectors[sender, 0, head], vectors[sender, 1, head]
                r, r_i = relations[slot, 0, head], relations[slot, 1, head]
                for k in range(width):
                    out[k] += share * (e[k] * r[k] - e_i[k] * r_i[k])
                for k in range(width):
                    out_i[k] += share * (e[k] * r_i[k] + e_i[k] * r[k])


@_pass
def _send_back(  # type: ignore[no-untyped-def]
    offsets, senders, slots, vectors, relations, asking, shares, sums, slopes,
    into_vectors, into_relations, into_asking, into_leanings, low, high,
):  # fmt: skip
    width, zero = vectors.shape[3], shares.dtype.type(0)
    slope, slope_i = np.empty(width, vectors.dtype), np.empty(width, vectors.dtype)
    for hearer in range(len(offsets) - 1):
        for head in range(low, high):
            a, b = asking[hearer, 0, head], asking[hearer, 1, head]
            g, g_i = slopes[hearer, 0, head], slopes[hearer, 1, head]
            out, out_i = sums[hearer, 0, head], sums[hearer, 1, head]
            into_a, into_b = into_asking[hearer, 0, head], into_asking[hearer, 1, head]
            mean = zero  # of what the messages are worth, silence among them
            for k in range(width):
                mean += g[k] * out[k] + g_i[k] * out_i[k]
            for place in range(offsets[hearer], offsets[hearer + 1]):
                sender, slot, share = senders[place], slots[place], shares[head, place]
                e, e_i = vectors[sender, 0, head], vectors[sender, 1, head]
                r, r_i = relations[slot, 0, head], relations[slot, 1, head]
                worth = zero
                for k in range(width):
                    worth += g[k] * (e[k] * r[k] - e_i[k] * r_i[k])
                    worth += g_i[k] * (e[k] * r_i[k] + e_i[k] * r[k])
                pull = share * (worth - mean)
                into_leanings[slot, head] += pull
                for k in range(width):
                    into_a[k] += pull * (e[k] * r[k] - e_i[k] * r_i[k])
                for k in range(width):
                    into_b[k] += pull * (e[k] * r_i[k] + e_i[k] * r[k])
                # A message's slope, times the conjugate of its other factor.
                for k in range(width):
                    slope[k] = share * g[k] + pull * a[k]
                for k in range(width):
                    slope_i[k] = share * g_i[k] + pull * b[k]
                into, into_i = into_vectors[sender, 0, head], into_vectors[sender, 1, head]
                for k in range(width):
                    into[k] += slope[k] * r[k] + slope_i[k] * r_i[k]
                for k in range(width):
                    into_i[k] += slope_i[k] * r[k] - slope[k] * r_i[k]
                into, into_i = into_relations[slot, 0, head], into_relations[slot, 1, head]
                for k in range(width):
                    into[k] += slope[k] * e[k] + slope_i[k] * e_i[k]
                for k in range(width):
                    into_i[k] += slope_i[k] * e[k] - slope[k] * e_i[k]
