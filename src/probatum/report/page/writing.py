"""Sections as HTML and as Markdown."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from jinja2 import DictLoader, Environment, StrictUndefined, Template
from markupsafe import Markup

from probatum.report.escaping import escape_markdown, visible
from probatum.report.page.blocks import Block, Examples, Figure, Listing, Paragraph, Section, Table
from probatum.report.page.examples import Example, Piece
from probatum.report.page.figures import COLOURS, DARK
from probatum.report.page.messages import Words

__all__ = ["html_page", "markdown_page", "script", "style"]

CELL: Final = 2000
"""Characters of one cell or note that are shown."""
TOLD: Final = 600
"""Characters of a text of an example in Markdown."""
_LINE_END: Final = " ⏎ "


def html_page(
    title: str, sections: Sequence[Section], words: Words, about: str, *, printed: bool = False
) -> str:
    """One file: styles, plots and a small script inside, nothing loaded; a policy in it forbids all else.

    Every text goes through the template's escaping, and signs that are not seen are shown by number.

    Args:
        title: of the page.
        sections: in order.
        words: of its language.
        about: when and by what it was made.
        printed: for paper: everything is open, and there is no script.
    """
    page = _template().render(
        title=title,
        sections=sections,
        words=words,
        about=about,
        language={"en": "en", "zh": "zh-Hans"}[words.language],
        style=Markup(style()),  # noqa: S704 - our own file
        style_digest=_digest(style()),
        script=None if printed else Markup(script()),  # noqa: S704 - our own file
        script_digest=_digest(script()),
        printed=printed,
    )
    return page.encode("utf-8", "backslashreplace").decode()  # `visible` leaves no surrogate; this proves it


def _digest(text: str) -> str:
    """As a content security policy names what it allows."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@lru_cache(maxsize=1)
def style() -> str:
    """The style sheet, with the colours of light and dark pages."""
    light, dark = (
        "; ".join(f"--{name}: {value}" for name, value in each.items()) for each in (COLOURS, DARK)
    )
    return (
        f":root {{ color-scheme: light; {light}; }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ color-scheme: dark; {dark}; }} }}\n"
        f"{_file('report.css')}"
    )


@lru_cache(maxsize=1)
def script() -> str:
    """The script: the page is whole without it."""
    return _file("report.js")


def _file(name: str) -> str:
    return files("probatum.report.page").joinpath("templates", name).read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def _template() -> Template:
    environment = Environment(
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        loader=DictLoader({"report.html": _file("report.html")}),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["bounded"] = bounded
    environment.tests["block"] = lambda block, name: type(block).__name__ == name
    return environment.get_template("report.html")


def _shown(value: Any) -> Any:
    """What is put out: a text that is no markup has its hidden signs shown; the template escapes it then."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def bounded(text: str, most: int = CELL) -> str:
    """A text of a table or a note, cut where it is too long for one."""
    return text if len(text) <= most else f"{text[:most]}… (+{len(text) - most})"


# ── Markdown ────────────────────────────────────────────────────────────────────────────────────────


def markdown_page(title: str, sections: Sequence[Section], words: Words, about: str) -> str:
    """Headings, paragraphs and tables; every text stays in its line or cell."""
    lines = [f"# {_cell(title)}", "", _cell(about), ""]
    for section in sections:
        lines += [f"{'#' * section.level} {_cell(section.title)}", ""]
        for block in section.blocks:
            if not isinstance(block, Figure):  # the table beside it has its numbers
                lines += [*_lines(block, words), ""]
    return "\n".join(lines)


def _cell(text: str, most: int = CELL) -> str:
    return escape_markdown(bounded(text, most)) or " "


def _lines(block: Block, words: Words) -> Iterator[str]:
    if isinstance(block, Paragraph):
        yield f"**{_cell(block.text)}**" if block.tone == "bad" else _cell(block.text)
    elif isinstance(block, Listing):
        yield from (f"- {_cell(text)}" for text in block.texts)
    elif isinstance(block, Table):
        yield f"*{_cell(block.caption)}*"
        yield ""
        yield f"| {' | '.join(map(_cell, block.columns))} |"
        yield (
            "|"
            + "|".join("---:" if place in block.numbers else "---" for place in range(len(block.columns)))
            + "|"
        )
        yield from (f"| {' | '.join(map(_cell, row))} |" for row in block.rows)
    elif isinstance(block, Examples):
        yield from _example_lines(block, words)


def _example_lines(block: Examples, words: Words) -> Iterator[str]:
    yield f"**{_cell(block.title)}**"
    yield ""
    for example in block.examples:
        yield f"- {_cell(words('example', item=example.item_id, sample=example.sample))}"
        for name, text in _facts(example, words):
            told = _LINE_END.join(text.splitlines())  # a text is one line here, and says where its own end
            yield f"  - {_cell(name)}: {_cell(told, TOLD)}"


def _facts(example: Example, words: Words) -> Iterator[tuple[str, str]]:
    for role, pieces in example.prompt:
        yield words("prompt") if not role else words("role", role=role), _joined(pieces, words)
    if example.output:
        yield words("output"), _joined(example.output, words)
    for option in example.options:
        likely = "–" if option.log_likelihood is None else f"{option.log_likelihood:.4f}"
        yield words("continuation"), f"{option.text} ({likely})"
    if example.targets:
        yield words("targets"), ", ".join(example.targets)
    if example.answer is not None:
        yield words("answer"), example.answer
    if example.rule is not None:
        yield words("evidence"), words("evidence_rule", rule=example.rule)
    yield words("status"), example.status
    if example.scores:
        yield words("scores"), ", ".join(f"{name} {value:g}" for name, value in example.scores.items())
    if example.reason is not None:
        yield words("reason"), example.reason


def _joined(pieces: Sequence[Piece], words: Words) -> str:
    return "".join(
        words("left_out", count=piece.left_out) if piece.kind == "cut" else piece.text for piece in pieces
    )
