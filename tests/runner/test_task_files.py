"""Tasks of one's own: files of Python and of TOML, found in one place by whatever takes a task's name."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from probatum import evaluate
from probatum.core.canonical import canonical
from probatum.core.errors import DataError, ProbatumError
from probatum.core.protocol import Task
from probatum.runner import audit, load_run, rescore, validate
from probatum.runner.comparing import compare
from probatum.runner.corpus import audit_corpus, corpus_texts
from probatum.runner.grading import grade
from probatum.runner.resolution import resolve_tasks
from probatum.runner.task_files import is_task_file, load_task_file, trusted
from tests.fakes import FakeModel, sums_task

SUMS = """\
from dataclasses import dataclass

import probatum as pb
from probatum.core.records import Item
from probatum.extraction import FinalNumber
from probatum.prompting import CompletionPrompt
from probatum.scoring import NumberMatch, Rate


@dataclass(frozen=True)
class Row:
    id: str
    a: int
    b: int


def to_item(row: Row) -> Item:
    return Item(id=row.id, fields={"a": row.a, "b": row.b}, targets=(str(row.a + row.b),))


def gold(item: Item) -> str:
    return item.targets[0]


def wrong(item: Item) -> str:
    return item.targets[0] + "1"


TASK = pb.Task(
    name="own_sums",
    version=1,
    summary="sums",
    citation="none",
    source=pb.Source(local=("rows.jsonl",)),
    row=Row,
    to_item=to_item,
    completion=CompletionPrompt(template="{{ a }}+{{ b }}="),
    scorer=NumberMatch(FinalNumber()),
    metrics=(Rate(),),
    gold=gold,
    wrong=wrong,
)
"""


def write_rows(directory: Path, count: int = 4, *, first: int = 0) -> None:
    rows = [json.dumps({"id": f"s{n}", "a": first + n, "b": 2}) for n in range(count)]
    (directory / "rows.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture
def own(tmp_path):
    """A directory with a task file and its rows."""
    directory = tmp_path / "own"
    directory.mkdir()
    write_rows(directory)
    (directory / "sums.py").write_text(SUMS, encoding="utf-8")
    return directory


def written(directory: Path, text: str | bytes, name: str = "task.py") -> Path:
    path = directory / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))
    return path


def refusal(act) -> str:
    with pytest.raises(ProbatumError) as raised:
        act()
    message = str(raised.value)
    assert "\n" not in message
    return message


def run_own(path, store, **more):
    return evaluate(path, model=FakeModel(), store=store, **more)


# ── finding and loading ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mini", False),
        ("a.py", True),
        ("a/b.py:EASY", True),
        ("a.toml", True),
        ("../mini", True),
        ("my.jsonl", False),
        ("py", False),
        ("C:x", False),
    ],
)
def test_names_of_files_are_told_from_names_of_benchmarks(name, file):
    assert is_task_file(name) is file


@pytest.mark.parametrize("kind", [str, Path])
def test_a_file_runs_by_its_path_with_rows_that_lie_beside_it(own, store, kind, monkeypatch):
    run = run_own(kind(own / "sums.py"), store)
    assert run.complete
    assert [(task.task, task.planned) for task in run.record.tasks] == [("own_sums", 4)]
    assert run.estimates[0].value == 1.0
    monkeypatch.chdir(own)
    assert run_own("sums.py", store).id == run.id


def test_a_file_is_a_task_among_others(own, store):
    found = resolve_tasks(f"mini, {own / 'sums.py'}")
    assert [task.name for task in found] == ["mini", "own_sums"]
    assert [task.name for task in resolve_tasks(["mini", own / "sums.py", sums_task()])] == [
        "mini",
        "own_sums",
        sums_task().name,
    ]


def test_a_name_with_a_comma_in_it_is_one_file(own):
    (own / "sums.py").rename(own / "a,b.py")
    assert [task.name for task in resolve_tasks(str(own / "a,b.py"))] == ["own_sums"]


SEVERAL = SUMS + (
    "from dataclasses import replace\n"
    'EASY = replace(TASK, name="easy")\n'
    "SAME = EASY\n"
    '_HIDDEN = replace(TASK, name="hidden")\n'
    'BOTH = [replace(TASK, name=f"part{n}") for n in (1, 2)]\n'
    "NUMBER = 3\n"
)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ("", ["own_sums", "easy", "part1", "part2"]),
        (":EASY", ["easy"]),
        (":easy", ["easy"]),
        (":_HIDDEN", ["hidden"]),
        (":BOTH", ["part1", "part2"]),
        (":part2", ["part2"]),
    ],
)
def test_a_file_of_several_tasks_gives_all_public_ones_or_the_named_one(own, wanted, names):
    path = written(own, SEVERAL)
    assert [task.name for task in load_task_file(f"{path}{wanted}")] == names


@pytest.mark.parametrize("names", ["TASK", "*", "TASK as BASE, TASK"])
def test_a_task_that_is_only_imported_is_not_the_files_own(own, names):
    written(own, SUMS, f"{own.parent.name}_sums.py")
    path = written(
        own,
        f"from {own.parent.name}_sums import {names}\nfrom dataclasses import replace\nMINE = replace(TASK, name='x')\n",
    )
    assert [task.name for task in load_task_file(path)] == ["x"]


def test_what_a_file_prints_is_not_on_stdout(own, capfd):
    load_task_file(written(own, "print('hello')\n" + SUMS))
    assert capfd.readouterr() == ("", "hello\n")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbf" + SUMS.encode(), SUMS.replace("\n", "\r\n").encode()])
def test_a_byte_order_mark_and_windows_line_ends_are_read(own, content):
    assert load_task_file(written(own, content))[0].name == "own_sums"


def test_files_of_one_name_do_not_meet(tmp_path):
    """Each has its own `Row`, also where annotations are text that is looked up in the module."""
    tasks = []
    for place, kind in (("a", "int"), ("b", "str")):
        directory = tmp_path / place
        directory.mkdir()
        text = SUMS.replace("class Row:\n    id: str", "class Row:\n    id: Name\n")
        text = f"from __future__ import annotations\nName = {kind}\n" + text.replace(
            "id=row.id", "id=str(row.id)"
        )
        written(directory, text)
        row = {"id": 1 if kind == "int" else "one", "a": 1, "b": 2}
        (directory / "rows.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        tasks.append(load_task_file(directory / "task.py")[0])
    assert [validate(task).passed for task in tasks] == [True, True]
    assert [validate(task).passed for task in reversed(tasks)] == [True, True]


FAULTY = {
    "syntax": ("x = 1\ny = (\n", ["line 2", "never closed"]),
    "raises": ("x = 1\n\nx / 0\n", ["line 3", "ZeroDivisionError"]),
    "no module": ("import nosuchmodule\n", ["line 1", "nosuchmodule"]),
    "exits": ("import sys\nsys.exit(2)\n", ["line 2", "SystemExit"]),
    "wrong keyword": ("import probatum as pb\nTASK = pb.Task(nosuch=1)\n", ["line 2", "nosuch"]),
    "a template": (SUMS.replace("{{ a }}+", "{% if a }}+"), ["line 37", "template"]),
    "nothing": ("", ["no Task", "TASK = Task("]),
    "no task": ("TASK = 3\n", ["no Task"]),
    "not text": (b"\x00\xff", ["null bytes"]),
    "not UTF-8": (b"x = '\xff'\n", ["utf-8"]),
    "a benchmark's name": (SUMS.replace("own_sums", "gsm8k"), ["'gsm8k'", "benchmark"]),
    "two of one name": (SUMS + "OTHER = __import__('copy').copy(TASK)\n", ["TASK and OTHER", "'own_sums'"]),
    "a lambda": (SUMS.replace("gold=gold", "gold=lambda item: ''"), ["'own_sums'", "lambda", "line 40"]),
    "a metric": (SUMS.replace("(Rate(),)", "Rate()"), ["metrics", "(Rate(),)"]),
    "a class of a metric": (SUMS.replace("(Rate(),)", "(Rate,)"), ["metrics", "(Rate(),)"]),
    "no scorer": (SUMS.replace("NumberMatch(FinalNumber())", "'exact'"), ["scorer", "'exact'"]),
    "a class of a scorer": (
        SUMS.replace("NumberMatch(FinalNumber())", "NumberMatch"),
        ["scorer", "NumberMatch"],
    ),
    "no prompt": (
        SUMS.replace('    completion=CompletionPrompt(template="{{ a }}+{{ b }}="),\n', ""),
        ["no prompt"],
    ),
    "text as prompt": (
        SUMS.replace('CompletionPrompt(template="{{ a }}+{{ b }}=")', "'{{ a }}'"),
        ["completion"],
    ),
    "text as languages": (SUMS.replace("gold=gold", "gold=gold, languages='en'"), ["languages", "('en',)"]),
    "a comma in the name": (SUMS.replace("own_sums", "a,b"), ["name", "'a,b'"]),
    "shots from nowhere": (SUMS.replace("gold=gold", "gold=gold, shots=2"), ["shots", "shot_source"]),
    "version": (SUMS.replace("version=1", "version='1'"), ["version", "'1'"]),
}


@pytest.mark.parametrize(("text", "words"), FAULTY.values(), ids=FAULTY)
def test_a_fault_of_the_file_is_one_line_that_names_the_file_and_the_place(own, text, words):
    path = written(own, text)
    message = refusal(lambda: load_task_file(path))
    for word in (str(path), *words):
        assert word in message


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("none.py", ["none.py", "No such file"]),
        ("none.toml", ["none.toml", "No such file"]),
        (".py/x", ["neither a benchmark nor a file"]),
        ("./rows.jsonl", ["neither a benchmark nor a file"]),
        ("rows.jsonl", ["unknown task", "path/to/task.py"]),
        ("sums.py:", ["no task ''", "TASK ('own_sums')"]),
        ("sums.py:NONE", ["'NONE'", "TASK ('own_sums')"]),
        ("sums.py:Row", ["Row is a type", "TASK ('own_sums')"]),
        ("folder.py", ["Is a directory"]),
        ("sums.py,sums.py", ["'own_sums' is named twice"]),
        ("~nosuchuser/x.py", ["~nosuchuser"]),
    ],
)
def test_a_reference_that_leads_nowhere_says_what_there_is(own, monkeypatch, reference, words):
    monkeypatch.chdir(own)
    (own / "folder.py").mkdir()
    message = refusal(lambda: resolve_tasks(reference))
    for word in words:
        assert word in message


def test_two_files_with_a_task_of_one_name_are_refused(own):
    other = written(own, SUMS + "\n# another\n", "other.py")
    message = refusal(lambda: resolve_tasks([own / "sums.py", other]))
    assert "both define a task 'own_sums'" in message
    assert str(other) in message


def test_what_is_no_task_is_refused():
    assert "3 is no task" in refusal(lambda: resolve_tasks([3]))  # type: ignore[list-item]


def test_an_object_is_checked_like_a_file():
    message = refusal(lambda: evaluate(replace(sums_task(), metrics=()), model=FakeModel()))
    assert "metrics is ()" in message


# ── what lies beside the file ───────────────────────────────────────────────────────────────────────


def test_what_a_file_imports_beside_it_counts_into_its_recipe(own):
    written(own, "from naming_of_sums import NAME\n" + SUMS.replace('"own_sums"', "NAME"))
    helper = written(own, "import deeper_naming\nNAME = 'named'\n", "naming_of_sums.py")
    deeper = written(own, "X = 1\n", "deeper_naming.py")
    file = load_task_file(own / "task.py")[0].file
    assert file is not None
    assert file.imports == tuple(
        (path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in (deeper, helper)
    )


def test_a_module_beside_the_file_that_would_not_be_the_imported_one_is_refused(own):
    written(own, "import json\n" + SUMS)
    written(own, "", "json.py")
    assert "module 'json' beside the task's file" in refusal(lambda: load_task_file(own / "task.py"))


def test_an_error_in_what_is_imported_names_both_places(own):
    written(own, "\nimport failing_neighbour\n")
    written(own, "x = 1\ny = x / 0\n", "failing_neighbour.py")
    message = refusal(lambda: load_task_file(own / "task.py"))
    assert "line 2 (failing_neighbour.py, line 2): ZeroDivisionError" in message


def test_the_directory_that_is_named_comes_first_and_the_variables_last(own, tmp_path, monkeypatch):
    (task,) = load_task_file(own / "sums.py")
    named, general = tmp_path / "named", tmp_path / "general"
    for directory in (named, general):
        directory.mkdir()
        write_rows(directory, 3)
    monkeypatch.setenv("PROBATUM_DATA", str(general))

    def location(**more: Path) -> object:
        return validate(task, **more).origin["location"]

    assert location(data_directory=named) == str(named)
    assert location() == str(own)
    (own / "rows.jsonl").unlink()
    assert location() == str(general)
    (general / "rows.jsonl").unlink()
    assert location(data_directory=named) == str(named)
    (named / "rows.jsonl").unlink()
    with pytest.raises(DataError, match=r"beside the task's file: .*own.* has no 'rows.jsonl'.*beside it"):
        location()


def test_a_fault_in_to_item_names_the_line_of_the_file(own):
    path = written(own, SUMS.replace("str(row.a + row.b)", "str(row.a / 0)"))
    message = refusal(lambda: validate(load_task_file(path)[0]))
    assert (
        "rows.jsonl line 1: to_item failed: ZeroDivisionError: division by zero (task.py line 18)" in message
    )


# ── what a run writes down ──────────────────────────────────────────────────────────────────────────


def test_the_recipe_holds_the_files_digest_and_not_its_place(own, tmp_path, store):
    digest = hashlib.sha256((own / "sums.py").read_bytes()).hexdigest()
    run = run_own(own / "sums.py", store)
    (record,) = run.record.tasks
    assert record.origin["task_file"] == {"path": str(own / "sums.py"), "sha256": digest, "imports": []}
    file = record.recipe["protocol"]["fields"]["task"]["fields"]["file"]
    assert file["fields"] == {"sha256": digest, "imports": []}
    assert str(own) not in json.dumps(record.recipe)
    moved = own.rename(tmp_path / "moved")
    (moved / "sums.py").rename(moved / "totals.py")
    assert run_own(moved / "totals.py", store).id == run.id


def test_a_changed_file_is_another_run_that_says_so_and_asks_nothing_twice(own, store):
    first = run_own(own / "sums.py", store)
    with (own / "sums.py").open("a") as stream:
        stream.write("# a remark\n")
    model = FakeModel()
    second = evaluate(own / "sums.py", model=model, store=store)
    assert second.id != first.id
    assert model.asked == []
    note = f"sums.py changed since run {first.id}: the task is another recipe now"
    assert note in second.record.tasks[0].summary["notes"]
    assert note not in first.record.tasks[0].summary["notes"]
    again = run_own(own / "sums.py", store)
    assert again.id == second.id


def test_two_editions_of_a_file_are_comparable_with_a_note(own, store):
    first = run_own(own / "sums.py", store)
    with (own / "sums.py").open("a") as stream:
        stream.write("# a remark\n")
    found = compare(first, run_own(own / "sums.py", store))
    ((difference,),) = [pair.differences for pair in found.pairs]
    assert difference.field == "task.file.sha256"
    assert str(found.pairs[0].comparability) == "comparable with a note"


# ── grading again ───────────────────────────────────────────────────────────────────────────────────


def test_a_run_is_rescored_by_the_file_where_it_lay(own, store, monkeypatch, tmp_path):
    run = run_own(own / "sums.py", store)
    monkeypatch.chdir(tmp_path)
    assert rescore(run.id, store=store).id == run.id


def test_rescoring_by_a_changed_file_is_a_new_run_that_says_so(own, store):
    first = run_own(own / "sums.py", store)
    written(own, SUMS.replace("FinalNumber()", "FinalNumber(loose=False)"), "sums.py")
    second = rescore(first.id, store=store)
    assert second.record.options["answers_of"] == first.id
    assert any(
        f"sums.py changed since run {first.id}" in note for note in second.record.tasks[0].summary["notes"]
    )


def test_a_file_that_has_moved_is_asked_for_and_taken(own, store):
    run = run_own(own / "sums.py", store)
    moved = (own / "sums.py").rename(own / "totals.py")
    message = refusal(lambda: rescore(run.id, store=store))
    for word in (str(own / "sums.py"), "not there any more", "--task FILE"):
        assert word in message
    assert rescore(run.id, store=store, tasks=moved).id == run.id


def test_a_task_that_left_its_file_is_named(own, store):
    run = run_own(own / "sums.py", store)
    written(own, SUMS.replace("own_sums", "other_sums"), "sums.py")
    message = refusal(lambda: rescore(run.id, store=store))
    assert "has 'other_sums' today and no 'own_sums'" in message


def test_a_task_that_was_an_object_is_asked_for_and_taken(data, store):
    run = evaluate(sums_task(), model=FakeModel(), store=store, data_directory=data)
    message = refusal(lambda: rescore(run.id, store=store))
    assert "rescore(tasks=…)" in message
    assert rescore(run.id, store=store, tasks=sums_task()).id == run.id


def test_a_task_that_is_none_of_the_runs_is_refused(own, store):
    run = run_own(own / "sums.py", store)
    assert "'mini' is none of run" in refusal(lambda: rescore(run.id, store=store, tasks="mini"))


def test_a_file_that_others_can_write_to_is_not_run_because_a_store_names_it(own, store):
    run = run_own(own / "sums.py", store)
    assert trusted(own / "sums.py")
    (own / "sums.py").chmod(0o666)
    assert not trusted(own / "sums.py")
    message = refusal(lambda: rescore(run.id, store=store))
    assert "others own or can write to" in message
    assert rescore(run.id, store=store, tasks=own / "sums.py").id == run.id


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_file_of_another_user_is_not_run_because_a_store_names_it(own):
    os.chown(own / "sums.py", 12345, 12345)
    assert not trusted(own / "sums.py")


def test_the_audit_of_extraction_finds_the_file_and_says_when_it_cannot(own, store):
    run = run_own(own / "sums.py", store)
    (found,) = audit.audit_run(run.record, store)
    assert found.notes == ()
    (own / "sums.py").unlink()
    (found,) = audit.audit_run(run.record, store)
    assert "without the task's own scorer" in found.notes[0]
    assert "not there any more" in found.notes[0]


# ── the other verbs ─────────────────────────────────────────────────────────────────────────────────


def test_answers_made_elsewhere_are_graded_by_a_file(own, store, tmp_path):
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"item_id": "s0", "response": "2"}\n{"item_id": "s1", "response": "7"}\n')
    run, _ = grade(answers, resolve_tasks(own / "sums.py"), store=store)
    assert run.record.tasks[0].origin["task_file"]["path"] == str(own / "sums.py")
    assert run.statuses["own_sums"] == {"scored": 2, "infra_error": 2}


def test_a_corpus_is_audited_for_the_items_of_a_file(own):
    (own / "corpus.txt").write_text("nothing of it\n")
    (task,) = resolve_tasks(
        written(own, SUMS.replace('{"a": row.a,', '{"question": f"{row.a}?", "a": row.a,'))
    )
    assert len(audit_corpus([own / "corpus.txt"], task).items) == 4


def test_of_two_columns_with_one_name_both_are_read(tmp_path):
    twice = tmp_path / "corpus.csv"
    twice.write_text("a,a,a.2\none,two,three\n")
    ((_, text),) = corpus_texts([twice])
    assert text.split() == ["one", "two", "three"]


def test_a_stored_run_reads_back_with_its_file(own, store):
    run = run_own(own / "sums.py", store)
    assert load_run(store, run.id).record.tasks[0].origin["task_file"]["path"] == str(own / "sums.py")


def test_a_built_in_benchmark_has_no_file_in_its_recipe():
    (task,) = resolve_tasks("mini")
    assert isinstance(task, Task)
    assert "file" not in canonical(task)["fields"]
