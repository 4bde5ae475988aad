from __future__ import annotations

import base64
import hashlib
import html
import itertools
import json
import re
import string
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from probatum.core.errors import UsageError
from probatum.core.protocol import Policy
from probatum.core.records import Response
from probatum.core.status import Status
from probatum.report.escaping import visible
from probatum.report.page import make_report
from probatum.report.page.examples import MOST, Chooser, clip
from probatum.report.page.figures import COLOURS, DARK
from probatum.report.page.messages import MESSAGES, STATUSES
from probatum.report.page.writing import script
from probatum.runner import EvaluatedRun, evaluate
from probatum.runner.comparing import compare
from probatum.runner.invariants import run_faults
from probatum.scoring import PassAtK
from tests.report.reported import EVERY_ENDING, Sure, item_with_stratum, made_run, right, sure_gold
from tests.runner.test_likelihood_runs import choice_task, model, write

SOURCE = Path(__file__).parents[2] / "src" / "probatum" / "report" / "page"
VOID = {"meta", "link"}
TAGS = {
    *("html", "head", "meta", "link", "title", "style", "body", "a", "header", "main", "section", "nav"),
    *(
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "p",
        "ul",
        "li",
        "details",
        "summary",
        "pre",
        "mark",
        "span",
        "bdi",
    ),
    *(
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "div",
        "figure",
        "figcaption",
        "dl",
        "dt",
        "dd",
    ),
    *("svg", "desc", "line", "rect", "circle", "polyline", "text", "script"),
}
ATTRIBUTES = {
    *("lang", "charset", "http-equiv", "content", "name", "rel", "href", "class", "id", "aria-label"),
    *("aria-labelledby", "role", "tabindex", "dir", "scope", "open"),
    *("viewbox", "width", "height", "font-size", "font-family", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy"),
    *(f"data-{name}" for name in ("find", "kind", "all", "back", "next", "open", "close", "shown", "tools")),
    *("r", "fill", "stroke", "stroke-width", "stroke-dasharray", "points", "text-anchor"),
}


class Page(HTMLParser):
    """A page as a reader of it sees it; a tag that is not closed in its turn is an error."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.comments: list[str] = []
        self.headings: list[str] = []
        """In order."""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.texts.setdefault(tag, []).append("")
        if re.fullmatch("h[1-6]", tag):
            self.headings.append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        for tag in dict.fromkeys(self.open):
            self.texts[tag][-1] += data
        if any(re.fullmatch("h[1-6]", tag) for tag in self.open):
            self.headings[-1] += data

    def handle_comment(self, data):
        self.comments.append(data)

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def check(page: Page) -> None:
    """What holds of every report."""
    assert {tag for tag, _ in page.tags} <= TAGS
    assert {name for _, attributes in page.tags for name in attributes} <= ATTRIBUTES
    assert page.comments == []
    assert page.texts["script"] == [script()]  # our own, and nothing filled into it
    ids = [each["id"] for _, each in page.tags if "id" in each]
    assert len(ids) == len(set(ids))
    for attributes in page.of("a"):
        assert attributes["href"].startswith("#")
        assert attributes["href"][1:] in ids
    assert [each["href"] for each in page.of("link")] == ["data:,"]
    for _, each in page.tags:
        assert each.get("aria-labelledby", ids[0]) in ids
    assert page.of("html")[0]["lang"]
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(below <= above + 1 for above, below in itertools.pairwise(levels))
    assert len(page.of("table")) == len(page.of("caption"))
    assert all(each.get("scope") in ("col", "row") for each in page.of("th"))
    assert all(each["role"] == "img" and each["aria-label"] for each in page.of("svg"))
    assert all(text.strip() for text in page.texts.get("summary", []))
    for text in page.texts.get("caption", []):
        assert text.strip()


@pytest.fixture
def whole(tmp_path):
    run = made_run(tmp_path, EVERY_ENDING, strata=["a", "b", "a"] * 3)
    yield run
    run.store.close()


# ── what it says ────────────────────────────────────────────────────────────────────────────────────


def test_the_page_is_whole_and_accessible(whole):
    for language in ("en", "zh"):
        check(Page(make_report(whole, language=language).html()))


def test_numbers_are_those_of_the_run(whole):
    plain = make_report(whole).plain()
    (task,) = plain["runs"][0]["tasks"]
    told = {each["name"]: (each["value"], each["low"], each["high"], each["n"]) for each in task["estimates"]}
    told |= {each["name"]: (each["value"], each["low"], each["high"], each["n"]) for each in task["slices"]}
    assert told == {each.name: (each.value, each.low, each.high, each.n) for each in whole.estimates}
    assert {each["name"] for each in task["slices"]} == {"correct/a", "correct/b"}
    assert (
        sum(task["statuses"].values()) == task["planned"] == sum(task["groups"].values()) == len(EVERY_ENDING)
    )
    page = make_report(whole).html()
    for each in whole.estimates:
        assert f"{each.value:.4f}" in page
        assert f"[{each.low:.4f}, {each.high:.4f}]" in page


def test_the_chance_line_stands_where_a_chance_is_known_and_not_in_the_slices(whole):
    text = make_report(whole).html()
    results, slices = text.index('id="run-A-task-0-results"'), text.index('id="run-A-task-0-slices"')
    end = text.index("</section>", slices)
    assert "chance 0.2500" in text[results:slices]
    assert "chance 0.2500" not in text[slices:end]


def test_every_ending_has_its_examples_and_its_reason(whole):
    text = make_report(whole).html()
    for status in (
        "no_answer",
        "refused",
        "filtered",
        "context_overflow",
        "timeout",
        "model_error",
        "infra_error",
    ):
        assert f"<h5>{status}: 1 of 1</h5>" in text
        assert STATUSES[Status(status)][0] in html.unescape(text)
    assert "<h5>Scored, right: 1 of 1</h5>" in text
    assert "<h5>Scored, wrong: 1 of 1</h5>" in text
    assert "infra_error: the line is down" in text
    assert "Not checked" in text


def test_what_was_read_is_marked_in_the_raw_output(tmp_path):
    run = evaluate("mini", model="constant/A", store=f"sqlite:///{tmp_path}/s.db")
    page = Page(make_report(run, examples=3).html())
    answers = {sample.outcome.answer for sample in run.each_sample() if sample.outcome.span is not None}
    assert page.texts["mark"]
    assert set(page.texts["mark"]) <= answers
    run.store.close()


def test_confidence_is_shown_as_the_statistics_have_it(tmp_path):
    replies = [
        f"{sure} {right(number) if number % 3 else 'no'}" for number, sure in enumerate((95, 55, 75, 99) * 5)
    ]
    run = made_run(tmp_path, replies, scorer=Sure(), gold=sure_gold)
    report = make_report(run)
    (task,) = report.plain()["runs"][0]["tasks"]
    assert task["reliability"]["n"] == 20
    assert task["risk_coverage"]["points"][-1]["coverage"] == 1
    wrong = 1 - task["estimates"][0]["value"]
    assert task["risk_coverage"]["points"][-1]["risk"] == pytest.approx(wrong)
    text = report.html()
    assert "Reliability diagram" in text
    assert "Risk and coverage" in text
    check(Page(text))
    run.store.close()


def test_options_that_were_scored_are_shown_with_their_likelihoods(tmp_path):
    run = evaluate(
        choice_task(), model=model(), store=f"sqlite:///{tmp_path}/s.db", data_directory=write(tmp_path)
    )
    report = make_report(run)
    (task,) = report.plain()["runs"][0]["tasks"]
    shown = {
        each["item_id"]: [option["log_likelihood"] for option in each["options"]] for each in task["examples"]
    }
    assert shown == {"1": [-1, -2], "2": [-1, -2, -1], "3": [-1, -2]}
    assert task["positions"]
    text = report.html()
    assert "<h5>Scored, partly right: 1 of 1</h5>" in text
    assert "Places of the options" in text
    assert "Reliability diagram" in text
    check(Page(text))
    run.store.close()


def test_pass_at_k_is_a_curve_of_the_runs_own_estimates(tmp_path):
    run = made_run(
        tmp_path,
        [right(0), "no", right(2)],
        metrics=(PassAtK(score="correct", ks=(1, 2, 4)),),
        samples=4,
        temperature=0.7,
    )
    text = make_report(run).html()
    assert 'aria-label="pass@k"' in text
    for each in run.estimates:
        assert f"{each.value:.4f}" in text
    run.store.close()


@pytest.mark.parametrize(("counted", "unit"), [(True, "tokens"), (False, "characters")])
def test_score_against_length_counts_every_answer_once(tmp_path, counted, unit):
    replies = [
        Response(request="", text="x" * (n % 7 + 1), completion_tokens=n % 7 + 1 if counted else None)
        for n in range(30)
    ]
    run = made_run(tmp_path, replies)
    (task,) = make_report(run).plain()["runs"][0]["tasks"]
    bins = task["lengths"]["bins"]
    assert task["lengths"]["unit"] == unit
    assert sum(each["samples"] for each in bins) == 30
    assert all(each["low"] <= each["mean_length"] <= each["high"] for each in bins)
    assert all(one["high"] < other["low"] for one, other in itertools.pairwise(bins))
    run.store.close()


def test_two_runs_are_compared_as_compare_does(tmp_path):
    one = made_run(tmp_path, [right(number) for number in range(20)], "one")
    other = made_run(tmp_path, [right(number) if number % 2 else "no" for number in range(20)], "other")
    report = make_report(one, other)
    found = compare(one, other)
    (pair,) = report.plain()["comparison"]["pairs"]
    assert pair["verdict"] == found.verdict
    assert pair["difference"]["value"] == found.pairs[0].contrast.estimate.value
    text = report.html()
    assert html.escape(found.verdict) in text
    assert f"{found.pairs[0].contrast.estimate.value:+.4f}" in text
    check(Page(text))
    one.store.close()
    other.store.close()


def test_three_runs_are_ranked(tmp_path):
    runs = [
        made_run(tmp_path, [right(n) if n % (place + 1) == 0 else "no" for n in range(12)], f"m{place}")
        for place in range(3)
    ]
    text = make_report(*runs).html()
    assert "Ranks not ruled out" in text
    check(Page(text))
    for run in runs:
        run.store.close()


# ── prompts ─────────────────────────────────────────────────────────────────────────────────────────


def variants(directory, tables, **changes):
    """Runs of one model on the same sums, each with a system prompt of its own; 1 is right."""
    return [
        made_run(
            directory,
            [right(number) if one else "0" for number, one in enumerate(table)],
            system=f"Way {place}",
            **changes,
        )
        for place, table in enumerate(tables)
    ]


def test_runs_that_differ_in_the_prompt_alone_show_how_the_score_hangs_on_it(tmp_path):
    tables = [[1, 1, 1, 1, 0, 0, 1, 1], [1, 0, 0, 1, 0, 0, 0, 0], [1, 0, 1, 1, 0, 1, 0, 0]]
    runs = variants(tmp_path, tables)
    report = make_report(*runs)
    (found,) = report.sensitivity
    assert [each.letter for each in found.variants] == ["A", "B", "C"]
    assert [each.differs for each in found.variants] == [(), ("system",), ("system",)]
    assert [each.estimate.value for each in found.variants] == [6 / 8, 2 / 8, 4 / 8]
    assert (found.items, found.spread, found.changed) == (8, 0.5, 5)
    for each, run in zip(found.variants, runs, strict=True):
        told = run.estimates[0]
        assert (each.estimate.low, each.estimate.high) == (told.low, told.high)  # one interval of one number
    from statsmodels.stats.contingency_tables import cochrans_q

    array = np.array(tables).T
    assert found.p_value == pytest.approx(cochrans_q(array).pvalue)
    rest = array - array.mean(axis=1, keepdims=True) - array.mean(axis=0) + array.mean()
    expected = 8 * array.mean(axis=0).var(ddof=1) - (rest**2).sum() / (7 * 2)
    assert found.deviation == pytest.approx((max(expected, 0) / 8) ** 0.5)
    text = report.html()
    assert "Prompt sensitivity" in text
    check(Page(text))
    check(Page(make_report(*runs, language="zh").html()))
    assert report.plain()["prompt_sensitivity"][0]["spread"] == 0.5
    for run in runs:
        run.store.close()


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "another"},
        {"samples": 2, "temperature": 0.7},
        {"policy": Policy(name="scored", counted=frozenset({Status.SCORED}))},
    ],
    ids=["another model", "another budget", "another denominator"],
)
def test_runs_that_differ_in_anything_else_are_no_variants_of_a_prompt(tmp_path, changes):
    (first,) = variants(tmp_path, [[1, 0, 1]])
    replies = [right(0), "0", "0"]
    other = made_run(tmp_path, replies, **{"system": "Way 1", "model": "m", **changes})
    assert make_report(first, other).sensitivity == ()
    first.store.close()
    other.store.close()


def clustered(row):
    return replace(item_with_stratum(row), cluster=str(row.a // 2), stratum=None)


def test_prompts_of_items_in_clusters_are_tested_over_the_clusters(tmp_path):
    runs = variants(tmp_path, [[1, 1, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0]], to_item=clustered)
    (found,) = make_report(*runs).sensitivity
    assert "sign-flip" in found.method
    assert {each.estimate.clusters for each in found.variants} == {3}
    for run in runs:
        run.store.close()


def test_runs_without_a_common_task_are_reported_and_not_compared(tmp_path):
    one = made_run(tmp_path, ["1"], "one")
    other = made_run(tmp_path, ["1"], "two", name="others")
    report = make_report(one, other)
    assert report.comparison is None
    assert "no task in common" in report.html()
    one.store.close()
    other.store.close()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"language": "de"}, "language 'de'"),
        ({"examples": -1}, "examples -1"),
        ({"twice": True}, "given twice"),
    ],
)
def test_what_cannot_be_reported_is_refused(whole, changes, said):
    runs = [whole, whole] if changes.pop("twice", False) else [whole]
    with pytest.raises(UsageError, match=said):
        make_report(*runs, **changes)


# ── invariants ──────────────────────────────────────────────────────────────────────────────────────


def tampered(run: EvaluatedRun, change) -> EvaluatedRun:
    """The run with its summary changed, as a fault of ours could have left it."""
    (task,) = run.record.tasks
    summary = json.loads(json.dumps(dict(task.summary)))
    planned = change(summary) or task.planned
    return EvaluatedRun(
        replace(run.record, tasks=(replace(task, summary=summary, planned=planned),)), run.store
    )


def _set(**values):
    return lambda summary: summary["estimates"][0].update(values)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda summary: summary["statuses"].update(scored=3), "are 10, not 9"),
        (lambda _: 12, "are 9, not 12"),
        (_set(value=1.5, high=1.6), "outside 0 … 1"),
        (_set(low=0.9, high=0.95), "outside its own interval"),
        (_set(coverage=1.2), "coverage 1.2"),
        (_set(n=400), "n 400"),
        (_set(p_chance=-0.1), "p -0.1"),
        (_set(bounds=[0.9, 0.1]), "no span"),
        (_set(value=0.25, low=0.0, high=0.9), "is told as 0.25, and the samples make it"),
        (
            lambda summary: summary["estimates"].extend(
                [
                    {**summary["estimates"][0], "name": "exact", "value": 0.3, "low": 0.2, "high": 0.6},
                    {**summary["estimates"][0], "name": "f1", "value": 0.25, "low": 0.2, "high": 0.6},
                ]
            ),
            "exact 0.3 is above f1 0.25",
        ),
    ],
)
def test_a_run_that_breaks_an_invariant_is_marked_invalid_and_says_which(whole, change, said):
    assert make_report(whole).valid
    report = make_report(tampered(whole, change))
    assert not report.valid
    assert any(said in fault for fault in report.runs[0].faults), report.runs[0].faults
    assert "INVALID" in report.html()
    assert said in html.unescape(report.html())
    assert report.plain()["valid"] is False
    assert report.runs[0].card.sections["Validity"]["invariants"].startswith("INVALID: ")


def test_a_sound_run_breaks_none(whole):
    assert run_faults(whole.record) == ()
    assert make_report(whole).runs[0].card.sections["Validity"]["invariants"].startswith("all hold")


def test_a_run_that_did_not_end_claims_nothing(whole):
    (task,) = whole.record.tasks
    unfinished = EvaluatedRun(replace(whole.record, tasks=(replace(task, summary={}),)), whole.store)
    report = make_report(unfinished)
    text = report.html()
    assert "no result is claimed" in text
    assert "Every count adds up" not in text
    assert report.plain()["runs"][0]["tasks"][0]["estimates"] == []
    check(Page(text))


# ── hostile texts ───────────────────────────────────────────────────────────────────────────────────

HOSTILE = [
    "<script>window.pwned = 1</script>",
    "</style><script>window.pwned = 1</script>",
    "</pre></details></section></main><h1>Accuracy 1.0000</h1>",
    "--><img src=http://x/ onerror=window.pwned=1>",
    "'\"><svg onload=window.pwned=1>",
    "</title></textarea></noscript><iframe src=javascript:window.pwned=1>",
    "&lt;b&gt; &amp; &#60;script&#62;",
    "{{ 7 * 7 }}{% raw %}{# #}",
    "\u202egnihtyna\u202c \u2066x\u2069",
    "\ud83d lone",
    "nul \x00 bell \x07 escape \x1b[31m",
    "line\u2028separator\u2029paragraph\x85",
    "]]>",
    "<!DOCTYPE html><html lang=xx>",
]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """Hostile outputs, ids, strata and system prompt."""
    directory = tmp_path_factory.mktemp("attacked")
    safe = [text.encode("utf-8", "replace").decode() for text in HOSTILE]
    run = made_run(
        directory,
        [*HOSTILE, "x" * 1_000_000],
        ids=[*safe, "long"],
        strata=[*safe, "y" * 100_000],
        system=" ".join(safe),
    )
    yield run
    run.store.close()


def test_hostile_texts_are_shown_and_never_obeyed(attacked):
    text = make_report(attacked, examples=50).html()
    page = Page(text)
    check(page)
    assert len(page.of("style")) == 1
    assert text.count("</style>") == 1
    shown = "\n".join(page.texts["pre"])
    for hostile in HOSTILE:
        assert visible(hostile) in shown
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text
    )
    text.encode("utf-8")


def test_a_line_of_a_megabyte_is_cut_and_the_cut_is_counted(attacked):
    text = make_report(attacked, examples=50).html()
    assert len(text) < 400_000
    assert f"{1_000_000 - 1333 - 2666} characters left out" in text


def test_markdown_shows_where_the_lines_of_an_answer_end(tmp_path):
    run = made_run(tmp_path, ["def f():\n    return 1"], "m")
    assert "Raw output: def f(): ⏎ return 1" in make_report(run, examples=5).markdown()
    run.store.close()


def test_markdown_of_hostile_texts_has_the_lines_of_harmless_ones(attacked, tmp_path):
    def shape(text: str) -> set[str]:
        return {re.sub(r"^(#+ |\s*- |\| |\*|)?.*", r"\1", line) for line in text.split("\n")}

    text = make_report(attacked, examples=50).markdown()
    assert shape(text) <= {"# ", "## ", "### ", "#### ", "- ", "  - ", "| ", "*", ""}
    assert "<" not in text
    assert text.rstrip("\n").split("\n") == text.rstrip("\n").splitlines()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_json_is_strict(attacked, language):
    from probatum.core.strictjson import strict_text

    def none(literal):
        raise ValueError(literal)

    text = strict_text(make_report(attacked, language=language).plain())
    assert json.loads(text, parse_constant=none)["valid"] is True
    text.encode("ascii")


def test_the_policy_of_the_page_allows_its_own_style_and_nothing_else(whole):
    text = make_report(whole).html()
    (style,) = re.findall("<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = [
        each["content"]
        for each in Page(text).of("meta")
        if each.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy.split("; ") == [
        "default-src 'none'",
        f"style-src 'sha256-{digest}'",
        f"script-src 'sha256-{base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()}'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]


def test_a_page_for_paper_has_everything_open_and_no_script(whole):
    text = make_report(whole).html(printed=True)
    page = Page(text)
    assert page.of("script") == []
    assert "script-src" not in text
    assert page.of("details")
    assert all("open" in each for each in page.of("details"))


def test_the_script_neither_parses_html_nor_asks_for_anything():
    for name in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "write(",
        "eval",
        "fetch",
        "XMLHttp",
        "http",
    ):
        assert name not in script()
    for name in ("localStorage", "cookie", "import", "</script"):
        assert name not in script()


# ── examples ────────────────────────────────────────────────────────────────────────────────────────


@given(
    st.text(alphabet="ab", min_size=0, max_size=300),
    st.integers(1, 120),
    st.none() | st.tuples(st.integers(-3, 310), st.integers(-3, 310)),
)
def test_pieces_are_the_text_and_the_cuts_are_counted(text, most, span):
    at = 0
    read = ""
    for piece in clip(text * 30, span, most):
        if piece.kind == "cut":
            assert piece.left_out > 0
            at += piece.left_out
            continue
        assert (text * 30)[at : at + len(piece.text)] == piece.text
        at += len(piece.text)
        read += piece.text if piece.kind == "read" else ""
    assert at == len(text * 30)
    if span is not None and 0 <= span[0] <= span[1] <= len(text * 30) and span[1] - span[0] <= most:
        assert read == (text * 30)[span[0] : span[1]]


def test_a_short_text_is_whole():
    assert [piece.text for piece in clip("x" * MOST)] == ["x" * MOST]


def test_the_same_samples_are_shown_in_any_order(whole):
    samples = list(whole.each_sample())
    chosen = []
    for order in (samples, samples[::-1]):
        chooser = Chooser("t", 3)
        for sample in order:
            chooser.add(sample, "right")
        examples, cut = chooser.examples(10**6)
        assert not cut
        chosen.append([each.item_id for each in examples])
    assert chosen[0] == chosen[1]
    assert len(chosen[0]) == 3


def test_examples_that_would_make_the_file_large_are_left_out_and_it_says_so(whole, monkeypatch):
    monkeypatch.setattr("probatum.report.page.report.BUDGET", 5000)
    report = make_report(whole)
    (task,) = report.plain()["runs"][0]["tasks"]
    assert 0 < len(task["examples"]) < 9
    assert task["examples_cut"]
    assert "Fewer were shown" in report.html()


class CountingStore:
    """A store that counts how often samples are read."""

    def __init__(self, store) -> None:
        self.store, self.reads = store, 0

    def samples(self, run, task):
        self.reads += 1
        return self.store.samples(run, task)

    def __getattr__(self, name):
        return getattr(self.store, name)


@pytest.mark.parametrize("run", ["whole", "attacked"])
def test_examples_take_no_more_than_they_are_counted_for(run, request):
    run = request.getfixturevalue(run)
    without, with_all = (make_report(run, examples=count) for count in (0, 50))
    counted = sum(example.size for each in with_all.runs for task in each.tasks for example in task.examples)
    taken = len(with_all.html().encode()) - len(without.html().encode())
    assert 0 < taken <= counted


def test_samples_are_read_once(whole):
    store = CountingStore(whole.store)
    make_report(EvaluatedRun(whole.record, store)).html()
    assert store.reads == 1


# ── languages and colours ───────────────────────────────────────────────────────────────────────────


SIGNS = {"passk", "said", "summary_figure", "pair_name", "p_adjusted"}
"""Messages of names and signs alone."""


def places(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("name", MESSAGES)
def test_both_languages_fill_in_the_same(name):
    english, chinese = MESSAGES[name]
    assert places(english) == places(chinese)
    assert english.strip()
    assert re.search(r"[\u4e00-\u9fff]", chinese) or name in SIGNS


def test_every_message_is_used_and_every_used_one_exists():
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in [*SOURCE.glob("*.py"), *SOURCE.rglob("*.html")]
        if path.name != "messages.py"
    )
    used = set(re.findall(r"[\"']([a-z_]+)[\"']", text))
    made = {
        name for name in MESSAGES if name.startswith(("unit_", "group_", "script_", "endings_", "noise_"))
    }
    assert set(MESSAGES) <= used | made
    assert set(re.findall(r'words\(\s*"([a-z_]+)"', text)) <= set(MESSAGES)
    assert set(STATUSES) == set(Status)


def test_a_chinese_report_has_chinese_headings(whole):
    page = Page(make_report(whole, language="zh").html())
    assert page.of("html")[0]["lang"] == "zh-Hans"
    assert [each["lang"] for each in page.of("tbody") if "lang" in each]  # what is in English says so
    for level in ("h1", "h2", "h3", "h4"):
        assert all(re.search("[\u4e00-\u9fff]", text) for text in page.texts[level]), page.texts[level]


def luminance(colour: str) -> float:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colours: dict[str, str], one: str, other: str) -> float:
    """WCAG 2.2, relative luminance."""
    light, dark = sorted((luminance(colours[one]), luminance(colours[other])), reverse=True)
    return (light + 0.05) / (dark + 0.05)


BOTH = pytest.mark.parametrize("colours", [COLOURS, DARK], ids=["light", "dark"])


def test_light_and_dark_pages_name_the_same_colours():
    assert COLOURS.keys() == DARK.keys()


@BOTH
@pytest.mark.parametrize("text", ["ink", "muted", "accent", "bad", "good"])
@pytest.mark.parametrize("ground", ["paper", "panel", "mark"])
def test_texts_stand_out_from_their_ground(colours, text, ground):
    assert contrast(colours, text, ground) >= 4.5


@BOTH
@pytest.mark.parametrize("line", ["rule", "accent", "bad", "good", "wrong", "missing", "broken"])
def test_lines_and_areas_stand_out_from_the_paper(colours, line):
    assert contrast(colours, line, "paper") >= 3
