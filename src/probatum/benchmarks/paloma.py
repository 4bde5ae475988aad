"""Paloma: bits per byte of text from 16 sources with 546 domains, each domain by itself, and their mean.

Magnusson et al. 2023, "Paloma: A Benchmark for Evaluating Language Model Fit", https://arxiv.org/abs/2312.10523

Its texts are to be had for the asking (allenai/paloma of the hub, behind terms of use); put what was fetched
into `paloma/`. A domain is a source, or where its rows name one a subdomain (a subreddit, a programming
language). Paloma's own figure is perplexity per token of a fixed tokenizer; bits per byte compare all models.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from probatum.benchmarks.wikitext import nothing
from probatum.core.protocol import Source, Task
from probatum.core.records import Item
from probatum.prompting import TextPrompt
from probatum.scoring import Perplexity, TextLikelihood


@dataclass(frozen=True)
class Row:
    """A document. The folder is Paloma's own name of its source; what rows call `source` is another thing."""

    text: str
    row_file: str
    row_number: int
    subdomain: str | None = None


def to_item(row: Row) -> tuple[Item, ...]:
    """The domain is the stratum, each document a unit; one without text is left out.

    The place is the id: documents of different sources share ids of their own.
    """
    path = PurePosixPath(row.row_file)
    source, file = path.parent.parent.name, path.name.split(".")[0]
    if not row.text:
        return ()
    item = Item(
        id=f"{source}/{file}/{row.row_number}",
        fields={"text": row.text},
        stratum=f"{source}/{row.subdomain}" if row.subdomain else source,
    )
    return (item,)


TASK = Task(
    name="paloma",
    version=1,
    summary="bits per byte of text in up to 546 domains",
    citation="Magnusson et al. 2023, arXiv:2312.10523",
    source=Source(local=("paloma/*/test/*.jsonl*",)),
    row=Row,
    to_item=to_item,
    text=TextPrompt(),
    scorer=TextLikelihood(),
    metrics=(Perplexity(),),
    gold=nothing,
    wrong=nothing,
    unit="document",
    population="documents of the web, encyclopedias, books, papers, forums and code, mostly in English",
    licence="as of each source; AI2 ImpACT low risk",
)
