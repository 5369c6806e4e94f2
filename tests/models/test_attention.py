"""Attention: entities are their own vectors and what neighbours tell them, in loops by hand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from safetensors.torch import load, save

from assent.core.queries import both_ways
from assent.errors import ConfigError, DataError
from assent.geometry import Answers
from assent.models import create
from assent.models.around import Around

# Six entities, the last of them without a fact; three relations.
FACTS = np.array(
    [[0, 0, 1], [0, 1, 1], [0, 0, 2], [1, 1, 2], [3, 2, 0], [4, 2, 0], [4, 2, 4]], np.int32
)
ANCHORS, SLOTS = torch.tensor([0, 1, 2, 5]), torch.tensor([0, 1, 4, 5])
ANSWERS = Answers(torch.tensor([0, 2, 3, 4, 5]), torch.tensor([1, 2, 0, 3, 4]))


def made(facts=FACTS, seed=0, **changes):
    torch.manual_seed(seed)
    values = {"dim": 8, "heads": 2, "anchor_dropout": 0.0, "query_dropout": 0.0, **changes}
    model = create("attention", 6, 3, values, facts=facts).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(0, 0.7)
    return model


def number(row, k):
    return complex(row[k], row[k + 4])


def vectors_by_hand(model):
    """Complex numbers (entity, 4), in plain loops over float64."""
    own, slots = model.entities.tolist(), model.telling.tolist()
    asking, listening = model.asking.tolist(), model.listening.tolist()
    found = []
    for entity in range(6):
        told = []
        for anchor, slot, other in zip(*map(np.ndarray.tolist, both_ways(FACTS, 3)), strict=True):
            if anchor == entity:
                product = [number(own[other], k) * number(slots[slot], k) for k in range(4)]
                told.append((slot, product))
        vector = [number(own[entity], k) for k in range(4)]
        for head, mine in enumerate(([0, 1], [2, 3])):
            scores = []
            for slot, product in told:
                score = model.leanings[slot, head].item()
                for k in mine:
                    for place, part in ((k, product[k].real), (k + 4, product[k].imag)):
                        score += (own[entity][place] * asking[place] + listening[place]) * part
                scores.append(math.exp(score))
            for score, (_, product) in zip(scores, told, strict=True):
                for k in mine:
                    vector[k] += score / (1 + sum(scores)) * product[k]
        found.append(vector)
    return found


def test_scores_are_complex_over_what_is_heard():
    model = made().eval()
    vectors, relations = vectors_by_hand(model), model.relations.tolist()
    scores = model.scores(ANCHORS, SLOTS)
    for query, (anchor, slot) in enumerate(zip(ANCHORS.tolist(), SLOTS.tolist(), strict=True)):
        for entity in range(6):
            product = sum(
                vectors[anchor][k] * number(relations[slot], k) * vectors[entity][k].conjugate()
                for k in range(4)
            )
            expected = product.real + model.bias[entity].item()
            assert math.isclose(scores[query, entity].item(), expected, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("loss", ["bce", "ce"])
def test_gradients_are_those_of_small_differences(loss):
    model = made().eval()
    value = model.loss(ANCHORS, SLOTS, ANSWERS, loss=loss) + model.n3(ANCHORS, SLOTS)
    slopes = torch.autograd.grad(value, list(model.parameters()))

    def again():
        with torch.no_grad():
            return model.loss(ANCHORS, SLOTS, ANSWERS, loss=loss) + model.n3(ANCHORS, SLOTS)

    step = 1e-6
    for (name, parameter), slope in zip(model.named_parameters(), slopes, strict=True):
        flat = parameter.data.view(-1)
        for place in range(0, len(flat), max(len(flat) // 7, 1)):
            sides = []
            for move in (step, -2 * step):
                flat[place] += move
                parameter.data = parameter.data.clone()  # what is kept at hand must not serve
                flat = parameter.data.view(-1)
                model.forget()
                sides.append(again())
            flat[place] += step
            model.forget()
            expected = ((sides[0] - sides[1]) / (2 * step)).item()
            assert slope.view(-1)[place].item() == pytest.approx(expected, abs=2e-6), name


def test_an_entity_without_facts_is_its_own_vector():
    model = made().eval()
    with torch.no_grad():
        table = model.entity_table()
    assert torch.equal(table.vectors[5], model.entities[5])
    assert not torch.isclose(table.vectors[:5], model.entities[:5]).all(1).any()
    nobody = made(facts=FACTS[:0]).eval()
    assert torch.equal(nobody.entity_table().vectors, nobody.entities)


@examples(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.sampled_from([0.2, 0.5, 0.8]))
def test_a_step_hides_pairs_from_each_other_whatever_joins_them(seed, hidden):
    model = made(hidden=hidden, heard=50)
    torch.manual_seed(seed)
    told = model._told_to(torch.arange(6))
    links = zip(told.hearers.tolist(), told.senders.tolist(), told.slots.tolist(), strict=True)
    visible = set(links)
    pairs = {frozenset((anchor, other)) for anchor, other, _ in visible}
    for anchor, slot, other in zip(*map(np.ndarray.tolist, both_ways(FACTS, 3)), strict=True):
        assert ((anchor, other, slot) in visible) == (frozenset((anchor, other)) in pairs)


def test_as_large_a_share_of_the_pairs_is_hidden_as_was_asked_for():
    rng = np.random.default_rng(0)
    facts = np.column_stack([np.arange(5000) % 70, np.zeros(5000), rng.integers(70, 90, 5000)])
    facts = np.unique(facts.astype(np.int32), axis=0)
    model = create("attention", 90, 1, {"dim": 8, "hidden": 0.3, "heard": 1000}, facts=facts)
    shares = []
    for seed in range(40):
        torch.manual_seed(seed)
        shares.append(len(model._told_to(torch.arange(90)).senders) / (2 * len(facts)))
    assert abs(np.mean(shares) - 0.7) < 0.02
    assert np.std(shares) > 0.001, "another draw each time"


def test_messages_stand_for_those_that_were_not_drawn_or_are_hidden():
    model = made(hidden=0.5, heard=2)
    told = model._told_to(torch.tensor([0, 1, 5]))
    expected = [math.log(5 / 2) + math.log(2), math.log(3 / 2) + math.log(2), math.log(2)]
    assert told.louder.tolist() == pytest.approx(expected)
    at_rest = model.eval()._told_to(torch.tensor([0, 1]))
    assert at_rest.louder.tolist() == [0, 0] and len(at_rest.senders) == 8


def test_a_step_reaches_senders_after_the_entities_it_is_about():
    model = made(hidden=0.0)
    ids = model.reach(torch.tensor([3, 2]))
    assert ids[:2].tolist() == [3, 2] and ids[2:].tolist() == [0, 1]
    rows = [torch.nn.Parameter(table[ids]) for table in model.entity_tables()]
    with model.only(rows, ids):
        table = model.entity_table()
        assert table.vectors.shape == (2, 8) and table.bias.shape == (2,)
    expected = made(hidden=0.0).entity_table().vectors
    torch.testing.assert_close(table.vectors, expected[[3, 2]])
    assert model.entity_table().vectors.shape == (6, 8)


def test_members_reach_for_each_other():
    pair = create("attention", 6, 3, {"dim": 8, "members": 2, "hidden": 0.0}, facts=FACTS)
    ids = pair.reach(torch.tensor([3]))
    assert ids.tolist() == [3, 0]
    assert create("complex", 6, 3).reach(torch.tensor([3])).tolist() == [3]


@examples(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=1, max_size=6), st.integers(1, 6), st.booleans())
def test_facts_are_told_from_both_ends_all_or_some(hearers, most, drawn):
    around = Around.of(FACTS, 6, 3)
    torch.manual_seed(0)
    told = around.told(torch.tensor(hearers), most, drawn=drawn)
    links = list(zip(*map(np.ndarray.tolist, both_ways(FACTS, 3)), strict=True))
    for row, hearer in enumerate(hearers):
        mine = slice(int(told.offsets[row]), int(told.offsets[row + 1]))
        found = list(zip(told.slots[mine].tolist(), told.senders[mine].tolist(), strict=True))
        there = [(slot, other) for anchor, slot, other in links if anchor == hearer]
        assert set(found) <= set(there) and len(found) == min(len(there), most)
        if len(there) <= most or not drawn:
            assert len(set(found)) == len(found)
        stand_for = len(found) * math.exp(float(told.louder[row]))
        assert stand_for == pytest.approx(len(there))


def test_a_model_that_has_seen_nothing_loads_one_that_has():
    model = made()
    saved = save({name: tensor.contiguous() for name, tensor in model.state_dict().items()})
    fresh = made(facts=None, seed=3)
    assert not fresh.saw(FACTS)
    fresh.load_state_dict(load(saved))
    assert fresh.saw(FACTS) and fresh.digest() == model.digest()
    assert torch.equal(fresh.scores(ANCHORS, SLOTS), model.scores(ANCHORS, SLOTS))
    assert not fresh.saw(FACTS[:-1]) and create("complex", 6, 3).saw(FACTS)


def test_other_facts_make_another_model():
    model = made().eval()
    before, digest = model.scores(ANCHORS, SLOTS), model.digest()
    model.see(FACTS[1:])
    assert model.digest() != digest
    assert not torch.allclose(model.scores(ANCHORS, SLOTS), before)


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("offsets", lambda x: x.flip(0)),
        ("offsets", lambda x: x[:-1]),
        ("others", lambda x: x + 6),
        ("others", lambda x: x - 6),
        ("slots", lambda x: x + 6),
        ("slots", lambda x: x[:-1]),
    ],
)
def test_what_does_not_fit_together_is_not_loaded(name, broken):
    state = made().state_dict()
    with pytest.raises(DataError, match="does not fit together"):
        made(facts=None).load_state_dict({**state, name: broken(state[name])})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 12, "heads": 4}, "a multiple of 8"),
        ({"heads": 0}, "model.heads: expected 1 or more"),
        ({"heard": 0}, "model.heard: expected 1 or more"),
        ({"hidden": 1.0}, "model.hidden: expected 0 to less than 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        create("attention", 6, 3, settings)
