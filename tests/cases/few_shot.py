"""Few-shot choice and prompts that must fit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from probatum.core.errors import UsageError
from probatum.core.protocol import Source
from probatum.core.records import Item
from probatum.prompting import CompletionPrompt, ShotPool, plan_item
from probatum.runner import Options
from probatum.runner.resolution import protocol_for
from tests.cases.frame import Given, NotMappedError, Said, agree, begins, operation
from tests.fakes import FakeModel, sums_task

PROMPT = CompletionPrompt(template="{{ question }}", shot_template="{{ question }} {{ target }}")


def items_of(docs: Sequence[Any]) -> tuple[Item, ...]:
    """Questions as texts, or rows with `id` and `q`."""
    items = []
    for place, doc in enumerate(docs):
        row = doc if isinstance(doc, Mapping) else {"q": doc}
        question = next((str(row[name]) for name in ("q", "question", "text") if name in row), None)
        if question is None:
            raise NotMappedError(f"the row {row!r}")
        items.append(Item(id=str(row.get("id", place)), fields={"question": question}, targets=("x",)))
    return tuple(items)


def choice_agrees(ours: Any, expected: Any) -> bool:
    """Ids of the shots of each item, of which none is the item's own; or a refusal before any call."""
    if isinstance(ours, Said):
        return isinstance(expected, str) and begins(expected, ours.word)
    if isinstance(expected, str) and "not among its shots" in expected:
        return all(own not in shots for own, shots in ours.items())
    if isinstance(expected, str) and re.search(r"\b(?:same|equal)\b", expected):
        return len({tuple(shots) for shots in ours.values()}) == 1
    return agree(list(ours.values()), expected)


@operation("fewshot", unused=("splits", "split", "task"), agrees=choice_agrees)
def fewshot(given: Given) -> Any:
    count, seed = given["shots"], given.get("seed", 0)
    docs = given["docs"] if "docs" in given else [f"Q{place}" for place in range(given["pool"])]
    shown = items_of(given.get("train", docs))
    asked = items_of(docs) if "docs" in given else (Item(id="asked", fields={"question": "Asked?"}),)
    pool = ShotPool(PROMPT, drawn=shown)
    try:
        pool.check(asked, count, seed=seed, version=1)
        chosen = {item.id: pool.choose(item, count, seed=seed, version=1) for item in asked}
    except UsageError as refused:
        return Said("error", str(refused))
    return {own: [shot.id for shot in shots] for own, shots in chosen.items()}


def words(name: str, count: int) -> str:
    return " ".join([name] * count)


@operation("fit_prompt")
def fit_prompt(given: Given) -> dict[str, Any]:
    """Parts of so many words in a context of so many words: the plan that runs use drops what does not fit."""
    lengths, question = given["shots"], given["question"]
    preamble = words("description", given["description"]) + " "
    prompt = CompletionPrompt(
        preamble=preamble, template="{{ text }}", shot_template="{{ text }}", separator=" "
    )
    shots = [
        Item(id=f"shot-{place}", fields={"text": words(f"shot{place}", length)}, targets=("x",))
        for place, length in enumerate(lengths)
    ]
    task = sums_task(completion=prompt, chat=None, shot_source=Source(local=("shots",)), shots_drawn=False)
    protocol = protocol_for(task, FakeModel(), Options(shots=len(shots)))
    asked = Item(id="asked", fields={"text": words("question", question)}, targets=("x",))

    def fits(text: Any, *_: object) -> bool:
        return len(text.split()) <= given["budget"]

    plan = plan_item(protocol, asked, ShotPool(prompt, fixed=tuple(shots)), fits)
    text = str(plan.samples[0][0].prompt)
    kept = ["description"] if text.startswith(preamble) else []
    if plan.shots:
        kept.append(f"{len(plan.shots)} shot" + ("s" if len(plan.shots) > 1 else ""))
    kept += ["question"] if text.endswith(words("question", question)) else []
    return {"kept": kept, "tokens": len(text.split()), "dropped_shots": plan.dropped}
