"""`python -m tests.cases FILE [--json]`: passed and failed per area; the last line is JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.cases.frame import Verdict, judge, load_adapters, read_cases

STATES = ("passed", "failed", "not_mapped")


def write(line: str) -> None:
    sys.stdout.write(line + "\n")


def count(verdicts: Sequence[Verdict]) -> dict[str, int]:
    counted = Counter(verdict.state for verdict in verdicts)
    return {state: counted[state] for state in STATES}


def by_area(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    areas = dict.fromkeys(verdict.area for verdict in verdicts)
    return {area: count([each for each in verdicts if each.area == area]) for area in areas}


def show(verdicts: Sequence[Verdict]) -> None:
    write(f"{'area':<18}{'passed':>8}{'failed':>8}{'not mapped':>12}")
    for area, counted in by_area(verdicts).items():
        write(f"{area:<18}{counted['passed']:>8}{counted['failed']:>8}{counted['not_mapped']:>12}")
    for verdict in verdicts:
        if verdict.state == "failed":
            write(f"failed      {verdict.case}: ours {verdict.ours}\n{'':12}expected {verdict.expected}")
        elif verdict.state == "not_mapped":
            write(f"not mapped  {verdict.case}: {verdict.ours}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("file", type=Path, help="cases as JSON lines")
    parser.add_argument("--json", action="store_true", help="one line of JSON, with every case's verdict")
    options = parser.parse_args()
    load_adapters()
    verdicts = [judge(case) for case in read_cases(options.file)]
    if options.json:
        rest = [asdict(verdict) for verdict in verdicts]
        write(json.dumps({**count(verdicts), "areas": by_area(verdicts), "cases": rest}))
    else:
        show(verdicts)
        write(json.dumps(count(verdicts)))
    return 1 if count(verdicts)["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
