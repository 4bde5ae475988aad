"""The report on paper: printed by the Chromium that is installed, or refused in a line."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from probatum.core.errors import UsageError
from probatum.report.page import make_report
from probatum.report.page.printing import BROWSER_VARIABLE, BROWSERS, find_browser, print_pdf
from tests.report.browser import found_browser
from tests.report.reported import EVERY_ENDING, made_run
from tests.report.test_report import HOSTILE


@pytest.fixture
def run(tmp_path):
    found = made_run(tmp_path, [*EVERY_ENDING, *HOSTILE])
    yield found
    found.store.close()


def test_the_pdf_is_tagged_titled_paged_and_runs_nothing(run, tmp_path):
    found_browser()
    print_pdf(make_report(run, examples=2).html(printed=True), tmp_path / "r.pdf")
    printed = (tmp_path / "r.pdf").read_bytes()
    assert printed.startswith(b"%PDF-")
    assert len(re.findall(rb"/Type /Page\b", printed)) > 5
    for part in (b"/StructTreeRoot", b"/Outlines", b"/Lang (en)", b"/Title (Evaluation report: fake/m)"):
        assert part in printed
    for part in (b"/JavaScript", b"/Launch", b"/OpenAction", b"/URI", b"/EmbeddedFile"):
        assert part not in printed
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".")] == []


def test_without_a_browser_one_line_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.delenv(BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError) as error:
        find_browser()
    assert "apt-get install chromium" in str(error.value)
    assert "\n" not in str(error.value)
    with pytest.raises(UsageError, match="apt-get install chromium"):
        print_pdf("<!DOCTYPE html>", tmp_path / "r.pdf")


@pytest.mark.parametrize("name", BROWSERS)
def test_any_of_the_known_names_is_found(monkeypatch, tmp_path, name):
    program(tmp_path / name, "exit 0")
    monkeypatch.delenv(BROWSER_VARIABLE, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser() == str(tmp_path / name)


def program(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("exit 0", r"printed nothing \(exit status 0\): 'it said nothing'"),
        ("echo 'No usable sandbox!' >&2; exit 1", r"printed nothing \(exit status 1\): 'No usable sandbox!'"),
        (
            'for one in "$@"; do case "$one" in --print-to-pdf=*) echo %PDF-1.4 > "${one#*=}";; esac; done',
            "printed nothing",
        ),
    ],
    ids=["nothing", "no sandbox", "half a file"],
)
def test_a_browser_that_fails_leaves_no_file_and_one_line(monkeypatch, tmp_path, script, said):
    monkeypatch.setenv(BROWSER_VARIABLE, str(program(tmp_path / "browser", script)))
    (tmp_path / "r.pdf").write_bytes(b"as it was")
    with pytest.raises(UsageError, match=said) as error:
        print_pdf("<!DOCTYPE html>", tmp_path / "r.pdf")
    assert "\n" not in str(error.value)
    assert (tmp_path / "r.pdf").read_bytes() == b"as it was"


def test_a_browser_that_is_no_program_is_named(monkeypatch):
    monkeypatch.setenv(BROWSER_VARIABLE, "/no/such/browser")
    with pytest.raises(UsageError, match="PROBATUM_BROWSER='/no/such/browser' is no program"):
        find_browser()


def test_the_sandbox_of_the_browser_is_given_up_by_root_alone(monkeypatch, tmp_path):
    asked = tmp_path / "asked"
    browser = program(tmp_path / "browser", f'printf "%s\\n" "$@" > {asked}')
    monkeypatch.setenv(BROWSER_VARIABLE, str(browser))
    for user in (0, 1000):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        with pytest.raises(UsageError):
            print_pdf("<!DOCTYPE html>", tmp_path / "r.pdf")
        assert ("--no-sandbox" in asked.read_text().split()) == (user == 0)
        assert "--host-resolver-rules=MAP * ~NOTFOUND" in asked.read_text().split("\n")


def test_a_file_that_cannot_be_written_is_told(run, tmp_path):
    found_browser()
    with pytest.raises(UsageError, match="cannot be written"):
        print_pdf("<!DOCTYPE html><html lang=en><title>x</title><p>x", tmp_path / "no" / "r.pdf")
