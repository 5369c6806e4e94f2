"""A sample of the entities for candidates: exact answers, the others as many as they stand for."""

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import geometry_oracles as oracles
from assent.errors import ConfigError
from assent.geometry import Asked, Dot, Drawn, Table, base, kvsall
from geometry.test_loss import (
    GEOMETRIES,
    agree,
    as_float32,
    asked_of,
    case,
    gradients,
    ragged,
    random_sets,
    slow,
)

LOSSES = {
    "bce": oracles.drawn_bce,
    "ce": oracles.drawn_ce,
    "ce-facts": oracles.drawn_ce_facts,
}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", GEOMETRIES)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    queries=st.integers(1, 5),
    rows=st.integers(1, 9),
    count=st.integers(1, 9),
    more=st.integers(0, 50),
    dim=st.integers(1, 6),
    slice_size=st.integers(1, 10) | st.none(),
    smoothing=st.sampled_from([0.0, 0.1]),
    seed=st.integers(0, 10_000),
)
def test_equals_autograd(name, loss, queries, rows, count, more, dim, slice_size, smoothing, seed):
    geometry, _ = GEOMETRIES[name]
    inputs = case(name, queries, rows, dim, seed)
    yes, _ = random_sets(queries, rows, seed)
    count = min(count, rows)
    first = seed % (count + 1)  # of a stratum of its own; perhaps none, perhaps all
    sample = Drawn((first, count - first), (first + more % 7, rows - first + more))
    found = kvsall(
        geometry,
        asked_of(name, inputs),
        Table(*inputs[2:]),
        ragged(yes),
        loss=loss,
        label_smoothing=smoothing,
        slice_size=slice_size,
        drawn=sample,
    )
    expected = LOSSES[loss](slow(name, inputs), oracles.labels(yes, rows), smoothing, sample)
    assert torch.allclose(found, expected, rtol=1e-9, atol=1e-12)
    agree(gradients(found, inputs), gradients(expected, inputs), 1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_float32_stays_close_to_float64(name, loss, smoothing, monkeypatch):
    monkeypatch.setattr(base, "PAIRS", 37)  # more than one part
    geometry, _ = GEOMETRIES[name]
    exact = case(name, 20, 300, 16, seed=1)
    with torch.no_grad():  # a squared distance of zero is lost to cancellation in float32
        exact[0][10] += 1
    inputs = as_float32(exact)
    yes, _ = random_sets(20, 300, seed=1)
    sample = Drawn((40, 33, 77), (900, 40, 2060))
    found = kvsall(
        geometry,
        asked_of(name, inputs),
        Table(*inputs[2:]),
        ragged(yes),
        loss=loss,
        label_smoothing=smoothing,
        slice_size=77,
        drawn=sample,
    )
    assert found.dtype == torch.float32
    expected = LOSSES[loss](slow(name, exact), oracles.labels(yes, 300), smoothing, sample)
    assert torch.allclose(found.double(), expected, rtol=1e-5)
    agree(gradients(found, inputs), gradients(expected, exact), 2e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("name", GEOMETRIES)
def test_with_every_entity_drawn_it_is_the_loss_of_all(name, loss, smoothing):
    inputs = case(name, 4, 12, 5, seed=3)
    yes, _ = random_sets(4, 12, seed=3)
    arguments = GEOMETRIES[name][0], asked_of(name, inputs), Table(*inputs[2:]), ragged(yes)
    options = {"loss": loss, "label_smoothing": smoothing}
    some = kvsall(*arguments, drawn=Drawn((12,), (12,)), **options)
    every = kvsall(*arguments, **options)
    assert torch.allclose(some, every)
    agree(gradients(some, inputs), gradients(every, inputs), 1e-9)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("name", [name for name in GEOMETRIES if "bias" not in name])
def test_over_all_that_may_be_drawn_bce_is_on_average_that_of_all(name, smoothing):
    """Every sample of 3 out of 7 entities, each of them as probable as any other."""
    inputs = case(name, 3, 7, 4, seed=5)
    geometry = GEOMETRIES[name][0]
    sets = [[0, 6], [], [3]]
    every = kvsall(
        geometry,
        asked_of(name, inputs),
        Table(*inputs[2:]),
        ragged(sets),
        label_smoothing=smoothing,
    )
    expected = [every.detach(), *gradients(every, inputs)]
    losses, sums = [], [None if x is None else torch.zeros_like(x) for x in inputs]
    for sample in itertools.combinations(range(7), 3):
        order = [*sample, *(i for i in range(7) if i not in sample)]
        moved = [[order.index(i) for i in ids] for ids in sets]
        loss = kvsall(
            geometry,
            asked_of(name, inputs),
            Table(inputs[2][order]),
            ragged(moved),
            label_smoothing=smoothing,
            drawn=Drawn((3,), (7,)),
        )
        losses.append(loss.detach())
        for total, slope in zip(sums, gradients(loss, inputs), strict=True):
            if slope is not None:
                total += slope
    means = [torch.stack(losses).mean(), *(x if x is None else x / len(losses) for x in sums)]
    agree(means, expected, 1e-9)


def test_what_was_not_drawn_and_answers_nothing_learns_nothing():
    inputs = case("dot with bias", 3, 9, 4, seed=6)
    loss = kvsall(
        Dot,
        Asked(*inputs[:2]),
        Table(*inputs[2:]),
        ragged([[0], [5], []]),
        drawn=Drawn((4,), (90,)),
    )
    loss.backward()
    touched = [0, 1, 2, 3, 5]
    for x in inputs[2:]:
        rows = x.grad.view(9, -1).abs().sum(1) > 0
        assert rows.nonzero().flatten().tolist() == touched


@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.parametrize("row", [1, 4])  # drawn, and an answer
def test_a_number_that_is_none_reaches_the_loss(name, row):
    inputs = case(name, 2, 5, 3, seed=7, dtype=torch.float32)
    with torch.no_grad():
        inputs[2][row, 1] = torch.nan
    arguments = GEOMETRIES[name][0], asked_of(name, inputs), Table(*inputs[2:]), ragged([[0], [4]])
    assert kvsall(*arguments, drawn=Drawn((2,), (20,))).isnan()


def test_known_answers_take_all_candidates():
    vectors, entities = torch.zeros(1, 2), torch.zeros(3, 2)
    with pytest.raises(ConfigError, match="takes all candidates"):
        kvsall(
            Dot,
            Asked(vectors),
            Table(entities),
            ragged([[0]]),
            known=ragged([[1]]),
            drawn=Drawn((2,), (3,)),
        )
