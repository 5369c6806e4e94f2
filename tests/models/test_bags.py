"""Bags of features are TF-IDF vectors of words, n-grams and types, each kind of length 1."""

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assent.core.texts import Texts, words
from assent.models.bags import KINDS, NAMING, SIZES, Lexicon, _hash

NAMES = ["Old Town", "New Town", "Old Port", "Oldenburg", ""]
TYPES = [["city"], ["city", "new"], ["place"], ["city"], []]

letters = st.text("abä _-Q7", max_size=12)
graphs = st.lists(
    st.tuples(letters, st.lists(st.sampled_from(["x", "y", "z"]), max_size=3)), max_size=8
)


def features_of(name, types):
    """By kind, in plain loops."""
    grams = set()
    for word in words(name)[:NAMING]:
        for size in SIZES:
            for first in range(len(word) + 2 - size + 1):
                grams.add(f"<{word}>"[first : first + size])
    return [set(words(name)), grams, set(types)]


def vectors_of(names, types, least, more=()):
    """A dict of amounts by (kind, feature) for each entity, in plain loops."""
    told = [features_of(*each) for each in zip(names, types, strict=True)]
    counts = Counter((kind, f) for each in told for kind in range(3) for f in each[kind])
    idf = {key: math.log(len(names) / n) for key, n in counts.items() if least <= n < len(names)}
    found = []
    for each in [*told, *(features_of(*pair) for pair in more)]:
        vector = {}
        for kind in range(3):
            known = {(kind, f): idf[kind, f] for f in each[kind] if (kind, f) in idf}
            length = math.sqrt(sum(x * x for x in known.values()))
            vector |= {key: x / length for key, x in known.items()}
        found.append(vector)
    return found


def as_dicts(lexicon, bags):
    return [
        {
            int(lexicon.keys[feature]): float(amount)
            for feature, amount in zip(bags.features[a:b], bags.amounts[a:b], strict=True)
        }
        for a, b in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ]


def check(lexicon, bags, expected):
    found = as_dicts(lexicon, bags)
    assert len(found) == len(expected)
    for mine, vector in zip(found, expected, strict=True):
        right = {_hash(kind, feature): amount for (kind, feature), amount in vector.items()}
        assert mine.keys() == right.keys()
        for key, amount in right.items():
            assert math.isclose(mine[key], amount, rel_tol=1e-5)


@given(graphs, graphs, st.integers(1, 3))
def test_bags_are_what_plain_loops_make(known, new, least):
    names, types = ([each[part] for each in known] for part in (0, 1))
    lexicon = Lexicon.of(Texts.plain(names, types), least)
    texts = Texts.plain(*([each[part] for each in (*known, *new)] for part in (0, 1)))
    check(lexicon, lexicon.bags(texts), vectors_of(names, types, least, new))


def test_a_feature_of_one_entity_or_of_all_is_not_heard():
    lexicon = Lexicon.of(Texts.plain(["Old Town", "New Town", "Port Town"]), 2)
    assert len(lexicon.keys) == 0  # all have "town" and its n-grams, the other words one each
    assert lexicon.bags(Texts.plain(["Old Town"])).offsets.tolist() == [0, 0]


def test_features_of_a_kind_are_a_vector_of_length_one():
    texts = Texts.plain(NAMES, TYPES)
    lexicon = Lexicon.of(texts, 2)
    bags = lexicon.bags(texts)
    kinds = {_hash(k, f): k for k in range(3) for n, t in zip(NAMES, TYPES, strict=True)
             for f in features_of(n, t)[k]}  # fmt: skip
    assert bags.offsets[-1] == bags.offsets[-2]  # the last has no name
    squares = np.zeros((len(texts), len(KINDS)))
    for entity, bag in enumerate(as_dicts(lexicon, bags)):
        for key, amount in bag.items():
            squares[entity, kinds[key]] += amount**2
    assert np.allclose(squares[squares > 0], 1)
    assert (squares > 0).tolist()[:2] == [[True, True, True], [True, True, True]]


def test_what_comes_after_a_name_has_no_ngrams():
    one = Texts.plain(["a b c d e", "a b c d e describing", "x describing"])
    found = Lexicon.of(one, 2).keys
    assert _hash(0, "describing") in found
    assert _hash(1, "<descr"[:5]) not in found  # only the third has it among its first words


def test_hashes_are_the_same_everywhere():
    assert _hash(0, "town") == 7106431842872367098
    assert _hash(1, "town") != _hash(0, "town")
