"""LibKGE's folders read like any other."""

from assent.core.facts import Split
from assent.files.triples import read
from files.formats_by_hand import FACTS, check, put, put_libkge, tsv
from toy import named_facts


def test_libkge_gives_the_same_facts(tmp_path):
    check(put_libkge(tmp_path, {"train": FACTS}))


def test_the_splits_of_a_folder_and_of_libkge_are_the_same(tmp_path):
    parts = {"train": FACTS[:2], "valid": FACTS[2:4], "test": FACTS[4:]}
    for split, facts in parts.items():
        put(tmp_path / "folder" / f"{split}.txt", tsv(facts))
    folder = read(tmp_path / "folder")
    libkge = read(put_libkge(tmp_path / "libkge", parts))
    for kb in (folder, libkge):
        assert named_facts(kb.part(Split.TRAIN), kb.vocabulary) == set(FACTS[:2])
        assert named_facts(kb.part(Split.VALID), kb.vocabulary) == set(FACTS[2:4])
        # The last fact of test is one of train: what is trained on is not asked for.
        assert named_facts(kb.part(Split.TEST), kb.vocabulary) == {FACTS[4]}
        assert kb.source.duplicates == 1
