"""Who fits a relation, and what is asked."""

import numpy as np
import pytest
from hypothesis import given

import completing_oracles as oracles
from assent.completing.asking import Fitting, asked, entities_named
from assent.core.vocabulary import Vocabulary
from assent.errors import DataError
from completing import worlds


@given(worlds.worlds())
def test_who_fits_is_who_no_type_speaks_against(world):
    benchmark, scores, _ = world
    known = np.array(sorted(oracles.facts_known(benchmark)), np.int32).reshape(-1, 3)
    fitting = Fitting(benchmark, known)
    found = [fitting.anchors(slot).tolist() for slot in range(len(scores))]
    assert found == oracles.fitting(benchmark)


def test_each_slot_is_asked_about_the_entities_of_its_own_mask():
    queries = asked((2, 5), (np.array([True, False, True]), np.array([False, True, False])))
    assert queries.relations.tolist() == [2, 2, 5]
    assert queries.anchors.tolist() == [0, 2, 1]
    assert not queries.has_answers.any()
    assert len(asked((0, 1), (np.zeros(3, bool), np.zeros(3, bool)))) == 0


def test_entities_go_by_name_or_label_and_a_name_comes_first():
    labels = ("Paris", "Paris", "Q1", "Rome")
    names = Vocabulary(("Q1", "Q2", "Q3", "Q4"), ("in",), labels)
    assert entities_named(["Q2", "Rome", "Q1"], names) == [1, 3, 0]
    with pytest.raises(DataError, match=r"'Paris': several have this label \(Q1, Q2\)"):
        entities_named(["Paris"], names)
    with pytest.raises(DataError, match=r"'Roma': no entity .*close to it: Rome"):
        entities_named(["Roma"], names)
