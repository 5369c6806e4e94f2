"""Settings: each source changes what the ones before it say; mistakes name what is right."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assent.errors import ConfigError
from assent.models import names
from assent.settings import of_sections, read_toml, resolve, settled, to_toml


def test_later_sources_win(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[train]\nepochs = 7\nseed = 1\n[model]\ndim = 32\n", encoding="utf-8")
    settings = resolve("complex", file=file, changes=["train.seed=5", "model.query_dropout=0"])
    assert (settings.train.epochs, settings.train.seed) == (7, 5)
    assert (settings.model.dim, settings.model.query_dropout) == (32, 0.0)


def test_the_paper_s_preset_trains_as_the_paper_did():
    train = resolve("transe", "paper").train
    assert (train.epochs, train.patience, train.evaluate_every) == (200, 50, 1)
    assert (train.optimizer, train.loss, train.stop_on) == ("adam", "bce", "dev-loss")


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("preset", ["default", "paper"])
def test_what_is_saved_reads_back_equal(tmp_path, name, preset):
    settings = resolve(name, preset)
    file = tmp_path / "settings.toml"
    file.write_text(to_toml(settings.sections()), encoding="utf-8")
    assert of_sections(read_toml(file), file) == settings
    assert resolve(name, preset, file) == settings


texts = st.text(st.characters(exclude_categories=["Cs"]))  # all but half characters
plain = texts | st.booleans() | st.integers() | st.floats()
same = st.dictionaries(texts, plain | st.lists(plain))


@given(st.dictionaries(texts, same))
@example({"benchmark": {"path": "../b\U0001f600\x7f\x00\x85\u2028\r\n\t'\"\\"}})
def test_whatever_is_written_as_toml_reads_back_equal(sections):
    read = tomllib.loads(to_toml(sections))
    assert repr(read) == repr(sections)  # a nan equals none, and prints alike


def test_half_a_character_is_refused_as_toml_cannot_hold_it():
    with pytest.raises(ConfigError, match=r"benchmark.path: 'b\\udcff', which TOML cannot hold"):
        to_toml({"benchmark": {"path": "b\udcff"}})


def test_a_run_of_a_benchmark_with_an_emoji_in_its_path_reads_back(tmp_path):
    file = tmp_path / "settings.toml"
    sections = {**resolve("complex").sections(), "benchmark": {"path": "../b😀"}}
    file.write_text(to_toml(sections), encoding="utf-8")
    assert read_toml(file) == sections


def test_a_run_goes_on_with_what_it_was_begun_with_whatever_the_default_is_now():
    before = {"model": {"name": "complex", "dim": 100}, "train": {"epochs": 7}}  # an older default
    begun = of_sections(before, Path("settings.toml")).sections()
    again = resolve("complex", changes=["train.threads=1"], begun=begun)
    assert (again.model.dim, again.train.epochs, again.train.threads) == (100, 7, 1)
    assert again.train.candidates == 0  # as there was no such setting, all of them
    assert resolve("complex", "paper", begun=begun) == resolve("complex", "paper")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("train.epoch=3", "unknown setting train.epoch; did you mean 'epochs'?"),
        ("model.dims=3", "unknown setting model.dims; did you mean 'dim'?"),
        ("trian.epochs=3", "unknown section in --set 'trian'; did you mean 'train'?"),
        ("train.epochs=many", "train.epochs: expected a whole number, found 'many'"),
        ("train.epochs=3.5", "train.epochs: expected a whole number, found 3.5"),
        ("model.dim=nan", "model.dim: expected a whole number, found nan"),
        ("model.dim=inf", "model.dim: expected a whole number, found inf"),
        ("train.optimizer=sgd", "optimizer = 'sgd'; choose from adam, adagrad"),
        ("epochs=3", "--set 'epochs=3'; expected section.key=value"),
        ("train.epochs", "--set 'train.epochs'; expected section.key=value"),
        ("model.name=conve", "model.name = 'conve', but the model asked for is 'complex'"),
    ],
)
def test_a_mistake_is_refused_with_what_would_be_right(change, message):
    with pytest.raises(ConfigError) as refused:
        resolve("complex", changes=[change])
    assert message in str(refused.value)


def test_unknown_names_of_models_and_presets_are_refused():
    with pytest.raises(ConfigError, match="unknown model 'complx'; did you mean 'complex'"):
        resolve("complx")
    with pytest.raises(ConfigError, match="unknown preset 'papper'; did you mean 'paper'"):
        resolve("complex", "papper")


def test_a_file_that_is_no_toml_is_refused(tmp_path):
    file = tmp_path / "bad.toml"
    file.write_text("epochs: 3", encoding="utf-8")
    with pytest.raises(ConfigError, match="expected TOML"):
        resolve("complex", file=file)
    with pytest.raises(ConfigError, match="No such file"):
        resolve("complex", file=tmp_path / "absent.toml")


@pytest.mark.parametrize(("queries", "members", "epochs"), [(59_999, 1, 30), (60_000, 4, 30)])
def test_a_large_graph_gets_four_members_of_complex(queries, members, epochs):
    found = settled(resolve("complex"), queries)
    assert (found.model.members, found.train.epochs) == (members, epochs)
    assert settled(resolve("distmult"), queries).model.members == 1


def test_members_that_were_asked_for_are_kept():
    assert settled(resolve("complex", changes=["model.members=2"]), 10**6).model.members == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[train]\nlabel_smnothing = 0.1\n", "unknown setting train.label_smnothing; did you mean"),
        ("[train]\nlabel_smoothing = 2.0\n", "label_smoothing = 2.0; choose from 0"),
        ("[model]\ndimm = 3\n", "unknown setting model.dimm"),
        ("model = 3\n", "model = "),
    ],
)
def test_a_mistake_in_a_file_is_refused_by_the_name_of_the_file(tmp_path, text, message):
    file = tmp_path / "settings.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        resolve("complex", file=file)
    assert str(refused.value).startswith(f"{file}: {message}")
    sections = {"model": {"name": "complex"}} | read_toml(file)
    if isinstance(sections["model"], dict):
        sections["model"] = {"name": "complex"} | sections["model"]
    with pytest.raises(ConfigError) as refused:
        of_sections(sections, file)
    assert str(refused.value).startswith(f"{file}: {message}")


def test_a_mistake_beside_a_file_is_not_the_file_s(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[train]\nepochs = 3\n")
    with pytest.raises(ConfigError) as refused:
        resolve("complex", file=file, changes=["train.epoch=3"])
    assert str(refused.value).startswith("unknown setting train.epoch")
