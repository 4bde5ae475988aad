"""Parts that IFEval and its sisters share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from probatum.benchmarks._ifeval_gold import followed
from probatum.core.protocol import Hub, Source, Task
from probatum.core.records import Item, Sampling
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import FollowsInstructions, InstructionRate, Rate
from probatum.scoring.rules import (
    Edition,
    check_instructions,
    instructions_of,
    require_backends,
    unusable_instructions,
)

__all__ = ["Row", "task"]


@dataclass(frozen=True)
class Row:
    """A prompt and the instructions in it, as published."""

    key: int
    prompt: str
    instruction_id_list: tuple[str, ...]
    kwargs: tuple[dict[str, Any], ...]


def _item(row: Row, edition: Edition) -> Item:
    japanese = any(identity.startswith("ja:") for identity in row.instruction_id_list)
    require_backends("ja" if japanese else "en", official=edition == "official")
    arguments = [{name: value for name, value in given.items() if value is not None} for given in row.kwargs]
    fields = {
        "prompt": row.prompt,
        "instruction_id_list": list(row.instruction_id_list),
        "kwargs": arguments,
    }
    item = Item(id=str(row.key), fields=fields)
    problem = unusable_instructions(item, edition=edition)
    return item if problem is None else Item(id=item.id, fields=fields, invalid=problem)


def to_item(row: Row) -> Item:
    """Prompt and instructions; an item whose instructions no response can follow is invalid."""
    return _item(row, "probatum")


def to_official_item(row: Row) -> Item:
    """Prompt and instructions; only what the published checkers could not grade is invalid."""
    return _item(row, "official")


def gold(item: Item) -> str:
    """A text that follows every instruction, and says nothing: the set has no answers."""
    return followed(item, partial(_follows, item, "probatum"))


def official_gold(item: Item) -> str:
    """As `gold`, for the rules of the published checkers."""
    return followed(item, partial(_follows, item, "official"))


def _follows(item: Item, edition: Edition, text: str) -> bool:
    ids: Any = item.fields["instruction_id_list"]
    arguments: Any = item.fields["kwargs"]
    return check_instructions(text, instructions_of(ids, arguments), edition=edition).strict


def wrong(item: Item) -> str:
    """An empty response follows no instruction."""
    del item
    return ""


def task(
    *,
    name: str,
    summary: str,
    local: str,
    hub: Hub | None = None,
    edition: Edition = "probatum",
    language: str = "en",
    citation: str = "Zhou et al. 2023, arXiv:2311.07911",
    licence: str = "Apache-2.0",
) -> Task:
    """One set of prompts, graded by one edition of the rules."""
    return Task(
        name=name,
        version=1,
        summary=summary,
        citation=citation,
        source=Source(local=(local,), hub=hub),
        row=Row,
        to_item=to_official_item if edition == "official" else to_item,
        completion=CompletionPrompt(template="{{ prompt }}\n\n"),
        chat=ChatPrompt(template="{{ prompt }}"),
        sampling=Sampling(max_tokens=1280),
        scorer=FollowsInstructions(edition=edition),
        metrics=(
            Rate(score="prompt_strict"),
            Rate(score="prompt_loose"),
            InstructionRate(score="followed_strict", name="inst_strict"),
            InstructionRate(score="followed_loose", name="inst_loose"),
        ),
        gold=official_gold if edition == "official" else gold,
        gold_fails="counted" if edition == "official" else "invalid",
        wrong=wrong,
        unit="prompt",
        languages=(language,),
        population="prompts with one to three instructions that can be verified without a model",
        licence=licence,
    )
