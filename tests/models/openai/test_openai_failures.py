"""Status and body of a failure → what it means: a table of what servers and gateways send."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from probatum.core.records import Finish
from probatum.models.openai.failures import read_error, read_failure
from probatum.models.openai.verdicts import Adapt, Rejected, Transient, Unusable


def read(status: int, body: object, headers: dict[str, str] | None = None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_failure(status, CIMultiDict(headers or {}), raw, None)


def openai(message: str, **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}


OVERFLOWS = {
    "OpenAI": (
        400,
        openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            code="context_length_exceeded",
            param="messages",
        ),
    ),
    "vLLM": (
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 2048 tokens. However, you requested 2500 tokens.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        },
    ),
    "vLLM about max_tokens": (
        400,
        openai(
            "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 "
            "tokens and your request has 1200 input tokens"
        ),
    ),
    "vLLM about the prompt": (
        400,
        openai("The decoder prompt (length 9) is longer than the maximum model length of 8."),
    ),
    "llama.cpp": (
        400,
        openai(
            "request (8002 tokens) exceeds the available context size (1024 tokens), try increasing it",
            code=400,
            type="exceed_context_size_error",
        ),
    ),
    "llama.cpp, older": (500, openai("the request exceeds the available context size", code=500)),
    "TGI": (
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096",
            "error_type": "validation",
        },
    ),
    "SGLang": (
        400,
        openai("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
    ),
    "Anthropic": (
        400,
        openai("prompt is too long: 210000 tokens > 200000 maximum", type="invalid_request_error"),
    ),
    "Gemini": (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "input is too long: maximum context size",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    "Mistral": (
        400,
        openai("Prompt contains 40000 tokens, too large for model with 32768 maximum context length"),
    ),
}


@pytest.mark.parametrize(("status", "body"), OVERFLOWS.values(), ids=OVERFLOWS)
def test_prompts_that_do_not_fit(status, body):
    verdict = read(status, body)
    assert isinstance(verdict, Rejected)
    assert verdict.finish is Finish.CONTEXT_OVERFLOW


FILTERED = {
    "Azure": (
        400,
        openai(
            "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
            code="content_filter",
            innererror={"code": "ResponsibleAIPolicyViolation"},
        ),
    ),
    "Azure, by the inner error alone": (
        400,
        openai("Bad", innererror={"code": "ResponsibleAIPolicyViolation"}),
    ),
    "OpenAI reasoning": (
        400,
        openai("Invalid prompt: your prompt was flagged as violating our policy", code="invalid_prompt"),
    ),
    "DeepSeek": (400, openai("Content Exists Risk", type="invalid_request_error")),
    "Qwen": (400, openai("Input data may contain inappropriate content.", code="data_inspection_failed")),
    "OpenRouter": (
        403,
        openai("Blocked", code=403, metadata={"reasons": ["violence"], "flagged_input": "…"}),
    ),
}


@pytest.mark.parametrize(("status", "body"), FILTERED.values(), ids=FILTERED)
def test_prompts_that_the_provider_withholds(status, body):
    verdict = read(status, body)
    assert isinstance(verdict, Rejected)
    assert verdict.finish is Finish.FILTERED


UNUSABLE = {
    "no key": (401, openai("Missing bearer"), True),
    "no money": (402, openai("Insufficient Balance"), True),
    "no quota left": (429, openai("You exceeded your current quota", code="insufficient_quota"), True),
    "no quota left, by its words alone": (
        429,
        openai("You exceeded your current quota, please check your plan and billing details."),
        True,
    ),
    "no credit": (400, openai("Your credit balance is too low to access the API."), True),
    "forbidden": (403, openai("Project may not use this model"), False),
    "no model": (
        404,
        openai("The model `x` does not exist or you do not have access", code="model_not_found"),
        False,
    ),
    "no model at vLLM": (
        404,
        {"object": "error", "message": "The model `x` does not exist.", "code": 404},
        False,
    ),
    "no model at Ollama": (404, openai('model "x" not found, try pulling it first', type="api_error"), False),
    "no model, with 400": (400, openai("Invalid model: x", type="invalid_model"), False),
    "chat model asked to complete": (
        404,
        openai("This is a chat model and not supported in the v1/completions endpoint."),
        False,
    ),
    "no route": (404, b"404 page not found", False),
    "no such method": (405, b"", False),
    "not implemented": (501, openai("This route is not implemented"), False),
    "no chat template": (
        400,
        openai(
            "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template"
        ),
        False,
    ),
    "no temperature": (
        400,
        openai("Unsupported value: 'temperature' does not support 0.0", param="temperature"),
        False,
    ),
    "no top_k": (400, openai("Unrecognized request argument supplied: top_k", param="top_k"), False),
    "moved": (308, b"", True),
}


@pytest.mark.parametrize(("status", "body", "certain"), UNUSABLE.values(), ids=UNUSABLE)
def test_what_is_not_about_the_request(status, body, certain):
    verdict = read(status, body)
    assert isinstance(verdict, Unusable)
    assert verdict.certain is certain


TRANSIENT = {
    "rate limit": (429, openai("Rate limit reached", code="rate_limit_exceeded"), True),
    "rate limit in Google's words": (
        429,
        openai("You exceeded your current quota", status="RESOURCE_EXHAUSTED"),
        True,
    ),
    "loading": (503, openai("Loading model", code=503, type="unavailable_error"), True),
    "overloaded": (529, openai("Overloaded", type="overloaded_error"), True),
    "conflict": (409, openai("Conflict"), False),
    "slow": (408, b"", False),
    "internal": (500, openai("The server had an error"), False),
    "gateway": (502, b"<html>Bad Gateway</html>", False),
    "Cloudflare": (524, b"error code: 524", False),
}


@pytest.mark.parametrize(("status", "body", "congested"), TRANSIENT.values(), ids=TRANSIENT)
def test_what_may_pass(status, body, congested):
    verdict = read(status, body)
    assert isinstance(verdict, Transient)
    assert (verdict.congested, verdict.finish) == (congested, Finish.INFRA_ERROR)


REJECTED = {
    "malformed": (400, openai("messages: at least one message is required")),
    "roles": (400, openai("Conversation roles must alternate user/assistant/user/assistant/...")),
    "too large for the plan": (413, openai("Request too large for model `x` on tokens per minute (TPM)")),
    "too many tokens asked for": (
        400,
        openai(
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
            param="max_tokens",
        ),
    ),
    "firewall": (400, b"<html>Request blocked</html>"),
    "teapot": (418, b""),
    "a prompt about money, quoted by the server": (
        422,
        {
            "detail": [
                {
                    "loc": ["body", "messages", 0],
                    "msg": "Input should be valid",
                    "input": "insufficient_quota flagged",
                }
            ]
        },
    ),
}


@pytest.mark.parametrize(("status", "body"), REJECTED.values(), ids=REJECTED)
def test_what_is_about_this_request(status, body):
    verdict = read(status, body)
    assert isinstance(verdict, Rejected)
    assert verdict.finish is Finish.MODEL_ERROR
    assert verdict.reason.startswith(f"HTTP {status}: ")


ADAPTABLE = {
    "reasoning models": (
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        ),
        "max_tokens",
    ),
    "the same, parameter not named": (
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        ),
        "max_tokens",
    ),
    "old local servers": (
        422,
        {
            "detail": [
                {
                    "type": "extra_forbidden",
                    "loc": ["body", "max_completion_tokens"],
                    "msg": "Extra inputs are not permitted",
                }
            ]
        },
        "max_completion_tokens",
    ),
    "too many stop strings": (
        400,
        openai(
            "Invalid 'stop': array too long. Expected an array with maximum length 4",
            param="stop",
            code="array_above_max_length",
        ),
        "stop",
    ),
    "no stop strings": (
        400,
        openai("Unsupported parameter: 'stop' is not supported with this model.", param="stop"),
        "stop",
    ),
}


@pytest.mark.parametrize(("status", "body", "field"), ADAPTABLE.values(), ids=ADAPTABLE)
def test_what_can_be_said_in_another_way(status, body, field):
    verdict = read(status, body)
    assert isinstance(verdict, Adapt)
    assert verdict.field == field


@pytest.mark.parametrize("status", [400, 401, 404, 408, 429, 500, 503])
def test_permanent_and_transient_statuses(status):
    assert isinstance(read(status, b""), Transient) == (status in {408, 429, 500, 503})


def test_server_that_asks_not_to_be_asked_again_is_obeyed():
    assert isinstance(read(500, b"", {"x-should-retry": "false"}), Rejected)


def test_wait_that_the_server_asks_for_is_kept():
    assert read(429, b"", {"retry-after": "7"}).wait == 7
    assert read(503, b"").wait is None


def test_reason_is_one_printable_line():
    verdict = read(400, openai("a\n\x1b[31mb\u202ec" + "d" * 1000))
    assert verdict.reason.isprintable()
    assert len(verdict.reason) < 330


@given(
    st.integers(300, 599),
    st.binary(max_size=80) | st.text(max_size=80).map(lambda text: json.dumps(openai(text)).encode()),
)
def test_every_failure_has_a_verdict(status, raw):
    verdict = read_failure(status, CIMultiDict(), raw, None)
    assert isinstance(verdict, (Transient, Rejected, Unusable, Adapt))
    assert verdict.reason.isprintable()


@pytest.mark.parametrize("code", ["insufficient_quota", None])
def test_an_empty_account_is_no_passing_fault_whatever_status_its_message_came_with(code):
    failure = read_error({"message": "You have insufficient credits.", "code": code})
    assert isinstance(failure, Unusable)
    assert failure.reason == (
        "HTTP 200 with an error: You have insufficient credits. (the account has nothing left to spend)"
    )
    assert isinstance(read_error({"message": "overloaded", "code": code and "overloaded"}), Transient)
