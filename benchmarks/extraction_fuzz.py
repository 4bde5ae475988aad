"""Reads made-up outputs with every reader: nothing may raise, and every span must lie in its text.

    python benchmarks/extraction_fuzz.py [--outputs 100000] [--seed 1]

Outputs are pieces of what models write, cut, repeated and mixed with any characters (lone surrogates, zero
bytes, other scripts), then texts of a million characters and nesting of a hundred thousand levels. The last
line is JSON.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator

from probatum.core.records import Item, Response
from probatum.extraction import (
    DeclaredLine,
    Extraction,
    FinalNumber,
    MathAnswer,
    OptionLetter,
    PythonCode,
    ShortAnswer,
    assemble_answer,
    assemble_method,
    detect_refusal,
    extract_boxed,
    strip_reasoning,
)
from probatum.extraction.boxes import find_boxed
from probatum.extraction.code import find_code
from probatum.scoring import ChoiceMatch, ExactMatch, NumberMatch
from probatum.scoring.free_answers import answer_overlap, includes_answer

ITEM = Item(id="i", fields={"entry_point": "f"}, choices=("41", "42", "a city", "(x) + y"), targets=("B",))
NUMBER = Item(id="n", fields={}, targets=("42",))
EXTRACTORS = (
    DeclaredLine(),
    DeclaredLine(declared=("RESULT =>", "答："), take="only"),
    OptionLetter(),
    OptionLetter(declared=("=>",), multiple=True),
    OptionLetter(labels=("1", "2", "3", "4")),
    FinalNumber(),
    FinalNumber(declared=("=>",), chinese_numerals=True, decimal="comma", percent="fraction"),
    ShortAnswer(loose=True),
    MathAnswer(),
    PythonCode(),
)
PIECES = (
    "Answer: ", "answer is ", "The answer is not ", "####", "答案：", "选", "不选", "【答案】", "B",
    "(B)", "A, B", "Ｂ", "AB", "I ", " a ", "42", "4", "\\boxed{", "}", "{", "$", "**", "`", "```",
    "```python\n", "````", "~~~", "<think>", "</think>", "[THINK]", "<|channel|>analysis<|message|>",
    "<|channel|>final<|message|>", "\n", "\r\n", "\r", "\u2028", "\xa0", "\t", " ", "1,234.5", "−", "-",
    "/", "1/0", "%", "e9999", "10^99999", "½", "三百", "百分之", "又", "分之", "点", "万", "٤", "५",
    "def f():\n", "    return 1\n", "class A:\n    def f(self):\n        return 1\n", "@f\n", '"""',
    "'''", "(", ")", "[", "]", "x = ", "import os\n", "\\", "#", "\ud800", "\udfff", "\x00", "🙂", "́",
    "ﬁ", "İ", "ß", "a city", "wait, ", "no, ", "it should be ", "or ", "and ", "not ", "but ",
    "RESULT => ", "：", "sqrt(", "\\frac{1}{2}", "\\frac{\\pi}{2}", "^2", "_1", "3 hours 20 minutes",
    '5\'10"', "0x1F", "Question: ", "A: ", "Q: ", "> ", "    ", "through ", "; ", ". ", "? ", "step 2",
    "[1]", "€", "k", "M", "km", "{,}", "A. x\nB. y\n", "is wrong ", "=> ", "<answer>", "|", "1e400",
    "999999999999999999999999999999999999999999999999999999999999",
)  # fmt: skip


def outputs(count: int, chance: random.Random) -> Iterator[str]:
    """Short outputs."""
    for _ in range(count):
        parts = []
        for _ in range(chance.randint(0, 24)):
            kind = chance.random()
            if kind < 0.75:
                parts.append(chance.choice(PIECES))
            elif kind < 0.85:
                parts.append(chance.choice(PIECES) * chance.randint(2, 12))
            else:
                parts.append("".join(chr(chance.randrange(0x110000)) for _ in range(chance.randint(1, 6))))
        text = "".join(parts)
        yield text[: chance.randint(0, len(text))] if chance.random() < 0.2 else text


def large() -> Iterator[str]:
    """Texts of a million characters, and deep nesting."""
    for piece in (
        "\\boxed{",
        "{",
        "(",
        "[",
        "<think>",
        "```\n",
        "Answer: A\n",
        "1,",
        "(1+",
        "def f():\n ",
        "\ud800",
        "> ",
    ):
        yield piece * (1_000_000 // len(piece))
    yield "(" * 100_000 + ")" * 100_000
    yield "\\boxed{" * 100_000 + "1" + "}" * 100_000
    yield "def f():\n    return " + "[" * 100_000 + "]" * 100_000
    yield "x = " + "-" * 100_000 + "1"


def read(text: str) -> None:
    """Every reader once."""
    for extractor in EXTRACTORS:
        found = extractor.extract(text, ITEM)
        if isinstance(found, Extraction):
            start, end = found.span
            assert 0 <= start <= end <= len(text), (extractor, found)
            assert found.answer, (extractor, found)
        else:
            assert found.reason, (extractor, found)
            assert "\n" not in found.reason, (extractor, found)
    find_boxed(text)
    extract_boxed(text)
    strip_reasoning(text)
    detect_refusal(text)
    code = find_code(text, "f", language="python")
    if isinstance(code, Extraction) and len(text) < 10_000:
        assemble_answer("def f(x):\n", code.answer, "f")
        assemble_method(code.answer, "f")
    find_code(text, language="cpp")
    response = [Response(request="", text=text)]
    NumberMatch().grade(NUMBER, 0, response)
    ChoiceMatch().grade(ITEM, 0, response)
    ExactMatch().grade(NUMBER, 0, response)
    includes_answer(text, ["42"])
    overlap = answer_overlap(text, ["a city"])
    assert overlap.exact <= overlap.f1


def tried(work: Callable[[str], None], text: str, failures: Counter[str]) -> None:
    try:
        work(text)
    except Exception as error:  # noqa: BLE001 - what is counted
        name = f"{type(error).__name__}: {error}"[:200]
        if name not in failures:
            print(f"raised {name!a} on {text[:200]!a}")
        failures[name] += 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--outputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failures: Counter[str] = Counter()
    slowest, start = 0.0, time.process_time()
    for text in outputs(options.outputs, random.Random(options.seed)):
        before = time.process_time()
        tried(read, text, failures)
        slowest = max(slowest, time.process_time() - before)
    short = time.process_time() - start
    slowest_large = 0.0
    for text in large():
        before = time.process_time()
        tried(read, text, failures)
        slowest_large = max(slowest_large, time.process_time() - before)
    print(
        json.dumps(
            {
                "outputs": options.outputs,
                "exceptions": sum(failures.values()),
                "kinds_of_exceptions": len(failures),
                "cpu_seconds": round(short, 1),
                "slowest_cpu_seconds": round(slowest, 3),
                "slowest_large_cpu_seconds": round(slowest_large, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
