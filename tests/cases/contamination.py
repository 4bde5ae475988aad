"""Contamination: the same item, n-gram overlap, windows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from probatum.contamination import Overlap, near_duplicates, same_question, scan, window_count
from probatum.core.errors import UsageError
from probatum.core.records import Item
from tests.cases.frame import Given, NotMappedError, Said, agree, begins, operation

FOUND = (Overlap.INPUT, Overlap.INPUT_AND_LABEL)


@operation("contaminated", "same_item")
def contaminated(given: Given) -> bool:
    one, other = ("eval_item", "corpus_item") if "eval_item" in given else ("a", "b")
    return same_question(given[one], given[other])


def overlap_agrees(ours: Any, expected: Any) -> bool:
    """A truth value, the level, or words; for what cannot be checked also what exact search found."""
    if isinstance(ours, dict) and isinstance(expected, Mapping):
        return agree(ours, expected)
    if isinstance(ours, Said):
        return isinstance(expected, str) and begins(expected, ours.word)
    kind = ours["overlap"]
    if isinstance(expected, bool):
        return (kind in FOUND or bool(ours["exact"])) is expected
    words = str(expected).replace("-", "_").replace(" ", "_").casefold()
    if kind is Overlap.NOT_CHECKABLE:
        exact = "found" in words and "not_found" not in words
        return words.startswith("not_checkable") and ("exact" not in words or exact is ours["exact"])
    return bool(
        words == kind.value
        or words in (f"{kind.value}_only", f"only_{kind.value}")
        or words.startswith(f"{kind.value}_(")
    )


UNITS = {"word": "words", "char": "characters", "chars": "characters", "character": "characters"}


def item_of(given: Given) -> Item:
    asked = given["eval"]
    fields = asked if isinstance(asked, Mapping) else {"question": asked}
    gold = given.get("gold", given.get("answer"))
    return Item(id="eval", fields=fields, targets=() if gold is None else (str(gold),))


@operation("ngram_check", "contamination_level", agrees=overlap_agrees)
def ngram_check(given: Given) -> Any:
    corpus = given.get("corpus", [])
    texts = [corpus] if isinstance(corpus, str) else list(corpus)
    if given.get("corpus_files", len(texts)) != len(texts):
        raise NotMappedError("files of a corpus that are not there")
    asked = item_of(given) if "eval" in given else Item(id="eval", fields={"question": "x"})
    template = given.get("template", [])
    try:
        report = scan(
            texts,
            [asked],
            given.get("n", 13),
            unit=UNITS.get(given.get("unit", "auto"), given.get("unit", "auto")),
            template=[template] if isinstance(template, str) else template,
            share=given.get("threshold", given.get("share", 0.0)),
        )
    except UsageError as refused:
        return Said("error", str(refused))
    found = report.items[0]
    return {"overlap": found.overlap, "exact": found.exact, "share": found.share, "n": report.n}


@operation("substring_windows", "ngram_windows")
def substring_windows(given: Given) -> int:
    return window_count(given["text_len"], given["window"])


@operation("near_duplicate")
def near_duplicate(given: Given) -> bool:
    threshold = {"threshold": given["threshold"]} if "threshold" in given else {}
    return bool(near_duplicates([given["a"]], [given["b"]], **threshold))
