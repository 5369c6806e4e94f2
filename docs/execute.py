"""Runs the cells of docs/notebook.ipynb, keeps what they show, and writes docs/notebook.md from it.

`python docs/execute.py --check` writes nothing; it ends with 1 if a cell fails, shows another kind
of thing than the notebook keeps, or the page is not what the notebook says.
"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")
PAGE = NOTEBOOK.with_suffix(".md")
SECONDS = 300  # the most that a cell may take


def executed(notebook: Any) -> Any:
    """The notebook with what its cells show now, and with nothing about this machine."""
    NotebookClient(notebook, timeout=SECONDS, record_timing=False).execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def shown(cell: Any) -> list[tuple[str, str]]:
    """What a cell shows, as kind and text; not progress, whose lines depend on the machine."""
    found: list[tuple[str, str]] = []
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        if output.get("name") == "stderr":
            continue
        if "text/html" in data:
            found.append(("table", data["text/html"]))
        elif output.output_type == "stream" and found and found[-1][0] == "stream":
            found[-1] = "stream", found[-1][1] + output.text
        else:
            found.append((output.output_type, output.get("text") or data["text/plain"]))
    return found


def kinds(notebook: Any) -> list[list[str]]:
    """What each cell shows: printed lines, tables, values."""
    return [[kind for kind, _ in shown(cell)] for cell in notebook.cells]


def page(notebook: Any) -> str:
    """The notebook as a page of the documentation, without progress."""
    parts = []
    for cell in notebook.cells:
        parts.append(f"```python\n{cell.source}\n```" if cell.cell_type == "code" else cell.source)
        for kind, text in shown(cell):
            parts.append(text if kind == "table" else f"```text\n{text.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> int:
    kept = nbformat.read(NOTEBOOK, as_version=4)
    now = executed(nbformat.read(NOTEBOOK, as_version=4))
    if "--check" in sys.argv:
        if kinds(now) != kinds(kept):
            print(f"cells show {kinds(now)}; the notebook keeps {kinds(kept)}")
            return 1
        if page(kept) != PAGE.read_text(encoding="utf-8"):
            print(f"{PAGE.name} is not what the notebook says: python docs/execute.py")
            return 1
        return 0
    nbformat.write(now, NOTEBOOK)
    PAGE.write_text(page(now), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
