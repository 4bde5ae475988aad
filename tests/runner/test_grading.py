"""Answers that were made elsewhere: every form of file gives the same verdicts, and nothing is lost on the way."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from probatum.benchmarks import find_task
from probatum.cli.grade import command, unescaped
from probatum.cli.samples import sample_file
from probatum.core.errors import DataError, UsageError
from probatum.core.status import Status
from probatum.runner import EvaluatedRun, Options, Progress, grade, rescore
from probatum.runner.answer_file import read_answers
from probatum.store import Store

ONE, TWO = ("T/0", "one", 1), ("T/1", "two", 2)
RIGHT, WRONG = "    return 1\n", "    return 0\n"


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Two problems of HumanEval's form."""
    rows = [
        {
            "task_id": name,
            "prompt": f"def {function}():\n",
            "canonical_solution": f"    return {value}\n",
            "test": f"def check(candidate):\n    assert candidate() == {value}\n",
            "entry_point": function,
        }
        for name, function, value in (ONE, TWO)
    ]
    path = tmp_path / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def graded(items: Path, store: Store) -> Callable[..., EvaluatedRun]:
    """Grades a file against the two problems."""

    def run(path: Path, **more: Any) -> EvaluatedRun:
        more.setdefault("options", Options(workers=1, allow_code_execution=True))
        return grade(path, find_task("humaneval"), store=store, data=items, **more)[0]

    return run


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def outcomes(run: EvaluatedRun) -> dict[tuple[str, int], tuple[Status, float | None]]:
    return {
        (sample.outcome.item_id, sample.outcome.sample): (
            sample.outcome.status,
            sample.outcome.scores.get("passed"),
        )
        for sample in run.each_sample()
    }


EXPECTED = {
    ("T/0", 0): (Status.SCORED, 1.0),
    ("T/0", 1): (Status.SCORED, 0.0),
    ("T/1", 0): (Status.SCORED, 1.0),
}
PROGRAMS = {
    "T/0": ["def one():\n    return 1\n", "def one():\n    return 0\n"],
    "T/1": ["def two():\n    return 2\n"],
}


def completions(path: Path) -> Path:
    return lines(
        path / "samples.jsonl",
        {"task_id": "T/1", "completion": "    return 2\n"},
        {"task_id": "T/0", "completion": RIGHT},
        {"task_id": "T/0", "completion": WRONG},
    )


def solutions(path: Path) -> Path:
    rows = [{"task_id": name, "solution": code} for name, codes in PROGRAMS.items() for code in codes]
    return lines(path / "samples.jsonl", *rows)


def array(path: Path) -> Path:
    rows = [{"task_id": name, "solution": code} for name, codes in PROGRAMS.items() for code in codes]
    (path / "samples.json").write_text(json.dumps(rows, indent=1))
    return path / "samples.json"


def compressed(path: Path) -> Path:
    content = completions(path).read_bytes()
    (path / "samples.dat").write_bytes(gzip.compress(content))  # told by its bytes, not by its name
    return path / "samples.dat"


def with_mark(path: Path) -> Path:
    content = completions(path).read_bytes().replace(b"\n", b"\r\n\r\n")
    (path / "marked.jsonl").write_bytes(b"\xef\xbb\xbf" + content)
    return path / "marked.jsonl"


def list_of_lists(path: Path) -> Path:
    (path / "generations.json").write_text(json.dumps(list(PROGRAMS.values())))
    return path / "generations.json"


def chat(path: Path) -> Path:
    rows = [
        {"item_id": name, "response": f"Here it is:\n```python\n{code}```\nDone."}
        for name, codes in PROGRAMS.items()
        for code in codes
    ]
    return lines(path / "samples.jsonl", *rows)


def results(path: Path) -> Path:
    found = {
        "hash": "0",
        "eval": {
            name: [{"task_id": name, "solution": code, "base_status": "pass"} for code in codes]
            for name, codes in PROGRAMS.items()
        },
    }
    (path / "eval_results.json").write_text(json.dumps(found))
    return path / "eval_results.json"


def folder(path: Path) -> Path:
    for name, codes in PROGRAMS.items():
        inner = path / "samples" / name.replace("/", "_")
        inner.mkdir(parents=True)
        (inner / "notes.txt").write_text("no program")
        for number, code in enumerate(codes):
            (inner / f"{number * 9}.py").write_text(code)
    return path / "samples"


FORMS = [completions, solutions, array, compressed, with_mark, list_of_lists, chat, results, folder]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_file_gives_the_same_verdicts(
    form: Callable[[Path], Path], tmp_path: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    assert outcomes(graded(form(tmp_path))) == EXPECTED


def test_an_item_without_an_answer_stays_in_the_count_and_is_missing_not_wrong(
    tmp_path: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    run = graded(lines(tmp_path / "s.jsonl", {"task_id": "T/0", "completion": RIGHT}))
    assert outcomes(run)["T/1", 0] == (Status.INFRA_ERROR, None)
    estimate = run.estimates[0]
    assert (estimate.value, estimate.coverage, estimate.bounds) == (1.0, 0.5, (0.5, 1.0))
    assert not run.complete


def test_items_may_have_different_numbers_of_samples(
    tmp_path: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    run = graded(completions(tmp_path))
    assert run.estimates[0].value == pytest.approx((0.5 + 1.0) / 2)


def test_a_second_grading_executes_nothing_and_finds_the_same_number(
    tmp_path: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    first, again = Progress(), Progress()
    path = completions(tmp_path)
    one, other = graded(path, progress=first), graded(path, progress=again)
    assert (first.executed, again.executed) == (3, 0)
    assert one.id == other.id
    assert one.estimates == other.estimates


@pytest.mark.parametrize(("deduplicate", "executed"), [(True, 1), (False, 4)])
def test_equal_programs_run_once_unless_told_otherwise(
    tmp_path: Path, graded: Callable[..., EvaluatedRun], deduplicate: bool, executed: int
) -> None:
    path = lines(
        tmp_path / "s.jsonl",
        *[{"task_id": "T/0", "completion": RIGHT}] * 4,
        {"task_id": "T/1", "completion": ""},
    )
    progress = Progress()
    options = Options(workers=1, allow_code_execution=True, deduplicate=deduplicate)
    run = graded(path, options=options, progress=progress)
    assert progress.executed == executed + 1
    assert [score for (name, _), (_, score) in outcomes(run).items() if name == "T/0"] == [1.0] * 4


def test_completions_are_cut_where_the_user_says(tmp_path: Path, graded: Callable[..., EvaluatedRun]) -> None:
    text = f"{RIGHT}\ndef more(:"
    path = lines(tmp_path / "s.jsonl", {"task_id": "T/0", "completion": text})
    assert outcomes(graded(path))["T/0", 0] == (Status.SCORED, 0.0)
    run = graded(path, stop=["\ndef"])
    assert outcomes(run)["T/0", 0] == (Status.SCORED, 1.0)
    rescored = rescore(run.id, store=run.store, allow_code_execution=True, workers=1)
    assert rescored.id == run.id


def test_what_a_shell_cannot_write_is_written_with_a_backslash() -> None:
    assert unescaped(r"\ndef \\n\t") == "\ndef \\n\t"


def test_texts_that_are_no_utf8_are_graded_and_written(
    tmp_path: Path, items: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"task_id": "T/0", "completion": "    return 1 # \\ud800 \\u2028"}\n')
    assert outcomes(graded(path))["T/0", 0][0] is Status.SCORED


def run_command(items: Path, path: Path, *more: str) -> Any:
    store = f"sqlite:///{path.parent / 'cli.db'}"
    arguments = [str(path), "--task", "humaneval", "--data", str(items), "--store", store, "--workers", "1"]
    return CliRunner().invoke(command, [*arguments, *more], standalone_mode=False)


def test_samples_are_written_in_the_order_of_the_file_with_the_fields_of_the_contract(
    tmp_path: Path, items: Path
) -> None:
    out = tmp_path / "out.jsonl"
    result = run_command(items, completions(tmp_path), "--samples-out", str(out), "--json")
    assert result.exception is None
    assert result.return_value == 0
    written = [json.loads(line) for line in out.read_text().splitlines()]
    assert [(row["item_id"], row["sample"]) for row in written] == [("T/1", 0), ("T/0", 0), ("T/0", 1)]
    for row in written:
        assert {"item_id", "sample", "status", "scores", "answer", "execution", "reason"} <= row.keys()
        assert {"status", "cpu_seconds", "peak_rss_bytes"} <= row["execution"].keys()
    printed = json.loads(result.stdout)
    assert {"run", "protocol", "model", "tasks", "complete"} <= printed.keys()
    assert printed["tasks"][0]["statuses"] == {"scored": 3}


@pytest.mark.parametrize("form", [completions, solutions, chat])
def test_what_was_written_is_read_again_and_graded_alike(
    form: Callable[[Path], Path], tmp_path: Path, items: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    out = tmp_path / "out.jsonl"
    run_command(items, form(tmp_path), "--samples-out", str(out))
    assert outcomes(graded(out)) == EXPECTED


def test_what_was_missing_is_missing_again(
    tmp_path: Path, items: Path, graded: Callable[..., EvaluatedRun]
) -> None:
    out = tmp_path / "out.jsonl"
    path = lines(tmp_path / "s.jsonl", {"task_id": "T/0", "completion": RIGHT})
    result = run_command(items, path, "--samples-out", str(out))
    assert result.return_value == 3
    assert outcomes(graded(out)) == {
        ("T/0", 0): (Status.SCORED, 1.0),
        ("T/1", 0): (Status.INFRA_ERROR, None),
    }


NAMES = [
    ("t/0", "T/0"),
    ("T_0", "T/0"),
    (0, "T/0"),
    ("1", "T/1"),
]


@pytest.mark.parametrize(("name", "item"), NAMES)
def test_names_that_can_mean_one_item_only_are_understood(
    tmp_path: Path, graded: Callable[..., EvaluatedRun], name: object, item: str
) -> None:
    run = graded(lines(tmp_path / "s.jsonl", {"task_id": name, "completion": RIGHT}))
    assert outcomes(run)[item, 0][0] is Status.SCORED


REFUSED = [
    ("", "holds no answer"),
    ("[]", "holds no answer"),
    ("[[], []]", "holds no answer"),
    ("[[1]]", "entry 0 is no list of texts"),
    ('["x"]', "entry 0 is no list of texts"),
    ("[1", "no valid JSON"),
    ("{", "line 1: no valid JSON"),
    ('{"task_id": "T/0", "completion": "x"}\n[]\n', "line 2: list where an object is expected"),
    ('{"completion": "x"}', "neither 'task_id' nor 'item_id'"),
    ('{"task_id": true, "completion": "x"}', "neither 'task_id' nor 'item_id'"),
    ('{"task_id": "T/0"}', "no text in any of"),
    ('{"task_id": "T/0", "completion": null}', "'completion' is null, not a text"),
    ('{"task_id": "T/0", "completion": ["x"]}', "'completion' is .*, not a text"),
    (
        '{"task_id": "T/0", "completion": "x"}\n{"task_id": "T/0", "solution": "x"}\n',
        "mixes what its rows hold: a completion at .*line 1 and a program at .*line 2",
    ),
    ('{"task_id": "T/7", "completion": "x"}', "answers item 'T/7', which task 'humaneval' has not"),
    ('{"task_id": "T/7", "completion": "x"}\n{"task_id": "U", "completion": "x"}', "'T/7' and 1 more"),
    (
        '{"task_id": "T/0", "completion": "x"}\n{"task_id": 0, "completion": "x"}',
        "names item 'T/0' as 'T/0' and '0'",
    ),
    ("[[], [], [], []]", "holds no answer"),
    ('[[], [], ["x"]]', "answers item '0' and 2 more|answers item '2'"),
    ('{"eval": {"T/0": 3}}', "'eval' does not map tasks to lists"),
    (
        '{"item_id": "T/0", "sample": 0, "status": "scored", "finish": "stop", "text": "x"}\n' * 2,
        "line 2: sample 0 of 'T/0' stands at .*line 1, too",
    ),
    (
        '{"item_id": "T/0", "sample": 0, "status": "scored", "finish": "odd", "text": "x"}',
        "'finish' is 'odd'",
    ),
    (
        '{"item_id": "T/0", "sample": 0, "status": "scored", "finish": "stop", "text": null}',
        "no text, or no number",
    ),
]


@pytest.mark.parametrize(("content", "message"), REFUSED)
def test_what_cannot_be_graded_is_refused_with_its_place(
    tmp_path: Path, graded: Callable[..., EvaluatedRun], content: str, message: str
) -> None:
    (tmp_path / "s.json").write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        graded(tmp_path / "s.json")
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read_are_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"x" * 5000)[:20])
    (tmp_path / "bad.gz").write_bytes(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff")
    (tmp_path / "latin.jsonl").write_bytes('{"task_id": "é"}'.encode("latin-1"))
    for name in ("cut.gz", "bad.gz", "latin.jsonl"):
        with pytest.raises(DataError, match=f"{name}' is damaged or not UTF-8"):
            read_answers(tmp_path / name)
    with pytest.raises(DataError, match="nowhere' cannot be read: No such file"):
        read_answers(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="empty' holds no answer"):
        read_answers(tmp_path / "empty")


def test_the_same_answers_are_held_against_several_sets_of_tests(
    items: Path, store: Store, tmp_path: Path
) -> None:
    path = lines(
        tmp_path / "samples.jsonl",
        {"task_id": "T/1", "completion": "    return 2\n"},
        {"task_id": "T/0", "completion": RIGHT},
        {"task_id": "T/0", "completion": WRONG},
    )
    data = [json.loads(line) for line in items.read_text().splitlines()]
    lines(tmp_path / "more.jsonl", *({**row, "test": row["test"].replace("== 2", "== 3")} for row in data))
    base = find_task("humaneval")
    tasks = [
        replace(base, source=replace(base.source, local=(name,)), name=name.partition(".")[0])
        for name in ("items.jsonl", "more.jsonl")
    ]
    options = Options(workers=1, allow_code_execution=True, data_directory=tmp_path)
    run, held = grade(path, tasks, store=store, options=options)
    assert [task.task for task in run.record.tasks] == ["items", "more"]
    values = {task["task"]: task["estimates"][0]["value"] for task in run.plain()["tasks"]}
    assert values == {"items": 0.75, "more": 0.25}
    written = tmp_path / "out.jsonl"
    with sample_file(written) as write:
        write(run, held.order)
    rows = [json.loads(line) for line in written.read_text().splitlines()]
    assert [(row["item_id"], row["task"], row["scores"]["passed"]) for row in rows] == [
        ("T/1", "items", 1), ("T/1", "more", 0),
        ("T/0", "items", 1), ("T/0", "more", 1),
        ("T/0", "items", 0), ("T/0", "more", 0),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="of one task"):
        grade(path, tasks, store=store, data=items, options=options)
