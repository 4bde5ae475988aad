"""A response that is no success, or no response at all → what that means for this request and for the run.

The table follows what servers do rather than what the specification says: OpenAI, Azure, vLLM, SGLang,
llama.cpp, Ollama, TGI, and gateways before them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from probatum.core.records import Finish
from probatum.models.openai.lenient import loads
from probatum.models.openai.pacing import retry_after
from probatum.models.openai.verdicts import Adapt, Rejected, Transient, Unusable, one_line

__all__ = ["read_error", "read_failure"]

Failure = Transient | Rejected | Unusable | Adapt

TRANSIENT: Final = frozenset({408, 409, 425, 429})
CONGESTED: Final = frozenset({429, 503, 529})
"""Statuses after which fewer requests are sent (529 is "overloaded" of some gateways)."""

NO_ROUTE: Final = frozenset({404, 405, 410, 501})

OVERFLOW: Final = re.compile(
    r"context[_ ](length|window|size)|maximum (model|context|sequence) length|max_model_len"
    r"|exceed_context_size|prompt (is )?too long|input (is )?too long|too many (input )?tokens"
    r"|reduce the length|longer than the (maximum )?model|inputs?` tokens \+|tokens exceed",
    re.IGNORECASE,
)
FILTER: Final = re.compile(
    r"content_filter|content_policy|content management policy|responsibleaipolicy|moderation_blocked"
    r"|data_?inspection_?failed|content exists risk|sensitive_words|flagged|invalid_prompt",
    re.IGNORECASE,
)
QUOTA: Final = re.compile(
    r"insufficient_quota|billing_(not_active|hard_limit)|credit balance"
    r"|insufficient[ _](balance|credits|funds)|(out of|no (more )?) ?credits"
    r"|account.{0,20}(suspended|deactivated)"
    # Google says the same of a rate limit
    r"|^(?![\s\S]*(resource_exhausted|retry in|per[ _]?(minute|hour|day)))[\s\S]*exceeded your current quota",
    re.IGNORECASE,
)
NO_MODEL: Final = re.compile(
    r"model_not_found|model .{0,200}(not found|(does )?not exist|is not available|not supported in the v1)"
    r"|(invalid|unknown|no such) model|not a chat model|is a chat model",
    re.IGNORECASE,
)
NO_TEMPLATE: Final = re.compile(
    r"chat.template.{0,80}(not|no longer|missing|must|undefined|provide)", re.IGNORECASE
)
UNSUPPORTED: Final = re.compile(
    r"unsupported|not supported|does not support|unrecognized|not permitted|not allowed|unknown|unexpected"
    r"|extra_forbidden|deprecated|no longer",
    re.IGNORECASE,
)
TOO_MANY: Final = re.compile(r"too long|too many|at most|maximum|up to|above_max", re.IGNORECASE)
ADAPTABLE: Final = ("max_tokens", "max_completion_tokens", "stop")
FIELDS: Final = (*ADAPTABLE, "temperature", "top_p", "top_k", "seed", "min_p", "repetition_penalty")

SERVER_ERROR: Final = 500
"""Statuses from here on are the server's fault."""

LAST: Final = 600
"""No status is as high."""

READ: Final = 2000
"""Characters of a message that are searched."""


def read_failure(status: int, headers: Mapping[str, str], body: bytes, charset: str | None) -> Failure:
    """What an HTTP status outside 2xx means.

    Args:
        status: of the response.
        headers: case-insensitive.
        body: as received; its message decides where the status alone does not.
        charset: what the header claims.
    """
    try:
        value = loads(body, charset)
    except ValueError:
        return _classify(status, headers, "", body[:READ].decode("utf-8", "replace"), json=False)
    code, message = _describe(value)
    return _classify(status, headers, code, message, json=True)


def read_error(error: Any) -> Failure:
    """What an error object means that came with status 200; its `code` may be the true status."""
    code, message = _describe({"error": error})
    number: Any = error.get("code") if isinstance(error, dict) else None
    if isinstance(number, str) and number.isdecimal():
        number = int(number)
    known = type(number) is int and HTTPStatus.BAD_REQUEST <= number < LAST
    status: int = number if known else HTTPStatus.BAD_GATEWAY
    if not known and QUOTA.search(f"{code} {message}"):
        return Unusable(
            reason=f"HTTP 200 with an error: {one_line(message)} (the account has nothing left to spend)"
        )
    failure = _classify(status, {}, code, message, json=True)
    if not known and isinstance(failure, Transient):
        return Transient(
            reason=f"HTTP 200 with an error: {one_line(message)}", finish=Finish.MODEL_ERROR, attempts=3
        )
    return failure


def _describe(value: Any) -> tuple[str, str]:
    """The words that classify an error (codes, types, parameter), and its message."""
    if isinstance(value, list) and value:
        value = value[0]  # Google's interface wraps its errors
    error = value.get("error", value) if isinstance(value, dict) else value
    if not isinstance(error, dict):
        return "", str(error)[:READ]
    inner, metadata = error.get("innererror"), error.get("metadata")
    words = [error.get(name) for name in ("code", "type", "param", "status")]
    if isinstance(inner, dict):
        words.append(inner.get("code"))
    if isinstance(metadata, dict) and "flagged_input" in metadata:
        words.append("flagged")
    code = " ".join(str(word) for word in words if word is not None)
    found = next((error[name] for name in ("message", "detail", "error", "msg") if error.get(name)), code)
    if isinstance(found, list):  # pydantic: the input is quoted as well, and must not decide anything
        found = "; ".join(f"{part.get('loc')}: {part.get('msg')}" for part in found if isinstance(part, dict))
    return code, str(found)[:READ]


def _classify(  # noqa: PLR0911 - a table of cases, the special ones first
    status: int, headers: Mapping[str, str], code: str, message: str, *, json: bool
) -> Failure:
    words = f"{code} {message}"
    reason = f"HTTP {status}: {one_line(message) or _phrase(status)}"
    ours = status < SERVER_ERROR and status not in TRANSIENT
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        place = one_line(headers.get("Location", "nowhere"))
        return Unusable(reason=f"HTTP {status}: the server redirects to {place}: set base_url to that")
    if status == HTTPStatus.PAYMENT_REQUIRED or (status < SERVER_ERROR and QUOTA.search(words)):
        return Unusable(reason=f"{reason} (the account has nothing left to spend)")
    if ours and FILTER.search(words):
        return Rejected(reason=reason, finish=Finish.FILTERED)
    if status not in TRANSIENT and OVERFLOW.search(words):
        return Rejected(reason=reason, finish=Finish.CONTEXT_OVERFLOW)
    if status == HTTPStatus.UNAUTHORIZED:
        return Unusable(reason=f"{reason} (is the key right? it is read from api_key or api_key_env)")
    if status == HTTPStatus.FORBIDDEN:
        return Unusable(reason=f"{reason} (is the key right, and may it use this model?)", certain=False)
    if ours and NO_MODEL.search(words):
        return Unusable(reason=reason, certain=False)
    if status in NO_ROUTE:
        hint = "does base_url end where the server's /v1 ends?"
        return Unusable(reason=f"{reason} ({hint})", certain=False)
    if not ours:
        return _transient(status, headers, reason)
    return _rejected(code, words, reason, json=json)


def _transient(status: int, headers: Mapping[str, str], reason: str) -> Failure:
    if headers.get("x-should-retry") == "false":
        return Rejected(reason=reason)
    return Transient(reason=reason, wait=retry_after(headers), congested=status in CONGESTED)


def _rejected(code: str, words: str, reason: str, *, json: bool) -> Failure:
    """A 400, 413, 422 or the like: about one parameter, about this request, or about all of them."""
    if not json:
        return Rejected(reason=reason)
    if NO_TEMPLATE.search(words):
        return Unusable(reason=f"{reason} (a base model? then give -M api=completions)", certain=False)
    field = _parameter(code, words)
    if field == "stop" and (UNSUPPORTED.search(words) or TOO_MANY.search(words)):
        return Adapt(field=field, reason=reason)
    if field is not None and UNSUPPORTED.search(words):
        if field in ADAPTABLE:
            return Adapt(field=field, reason=reason)
        hint = f"give -M omit={field} to leave it to the server; that is recorded"
        return Unusable(reason=f"{reason} ({hint})", certain=False)
    return Rejected(reason=reason)


def _parameter(code: str, words: str) -> str | None:
    """The field of ours that an error is about: the parameter it names, or the first in quotation marks."""
    named = [field for field in FIELDS if field in code.split()]
    if named:
        return named[0]
    quoted = re.search(rf"['\"`]({'|'.join(FIELDS)})['\"`]", words)
    return quoted[1] if quoted is not None else None


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "no message"
