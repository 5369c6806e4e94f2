"""Every geometry and loss against plain autograd over dense labels."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import geometry_oracles as oracles
from assent.errors import ConfigError, DataError
from assent.geometry import (
    Absolute,
    Answers,
    Asked,
    Dot,
    Hyperplane,
    Manhattan,
    Projected,
    Squared,
    Table,
    kvsall,
)

GEOMETRIES = {
    "dot": (Dot, oracles.dot),
    "dot with bias": (Dot, oracles.dot),
    "squared": (Squared, oracles.squared),
    "squared, one weight": (Squared, oracles.squared),
    "squared, a weight a dimension": (Squared, oracles.squared),
    "manhattan": (Manhattan, oracles.manhattan),
    "hyperplane": (Hyperplane, oracles.hyperplane),
    "projected": (Projected, oracles.projected),
    "projected, slots in order": (Projected, oracles.projected),
    "absolute": (Absolute, oracles.absolute),
    "absolute, slots in order": (Absolute, oracles.absolute),
}
SLOTS = 3
LOSSES = {"bce": oracles.bce, "ce": oracles.ce, "ce-facts": oracles.ce_facts}


def ragged(sets: list[list[int]]) -> Answers:
    offsets = torch.tensor([0, *(len(ids) for ids in sets)]).cumsum(0)
    return Answers(offsets, torch.tensor([i for ids in sets for i in ids], dtype=torch.int64))


def case(name, queries, entities, dim, seed, dtype=torch.float64):
    """Random vectors, some of them alike, so that there are ties and distances of zero."""
    rng = torch.Generator().manual_seed(seed)
    vectors = torch.randn(queries, dim, generator=rng, dtype=dtype)
    table = torch.randn(entities, dim, generator=rng, dtype=dtype) * 0.7
    table[entities // 2] = table[0]
    vectors[queries // 2] = table[0]
    weights = bias = None
    if "weight" in name:
        wide = dim if "dimension" in name else 1
        weights = torch.rand(queries, wide, generator=rng, dtype=dtype) + 0.1
    if "hyperplane" in name:
        weights = torch.randn(queries, dim, generator=rng, dtype=dtype)
        weights /= weights.norm(dim=1, keepdim=True)
    if "projected" in name:
        space = max(dim - 1, 1)
        vectors = vectors[:, :space].contiguous()
        weights = torch.randn(SLOTS, dim, space, generator=rng, dtype=dtype) / dim**0.5
        vectors[queries // 2] = table[0] @ weights[owners(name, queries)[queries // 2]]
    if "absolute" in name:
        weights = torch.rand(SLOTS, dim, dim, generator=rng, dtype=dtype) / dim
        weights += weights.mT.clone()
    if "bias" in name:
        bias = torch.randn(entities, generator=rng, dtype=dtype)
    inputs = [x if x is None else x.requires_grad_() for x in (vectors, weights, table, bias)]
    if "absolute" in name:
        weights.requires_grad_(False)
    return inputs


def owners(name, queries):
    """The slot of each query, for geometries that ask for it."""
    if not name.startswith(("projected", "absolute")):
        return None
    slots = torch.arange(queries) * 2 % SLOTS
    return slots.sort().values if "in order" in name else slots


def asked_of(name, inputs):
    vectors, weights, *_ = inputs
    return Asked(vectors, weights, owners(name, len(vectors)))


def slow(name, inputs):
    """The oracle's scores, weights of slots given to the queries that own them."""
    vectors, weights, *table = inputs
    own = owners(name, len(vectors))
    return GEOMETRIES[name][1](vectors, weights if own is None else weights[own], *table)


def as_float32(exact):
    return [x if x is None else x.detach().float().requires_grad_(x.requires_grad) for x in exact]


def random_sets(queries, entities, seed):
    """For each query some answers, perhaps none, and some known ones beside them."""
    rng = torch.Generator().manual_seed(seed)
    kinds = torch.randint(-3, 3, (queries, entities), generator=rng)
    return [[torch.nonzero(row == kind).flatten().tolist() for row in kinds] for kind in (1, 2)]


def gradients(loss, inputs):
    loss.backward()
    found = [None if x is None or x.grad is None else x.grad.double() for x in inputs]
    for x in inputs:
        if x is not None:
            x.grad = None
    return found


def agree(found, expected, tolerance):
    for mine, theirs in zip(found, expected, strict=True):
        if theirs is not None:
            scale = theirs.abs().max().clamp(min=1e-3)
            assert torch.allclose(mine / scale, theirs / scale, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", GEOMETRIES)
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    queries=st.integers(1, 5),
    entities=st.integers(1, 9),
    dim=st.integers(1, 6),
    slice_size=st.integers(1, 10) | st.none(),
    smoothing=st.sampled_from([0.0, 0.1]),
    masks=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_equals_autograd(name, loss, queries, entities, dim, slice_size, smoothing, masks, seed):
    geometry, _ = GEOMETRIES[name]
    inputs = case(name, queries, entities, dim, seed)
    yes, known = random_sets(queries, entities, seed)
    known = known if masks else [[]] * queries
    smoothing = 0.0 if masks else smoothing
    found = kvsall(
        geometry,
        asked_of(name, inputs),
        Table(*inputs[2:]),
        ragged(yes),
        loss=loss,
        label_smoothing=smoothing,
        known=ragged(known) if masks else None,
        slice_size=slice_size,
    )
    dense = [oracles.labels(sets, entities) for sets in (yes, known)]
    expected = LOSSES[loss](slow(name, inputs), dense[0], smoothing, dense[1])
    assert torch.allclose(found, expected, rtol=1e-9, atol=1e-12)
    agree(gradients(found, inputs), gradients(expected, inputs), 1e-7)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", GEOMETRIES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_float32_stays_close_to_float64(name, loss, smoothing):
    geometry, _ = GEOMETRIES[name]
    exact = case(name, 20, 300, 16, seed=1)
    with torch.no_grad():  # a squared distance of zero is lost to cancellation in float32
        exact[0][10] += 1
    inputs = as_float32(exact)
    yes, _ = random_sets(20, 300, seed=1)
    found = kvsall(
        geometry,
        asked_of(name, inputs),
        Table(*inputs[2:]),
        ragged(yes),
        loss=loss,
        label_smoothing=smoothing,
        slice_size=77,
    )
    assert found.dtype == torch.float32
    dense = oracles.labels(yes, 300)
    expected = LOSSES[loss](slow(name, exact), dense, smoothing, torch.zeros_like(dense))
    assert torch.allclose(found.double(), expected, rtol=1e-5)
    agree(gradients(found, inputs), gradients(expected, exact), 2e-5)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", GEOMETRIES)
def test_without_gradients_the_loss_is_the_same(name, loss):
    inputs = case(name, 4, 30, 5, seed=2)
    yes, _ = random_sets(4, 30, seed=2)
    arguments = GEOMETRIES[name][0], asked_of(name, inputs), Table(*inputs[2:]), ragged(yes)
    with torch.no_grad():
        silent = kvsall(*arguments, loss=loss)
    assert not silent.requires_grad
    assert torch.equal(silent, kvsall(*arguments, loss=loss).detach())


@pytest.mark.parametrize("loss", LOSSES)
def test_a_scaled_loss_has_scaled_gradients(loss):
    inputs = case("dot with bias", 3, 8, 4, seed=3)
    yes, _ = random_sets(3, 8, seed=3)
    arguments = Dot, Asked(*inputs[:2]), Table(*inputs[2:]), ragged(yes)
    once = gradients(kvsall(*arguments, loss=loss), inputs)
    twice = gradients(2 * kvsall(*arguments, loss=loss), inputs)
    agree(twice, [None if x is None else 2 * x for x in once], 1e-12)


def test_softmax_learns_nothing_from_a_query_without_answers():
    inputs = case("dot", 2, 6, 4, seed=4)
    loss = kvsall(Dot, Asked(*inputs[:2]), Table(*inputs[2:]), ragged([[], []]), loss="ce")
    assert loss == 0
    assert all(x is None or not x.any() for x in gradients(loss, inputs))


@pytest.mark.parametrize("name", GEOMETRIES)
def test_a_number_that_is_none_reaches_the_loss(name):
    inputs = case(name, 2, 4, 3, seed=7, dtype=torch.float32)
    with torch.no_grad():
        inputs[2][1, 1] = torch.nan
    arguments = GEOMETRIES[name][0], asked_of(name, inputs), Table(*inputs[2:]), ragged([[0], []])
    assert kvsall(*arguments).isnan()


def test_an_unknown_loss_is_named_with_the_right_ones():
    vectors, entities = torch.zeros(1, 2), torch.zeros(3, 2)
    with pytest.raises(ConfigError, match="unknown loss 'hinge'; choose from bce, ce"):
        kvsall(Dot, Asked(vectors), Table(entities), ragged([[0]]), loss="hinge")


def test_as_many_answer_sets_as_queries():
    with pytest.raises(DataError, match="1 queries, but 2 answer sets"):
        kvsall(Dot, Asked(torch.zeros(1, 2)), Table(torch.zeros(3, 2)), ragged([[0], []]))
