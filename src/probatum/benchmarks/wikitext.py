"""WikiText-2: perplexity of Wikipedia articles, as its authors tokenised them.

Merity et al. 2016, "Pointer Sentinel Mixture Models", https://arxiv.org/abs/1609.07843
Each article is a document, and no window crosses from one into the next. Words and bytes are counted of the
text as it stands, `<unk>` and "@-@" included: this is not the raw set, and its figures are not those of the
raw set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from probatum.core.protocol import Source, Task
from probatum.core.records import Item
from probatum.prompting import TextPrompt
from probatum.scoring import Perplexity, TextLikelihood

HEADING = re.compile(r"^ = [^=\n]+ = ?$", re.MULTILINE)
"""The title of an article: one equals sign on each side; sections have two and more."""


@dataclass(frozen=True)
class Row:
    """The whole file."""

    text: str


def to_items(row: Row) -> tuple[Item, ...]:
    """An item an article; the id is its number."""
    starts = [match.start() for match in HEADING.finditer(row.text)]
    ends = [*starts[1:], len(row.text)]
    pages = [row.text[start:end].strip("\n ") for start, end in zip(starts, ends, strict=True)]
    return tuple(Item(id=str(number), fields={"text": page}) for number, page in enumerate(pages, 1) if page)


def nothing(item: Item) -> str:
    """No text is generated, and none is compared."""
    del item
    return ""


TASK = Task(
    name="wikitext",
    version=1,
    summary="perplexity of Wikipedia articles (WikiText-2, tokenised)",
    citation="Merity et al. 2016, arXiv:1609.07843",
    source=Source(local=("wikitext2/wikitext2_test.txt.gz",)),
    row=Row,
    to_item=to_items,
    text=TextPrompt(),
    scorer=TextLikelihood(),
    metrics=(Perplexity(),),
    gold=nothing,
    wrong=nothing,
    unit="article",
    population="featured and good articles of the English Wikipedia",
    licence="CC-BY-SA-3.0",
)
