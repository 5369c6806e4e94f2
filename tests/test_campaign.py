"""The first inputs of a campaign of mutated files, the same on every run."""

import shutil

import pytest

from campaign.corpus import make_graphs
from campaign.fuzz import tried
from campaign.kinds import FILES

KINDS = [
    name for name, kind in FILES.items() if kind.folder in ("graphs", "splits", "libkge", "kgx")
]
INPUTS = 25  # of each kind


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign") / "corpus"
    make_graphs(folder)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_mutated_inputs_are_read_or_refused(kind, corpus):
    outcomes = [tried(0, number, corpus, kind) for number in range(INPUTS)]
    assert not [finding for _, _, finding in outcomes if finding]
    assert {outcome for _, outcome, _ in outcomes} == {"read", "refused"}
