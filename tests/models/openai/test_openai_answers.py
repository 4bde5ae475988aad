"""Body → answer: a table of what servers send with status 200."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core.records import Finish
from probatum.models.openai.answers import cut, read_answer
from probatum.models.openai.verdicts import Answer, Rejected, Transient, Unusable
from tests.models.openai.fault_server import chat_body

STOP, LENGTH, REFUSAL, FILTERED = Finish.STOP, Finish.LENGTH, Finish.REFUSAL, Finish.FILTERED


def read(body: object, stops: tuple[str, ...] = (), max_tokens: int = 100, charset: str | None = None):
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_answer(raw, charset, stops, max_tokens)


def message(content: object = "Yes", finish: object = "stop", **more: object) -> dict[str, object]:
    return chat_body(content, finish, **more)


def choices(*found: dict[str, object]) -> dict[str, object]:
    return {"choices": list(found)}


CALL = [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]

# what the server sends → text, finish, reasoning
ANSWERS = {
    "plain": (message(), "Yes", STOP, None),
    "blanks are kept": (message("  Yes\n"), "  Yes\n", STOP, None),
    "Chinese and emoji": (message("是👍"), "是👍", STOP, None),
    "length": (message("Ye", "length"), "Ye", LENGTH, None),
    "length in Gemini's words": (message("Ye", "MAX_TOKENS"), "Ye", LENGTH, None),
    "end in Anthropic's words": (message("Yes", "end_turn"), "Yes", STOP, None),
    "content null": (message(None), "", STOP, None),
    "content missing": (choices({"index": 0, "finish_reason": "stop", "message": {}}), "", STOP, None),
    "message null": (choices({"index": 0, "finish_reason": "stop", "message": None}), "", STOP, None),
    "content empty": (message(""), "", STOP, None),
    "content a number": (message(42), "42", STOP, None),
    "content an object": (message({"a": "ü"}), '{"a": "ü"}', STOP, None),
    "refusal beside null": (message(None, refusal="I can't."), "", REFUSAL, None),
    "refusal beside text": (message("Well", refusal="I can't."), "Well", REFUSAL, None),
    "refusal empty is none": (message("Yes", refusal=""), "Yes", STOP, None),
    "refusal as finish reason": (message("", "refusal"), "", REFUSAL, None),
    "refusal in Anthropic's form": ({"stop_reason": "refusal", "content": []}, "", REFUSAL, None),
    "filter": (message(None, "content_filter"), "", FILTERED, None),
    "filter keeps what came": (message("Half", "content_filter"), "Half", FILTERED, None),
    "filter before refusal": (message("", "content_filter", refusal="No."), "", FILTERED, None),
    "filter in Gemini's words": (message("", "SAFETY"), "", FILTERED, None),
    "filter in Zhipu's words": (message("", "sensitive"), "", FILTERED, None),
    "tool call": (message(None, "tool_calls", tool_calls=CALL), "", STOP, None),
    "tool call with text": (message("I look.", "tool_calls", tool_calls=CALL), "I look.", STOP, None),
    "old function call": (message(None, "function_call", function_call={"name": "f"}), "", STOP, None),
    "parts": (message([{"type": "text", "text": "Y"}, {"type": "text", "text": "es"}]), "Yes", STOP, None),
    "parts as texts": (message(["Y", "es"]), "Yes", STOP, None),
    "parts with a refusal": (message([{"type": "refusal", "refusal": "No."}]), "", REFUSAL, None),
    "parts with a picture": (
        message([{"type": "image_url", "image_url": {}}, {"type": "text", "text": "Y"}]),
        "Y",
        STOP,
        None,
    ),
    "parts with thinking": (
        message(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                {"type": "text", "text": "Y"},
            ]
        ),
        "Y",
        STOP,
        "hm",
    ),
    "parts empty": (message([]), "", STOP, None),
    "reasoning_content": (message(reasoning_content="hm"), "Yes", STOP, "hm"),
    "reasoning": (message(reasoning="hm"), "Yes", STOP, "hm"),
    "reasoning twice": (message(reasoning_content="hm", reasoning="other"), "Yes", STOP, "hm"),
    "reasoning null": (message(reasoning_content=None, reasoning=""), "Yes", STOP, None),
    "reasoning_details": (
        message(reasoning_details=[{"type": "reasoning.text", "text": "hm"}]),
        "Yes",
        STOP,
        "hm",
    ),
    "reasoning used all tokens": (message(None, "length", reasoning_content="hm…"), "", LENGTH, "hm…"),
    "reasoning in the text stays there": (
        message("<think>hm</think>Yes"),
        "<think>hm</think>Yes",
        STOP,
        None,
    ),
    "finish reason null": (message("Yes", None), "Yes", STOP, None),
    "finish reason unknown": (message("Yes", "because"), "Yes", STOP, None),
    "finish reason a number": (message("Yes", 7), "Yes", STOP, None),
    "completions": (choices({"index": 0, "text": " Yes", "finish_reason": "stop"}), " Yes", STOP, None),
    "completions, text null": (
        choices({"index": 0, "text": None, "finish_reason": "length"}),
        "",
        LENGTH,
        None,
    ),
    "no index": (choices({"text": "Yes", "finish_reason": "stop"}), "Yes", STOP, None),
    "index null": (choices({"index": None, "text": "Yes", "finish_reason": "stop"}), "Yes", STOP, None),
    "index a truth value beside a number": (
        choices({"index": False, "text": "B"}, {"index": 0, "text": "A", "finish_reason": "stop"}),
        "A",
        STOP,
        None,
    ),
    "index of no use": (choices({"index": [], "text": "Yes", "finish_reason": "stop"}), "Yes", STOP, None),
    "part of no kind": (message([{"type": ["text"], "text": "Yes"}]), "Yes", STOP, None),
    "choices in another order": (
        choices(
            {"index": 1, "text": "B", "finish_reason": "stop"},
            {"index": 0, "text": "A", "finish_reason": "stop"},
        ),
        "A",
        STOP,
        None,
    ),
    "choice twice": (
        choices(*[{"index": 0, "text": "A", "finish_reason": "stop"}] * 2),
        "A",
        STOP,
        None,
    ),
    "error null beside choices": ({**message(), "error": None}, "Yes", STOP, None),
    "logprobs NaN": (
        b'{"choices":[{"message":{"content":"Yes"},"finish_reason":"stop","logprobs":NaN}]}',
        "Yes",
        STOP,
        None,
    ),
    "byte order mark": (b"\xef\xbb\xbf" + json.dumps(message()).encode(), "Yes", STOP, None),
    "UTF-16": (json.dumps(message("Ü")).encode("utf-16"), "Ü", STOP, None),
    "lone surrogate": (
        b'{"choices":[{"message":{"content":"\\ud83d"},"finish_reason":"stop"}]}',
        "\ud83d",
        STOP,
        None,
    ),
    "pair of surrogates": (
        b'{"choices":[{"text":"\\ud83d\\ude00","finish_reason":"stop"}]}',
        "😀",
        STOP,
        None,
    ),
}


@pytest.mark.parametrize(("body", "text", "finish", "reasoning"), ANSWERS.values(), ids=ANSWERS)
def test_answers(body, text, finish, reasoning):
    verdict = read(body)
    assert isinstance(verdict, Answer)
    assert (verdict.text, verdict.finish, verdict.reasoning) == (text, finish, reasoning)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("plain", None),
        ("refusal beside null", "I can't."),
        ("refusal as finish reason", "the model declined"),
        ("filter", "the provider's filter withheld the answer"),
        ("tool call", "the model called a tool"),
        ("content null", "the model's text is empty"),
        ("reasoning used all tokens", "everything is in the reasoning field"),
        ("finish reason null", "no finish reason was given; read as the end"),
        ("finish reason unknown", "finish reason 'because' is not known; read as the end"),
    ],
)
def test_what_is_out_of_the_ordinary_has_a_reason(name, reason):
    assert read(ANSWERS[name][0]).reason == reason


def test_end_by_length_is_told_from_the_tokens_where_the_server_gives_no_reason():
    verdict = read(message("Yes", None), max_tokens=3)
    assert (verdict.finish, verdict.completion_tokens) == (LENGTH, 3)


USAGES = {
    "usual": ({"prompt_tokens": 7, "completion_tokens": 3}, 7, 3),
    "missing": (None, None, None),
    "empty": ({}, None, None),
    "of another form": ("7", None, None),
    "null": ({"prompt_tokens": None, "completion_tokens": None}, None, None),
    "negative": ({"prompt_tokens": -1, "completion_tokens": -1}, None, None),
    "text": ({"prompt_tokens": "7", "completion_tokens": 3.5}, None, None),
    "true": ({"prompt_tokens": True, "completion_tokens": 3}, None, 3),
    "nothing generated beside text": ({"prompt_tokens": 7, "completion_tokens": 0}, 7, None),
}


@pytest.mark.parametrize(("usage", "prompt", "completion"), USAGES.values(), ids=USAGES)
def test_token_counts_are_kept_where_they_can_be_true(usage, prompt, completion):
    verdict = read({**message(), "usage": usage})
    assert (verdict.prompt_tokens, verdict.completion_tokens) == (prompt, completion)


TWO = [{"index": 0, "text": "A", "finish_reason": "stop"}, {"index": 0, "text": "B", "finish_reason": "stop"}]

# what the server sends → kind of failure, what it is in the end, part of the reason
FAILURES = {
    "nothing": (b"", Transient, Finish.MODEL_ERROR, "empty"),
    "blank": (b" \n", Transient, Finish.MODEL_ERROR, "empty"),
    "cut in transit": (
        b'{"choices":[{"message":{"content":"The ans',
        Transient,
        Finish.MODEL_ERROR,
        "no JSON",
    ),
    "web page": (b"<html><body>Hello", Transient, Finish.MODEL_ERROR, "web page"),
    "event stream": (b'data: {"choices": []}\n\n', Transient, Finish.MODEL_ERROR, "no JSON"),
    "null": (b"null", Transient, Finish.MODEL_ERROR, "form"),
    "text": (b'"Yes"', Transient, Finish.MODEL_ERROR, "form"),
    "choices an object": ({"choices": {"0": "Yes"}}, Transient, Finish.MODEL_ERROR, "form"),
    "choice a text": ({"choices": ["Yes"]}, Transient, Finish.MODEL_ERROR, "form"),
    "message a text": (choices({"index": 0, "message": "Yes"}), Transient, Finish.MODEL_ERROR, "form"),
    "no choices": ({"choices": []}, Transient, Finish.MODEL_ERROR, "no choices"),
    "choices that contradict": (choices(*TWO), Transient, Finish.MODEL_ERROR, "2 choices"),
    "two choices without index": (
        choices({"text": "A"}, {"text": "B"}),
        Transient,
        Finish.MODEL_ERROR,
        "2 choices",
    ),
    "another's choice": (choices({"index": 1, "text": "B"}), Transient, Finish.MODEL_ERROR, "1 choices"),
    "deep nesting": (b"[" * 100_000, Transient, Finish.MODEL_ERROR, ""),
    "aborted": (message("Ye", "abort"), Transient, Finish.INFRA_ERROR, "abort"),
    "error of the provider behind": (
        {"error": {"message": "Provider returned error", "code": 502}},
        Transient,
        Finish.INFRA_ERROR,
        "HTTP 502",
    ),
    "rate limit in the body": (
        {"error": {"message": "slow", "code": 429}},
        Transient,
        Finish.INFRA_ERROR,
        "429",
    ),
    "rate limit in words": (
        {"error": {"message": "slow", "code": "429"}},
        Transient,
        Finish.INFRA_ERROR,
        "429",
    ),
    "error without a code": ({"error": {"message": "oops"}}, Transient, Finish.MODEL_ERROR, "oops"),
    "error as a text": ({"error": "oops"}, Transient, Finish.MODEL_ERROR, "oops"),
    "error in the choice": (
        choices({"index": 0, "finish_reason": "error", "error": {"code": 503, "message": "busy"}}),
        Transient,
        Finish.INFRA_ERROR,
        "503",
    ),
    "rejected in the body": (
        {"error": {"message": "bad", "code": 400}},
        Rejected,
        Finish.MODEL_ERROR,
        "HTTP 400",
    ),
    "overflow in the body": (
        {"error": {"message": "maximum context length is 5", "code": 400}},
        Rejected,
        Finish.CONTEXT_OVERFLOW,
        "context",
    ),
    "no key, in the body": ({"error": {"message": "No auth", "code": 401}}, Unusable, None, "No auth"),
    "error in a list, as Google's": (
        [{"error": {"message": "bad", "code": 400}}],
        Rejected,
        Finish.MODEL_ERROR,
        "bad",
    ),
}


@pytest.mark.parametrize(("body", "kind", "finish", "words"), FAILURES.values(), ids=FAILURES)
def test_failures_in_a_body_with_status_200(body, kind, finish, words):
    verdict = read(body)
    assert isinstance(verdict, kind)
    assert getattr(verdict, "finish", None) == finish
    assert words in verdict.reason


def test_garbled_bodies_are_tried_again_fewer_times_than_outages():
    assert read(b"<html>").attempts == 3
    assert read({"error": {"message": "x", "code": 502}}).attempts is None


def test_congestion_in_the_body_counts_as_congestion():
    assert read({"error": {"message": "slow", "code": 429}}).congested


@pytest.mark.parametrize(
    ("charset", "encoding"),
    [
        ("latin-1", "latin-1"),
        ("windows-1252", "cp1252"),
        ("ISO-8859-15", "iso-8859-15"),
        ("gb18030", "gb18030"),
    ],
)
def test_charset_of_the_header_counts_where_the_body_is_not_utf8(charset, encoding):
    raw = json.dumps(message("é"), ensure_ascii=False).encode(encoding)
    assert read(raw, charset=charset).text == "é"


@pytest.mark.parametrize("charset", ["latin-1", "us-ascii", "no-such-charset", None])
def test_charset_of_the_header_does_not_count_where_the_body_is_utf8(charset):
    raw = json.dumps(message("é 是"), ensure_ascii=False).encode()
    assert read(raw, charset=charset).text == "é 是"


@pytest.mark.parametrize("charset", ["utf-8", None, "no-such-charset", "us-ascii"])
def test_bytes_that_no_charset_explains_are_garbled_rather_than_replaced(charset):
    raw = json.dumps(message("é"), ensure_ascii=False).encode("latin-1")
    assert isinstance(read(raw, charset=charset), Transient)


STOPS = {
    "no stop strings": ("a b c", (), "a b c", None),
    "none of them": ("a b c", ("x",), "a b c", None),
    "in the text": ("a b c", ("b",), "a ", "b"),
    "at the start": ("a b c", ("a",), "", "a"),
    "at the end, as some servers leave it": ("a b c", ("c",), "a b ", "c"),
    "earliest in the text, not first in the list": ("a b c", ("c", "b"), "a ", "b"),
    "the first listed where two begin together": ("a b c", ("b", "b c"), "a ", "b"),
    "no pattern": ("a.b", (".",), "a", "."),
    "newline": ("one\n\ntwo", ("\n\n",), "one", "\n\n"),
    "more than four": ("a b c f", ("1", "2", "3", "4", "f"), "a b c ", "f"),
    "empty is none": ("a b", ("",), "a b", None),
}


@pytest.mark.parametrize(("text", "stops", "left", "stop"), STOPS.values(), ids=STOPS)
def test_text_ends_before_the_earliest_stop_string(text, stops, left, stop):
    assert cut(text, stops) == (left, stop)


@given(
    st.text(alphabet="abc", max_size=12),
    st.lists(st.text(alphabet="abc", min_size=1, max_size=3), max_size=4),
)
def test_nothing_is_left_of_a_stop_string_and_nothing_before_it_is_lost(text, stops):
    left, stop = cut(text, stops)
    assert text.startswith(left)
    assert all(each not in left for each in stops)
    assert (stop is None) == (left == text)
    assert stop is None or text.startswith(left + stop)


def test_answer_that_reached_a_stop_string_has_ended_though_the_server_says_length():
    verdict = read(message("one\ntwo", "length"), ("\n",))
    assert (verdict.text, verdict.finish, verdict.stop) == ("one", STOP, "\n")


def test_stop_string_that_the_server_names_is_kept():
    body = choices({"index": 0, "text": "one", "finish_reason": "stop", "stop_reason": "\n"})
    assert read(body, ("\n",)).stop == "\n"
    assert read(body, ("x",)).stop is None


def test_stop_strings_are_not_looked_for_in_the_reasoning():
    verdict = read(message("one", reasoning_content="a\nb"), ("\n",))
    assert (verdict.text, verdict.reasoning) == ("one", "a\nb")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 600) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["code", "message", "text", "type"]), inner, max_size=3)
    ),
    max_leaves=6,
)
BODY = st.fixed_dictionaries(
    {},
    optional={
        "choices": st.lists(
            st.fixed_dictionaries(
                {},
                optional={
                    "index": JSON,
                    "text": JSON,
                    "finish_reason": st.sampled_from(["stop", "length", "content_filter", "error"]) | JSON,
                    "message": st.fixed_dictionaries(
                        {},
                        optional=dict.fromkeys(
                            ("content", "refusal", "reasoning", "reasoning_details", "tool_calls"), JSON
                        ),
                    )
                    | JSON,
                    "error": JSON,
                },
            )
            | JSON,
            max_size=3,
        )
        | JSON,
        "usage": JSON,
        "error": JSON,
        "model": JSON,
        "system_fingerprint": JSON,
    },
)


@given(BODY | JSON)
def test_any_json_has_a_verdict_with_text_and_a_line_of_reason(body):
    verdict = read_answer(json.dumps(body).encode(), None, ("x",), 5)
    if isinstance(verdict, Answer):
        assert isinstance(verdict.text, str)
        assert "x" not in verdict.text
    reason = getattr(verdict, "reason", None) or ""
    assert reason.isprintable()
    assert len(reason) <= 500


@given(st.binary(max_size=60))
def test_any_bytes_have_a_verdict(raw):
    assert isinstance(read_answer(raw, None, (), 5), (Transient, Answer))
