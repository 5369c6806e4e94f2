"""Writes the part of docs/architecture.md that has a line for every source file.

python tools/tree.py

A file's line is the first sentence of its docstring.
"""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE, SOURCE = ROOT / "docs" / "architecture.md", ROOT / "src" / "assent"
START = "## Every file, in a line"


def main() -> None:
    before, _, _ = PAGE.read_text(encoding="utf-8").partition(START)
    PAGE.write_text(before + START + "\n\n" + described(), encoding="utf-8")


def described() -> str:
    """A heading and a table for the package itself and for each of its folders."""
    folders = [SOURCE, *sorted(path.parent for path in SOURCE.glob("*/__init__.py"))]
    return "\n".join(section(folder) for folder in folders)


def section(folder: Path) -> str:
    top = folder == SOURCE
    files = sorted(path for path in folder.glob("*.py") if top or path.name != "__init__.py")
    heading = "`assent/`" if top else f"`{folder.name}/`"
    opening = "" if top else f"{sentence(folder / '__init__.py')}\n\n"
    rows = "\n".join(f"| `{p.relative_to(SOURCE).as_posix()}` | {sentence(p)} |" for p in files)
    return f"### {heading}\n\n{opening}| file | |\n|---|---|\n{rows}\n"


def sentence(path: Path) -> str:
    """The first paragraph of a file's docstring, as one line of a table."""
    said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return said.split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


if __name__ == "__main__":
    main()
