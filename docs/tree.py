"""Writes docs/architecture.md: the layers as pyproject.toml has them, every file by its docstring.

python docs/tree.py
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
SOURCE = PROJECT / "src" / "assent"
PAGE = PROJECT / "docs" / "architecture.md"
HEADING = "## Every file, in a line\n"
END = "\n`datasets/world/` holds"  # what follows the tables is written by hand


def page() -> str:
    """The page as it should be; what people wrote into it is kept."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(HEADING)], text[text.index(END) :]
    layers = "```text\n" + "\n".join(_layers()) + "\n```"
    before = re.sub(r"```text\n(?:[a-z]+(?: \| [a-z]+)*\n)+```", lambda _: layers, before)
    return before + HEADING + "".join(_sections()) + after


def _layers() -> list[str]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    return project["tool"]["importlinter"]["contracts"][0]["layers"]


def _sections() -> Iterator[str]:
    yield from _section("", "", sorted(SOURCE.glob("*.py")))
    names = [name for layer in reversed(_layers()) for name in re.findall(r"\w+", layer)]
    for name in names:
        if (folder := SOURCE / name).is_dir():
            files = sorted(path for path in folder.rglob("*.py") if path != folder / "__init__.py")
            yield from _section(f"{name}/", first_line(folder / "__init__.py"), files)


def _section(folder: str, about: str, files: list[Path]) -> Iterator[str]:
    yield f"\n### `{folder or 'src/assent/'}`\n"
    yield f"\n{about}\n" if about else ""
    yield "\n| file | |\n|---|---|\n"
    for path in files:
        line = first_line(path).replace("|", "\\|")
        yield f"| `{path.relative_to(SOURCE).as_posix()}` | {line} |\n"


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
