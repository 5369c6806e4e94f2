"""The first inputs of a campaign of mutated files, the same on every run; and what both print."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from campaign.containers import mutated
from campaign.corpus import make
from campaign.fuzz import ENDS, KINDS, WEIGHTS, random_of, tried
from campaign.kinds import FILES, SAID, files_of, prepared

INPUTS = 25  # of each kind
pytestmark = pytest.mark.filterwarnings("ignore")  # a reader may warn of what it takes
TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign") / "corpus"
    yield prepared(make(folder))
    shutil.rmtree(folder)


def test_the_first_mutated_inputs_of_every_kind_are_read_or_refused(corpus, monkeypatch):
    monkeypatch.chdir(corpus)
    for kind in KINDS:
        outcomes = [tried(0, number, corpus, kind) for number in range(INPUTS)]
        assert not [told for _, outcome, told in outcomes if outcome not in ENDS], kind
        if kind.startswith("graph"):
            assert {outcome for _, outcome, _ in outcomes} == {"read", "refused"}


def test_every_kind_has_a_share_and_every_mutation_of_it_another_content(corpus):
    assert min(WEIGHTS) / sum(WEIGHTS) > 1 / 250 and max(WEIGHTS) / sum(WEIGHTS) < 1 / 30
    for kind in (FILES[name] for name in KINDS if name not in SAID):
        for file in files_of(kind, corpus):
            before = file.read_bytes()
            after = [mutated(before, random_of(0, number), file.name) for number in range(20)]
            assert sum(content != before for content in after) >= 15, file


@pytest.mark.parametrize(
    ("words", "heading"),
    [
        (("fuzz", "--inputs", "40", "--seed", "5"), "kind "),
        (("chaos", "--kills", "2", "--seed", "5", "--only", "convert"), "command "),
    ],
)
def test_a_campaign_prints_its_table_and_what_it_came_to(words, heading):
    command = [sys.executable, "-m", f"campaign.{words[0]}", *words[1:]]
    here = os.pathsep.join(map(str, (TOOLS.parent / "src", TOOLS)))
    done = subprocess.run(
        command, cwd=TOOLS, env={**os.environ, "PYTHONPATH": here}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert any(line.startswith(heading) for line in lines) and "seed 5, code " in lines[-1]
