"""A file is a task wherever a command takes a task's name; what goes wrong is one line, and no default is silent."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_cli_refusals import refused
from tests.runner.test_task_files import SUMS, write_rows

TOML = """\
name = "capitals"
data = "capitals.csv"
prompt = "The capital of {{ country }}?"
answer = "capital"
scorer = "exact"
"""


@pytest.fixture
def own(work: Path) -> Path:
    """The working directory with a task in Python and one in TOML."""
    (work / "sums.py").write_text(SUMS, encoding="utf-8")
    write_rows(work)
    (work / "capitals.toml").write_text(TOML, encoding="utf-8")
    (work / "capitals.csv").write_text("country,capital\nFrance,Paris\nPeru,Lima\n", encoding="utf-8")
    return work


def test_every_command_that_takes_a_task_takes_a_file(probatum_here, own):
    done = probatum_here("run", "sums.py", "capitals.toml,mini", "-m", "constant/3", "--limit", "2", "--json")
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    assert [task["task"] for task in run["tasks"]] == ["own_sums", "capitals", "mini"]
    assert probatum_here("validate", "sums.py", "capitals.toml").stdout.count("sound.") == 2
    described = json.loads(probatum_here("tasks", "sums.py:TASK", "--json").stdout)
    assert described["file"]["path"] == str(own / "sums.py")
    assert "name" not in described["file"]
    assert "capitals" in probatum_here("tasks", "capitals.toml").stdout
    (own / "answers.jsonl").write_text('{"item_id": "s0", "response": "2"}\n', encoding="utf-8")
    assert "own_sums" in probatum_here("grade", "answers.jsonl", "--task", "sums.py").stdout
    (own / "corpus.txt").write_text("The capital of Peru?\n", encoding="utf-8")
    audited = probatum_here("audit", "corpus.txt", "-t", "capitals.toml", "--question", "country")
    assert audited.returncode == 0, audited.stderr
    assert "task file" in probatum_here("card", run["run"]).stdout
    assert probatum_here("rescore", run["run"]).returncode == 0
    assert probatum_here("audit-extraction", run["run"]).returncode == 0


def test_a_file_that_moved_is_named_again(probatum_here, own):
    run = json.loads(probatum_here("run", "sums.py", "-m", "constant/3", "--json").stdout)["run"]
    (own / "sums.py").rename(own / "totals.py")
    refused(probatum_here("rescore", run), "sums.py", "not there any more", "--task FILE")
    done = probatum_here("rescore", run, "--task", "totals.py", "--json")
    assert json.loads(done.stdout)["run"] == run
    assert probatum_here("audit-extraction", run, "--task", "totals.py").returncode == 0


def test_several_tasks_of_a_file_are_described_one_after_another(probatum_here, own):
    (own / "two.py").write_text(
        SUMS + "from dataclasses import replace\nSECOND = replace(TASK, name='second')\n", encoding="utf-8"
    )
    assert probatum_here("tasks", "two.py").stdout.count("summary: sums") == 2
    plain = json.loads(probatum_here("tasks", "two.py", "--json").stdout)
    assert [task["task"] for task in plain["tasks"]] == ["own_sums", "second"]


WRONG = {
    "a file that fails": (
        ["run", "broken.py", "-m", "constant/A"],
        ["broken.py", "line 2", "ZeroDivisionError"],
    ),
    "no file": (["validate", "none.py"], ["none.py", "No such file"]),
    "a file of a run as a task": (["run", "run.toml", "-m", "constant/A"], ["run.toml", "--config"]),
    "a task as a file of a run": (["run", "--config", "capitals.toml"], ["capitals.toml", "probatum run"]),
    "an unknown key": (["validate", "wrong.toml"], ["wrong.toml", "'promt'", "'prompt'"]),
    "no such task in it": (["tasks", "sums.py:NONE"], ["sums.py", "'NONE'", "TASK"]),
    "the task of another run": (["rescore", "latest", "--task", "mini"], ["'mini'", "none of run"]),
    "an empty store": (["results", "--store", ""], ["--store", "empty"]),
    "an empty data directory": (["validate", "mini", "--data-dir", ""], ["--data-dir", "empty"]),
    "a data directory that is not there, for a packaged set": (
        ["validate", "mini", "--data-dir", "nosuch"],
        ["'nosuch'", "--data-dir", "does not exist"],
    ),
    "a card of no known kind": (["card", "latest", "-o", "card.pdf"], ["'card.pdf'", ".md or .json"]),
    "an empty stop string": (["grade", "a.jsonl", "--task", "sums.py", "--stop", ""], ["--stop", "empty"]),
    "a system prompt in another encoding": (
        ["run", "mini", "-m", "constant/A", "--system", "\udcff"],
        ["system", "not UTF-8"],
    ),
    "an empty data directory for a run": (
        ["run", "mini", "-m", "constant/A", "--data-dir", " "],
        ["--data-dir", "empty"],
    ),
}


@pytest.mark.parametrize(("arguments", "words"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_one_line(probatum_here, own, arguments, words):
    (own / "broken.py").write_text("x = 0\nprint(1 / x)\n", encoding="utf-8")
    (own / "run.toml").write_text('tasks = ["mini"]\n', encoding="utf-8")
    (own / "wrong.toml").write_text(TOML.replace("prompt", "promt"), encoding="utf-8")
    probatum_here("run", "sums.py", "-m", "constant/3", "-q")
    refused(probatum_here(*arguments), *words)


# ── where output goes ───────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [["tasks"], ["tasks", "mini", "--json"], ["plan", "--items", "9"], ["--help"]]
)
def test_no_space_left_for_the_output_is_told(environment, work, arguments):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "probatum", *arguments],
            stdout=full, stderr=subprocess.PIPE, cwd=work, env=environment, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == (
        "probatum: the output cannot be written: No space left on device; make room, or write elsewhere\n"
    )


def test_samples_go_to_a_pipe_or_a_device_as_it_is(probatum_here, work):
    """A device must not be replaced by a file."""
    done = probatum_here(
        "run", "mini", "-m", "constant/A", "--limit", "2", "-q", "--samples-out", "/dev/null"
    )
    assert done.returncode == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    pipe = work / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        probatum_here("run", "mini", "-m", "constant/A", "--limit", "2", "-q", "--samples-out", "pipe")
        lines = os.read(reader, 1 << 20).splitlines()
    finally:
        os.close(reader)
    assert [json.loads(line)["sample"] for line in lines] == [0, 0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_samples_go_through_a_link_and_leave_it_a_link(probatum_here, work):
    (work / "real.jsonl").write_text("old\n", encoding="utf-8")
    (work / "link.jsonl").symlink_to("real.jsonl")
    probatum_here("run", "mini", "-m", "constant/A", "--limit", "2", "-q", "--samples-out", "link.jsonl")
    assert (work / "link.jsonl").is_symlink()
    assert len((work / "real.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_doctor_says_which_backend_lacks_its_packages(probatum_here, monkeypatch):
    from probatum.cli import doctor

    monkeypatch.setattr(doctor, "NEEDED", {"hf": ("nosuchpackage",)})
    found = json.loads(probatum_here("doctor", "--json").stdout)["backends"]
    assert found["hf"] == "not installed (nosuchpackage): pip install 'probatum[hf]'"
    assert found["constant"] == "ready"
