"""The whole path through the real command: run, results, card, rescore, grade, validate, tasks, doctor."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from probatum.core.status import Status
from tests.fakes import write_sums

RUN = ("run", "mini", "--model", "constant/A")
REPLAYED = [
    {"item_id": "sum-0", "text": "1"},
    {"item_id": "sum-1", "text": "5"},
    {"item_id": "sum-2", "text": ""},
    {"item_id": "sum-3", "text": "I cannot", "finish": "refusal"},
    {"item_id": "sum-4", "text": "", "finish": "model_error", "reason": "HTTP 400"},
]


def strict(text: str) -> dict:
    """One JSON object on one line, without NaN."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    assert text.count("\n") == 1
    return json.loads(text, parse_constant=refuse)


def answer(done, status: int = 0) -> dict:
    assert done.returncode == status, done.stderr
    return strict(done.stdout)


@pytest.fixture
def replayed(work):
    """Arguments of a run of recorded answers to ten additions."""
    data = write_sums(work / "data", 10)
    (work / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in REPLAYED))
    return ("run", "sums", "--model", "replay/answers.jsonl", "--data-dir", data)


def test_a_run_prints_a_table_with_all_that_defends_its_numbers(probatum):
    done = probatum(*RUN)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("task", "metric", "n", "value", "interval", "method", "coverage", "bounds", "chance",
                  "constant/A", "state complete", "correct (answered)", "wilson 95%", "60 samples: ", "scored",
                  "60 model calls (0 reused)"):  # fmt: skip
        assert words in done.stdout


def test_json_has_the_fields_of_the_contract_and_nothing_else_is_on_stdout(probatum_here):
    done = probatum_here(*RUN, "--json")
    assert done.stderr == ""
    found = answer(done)
    assert {"run", "protocol", "model", "tasks", "complete"} <= set(found)
    (task,) = found["tasks"]
    names = {
        "name",
        "value",
        "low",
        "high",
        "level",
        "method",
        "n",
        "clusters",
        "coverage",
        "bounds",
        "chance",
    }
    assert names <= set(task["estimates"][0])
    assert sum(task["statuses"].values()) == 60
    assert set(task["statuses"]) <= {status.value for status in Status}
    assert found["cost"]["model_calls"] == 60


def test_the_same_command_again_asks_nothing_and_says_the_same(probatum_here):
    first, second = answer(probatum_here(*RUN, "--json")), answer(probatum_here(*RUN, "--json"))
    assert second.pop("cost") == {
        "model_calls": 0, "reused_responses": 60, "executions": 0, "reused_executions": 0, "completion_tokens": 0
    }  # fmt: skip
    first.pop("cost")
    assert first == second


def test_recorded_answers_end_in_the_right_statuses_and_too_few_of_them_in_3(probatum_here, replayed):
    found = answer(probatum_here(*replayed, "--json"), status=3)
    assert found["tasks"][0]["statuses"] == {
        "scored": 2, "no_answer": 1, "refused": 1, "model_error": 1, "infra_error": 5
    }  # fmt: skip
    assert (found["complete"], found["state"]) == (False, "incomplete")
    whole, answered = found["tasks"][0]["estimates"]
    assert (whole["value"], whole["coverage"], whole["bounds"]) == (0.2, 0.5, [0.1, 0.6])
    assert (answered["value"], answered["coverage"], answered["bounds"]) == (0.5, 0.2, [0.1, 0.9])


def test_a_lower_limit_makes_the_same_run_complete(probatum_here, replayed):
    assert answer(probatum_here(*replayed, "--minimum-answered", "0.4", "--json"))["complete"] is True
    assert answer(probatum_here(*replayed, "--limit", "4", "--json"))["complete"] is True


def test_samples_out_is_one_line_a_sample_in_the_order_of_the_items(probatum_here, replayed, work):
    assert probatum_here(*replayed, "--samples-out", "samples.jsonl").returncode == 3
    rows = [json.loads(line) for line in (work / "samples.jsonl").read_text().splitlines()]
    assert [row["item_id"] for row in rows] == [f"sum-{number}" for number in range(10)]
    names = {"item_id", "sample", "status", "scores", "answer", "execution", "reason"}
    assert all(names <= set(row) for row in rows)
    assert rows[0] == {**rows[0], "sample": 0, "status": "scored", "scores": {"correct": 1.0}, "answer": "1"}
    assert rows[4]["reason"] == "HTTP 400"
    assert [path.name for path in work.glob(".samples*")] == []


def test_an_old_samples_file_stays_whole_where_the_run_fails(probatum_here, work):
    (work / "samples.jsonl").write_text("old\n")
    done = probatum_here("run", "mini", "-m", "nosuch/x", "--samples-out", "samples.jsonl")
    assert done.returncode == 1
    assert (work / "samples.jsonl").read_text() == "old\n"
    assert [path.name for path in work.iterdir()] == ["samples.jsonl"]


def test_what_samples_out_wrote_can_be_graded(probatum_here, replayed, work):
    """The file of one run is the input of `grade`."""
    probatum_here(*replayed, "--samples-out", "samples.jsonl")
    lines = (work / "samples.jsonl").read_text().splitlines()
    (work / "given.jsonl").write_text("\n".join(lines[:3]) + "\n")
    found = answer(
        probatum_here("grade", "given.jsonl", "--task", "sums", "--data-dir", replayed[-1], "--json"),
        status=3,
    )
    assert found["tasks"][0]["statuses"] == {"scored": 2, "no_answer": 1, "infra_error": 7}
    assert found["model"] == "file/given.jsonl"


# ── the commands that read ──────────────────────────────────────────────────────────────────────────


def test_results_lists_the_runs_and_shows_one(probatum_here):
    run = answer(probatum_here(*RUN, "--limit", "3", "--json"))
    listed = probatum_here("results")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert run["run"] in listed.stdout
    assert "complete" in listed.stdout
    for name in (run["run"], run["run"][:6], "latest"):
        shown = answer(probatum_here("results", name, "--json"))
        assert shown == {key: value for key, value in run.items() if key != "cost"}
    assert answer(probatum_here("results", "--json"))["runs"] == [shown]
    done = probatum_here("results", "zzz")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert run["run"] in done.stderr


def test_rescore_gives_the_same_numbers_without_a_model(probatum_here, replayed, work):
    run = answer(probatum_here(*replayed, "--json"), status=3)
    (work / "answers.jsonl").unlink()
    again = answer(probatum_here("rescore", "latest", "--json"), status=3)
    assert again.pop("cost")["reused_responses"] == 4
    assert again == {key: value for key, value in run.items() if key != "cost"}


def test_a_card_goes_to_a_file_or_to_stdout(probatum_here, work):
    run = answer(probatum_here(*RUN, "--json"))["run"]
    text = probatum_here("card", run)
    assert text.stdout.startswith(f"# Evaluation card of run {run}\n")
    assert probatum_here("card", run, "-o", "card.md").stdout == ""
    assert (work / "card.md").read_text() == text.stdout.removesuffix("\n")
    assert probatum_here("card", run, "-o", "card.json").returncode == 0
    assert json.loads((work / "card.json").read_text()) == answer(probatum_here("card", run, "--json"))
    decided = probatum_here("card", "latest", "--decision", "whether to ship\n# it")
    assert "- **decision**: whether to ship \\# it\n" in decided.stdout
    done = probatum_here("card", "latest", "-o", "no/such/dir.md")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)


def test_tasks_lists_and_describes(probatum_here):
    listed = answer(probatum_here("tasks", "--json"))["tasks"]
    names = {task["task"] for task in listed}
    assert {"mini", "mini_code", "humaneval", "gsm8k", "sums"} <= names
    assert {task["executes_code"] for task in listed} == {True, False}
    one = answer(probatum_here("tasks", "mini", "--json"))
    assert one["recipe"]["fields"]["name"] == "mini"
    for arguments in ([], ["mini"]):
        done = probatum_here("tasks", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        assert "mini" in done.stdout


def test_validate_says_whether_gold_answers_score_one(probatum_here, work):
    found = answer(probatum_here("validate", "mini", "--json"))
    assert found["passed"] is True
    (task,) = found["tasks"]
    assert (task["gold_right"], task["wrong_right"], task["items"]) == (60, 60, 60)
    assert "mini: sound. 60/60 gold answers score 1" in probatum_here("validate", "mini").stdout
    data = write_sums(work / "data", 3)
    rows = (data / "sums.jsonl").read_text()
    (data / "sums.jsonl").write_text(rows + '{"id": "again", "a": 0, "b": 1}\n')
    done = probatum_here("validate", "sums", "--data-dir", data)
    assert "duplicate 'again': the same words as item 'sum-0'" in done.stdout


def test_doctor_says_what_this_machine_can_do(probatum):
    done = probatum("doctor", "--json")
    found = answer(done)
    assert {"environment", "isolation", "backends", "data", "store"} <= set(found)
    assert "there is no store" in found["store"]


# ── run files ───────────────────────────────────────────────────────────────────────────────────────


def test_a_run_file_says_the_run_and_the_command_line_comes_first(probatum_here, work):
    (work / "run.toml").write_text(
        'tasks = ["mini"]\nmodel = "constant/A"\nlimit = 5\nlevel = 0.9\nstore = "file.db"\n'
    )
    found = answer(probatum_here("run", "--config", "run.toml", "--json"))
    assert (found["model"], found["tasks"][0]["planned"]) == ("constant/A", 5)
    assert found["tasks"][0]["estimates"][0]["level"] == 0.9
    assert (work / "file.db").exists()
    found = answer(
        probatum_here(
            "run", "--config", "run.toml", "-m", "constant/B", "--limit", "7", "--store", "b.db", "--json"
        )
    )
    assert (found["model"], found["tasks"][0]["planned"]) == ("constant/B", 7)
    assert (work / "b.db").exists()


def test_settings_of_the_run_file_and_of_the_command_line_are_joined(probatum_here, work):
    data = write_sums(work / "data", 3)
    (work / "run.toml").write_text(
        f'tasks = "sums"\nmodel = "fake/x"\ndata_directory = "{data}"\n[settings]\nlog = "one"\ndelay = 0\n'
    )
    assert probatum_here("run", "--config", "run.toml", "-M", "log=two").returncode == 0
    assert (work / "two").exists()
    assert not (work / "one").exists()


def test_the_store_may_be_named_in_the_environment(probatum_here, work):
    assert probatum_here(*RUN, "--limit", "2", env={"PROBATUM_STORE": "mine.db"}).returncode == 0
    assert (work / "mine.db").exists()
    assert not (work / "probatum.db").exists()
    assert probatum_here("results", env={"PROBATUM_STORE": "mine.db"}).returncode == 0


# ── what goes wrong on the way ──────────────────────────────────────────────────────────────────────


def test_errors_of_the_model_end_in_exit_status_3(probatum_here, work):
    data = write_sums(work / "data", 5)
    done = probatum_here(
        "run", "sums", "-m", "fake/x", "-M", "log=log", "-M", "fail=true", "--data-dir", data, "--json"
    )
    found = answer(done, status=3)
    assert found["complete"] is False
    assert found["tasks"][0]["statuses"] == {"model_error": 5}
    assert found["tasks"][0]["estimates"][0]["value"] == 0.0
    assert found["tasks"][0]["estimates"][1]["value"] is None


def test_a_secret_stands_in_no_output_and_in_no_file(probatum, work):
    secret = "sk-0123456789abcdef"
    data = write_sums(work / "data", 3)
    arguments = (
        "run",
        "sums",
        "-m",
        "fake/x",
        "-M",
        "log=log",
        "-M",
        f"api_key={secret}",
        "--data-dir",
        data,
    )
    outputs = [
        probatum(*arguments),
        probatum(*arguments, "--json", "--samples-out", "s.jsonl"),
        probatum("card", "latest"),
        probatum("card", "latest", "-o", "card.json"),
        probatum("results", "latest", "--json"),
    ]
    assert {done.returncode for done in outputs} == {0}
    assert not [done for done in outputs if secret in done.stdout + done.stderr]
    assert not [path for path in work.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert "(withheld)" in outputs[2].stdout


def test_ctrl_c_keeps_what_arrived_and_ends_with_130(work, environment):
    data = write_sums(work / "data", 500)
    (work / "log").touch()
    arguments = [
        "run",
        "sums",
        "-m",
        "fake/x",
        "-M",
        "log=log",
        "-M",
        "delay=0.01",
        "--data-dir",
        str(data),
        "--json",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "probatum", *arguments],
        cwd=work, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    until = time.monotonic() + 60
    while (work / "log").read_text().count("\n") < 10 and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    (line,) = error.splitlines()
    asked = (work / "log").read_text().count("\n")
    assert line.startswith(
        f"probatum: interrupted: {asked} of 500 samples of sums are kept; the same command"
    )


def test_a_reader_that_goes_away_is_no_traceback(work, environment):
    command = f"{sys.executable} -m probatum tasks mini --json | head -c 5; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", command], cwd=work, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == '{"tas'
    assert done.stderr == ""


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_names_that_a_terminal_cannot_show_are_escaped(probatum, work, encoding):
    name = "constant/Zürich 北京 \udcff"
    for arguments in (("run", "mini", "-m", name, "--limit", "2"), ("results",), ("card", "latest")):
        done = probatum(*arguments, env={"PYTHONIOENCODING": encoding})
        assert (done.returncode, done.stderr) == (0, "")
        assert "rich" in done.stdout
    assert json.loads(probatum("results", "latest", "--json").stdout)["model"] == name


@pytest.mark.parametrize("columns", [40, 80, 100, 160])
def test_numbers_are_never_cut_however_narrow_the_terminal(probatum_here, columns):
    """A number that is cut is another number."""
    estimates = answer(probatum_here(*RUN, "--json"))["tasks"][0]["estimates"]
    terminal = {"COLUMNS": str(columns), "FORCE_COLOR": "1", "NO_COLOR": "1", "TTY_COMPATIBLE": "1"}
    for arguments, shown in ((["results", "latest"], estimates), (["results"], estimates[:1])):
        done = probatum_here(*arguments, env=terminal)
        assert done.returncode == 0
        words = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout).split()
        for estimate in shown:
            numbers = [f"{estimate['value']:.4f}", f"[{estimate['low']:.4f},", f"{estimate['high']:.4f}]"]
            assert not [one for one in numbers if one not in words and f"{one}," not in words]
        assert not [word for word in words if "…" in word and word != "…"]


def test_a_share_that_is_asked_twice_is_told_in_text_and_json_with_its_cost(probatum_here):
    done = probatum_here(*RUN, "--repeat-share", 0.05)
    for words in ("asked again: 3 of 60 samples (3 requests", "text the same: 1.0000 [", "noise floor: asking again",
                  "63 model calls (0 reused, 3 of them asked again)"):  # fmt: skip
        assert words in done.stdout
    found = answer(probatum_here(*RUN, "--repeat-share", 0.05, "--json"))
    assert found["tasks"][0]["noise_floor"]["samples"] == 3
    assert found["cost"]["model_calls"] == 0
    refused = probatum_here(*RUN, "--repeat-share", 1.5)
    assert refused.returncode == 1
    assert "repeat_share 1.5 cannot be used: give a number from 0 to 1" in refused.stderr
