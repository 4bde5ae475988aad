from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from probatum.core.errors import UsageError
from probatum.runner import Options


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 0), ("limit", -1), ("samples", 0), ("max_tokens", 0), ("workers", 0), ("shots", -1),
        ("temperature", -0.1), ("temperature", math.inf), ("temperature", math.nan),
        ("top_p", 0), ("top_p", 1.1), ("top_p", math.nan), ("top_k", -1),
        ("level", 0), ("level", 1), ("level", 95), ("level", math.nan),
        ("minimum_answered", -0.1), ("minimum_answered", 1.1), ("minimum_answered", math.nan),
        ("form", "instruct"), ("form", ""),
        ("limit", 2.5), ("limit", "5"), ("limit", True), ("samples", "2"), ("seed", 1.5), ("seed", None),
        ("temperature", "hot"), ("top_p", "1"), ("level", None), ("allow_code_execution", "no"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_used_is_told_with_its_name(name, value):
    with pytest.raises(UsageError) as caught:
        Options(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} ")
    assert ":" in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", 1), ("samples", 1), ("shots", 0), ("temperature", 0), ("temperature", 2.5), ("top_p", 1),
        ("top_k", 0), ("minimum_answered", 0), ("minimum_answered", 1), ("form", "chat"), ("seed", -1),
        ("level", 0.5),
    ],
)  # fmt: skip
def test_values_at_the_edge_are_accepted(name, value):
    assert getattr(Options(**{name: value}), name) == value


def test_zero_and_zero_point_zero_are_one_choice():
    assert json.dumps(Options(temperature=0).plain()) == json.dumps(Options(temperature=0.0).plain())


SETTINGS = {
    "api_key": "sk-1",
    "API_KEY": "sk-2",
    "openai_apikey": "sk-3",
    "password": "sk-4",
    "client_secret": "sk-5",
    "headers": {"Authorization": "Bearer sk-6"},
    "extra": {"token": "sk-7", "deep": {"api-key": "sk-8"}},
    "token": "sk-9",
    "access_token": "sk-10",
    "cookie": "sk-11",
    "base_url": "https://user:sk-12@host:8000/v1?key=sk-13#sk-14",
    "urls": ["https://user:sk-15@host/v1"],
    "credentials": "sk-16",
}


def test_no_secret_is_written_down():
    plain = json.dumps(Options(settings=SETTINGS).plain())
    assert "sk-" not in plain
    assert "https://host:8000/v1" in plain


def test_what_is_no_secret_is_written_down():
    settings = {
        "threads": 2,
        "base_url": "http://127.0.0.1:8000/v1",
        "tokenizer": "x",
        "max_tokens_field": "y",
    }
    assert Options(settings=settings).plain()["settings"] == settings


def test_every_option_is_written_down_with_its_default():
    plain = Options(data_directory=Path("data")).plain()
    assert set(plain) == set(Options.names())
    assert plain["data_directory"] == "data"
    json.dumps(plain, allow_nan=False)


def test_a_directory_may_be_a_text_and_nothing_else():
    assert Options(data_directory="data").data_directory == Path("data")
    with pytest.raises(UsageError, match="data_directory 5 cannot be used"):
        Options(data_directory=5)
    with pytest.raises(UsageError, match="system 5 cannot be used"):
        Options(system=5)
