"""Models are found by name, and their settings are checked."""

import subprocess
import sys

import pytest

from assent.errors import ConfigError
from assent.models import create, names, settings_of
from assent.models.embedding import DotModel, DotSettings, Embedding


def test_every_file_registers_its_model():
    translations = ("transa", "transe", "transh", "transr")
    others = ("attention", "complex", "conve", "distmult", "region", "rescal", "text")
    assert names() == (*others, *translations)
    settings_of("complex", {})  # imports them all
    assert names() == tuple(sorted(Embedding.registered))


def test_names_are_known_without_torch():
    code = "import sys, assent.models; assent.models.names(); sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_model_registered_elsewhere_has_a_name_too(monkeypatch):
    monkeypatch.setattr(Embedding, "registered", dict(Embedding.registered))

    class Toy(DotModel, name="toy"):
        pass

    assert "toy" in names() and "complex" in names()


def test_settings_are_the_defaults_and_what_was_said():
    settings = settings_of("distmult", {"dim": 32, "query_dropout": 0})
    assert settings == DotSettings(dim=32, query_dropout=0.0)
    assert type(settings.query_dropout) is float


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("ComplEx", {}, "unknown model 'ComplEx'; did you mean 'complex'?"),
        ("gpt", {}, "unknown model 'gpt'; choose from attention, complex, conve"),
        ("complex", {"dims": 3}, "unknown setting model.dims; did you mean 'dim'?"),
        ("complex", {"zzz": 3}, "unknown setting model.zzz; choose from dim, "),
        ("complex", {"dim": "128"}, "model.dim: expected a whole number, found '128'"),
        ("complex", {"dim": True}, "model.dim: expected a whole number, found True"),
        ("complex", {"dim": 0}, "model.dim: expected 1 or more, found 0"),
        ("complex", {"dim": 7}, "model.dim: complex takes an even number, found 7"),
        ("complex", {"init_scale": 0}, "model.init_scale: expected more than 0, found 0"),
        (
            "complex",
            {"query_dropout": 1},
            "model.query_dropout: expected 0 to less than 1",
        ),
        ("conve", {"feature_dropout": -0.1}, "model.feature_dropout: expected 0 to less than 1"),
        ("conve", {"dim": 6}, "conve: a 3x3 convolution needs .* 6 makes 3 x 2"),
        ("transe", {"norm": 3}, "model.norm: expected 1 or 2, found 3"),
        ("transe", {"norm": True}, "model.norm: expected 1 or 2, found True"),
        ("region", {"shape": "cube"}, "model.shape: expected 'ellipse' or 'sphere', found 'cube'"),
        ("region", {"start": 0.0}, "model.start: expected more than 0, found 0.0"),
        (
            "region",
            {"anchor": "scaled", "reciprocal": False},
            "model.anchor: a scaled anchor needs model.reciprocal.*choose model.anchor=plain",
        ),
        ("region", {"pace": 0.0}, "model.pace: expected more than 0, found 0.0"),
        ("region", {"dim": 0}, "model.dim: expected 1 or more, found 0"),
        ("text", {"least": 0}, "model.least: expected 1 or more, found 0"),
        ("text", {"free_dropout": 1}, "model.free_dropout: expected 0 to less than 1"),
        ("region", {"normalize": 1}, "model.normalize: expected true or false, found 1"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(name, values, message):
    with pytest.raises(ConfigError, match=message.replace("?", r"\?")):
        create(name, 5, 2, values)


def test_settings_of_another_model_are_refused():
    with pytest.raises(ConfigError, match="expected TransESettings, found DotSettings"):
        create("transe", 5, 2, DotSettings())
