"""What a report is made of: sections of paragraphs, tables, figures and examples, for any format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from probatum.report.page.examples import Example

__all__ = ["Block", "Examples", "Figure", "Listing", "Paragraph", "Section", "Table"]


@dataclass(frozen=True)
class Paragraph:
    """A text; `bad` and `good` ones stand out."""

    text: str
    tone: Literal["plain", "bad", "good"] = "plain"


@dataclass(frozen=True)
class Listing:
    """Texts as they were written down, in English."""

    texts: tuple[str, ...]
    tone: Literal["plain", "bad"] = "plain"


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of texts; the first column names its row."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    """Columns that are set to the right."""
    swatches: tuple[str, ...] = ()
    """A name of a colour for each row, as a figure beside it has them."""
    english: bool = False
    """Whether its rows are in English in every report."""
    folded: bool = False
    """Whether it is opened by the reader."""


@dataclass(frozen=True)
class Figure:
    """A plot; whatever it shows stands in a table, too."""

    picture: Markup
    caption: str


@dataclass(frozen=True)
class Examples:
    """Examples of one kind."""

    title: str
    examples: tuple[Example, ...]


Block = Paragraph | Listing | Table | Figure | Examples


@dataclass(frozen=True)
class Section:
    """A heading and what stands under it."""

    anchor: str
    level: int
    """2 to 4, as in HTML."""
    title: str
    blocks: tuple[Block, ...] = ()
