"""From an item and its shots to what a model is asked. Pure: nothing here knows a model or a file."""

from __future__ import annotations

from probatum.prompting.fewshot import ShotPool, content_key
from probatum.prompting.forms import ChatPrompt, CompletionPrompt
from probatum.prompting.plan import Plan, plan_item
from probatum.prompting.scored import OptionsPrompt, TextPrompt
from probatum.prompting.templates import check_template, names_read, render

__all__ = [
    "ChatPrompt",
    "CompletionPrompt",
    "OptionsPrompt",
    "Plan",
    "ShotPool",
    "TextPrompt",
    "check_template",
    "content_key",
    "names_read",
    "plan_item",
    "render",
]
