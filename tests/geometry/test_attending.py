"""What entities hear: the compiled loops against plain torch, and both against loops by hand."""

import cmath
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from assent.geometry import attending
from assent.geometry.attending import Ears, Messages, heard, heard_plainly
from assent.geometry.threads import with_threads


def by_hand(messages, senders, ears):
    """Numbers (hearer, dim), message by message."""
    offsets, half = messages.offsets.tolist(), senders.shape[1] // 2
    heads = ears.leanings.shape[1]
    found = []
    for hearer in range(len(offsets) - 1):
        places = range(offsets[hearer], offsets[hearer + 1])
        told = []
        for place in places:
            e = senders[int(messages.senders[place])].tolist()
            r = ears.relations[int(messages.slots[place])].tolist()
            told.append(
                [complex(e[k], e[k + half]) * complex(r[k], r[k + half]) for k in range(half)]
            )
        asking = ears.asking[hearer].tolist()
        sums = [0j] * half
        for head in range(heads):
            mine = range(half // heads * head, half // heads * (head + 1))
            scores = [
                sum(asking[k] * t[k].real + asking[k + half] * t[k].imag for k in mine)
                + float(ears.leanings[int(messages.slots[place]), head])
                + float(messages.louder[hearer])
                for place, t in zip(places, told, strict=True)
            ]
            total = 1 + sum(math.exp(score) for score in scores)  # 1: silence
            for score, t in zip(scores, told, strict=True):
                for k in mine:
                    sums[k] += math.exp(score) / total * t[k]
        found.append([x.real for x in sums] + [x.imag for x in sums])
    return torch.tensor(found, dtype=torch.float64).view(-1, 2 * half)


@st.composite
def cases(draw):
    heads, width = draw(st.sampled_from([(1, 1), (1, 3), (2, 2), (3, 1)]))
    hearers, senders, slots = (draw(st.integers(1, 4)) for _ in range(3))
    counts = [draw(st.integers(0, 3)) for _ in range(hearers)]
    random = torch.Generator().manual_seed(draw(st.integers(0, 1000)))

    def normal(*shape):
        return torch.randn(*shape, generator=random, dtype=torch.float64)

    dim = 2 * heads * width
    messages = Messages(
        torch.tensor([0, *counts]).cumsum(0),
        torch.randint(senders, (sum(counts),), generator=random),
        torch.randint(slots, (sum(counts),), generator=random),
        normal(hearers).abs(),
    )
    ears = Ears(normal(slots, dim), normal(hearers, dim), normal(slots, heads))
    return messages, normal(senders, dim), ears


@settings(max_examples=50, deadline=None)
@given(cases())
def test_what_is_heard_is_what_loops_by_hand_hear(case):
    expected = by_hand(*case)
    torch.testing.assert_close(heard(*case), expected)
    torch.testing.assert_close(heard_plainly(*case), expected)


@settings(max_examples=50, deadline=None)
@given(cases(), st.integers(1, 3))
def test_gradients_are_those_of_plain_torch(case, number):
    messages, *given_ = case[0], case[1], *case[2]
    leaves = [x.clone().requires_grad_() for x in given_]
    slopes = torch.randn(case[2].asking.shape, dtype=torch.float64)
    found = {}
    for way in (heard, heard_plainly):
        with with_threads(number):
            sums = way(messages, leaves[0], Ears(*leaves[1:]))
            found[way] = torch.autograd.grad(sums, leaves, slopes)
    for one, other in zip(found[heard], found[heard_plainly], strict=True):
        torch.testing.assert_close(one, other)


def test_any_number_of_threads_gives_the_same_bits():
    messages, senders, ears = case_of(50, heads=4)
    bits = []
    for number in (1, 2, 3):
        leaves = [x.clone().requires_grad_() for x in (senders, *ears)]
        with with_threads(number):
            sums = heard(messages, leaves[0], Ears(*leaves[1:]))
            bits.append([sums, *torch.autograd.grad(sums.sum(), leaves)])
    for others in bits[1:]:
        assert all(torch.equal(one, other) for one, other in zip(bits[0], others, strict=True))


def case_of(hearers, heads=1, dim=16, senders=7):
    torch.manual_seed(0)
    messages = Messages(
        torch.arange(hearers + 1) * 3,
        torch.randint(senders, (3 * hearers,)),
        torch.randint(5, (3 * hearers,)),
        torch.zeros(hearers),
    )
    return (
        messages,
        torch.randn(senders, dim),
        Ears(torch.randn(5, dim), torch.randn(hearers, dim), torch.randn(5, heads)),
    )


def test_who_is_told_nothing_hears_nothing():
    messages = Messages(*(torch.tensor(x) for x in ([0, 0, 0], [], [])), torch.zeros(2))
    messages = messages._replace(senders=messages.senders.long(), slots=messages.slots.long())
    _, senders, ears = case_of(2)
    assert not heard(messages, senders, ears).any()


def test_scores_too_large_for_an_exponential_are_no_matter():
    messages, senders, ears = case_of(3)
    loud = ears._replace(asking=ears.asking * 1e4)
    assert heard(messages, senders, loud).isfinite().all()
    torch.testing.assert_close(
        heard(messages, senders, loud), heard_plainly(messages, senders, loud)
    )


def test_a_message_that_stands_for_two_weighs_as_two():
    messages, senders, ears = case_of(4)
    twice = Messages(
        messages.offsets * 2,
        messages.senders.repeat_interleave(2),
        messages.slots.repeat_interleave(2),
        messages.louder,
    )
    once = messages._replace(louder=torch.full((4,), math.log(2)))
    torch.testing.assert_close(heard(once, senders, ears), heard(twice, senders, ears))


@pytest.mark.parametrize("most", [1, 4, 1000])
def test_where_no_loop_is_compiled_hearers_take_turns(most, monkeypatch):
    messages, senders, ears = case_of(9, heads=2)
    monkeypatch.setattr(attending, "CELLS", most * senders.shape[1])
    found = attending.in_turns(messages, senders, ears)
    torch.testing.assert_close(found, heard(messages, senders, ears))


def test_messages_of_some_hearers_and_messages_under_a_mask():
    messages = Messages(*map(torch.tensor, ([0, 2, 2, 3], [5, 6, 7], [0, 1, 2])), torch.zeros(3))
    assert messages.hearers.tolist() == [0, 0, 2]
    some = messages.of(torch.tensor([2, 1, 0]))
    assert some.offsets.tolist() == [0, 1, 1, 3] and some.senders.tolist() == [7, 5, 6]
    fewer = messages.kept(torch.tensor([False, True, True]))
    assert fewer.offsets.tolist() == [0, 1, 1, 2] and fewer.slots.tolist() == [1, 2]


def test_a_turn_of_the_slot_turns_what_is_heard():
    """One message, all ears: i times 1 is i."""
    messages = Messages(*map(torch.tensor, ([0, 1], [0], [0])), torch.full((1,), 50.0))
    turned = cmath.exp(1j * math.pi / 2)
    ears = Ears(torch.tensor([[turned.real, turned.imag]]), torch.zeros(1, 2), torch.zeros(1, 1))
    found = heard(messages, torch.tensor([[1.0, 0.0]]), ears)
    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0]]), atol=1e-6, rtol=0)
