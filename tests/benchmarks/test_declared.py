"""Tasks that are tables, declared in TOML: every key is checked, and none is passed over."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest

from probatum import evaluate
from probatum.core.canonical import digest
from probatum.core.errors import ProbatumError
from probatum.core.protocol import FORMS
from probatum.models import load_model
from probatum.runner import validate
from probatum.runner.task_files import load_task_file
from probatum.store import open_store
from tests.fakes import FakeModel

CAPITALS = {
    "name": "capitals",
    "data": "capitals.csv",
    "prompt": "What is the capital of {{ country }}?\nAnswer:",
    "answer": "capital",
    "scorer": "exact",
}


def declare(directory: Path, rows: str | None = None, **keys: object) -> Path:
    """A TOML file beside its rows; a key of `None` is left out."""
    merged = {name: value for name, value in {**CAPITALS, **keys}.items() if value is not None}
    lines = [f"{name} = {json.dumps(value)}" for name, value in merged.items() if not isinstance(value, dict)]
    for name, table in merged.items():
        if isinstance(table, dict):
            lines += [
                f"[{name}]",
                *(f"{json.dumps(key)} = {json.dumps(value)}" for key, value in table.items()),
            ]
    path = directory / "capitals.toml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if merged.get("data"):
        text = rows or "country,capital\nFrance,Paris\nPeru,Lima\n"
        (directory / str(merged["data"])).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path):
    """An open store in a file of its own."""
    with contextlib.closing(open_store(f"sqlite:///{tmp_path / 'runs.db'}")) as opened:
        yield opened


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


KINDS = {
    "exact": ({}, None),
    "number": (
        {"scorer": "number", "data": "n.jsonl", "prompt": "{{ question }}", "answer": None},
        lines({"question": "1+1?", "answer": 2}, {"question": "3/2?", "answer": 1.5}),
    ),
    "math": (
        {"scorer": "math", "data": "m.jsonl", "prompt": "{{ question }}", "answer": None},
        lines({"question": "x?", "answer": "\\frac{1}{2}"}, {"question": "y?", "answer": "2x+1"}),
    ),
    "includes": (
        {"scorer": "includes", "data": "i.jsonl", "prompt": "{{ question }}", "answer": None},
        lines({"question": "x?", "answer": ["Paris", "Paname"]}, {"question": "y?", "answer": "Lima"}),
    ),
    "choice, a list": (
        {
            "scorer": "choice",
            "data": "c.jsonl",
            "prompt": "{{ question }}",
            "answer": None,
            "choices": "options",
        },
        lines(
            {"question": "x?", "options": ["one", "two", "three"], "answer": "B"},
            {"question": "y?", "options": [1, 2], "answer": 2},
        ),
    ),
    "choice, columns": (
        {"scorer": "choice", "prompt": "{{ country }}", "choices": ["A", "B"], "data": "c.csv"},
        "country,capital,A,B\nFrance,A,Paris,Lima\nPeru,Lima,Paris,Lima\n",
    ),
    "another answer line": (
        {"answer_line": "Réponse :", "prompt": "Capitale : {{ country }}\nRéponse :"},
        None,
    ),
}


@pytest.mark.parametrize(("keys", "rows"), KINDS.values(), ids=KINDS)
def test_gold_answers_score_and_wrong_ones_do_not(tmp_path, keys, rows):
    (task,) = load_task_file(declare(tmp_path, rows, **keys))
    found = validate(task)
    assert found.passed
    assert found.items == 2
    assert found.findings == ()


def test_a_model_is_asked_as_the_prompt_says_and_the_answer_line_moves_to_the_end_of_a_conversation(tmp_path):
    path = declare(tmp_path, stop=["\n"])
    (task,) = load_task_file(path)
    item = task.to_item(task.row(country="France", capital="Paris"))
    assert task.completion.render(item, (), None) == "What is the capital of France?\nAnswer:"
    assert task.completion.stop == ("\n",)
    (turn,) = task.chat.render(item, (), None)
    assert turn.content == "What is the capital of France?\n\nEnd with the line: Answer: …"


@pytest.mark.parametrize(
    ("prompt", "stop"),
    [
        ("{{ country }}\nAnswer:", ("\n",)),
        ("{{ country }}\nAnswer: ", ("\n",)),
        ("{{ country }}?", ("\n\n",)),
    ],
)
def test_an_answer_ends_before_the_model_makes_up_the_next_question(tmp_path, prompt, stop):
    (task,) = load_task_file(declare(tmp_path, prompt=prompt))
    assert task.completion.stop == stop


def test_options_are_listed_where_the_template_does_not_list_them(tmp_path):
    keys, rows = KINDS["choice, columns"]
    (task,) = load_task_file(declare(tmp_path, rows, **keys))
    item = task.to_item(task.row(country="France", capital="A", A="Paris", B="Lima"))
    assert [form for form in FORMS if task.prompt(form) is not None] == ["letters", "chat", "completion"]
    assert task.completion.render(item, (), None) == "France\nA. Paris\nB. Lima\nAnswer:"
    own = "{{ country }}: {{ choices | join(' or ') }}"
    (task,) = load_task_file(declare(tmp_path, rows, **{**keys, "prompt": own}))
    assert task.completion.render(item, (), None) == "France: Paris or Lima\nAnswer:"


def test_it_runs_and_its_answers_are_read(tmp_path, store):
    path = declare(tmp_path)
    run = evaluate(path, model=load_model("constant/Answer: Paris"), store=store)
    assert run.estimates[0].value == 0.5


def test_shots_come_from_their_own_rows(tmp_path, store):
    (tmp_path / "shots.csv").write_text("country,capital\nJapan,Tokyo\n", encoding="utf-8")
    path = declare(tmp_path, shots=1, shot_data="shots.csv")
    model = FakeModel(reply=lambda _: "Paris")
    evaluate(path, model=model, store=store, form="completion")
    assert model.asked[0].prompt.startswith("What is the capital of Japan?\nAnswer: Tokyo\n\nWhat is the")


def test_rows_without_ids_are_named_by_what_is_asked_whatever_their_order(tmp_path):
    (task,) = load_task_file(declare(tmp_path))
    rows = [task.row(country=name, capital="x") for name in ("France", "Peru")]
    ids = [task.to_item(row).id for row in rows]
    assert len(set(ids)) == 2
    assert [task.to_item(row).id for row in reversed(rows)] == ids[::-1]


def test_columns_of_other_names_are_read_and_strata_are_kept(tmp_path, store):
    rows = "Country Name,The Capital,part of,no\nFrance,Paris,Europe,1\nPeru,Lima,America,2\n"
    path = declare(
        tmp_path, rows, answer="The Capital", stratum="part of", id="no", columns={"country": "Country Name"}
    )
    (task,) = load_task_file(path)
    found = validate(task)
    assert found.passed
    run = evaluate(task, model=FakeModel(reply=lambda _: "Lima"), store=store)
    assert [estimate.name for estimate in run.estimates] == [
        "correct", "correct (answered)", "correct/America", "correct/Europe",
    ]  # fmt: skip


def test_the_digest_is_the_same_wherever_the_file_lies(tmp_path):
    digests = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        digests.add(digest(load_task_file(declare(tmp_path / name))[0]))
    assert len(digests) == 1


FAULTS = {
    "missing": ({"prompt": None}, ["'prompt'", "missing"]),
    "unknown": ({"promt": "x"}, ["'promt'", "did you mean 'prompt'"]),
    "kind": ({"shots": "three"}, ["'shots'", "`int`", "`str`"]),
    "scorer": ({"scorer": "exactly"}, ["'scorer'", "'exactly'"]),
    "template": ({"prompt": "{{ country"}, ["'prompt'", "template"]),
    "tolerance": ({"scorer": "number", "tolerance": "much"}, ["'much'", "decimal"]),
    "tolerance of words": ({"tolerance": "0.1"}, ["'tolerance'", "means nothing", "'exact'"]),
    "compare of numbers": ({"scorer": "number", "compare": "squad"}, ["'compare'", "means nothing"]),
    "choices of words": ({"choices": "options"}, ["'choices'", "means nothing"]),
    "no choices": ({"scorer": "choice"}, ["'choices'", "missing"]),
    "shots from nowhere": ({"shots": 2}, ["'shots'", "shot_data"]),
    "shots for nothing": ({"shot_data": "x.csv"}, ["'shot_data'", "means nothing"]),
    "no data": ({"data": ""}, ["'data'", "empty"]),
    "empty answer line": ({"answer_line": " "}, ["'answer_line'", "empty"]),
    "columns for nothing": ({"columns": {"nation": "x"}}, ["'columns'", "'nation'"]),
    "temperature": ({"temperature": -1}, ["'temperature'", "-1"]),
    "name": ({"name": "a,b"}, ["name", "'a,b'"]),
    "a benchmark's name": ({"name": "gsm8k"}, ["'gsm8k'", "benchmark"]),
    "a file of a run": ({"prompt": None, "tasks": ["x"]}, ["--config"]),
    "chance": ({"chance": 3}, ["chance", "0 to 1"]),
}


@pytest.mark.parametrize(("keys", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_names_file_and_field_in_one_line(tmp_path, keys, words):
    path = declare(tmp_path, **keys)
    with pytest.raises(ProbatumError) as raised:
        load_task_file(path)
    message = str(raised.value)
    assert "\n" not in message
    for word in (str(path), *words):
        assert word in message


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"name = 1 2", ["no valid TOML", "line 1"]),
        (b'name = "\xff"', ["UTF-8", "byte 8"]),
        (b"", ["'name' is missing"]),
        (b"\xef\xbb\xbfname = 1\r\n", ["'name'", "`str`"]),
    ],
)
def test_a_file_that_is_no_toml_is_told(tmp_path, content, words):
    path = tmp_path / "x.toml"
    path.write_bytes(content)
    with pytest.raises(ProbatumError) as raised:
        load_task_file(path)
    for word in words:
        assert word in str(raised.value)


def test_a_column_that_the_rows_have_not_is_told_with_the_row(tmp_path):
    (task,) = load_task_file(declare(tmp_path, prompt="{{ nation }}"))
    with pytest.raises(ProbatumError, match=r"capitals.csv line 1: missing column 'nation'"):
        validate(task)


def test_an_answer_that_is_no_option_makes_the_item_invalid(tmp_path):
    keys, _ = KINDS["choice, columns"]
    rows = "country,capital,A,B\nFrance,Paris,Paris,Lima\nPeru,Quito,Paris,Lima\n"
    (task,) = load_task_file(declare(tmp_path, rows, **keys))
    assert list(validate(task).invalid.values()) == [
        "gold 'Quito' is neither a label (A…B) nor the text of an option"
    ]
