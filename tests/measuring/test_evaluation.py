"""An evaluation as JSON: every number that a page shows, and null where there is none."""

import json
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import assent
import deciding_oracles as oracles
import toy
from assent.core.queries import SETS
from assent.core.scores import collect
from assent.core.thresholds import Thresholds
from assent.measuring.abstaining import Tops
from assent.measuring.calibration import BINS, Reliability
from assent.measuring.classification import Classifying
from assent.measuring.evaluation import MEASURES, Evaluation, measures_of
from assent.measuring.measure import Decided
from assent.measuring.ranking import Standings
from score_blocks import NUM_SLOTS, block, blocks, queries_of, shortlist


def evaluation(made, line=0.0):
    queries, thresholds = queries_of(made), Thresholds.single(line, NUM_SLOTS)
    entities = made[0].scores.shape[1]
    standings = Standings(queries, queries.take(np.argsort(queries.keys(entities))), entities)
    measures = {
        "classification": Classifying(),
        "ranking": standings,
        "abstaining": Tops(queries),
        "calibration": Reliability(NUM_SLOTS),
    }
    collect(made, *measures.values())
    kept = shortlist(made)
    names = toy.vocabulary_of(6, NUM_SLOTS // 2)
    decided = Decided("test", "global", names, kept, kept.accepted(thresholds))
    return Evaluation.of(decided, measures)


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


def test_a_new_measure_needs_a_line_in_the_table_and_no_more(monkeypatch):
    class Candidates:
        """Counts the candidates."""

        def __init__(self, benchmark, split):
            self.count = 0

        def add(self, block):
            self.count += int((block.scores > -np.inf).sum())

        def result(self, decided):
            return Counted(self.count, len(decided.shortlist))

    class Counted(NamedTuple):
        candidates: int
        listed: int

        def to_json(self):
            return {"candidates": self._asdict()}

        def lines(self):
            return {"candidates": float(self.candidates)}

    monkeypatch.setitem(MEASURES, "candidates", Candidates)
    benchmark = toy.built(toy.crowd(0, 24, 3, 6))
    assert list(measures_of(benchmark, "valid")) == list(MEASURES)
    run = assent.adapt(benchmark, lambda anchors, _: np.zeros((len(anchors), size(benchmark))))
    found = assent.evaluate(run, assent.tune(run, rule="global"), "valid")
    counted = found.results["candidates"]
    assert counted.candidates == found.calibration.candidates.sum() > 0
    expected = {"candidates": counted.candidates, "listed": len(found.shortlist)}
    assert plain(found)["candidates"] == expected
    assert list(found.lines()) == list(MEASURES)
    assert found.lines()["candidates"] == {"candidates": counted.candidates}


def size(benchmark):
    return benchmark.vocabulary.num_entities


def test_every_measure_tells_its_first_numbers():
    found = evaluation([block([[3.0, -1.0], [2.0, 1.0]], [[0], []], [0, 1], [0, 2])])
    lines = found.lines()
    assert list(lines) == list(MEASURES)
    assert lines["classification"]["f1"] == found.f1()
    assert lines["ranking"]["MRR"] == found.mrr
    assert lines["abstaining"]["answer rate"] == found.abstaining.answer_rate
    assert lines["calibration"]["Brier score"] == found.calibration.brier()
