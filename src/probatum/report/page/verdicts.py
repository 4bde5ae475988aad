"""The verdict of a comparison in the language of the report: it is the sentence that people decide by."""

from __future__ import annotations

import re
from typing import Final

from probatum.report.page.messages import Words

__all__ = ["verdict_text"]

_CHINESE: Final[tuple[tuple[str, str], ...]] = (
    (r"not comparable, and compared anyway: ", "不可比，仍强行比较："),
    (r"not comparable, and joined by a bridge run: ", "不可比，经桥接运行连接："),
    (r"(\w+) better, unless the missing samples say otherwise", r"\1 更好，除非缺失样本改变结论"),
    (r"(\w+) better", r"\1 更好"),
    (r"cannot be compared: the test is undefined", "无法比较：检验无定义"),
    (r"cannot be compared: no item of both runs has a score", "无法比较：没有题目在两次运行中都有得分"),
    (r"cannot be compared: the runs have no item in common", "无法比较：两次运行没有共同题目"),
    (r"cannot be compared: ", "无法比较："),
    (
        r"no difference shown: effects above ([\d.e+-]+) points would have been seen",
        r"未显示差异：若差异大于 \1 个百分点，本应可以看到",
    ),
    (
        r"no difference shown: effects above ([\d.e+-]+) points are ruled out",
        r"未显示差异：可排除大于 \1 个百分点的差异",
    ),
    (
        r"no difference shown: effects above ([\d.e+-]+) would have been seen",
        r"未显示差异：若差异大于 \1，本应可以看到",
    ),
    (r"no difference shown: effects above ([\d.e+-]+) are ruled out", r"未显示差异：可排除大于 \1 的差异"),
    (
        r"no difference shown: too few items to show any: (\d+), and the test needs (\d+) even if all differ",
        r"未显示差异：题目太少，无法显示任何差异：只有 \1 道，即使全部不同，检验也需要 \2 道",
    ),
    (
        r"no difference shown: too few clusters of items to show any: (\d+), and the test needs (\d+)[a-z ]+",
        r"未显示差异：题组太少，无法显示任何差异：只有 \1 组，即使全部不同，检验也需要 \2 组",
    ),
    (
        r"no difference shown: no effect is large enough for this design to show it with a power of 80%",
        "未显示差异：在 80% 功效下，本设计无法显示任何大小的差异",
    ),
    (r"no difference shown: this design can show none", "未显示差异：本设计无法显示任何差异"),
)
"""Beginning of what is left of a verdict → the same in Chinese; the first that fits is taken."""


def verdict_text(verdict: str, words: Words) -> str:
    """A verdict as `decide` words it, in the report's language; what quotes a recipe stays in English."""
    if words.language != "zh":
        return verdict
    told, left = "", verdict
    while found := _first(left):
        part, length = found
        told, left = told + part, left[length:]
    return told + left


def _first(text: str) -> tuple[str, int] | None:
    for pattern, chinese in _CHINESE:
        found = re.match(pattern, text)
        if found is not None:
            return found.expand(chinese), found.end()
    return None
