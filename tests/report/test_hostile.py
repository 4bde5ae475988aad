"""What a hostile model says, and how hostile files are named, in every place where it is shown."""

from __future__ import annotations

import gzip
import io
import json
import re
import sqlite3
import zipfile
from contextlib import closing, redirect_stdout

import pyarrow.parquet as pq
import pytest

from probatum.cli.results import command as results
from probatum.cli.tables import print_run
from probatum.core.records import Response
from probatum.report.bundle import write_bundle, write_samples
from probatum.report.card import make_card
from probatum.report.page import make_report
from probatum.report.sending import hub_text
from probatum.report.verification import verify_bundle
from probatum.runner import EvaluatedRun
from probatum.store import open_store
from tests.report.reported import made_run
from tests.report.test_report import HOSTILE, Page, check

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\u200b\u2060-\u2064\ufeff\U000e0000-\U000e007f]"
)
"""What steers a terminal, turns the direction of writing, hides, or ends a line where nobody sees it."""
MORE = [
    "\x1b]0;owned\x07\x1b[2J\x1b[1;1H\x9b31m",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "4\u200b2\u2060\ufeff\U000e0041\U000e007f",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "```\n# Accuracy 1.0\n```\n---\n- [x] done\n> quoted\n![x](http://evil/x.png)<br>",
    "\r\rhidden\rshown\b\b\b\b",
    "=cmd|' /C calc'!A0",
    "\x00" * 50,
    "A" * 10_000_000,
    "\u202e\n" * 100_000,
    "<details open ontoggle=window.pwned=1>" * 10_000,
]
NAME = "evil/<script>\x1b[31m|`\u202e\ud83d\u200b\nname"


@pytest.fixture(scope="module")
def attacked(tmp_path_factory) -> EvaluatedRun:
    """Hostile answers, and a hostile name of the model, of items and of strata."""
    directory = tmp_path_factory.mktemp("hostile")
    texts = [*HOSTILE, *MORE]
    replies = [Response(request="", text=text, reasoning=text[:5000], model=NAME) for text in texts]
    names = [
        f"{number} {text[:200]}".encode("utf-8", "replace").decode() for number, text in enumerate(texts)
    ]
    run = made_run(directory, replies, NAME, ids=names, strata=[name[:100] for name in names])
    yield run
    run.store.close()


def test_the_run_is_sound_whatever_was_said(attacked):
    assert attacked.faults == ()
    assert sum(attacked.statuses["sums"].values()) == len(HOSTILE) + len(MORE)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("printed", [False, True])
def test_the_page_obeys_nothing_and_stays_small(attacked, language, printed):
    text = make_report(attacked, examples=50, language=language).html(printed=printed)
    assert not STEERING.search(text)
    assert len(text) < 2_000_000
    if not printed:
        check(Page(text))
    assert text.count("<script>") == (0 if printed else 1)
    assert "left out" in text or "省略" in text


def test_markdown_keeps_its_lines_and_its_tables(attacked):
    report = make_report(attacked, examples=50)
    for text in (report.markdown(), make_card(attacked.record).markdown()):
        assert not STEERING.search(text)
        assert "<" not in text
        assert len(text.splitlines()) == len(text.rstrip("\n").split("\n"))
        for before, line in zip(["", *text.split("\n")], text.split("\n"), strict=False):
            assert not line.startswith(("```", "    ", ">", "---", "==="))
            cells = len(re.findall(r"(?<!\\)\|", line))
            if line.startswith("|") and before.startswith("|"):
                assert cells == len(re.findall(r"(?<!\\)\|", before))
            if not line.startswith("|"):
                assert cells == 0
        assert "](" not in text.replace("\\]", "")


def printed(work) -> str:
    written = io.StringIO()
    with redirect_stdout(written):
        work()
    return written.getvalue()


def test_tables_on_a_terminal_steer_nothing(attacked):
    text = printed(lambda: print_run(attacked))
    assert not STEERING.search(text)
    assert "\\u001b[31m" in text


def test_the_list_and_the_leaderboard_steer_nothing(attacked):
    url = f"sqlite:///{attacked.store.name}"
    for arguments in ([], ["--ranked"]):
        text = printed(lambda given=arguments: results.main([*given, "--store", url], standalone_mode=False))
        assert "evil" in text
        assert not STEERING.search(text)


def test_faults_of_a_broken_run_steer_nothing(attacked, tmp_path):
    store = tmp_path / "s.db"
    with closing(sqlite3.connect(attacked.store.name)) as source, closing(sqlite3.connect(store)) as copy:
        source.backup(copy)
        with copy:
            copy.execute("update outcomes set sample = 7")
    with open_store(f"sqlite:///{store}") as opened:
        run = EvaluatedRun(opened.runs()[0], opened)
        assert run.faults
        assert "INVALID" in printed(lambda: print_run(run))
        for text in (printed(lambda: print_run(run)), run._repr_html_(), make_report(run).markdown()):
            assert not STEERING.search(text)


def test_what_is_exported_is_the_text_itself(attacked, tmp_path):
    said = [each.responses[0].text for each in attacked.each_sample()]
    write_samples(tmp_path / "s.jsonl.gz", attacked.each_sample())
    lines = gzip.decompress((tmp_path / "s.jsonl.gz").read_bytes())
    assert lines.isascii()
    assert [json.loads(line)["responses"][0]["text"] for line in lines.decode().splitlines()] == said
    write_samples(tmp_path / "s.parquet", attacked.each_sample())
    rows = pq.read_table(tmp_path / "s.parquet").to_pylist()
    assert [row["text"] for row in rows] == [
        text.encode("utf-8", "backslashreplace").decode() for text in said
    ]


def test_a_bundle_of_it_is_whole(attacked, tmp_path):
    write_bundle(tmp_path / "b.zip", attacked)
    found = verify_bundle(tmp_path / "b.zip")
    assert found.whole
    with zipfile.ZipFile(tmp_path / "b.zip") as opened:
        assert not STEERING.search(opened.read("card.md").decode())


def test_metadata_of_a_model_card_is_one_document(attacked, tmp_path):
    from huggingface_hub import ModelCard

    card = ModelCard(hub_text(attacked, tmp_path / "README.md"))
    assert len(card.data.eval_results) == 2
    assert "# Evaluation card of run" in card.text
