from __future__ import annotations

import html
import json
import re
from dataclasses import asdict, replace
from html.parser import HTMLParser

import hypothesis.strategies as st
import pytest
from hypothesis import given

from probatum.core.canonical import canonical
from probatum.core.protocol import Policy, Protocol
from probatum.core.records import Identity, Mark, Sampling
from probatum.core.run import Run, RunState, TaskRun
from probatum.core.status import END_TO_END, Status
from probatum.report import make_card
from probatum.scoring import Rate
from tests.fakes import sums_task

MARKS = [
    ("item-0", "scored", 1.0),
    ("item-1", "scored", 0.0),
    ("item-2", "refused", None),
    ("item-3", "infra_error", None),
]


def summary(task) -> dict:
    marks = [
        Mark(item, 0, Status(status), {} if score is None else {"correct": score})
        for item, status, score in MARKS
    ]
    return {
        "estimates": [asdict(one) for metric in task.metrics for one in metric.estimate(marks, task, 0.95)],
        "statuses": {"scored": 2, "refused": 1, "infra_error": 1},
        "units": 4,
        "clusters": 4,
        "shots": [],
        "notes": ["a note"],
    }


def run_of(task=None, *, summarised: bool = True, **changes) -> Run:
    """A run of one task as the store gives it back: plain JSON data where it holds any."""
    task = task or sums_task(metrics=(Rate(),), chance=0.25)
    protocol = Protocol(
        task=task, form="chat", shots=0, samples=1, sampling=Sampling(max_tokens=9), system=None
    )
    record = TaskRun(
        task=task.name,
        protocol=protocol.digest,
        recipe=json.loads(json.dumps({"protocol": canonical(protocol)})),
        items="1" * 64,
        requests="2" * 64 if summarised else None,
        planned=4,
        origin={
            "kind": "local",
            "location": "/data",
            "revision": None,
            "files": [{"path": "sums.jsonl", "sha256": "3" * 64, "bytes": 10}],
        },
        summary=json.loads(json.dumps(summary(task))) if summarised else {},
    )
    whole = {
        "id": "0123456789abcdef",
        "model": Identity(provider="fake", name="sums"),
        "tasks": (record,),
        "state": RunState.COMPLETE,
        "created": "2026-11-30T10:00:00+00:00",
        "updated": "2026-11-30T11:00:00+00:00",
        "options": {"allow_code_execution": False},
        "environment": {},
    }
    return Run(**{**whole, **changes})


FIELDS = {  # the list at the end of the issue "Foundation" → section and field of the card
    "decision": ("Decision", "decision"),
    "target population": ("Decision", "target population"),
    "model": ("Model", "model"),
    "checkpoint": ("Model", "checkpoint"),
    "weights digest": ("Model", "weights digest"),
    "tokenizer": ("Model", "tokenizer digest"),
    "template": ("Model", "template digest"),
    "system prompt": ("Model", "system prompt"),
    "adapters": ("Model", "adapters"),
    "dataset": ("sums: data", "dataset"),
    "revision": ("sums: data", "revision"),
    "split": ("sums: data", "split"),
    "time window": ("sums: data", "time window"),
    "digests of the items": ("sums: data", "items digest"),
    "digests of the requests": ("sums: data", "requests digest"),
    "digests of the files": ("sums: data", "files"),
    "harness version": ("Harness", "harness version"),
    "commit": ("Harness", "commit"),
    "task digest": ("sums: recipe", "task digest"),
    "dependencies": ("Harness", "dependencies"),
    "few-shot ids and order": ("sums: recipe", "few-shot ids and order"),
    "scoring": ("sums: recipe", "scoring"),
    "decoding": ("sums: recipe", "decoding"),
    "parser": ("sums: recipe", "parser"),
    "tools": ("Tools and permissions", "tools"),
    "retrieval": ("Tools and permissions", "retrieval"),
    "network": ("Tools and permissions", "network"),
    "permissions": ("Tools and permissions", "code execution"),
    "budgets": ("sums: recipe", "budgets"),
    "judge": ("Judges", "judge"),
    "verifier": ("Judges", "verifier"),
    "guard": ("Judges", "guard"),
    "thresholds": ("Judges", "thresholds"),
    "statistical unit": ("sums: design", "statistical unit"),
    "denominator": ("sums: design", "denominators"),
    "missing-value policy": ("sums: design", "missing-value policy"),
    "counts of samples": ("sums: design", "samples"),
    "counts of clusters": ("sums: design", "clusters"),
    "counts of trials": ("sums: design", "trials an item"),
    "slice weights": ("sums: design", "slice weights"),
    "effect and interval": ("sums: results", "correct [end_to_end]"),
    "multiple comparisons": ("sums: results", "multiple comparisons"),
    "contamination audit": ("Validity", "contamination audit"),
    "execution date": ("Validity", "execution date"),
    "known limits": ("Validity", "known limits"),
}


@pytest.mark.parametrize("wanted", FIELDS)
def test_every_field_of_the_list_is_there_and_never_empty(wanted):
    section, field = FIELDS[wanted]
    value = make_card(run_of()).plain()["sections"][section][field]
    assert value not in (None, "", [], {}, ())


def empty_run() -> Run:
    """A run of which nothing is known but its id."""
    bare = TaskRun(task="sums", protocol="1" * 64, recipe={}, items="2" * 64)
    return run_of(tasks=(bare,), options={}, environment={}, state=RunState.RUNNING, created="", updated="")


@pytest.mark.parametrize(
    "run", [run_of(), run_of(summarised=False), empty_run()], ids=["whole", "unfinished", "empty"]
)
def test_what_is_not_known_says_unknown_and_never_nothing(run):
    card = make_card(run)
    for section in card.sections.values():
        assert [name for name, value in section.items() if value in (None, "", [], {}, ())] == []
    for line in card.markdown().splitlines():
        if line.startswith("- "):
            assert re.fullmatch(r"- \*\*.+\*\*: \S.*", line), line
            assert not re.search(r"\b(None|null|nan)\b", line), line


def test_a_run_that_did_not_end_claims_no_result_and_no_shots():
    sections = make_card(run_of(summarised=False, state=RunState.INTERRUPTED)).plain()["sections"]
    assert sections["sums: results"] == {"results": "unknown: the run is interrupted"}
    assert sections["sums: recipe"]["few-shot ids and order"] == "unknown"
    assert sections["sums: data"]["requests digest"] == "unknown"
    assert sections["Validity"]["state"] == "interrupted"


def test_a_number_stands_with_all_that_defends_it():
    results = make_card(run_of()).plain()["sections"]["sums: results"]
    line = results["correct [end_to_end]"]
    assert line.startswith("0.3333, 95% interval [0.0615, 0.7923] (wilson), n 3, coverage 0.7500")
    assert "bounds [0.2500, 0.5000]" in line
    assert "chance 0.2500" in line
    assert results["correct (answered) [capability]"].startswith("0.5000, ")
    assert results["notes"] == ["a note"]


def test_denominators_are_those_of_the_tasks_own_policy():
    design = make_card(run_of()).plain()["sections"]["sums: design"]
    assert design["denominators"].startswith("end_to_end: scored, and as wrong context_overflow, ")
    assert "infra_error" in design["missing-value policy"].partition(";")[0]
    lenient = Policy(name="lenient", counted=END_TO_END - {Status.REFUSED})
    design = make_card(run_of(sums_task(policy=lenient))).plain()["sections"]["sums: design"]
    assert design["denominators"].startswith("lenient: ")
    assert "refused" not in design["denominators"]
    assert "refused" in design["missing-value policy"]


def test_answers_made_elsewhere_say_so_and_claim_no_recipe():
    run = run_of()
    (task,) = run.tasks
    origin = {**task.origin, "answers": {"file": "a.jsonl", "sha256": "4" * 64, "kind": "text"}}
    graded = replace(
        run, tasks=(replace(task, origin=origin, summary={**task.summary, "shots": "unknown: x"}),)
    )
    sections = make_card(graded).plain()["sections"]
    assert sections["sums: data"]["answers"] == origin["answers"]
    for name in ("decoding", "seed", "form", "samples an item"):
        assert sections["sums: recipe"][name] == "unknown"
    assert sections["Model"]["system prompt"] == "unknown"


def test_the_plain_form_is_strict_json():
    plain = make_card(run_of()).plain()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain


# ── hostile text ────────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "line\n# heading\n- **n**: 1.0",
    "line\r\n\r\n---",
    "\u2028# heading\u2029\x85x\x0b\x0c",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "&lt;b&gt; &amp; &#60;",
    "![image](http://x) [link](javascript:x)",
    "`code` ``` ~~~ *bold* _it_ ~~gone~~ $x$ | a | b |",
    "\\*not bold\\*",
    "\x1b[31mred\x1b]0;title\x07",
    "\u202egnihtyna",
    "\ud800",
    "\x00",
    "- **correct**: 1.0000",
]


class Tags(HTMLParser):
    """Collects what would be a tag."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attrs):
        del attrs
        self.found.append(tag)

    def handle_comment(self, data):
        self.found.append(data)


def hostile_run(text: str) -> Run:
    run = run_of()
    (task,) = run.tasks
    recipe = json.loads(json.dumps(task.recipe))
    recipe["protocol"]["fields"]["system"] = text
    recipe["protocol"]["fields"]["task"]["fields"]["population"] = text
    summary_ = {**task.summary, "notes": [text], "shots": [text]}
    hostile = replace(task, task=text, recipe=recipe, summary=summary_, origin={"location": text, text: text})
    return replace(
        run,
        model=Identity(provider=text, name=text, revision=text, settings={text: text}),
        tasks=(hostile,),
        options={text: text},
        environment={"commit": text, "dependencies": {text: text}},
    )


def shape(text: str) -> list[str]:
    """The lines of a card without what stands in them."""
    return [re.sub(r"^(- \*\*|## |# )?.*", r"\1", line) for line in text.split("\n")]


def unescaped(line: str) -> str:
    """What a reader of the rendered Markdown sees."""
    return html.unescape(re.sub(r"\\([\\`*_\[\]|#~$])", r"\1", line))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_line(text):
    card = make_card(hostile_run(text), decision=text).markdown()
    plain = make_card(hostile_run("plain"), decision="plain").markdown()
    assert shape(card) == shape(plain)
    assert len(card.splitlines()) == len(plain.splitlines())
    parser = Tags()
    parser.feed(card)
    assert parser.found == []
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202e\ud800-\udfff]", card)
    assert not re.search(r"(?<!\\)[`\[\]|~$<]", card.replace("\\\\", ""))


@given(st.text(st.characters(exclude_categories=()), max_size=30))
def test_any_text_is_one_line_that_says_what_it_said(text):
    card = make_card(run_of(), decision=text).markdown()
    (line,) = [line for line in card.split("\n") if line.startswith("- **decision**: ")]
    assert len(card.splitlines()) == len(make_card(run_of(), decision="x").markdown().splitlines())
    shown = unescaped(line.removeprefix("- **decision**: "))
    if text.strip() and text.isprintable():
        assert shown == " ".join(text.split())
    card.encode("utf-8")
