from __future__ import annotations

import time

import pytest

from probatum.cli.progress import shown_progress
from probatum.core.status import Status
from tests.fakes import threads

PATIENCE = 60.0


@pytest.fixture
def terminal(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "COLUMNS": "200"}.items():
        monkeypatch.setenv(name, value)


def shown_until(capfd, words: list[str]) -> str:
    """What stands on stderr once all `words` do."""
    text, until = "", time.monotonic() + PATIENCE
    while not all(word in text for word in words):
        assert time.monotonic() < until, text
        time.sleep(0.05)
        written = capfd.readouterr()
        assert written.out == ""
        text += written.err
    return text


@pytest.mark.usefixtures("terminal")
def test_progress_shows_counts_and_statuses_on_stderr_and_ends(capfd):
    before = threads()
    with shown_progress(enabled=True) as progress:
        progress.begin("sums", 40)
        progress.done, progress.asked, progress.reused = 10, 7, 3
        progress.statuses.update({Status.SCORED: 9, Status.REFUSED: 1})
        shown_until(capfd, ["sums", "10/40", "scored 9", "refused 1", "asked 7", "reused 3"])
        progress.stopping = True
        shown_until(capfd, ["finishing what is in flight"])
    assert threads() == before


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("name", ["[bold]x[/nosuch]", "[/]", "{task.fields[nosuch]}", "%s %d"])
def test_a_name_that_looks_like_markup_is_a_name(capfd, name):
    with shown_progress(enabled=True) as progress:
        progress.begin(name, 3)
        shown_until(capfd, [name])


def test_progress_that_is_not_wanted_writes_nothing(capfd):
    with shown_progress(enabled=False) as progress:
        progress.begin("sums", 3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.usefixtures("terminal")
def test_an_error_of_the_run_comes_through(capfd):
    before = threads()
    with pytest.raises(KeyError), shown_progress(enabled=True):
        raise KeyError
    assert threads() == before
    assert capfd.readouterr().out == ""
