"""Faults of a benchmark's content that can be seen without a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from probatum.core.protocol import Prompt
from probatum.core.records import Item
from probatum.extraction.stops import stops_within
from probatum.prompting import content_key

__all__ = ["Finding", "lint"]

LEAST_LEAK = 12
"""Characters of a gold answer below which it may stand in a prompt by chance ("7", "Paris")."""


@dataclass(frozen=True)
class Finding:
    """One thing that a person should look at."""

    item_id: str
    kind: str
    """`duplicate`, `gold_in_prompt`, `shot_overlap`, `constant_gold`, `stop_in_gold`."""
    detail: str


def lint(items: Iterable[Item], prompt: Prompt, shots: Sequence[Item]) -> list[Finding]:
    """Faults of the content that do not stop a run.

    Duplicates, gold answers inside the prompt, few-shot examples that are test items, stop strings that a
    gold answer holds, and a gold label that is nearly always the same. Duplicate options and unresolvable
    golds are found on load.
    """
    findings: list[Finding] = []
    seen: dict[tuple[str, ...], str] = {}
    asked = {item.id for item in items} if shots else set()
    shown = {content_key(_text(prompt, shot)): shot.id for shot in shots}
    labels: dict[str, int] = {}
    total = 0
    for item in items:
        key = content_key(_text(prompt, item))
        if (other := seen.get(key)) is not None:
            findings.append(Finding(item.id, "duplicate", f"the same words as item {other!r}"))
        seen.setdefault(key, item.id)
        if (shot := shown.get(key)) is not None and shot not in asked:
            findings.append(Finding(item.id, "shot_overlap", f"few-shot example {shot!r} asks the same"))
        findings += _leaks(item, prompt)
        for target in item.targets:
            for stop in stops_within(target, prompt.stop):
                detail = f"the stop string {stop!r} cuts the answer {target[:60]!r}"
                findings.append(Finding(item.id, "stop_in_gold", detail))
        if item.choices and item.targets:
            labels[item.targets[0]] = labels.get(item.targets[0], 0) + 1
            total += 1
    for label, count in labels.items():
        if total >= 20 and count > 0.6 * total:  # noqa: PLR2004 - a gold so lopsided rewards a constant answer
            findings.append(Finding("", "constant_gold", f"gold is {label!r} in {count} of {total} items"))
    return findings


def _leaks(item: Item, prompt: Prompt) -> Iterator[Finding]:
    """A long gold answer that stands in the question; options are expected to."""
    if item.choices:
        return
    text = " ".join(_text(prompt, item).casefold().split())
    for target in item.targets:
        folded = " ".join(target.casefold().split())
        if len(folded) >= LEAST_LEAK and folded in text:
            yield Finding(item.id, "gold_in_prompt", f"the prompt holds the answer {target[:60]!r}")


def _text(prompt: Prompt, item: Item) -> str:
    rendered = prompt.render(item, (), None)
    return rendered if isinstance(rendered, str) else rendered[-1].content
