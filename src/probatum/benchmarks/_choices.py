"""What multiple-choice benchmarks share: the forms, their scorers and metrics, and the known answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probatum.core.protocol import Form, Prompt, Scorer, Task
from probatum.core.records import Item, Sampling
from probatum.extraction import OptionLetter
from probatum.prompting import ChatPrompt, OptionsPrompt
from probatum.prompting.forms import LABELS
from probatum.scoring import ByForm, Calibration, ChoiceMatch, MacroRate, OptionLikelihood, Rate

LISTED = "{% for one in choices %}\n{{ labels[loop.index0] }}. {{ one }}{% endfor %}"
"""The options below the question, a line each."""

LISTED_APART = LISTED.replace("\n{{", "\n {{")
"""A blank before each label, so that it is the token that follows "Answer:" (Gu et al. 2024, §3.2)."""


@dataclass(frozen=True)
class Options:
    """Texts and labels of the options, as several sets hold them."""

    text: tuple[str, ...]
    label: tuple[str, ...]


def gold(item: Item) -> str:
    """The right label, as the task asks for it."""
    return f"Answer: {item.targets[0]}"


def wrong(item: Item) -> str:
    """A label that is not right."""
    labels = LABELS[: len(item.choices)]
    return f"Answer: {next(label for label in labels if label not in item.targets)}"


def letters(
    question: str, *, answer: str = "\nAnswer:", preamble: str = "", listed: str = LISTED
) -> OptionsPrompt:
    """The options listed, and the likelihood of each label after `answer`."""
    asked = question + listed + answer
    return OptionsPrompt(
        template=asked,
        continuation=" {{ label }}",
        shot_template=asked + " {{ label }}",
        preamble=preamble,
    )


def continuations(
    question: str, *, unconditional: str | None = None, space: str = " ", preamble: str = ""
) -> OptionsPrompt:
    """The question alone, and the likelihood of each option's text after it."""
    return OptionsPrompt(
        template=question,
        continuation=space + "{{ choice }}",
        shot_template=question + space + "{{ answer }}",
        preamble=preamble,
        unconditional=unconditional,
    )


def chat(question: str, *, ask: str = "\n\nEnd with the line: Answer: … (the letter alone)") -> ChatPrompt:
    """The question with its options, to be answered in words."""
    return ChatPrompt(template=question + LISTED + ask, shot_answer="Answer: {{ target }}")


def scorers(prompts: Mapping[Form, Prompt], marks: tuple[str, ...] = ("Answer:",)) -> ByForm:
    """A scorer for each of the forms."""
    found: dict[Form, Scorer] = {}
    for form, prompt in prompts.items():
        unconditional = isinstance(prompt, OptionsPrompt) and prompt.unconditional is not None
        if form == "letters":
            found[form] = OptionLikelihood(of="labels", unconditional=unconditional)
        elif form == "continuations":
            fills_a_gap = isinstance(prompt, OptionsPrompt) and "choice" not in prompt.continuation
            found[form] = OptionLikelihood(of="rest" if fills_a_gap else "texts", unconditional=unconditional)
        else:
            found[form] = ChoiceMatch(OptionLetter(declared=marks))
    return ByForm(scorers=found)


METRICS = (
    Rate(chance_score="chance"),
    MacroRate(),
    Rate(score="per_character", optional=True, by_stratum=False, answered=False),
    Rate(score="per_byte", optional=True, by_stratum=False, answered=False),
    Rate(score="per_token", optional=True, by_stratum=False, answered=False),
    Rate(score="pmi", optional=True, by_stratum=False, answered=False),
    Calibration(),
)


def choice_task(
    prompts: Mapping[Form, Prompt], *, marks: tuple[str, ...] = ("Answer:",), **fields: Any
) -> Task:
    """A task whose items have options, asked in the forms of `prompts`."""
    given: dict[str, Any] = {
        "sampling": Sampling(max_tokens=512),
        "scorer": scorers(prompts, marks),
        "metrics": METRICS,
        "gold": gold,
        "wrong": wrong,
        "version": 1,
    }
    given.update({str(form): prompt for form, prompt in prompts.items()})
    return Task(**(given | fields))
