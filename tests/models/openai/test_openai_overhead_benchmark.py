"""The benchmark of the harness's cost runs, and its last line is the figures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "harness_overhead.py"


@pytest.mark.parametrize("layer", ["transport", "harness"])
def test_last_line_is_the_figures(layer):
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--layer", layer, "--n", "60", "--repeats", "1"],
        check=True,
        capture_output=True,
        text=True,
        timeout=250,
    )
    last = done.stdout.splitlines()[-1]
    if last.startswith("skipped"):
        pytest.skip(last)
    figures = json.loads(last)
    assert figures["accuracy"] == 0.5
    assert figures["cpu_ms_per_sample"] > 0
    assert figures["samples_per_second"] > 0
    assert figures["peak_rss_mb"] < 120
