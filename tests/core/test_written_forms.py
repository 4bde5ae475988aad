"""What is written down: strict JSON, moments in UTC, names that never meet."""

import doctest
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probatum.core import listed, moments, names, strictjson
from probatum.core.errors import UsageError
from probatum.core.listed import whole_numbers
from probatum.core.moments import utc_text
from probatum.core.names import file_name, label_of_path
from probatum.core.strictjson import strict_json, strict_text


class Colour(StrEnum):
    RED = "red"


@dataclass(frozen=True)
class Point:
    x: float
    y: object


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.array([[1, 2]]), [[1, 2]]),
        (np.str_("a"), "a"),
        (Colour.RED, "red"),
        (Path("a/b"), "a/b"),
        ({2, 1}, [1, 2]),
        (Point(1.0, (Colour.RED,)), {"x": 1.0, "y": ["red"]}),
        ({1: {"a": None}}, {"1": {"a": None}}),
        (datetime(2026, 1, 1, tzinfo=UTC), "2026-01-01T00:00:00Z"),
        (float("nan"), None),
    ],
)
def test_a_value_has_one_plain_form(value, plain):
    found = strict_json(value)
    assert found == plain
    assert type(found) is type(plain)


def test_what_is_no_number_is_null_with_its_reason():
    found = json.loads(
        strict_text({"a": float("nan"), "b": {"c": [1, -float("inf")]}, "d": np.float64("inf")})
    )
    assert found == {
        "a": None,
        "b": {"c": [1, None]},
        "d": None,
        "nulls": {"a": "nan", "b.c[1]": "-inf", "d": "inf"},
    }


@pytest.mark.parametrize("value", [object(), {"a": object()}, {(1, 2): 3}, b"bytes", lambda: 0])
def test_what_has_no_form_is_refused(value):
    with pytest.raises(TypeError):
        strict_json(value)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(_JSON)
def test_any_data_is_strict_json_in_ascii(value):
    text = strict_text(value)
    assert text.isascii()
    json.loads(text, parse_constant=pytest.fail)


def test_a_lone_surrogate_can_be_written(tmp_path):
    path = tmp_path / "out.json"
    path.write_text(strict_text({"text": "\ud83d"}), encoding="ascii")
    assert json.loads(path.read_text(encoding="ascii"))["text"] == "\ud83d"


def test_the_hour_that_comes_twice_is_told_apart():
    berlin = ZoneInfo("Europe/Berlin")
    twice = [datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold) for fold in (0, 1)]
    assert [utc_text(moment) for moment in twice] == ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]
    with pytest.raises(UsageError, match="no time zone"):
        utc_text(datetime(2026, 1, 1))  # noqa: DTZ001 - that is what is refused


@given(st.lists(st.text(min_size=1, max_size=12), min_size=2, max_size=6, unique=True))
def test_different_names_give_different_files_on_any_disk(texts):
    files = [file_name(text).casefold() for text in texts]
    assert len(set(files)) == len(texts)
    assert all(
        file.isascii() and "/" not in file and "\\" not in file and file not in ("", ".", "..")
        for file in files
    )


def test_names_that_look_alike_do_not_meet():
    given_names = [
        "org/model:v1",
        "org_model_v1",
        "org/model_v1",
        "Org_model_v1",
        "con",
        "x" * 200,
        "x" * 201,
        "模型",
        "a.",
        "a",
    ]
    files = [file_name(name, ".json") for name in given_names]
    assert len({file.lower() for file in files}) == len(given_names)
    assert max(map(len, files)) < 120
    assert file_name("org_model_v1", ".json") == "org_model_v1.json"
    made = file_name("org/model:v1")
    assert file_name(made) != made  # a name that looks made is no way around the digest
    with pytest.raises(UsageError, match="after nothing"):
        file_name("")


@pytest.mark.parametrize(
    ("path", "label"),
    [("out/run1", "run1"), ("out/run1/", "run1"), ("run1//", "run1"), (Path("a") / "b", "b")],
)
def test_a_slash_at_the_end_changes_no_label(path, label):
    assert label_of_path(path) == label


@pytest.mark.parametrize("path", ["/", "", ".", "a/.."])
def test_a_path_without_a_name_is_refused(path):
    with pytest.raises(UsageError, match="names no file"):
        label_of_path(path)


@pytest.mark.parametrize("given_", ["", "1,", "0", "1.5", "a", [1, -2], [], [True], "²"])
def test_lists_of_k_are_refused_where_one_is_none(given_):
    with pytest.raises(UsageError, match="whole numbers"):
        whole_numbers(given_)


def test_moments_within_a_second_sort_and_are_read_without_their_fraction():
    moment = moments.now()
    assert moment < moments.now()
    assert moments.to_the_second(moment) == f"{moment[:19]}Z"
    assert moments.to_the_second("2026-10-25T00:30:00Z") == "2026-10-25T00:30:00Z"
    assert moments.to_the_second("") == ""


@pytest.mark.parametrize("module", [strictjson, names, moments, listed])
def test_examples_are_true(module):
    assert doctest.testmod(module).failed == 0
