"""Mathematical equivalence: right and wrong against stored labels, and how fast, beside math-verify.

    python benchmarks/math_equivalence.py [ROWS.jsonl] [--passes N] [--json]

ROWS (by default `math/equivalence_cases.jsonl` of the data directory: PROBATUM_DATA, or `../shared/data`
beside the repository) holds one JSON object a line: `gold`, `answer`, `expected`, and perhaps `params` of
the suite that it comes from. Both tools read both texts from scratch in every pass: extraction, parsing and
comparison; caches of parsed answers are emptied before each pass. Figures are CPU seconds of the fastest
pass, so that they do not depend on who else uses the machine; math-verify runs without its timeouts, which
cost it time. Where it is not installed (`pip install 'probatum[bench]'`), its columns stay empty.

The table says for each difference from the label why it stands. The last line is strict JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from probatum.extraction import Extraction
from probatum.extraction.mathematics import find_math
from probatum.scoring.math import Conventions, Equivalence, compare_answers
from probatum.scoring.math.reading import read_answer

Row = dict[str, Any]

REASONS = {
    31: "a line break inside $…$ is a blank in TeX: the formula is 9",
    32: "a line break inside \\(…\\) is a blank in TeX: the formula is 9",
    35: "1/2 = 10/9 is a false equation between numbers, so that it gives no value",
    187: "the label depends on which side is called the gold; ours never does",
    214: "the gold's box is never closed: a truncated answer is none",
    258: "1 − 1/e and 1 + 1/e differ: the label is wrong",
    267: "f(x) and f(y) are values of one function at two places",
}
"""Row, counted from 0, to why our verdict differs from its label."""


def default_rows() -> Path:
    data = os.environ.get("PROBATUM_DATA")
    root = Path(data) if data else Path(__file__).parents[2] / "shared" / "data"
    return root / "math" / "equivalence_cases.jsonl"


def conventions(row: Row) -> Conventions:
    """What the suite takes for granted: rounding where it gives a precision, order where it says so."""
    decimals = (row.get("params") or {}).get("precision")
    return Conventions(decimals=decimals, ordered=str(row.get("source", "")).startswith("hendrycks"))


def ours(rows: list[Row]) -> list[Equivalence]:
    verdicts = []
    for row in rows:
        gold, answer = find_math(row["gold"]), find_math(row["answer"])
        if isinstance(gold, Extraction) and isinstance(answer, Extraction):
            verdicts.append(compare_answers(gold.answer, answer.answer, conventions(row)))
        else:
            verdicts.append(Equivalence(None, "no answer", "no answer was found in one of the texts"))
    return verdicts


def math_verify() -> Callable[[list[Row]], list[bool | None]] | None:
    """math-verify over rows; `None` where it is not installed."""
    try:
        from math_verify import ExprExtractionConfig, LatexExtractionConfig, parse, verify
    except ImportError:
        return None
    configs = (LatexExtractionConfig(), ExprExtractionConfig())

    def judge(row: Row) -> bool | None:
        params = row.get("params") or {}
        options: dict[str, Any] = {"timeout_seconds": None}
        if "precision" in params:
            options["float_rounding"] = params["precision"]
        for name in ("strict", "allow_set_relation_comp"):
            if name in params:
                options[name] = params[name]
        gold, answer = (parse(row[side], configs, parsing_timeout=None) for side in ("gold", "answer"))
        return bool(verify(gold, answer, **options))

    def run(rows: list[Row]) -> list[bool | None]:
        found: list[bool | None] = []
        for row in rows:
            try:
                found.append(judge(row))
            except Exception:  # noqa: BLE001 - whatever another tool raises is its result
                found.append(None)
        return found

    return run


def fastest(call: Callable[[], object], passes: int) -> float:
    taken = []
    for _ in range(passes):
        read_answer.cache_clear()
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return min(taken)


def symmetric(rows: list[Row]) -> int:
    """Rows whose verdict depends on the order of the two answers."""
    turned = [{**row, "gold": row["answer"], "answer": row["gold"]} for row in rows]
    pairs = zip(ours(rows), ours(turned), strict=True)
    return sum(one.verdict is not two.verdict for one, two in pairs)


def print_table(rows: list[Row], verdicts: list[Equivalence], other: list[bool | None] | None) -> None:
    counts = Counter(
        (row["expected"], bool(verdict.verdict), None if other is None else bool(other[i]))
        for i, (row, verdict) in enumerate(zip(rows, verdicts, strict=True))
    )
    print(f"{'label':>9} {'probatum':>9} {'math-verify':>12} {'rows':>5}")
    for (label, one, two), count in sorted(counts.items(), key=str):
        words = [{True: "equal", False: "not", None: "-"}[each] for each in (label, one, two)]
        print(f"{words[0]:>9} {words[1]:>9} {words[2]:>12} {count:>5}")
    print("\nrules that decided:", dict(Counter(verdict.rule for verdict in verdicts).most_common()))
    print("\ndifferences from the label:")
    for i, (row, verdict) in enumerate(zip(rows, verdicts, strict=True)):
        if bool(verdict.verdict) != row["expected"]:
            reason = REASONS.get(i, "NOT EXPLAINED")
            print(f"  row {i}: label {row['expected']}, ours {verdict.verdict} ({verdict.rule}): {reason}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rows", nargs="?", type=Path, default=default_rows())
    parser.add_argument("--passes", type=int, default=5, help="timed passes; the fastest counts")
    parser.add_argument("--json", action="store_true", help="the last line alone")
    options = parser.parse_args()
    if not options.rows.is_file():
        print(f"no file {str(options.rows)!r}: give the rows, or set PROBATUM_DATA", file=sys.stderr)
        return 1
    rows = [json.loads(line) for line in options.rows.read_text("utf-8").splitlines() if line.strip()]
    verdicts = ours(rows)
    seconds = fastest(lambda: ours(rows), options.passes)
    other_tool = math_verify()
    other = other_tool(rows) if other_tool is not None else None
    other_seconds = fastest(lambda: other_tool(rows), max(1, options.passes - 3)) if other_tool else None
    if not options.json:
        print_table(rows, verdicts, other)
    wrong = [i for i, row in enumerate(rows) if bool(verdicts[i].verdict) != row["expected"]]
    figures = {
        "rows": len(rows),
        "correct": len(rows) - len(wrong),
        "explained": sum(i in REASONS for i in wrong),
        "differs": sum(i not in REASONS for i in wrong),
        "undecided": sum(verdict.verdict is None for verdict in verdicts),
        "asymmetric": symmetric(rows),
        "rows_per_second": round(len(rows) / seconds),
        "rows_per_second_math_verify": round(len(rows) / other_seconds) if other_seconds else None,
        "ratio_math_verify": round(other_seconds / seconds, 1) if other_seconds else None,
        "correct_math_verify": (
            sum(bool(each) == row["expected"] for each, row in zip(other, rows, strict=True))
            if other
            else None
        ),
    }
    print(json.dumps(figures, allow_nan=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
