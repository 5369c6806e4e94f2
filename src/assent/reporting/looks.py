"""The looks that all pages share: colours for light and dark, and letters."""

from importlib.resources import files


def house_style() -> str:
    """A style sheet that stands before a page's own."""
    return own_file("house.css")


def own_file(name: str) -> str:
    """The text of a file beside the templates."""
    return (files("assent.reporting") / "templates" / name).read_text(encoding="utf-8")
