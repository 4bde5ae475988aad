"""Every verdict that a comparison words has its Chinese: the sentence that people decide by."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

from probatum.core.status import Status
from probatum.report.page import make_report
from probatum.report.page.messages import words
from probatum.report.page.verdicts import verdict_text
from probatum.runner.comparing import compare
from probatum.store import open_store
from tests.runner.stored import PROTOCOL, stored_run

NAMES = [f"i{n}" for n in range(40)]
_RANDOM = random.Random(3)
COIN = {name: float(_RANDOM.random() < 0.5) for name in NAMES}
OTHER = {name: float(_RANDOM.random() < 0.5) for name in NAMES}
RIGHT, WRONG = dict.fromkeys(NAMES, 1.0), dict.fromkeys(NAMES, 0.0)
FEW = NAMES[:4]
CLUSTERS = {name: f"c{place % 5}" for place, name in enumerate(NAMES)}
LOST = dict.fromkeys(NAMES, Status.INFRA_ERROR)
TWELVE = {name: float(place < 12) for place, name in enumerate(NAMES)}
HALF = {name: (0.0 if place < 12 else Status.INFRA_ERROR) for place, name in enumerate(NAMES)}


@pytest.fixture
def store(tmp_path):
    with open_store(f"sqlite:///{tmp_path / 's.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("a", "b", "options", "chinese"),
    [
        (WRONG, RIGHT, {}, "B 更好"),
        (RIGHT, WRONG, {}, "A 更好"),
        (TWELVE, HALF, {}, "A 更好，除非缺失样本改变结论"),
        (COIN, OTHER, {}, "未显示差异：若差异大于 NUMBER 个百分点，本应可以看到"),
        (RIGHT, RIGHT, {}, "未显示差异：可排除大于 NUMBER 个百分点的差异"),
        (
            {name: COIN[name] for name in FEW},
            {name: 1 - COIN[name] for name in FEW},
            {},
            "未显示差异：题目太少，无法显示任何差异：只有 NUMBER 道，即使全部不同，检验也需要 NUMBER 道",
        ),
        (
            COIN,
            OTHER,
            {"clusters": CLUSTERS},
            "未显示差异：题组太少，无法显示任何差异：只有 NUMBER 组，即使全部不同，检验也需要 NUMBER 组",
        ),
        (RIGHT, LOST, {}, "无法比较：没有题目在两次运行中都有得分"),
        (RIGHT, {"x": 1.0}, {}, "无法比较：两次运行没有共同题目"),
    ],
)
def test_a_verdict_is_told_in_chinese(store, a, b, options, chinese):
    runs = [stored_run(store, name, one, **options) for name, one in (("a", a), ("b", b))]
    verdict = compare(*runs).verdict
    told = verdict_text(verdict, words("zh"))
    assert re.sub(r"\d+(\.\d+)?", "NUMBER", told) == chinese
    assert re.findall(r"\d+(?:\.\d+)?", told) == re.findall(r"\d+(?:\.\d+)?", verdict)
    assert told in make_report(*runs, language="zh").markdown()
    assert verdict_text(verdict, words("en")) == verdict


def test_what_is_not_comparable_says_so_in_chinese_and_quotes_the_recipe(store):
    more = replace(PROTOCOL, samples=3)
    runs = [stored_run(store, "a", RIGHT), stored_run(store, "b", WRONG, protocol=more)]
    refused = verdict_text(compare(*runs).verdict, words("zh"))
    assert refused == "无法比较：the sample budgets differ (samples)"
    assert verdict_text(compare(*runs, anyway=True).verdict, words("zh")) == "不可比，仍强行比较：A 更好"
    assert "不可比" in make_report(*runs, language="zh").markdown()
