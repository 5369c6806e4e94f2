"""Text: vectors are sums of what is written about entities; new entities have them too."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from assent.core.texts import Texts
from assent.errors import ConfigError, DataError
from assent.geometry import Answers
from assent.models import create
from assent.models.text import Written

NAMES = ["Old Town", "New Town", "Old Port", "Oldenburg", "", "New Land", "Old Land"]
TYPES = [["city"], ["city"], ["place"], ["city"], [], ["country"], ["country", "place"]]
VECTORS = np.random.default_rng(0).normal(size=(7, 3))
TEXTS = Texts.plain(NAMES, TYPES).encoded(VECTORS)
ANCHORS, SLOTS = torch.tensor([0, 6, 3, 4]), torch.tensor([0, 1, 2, 3])
ANSWERS = Answers(torch.tensor([0, 2, 2, 3, 4]), torch.tensor([1, 4, 5, 0]))


def made(texts=TEXTS, seed=0, **changes):
    torch.manual_seed(seed)
    values = {"dim": 4, "anchor_dropout": 0.0, "query_dropout": 0.0, **changes}
    model = create("text", len(texts), 2, values, texts).double()
    with torch.no_grad():
        for parameter in model.parameters():  # biases too
            parameter.normal_(0, 0.5)
    return model


@torch.no_grad()
def vectors_by_hand(model):
    """Vectors (entity, dim) and biases (entity,), in plain loops over float64."""
    bags = model.written
    dim = model.settings.dim
    vectors, biases = [], []
    for e in range(model.num_entities):
        vector, bias = [0.0] * dim, 0.0
        for place in range(int(bags.offsets[e]), int(bags.offsets[e + 1])):
            feature, amount = int(bags.features[place]), float(bags.amounts[place])
            for k in range(dim):
                vector[k] += amount * float(model.shared[feature, k])
            bias += amount * float(model.shared_bias[feature, 0])
        for place, number in enumerate(bags.given[e].tolist()):
            for k in range(dim):
                vector[k] += number * float(model.mapped[place, k])
            bias += number * float(model.mapped_bias[place, 0])
        if model.settings.free:
            vector = [x + float(model.entities[e, k]) for k, x in enumerate(vector)]
            bias += float(model.bias[e])
        vectors.append(vector)
        biases.append(bias + float(model.start))
    return vectors, biases


@pytest.mark.parametrize("free", [True, False])
def test_scores_are_complex_over_sums_of_features(free):
    model = made(free=free).eval()
    vectors, biases = vectors_by_hand(model)
    relations = model.relations.tolist()

    def number(row, k):
        return complex(row[k], row[k + 2])

    for query, (anchor, slot) in enumerate(zip(ANCHORS.tolist(), SLOTS.tolist(), strict=True)):
        found = model.scores(ANCHORS, SLOTS)[query].tolist()
        for entity, score in enumerate(found):
            product = sum(
                number(vectors[anchor], k)
                * number(relations[slot], k)
                * number(vectors[entity], k).conjugate()
                for k in range(2)
            )
            assert math.isclose(score, product.real + biases[entity], rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("loss", ["bce", "ce"])
@pytest.mark.parametrize("free", [True, False])
def test_gradients_are_those_of_small_differences(loss, free):
    model = made(free=free, free_dropout=0.0)
    model.loss(ANCHORS, SLOTS, ANSWERS, loss=loss).add(model.n3(ANCHORS, SLOTS)).backward()

    def value():
        with torch.no_grad():
            return model.loss(ANCHORS, SLOTS, ANSWERS, loss=loss) + model.n3(ANCHORS, SLOTS)

    step = 1e-6
    for name, parameter in model.named_parameters():
        flat = parameter.data.view(-1)
        for place in range(0, len(flat), max(len(flat) // 7, 1)):
            flat[place] += step
            above = value()
            flat[place] -= 2 * step
            below = value()
            flat[place] += step
            slope = ((above - below) / (2 * step)).item()
            assert parameter.grad.view(-1)[place].item() == pytest.approx(slope, abs=2e-6), name


def test_a_new_entity_scores_as_if_it_had_always_been_there():
    """Without vectors of its own, an entity is its text, whenever that is read."""
    more = Texts.plain(["New Port", "", "Old Town"], [["place"], [], ["city"]])
    more = more.encoded(np.array([[1.0, 0, 2], [0, 0, 0], VECTORS[0]]))
    model = made(free=False).eval()
    wide = model.knowing(more).eval()
    assert (model.num_entities, wide.num_entities) == (7, 10)
    before, after = model.scores(ANCHORS, SLOTS), wide.scores(ANCHORS, SLOTS)
    torch.testing.assert_close(after[:, :7], before)
    torch.testing.assert_close(after[:, 9], after[:, 0])  # two towns with one text
    torch.testing.assert_close(
        after[:, 8] - wide.start, torch.zeros(4).double(), atol=1e-12, rtol=0
    )
    asked = wide.scores(torch.tensor([9, 7]), torch.tensor([0, 1]))
    torch.testing.assert_close(asked[0], wide.scores(torch.tensor([0]), torch.tensor([0]))[0])
    assert asked.isfinite().all()


def test_a_new_entity_has_no_vector_of_its_own():
    wide = made(free=True).knowing(Texts.plain(["New Port"]).encoded(np.ones((1, 3))))
    assert wide.entities.shape == (8, 4) and not wide.entities[7].any()
    assert wide.bias.shape == (8,) and wide.bias[7] == 0


def test_members_know_new_entities_together():
    more = Texts.plain(["New Port"]).encoded(np.ones((1, 3)))
    pair = create("text", 7, 2, {"dim": 4, "members": 2}, TEXTS)
    mean = sum(each.knowing(more).scores(ANCHORS, SLOTS) for each in pair) / 2
    torch.testing.assert_close(pair.knowing(more).scores(ANCHORS, SLOTS), mean)


def test_other_models_know_no_new_entity():
    with pytest.raises(ConfigError, match="ComplEx knows the entities that it was trained on"):
        create("complex", 7, 2).knowing(Texts.plain(["New Port"]))


@settings(max_examples=50)
@given(
    st.lists(st.lists(st.integers(0, 9), max_size=4), min_size=1, max_size=6),
    st.data(),
)
def test_some_entities_take_their_features_along(bags, data):
    counts = [len(bag) for bag in bags]
    flat = torch.tensor([feature for bag in bags for feature in bag], dtype=torch.int64)
    offsets = torch.tensor(np.concatenate([[0], np.cumsum(counts)]), dtype=torch.int64)
    given_ = torch.arange(len(bags))[:, None].double()
    written = Written(offsets, flat, flat / 10, given_)
    rows = data.draw(st.lists(st.integers(0, len(bags) - 1), max_size=8))
    part = written.of_entities(torch.tensor(rows, dtype=torch.int64))
    assert part.given[:, 0].tolist() == rows
    for place, row in enumerate(rows):
        mine = slice(int(part.offsets[place]), int(part.offsets[place + 1]))
        assert part.features[mine].tolist() == bags[row]
        assert part.amounts[mine].tolist() == pytest.approx([x / 10 for x in bags[row]])
    both = written.and_of(part)
    assert both.features.tolist() == flat.tolist() + part.features.tolist()
    assert both.offsets[len(bags) :].tolist() == (part.offsets + offsets[-1]).tolist()


def test_some_steps_see_an_entity_without_its_own_vector():
    model = made(free_dropout=0.5)
    torch.manual_seed(1)
    seen = torch.stack([model.entity_table().vectors for _ in range(400)])
    alone = made(free=False)
    alone.load_state_dict(
        {k: v for k, v in model.state_dict().items() if k not in ("entities", "bias")}
    )
    text = alone.entity_table().vectors
    without = torch.isclose(seen, text).all(2).double().mean(0)  # (entity,)
    assert ((without > 0.4) & (without < 0.6)).all()
    model.eval()
    assert torch.equal(model.entity_table().vectors, model.entity_table().vectors)
    assert not torch.isclose(model.entity_table().vectors, text).all(1).any()


def test_a_model_that_has_read_nothing_loads_one_that_has():
    model = made()
    saved = save({name: tensor.contiguous() for name, tensor in model.state_dict().items()})
    fresh = create("text", 7, 2, {"dim": 4}).double()
    assert fresh.shared is None and fresh.mapped is None
    fresh.load_state_dict(load(saved))
    assert torch.equal(fresh.scores(ANCHORS, SLOTS), model.scores(ANCHORS, SLOTS))
    more = Texts.plain(["New Port"], [["place"]]).encoded(np.ones((1, 3)))
    assert torch.equal(
        fresh.knowing(more).scores(ANCHORS, SLOTS), model.knowing(more).scores(ANCHORS, SLOTS)
    )


def test_loading_what_fits_leaves_an_optimizer_its_parameters():
    model = made()
    before = list(model.parameters())
    model.load_state_dict(made(seed=3).state_dict())
    assert all(one is other for one, other in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("offsets", lambda x: x.flip(0)),
        ("offsets", lambda x: x[:-1]),
        ("features", lambda x: x + 1000),
        ("features", lambda x: x - 1000),
        ("amounts", lambda x: x[:-1]),
        ("given", lambda x: x[:-1]),
    ],
)
def test_what_does_not_fit_together_is_not_loaded(name, broken):
    state = made().state_dict()
    with pytest.raises(DataError, match="does not fit together"):
        create("text", 7, 2, {"dim": 4}).double().load_state_dict(
            {**state, name: broken(state[name])}
        )


def test_at_rest_vectors_are_summed_up_once_and_anew_after_every_change():
    model = made().eval()
    before = model.scores(ANCHORS, SLOTS)
    with torch.no_grad():
        kept = model.entity_table().vectors
        assert model.entity_table().vectors is kept
        model.shared.add_(1.0)
        assert not torch.allclose(model.scores(ANCHORS, SLOTS), before)
        model.train().entities.data.numpy()[:] += 1.0  # as the compiled optimizer does
        model.eval()
        assert not torch.allclose(model.entity_table().vectors, kept + 1.0)


def test_texts_of_other_entities_are_refused():
    with pytest.raises(DataError, match="texts about 7 entities; expected 5"):
        create("text", 5, 2, {"dim": 4}, TEXTS)
