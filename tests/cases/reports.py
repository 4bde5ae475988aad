"""Records and reports: strict JSON, names of files, moments, cells, and what a sample's record holds."""

from __future__ import annotations

import json
import math
import re
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from probatum.core.moments import utc_text
from probatum.core.names import file_name
from probatum.core.records import Item, Response, Scoring
from probatum.core.strictjson import REASONS, strict_text
from probatum.extraction import OptionLetter
from probatum.models.likelihood import plan
from probatum.report.escaping import escape_html, escape_markdown
from probatum.runner import evaluate
from probatum.scoring import ChoiceMatch
from tests.cases.frame import Given, NotMappedError, agree, operation
from tests.fakes import FakeModel, sums_task, write_sums

NUMBERS = {"NaN": math.nan, "nan": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "inf": math.inf}
SCALAR = re.compile(r"numpy\.(\w+)\((.*)\)")


def meant(value: Any) -> Any:
    """A value that JSON cannot write in a case: "NaN", "numpy.int64(3)"."""
    if isinstance(value, Mapping):
        return {name: meant(part) for name, part in value.items()}
    if isinstance(value, list):
        return [meant(part) for part in value]
    if isinstance(value, str) and value in NUMBERS:
        return NUMBERS[value]
    scalar = SCALAR.fullmatch(value) if isinstance(value, str) else None
    if scalar is None:
        return value
    kind = getattr(np, scalar[1], None)
    if kind is None:
        raise NotMappedError(f"the value {value!r}")
    return kind(json.loads(scalar[2].replace("True", "true").replace("False", "false")))


def strictly_written(ours: Any, expected: Any) -> bool:
    if (
        isinstance(ours, str)
        and isinstance(expected, str)
        and re.search(r"written|escaped|no error", expected)
    ):
        return True  # it was written as strict JSON and read again
    if not isinstance(expected, str) or "null" not in expected:
        return agree(ours, expected)
    nulls = [name for name, value in ours.items() if value is None]
    return bool(nulls) and ("reason" not in expected or set(ours[REASONS]) >= set(nulls))


@operation("write_json", agrees=strictly_written)
def write_json(given: Given) -> Any:
    def none(literal: str) -> Any:
        raise ValueError(f"{literal} is not JSON")

    return json.loads(strict_text(meant(given["value"])), parse_constant=none)


def holds_what_is_named(ours: dict[str, Any], expected: str) -> bool:
    """Raw text, extracted answer, rule, span; or the prompt that was sent and its cut."""
    if "tokens" in expected:
        cut = re.search(r"(\d+) tokens", expected)
        return (
            bool(ours.get("sent")) and cut is not None and ours["cut"] == int(cut[1]) and bool(ours["side"])
        )
    found = all(ours.get(name) for name in ("text", "answer", "rule", "span"))
    return found and ours["text"][slice(*ours["span"])] == ours["answer"]


@operation("sample_record", agrees=holds_what_is_named)
def sample_record(given: Given) -> dict[str, Any]:
    if "text" in given:
        item = Item(id="q", fields={}, choices=("a", "b", "c", "d"), targets=("A",))
        response = Response(request="r", text=given["text"])
        outcome = ChoiceMatch(OptionLetter()).grade(item, 0, [response])
        kept = outcome.answer if outcome.answer == given["extracted"] else None
        return {"text": response.text, "answer": kept, "rule": outcome.rule, "span": outcome.span}
    original, sent = given["original_tokens"], given["sent_tokens"]
    scoring = Scoring(overflow="left_bare")
    found = plan("x" * original, "y", scoring, Letters(), sent)
    seen = len(found.stretches[0].seen)
    return {"sent": seen == sent, "cut": found.cut_tokens, "side": scoring.overflow}


class Letters:
    """A tokenizer of characters, without special tokens."""

    opening = ()
    begin = None
    end = None

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        assert len(tokens) == len(text)
        return len(text[:count].encode())


def one_each(ours: dict[str, int], expected: str) -> bool:
    return "one instance per record" in expected and ours["records"] == ours["items"] == ours["instances"]


@operation("sample_record_count", agrees=one_each)
def sample_record_count(given: Given) -> dict[str, int]:
    count = given["instances"]
    with tempfile.TemporaryDirectory() as folder:
        rows = write_sums(Path(folder) / "rows", count)
        run = evaluate(sums_task(), model=FakeModel(), store=f"sqlite:///{folder}/s.db", data_directory=rows)
        samples = list(run.each_sample())
        run.store.close()
    items = {sample.item.id for sample in samples if sample.outcome.item_id == sample.item.id}
    return {"records": len(samples), "items": len(items), "instances": count}


def different(ours: list[str], expected: Any) -> bool:
    wanted = re.match(r"(\d+) different", str(expected))
    return len(set(ours)) == int(wanted[1]) if wanted else agree(ours, expected)


@operation("file_names", unused=("same_ms",), agrees=different)
def file_names(given: Given) -> list[str]:
    return [file_name(name) for name in given["models"]]


LOCAL = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d)?) (\w+/\w+|UTC)(, twice)?")


@operation("timestamps")
def timestamps(given: Given) -> list[str]:
    match = LOCAL.fullmatch(given["local"])
    if match is None:
        raise NotMappedError(f"the moment {given['local']!r}")
    moment = datetime.fromisoformat(f"{match[1]}T{match[2]}").replace(tzinfo=ZoneInfo(match[3]))
    return [utc_text(moment.replace(fold=fold)) for fold in ((0, 1) if match[4] else (0,))]


@operation("markdown_cell")
def markdown_cell(given: Given) -> str:
    return escape_markdown(given["text"])


@operation("html_text", "html_escape", "html_cell", "escape_html")
def html_text(given: Given) -> str:
    return escape_html(given["text"])
