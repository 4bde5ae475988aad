"""compare and gate through the real command."""

from __future__ import annotations

import json
import sqlite3
import xml.etree.ElementTree as ET
from contextlib import closing

import pytest

from probatum.cli.gate import junit
from probatum.core.status import Status
from probatum.runner.comparing import gate
from probatum.store import open_store
from tests.runner.stored import stored_run

MODELS = ("constant/A", "constant/B")


@pytest.fixture
def two(probatum_here):
    """Ids of two runs of `mini` in the default store."""
    return [
        json.loads(probatum_here("run", "mini", "--model", model, "--json").stdout)["run"] for model in MODELS
    ]


def test_two_runs_are_compared_with_all_that_defends_the_verdict(probatum_here, two):
    done = probatum_here("compare", *two)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("A  ", "constant/A", "same protocol; 60 items paired", "B - A: ", "McNemar exact",
                  "with a power of 80%", "stratum", "p (Holm)"):  # fmt: skip
        assert words in done.stdout


def test_json_has_the_contract_and_nothing_else_is_on_stdout(probatum_here, two):
    done = probatum_here("compare", *MODELS, "--json")
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert {"verdict", "difference", "p_value", "method", "wins", "losses", "ties", "comparability"} <= set(
        found
    )
    assert [run["run"] for run in found["runs"]] == two
    assert found["difference"]["n"] == found["wins"] + found["losses"] + found["ties"] == 60


def test_slices_are_printed_with_their_correction_and_those_too_small_by_name(probatum_here, two):
    done = probatum_here("compare", *two, "--by", "language", "--by", "prompt_length")
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("by language (", "by prompt_length (length of the prompt that A was asked, in characters):",
                  "p (Holm)", " … ", "(permutation)"):  # fmt: skip
        assert words in done.stdout
    refused = probatum_here("compare", *two, "--by", "colour")
    assert refused.returncode == 1
    assert "no item of 'mini' has 'colour' to be sliced by" in refused.stderr


def test_a_bridge_joins_two_protocols_and_is_marked(probatum_here, two):
    def run(model):
        done = probatum_here("run", "mini", "--model", model, "--shots", 2, "--json")
        return json.loads(done.stdout)["run"]

    a, b, d = two[0], run("constant/C"), run("constant/B")
    done = probatum_here("compare", a, b, "--bridge", two[1], d)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("not comparable, and joined by a bridge run: ", "as the scores are: ", "D - C, what the protocols",
                  "less that: ", "it supposes that the protocols differ for these models by as much"):  # fmt: skip
        assert words in done.stdout
    plain = json.loads(probatum_here("compare", a, b, "--bridge", two[1], d, "--json").stdout)
    assert plain["bridged"] is True
    refused = probatum_here("compare", a, b, "--bridge", two[1], b)
    assert refused.returncode == 1
    assert "a bridge is one model, run under both protocols" in refused.stderr


def test_what_is_not_comparable_ends_with_3_and_anyway_marks_every_line(probatum_here, two):
    other = json.loads(probatum_here("run", "mini", "--model", "constant/C", "--shots", 2, "--json").stdout)[
        "run"
    ]
    refused = probatum_here("compare", two[0], other)
    assert refused.returncode == 3
    assert "cannot be compared: prompts differ (shots)" in refused.stdout
    assert "McNemar" not in refused.stdout
    marked = probatum_here("compare", two[0], other, "--anyway")
    assert marked.returncode == 0
    lines = [line for line in marked.stdout.splitlines() if line]
    assert "McNemar" in marked.stdout
    assert all(line.startswith("[NOT COMPARABLE] ") for line in lines)
    plain = json.loads(probatum_here("compare", two[0], other, "--anyway", "--json").stdout)
    assert plain["anyway"] is True
    assert plain["verdict"].startswith("not comparable, and compared anyway: ")


def test_three_runs_are_ranked(probatum_here, two):
    probatum_here("run", "mini", "--model", "constant/D")
    done = probatum_here("compare", *two, "constant/D")
    assert "mini: ranks on the 60 items that all have" in done.stdout
    assert "not told apart: " in done.stdout
    assert "corrected for 2 comparisons (Holm)" in done.stdout


@pytest.fixture
def gated(work):
    """A store with a baseline, a run that is the same, one that is worse, and one of few items."""
    right = {f"i{n}": 1.0 for n in range(400)}
    with open_store(f"sqlite:///{work / 'probatum.db'}") as store:
        stored_run(store, "base", right)
        stored_run(store, "same", right)
        stored_run(store, "slip", {**right, "i0": 0.0})
        stored_run(store, "worse", {**right, **{f"i{n}": 0.0 for n in range(40)}})
        stored_run(store, "lost", {**right, **{f"i{n}": Status.INFRA_ERROR for n in range(40)}})
        stored_run(store, "few", {f"i{n}": 1.0 for n in range(20)})


@pytest.mark.parametrize(
    ("run", "drop", "status", "words"),
    [
        ("same", 0.01, 0, "pass, a drop of 0.01 or more is ruled out"),
        ("same", 0.005, 3, "cannot tell"),
        ("slip", 0.02, 0, "pass"),
        ("worse", 0.02, 1, "fail, the drop is more than 0.02"),
        ("worse", 0.11, 3, "items of this kind would do"),
        ("lost", 0.02, 3, "cannot tell"),
        ("few", 0.01, 3, "20 items cannot tell a drop of 0.01 from none"),
    ],
)
def test_the_gate_passes_and_fails_what_is_shown_alone(probatum_here, gated, run, drop, status, words):
    done = probatum_here("gate", run, "--baseline", "base", "--max-drop", drop)
    assert (done.returncode, done.stderr) == (status, "")
    assert words in done.stdout
    found = json.loads(probatum_here("gate", run, "--baseline", "base", "--max-drop", drop, "--json").stdout)
    assert found["verdict"] == {0: "pass", 1: "fail", 3: "cannot tell"}[status]


def test_why_a_broken_run_scores_otherwise_is_no_question(probatum_here, gated, work):
    sound = probatum_here("diff", "base", "few")
    assert (sound.returncode, "INVALID" in sound.stdout) == (0, False)
    with closing(sqlite3.connect(work / "probatum.db")) as connection, connection:
        few = probatum_here("results", "few", "--json")
        task = connection.execute("select id from tasks where run = ?", [json.loads(few.stdout)["run"]])
        connection.execute("delete from outcomes where task = ? and item_id = 'i3'", task.fetchone())
    broken = probatum_here("diff", "base", "few")
    assert (broken.returncode, broken.stderr) == (3, "")
    assert "  ! B is INVALID: 20 samples were planned, and 19 are kept" in broken.stdout
    assert json.loads(probatum_here("diff", "base", "few", "--json").stdout)["tasks"][0]["valid"] is False


@pytest.mark.parametrize(
    "arguments",
    [
        ("same", "--baseline", "base"),
        ("same", "--baseline", "nobody", "--max-drop", 0.1),
        ("same", "--baseline", "base", "--max-drop", 0),
        ("same", "--baseline", "base", "--max-drop", "much"),
        ("same", "--baseline", "base", "--max-drop", 0.1, "--level", 0.4),
        ("same", "--baseline", "base", "--max-drop", 0.1, "--store", "elsewhere.db"),
    ],
)
def test_a_gate_that_is_not_asked_properly_ends_with_2(probatum_here, gated, arguments):
    done = probatum_here("gate", *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1


def test_junit_xml_has_a_case_a_task_and_survives_any_name(tmp_path, probatum_here, gated, work):
    done = probatum_here("gate", "worse", "--baseline", "base", "--max-drop", 0.02, "--junit", "gate.xml")
    assert done.returncode == 1
    suite = ET.parse(work / "gate.xml").getroot().find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert suite.find("testcase/failure").get("type") == "fail"
    with open_store(f"sqlite:///{tmp_path / 's.db'}") as store:
        name = "t\x00<&\x1b"
        runs = [stored_run(store, model, {name: {"i": 1.0, "j": 0.0}}) for model in "ab"]
        written = ET.fromstring(junit(gate(*runs, 0.1)))
    assert written.find("testsuite/testcase").get("name") == "t\\u0000<&\\u001b"
    assert written.find("testsuite/testcase/error").get("type") == "cannot tell"


def test_diff_says_what_differs_first_and_what_it_explains(probatum_here, two):
    done = probatum_here("diff", *two)
    assert (done.returncode, done.stderr) == (0, "")
    for words in ("B - A ", "differs first in: model", "prompts: the same", "! answers: ", "parts of B - A"):
        assert words in done.stdout
    found = json.loads(probatum_here("diff", *two, "--json").stdout)
    assert (found["a"], found["b"]) == tuple(two)
    (task,) = found["tasks"]
    assert task["first"] == "model"
    assert sum(share["value"] for share in task["shares"]) == pytest.approx(task["difference"])


def test_results_rank_the_models_of_a_store(probatum_here, two):
    done = probatum_here("results", "--ranked", "--task", "mini")
    assert (done.returncode, done.stderr) == (0, "")
    assert "60 items that all have" in done.stdout
    assert "not told apart: constant/A, constant/B" in done.stdout
    (board,) = json.loads(probatum_here("results", "--ranked", "--json").stdout)["leaderboards"]
    assert {model["run"] for model in board["models"]} == set(two)
    assert [row["low"] for row in board["ranking"]["rows"]] == [1, 1]


@pytest.mark.parametrize("arguments", [("latest", "--ranked"), ("--task", "mini")])
def test_options_of_results_that_do_not_go_together_are_refused(probatum_here, two, arguments):
    done = probatum_here("results", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)


def test_names_of_models_cannot_steer_the_terminal(probatum_here, work):
    with open_store(f"sqlite:///{work / 'probatum.db'}") as store:
        runs = [
            stored_run(store, f"{name}\x1b[2J\u202e", {"x\x1b": float(name == "a"), "y": 1.0})
            for name in "ab"
        ]
    ids = [run.id for run in runs]
    for arguments in (
        ("compare", *ids),
        ("diff", *ids),
        ("gate", ids[0], "--baseline", ids[1], "--max-drop", 0.1),
        ("export", ids[0], "-o", "r.zip"),
        ("verify", "r.zip"),
    ):
        done = probatum_here(*arguments)
        assert done.returncode in (0, 1, 3)
        assert not {"\x1b", "\u202e"} & set(done.stdout + done.stderr)
