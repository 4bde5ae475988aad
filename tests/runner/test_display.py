"""A run in a notebook."""

from __future__ import annotations

from dataclasses import asdict, replace
from html.parser import HTMLParser

import pytest

import probatum as pb
from probatum.core.records import Estimate, Identity
from probatum.store import open_store
from tests.runner.stored import stored_run

HOSTILE = "<script>alert('x')</script>\"&\u202e\x1b[31m"


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag, _attributes) -> None:
        self.tags.add(tag)

    def handle_data(self, data) -> None:
        self.text += data


@pytest.fixture
def run(tmp_path):
    estimate = Estimate(
        name=HOSTILE, value=0.5, low=0.1, high=0.9, level=0.95, method=HOSTILE, n=4, bounds=(0.25, 0.75),
        warnings=(HOSTILE,),
    )  # fmt: skip
    undefined = Estimate(
        name="none", value=None, low=None, high=None, level=0.95, method="none", n=0, warnings=("why",)
    )
    with open_store(f"sqlite:///{tmp_path / 's.db'}") as store:
        found = stored_run(store, "m", {HOSTILE: {"x": 1.0}}, model=Identity(provider="p", name=HOSTILE))
        summary = {"estimates": [asdict(estimate), asdict(undefined)], "statuses": {HOSTILE: 3}}
        task = replace(found.record.tasks[0], summary=summary)
        yield pb.EvaluatedRun(replace(found.record, tasks=(task,)), store)


def test_hostile_texts_are_shown_and_none_becomes_markup(run):
    page = run._repr_html_()
    found = Tags()
    found.feed(page)
    assert found.tags == {"p", "code", "strong", "table", "thead", "tbody", "tr", "th", "td", "ul", "li"}
    assert (
        found.text.partition("task")[2].count("<script>alert('x')</script>") >= 6
    )  # task twice, name, method, task and status; and in the faults that stand above
    assert "\u202e" not in page
    assert "\x1b" not in page


def test_every_number_stands_with_what_defends_it(run):
    found = Tags()
    found.feed(run._repr_html_())
    for words in ("0.5000", "[0.1000, 0.9000] 95%", "0.2500 … 0.7500", "cannot tell", "[end_to_end]", run.id):
        assert words in found.text
