"""The body of a successful response → what the model said, whatever the server made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from probatum.core.records import Finish
from probatum.models.openai.failures import read_error
from probatum.models.openai.lenient import loads
from probatum.models.openai.verdicts import Adapt, Answer, Rejected, Transient, Unusable, Verdict, one_line

__all__ = ["cut", "read_answer"]

STOPPED: Final = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence", "completed", "complete"})
LONG: Final = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "context_length"})
FILTERED: Final = frozenset(
    {"content_filter", "content_filtered", "safety", "sensitive", "recitation", "blocklist"}
    | {"prohibited_content", "spii", "guardrail_intervened", "image_safety"}
)
TOOLS: Final = frozenset({"tool_calls", "tool_call", "function_call", "tool_use"})
BROKEN: Final = frozenset({"error", "abort", "aborted", "network_error", "insufficient_system_resource"})
"""The server ended it for a reason of its own: what there is of the text is no answer."""

GARBLED_ATTEMPTS: Final = 3
"""A server that answers, but not what was asked, seldom changes its mind."""


class _Message(msgspec.Struct):
    """What is read of a message. Everything may be anything: servers differ."""

    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: Any = None
    function_call: Any = None


class _Choice(msgspec.Struct):
    index: Any = None
    message: _Message | None = None
    text: Any = None
    finish_reason: Any = None
    stop_reason: Any = None
    error: Any = None


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    model: Any = None
    system_fingerprint: Any = None
    usage: Any = None
    error: Any = None
    stop_reason: Any = None


_DECODER: Final = msgspec.json.Decoder(_Body)


def read_answer(  # noqa: PLR0911 - a table of shapes, the broken ones first
    body: bytes, charset: str | None, stops: Sequence[str], max_tokens: int
) -> Verdict:
    """What a body with status 2xx says.

    Args:
        body: as received, decompressed.
        charset: what the header claims; JSON is UTF-8, so it counts only where the body is not.
        stops: stop strings of the request: the text is cut at the earliest, whatever the server did.
        max_tokens: of the request, to tell the end where the server does not.

    Returns:
        An `Answer`, a `Transient` failure, or what an error object in the body means.
    """
    try:
        whole = _DECODER.decode(body)
    except (msgspec.MsgspecError, RecursionError):
        whole_or_failure = _lenient(body, charset)
        if not isinstance(whole_or_failure, _Body):
            return whole_or_failure
        whole = whole_or_failure
    if whole.error and not whole.choices:
        return read_error(whole.error)
    if not whole.choices:
        if whole.stop_reason == "refusal":  # gateways that pass Anthropic's form through
            return Answer(text="", finish=Finish.REFUSAL, reason="the model declined")
        return _garbled("the response has no choices")
    choice = _first(whole.choices)
    if choice is None:
        return _garbled(f"the response has {len(whole.choices)} choices and one was asked for")
    if choice.error:
        return read_error(choice.error)
    return _choice(choice, whole, stops, max_tokens)


def _first(choices: list[_Choice]) -> _Choice | None:
    """The choice with index 0; two that contradict each other are no answer."""
    if len(choices) == 1 and type(choices[0].index) is not int:
        return choices[0]
    found = [choice for choice in choices if type(choice.index) is int and choice.index == 0]
    return found[0] if found and all(choice == found[0] for choice in found) else None


def _choice(choice: _Choice, whole: _Body, stops: Sequence[str], max_tokens: int) -> Verdict:
    message = choice.message or _Message()
    text, refusal, thought = _content(choice.text if choice.text is not None else message.content)
    refusal = refusal or (message.refusal if isinstance(message.refusal, str) else "")
    said = choice.finish_reason.lower() if isinstance(choice.finish_reason, str) else ""
    if said in BROKEN:
        return Transient(reason=f"the server ended the answer: {said}", attempts=GARBLED_ATTEMPTS)
    prompt_tokens, completion_tokens = _usage(whole.usage, text)
    text, stop = cut(text, stops)
    finish, reason = _finish(said, refusal, completion_tokens, max_tokens)
    if stop is not None:
        finish = Finish.STOP if finish is Finish.LENGTH else finish
    elif isinstance(choice.stop_reason, str) and choice.stop_reason in stops:
        stop = choice.stop_reason
    reasoning = _reasoning(message) or thought or None
    if not text and reason is None:
        reason = "everything is in the reasoning field" if reasoning else _why_empty(said, message)
    return Answer(
        text=text,
        finish=finish,
        stop=stop,
        reasoning=reasoning,
        prompt_tokens=prompt_tokens,
        completion_tokens=completion_tokens,
        reason=reason,
        model=whole.model if isinstance(whole.model, str) else None,
        fingerprint=whole.system_fingerprint if isinstance(whole.system_fingerprint, str) else None,
    )


def cut(text: str, stops: Sequence[str]) -> tuple[str, str | None]:
    """`text` before the earliest stop string, and that string.

    A guard: some servers take no more than four, and some leave the string in the text.
    """
    end, ended_by = len(text), None
    for stop in stops:
        place = text.find(stop) if stop else -1
        if 0 <= place < end:
            end, ended_by = place, stop
    return (text, None) if ended_by is None else (text[:end], ended_by)


def _finish(  # noqa: PLR0911 - a table of words
    said: str, refusal: str, completion_tokens: int | None, max_tokens: int
) -> tuple[Finish, str | None]:
    """Why it ended, and a line where that needs one."""
    if said in FILTERED:
        return Finish.FILTERED, "the provider's filter withheld the answer"
    if refusal or said == "refusal":
        return Finish.REFUSAL, one_line(refusal) or "the model declined"
    if said in STOPPED:
        return Finish.STOP, None
    if said in LONG:
        return Finish.LENGTH, None
    if said in TOOLS:
        return Finish.STOP, "the model called a tool"
    reason = f"finish reason {one_line(said)!r} is not known" if said else "no finish reason was given"
    if completion_tokens is not None and completion_tokens >= max_tokens:
        return Finish.LENGTH, f"{reason}; all {max_tokens} tokens were used"
    return Finish.STOP, f"{reason}; read as the end"


def _why_empty(said: str, message: _Message) -> str:
    if said in TOOLS or message.tool_calls or message.function_call:
        return "the model called a tool"
    return "the model's text is empty"


def _content(content: Any) -> tuple[str, str, str]:
    """Text, refusal and reasoning of a content: a text, nothing, or a list of parts."""
    if isinstance(content, str):
        return content, "", ""
    if content is None:
        return "", "", ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False), "", ""
    texts, refusals, thoughts = [], [], []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            kind = part["type"] if isinstance(part.get("type"), str) else None
            if kind in {"thinking", "reasoning"}:
                thoughts.append(_content(part.get(str(kind)) or part.get("text"))[0])
            elif kind == "refusal":
                refusals.append(_content(part.get("refusal"))[0])
            elif kind in {"text", "output_text", None}:
                texts.append(_content(part.get("text"))[0])
    return "".join(texts), "".join(refusals), "".join(thoughts)


def _reasoning(message: _Message) -> str:
    for value in (message.reasoning_content, message.reasoning):
        if value:
            text = _content(value)[0]
            if text:
                return text
    details = message.reasoning_details
    if isinstance(details, list):
        parts = [part.get("text") for part in details if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _usage(usage: Any, text: str) -> tuple[int | None, int | None]:
    """Token counts, where they can be true."""
    if not isinstance(usage, dict):
        return None, None
    prompt, completion = (_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    return prompt, None if completion == 0 and text else completion


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None


def _garbled(reason: str) -> Transient:
    return Transient(reason=reason, finish=Finish.MODEL_ERROR, attempts=GARBLED_ATTEMPTS)


def _lenient(body: bytes, charset: str | None) -> _Body | Transient | Rejected | Unusable | Adapt:
    """The body once more, by the standard library, and then with an eye to its shape."""
    try:
        value = loads(body, charset)
    except ValueError:
        if not body.strip():
            return _garbled("the body is empty")
        if re.match(rb"\s*<(!doctype|html|head|body|\?xml)", body[:200], re.IGNORECASE):
            return _garbled("the body is a web page, not JSON: is base_url right?")
        return _garbled(f"the body is no JSON: {one_line(body[:120].decode('utf-8', 'replace'))!r}")
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict) and "error" in value[0]:
        value = value[0]  # Google's interface wraps its errors
    try:
        return msgspec.convert(value, _Body)
    except msgspec.ValidationError as error:
        if isinstance(value, dict) and value.get("error"):
            return read_error(value["error"])
        return _garbled(f"the response has not the form of an answer: {error}")
