"""Makes published results again from stored outputs, and prints how each came out.

    python benchmarks/published.py ROWS.json [--data DIR] [--only TEXT] [--execute] [--store FILE]
                                          [--differences FILE]

A row is *reproduced* where every number of it that can be had comes out to the published digits by the
published rule; *explained* where it does not, and the items that make the difference are listed with their
reasons; else it *differs*. Our own rule stands beside, with the items on which it disagrees in FILE. The
last line is one JSON object. docs/published.md tells more.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(Path(__file__).resolve().parent)]

from published_results import execution  # noqa: E402 - found through the line above
from published_results.files import Data  # noqa: E402
from published_results.rows import read_rows  # noqa: E402
from published_results.table import make_again, print_table, write_differences  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=Path, help="JSON list of rows: id, inputs, rule, value")
    parser.add_argument("--data", type=Path, help="data folder (PROBATUM_DATA)")
    parser.add_argument("--only", default="", help="only rows whose id holds this text")
    parser.add_argument(
        "--execute", action="store_true", help="run stored programs in the sandbox again (minutes)"
    )
    parser.add_argument("--store", type=Path, help="SQLite file that keeps executions")
    parser.add_argument("--differences", type=Path, help="where the differing items are written")
    options = parser.parse_args()
    folder = options.data or Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        parser.error(f"no data folder at {str(folder)!r}; give --data or set PROBATUM_DATA")
    execution.set_policy(everything=options.execute, store=options.store)
    rows = [row for row in read_rows(options.rows) if options.only in row.id]
    results = list(make_again(rows, Data(folder)))
    figures = print_table(results)
    path = options.differences or Path(tempfile.gettempdir()) / "probatum-published-differences.jsonl"
    count = write_differences(results, path)
    print(f"{count} differing items with their reasons: {path}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
