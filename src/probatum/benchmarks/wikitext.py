"""WikiText-2: perplexity of Wikipedia articles, as its authors tokenised them.

Merity et al. 2016, "Pointer Sentinel Mixture Models", https://arxiv.org/abs/1609.07843
Each article is a document, and no window crosses from one into the next. Words and bytes are counted of the
text as it stands, `<unk>` and "@-@" included: this is not the raw set, and its figures are not those of the
raw set. lm-eval scores a cleaned text and counts the words and bytes of this one: `--compat lm_eval` does so.
"""

from __future__ import annotations

from dataclasses import dataclass

from probatum.benchmarks._wikitext import cleaned, pages
from probatum.core.protocol import Source, Task
from probatum.core.records import Item
from probatum.prompting import TextPrompt
from probatum.scoring import Perplexity, TextLikelihood


@dataclass(frozen=True)
class Row:
    """The whole file."""

    text: str


def to_items(row: Row) -> tuple[Item, ...]:
    """An item an article; the id is its number. `page` and `cleaned` are what lm-eval counts and scores."""
    return tuple(
        Item(id=str(number), fields={"text": page.strip("\n "), "page": page, "cleaned": cleaned(page)})
        for number, page in enumerate(pages(row.text), 1)
        if page.strip()
    )


def nothing(item: Item) -> str:
    """No text is generated, and none is compared."""
    del item
    return ""


TASK = Task(
    name="wikitext",
    version=2,
    summary="perplexity of Wikipedia articles (WikiText-2, tokenised)",
    citation="Merity et al. 2016, arXiv:1609.07843",
    source=Source(local=("wikitext2/wikitext2_test.txt.gz",)),
    row=Row,
    to_item=to_items,
    text=TextPrompt(lm_eval_field="cleaned"),
    scorer=TextLikelihood(lm_eval_raw="page"),
    metrics=(Perplexity(),),
    gold=nothing,
    wrong=nothing,
    unit="article",
    population="featured and good articles of the English Wikipedia",
    licence="CC-BY-SA-3.0",
)
