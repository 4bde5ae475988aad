"""Text of ten domains: bits per byte of each, and their mean, as Paloma reports domains apart.

Magnusson et al. 2023, "Paloma: A Benchmark for Evaluating Language Model Fit", https://arxiv.org/abs/2312.10523
Each domain is one document here, parted into passages at the ends of paragraphs; passages are the units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from probatum.benchmarks.wikitext import nothing
from probatum.core.protocol import Source, Task
from probatum.core.records import Item
from probatum.prompting import TextPrompt
from probatum.scoring import Perplexity, TextLikelihood

PASSAGE = 4000
"""Characters after which a passage ends, at the next end of a line."""


@dataclass(frozen=True)
class Row:
    """The text of one domain."""

    domain: str
    text: str


def to_items(row: Row) -> tuple[Item, ...]:
    """An item a passage; the domain is the stratum."""
    return tuple(
        Item(id=f"{row.domain}/{number}", fields={"text": passage}, stratum=row.domain)
        for number, passage in enumerate(_passages(row.text), 1)
    )


def _passages(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = text.find("\n", start + PASSAGE)
        end = len(text) if end < 0 else end + 1
        if passage := text[start:end]:
            yield passage
        start = end


TASK = Task(
    name="text_domains",
    version=1,
    summary="bits per byte of text in ten domains",
    citation="Magnusson et al. 2023, arXiv:2312.10523",
    source=Source(local=("text_domains/domains.jsonl.gz",)),
    row=Row,
    to_item=to_items,
    text=TextPrompt(),
    scorer=TextLikelihood(),
    metrics=(Perplexity(),),
    gold=nothing,
    wrong=nothing,
    unit="passage",
    languages=("en", "zh"),
    population="ten texts: encyclopedia, drama, code, mathematics, dialogue, exam, fiction",
    licence="as of each text",
)
