"""Chat templates: the beginning token once, system turns, what a template says of its own, identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from probatum.core.comparability import Comparability, comparability, compare_identities
from probatum.core.moments import now
from probatum.core.records import Identity, Message
from probatum.core.run import Run, RunState
from probatum.models.chat import ChatTemplate, RenderingError
from probatum.models.likelihood import begun
from probatum.models.template_text import text_of_its_own
from probatum.report import make_card
from tests.cases.frame import Given, Said, operation

BOS = "<s>"


class Vocabulary:
    """Characters as tokens; `<s>` is one token, 1, which the tokenizer may add."""

    begin, end = 1, 2

    def __init__(self, *, adds: bool) -> None:
        self.opening = (self.begin,) if adds else ()

    def encode(self, text: str) -> list[int]:
        first, *rest = text.split(BOS)
        tokens = [1000 + ord(letter) for letter in first]
        for part in rest:
            tokens += [self.begin, *(1000 + ord(letter) for letter in part)]
        return tokens

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        raise NotImplementedError


def counted(ours: int, expected: Any) -> bool:
    return expected == {0: "no <s>", 1: "exactly one <s>"}.get(ours, f"{ours} <s>") or expected == ours


@operation("render_ids", agrees=counted)
def render_ids(given: Given) -> int:
    vocabulary = Vocabulary(adds=given["tokenizer_adds_bos"])
    return begun(vocabulary.encode(given["template_output"]), vocabulary, "tokenizer").count(Vocabulary.begin)


def template_of(roles: Sequence[str], system: str | None = None) -> ChatTemplate:
    """A template that knows these roles only, and speaks first where nobody gave a system turn."""
    known = ", ".join(map(repr, roles))
    own = "" if system is None else f"<|system|>\n{system}\n"
    source = (
        f"{{% if messages[0].role != 'system' %}}{own}{{% endif %}}{{% for m in messages %}}"
        f"{{% if m.role not in [{known}] %}}{{{{ raise_exception('role ' + m.role + ' is unknown') }}}}{{% endif %}}"
        "<|{{ m.role }}|>\n{{ m.content }}\n{% endfor %}<|assistant|>\n"
    )
    return ChatTemplate(source, bos=BOS, eos="</s>", today=None)


def messages_of(given: Given) -> list[Message]:
    return [Message(role, content) for role, content in given["messages"]]


def rendered_agrees(ours: Any, expected: Any) -> bool:
    if isinstance(ours, Said):
        return isinstance(expected, str) and "error" in expected and bool(ours.detail)
    if isinstance(expected, str) and "never dropped" in expected:
        return bool(ours["whole"])
    return bool(ours["text"] == expected)


@operation("render", agrees=rendered_agrees)
def render(given: Given) -> Any:
    messages = messages_of(given)
    try:
        text = template_of(given["roles_supported"]).render(messages)
    except RenderingError as refused:
        return Said("error", str(refused))
    return {"text": text, "whole": all(message.content in text for message in messages)}


def named(ours: dict[str, bool], expected: str) -> bool:
    wanted = "injected text" in expected or "named" in expected
    return wanted and ours["rendered"] and ours["told"]


@operation("render_record", agrees=named)
def render_record(given: Given) -> dict[str, bool]:
    """What is asked follows from the messages and the template; what the template adds stands on the card."""
    own = given["template_default_system"]
    template = template_of(["system", "user", "assistant"], own)
    said = text_of_its_own(template)
    model = Identity(provider="llamacpp", name="m", settings={} if said is None else {"template_says": said})
    run = Run(id="r", model=model, tasks=(), state=RunState.COMPLETE, created=now(), updated=now())
    return {"rendered": own in template.render(messages_of(given)), "told": own in make_card(run).markdown()}


def refused_or_flagged(ours: tuple[Comparability, tuple[str, ...]], expected: Any) -> bool:
    kind, meanings = ours
    if not isinstance(expected, str):
        return bool(expected) is (kind is not Comparability.REFUSED)
    differs = "refused" in expected or "flagged" in expected or "not comparable" in expected
    return differs is (kind is not Comparability.SAME) and (
        "prompts differ" not in expected or "prompts differ" in meanings
    )


@operation("compare_runs", agrees=refused_or_flagged)
def compare_runs(given: Given) -> tuple[Comparability, tuple[str, ...]]:
    """Two runs of one model by what their identities hold."""
    base = Identity(provider="llamacpp", name="m", weights="w")
    found = compare_identities(*(replace(base, **given[side]) for side in ("a", "b")))
    return comparability(found), tuple(each.meaning for each in found)
