"""Answers recorded elsewhere."""

from __future__ import annotations

import gzip
import hashlib
import json
import re

import pytest

from probatum.core.errors import DataError, ModelError
from probatum.core.records import Finish, Message, Request
from probatum.models import load_model


def write(path, *rows):
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows))
    return path


def ask(path, *places):
    requests = [Request(item_id=item, sample=sample, prompt="p") for item, sample in places]
    responses = list(load_model(f"replay/{path}").answer(requests))
    assert [one.request for one in responses] == [one.key for one in requests]
    return responses


@pytest.mark.parametrize("name", ["item_id", "task_id"])
@pytest.mark.parametrize("field", ["text", "completion", "response"])
def test_rows_of_an_item_are_its_samples_in_order(tmp_path, name, field):
    rows = [{name: "a", field: "1"}, {name: "b", field: "2"}, {name: "a", field: "3"}]
    path = write(tmp_path / "f.jsonl", *rows)
    assert [one.text for one in ask(path, ("a", 0), ("a", 1), ("b", 0))] == ["1", "3", "2"]


def test_samples_may_be_numbered_in_any_order(tmp_path):
    path = write(
        tmp_path / "f.jsonl",
        {"item_id": "a", "sample": 1, "text": "x"},
        {"item_id": "a", "sample": 0, "text": "y"},
    )
    assert [one.text for one in ask(path, ("a", 0), ("a", 1))] == ["y", "x"]


def test_parts_are_apart(tmp_path):
    rows = [{"item_id": "a", "part": part, "text": str(part)} for part in (1, 0)]
    model = load_model(f"replay/{write(tmp_path / 'f.jsonl', *rows)}")
    requests = [Request(item_id="a", part=part, prompt="p") for part in (0, 1)]
    assert [one.text for one in model.answer(requests)] == ["0", "1"]


def test_what_is_known_of_an_answer_is_kept(tmp_path):
    row = {
        "item_id": 7,
        "text": "…\u2028x",
        "finish": "length",
        "stop": None,
        "reasoning": "hm",
        "prompt_tokens": 3,
        "completion_tokens": 5,
        "reason": "cut",
        "extra": [1],
    }
    (response,) = ask(write(tmp_path / "f.jsonl", json.dumps(row, ensure_ascii=False)), ("7", 0))
    assert (response.text, response.finish, response.reasoning) == ("…\u2028x", Finish.LENGTH, "hm")
    assert (response.prompt_tokens, response.completion_tokens, response.reason) == (3, 5, "cut")


def test_a_request_without_a_recorded_answer_is_unknown_not_wrong(tmp_path):
    path = write(tmp_path / "f.jsonl", {"item_id": "a", "text": "1"})
    known, beyond, missing = ask(path, ("a", 0), ("a", 1), ("b", 0))
    assert known.answered
    for response in (beyond, missing):
        assert response.finish is Finish.INFRA_ERROR
        assert not response.answered
    assert missing.reason == "f.jsonl holds no answer to item 'b', sample 0"


@pytest.mark.parametrize("finish", ["refusal", "filtered", "timeout", "model_error", "context_overflow"])
def test_a_failure_needs_no_text(tmp_path, finish):
    (response,) = ask(write(tmp_path / "f.jsonl", {"item_id": "a", "text": None, "finish": finish}), ("a", 0))
    assert (response.finish, response.text) == (Finish(finish), "")


def test_an_empty_text_is_an_answer(tmp_path):
    (response,) = ask(write(tmp_path / "f.jsonl", {"item_id": "a", "text": ""}), ("a", 0))
    assert (response.finish, response.text) == (Finish.STOP, "")


def test_blank_lines_crlf_byte_order_mark_and_gzip_are_read(tmp_path):
    text = '\ufeff{"item_id": "a", "text": "1"}\r\n\r\n{"item_id": "b", "text": "2"}'
    plain = tmp_path / "f.jsonl"
    plain.write_text(text)
    packed = tmp_path / "f.jsonl.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    for path in (plain, packed):
        assert [one.text for one in ask(path, ("a", 0), ("b", 0))] == ["1", "2"]


def test_the_content_of_the_file_is_the_model(tmp_path):
    path = write(tmp_path / "f.jsonl", {"item_id": "a", "text": "1"})
    model = load_model(f"replay/{path}")
    assert model.identity.revision == hashlib.sha256(path.read_bytes()).hexdigest()
    assert model.identity.name == "f.jsonl"
    write(path, {"item_id": "a", "text": "2"})
    assert load_model(f"replay/{path}").identity.digest != model.identity.digest


def test_messages_are_answered_too(tmp_path):
    path = write(tmp_path / "f.jsonl", {"item_id": "a", "text": "1"})
    request = Request(item_id="a", prompt=(Message("user", "x"),))
    assert [one.text for one in load_model(f"replay/{path}").answer([request])] == ["1"]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["{"], "line 1: no valid JSON"),
        (["", "[1]"], "line 2: list where an object"),
        ([{"text": "x"}], "line 1, field 'item_id': names no item"),
        ([{"item_id": True, "text": "x"}], "field 'item_id'"),
        ([{"item_id": "a"}], "field 'text': there is no answer"),
        ([{"item_id": "a", "solution": "x"}], "probatum grade"),
        ([{"item_id": "a", "text": None}], "there is no answer"),
        ([{"item_id": "a", "text": 5}], "field 'text': int where a text"),
        ([{"item_id": "a", "text": "x", "completion": "y"}], "field 'completion': stands beside 'text'"),
        ([{"item_id": "a", "text": "x", "finish": "done"}], "field 'finish': 'done' is none of stop, length"),
        ([{"item_id": "a", "text": "x", "sample": -1}], "field 'sample': -1 is no count"),
        ([{"item_id": "a", "text": "x", "sample": "1"}], "field 'sample': '1' is no count"),
        ([{"item_id": "a", "text": "x", "prompt_tokens": 1.5}], "field 'prompt_tokens'"),
        ([{"item_id": "a", "text": "x", "reason": 1}], "field 'reason': int where a text"),
        (
            [{"item_id": "a", "text": "x", "sample": 0}] * 2,
            "line 2, field 'sample': item 'a' has sample 0 twice",
        ),
        (
            [{"item_id": "a", "text": "x"}, {"item_id": "a", "text": "x", "sample": 1}],
            "line 2, field 'sample': item 'a' has rows with and without it",
        ),
        (
            [{"item_id": "a", "text": "x", "sample": 1}, {"item_id": "a", "text": "x"}],
            "has rows with and without it",
        ),
        ([], "holds no answer"),
    ],
)
def test_a_bad_row_is_named_by_file_line_and_field(tmp_path, rows, words):
    path = write(tmp_path / "f.jsonl", *rows)
    with pytest.raises(DataError, match=re.escape(words)) as raised:
        load_model(f"replay/{path}")
    assert str(path) in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"\xff\xfe{", b""])
def test_a_file_that_is_no_text_is_refused(tmp_path, content):
    path = tmp_path / "f.jsonl"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"f\.jsonl"):
        load_model(f"replay/{path}")


def test_a_damaged_gzip_is_refused(tmp_path):
    path = tmp_path / "f.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"item_id": "a", "text": "1"}')[:-9])
    with pytest.raises(DataError, match="damaged"):
        load_model(f"replay/{path}")


def test_a_missing_file_is_one_line(tmp_path):
    with pytest.raises(ModelError, match="cannot be read: No such file"):
        load_model(f"replay/{tmp_path / 'none.jsonl'}")
