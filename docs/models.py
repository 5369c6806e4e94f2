"""Writes the tables of docs/settings.md that have a model's own settings, from its dataclass.

python docs/models.py
"""

import ast
import inspect
import re
import tokenize
from collections.abc import Iterator
from dataclasses import fields
from io import StringIO
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from assent.models import ModelSettings
from assent.settings import model_names, resolve

PAGE = Path(__file__).resolve().parent / "settings.md"
BEGINS, ENDS = "## What one model has\n", "\n## Presets\n"
COMMON = [field.name for field in fields(ModelSettings)]


def page() -> str:
    """The page as it should be; what stands around the tables is kept."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGINS)], text[text.index(ENDS) :]
    before = re.sub(r"(?m)^\| `(\w+)` \|.*\| (.*) \|$", _common_row, before)
    return before + BEGINS + "".join(_sections()) + after


def _common_row(found: re.Match[str]) -> str:
    """A row of the table of every model: the defaults are filled in, the words are kept."""
    name, words = found.groups()
    if name not in COMMON:
        return found[0]
    models: dict[str, list[str]] = {}
    for model in model_names():
        settings = resolve(model).model
        if isinstance(settings, ModelSettings):
            models.setdefault(_written(getattr(settings, name)), []).append(model)
    usual = max(models, key=lambda value: len(models[value]))
    told = [f"{value} for {_listed(those)}" for value, those in models.items() if value != usual]
    told.append(f"else {usual}" if told else usual)
    return f"| `{name}` | {'; '.join(told)} | {words} |"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)


def _sections() -> Iterator[str]:
    yield "\nWhat each model has beside the table above, as in `--set model.anchor=plain`. Where "
    yield "`--preset paper` has another default, it stands in parentheses. The tables are written "
    yield "from the code (`python docs/models.py`).\n"
    for model in model_names():
        settings = resolve(model).model
        told = comments(type(settings))
        own = [name for name in told if name not in COMMON]
        yield f"\n### `{model}`\n\n"
        if not own:
            yield "Only what every model has.\n"
            continue
        yield "| `model.` | default | |\n|---|---|---|\n"
        hints, bare = get_type_hints(type(settings)), type(settings)()
        for name in own:
            value, plain = _written(getattr(settings, name)), _written(getattr(bare, name))
            shown = value if value == plain else f"{value} ({plain})"
            said = "; ".join(filter(None, (_choices(hints[name]), told[name])))
            yield f"| `{name}` | {shown} | {said} |\n"


def comments(kind: type[Any]) -> dict[str, str]:
    """What the code says of each setting, beside it or above it, those it inherits first."""
    told: dict[str, str] = {}
    for part in reversed([each for each in kind.__mro__ if "__dataclass_fields__" in vars(each)]):
        source = inspect.getsource(part)
        said = {
            token.start[0]: (token.string.lstrip("# "), token.line.lstrip().startswith("#"))
            for token in tokenize.generate_tokens(StringIO(source).readline)
            if token.type == tokenize.COMMENT
        }
        (body,) = ast.parse(source).body
        assert isinstance(body, ast.ClassDef)
        for line in body.body:
            if not (isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)):
                continue
            words, _ = said.get(line.lineno, ("", False))
            above, number = [], line.lineno - 1
            while said.get(number, ("", False))[1]:
                above.insert(0, said[number][0])
                number -= 1
            told[line.target.id] = words or " ".join(above) or told.get(line.target.id, "")
    return {field.name: told[field.name].replace("|", "\\|") for field in fields(kind)}


def _choices(hint: Any) -> str:
    return ", ".join(map(str, get_args(hint))) if get_origin(hint) is Literal else ""


def _written(value: Any) -> str:
    """A default as one writes it to `--set`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return str(value) or "none"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
