"""Settings: defaults, then a preset, then a TOML file, then `key=value`, checked once."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from assent.core.arrays import Ids
from assent.core.checking import checked, refuse_unknown
from assent.core.texts import Texts
from assent.core.types import Types
from assent.core.vocabulary import Vocabulary
from assent.errors import ConfigError, DataError
from assent.files.annotations import read_texts
from assent.files.encoders import encoder
from assent.files.guarding import parsing, refuse_special
from assent.files.text import is_text
from assent.files.trusted import VARIABLE, is_trusted, named_files, trust
from assent.models import Model, ModelSettings, create, names, settings_of
from assent.models.custom import Custom, checksum
from assent.models.text import TextSettings
from assent.rules.model import RuleModel, RuleSettings
from assent.training.batches import suitable_members
from assent.training.presets import PRESETS
from assent.training.settings import TrainSettings
from assent.training.settings import settled as settled_training
from assent.training.warming import UpdateSettings

Values = dict[str, dict[str, Any]]
SECTIONS = ("model", "train")
_BARE = re.compile(r"[A-Za-z0-9_-]+")  # a name that TOML reads without quotes
COUNTED = {"rules": RuleModel}  # models whose numbers are counted in one go, not trained in steps


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is made with."""

    name: str  # of the model
    model: ModelSettings | RuleSettings
    train: TrainSettings

    def sections(self) -> Values:
        return {"model": {"name": self.name, **asdict(self.model)}, "train": asdict(self.train)}


def model_names() -> tuple[str, ...]:
    """The models there are, trained or counted."""
    return tuple(sorted((*names(), *COUNTED)))


def model_settings(name: str, values: dict[str, Any]) -> ModelSettings | RuleSettings:
    """The settings of a model: its defaults, and these values instead."""
    if Custom.of(name) is None:
        refuse_unknown(name, model_names(), "model")
    if name not in COUNTED:
        return settings_of(name, values)
    kind = COUNTED[name].Settings
    return kind(**checked(kind, values, "model"))


def named_by_user(name: str) -> str:
    """The model that a person asks for, as settings name it.

    Of a file, `my_model.py:MyModel`, it is the code as it is now, which may be run from now on.
    """
    if (custom := Custom.of(name)) is None or custom.sha256:
        return name
    pinned = custom.pinned()
    trust(pinned.sha256)
    return str(pinned)


def _named_by_run(name: str) -> str:
    """The model that a run's settings name; the code of a file must be known on this machine."""
    if (custom := Custom.of(name)) is None:
        return name
    for file in named_files():
        if file.is_file() and checksum(file) == custom.sha256:
            return str(custom._replace(path=str(file.resolve())))
    path = Path(custom.path)
    if not path.is_file():
        raise ConfigError(
            f"{path}: the run's model was written there, and is gone; put the file back, or say "
            f"where it is: {VARIABLE}=FILE"
        )
    if checksum(path) != custom.sha256:
        raise ConfigError(
            f"{path}: the run's model was written there, and has changed since; put the file back "
            f"as it was, or say where that is: {VARIABLE}=FILE"
        )
    if not is_trusted(custom.sha256):
        raise ConfigError(
            f"{path}: loading this run would run the code of this file, which nobody trained with "
            f"on this machine; if you trust it, say {VARIABLE}={path}"
        )
    return name


def new_model(
    settings: Settings,
    vocabulary: Vocabulary,
    texts: Texts | None = None,
    facts: Ids | None = None,
) -> Model | RuleModel:
    """A model that has not learned yet; one that is to be loaded needs no texts and no facts."""
    sizes = vocabulary.num_entities, vocabulary.num_relations
    if isinstance(settings.model, RuleSettings):
        return COUNTED[settings.name](*sizes, settings.model)
    return create(settings.name, *sizes, settings.model, texts, facts)


def texts_for(settings: Settings, vocabulary: Vocabulary, types: Types | None) -> Texts | None:
    """What is written about the entities, as the model of these settings reads it, if it does."""
    return texts_since(settings, vocabulary, types, 0)


def texts_since(
    settings: Settings, vocabulary: Vocabulary, types: Types | None, first: int
) -> Texts | None:
    """What is written about the entities from this one on, if the model reads texts.

    Something must be written about any of the entities, not about one of these.
    """
    if not isinstance(model := settings.model, TextSettings):
        return None
    told = read_texts(model.names, vocabulary.entities) if model.names else ()
    texts = Texts.of(vocabulary, types, told)
    if not texts:
        example = vocabulary.entities[0] if vocabulary.entities else ""
        raise DataError(
            f"text: the graph has ids such as {example!r}, but no names and no types; give a file "
            "of names (entity, name): --set model.names=FILE"
        )
    texts = texts.since(first)
    return texts.encoded(encoder(model.encoder)(texts.sentences()))


def resolve(
    name: str,
    preset: str = "default",
    file: Path | None = None,
    changes: Iterable[str] = (),
    begun: Values | None = None,
) -> Settings:
    """The settings for a model; each source changes what the ones before it say.

    A run that was `begun` with these settings goes on with them in place of the default preset,
    which may have been another one then.
    """
    name = named_by_user(name)
    refuse_unknown(preset, PRESETS, "preset")
    goes_on = begun is not None and preset == "default"
    sources = [("the run", begun or {}) if goes_on else ("preset", PRESETS[preset](name))]
    sources += [(str(file), read_toml(file))] if file else []
    sources += [("--set", _parsed(change)) for change in changes]
    for where, source in sources:
        for section, more in source.items():
            refuse_unknown(section, SECTIONS, f"section in {where}")
            if not isinstance(more, dict):
                raise ConfigError(f"{where}: {section} = {more!r}; expected a section of settings")
    try:
        return _merged(name, [source for _, source in sources])
    except ConfigError as error:
        others = [source for where, source in sources if file is None or where != str(file)]
        with suppress(ConfigError):
            _merged(name, others)  # right without the file: the file is wrong
            error = ConfigError(f"{file}: {error}")
        raise error from None


def _merged(name: str, sources: Iterable[Values]) -> Settings:
    """The settings of a model; each source changes what the ones before it say."""
    values: Values = {section: {} for section in SECTIONS}
    for source in sources:
        for section, more in source.items():
            values[section] |= more
    named = values["model"].pop("name", name)
    if named != name:
        raise ConfigError(f"model.name = {named!r}, but the model asked for is {name!r}")
    train = TrainSettings(**checked(TrainSettings, values["train"], "train"))
    return Settings(name, model_settings(name, values["model"]), train)


def update_settings(changes: Iterable[str] = ()) -> UpdateSettings:
    """The settings of an update: its defaults, and changes such as `update.epochs=4`."""
    values: dict[str, Any] = {}
    for change in changes:
        for section, more in _parsed(change).items():
            refuse_unknown(section, ("update",), "section in --set")
            values |= more
    return UpdateSettings(**checked(UpdateSettings, values, "update"))


def settled(settings: Settings, num_queries: int) -> Settings:
    """The settings, with what they leave open (0) as suits so many queries."""
    model = settings.model
    if isinstance(model, ModelSettings) and not model.members:
        model = replace(model, members=suitable_members(num_queries))
    return replace(settings, model=model, train=settled_training(settings.train, num_queries))


def of_sections(sections: Values, path: Path) -> Settings:
    """Settings as a run's `settings.toml`, at this path, has them; errors name it."""
    with _saying(path):
        model, train = (_section(sections, section) for section in SECTIONS)
    name = _named_by_run(str(model.pop("name", "")))
    with _saying(path):
        train_settings = TrainSettings(**checked(TrainSettings, train, "train"))
        return Settings(name, model_settings(name, model), train_settings)


@contextmanager
def _saying(path: Path) -> Iterator[None]:
    """What is wrong with settings is wrong with the file that they stand in."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def _section(sections: Values, name: str) -> dict[str, Any]:
    found = sections.get(name, {})
    if not isinstance(found, Mapping):
        raise ConfigError(f"{name} = {str(found)[:40]!r}; expected a section [{name}]")
    return dict(found)


def read_toml(path: Path) -> Values:
    with parsing(path, "TOML", ConfigError):
        refuse_special(path, ConfigError)
        return tomllib.loads(path.read_text(encoding="utf-8"))


def to_toml(sections: Values) -> str:
    """Sections of plain values as TOML, which reads back equal; refuses what TOML cannot hold."""
    lines = []
    for section, values in sections.items():
        lines.append(f"[{_name_in_toml(section)}]")
        for name, value in values.items():
            try:
                lines.append(f"{_name_in_toml(name)} = {in_toml(value)}")
            except ConfigError as error:
                raise ConfigError(f"{section}.{name}: {error}") from None
        lines.append("")
    return "\n".join(lines)


def in_toml(value: Any) -> str:
    """A text, a number, true or false, or a list of these, as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)  # Python writes numbers, also inf and nan, as TOML does
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(in_toml, value))}]"
    if not is_text(value):
        raise ConfigError(f"{value!a}, which TOML cannot hold; expected text, numbers or lists")
    return '"' + "".join(map(_letter_in_toml, value)) + '"'


def _name_in_toml(name: str) -> str:
    return name if _BARE.fullmatch(name) else in_toml(name)


def _letter_in_toml(letter: str) -> str:
    """A letter as it stands between quotes; what shows nothing itself goes by its number."""
    if letter in '"\\':
        return f"\\{letter}"
    number = ord(letter)
    return (
        letter
        if letter.isprintable()
        else f"\\u{number:04X}"
        if number < 1 << 16
        else f"\\U{number:08X}"
    )


def _parsed(change: str) -> Values:
    """`train.epochs=3`, the short form of such a TOML file."""
    key, equals, text = change.partition("=")
    section, dot, name = key.strip().partition(".")
    if not (equals and dot and section and name):
        raise ConfigError(f"--set {change!r}; expected section.key=value, as in train.epochs=10")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text.strip()  # a bare word is text
    return {section: {name: value}}
