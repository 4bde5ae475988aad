from __future__ import annotations

import json
import sqlite3

import pytest

from tests.report.browser import found_browser


@pytest.fixture
def two_runs(probatum_here):
    for model in ("constant/A", "random/1"):
        assert probatum_here("run", "mini", "--model", model, "--limit", 8).returncode == 0
    return probatum_here


@pytest.mark.parametrize(
    ("arguments", "file", "begins"),
    [
        (("latest", "-o", "r.html"), "r.html", "<!DOCTYPE html>\n"),
        (("latest", "-o", "r.HTM"), "r.HTM", "<!DOCTYPE html>\n"),
        (("constant/A", "random/1", "-o", "r.md"), "r.md", "# Evaluation report: constant/A, random/1\n"),
        (("latest", "-o", "r.json"), "r.json", "{\n"),
        (("latest", "-o", "r.txt", "--format", "md", "--language", "zh"), "r.txt", "# 评测报告"),
    ],
)
def test_the_name_of_the_file_says_what_is_written(two_runs, work, arguments, file, begins):
    done = two_runs("report", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (work / file).read_text(encoding="utf-8").startswith(begins)


def test_a_pdf_is_printed_by_the_name_of_the_file(two_runs, work):
    found_browser()
    done = two_runs("report", "latest", "-o", "r.pdf", "--examples", "0", "--language", "zh")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (work / "r.pdf").read_bytes().startswith(b"%PDF-")


def test_without_a_file_the_report_is_all_that_stdout_has(two_runs):
    assert two_runs("report", "latest").stdout.startswith("<!DOCTYPE html>")
    plain = json.loads(two_runs("report", "random/1", "constant/A", "--format", "json").stdout)
    assert [run["model"] for run in plain["runs"]] == ["random/1", "constant/A"]
    assert plain["comparison"]["pairs"][0]["items"]["paired"] == 8


def test_the_extraction_audit_stands_in_the_card(two_runs):
    done = two_runs("report", "latest", "--format", "md", "--extraction-audit")
    assert "*mini: extraction*" in done.stdout


def test_an_audit_of_a_corpus_tells_the_scores_of_what_it_holds(two_runs, work):
    items = json.loads(two_runs("report", "latest", "--format", "json").stdout)["runs"][0]["tasks"][0][
        "examples"
    ]
    asked = next(turn[1] for turn in items[0]["prompt"] if turn[1])
    (work / "corpus.txt").write_text("".join(piece["text"] for piece in asked), encoding="utf-8")
    audit = two_runs("audit", "corpus.txt", "--task", "mini", "--json")
    (work / "audit.json").write_text(audit.stdout)
    done = two_runs("report", "latest", "--contamination", "audit.json", "--format", "json")
    (task,) = json.loads(done.stdout)["runs"][0]["tasks"]
    found = task["contamination"]
    assert found["documents"] == 1
    assert found["unknown"] == 0
    assert sum(row["items"] for row in found["rows"]) == 8
    page = two_runs("report", "latest", "--contamination", "audit.json").stdout
    assert "documents: 1" in page
    assert "Not checked" not in page
    card = json.loads(done.stdout)["runs"][0]["card"]["sections"]["Validity"]
    assert card["contamination audit"]["mini"].startswith("documents 1, ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("latest", "-o", "report"), "does not say what to write"),
        (("latest", "--format", "pdf"), "give -o report.pdf"),
        (("latest", "latest"), "is given twice"),
        (("nothing",), "nothing"),
        (("latest", "-o", "no/such/folder.html"), "cannot be written"),
        (("latest", "--language", "xx"), "'xx'"),
        ((), "RUNS"),
        (("latest", "--contamination", "none.json"), "none.json"),
        (("latest", "--contamination", "probatum.db"), "is no audit of a corpus"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(two_runs, arguments, said):
    done = two_runs("report", *arguments)
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_invalid_run_is_written_and_the_exit_status_says_so(two_runs, work):
    store = sqlite3.connect(work / "probatum.db")
    with store:
        changed = store.execute("delete from outcomes where rowid in (select min(rowid) from outcomes)")
        assert changed.rowcount == 1
    store.close()
    done = two_runs("report", "constant/A", "random/1", "-o", "r.html")
    assert done.returncode == 3
    assert "INVALID" in done.stderr
    assert "INVALID" in (work / "r.html").read_text()


def test_no_command_shows_a_broken_run_as_sound(two_runs, work):
    store = sqlite3.connect(work / "probatum.db")
    with store:
        store.execute(
            "update outcomes set status = 'timeout' where rowid in (select max(rowid) from outcomes)"
        )
    store.close()
    shown = {
        ("results", "random/1"): 3,
        ("results",): 3,
        ("results", "--json"): 3,
        ("results", "--ranked"): 3,
        ("card", "random/1"): 3,
        ("export", "random/1", "-o", "run.zip"): 3,
        ("compare", "constant/A", "random/1"): 3,
        ("gate", "random/1", "--baseline", "constant/A", "--max-drop", "0.5"): 3,
        ("report", "random/1", "--format", "md"): 3,
        ("results", "constant/A"): 0,
        ("card", "constant/A"): 0,
    }
    named = {run["model"]: run["run"] for run in json.loads(two_runs("results", "--json").stdout)["runs"]}
    for arguments, status in shown.items():
        plain = arguments[0] in ("results", "card")
        done = two_runs(*(named.get(each, each) if plain else each for each in arguments))
        assert done.returncode == status, arguments
        told = "INVALID" in done.stdout + done.stderr or '"valid":false' in done.stdout.replace(" ", "")
        assert told == (status == 3), (arguments, done.stdout)
