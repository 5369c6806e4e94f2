"""Help that nobody has to keep true: its lists of names come from the tables that define them."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from typer.core import TyperCommand
from typer.models import OptionInfo

from assent.cli.calling import OneLine

# A {word} in a help text stands for the names in this table, which is only looked at when help is
# shown: `assent --help` need not load what defines them.
TABLES = {
    "models": ("assent.choices", "model_names"),
    "presets": ("assent.choices", "preset_names"),
    "datasets": ("assent.choices", "dataset_names"),
    "rules": ("assent.deciding.naming", "rule_names"),
    "rules_in_words": ("assent.deciding.naming", "rules_in_words"),
    "deals": ("assent.building.recipe", "DEALS"),
    "engines": ("assent.files.engines.choosing", "ENGINES"),
    "recipes": ("assent.building.drawing", "recipe_names"),
    "layouts": ("assent.files.benchmarks", "LAYOUTS"),
    "fact_files": ("assent.files.facts", "WRITERS"),
    "written": ("assent.files.formats", "writable_suffixes"),
}

# What stands behind an option in help, by the type of its value.
METAVARS = {Path: "PATH", str: "TEXT", int: "N", float: "NUMBER"}


class Listing(OneLine, TyperCommand):
    """A command whose help fills in lists of names from the tables that define them.

    It names values in words, and shows no type of Python.
    """

    def format_help(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if text := getattr(parameter, "help", None):
                parameter.help = listed(text)  # type: ignore[attr-defined]
            if parameter.param_type_name == "argument":  # its name says enough
                parameter.display_type_rich = _no_type  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """`[OPTIONS] BENCHMARK [PATH]`."""
        arguments = [p for p in self.get_params(ctx) if p.param_type_name == "argument"]
        names = [(argument.metavar or str(argument.name).upper()) for argument in arguments]
        pieces = [
            name if argument.required else f"[{name}]"
            for name, argument in zip(names, arguments, strict=True)
        ]
        return [self.options_metavar or "", *pieces]


def _no_type(ctx: Any) -> None: ...


def name_value(annotation: Any) -> None:
    """Gives an option a word for its value, if it has none of its own."""
    if get_origin(annotation) is not Annotated:
        return
    kind, *infos = get_args(annotation)
    inner = [part for each in get_args(kind) for part in (each, *get_args(each))]
    word = next((word for plain, word in METAVARS.items() if plain in (kind, *inner)), None)
    for info in infos:
        if isinstance(info, OptionInfo) and info.metavar is None:
            info.metavar = "NAME" if word and info.autocompletion else word


def listed(text: str) -> str:
    """The text with the names of each table that it mentions."""
    for word in TABLES:
        if f"{{{word}}}" in text:
            text = text.replace(f"{{{word}}}", ", ".join(names_of(word)))
    return text


def names_of(word: str) -> list[str]:
    """The names in a table."""
    module, name = TABLES[word]
    table = getattr(import_module(module), name)
    return list(table() if callable(table) else table)


def one_of(word: str) -> Callable[[str], list[str]]:
    """Completes a name of a table in the shell."""
    return lambda incomplete: [name for name in names_of(word) if name.startswith(incomplete)]


def dataset_or_path(incomplete: str) -> list[str]:
    """Completes the name of a data set in the shell, or a path."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    prefix = "" if "/" not in incomplete else incomplete.rpartition("/")[0] + "/"
    paths = sorted(folder.glob("*")) if folder.is_dir() else []
    shown = [f"{prefix}{path.name}{'/' if path.is_dir() else ''}" for path in paths]
    return [name for name in (*names_of("datasets"), *shown) if name.startswith(incomplete)]
