"""How fast answers are read and scored, and whether time grows with the text and no faster.

    python benchmarks/extraction_speed.py [--seconds 1.0] [--characters 4000]

One core, CPU time. Short answers are of the kinds that models give to GSM8K, MMLU and open questions. The
growth of each reader is the CPU time on ten times the text over the time on the text, worst over texts that
repeat one piece for ever (a regular expression that backtracks shows there). The last line is JSON.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import time
from collections.abc import Callable, Sequence

from probatum.core.protocol import Scorer
from probatum.core.records import Item, Response
from probatum.extraction import ShortAnswer, extract_boxed, extract_code, strip_reasoning
from probatum.extraction.options import Choices, find_option
from probatum.extraction.quantity import Reading, find_number
from probatum.scoring import ChoiceMatch, ExactMatch, NumberMatch

NUMBERS = (
    "Answer: 42",
    "The answer is 42.",
    "#### 42",
    "42",
    "\\boxed{42}",
    "She has 5 + 37 = 42 apples in all.",
    "So the final answer is $42.00.",
    "答案是42。",
)
OPTIONS = (
    "Answer: B",
    "B",
    "(B) London",
    "The correct answer is (B).",
    "**Answer: B**",
    "London",
    "I think it is B.",
    "故选B。",
    "The answer is B, because it lies on the Thames.",
)
WORDS = ("Answer: Paris", "Paris", "The answer is Paris.", "**Paris**", "\\boxed{\\text{Paris}}")

TEXTS = ("Paris", "London", "New York", "Rome")
TASKS: dict[str, tuple[Scorer, Item, Sequence[str]]] = {
    "numbers": (NumberMatch(), Item(id="1", fields={}, targets=("42",)), NUMBERS),
    "options": (ChoiceMatch(), Item(id="1", fields={}, targets=("B",), choices=TEXTS), OPTIONS),
    "words": (ExactMatch(), Item(id="1", fields={}, targets=("Paris",)), WORDS),
}

REPEATED = (
    "a", "1", "1,", "1.", " ", "\n", "(", "{", "}", "[", "<", ">", "\\", "\\boxed{", "\\boxed{1}",
    "<think>", "</think>", "<think>a</think>b", "`", "```\n", "```python\n", "Answer: ", "Answer: A\n",
    "Answer: 1\n", "Answer:\n", "the answer is ", "the answer is not ", "the answer is not A, ",
    "the answer is A. ", "answer ", "answer to ", "wait ", "wait, it is 1 ", "actually B. ", "A ", "A, ",
    "A and ", "A is not ", "not A ", "I ", "AB", "1 or ", "-", "1-", "1/", "1.2.", "1:2", "$", "= ",
    "x = 1, ", "1,111,", "选", "选A", "不选A", "答案不是A，", "三", "百分之", "又", "def f():\n",
    "@a\n", "x = (\n",
    '"""\n', '"\\', "x = 1\n", "    y\n", "    x = 1\n", "> x\n", ">", "\t", "*", "1\xa0", "{,}", "so ",
    "41 ", "\ud800", " \n", "Q: 1\nA: 1\n", "Question:\n", "step 1 ", "[1] ", "sqrt(", "\\frac{1}{", "^{2}",
    "_1", "3 hours ", "3 hours 20 minutes ", "1e", "0x", "½", "A. x\nB. y\n", "A:\n", "(A) ", "A/",
    "A through B ", "if the answer is A ", "5'1", "5h5", "m^", "٤", "\r\n", "'", "’", '"',
)  # fmt: skip


def readers() -> dict[str, Callable[[str], object]]:
    choices = Choices.of(dict(zip("ABCD", TEXTS, strict=True)))
    numbered = Choices.of(dict(zip("ABCD", ("41", "42", "43", "44"), strict=True)))
    short, item = ShortAnswer(loose=True), Item(id="i", fields={})
    return {
        "reasoning": strip_reasoning,
        "box": extract_boxed,
        "option": lambda text: (find_option(text, choices), find_option(text, numbered, multiple=True)),
        "number": lambda text: (find_number(text), find_number(text, Reading(chinese=True))),
        "short": lambda text: short.extract(text, item),
        "code": lambda text: extract_code(text, "f"),
    }


def per_second(scorer: Scorer, item: Item, texts: Sequence[str], seconds: float) -> float:
    """Samples read and scored in a CPU second, texts by turns."""
    responses = [[Response(request="", text=text)] for text in texts]
    for response in responses:
        assert scorer.grade(item, 0, response).scores == {"correct": 1.0}, response
    done, start = 0, time.process_time()
    for response in itertools.cycle(responses):
        scorer.grade(item, 0, response)
        done += 1
        if done % 500 == 0 and time.process_time() - start >= seconds:
            break
    return done / (time.process_time() - start)


def cpu_seconds(read: Callable[[str], object], text: str) -> float:
    gc.collect()
    gc.disable()  # or the short text would be free of it, and the long one not
    start = time.process_time()
    read(text)
    used = time.process_time() - start
    gc.enable()
    return used


def growth(read: Callable[[str], object], characters: int) -> tuple[float, str]:
    """The worst factor by which ten times the text takes longer, and the piece that is repeated."""
    worst, piece_of_it = 0.0, ""
    for piece, tail in itertools.product(REPEATED, ("", "x\nAnswer: B")):
        short = piece * (characters // len(piece)) + tail
        base = min(cpu_seconds(read, short) for _ in range(2))
        if base < 5e-4:  # too little to be measured: ten times as much is little, too
            short = piece * (10 * characters // len(piece)) + tail
            base = cpu_seconds(read, short)
        long = piece * (10 * (len(short) - len(tail)) // len(piece)) + tail
        factor = min(cpu_seconds(read, long) for _ in range(2)) / max(base, 5e-4)
        if factor > worst:
            worst, piece_of_it = factor, piece
    return worst, piece_of_it


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--characters", type=int, default=4000)
    options = parser.parse_args()
    figures: dict[str, object] = {}
    for name, (scorer, item, texts) in TASKS.items():
        figures[f"{name}_per_second"] = round(per_second(scorer, item, texts, options.seconds))
        print(f"{name:<10} {figures[f'{name}_per_second']:>8} answers a CPU second")
    rates = [figures[f"{name}_per_second"] for name in TASKS]
    figures["answers_per_second"] = round(len(rates) / sum(1 / rate for rate in rates))
    for name, read in readers().items():
        factor, piece = growth(read, options.characters)
        figures[f"growth_{name}"] = round(factor, 1)
        print(f"{name:<10} {factor:>8.1f} times the CPU time for ten times the text (worst: {piece!r})")
    figures["growth_worst"] = max(value for name, value in figures.items() if name.startswith("growth_"))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
