"""The one door to the terminal: whatever goes through it is shown, and commands nothing.

Names come from users' graphs. One called `[/]` is no markup, and one with an escape sequence shows
it in place of carrying it out, wherever it stands: in a sentence, a table, a bar or an error.
"""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook
from rich.segment import Segment

from assent.core.legible import legible


class Door(Console):
    """A console without markup, and without characters that show nothing themselves."""

    def __init__(self, **options: Any) -> None:
        super().__init__(emoji=False, markup=False, highlight=False, **options)
        self.push_render_hook(_Legibly())


class _Legibly(RenderHook):
    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Legible(renderable) for renderable in renderables]


class _Legible:
    """What is shown of something; colours and the moves of a bar, which we make, stay."""

    def __init__(self, shown: ConsoleRenderable) -> None:
        self.shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self.shown, options):
            yield (
                segment
                if segment.control
                else Segment(legible(segment.text, kept="\n"), segment.style)
            )
