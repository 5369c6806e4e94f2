"""An evaluation as JSON: every number that a page shows, and null where there is none."""

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import deciding_oracles as oracles
import toy
from assent.core.scores import collect
from assent.core.thresholds import Thresholds
from assent.measuring.abstaining import Tops, abstaining
from assent.measuring.calibration import BINS, Reliability
from assent.measuring.classification import SETS
from assent.measuring.evaluation import Evaluation
from assent.measuring.ranking import Standings
from score_blocks import NUM_SLOTS, block, blocks, queries_of, shortlist


def evaluation(made, line=0.0):
    queries, thresholds = queries_of(made), Thresholds.single(line, NUM_SLOTS)
    entities = made[0].scores.shape[1]
    standings = Standings(queries, queries.take(np.argsort(queries.keys(entities))), entities)
    tops, reliability = Tops(queries), Reliability(NUM_SLOTS)
    collect(made, standings, tops, reliability)
    kept = shortlist(made)
    return Evaluation(
        "test",
        "global",
        toy.vocabulary_of(6, NUM_SLOTS // 2),
        kept,
        kept.accepted(thresholds),
        standings.ranks(),
        standings.filtered(),
        abstaining(tops, tops.accepted(kept, kept.accepted(thresholds))),
        reliability.result(),
    )


def plain(found):
    """Through the strictest writer, and back."""
    return json.loads(json.dumps(found.to_json(), allow_nan=False))


@settings(max_examples=8)
@given(blocks(), st.sampled_from([-np.inf, 0.5, np.inf]))
def test_any_evaluation_is_json_without_infinities_and_holds_the_counts(made, line):
    found = evaluation(made, line)
    document, queries = plain(found), oracles.asked(made)
    correct, accepted, relevant = oracles.count(queries, lambda _, score: score > line)
    full = document["classification"]["full"]
    assert (full["correct"], full["accepted"], full["relevant"]) == (correct, accepted, relevant)
    assert full["queries"] == len(queries)
    f1 = oracles.f_beta()((correct, accepted, relevant))
    assert full["f1"] == (f1 if relevant + accepted else None)
    assert set(document["classification"]) == set(SETS)
    assert document["both"]["realistic"]["count"] == relevant


def test_what_is_undefined_is_null():
    document = plain(evaluation([block([[-1.0, 1.0]], [[]], subsets=[2])], np.inf))
    fake = document["classification"]["F"]
    assert fake["precision"] is fake["recall"] is fake["f1"] is None
    assert fake["f1_interval"] == [None, None]
    assert fake["left_empty"] == 1 and fake["accepted_per_query"] == 0
    assert document["unfiltered_mrr"] is None
    assert document["both"]["realistic"]["inverse_harmonic_mean_rank"] is None
    assert document["abstaining"]["auroc"] == {"N": None, "F": None, "N+F": None}
    assert document["calibration"]["reliability"]["true"].count(None) == BINS - 2


def test_an_unfiltered_rank_counts_other_answers_and_a_filtered_one_does_not():
    made = [block([[3.0, 2.0, 1.0]], [[0, 1]]), block([[5.0, 4.0, 6.0]], [[0]], [3], first=1)]
    found = evaluation(made)
    document = plain(found)
    assert found.unfiltered_mrr == document["unfiltered_mrr"] == (1 + 1 / 2 + 1 / 2) / 3
    assert found.mrr == document["mrr"] == (1 + 1 + 1 / 2) / 3
    sides = {side: document[side]["realistic"] for side in ("head", "tail", "both")}
    assert sides["tail"]["inverse_harmonic_mean_rank"] == 1
    assert sides["head"]["inverse_harmonic_mean_rank"] == 1 / 2
    assert (sides["tail"]["count"], sides["head"]["count"], sides["both"]["count"]) == (2, 1, 3)


def test_f1_is_of_the_set_that_is_asked_for():
    made = [block([[3.0, -1.0], [2.0, 1.0]], [[0], []], [0, 1], [0, 2])]
    found = evaluation(made)
    assert found.f1("C") == 1 and found.f1() == 2 * 1 / (3 + 1) and found.f1("F") == 0
