"""Mining, firing, scoring and text of rules, beside brute force over tiny graphs."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import rules_oracles as brute
from assent.core.arrays import frozen
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.rules.columns import columns, spoken_for
from assent.rules.constants import mine_constants
from assent.rules.firing import Firing, fire
from assent.rules.graph import Graph
from assent.rules.likeness import Likeness
from assent.rules.mining import PRIOR, RuleSet, mine
from assent.rules.model import RuleModel, RuleSettings
from assent.rules.spoken import ANCHOR_ENDS, ENTITY_ENDS, KEPT, KINDS, SLOTS, Spoken, forget
from assent.rules.text import lines, parse
from assent.rules.together import COUNTED, DISCOUNT, FAINT, SLOTS_WEIGHT, together

ENTITIES, RELATIONS = 7, 3


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@st.composite
def graphs(draw):
    """Facts (fact, 3) about few entities, so that much comes together; loops too."""
    fact = st.tuples(
        st.integers(0, ENTITIES - 1), st.integers(0, RELATIONS - 1), st.integers(0, ENTITIES - 1)
    )
    facts = sorted(draw(st.sets(fact, max_size=25)))
    return frozen(np.array(facts, np.int32).reshape(-1, 3))


def mined_constants(rules: RuleSet) -> dict:
    graph, found = rules.graph, {}
    for head in range(graph.num_items):
        for rule in range(rules.constants.offsets[head], rules.constants.offsets[head + 1]):
            body = int(rules.constants.bodies[rule])
            if body >= graph.num_items:
                by, other = body - graph.num_items, None
            else:
                by, other = int(graph.item_slots[body]), int(graph.item_entities[body])
            key = int(graph.item_slots[head]), int(graph.item_entities[head]), by, other
            found[key] = int(rules.constants.support[rule]), int(graph.sizes[body])
    return found


def mined_paths(rules: RuleSet) -> dict:
    paths = rules.paths
    return {
        (int(relation), tuple(int(s) for s in steps if s >= 0)): (int(support), int(cases))
        for relation, steps, support, cases in zip(
            paths.relations, paths.steps, paths.support, paths.cases, strict=True
        )
    }


def mined_ends(rules: RuleSet) -> dict:
    graph, ends, found = rules.graph, rules.ends, {}
    for head in range(graph.num_items):
        for rule in range(ends.offsets[head], ends.offsets[head + 1]):
            items = head, int(ends.items[rule])
            (r, e), (t, c) = (
                (int(graph.item_slots[item]), int(graph.item_entities[item])) for item in items
            )
            found[r, e, int(ends.slots[rule]), t, c] = (
                int(ends.support[rule]),
                int(ends.cases[rule]),
            )
    return found


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_constants_after_two_steps_are_counted_as_by_brute_force(facts):
    rules = mine(facts, ENTITIES, RELATIONS, steps=1, ends=1000)
    assert mined_ends(rules) == brute.ends(brute.links(facts, RELATIONS), min_support=2)


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_of_the_constants_after_two_steps_the_surest_are_kept(facts):
    every, few = (mine(facts, ENTITIES, RELATIONS, steps=1, ends=ends) for ends in (1000, 2))
    kept = mined_ends(few)
    for head in {rule[:2] for rule in mined_ends(every)}:
        by_head = {rule: n / (m + PRIOR) for rule, (n, m) in mined_ends(every).items()
                   if rule[:2] == head}  # fmt: skip
        mine_ = [by_head[rule] for rule in kept if rule[:2] == head]
        assert mine_ == sorted(by_head.values(), reverse=True)[:2]


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_constants_are_counted_as_by_brute_force(facts):
    rules = mine(facts, ENTITIES, RELATIONS, steps=1)
    expected = brute.constants(brute.links(facts, RELATIONS), min_support=2)
    assert mined_constants(rules) == expected


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_paths_are_counted_as_by_brute_force(facts):
    rules = mine(facts, ENTITIES, RELATIONS, steps=3, min_support=1)
    found = mined_paths(rules)
    expected = brute.paths(brute.links(facts, RELATIONS), RELATIONS, 3)
    assert set(found) <= set(expected)
    assert all(found[rule] == expected[rule] for rule in found)
    # Bodies are looked for between the entities of known facts, and must be met twice there
    # unless the relation has but two facts; those that are met have all their pairs counted.
    often = {rule for rule, (support, _) in expected.items() if support >= 2}
    assert often <= set(found)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_head_coverage_is_the_share_of_the_facts_that_a_rule_is_right_about(facts, least):
    rules = mine(facts, ENTITIES, RELATIONS, steps=2)
    known = brute.links(facts, RELATIONS)

    def covers(rule, counts):
        return counts[0] >= least * sum(1 for _, slot, _ in known if slot == rule[0])

    kept = rules.covering(least)
    for of in (mined_constants, mined_paths, mined_ends):
        assert of(kept) == {rule: found for rule, found in of(rules).items() if covers(rule, found)}


@settings(max_examples=25, deadline=None)
@given(graphs(), st.booleans())
def test_rules_fire_as_by_brute_force_from_both_ends(facts, direct):
    rules = mine(facts, ENTITIES, RELATIONS, steps=3, min_support=2)
    firing = Firing.of(rules, direct)
    known = brute.links(facts, RELATIONS)
    slots, anchors, entities = (
        part.ravel().astype(np.int32)
        for part in np.meshgrid(range(2 * RELATIONS), range(ENTITIES), range(ENTITIES))
    )
    best, number, total = spoken_for(firing, anchors, slots, entities)
    counted = mined_constants(rules), mined_paths(rules), mined_ends(rules)
    for row in range(0, len(slots), 7):
        candidate = int(anchors[row]), int(slots[row]), int(entities[row])
        expected = brute.spoken(known, *counted, candidate, RELATIONS, direct, PRIOR)
        for kind, name in enumerate(KINDS):
            values = expected[name]
            padded = [*values[:KEPT], *[0.0] * (KEPT - len(values))]
            assert best[row, kind] == pytest.approx(padded, rel=1e-5)
            assert number[row, kind] == len(values)
            assert total[row, kind] == pytest.approx(sum(values), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_all_entities_that_rules_speak_for_are_found_and_no_others(seed):
    entities, rng = 40, np.random.default_rng(seed)  # the first ones are hubs
    ends = (entities * rng.random((500, 2)) ** 2).astype(int)
    facts = frozen(np.unique(np.insert(ends, 1, rng.integers(0, RELATIONS, 500), 1), axis=0))
    firing = Firing.of(mine(facts, entities, RELATIONS, steps=2), direct=False)
    spoken, far = Spoken.room(entities, entities), np.zeros(len(KINDS), int)
    for anchor, slot in np.ndindex(entities, 2 * RELATIONS):
        found = fire(anchor, slot, firing.links, firing.rules, False, spoken)
        asked = np.arange(entities, dtype=np.int32)
        best, number, total = spoken_for(
            firing, np.full_like(asked, anchor), np.full_like(asked, slot), asked
        )
        named = spoken.entities[:found]
        assert sorted(named) == np.flatnonzero(number.any(axis=1)).tolist()
        assert np.array_equal(spoken.best[:found], best[named])
        assert np.array_equal(spoken.number[:found], number[named])
        assert spoken.total[:found] == pytest.approx(total[named], rel=1e-4)
        forget(spoken, found)
        far += number.sum(axis=0)
    assert min(far[ANCHOR_ENDS], far[ENTITY_ENDS]) > 1000


@settings(max_examples=25, deadline=None)
@given(graphs(), st.booleans())
def test_a_score_is_the_same_in_a_row_in_a_pair_and_from_the_other_end(facts, direct):
    model = RuleModel(ENTITIES, RELATIONS, RuleSettings())
    model.learn(facts, direct)
    slots, anchors = (torch.tensor(p.ravel()) for p in np.meshgrid(range(6), range(ENTITIES)))
    rows = model.scores(anchors, slots)
    entities = torch.arange(ENTITIES).repeat(len(anchors))
    wide = anchors.repeat_interleave(ENTITIES), slots.repeat_interleave(ENTITIES)
    assert torch.equal(model.pairs(*wide, entities), rows.ravel())
    turned = model.pairs(entities, (wide[1] + RELATIONS) % 6, wide[0])
    assert torch.allclose(turned, rows.ravel(), rtol=1e-5)
    assert torch.isfinite(rows).all()


def test_the_more_rules_the_higher_the_score_and_none_the_lowest():
    facts = frozen([[x, 0, 9] for x in range(6)] + [[x, 1, 8] for x in range(5)])
    model = RuleModel(10, 2, RuleSettings())
    model.learn(facts, True)
    row = model.scores(torch.tensor([5]), torch.tensor([1]))[0]
    assert row.argmax() == 8  # five of six with (0, 9) have (1, 8)
    assert row[8] > row[7]


def test_a_saved_model_is_the_same_and_a_broken_one_is_refused(rng):
    facts = frozen(np.unique(rng.integers(0, [20, 3, 20], (80, 3)), axis=0))
    model, again = (RuleModel(20, 3, RuleSettings()) for _ in range(2))
    model.learn(facts, True)
    again.load_state_dict(model.state_dict())
    assert again.digest() == model.digest()
    asked = torch.arange(20), torch.zeros(20, dtype=torch.int64)
    assert torch.equal(model.scores(*asked), again.scores(*asked))
    for name in model.state_dict():
        with pytest.raises(DataError, match="rules: "):
            again.load_state_dict({k: v for k, v in model.state_dict().items() if k != name})
    broken = model.state_dict()
    broken["constants.bodies"] = broken["constants.bodies"] + 10_000
    with pytest.raises(DataError, match="not there"):
        again.load_state_dict(broken)


def test_settings_out_of_range_are_refused():
    with pytest.raises(ConfigError, match=r"model\.steps: expected 1 to 3, found 4"):
        RuleSettings(steps=4)


def test_the_same_seed_gives_the_same_rules_with_any_number_of_threads(rng):
    facts = frozen(np.unique(rng.integers(0, [60, 4, 60], (900, 3)), axis=0))
    found = []
    threads = torch.get_num_threads()
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            found.append(mine(facts, 60, 4, seed=3).arrays())
    finally:
        torch.set_num_threads(threads)
    for name, values in found[0].items():
        assert np.array_equal(values, found[1][name]), name


def test_when_time_is_up_what_was_found_is_kept(rng):
    facts = frozen(np.unique(rng.integers(0, [60, 4, 60], (900, 3)), axis=0))
    assert len(mine(facts, 60, 4, minutes=0)) == 0
    said = []
    rules = mine(facts, 60, 4, progress=lambda what, done, total: said.append((what, done, total)))
    forms = {"constants", "paths", "constants after two steps"}
    assert len(rules) > 0 and {what for what, *_ in said} == forms


def test_of_too_many_rules_those_about_most_entities_are_mined(rng, monkeypatch):
    facts = np.unique(rng.integers(0, [60, 4, 60], (900, 3)), axis=0).astype(np.int32)
    graph = Graph.of(facts, 60, 4)
    monkeypatch.setattr("assent.rules.constants.CHUNK", 500)  # links between two looks
    every, few = mine_constants(graph), mine_constants(graph, most=100)
    assert 100 <= len(few) < len(every)
    mined = np.diff(few.offsets) > 0
    able = np.diff(every.offsets) > 0
    sizes = graph.sizes[: graph.num_items]
    assert sizes[mined].min() >= sizes[able & ~mined].max()
    kept = few.offsets[:-1][mined], every.offsets[:-1][mined]
    assert np.array_equal(few.support[kept[0]], every.support[kept[1]])


def test_drawn_members_give_about_the_counts_of_all(rng):
    facts = frozen(np.unique(rng.integers([3, 0, 0], [3003, 2, 3], (5000, 3)), axis=0))
    graph = Graph.of(facts, 3003, 2)
    whole, drawn = mine_constants(graph), mine_constants(graph, max_members=300)
    exact = dict(
        zip(whole.bodies[: whole.offsets[1]].tolist(), whole.support.tolist(), strict=False)
    )
    for body, support in zip(drawn.bodies[: drawn.offsets[1]], drawn.support, strict=False):
        if exact[int(body)] > 200:
            assert support == pytest.approx(exact[int(body)], rel=0.5)


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_text_of_rules_is_read_again_as_the_same_rules(facts):
    names = Vocabulary(tuple(f"e{n}, (so)" for n in range(ENTITIES)), ("likes", "in (part)", "X"))
    rules = mine(facts, ENTITIES, RELATIONS)
    again = parse(lines(rules, names), rules.graph, names)
    assert mined_constants(again) == mined_constants(rules)
    assert mined_paths(again) == mined_paths(rules)
    assert mined_ends(again) == mined_ends(rules)


def test_lines_are_those_of_anyburl_and_the_surest_come_first():
    names = Vocabulary(("ann", "bo", "cy", "norway", "norwegian"), ("citizen", "speaks"))
    facts = frozen([[x, 0, 3] for x in range(3)] + [[x, 1, 4] for x in range(3)])
    text = list(lines(mine(facts, 5, 2), names))
    assert "3\t3\t0.375\tspeaks(X,norwegian) <= citizen(X,norway)" in text
    assert "3\t3\t0.375\tspeaks(X,norwegian) <= citizen(X,A)" in text
    confidences = [float(line.split("\t")[2]) for line in text]
    assert confidences == sorted(confidences, reverse=True)
    assert len(list(lines(mine(facts, 5, 2), names, most=2))) == 2


def test_a_constant_after_two_steps_is_a_line_of_two_atoms():
    names = Vocabulary(("ann", "bo", "oslo", "moss", "norway", "norwegian"),
                       ("born", "country", "speaks"))  # fmt: skip
    facts = frozen([[0, 0, 2], [1, 0, 3], [2, 1, 4], [3, 1, 4], [0, 2, 5], [1, 2, 5]])
    rules = mine(facts, 6, 3)
    line = "2\t2\t0.2857\tspeaks(X,norwegian) <= born(X,A), country(A,norway)"
    assert line in list(lines(rules, names))
    assert len(parse([line], rules.graph, names).ends) == 1
    for body, wrong in {
        "born(X,A), country(A,B)": "expected an entity at the end",
        "born(X,A), country(B,norway)": "expected A in the body",
        "born(X,A), country(A,B), born(B,oslo)": "expected one step, or two",
    }.items():
        with pytest.raises(DataError, match=wrong):
            parse([f"2\t2\t0.3\tspeaks(X,norwegian) <= {body}"], rules.graph, names)
    with pytest.raises(DataError, match="'99999999999999999999' is no number of facts"):
        parse([line.replace("2", "9" * 20, 1)], rules.graph, names)


def test_a_line_that_cannot_be_read_is_named():
    names = Vocabulary(("ann", "bo"), ("likes",))
    graph = Graph.of(frozen([[0, 0, 1]]), 2, 1)
    with pytest.raises(DataError, match=r"file:2: 'hates\(X,bo\)' is no relation"):
        parse(["1\t1\t0.1\tlikes(X,Y) <= likes(Y,X)", "1\t1\t0.1\thates(X,bo) <= x(X,A)"],
              graph, names, "file")  # fmt: skip


@pytest.mark.parametrize(
    ("line", "wrong"),
    [("3\t4\t0.8\tlikes(X,Y) <= likes(Y,X)", "4 right of 3 cases"),
     ("0\t0\t0\tlikes(X,bo) <= likes(X,A)", "0 right of 0 cases"),
     ("3\t2\t0.5\tlikes(X,Y) <= likes(X,Y)", "the body of the rule is its head"),
     ("3\t2\tlikes(X,Y) <= likes(Y,X)", "expected cases, support, confidence, rule")],
)  # fmt: skip
def test_a_rule_that_cannot_have_been_counted_is_refused(line, wrong):
    names, graph = Vocabulary(("ann", "bo"), ("likes",)), Graph.of(frozen([[0, 0, 1]]), 2, 1)
    with pytest.raises(DataError, match=wrong):
        parse([line], graph, names)


def test_of_a_rule_counted_on_another_graph_the_share_that_is_right_is_kept():
    names = Vocabulary(("ann", "bo", "cy", "norway", "norwegian"), ("citizen", "speaks"))
    facts = frozen([[x, 0, 3] for x in range(3)] + [[x, 1, 4] for x in range(3)])
    line = "60\t40\t0.6\tspeaks(X,norwegian) <= citizen(X,norway)"
    rules = parse([line], Graph.of(facts, 5, 2), names)
    assert [text.split("\t")[:2] for text in lines(rules, names)] == [["3", "2"]]


def test_columns_hear_no_fact_between_the_two_entities():
    """r1(x, y) always comes with r0(x, y); held out, only the link could tell."""
    facts = frozen([[x, 0, x + 10] for x in range(10)] + [[x, 1, x + 10] for x in range(9)])
    rules = mine(facts, 20, 2)
    asked = (np.array([part], np.int32) for part in (9, 1, 19))
    likeness = Likeness.of(rules.graph)
    heard = columns(Firing.of(rules, direct=False), likeness, *asked)
    assert heard.pop("rule_all")[0] == pytest.approx(np.log(FAINT), rel=1e-3)
    assert all(column[0] == 0 for name, column in heard.items())
    asked = (np.array([part], np.int32) for part in (9, 1, 19))
    told = columns(Firing.of(rules, direct=True), likeness, *asked)
    assert told["rule_paths_best"][0] == pytest.approx(9 / (10 + PRIOR))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_together_the_surest_rule_counts_whole_and_each_next_half_of_the_one_before(seed):
    best = np.random.default_rng(seed).random((3, len(KINDS), KEPT)).astype(np.float32)
    best = -np.sort(-best * (best > 0.4), axis=2)
    for confident, found in zip(best.tolist(), together(best).tolist(), strict=True):
        said = [
            confidence * (SLOTS_WEIGHT if kind == SLOTS else 1)
            for kind, confidences in enumerate(confident)
            for confidence in confidences
        ]
        left = 1 - FAINT
        for place, confidence in enumerate(sorted(said, reverse=True)[:COUNTED]):
            left *= 1 - confidence * DISCOUNT**place
        assert found == pytest.approx(np.log((1 - left) / left), rel=1e-3)


@settings(max_examples=25, deadline=None)
@given(graphs())
def test_likeness_is_the_cosine_of_items_to_the_other_answers(facts):
    likeness = Likeness.of(Graph.of(facts, ENTITIES, RELATIONS))
    known = brute.links(facts, RELATIONS)
    slots, anchors, entities = (
        part.ravel().astype(np.int32)
        for part in np.meshgrid(range(2 * RELATIONS), range(ENTITIES), range(ENTITIES))
    )
    mean, to_sum = likeness.to_answers(anchors, slots, entities)
    for row in range(0, len(slots), 5):
        candidate = int(anchors[row]), int(slots[row]), int(entities[row])
        expected = brute.likeness(known, ENTITIES, candidate)
        assert (mean[row], to_sum[row]) == pytest.approx(expected, rel=1e-4, abs=1e-4)
