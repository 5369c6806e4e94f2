"""Small charts as SVG, written by hand: axes, lines, dots, labels that keep out of each other."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

Point = tuple[float, float]

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 150, 34, 46
LINE_HEIGHT = 13


class Chart:
    """A plane with two axes; y grows upwards."""

    def __init__(
        self, title: str, x: tuple[str, float, float], y: tuple[str, float, float]
    ) -> None:
        (self.x_name, *self.x_span), (self.y_name, *self.y_span) = x, y
        self.title = title
        self.shapes: list[str] = []
        self.legend: list[tuple[str, str, str]] = []  # words, colour, dash
        self.labels: list[tuple[float, float, str, str]] = []  # x, y, words, colour

    def line(self, points: Sequence[Point], colour: str, words: str = "", dash: str = "") -> None:
        path = " ".join(f"{self._x(x):.1f},{self._y(y):.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.shapes.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6"{dashed}/>'
        )
        if words:
            self.legend.append((words, colour, dash))

    def dot(self, point: Point, colour: str, words: str = "", hollow: bool = False) -> None:
        x, y = self._x(point[0]), self._y(point[1])
        fill = "#ffffff" if hollow else colour
        self.shapes.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{fill}" stroke="{colour}" '
            'stroke-width="1.6"/>'
        )
        if words:
            self.labels.append((x + 7, y + 4, words, colour))

    def svg(self) -> str:
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="11">',
            f"<title>{escape(self.title)}</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
            _text(LEFT, 20, self.title, size=13),
            *self._axes(),
            *self.shapes,
            *self._legend(),
            *self._labels(),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _axes(self) -> list[str]:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        parts = []
        for value in _ticks(*self.x_span):
            x = self._x(value)
            parts.append(f'<path d="M{x:.1f} {TOP}V{bottom}" stroke="#e4e4e4"/>')
            parts.append(_text(x, bottom + 16, f"{value:g}", anchor="middle"))
        for value in _ticks(*self.y_span):
            y = self._y(value)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{right}" stroke="#e4e4e4"/>')
            parts.append(_text(LEFT - 6, y + 4, f"{value:g}", anchor="end"))
        middle = (TOP + bottom) / 2
        return [
            *parts,
            f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#777777"/>',
            _text((LEFT + right) / 2, HEIGHT - 10, self.x_name, anchor="middle"),
            f'<g transform="rotate(-90 14 {middle})">'
            + _text(14, middle, self.y_name, anchor="middle")
            + "</g>",
        ]

    def _legend(self) -> list[str]:
        parts, x = [], WIDTH - RIGHT + 12
        for place, (words, colour, dash) in enumerate(self.legend):
            y = TOP + 8 + place * (LINE_HEIGHT + 4)
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            parts.append(f'<path d="M{x} {y}h18" stroke="{colour}" stroke-width="2"{dashed}/>')
            parts.append(_text(x + 23, y + 4, words))
        return parts

    def _labels(self) -> list[str]:
        """From the top down, each below those that it would touch."""
        placed: list[Point] = []
        parts = []
        for x, y, words, colour in sorted(self.labels, key=lambda label: label[1]):
            wide = 6.5 * len(words)
            while any(abs(x - a) < wide and abs(y - b) < LINE_HEIGHT for a, b in placed):
                y += 1
            placed.append((x, y))
            parts.append(_text(x, y, words, colour=colour))
        return parts

    def _x(self, value: float) -> float:
        low, high = self.x_span
        return LEFT + _within(value, low, high) * (WIDTH - RIGHT - LEFT)

    def _y(self, value: float) -> float:
        low, high = self.y_span
        return HEIGHT - BOTTOM - _within(value, low, high) * (HEIGHT - BOTTOM - TOP)


def _within(value: float, low: float, high: float) -> float:
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _ticks(low: float, high: float) -> list[float]:
    """At most eight round numbers from low to high."""
    step = next(
        s * 10.0**e for e in range(-4, 6) for s in (1, 2, 5) if (high - low) / (s * 10.0**e) <= 8
    )
    first = -(-low // step)
    count = int((high - first * step) / step + 1e-9) + 1
    return [round((first + place) * step, 6) for place in range(count)]


def _text(
    x: float, y: float, words: str, anchor: str = "start", size: int = 11, colour: str = "#333333"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
        f'fill="{colour}">{escape(words)}</text>'
    )
