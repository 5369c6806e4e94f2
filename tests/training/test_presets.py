"""Every preset fits every model: its settings exist and have the right types."""

import pytest

from assent.core.checking import checked
from assent.models import names, settings_of
from assent.reproducing.models import Spec
from assent.settings import resolve
from assent.training.presets import PRESETS
from assent.training.settings import TrainSettings


@pytest.mark.parametrize("model", names())
@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_holds_settings_that_exist(preset, model):
    values = PRESETS[preset](model)
    assert set(values) <= {"model", "train"}
    settings_of(model, values.get("model", {}))
    TrainSettings(**checked(TrainSettings, values.get("train", {}), "train"))


def test_the_papers_preset_is_the_papers():
    values = PRESETS["paper"]("region")
    train = values["train"]
    assert values["model"] == {"dim": 64}
    assert (train["epochs"], train["patience"], train["stop_on"]) == (200, 50, "dev-loss")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("name", ["region-64", "region-sphere-64", "transe-64"])
def test_the_papers_rows_of_translations_are_trained_as_they_were_reported(name, preset):
    settings = Spec.of(name, preset).settings
    if settings.name == "region":
        assert (settings.model.anchor, settings.model.start) == ("plain", 1.0)
    else:
        assert settings.model.norm == 1
    rate = {"default": 0.003, "paper": 0.001}[preset]
    assert (settings.train.learning_rate, settings.train.candidates) == (rate, 0)
    asked = Spec.of(name, preset, ("train.candidates=0.1",)).settings
    assert asked.train.candidates == 0.1


def test_region_has_the_papers_formula_where_the_paper_is_asked_for():
    model = resolve("region", "paper").model
    assert (model.anchor, model.start, model.pace) == ("plain", 1.0, 1.0)
    assert resolve("region").model.anchor == "scaled"


def test_translations_have_the_rates_that_were_better_on_two_graphs():
    rates = {name: resolve(name).train.learning_rate for name in ("transe", "transh", "transr")}
    assert rates == {"transe": 0.005, "transh": 0.005, "transr": 0.005}
    assert resolve("transr").train.slots == 4
