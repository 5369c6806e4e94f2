"""Runs travel: moved, packed and unpacked, they find their benchmark; hostile packs are refused."""

import errno
import shutil
import tempfile
import zipfile

import pytest

import assent
from assent.errors import DataError
from trained_runs import learned


def f1(run):
    return assent.evaluate(loaded := assent.load_run(run), assent.load_decider(run, loaded)).f1(
        "full"
    )


def wrong(path):
    return [check.name for check in assent.verify(path) if check.state == "wrong"]


def test_runs_and_benchmarks_may_be_moved(place, tmp_path):
    before = f1(place / "run")
    moved = tmp_path / "elsewhere"
    shutil.move(place, moved)  # both
    assert f1(moved / "run") == before
    shutil.move(moved / "run", tmp_path / "alone")  # the run: it knows where the benchmark was
    (tmp_path / "alone" / "benchmark.path").write_text(str(moved / "benchmark"))
    assert f1(tmp_path / "alone") == before
    shutil.move(moved / "benchmark", tmp_path / "far" / "away")
    with pytest.raises(DataError, match="say where it is: --benchmark DIR"):
        assent.load_run(tmp_path / "alone")
    assent.load_run(tmp_path / "alone", benchmark=tmp_path / "far" / "away")
    assert f1(tmp_path / "alone") == before  # it was told once
    shutil.rmtree(moved)


def test_another_benchmark_is_refused(place):
    other = assent.load(place / "benchmark")
    assent.save(other.whole(), place / "whole")
    with pytest.raises(DataError, match="not the benchmark that"):
        assent.load_run(place / "run", benchmark=place / "whole")


@pytest.mark.parametrize("whole", [True, False])
def test_a_run_is_the_same_after_its_journey(whole, place, tmp_path, say):
    before = f1(place / "run")
    words = [] if whole else ["--without-benchmark"]
    pack = tmp_path / "run.zip"
    code, out, err = say("pack", place / "run", "--out", pack, "--licence", "CC0", *words)
    assert code == 0 and "pack: " in out, err
    code, out, err = say("verify", pack)
    assert code == 0, out + err
    code, _, err = say("unpack", pack, "--out", tmp_path / "there")
    assert code == 0, err
    if not whole:
        shutil.move(place / "benchmark", tmp_path / "benchmark")  # beside it
    shutil.rmtree(place)
    assert f1(tmp_path / "there") == before
    card = (tmp_path / "there" / "README.md").read_text()
    assert "Licence: CC0" in card and "complete" in card and "Trained on:" in card
    assert str(tmp_path) not in (tmp_path / "there" / "settings.toml").read_text()


def test_a_full_disk_is_that_of_the_pack_not_of_what_is_packed(place, tmp_path, monkeypatch):
    def full(source, target):
        raise OSError(errno.ENOSPC, "No space left on device", str(source), None, str(target))

    monkeypatch.setattr("assent.verbs.pack.shutil.copyfile", full)
    with pytest.raises(DataError, match=r"run\.zip: cannot be written: No space left on device;"):
        assent.pack(place / "run", tmp_path / "run.zip")


def test_a_card_spells_letters_that_show_nothing_themselves(place, tmp_path):
    pack = assent.pack(place / "run", tmp_path / "run.zip", licence="CC\u202e0\b")
    with zipfile.ZipFile(pack) as archive:
        (card,) = (name for name in archive.namelist() if name.endswith("README.md"))
        assert "- Licence: CC⟨U+202E⟩0⟨U+0008⟩\n" in archive.read(card).decode()


def packed(folder, path, extra):
    """A pack, and more entries beside those that it names."""
    assent.pack(folder, path)
    with zipfile.ZipFile(path, "a") as archive:
        for name, content in extra:
            archive.writestr(name, content)
    return path


def link(name):
    entry = zipfile.ZipInfo(name)
    entry.external_attr = 0o120777 << 16
    return entry


HOSTILE = {
    "leads elsewhere": [("../evil.tsv", "x")],
    "absolute": [("/evil.tsv", "x")],
    "a link": [(link("evil.tsv"), "/etc/passwd")],
    "stands twice": [("settings.toml", "x")],
    "another case": [("SETTINGS.toml", "x")],
    "a pickle": [("model.pkl", "x")],
    "not named": [("more.tsv", "x")],
    "a bomb": [("zeros.tsv", b"0" * (300 << 20))],
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("extra", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_pack_is_refused_and_leaves_nothing(extra, place, tmp_path):
    pack = packed(place / "run", tmp_path / "run.zip", extra)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError):
        assent.unpack(pack, tmp_path / "there")
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_pack_is_refused(place, tmp_path):
    pack = assent.pack(place / "run", tmp_path / "run.zip")
    content = pack.read_bytes()
    for spot in range(40, len(content), max(len(content) // 40, 1)):
        damaged = bytearray(content)
        damaged[spot] ^= 4
        pack.write_bytes(damaged)
        try:
            assent.unpack(pack, tmp_path / "there")
        except DataError:
            continue
        # a bit that no file depends on, such as a date: what was unpacked is the same
        assert "wrong" not in {check.state for check in assent.verify(tmp_path / "there")}
        shutil.rmtree(tmp_path / "there")


def test_no_room_to_unpack_a_pack_does_not_make_it_wrong(place, tmp_path, say, monkeypatch):
    pack = assent.pack(place / "run", tmp_path / "run.zip")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("assent.files.packs.shutil.copyfileobj", full)
        code, out, err = say("verify", pack)
        assert code == 2 and not out and "cannot be written: No space left" in err
    monkeypatch.setattr(tempfile, "tempdir", str(pack / "below"))
    code, out, err = say("verify", pack)
    assert code == 2 and not out and "cannot be written: Not a directory" in err


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what mlcroissant uses
def test_croissant_describes_a_benchmark(place):
    croissant = pytest.importorskip("mlcroissant", reason="mlcroissant is not installed")
    found = croissant.Dataset(jsonld=place / "benchmark" / "croissant.json")
    assert not found.metadata.ctx.issues.errors
    assert "train.tsv" in {file.id for file in found.metadata.distribution}


SENTENCE = "was trained on; say where it is: --benchmark DIR"


def told(verb, run, out, *words):
    """What each verb is given, to be said about a run that was moved."""
    more = {"complete": ["--out", out / "new.tsv", "--overwrite"], "tune": ["--rule", "global"]}
    more |= {"report": ["--out", out / "report.html"], "verify": []}
    more |= {"pack": ["--out", out / "run.zip", "--overwrite"]}
    return [verb, run, *more.get(verb, []), *words]


VERBS = ("tune", "evaluate", "complete", "report", "pack", "verify")


def test_every_verb_finds_the_benchmark_of_a_moved_run_or_says_what_to_give(place, tmp_path, say):
    """As `train` left the run: nobody wrote its hint by hand."""
    home, away = tmp_path / "home", tmp_path / "far" / "away"
    assent.save(assent.load(place / "benchmark"), home / "benchmark")
    learned(home / "benchmark", home / "runs" / "run")
    shutil.rmtree(place)
    away.mkdir(parents=True)
    shutil.move(home / "runs" / "run", away / "run")  # the run alone
    for verb in VERBS:
        code, out, err = say(*told(verb, away / "run", tmp_path))
        assert code == 0, (verb, out, err)
    shutil.move(away / "run", home / "runs" / "run")
    shutil.move(home / "benchmark", tmp_path / "elsewhere" / "kept")  # the benchmark alone
    for verb in VERBS:
        code, out, err = say(*told(verb, home / "runs" / "run", tmp_path))
        assert code == (1 if verb == "verify" else 2)
        assert SENTENCE in (out if verb == "verify" else err)
        assert len(err.splitlines()) <= 1, (verb, err)
    shutil.move(home / "runs" / "run", away / "run")  # both, each to a place of its own
    at = ["--benchmark", tmp_path / "elsewhere" / "kept"]
    assert say(*told("evaluate", away / "run", tmp_path, *at))[0] == 0
    for verb in VERBS:  # it was told once
        code, out, err = say(*told(verb, away / "run", tmp_path))
        assert code == 0, (verb, out, err)
    shutil.move(tmp_path / "elsewhere" / "kept", away / "near")  # beside it, under another name
    assert say("evaluate", away / "run")[0] == 0


def test_the_card_has_the_licence_of_a_named_data_set(tmp_path):
    kb = assent.read("world")
    assent.save(assent.build(kb), tmp_path / "benchmark")
    learned(tmp_path / "benchmark", tmp_path / "run", "train.epochs=1")
    assent.unpack(assent.pack(tmp_path / "run", tmp_path / "run.zip"), tmp_path / "there")
    card = (tmp_path / "there" / "README.md").read_text()
    assert "Licence of the data set world: GeoNames CC BY 4.0" in card
    assert "Licence: not stated" in card
    (tmp_path / "there" / "README.md").write_text(card.replace("CC BY", "MIT"))
    assert wrong(tmp_path / "there") == ["README.md"]
