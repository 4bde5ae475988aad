"""Whatever the user gets wrong: exit status 1, one line that names it, nothing on stdout, nothing lost."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
from pathlib import Path

import pytest

from tests.fakes import write_sums

RUN = ["run", "mini", "--model", "constant/A", "--limit", "2"]
ANSWERS = '{"task_id": "sum-0", "response": "1"}\n'


def refused(done, *words: str, status: int = 1) -> str:
    """The one line of a refusal."""
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("probatum: ")
    assert "Traceback" not in line
    assert "internal error" not in line
    for word in words:
        assert word in line
    return line


WRONG = [
    pytest.param(["rnu"], ["'rnu'", "did you mean 'run'"], id="command"),
    pytest.param(["frobnicate"], ["'frobnicate'", "probatum --help"], id="command unlike any"),
    pytest.param(["--frob"], ["--frob"], id="option of the group"),
    pytest.param([*RUN, "--limmit", "3"], ["--limmit"], id="option"),
    pytest.param([*RUN, "--limit", "many"], ["--limit", "'many'"], id="option value"),
    pytest.param([*RUN, "--limit", "0"], ["limit 0", "1 or more"], id="limit 0"),
    pytest.param([*RUN, "--samples", "-3"], ["samples -3"], id="samples"),
    pytest.param([*RUN, "--samples", "3"], ["temperature 0", "--temperature"], id="samples of greedy"),
    pytest.param([*RUN, "--temperature", "nan"], ["temperature nan"], id="nan"),
    pytest.param([*RUN, "--level", "95"], ["level 95.0", "0.95"], id="level"),
    pytest.param([*RUN, "--form", "instruct"], ["--form", "'instruct'"], id="form"),
    pytest.param([*RUN, "-M", "novalue"], ["'novalue'", "key=value"], id="setting without value"),
    pytest.param([*RUN, "-M", "a=1", "-M", "a=2"], ["'a'", "twice"], id="setting twice"),
    pytest.param([*RUN, "-M", "nosuch=1"], ["'nosuch'"], id="unknown setting"),
    pytest.param(["run"], ["no task", "probatum tasks"], id="no task"),
    pytest.param(["run", "mini"], ["no model", "--model"], id="no model"),
    pytest.param(["run", "minni", "-m", "constant/A"], ["'minni'", "'mini'"], id="task"),
    pytest.param(["run", "mini,mini", "-m", "constant/A"], ["'mini'", "twice"], id="task twice"),
    pytest.param(["run", "mini", "-m", "nosuch/x"], ["'nosuch'", "constant"], id="provider"),
    pytest.param(["run", "mini", "-m", "constant"], ["'constant'", "PROVIDER/NAME"], id="model without name"),
    pytest.param(["run", "mini", "-m", "replay/none.jsonl"], ["none.jsonl"], id="replay file"),
    pytest.param(["run", "mini", "-m", "llamacpp/none.gguf"], ["none.gguf"], id="model file"),
    pytest.param([*RUN, "--config", "none.toml"], ["'none.toml'", "No such file"], id="run file"),
    pytest.param([*RUN, "--samples-out", "no/such/dir.jsonl"], ["no/such/dir.jsonl"], id="samples-out"),
    pytest.param([*RUN, "--samples-out", "."], ["'.'", "directory"], id="samples-out is a directory"),
    pytest.param([*RUN, "--store", "no/such/dir.db"], ["no/such/dir.db"], id="store"),
    pytest.param([*RUN, "--store", "mongodb://x"], ["mongodb"], id="kind of store"),
    pytest.param(["run", "sums", "-m", "constant/A", "--data-dir", "nosuch"], ["'nosuch'"], id="data directory"),
    pytest.param(["results"], ["probatum.db", "probatum run"], id="no store"),
    pytest.param(["results", "--store", "none.db"], ["'none.db'"], id="no such store"),
    pytest.param(["card", "latest"], ["probatum.db"], id="card without a store"),
    pytest.param(["card"], ["RUN"], id="argument"),
    pytest.param(["rescore", "latest", "--store", "none.db"], ["'none.db'"], id="rescore without a store"),
    pytest.param(["tasks", "nosuch"], ["'nosuch'"], id="tasks"),
    pytest.param(["validate"], ["no task"], id="validate nothing"),
    pytest.param(["validate", "nosuch"], ["'nosuch'"], id="validate"),
    pytest.param(["grade", "none.jsonl", "--task", "mini"], ["'none.jsonl'"], id="grade"),
    pytest.param(["grade", "none.jsonl"], ["--task"], id="grade without a task"),
    pytest.param(["grade", "none.jsonl", "--task", "nosuch"], ["'nosuch'"], id="grade with a wrong task"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_a_wrong_word_is_told_in_one_line_and_leaves_nothing_behind(probatum_here, work, arguments, words):
    refused(probatum_here(*arguments), *words)
    assert list(work.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [RUN, ["results"], ["grade", "none.jsonl", "--task", "mini"], ["tasks", "nosuch"], ["rescore", "x"]],
)
def test_a_refusal_leaves_stdout_empty_under_json(probatum_here, arguments):
    bad = [*arguments, "--limit", "0"] if arguments is RUN else arguments
    refused(probatum_here(*bad, "--json"))


RUN_FILES = {
    "no TOML": ("tasks = [", ["no valid TOML"]),
    "unknown key": ('tasks = ["mini"]\nmodle = "x"', ["'modle'", "did you mean 'model'"]),
    "wrong type": ('tasks = ["mini"]\nlimit = "five"', ["limit 'five'", "whole number"]),
    "wrong type inside": ("tasks = [1]", ["tasks"]),
    "out of range": ('tasks = ["mini"]\nmodel = "constant/A"\nlimit = 0', ["limit 0"]),
    "consent": ('tasks = ["mini"]\nallow_code_execution = true', ["allow_code_execution"]),
    "nothing": ("", ["no task"]),
    "not UTF-8": (b'model = "\xff"', ["UTF-8", "byte"]),
}


@pytest.mark.parametrize("name", RUN_FILES)
def test_a_run_file_that_cannot_be_used_is_told_in_one_line(probatum_here, work, name):
    text, words = RUN_FILES[name]
    (work / "run.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(probatum_here("run", "--config", "run.toml"), *words)


def test_a_directory_is_no_run_file(probatum_here):
    refused(probatum_here("run", "--config", "."), "'.'")


FILES = {
    "empty": (b"", ["holds no answer"]),
    "no JSON": (b"{", ["line 1", "JSON"]),
    "no object": (b"3\n", ["line 1", "int"]),
    "no id": (b'{"completion": "x"}\n', ["line 1", "task_id"]),
    "no text": (b'{"task_id": "sum-0"}\n', ["line 1", "completion"]),
    "unknown item": (b'{"task_id": "nosuch", "completion": "x"}\n', ["'nosuch'", "--task"]),
    "mixed": (b'{"task_id": "sum-0", "completion": "x"}\n{"task_id": "sum-1", "solution": "x"}\n', ["mixes"]),
    "not UTF-8": (b"\xff\xfe", ["UTF-8"]),
    "lists of numbers": (b"[[1]]", ["entry 0"]),
    "too many lists": (json.dumps([["x"]] * 9).encode(), ["item"]),
    "broken list": (b"[", ["JSON"]),
    "deep": (b"[" * 100_000, ["JSON"]),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_answers_that_cannot_be_used_is_told_in_one_line(probatum_here, work, name):
    content, words = FILES[name]
    (work / "answers.jsonl").write_bytes(content)
    data = write_sums(work / "data", 3)
    refused(
        probatum_here("grade", "answers.jsonl", "--task", "sums", "--data-dir", data), "answers.jsonl", *words
    )


def test_a_damaged_gzip_file_is_told(probatum_here, work):
    data = write_sums(work / "data", 3)
    (work / "a.jsonl.gz").write_bytes(gzip.compress(ANSWERS.encode())[:-9])
    refused(
        probatum_here("grade", "a.jsonl.gz", "--task", "sums", "--data-dir", data), "a.jsonl.gz", "damaged"
    )
    (work / "b.jsonl.gz").write_bytes(b"no gzip")
    refused(probatum_here("grade", "b.jsonl.gz", "--task", "sums", "--data-dir", data), "b.jsonl.gz")


def test_a_store_of_a_newer_schema_is_left_alone(probatum, work):
    assert probatum(*RUN).returncode == 0
    store = work / "probatum.db"
    with sqlite3.connect(store) as connection:
        (table,) = [
            name
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if "schema" in name and "sqlite" not in name
        ]
        (column,) = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")][:1]
        connection.execute(f"UPDATE {table} SET {column} = {column} + 1")
    connection.close()
    before = store.read_bytes()
    for arguments in (RUN, ["results"], ["card", "latest"], ["rescore", "latest"]):
        refused(probatum(*arguments), "probatum.db", "schema 2", "upgrade probatum")
    assert store.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to be read as one" * 20, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_store_is_left_alone(probatum_here, work, content):
    (work / "probatum.db").write_bytes(content)
    for arguments in (RUN, ["results"]):
        refused(probatum_here(*arguments), "probatum.db")
    assert (work / "probatum.db").read_bytes() == content


def test_a_port_where_nobody_listens_is_told(probatum):
    done = probatum("run", "mini", "-m", "openai/x", "-M", "base_url=http://127.0.0.1:9/v1", "--limit", "1")
    assert done.returncode in (1, 3)
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


def test_without_consent_the_refusal_names_what_would_run_and_what_would_hold_it(probatum, work):
    line = refused(probatum("run", "mini,mini_code", "-m", "constant/A"))
    for words in (
        "mini_code would execute code that the model writes",
        "Isolation of this machine: ",
        "--allow-code-execution",
        "PROBATUM_ALLOW_CODE_EXECUTION=1",
    ):
        assert words in line
    assert "mini," not in line
    assert list(work.iterdir()) == []


@pytest.mark.parametrize("value", ["0", "", "yes", "true"])
def test_consent_is_given_by_1_alone(probatum_here, value):
    done = probatum_here("run", "mini_code", "-m", "constant/A", env={"PROBATUM_ALLOW_CODE_EXECUTION": value})
    refused(done, "--allow-code-execution")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_told(probatum, work):
    locked = work / "locked"
    locked.mkdir(mode=0o500)
    refused(probatum(*RUN, "--samples-out", locked / "s.jsonl"), "Permission denied")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_samples_out_loses_no_run(probatum, work):
    (work / "full.jsonl").symlink_to("/dev/full")
    done = probatum(*RUN, "--samples-out", "full.jsonl")
    assert done.returncode in (0, 1)
    assert probatum("results", "latest", "--json").returncode == 0


def test_a_traceback_is_shown_to_whoever_asks_for_it(probatum):
    done = probatum("tasks", "nosuch", env={"PROBATUM_TRACEBACK": "1"})
    assert done.returncode == 1
    assert "Traceback" in done.stderr
