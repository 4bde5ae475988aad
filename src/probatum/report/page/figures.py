"""Plots as SVG: drawn here, in the page itself, with a title and a description for those who cannot see them.

Each plot stands beside a table of the same numbers. Texts are escaped here; numbers are rounded to a
hundredth of a pixel. Colours are named, and the page's style sheet says what they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup

from probatum.report.escaping import escape_html

__all__ = ["COLOURS", "DARK", "Band", "Row", "bar", "bars", "curve", "forest"]

COLOURS: Final = {
    "ink": "#1b1f24",
    "muted": "#57606a",
    "rule": "#6e7781",
    "faint": "#d8dee4",
    "paper": "#ffffff",
    "panel": "#f3f5f7",
    "accent": "#0b5cad",
    "mark": "#fff1a8",
    "bad": "#a40e26",
    "good": "#14612b",
    "wrong": "#b35900",
    "missing": "#6e7781",
    "broken": "#3d434a",
}
"""Name → colour; text of ink, muted, accent, bad and good stands on paper, panel and mark."""
DARK: Final = {
    "ink": "#e6edf3",
    "muted": "#aab4be",
    "rule": "#8b949e",
    "faint": "#30363d",
    "paper": "#0d1117",
    "panel": "#161b22",
    "accent": "#6cb6ff",
    "mark": "#4d3d00",
    "bad": "#ff9da4",
    "good": "#7ee2a0",
    "wrong": "#e0893a",
    "missing": "#8b949e",
    "broken": "#d0d7de",
}
"""The same for readers who ask their browser for a dark page. On paper every page is light."""

WIDTH: Final = 720
LABEL: Final = 240
"""Width of the column of labels of a forest plot, in pixels."""
ROW: Final = 22
MARGIN: Final = 48


@dataclass(frozen=True)
class Row:
    """One line of a forest plot."""

    label: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Band:
    """One point of a curve, with its interval where there is one."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


@dataclass
class _Canvas:
    width: int
    height: int
    parts: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str, *, dashed: bool = False) -> None:
        dash = ' stroke-dasharray="4 4"' if dashed else ""
        self.parts.append(
            f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" '
            f'stroke="var(--{colour})" stroke-width="1.5"{dash}/>'
        )

    def dot(self, x: float, y: float, said: str = "") -> None:
        title = f"<title>{escape_html(said)}</title>" if said else ""
        self.parts.append(f'<circle cx="{x:.2f}" cy="{y:.2f}" r="4" fill="var(--accent)">{title}</circle>')

    def box(self, x: float, y: float, width: float, height: float, colour: str, said: str) -> None:
        self.parts.append(
            f'<rect x="{x:.2f}" y="{y:.2f}" width="{width:.2f}" height="{height:.2f}" '
            f'fill="var(--{colour})"><title>{escape_html(said)}</title></rect>'
        )

    def path(self, points: Sequence[tuple[float, float]]) -> None:
        steps = " ".join(f"{x:.2f},{y:.2f}" for x, y in points)
        self.parts.append(f'<polyline points="{steps}" fill="none" stroke="var(--accent)" stroke-width="2"/>')

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", colour: str = "ink") -> None:
        self.parts.append(
            f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}" fill="var(--{colour})">'
            f"{escape_html(text)}</text>"
        )

    def markup(self, title: str, description: str) -> Markup:
        """The picture, named and described."""
        inside = "".join(self.parts)
        return Markup(  # noqa: S704 - every text in it went through escape_html
            f'<svg role="img" viewBox="0 0 {self.width} {self.height}" width="{self.width}" '
            f'height="{self.height}" aria-label="{escape_html(title)}" font-size="12" '
            f'font-family="system-ui, sans-serif">'
            f"<title>{escape_html(title)}</title><desc>{escape_html(description)}</desc>{inside}</svg>"
        )


def forest(
    rows: Sequence[Row],
    *,
    title: str,
    description: str,
    reference: tuple[float, str] | None = None,
    domain: tuple[float, float] | None = None,
) -> Markup:
    """Points with intervals, a line each, on one scale; `reference` is a line to hold them against."""
    reached = [each for row in rows for each in (row.value, row.low, row.high) if each is not None]
    low, high = domain or _reach([*reached, *([reference[0]] if reference else [])])
    height = ROW * len(rows) + MARGIN + (ROW if reference else 0)
    canvas = _Canvas(WIDTH, height)
    top = ROW if reference else 8
    bottom = top + ROW * len(rows)
    at = _scale(low, high, LABEL + 10, WIDTH - 20)
    for tick in _ticks(low, high):
        canvas.line(at(tick), top, at(tick), bottom, "faint")
        canvas.text(at(tick), bottom + 16, f"{tick:g}", anchor="middle", colour="muted")
    if reference is not None:
        canvas.line(at(reference[0]), top - 4, at(reference[0]), bottom, "bad", dashed=True)
        anchor = "end" if at(reference[0]) > (WIDTH + LABEL) / 2 else "start"
        canvas.text(at(reference[0]), 12, reference[1], anchor=anchor, colour="bad")
    for place, row in enumerate(rows):
        middle = top + ROW * place + ROW / 2
        canvas.text(LABEL, middle + 4, _fitting(row.label), anchor="end")
        if row.low is not None and row.high is not None:
            canvas.line(at(row.low), middle, at(row.high), middle, "ink")
            for end in (row.low, row.high):
                canvas.line(at(end), middle - 4, at(end), middle + 4, "ink")
        if row.value is not None:
            canvas.dot(at(row.value), middle, f"{row.label[:200]}: {row.value:.4f}")
    return canvas.markup(title, description)


def curve(
    points: Sequence[Band],
    *,
    title: str,
    description: str,
    axes: tuple[str, str],
    x_domain: tuple[float, float] | None = None,
    diagonal: bool = False,
) -> Markup:
    """A line through points with their intervals; both axes named, y from 0 to 1."""
    width, height, left, bottom, right, top = 480, 320, 60, 270, 465, 30
    canvas = _Canvas(width, height)
    low, high = x_domain or _reach([point.x for point in points])
    x, y = _scale(low, high, left, right), _scale(0.0, 1.0, bottom, top)
    for tick in _ticks(0.0, 1.0):
        canvas.line(left, y(tick), right, y(tick), "faint")
        canvas.text(left - 6, y(tick) + 4, f"{tick:g}", anchor="end", colour="muted")
    for tick in _ticks(low, high):
        canvas.line(x(tick), bottom, x(tick), bottom + 4, "rule")
        canvas.text(x(tick), bottom + 18, f"{tick:g}", anchor="middle", colour="muted")
    canvas.text((left + right) / 2, height - 12, axes[0], anchor="middle")
    canvas.text(4, 11, axes[1])
    if diagonal:
        canvas.line(x(low), y(low), x(high), y(high), "rule", dashed=True)
    for point in points:
        if point.low is not None and point.high is not None:
            canvas.line(x(point.x), y(point.low), x(point.x), y(point.high), "ink")
    canvas.path([(x(point.x), y(point.y)) for point in points])
    for point in points if len(points) <= 40 else ():  # noqa: PLR2004 - more would be a smear
        canvas.dot(x(point.x), y(point.y), f"{point.x:g}: {point.y:.4f}")
    return canvas.markup(title, description)


def bar(parts: Sequence[tuple[str, int, str]], *, title: str, description: str) -> Markup:
    """One bar of parts: label, count and name of the colour of each."""
    canvas = _Canvas(WIDTH, 30)
    whole = sum(count for _, count, _ in parts)
    at = 0.0
    for label, count, colour in parts:
        width = WIDTH * count / whole if whole else 0.0
        canvas.box(at, 0, max(width - 1, 0.5), 30, colour, f"{label}: {count}")
        at += width
    return canvas.markup(title, description)


def bars(
    rows: Sequence[tuple[str, Sequence[tuple[str, int, str]]]], *, title: str, description: str
) -> Markup:
    """A bar a row, each of the same width: label, and its parts as `bar` takes them."""
    canvas = _Canvas(WIDTH, ROW * len(rows) + 8)
    room = WIDTH - LABEL - 30
    for place, (label, parts) in enumerate(rows):
        top = 4 + ROW * place
        canvas.text(LABEL, top + ROW / 2 + 4, _fitting(label), anchor="end")
        whole = sum(count for _, count, _ in parts)
        at = LABEL + 10.0
        for name, count, colour in parts:
            width = room * count / whole if whole else 0.0
            said = f"{label[:200]}, {name}: {count}"
            canvas.box(at, top + 2, max(width - 1, 0.5), ROW - 4, colour, said)
            at += width
    return canvas.markup(title, description)


def _fitting(label: str) -> str:
    """A label that fits its column."""
    return label if len(label) <= 34 else f"{label[:33]}…"  # noqa: PLR2004 - fits the column


def _reach(values: Sequence[float]) -> tuple[float, float]:
    """A span with room around all values."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = (high - low) * 0.05 or abs(low) * 0.1 or 0.5
    return low - room, high + room


def _scale(low: float, high: float, start: float, end: float) -> Callable[[float], float]:
    """From a value to its pixel; what lies outside stands at the edge."""

    def place(value: float) -> float:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return start + share * (end - start)

    return place


def _ticks(low: float, high: float) -> list[float]:
    """Round numbers within a span, four to ten of them."""
    raw = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]
