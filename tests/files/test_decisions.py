"""Accepted candidates as lines, from which anyone can count again."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import deciding_oracles as oracles
import toy
from assent.core.thresholds import Thresholds
from assent.files.decisions import write_decisions
from score_blocks import ANY, NUM_SLOTS, block, blocks, shortlist


def lines(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


@given(blocks(ANY), st.sampled_from([-np.inf, -1.0, 0.0, 2.0, np.inf]))
def test_lines_say_what_was_accepted_and_whether_it_was_right(tmp_path_factory, made, line):
    path = tmp_path_factory.mktemp("run") / "decisions.tsv"
    kept, vocabulary = shortlist(made), toy.vocabulary_of(6, NUM_SLOTS // 2)
    thresholds = Thresholds.single(line, NUM_SLOTS)
    write_decisions(path, kept, kept.accepted(thresholds), vocabulary)
    expected = []
    for query in oracles.asked(made):
        side, relation = divmod(query.relation, NUM_SLOTS // 2)
        for entity in sorted(oracles.accepted(query, oracles.above(thresholds.values))):
            names = [("tail", "head")[side], f"e{query.anchor}", f"r{relation}", f"e{entity}"]
            expected.append((*names, query.scores[entity], str(int(entity in query.answers))))
    found = [(*names, float(np.float32(score)), right) for *names, score, right in lines(path)]
    assert found == expected


def test_nothing_accepted_is_an_empty_file(tmp_path):
    kept = shortlist([block([[1.0]], [[0]])])
    write_decisions(tmp_path / "out", kept, np.zeros(1, bool), toy.vocabulary_of(1, 3))
    assert (tmp_path / "out").read_bytes() == b""


def test_a_score_has_as_many_digits_as_it_needs(tmp_path):
    kept = shortlist([block([[np.float32(0.1), 2.0]], [[0]])])
    write_decisions(tmp_path / "out", kept, np.ones(2, bool), toy.vocabulary_of(2, 3))
    assert lines(tmp_path / "out") == [
        ["tail", "e0", "r0", "e0", "0.100000001", "1"],
        ["tail", "e0", "r0", "e1", "2", "0"],
    ]
