"""A model in a user's own file is trained, loaded again, and blamed for its own errors."""

from importlib.metadata import EntryPoint

import pytest

import assent
import assent.models
import toy
from assent.errors import ConfigError, ModelFileError
from assent.models.embedding import DotModel, DotSettings, Embedding

MODEL = """
from dataclasses import dataclass

from torch.nn import functional

from assent.models.embedding import DotModel, DotSettings


@dataclass(frozen=True, slots=True)
class Settings(DotSettings):
    scale: float = 1.0


class Mine(DotModel, name="complex"):
    Settings = Settings

    def __init__(self, num_entities, num_relations, settings):
        super().__init__(num_entities, num_relations, settings)
        self.relations = self.drawn(self.num_slots, settings.dim)

    def encode(self, anchors, relations):
        return self.settings.scale * anchors * functional.embedding(relations, self.relations)


class Abstract(DotModel):
    pass
"""
TINY = ["model.dim=8", "train.epochs=2", "train.evaluate_every=2", "train.threads=1"]
TINY = [word for change in TINY for word in ("--set", change)]


@pytest.fixture
def folder(tmp_path):
    assent.save(toy.built(toy.crowd(0, 40, 3, 8)), tmp_path / "benchmark")
    (tmp_path / "my_model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


def train(say, folder, *more, kind="Mine", out="run"):
    file = f"{folder / 'my_model.py'}:{kind}"
    benchmark = folder / "benchmark"
    return say("train", benchmark, "--model", file, "--out", folder / out, *TINY, *more)


def test_all_verbs_load_it_again(say, folder):
    code, printed, _ = train(say, folder, "--set", "model.scale=0.5")
    assert code == 0 and "my_model.py:Mine" in printed
    run = folder / "run"
    assert say("tune", run)[0] == 0 and say("evaluate", run)[0] == 0
    assert say("tune", run, "--rule", "judge")[0] == 0
    assert say("report", run, "--out", folder / "report.html")[0] == 0
    out = folder / "new.tsv"
    assert say("complete", run, "--precision", "0.5", "--out", out, "--refit")[0] == 0
    assert type(assent.load_run(run).model).__name__ == "Mine"
    assert assent.load_run(run).settings.model.scale == 0.5
    assert train(say, folder, "--set", "model.scale=0.5")[0] == 0  # goes on where it ended
    assert Embedding.registered["complex"].__name__ == "ComplEx"  # no file takes our names


def test_a_file_that_is_gone_or_changed_is_said(say, folder, monkeypatch):
    assert train(say, folder)[0] == 0
    file, run = folder / "my_model.py", folder / "run"
    (folder / "elsewhere.py").write_text(MODEL, encoding="utf-8")
    file.write_text(MODEL + "\n# changed\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"my_model.py: .* has changed since"):
        assent.load_run(run)
    file.unlink()
    code, _, complaint = say("tune", run)
    assert code == 2 and "is gone; put the file back" in complaint
    assert len(complaint.splitlines()) == 1
    monkeypatch.setenv("ASSENT_MODELS", f"{folder / 'nothing.py'}:{folder / 'elsewhere.py'}")
    assert say("tune", run)[0] == 0


def test_a_run_from_a_stranger_runs_no_code(say, folder, monkeypatch):
    ran = folder / "ran"
    (folder / "my_model.py").write_text(
        f"import pathlib; pathlib.Path({str(ran)!r}).touch()\n" + MODEL, encoding="utf-8"
    )
    assert train(say, folder)[0] == 0
    ran.unlink()
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "another user"))
    monkeypatch.setattr("assent.models.custom._LOADED", {})
    code, _, complaint = say("tune", folder / "run")
    assert code == 2 and "would run the code of this file" in complaint and not ran.exists()
    monkeypatch.setenv("ASSENT_MODELS", str(folder / "my_model.py"))
    assert say("tune", folder / "run")[0] == 0 and ran.exists()


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("return self.settings", "return nothing(); self.settings",
         r"my_model.py:22: in encode: NameError: name 'nothing'"),
        ("self.relations = ", "1 / 0; self.relations = ",
         r"my_model.py:19: in __init__: ZeroDivisionError"),
        ("from dataclasses", "raise SystemExit(0)\nfrom dataclasses",
         r"my_model.py:2: in <module>: SystemExit"),
        ("class Mine(", "class Mine(((", r"my_model.py:\d+: SyntaxError"),
        ("self.settings.scale * anchors", "anchors[:, :3]",
         r"my_model.py:22: in encode: RuntimeError"),
    ],
)  # fmt: skip
def test_an_error_in_it_names_its_file_and_line(say, folder, before, after, message):
    text = MODEL.replace(before, after)
    assert text != MODEL
    (folder / "my_model.py").write_text(text, encoding="utf-8")
    with pytest.raises(ModelFileError, match=message):
        assent.train(folder / "benchmark", f"{folder / 'my_model.py'}:Mine")
    code, _, complaint = train(say, folder, out="other")
    assert code == 2 and "Traceback" not in complaint


def test_what_is_no_model_is_said(say, folder):
    for kind, message in (
        ("Other", "no class Other that is an Embedding"),
        ("dataclass", "no class dataclass"),
        ("Abstract", "Abstract lacks encode"),
    ):
        code, _, complaint = train(say, folder, kind=kind)
        assert code == 2 and message in complaint
    with pytest.raises(ConfigError, match="No such file"):
        assent.train(folder / "benchmark", f"{folder / 'nothing.py'}:Mine")


class Packaged(DotModel):
    Settings = DotSettings

    def __init__(self, num_entities, num_relations, settings):
        super().__init__(num_entities, num_relations, settings)
        self.relations = self.drawn(self.num_slots, settings.dim)

    def encode(self, anchors, relations):
        return anchors * self.relations[relations]


def test_an_installed_package_brings_models(monkeypatch, folder):
    assent.models.settings_of("complex", {})  # imports all models, which register themselves
    monkeypatch.setattr(Embedding, "registered", dict(Embedding.registered))
    assert assent.models.in_packages() == {}
    entry = EntryPoint("packaged", f"{__name__}:Packaged", "assent.models")
    wrong = EntryPoint("broken", "nowhere:Nothing", "assent.models")
    found = {"packaged": entry, "broken": wrong}
    monkeypatch.setattr(assent.models, "in_packages", lambda: found)
    assert "packaged" in assent.models.names()
    changes = TINY[1::2]
    run = assent.train(folder / "benchmark", "packaged", out=folder / "packaged", changes=changes)
    assert isinstance(run.model, Packaged)
    assert assent.load_run(folder / "packaged").model.digest() == run.model.digest()
    with pytest.raises(ModelFileError, match="'broken' of an installed package"):
        assent.train(folder / "benchmark", "broken")
