"""Tables in Markdown."""

from collections.abc import Iterable, Sequence


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Cells as they are, markup and all."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def plain_cell(text: str) -> str:
    """Names come from users' graphs: they must not end a cell or start markup."""
    return "".join(f"\\{c}" if c in "\\|`*_<>[]#" else c for c in text)
