"""What the command costs before it does anything."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from probatum.cli.application import COMMANDS

HEAVY = ["torch", "pandas", "sqlalchemy", "httpx", "aiohttp", "numpy", "scipy", "pyarrow", "huggingface_hub"]
"""Packages that are loaded only by what needs them."""


def loaded(code: str, environment: dict[str, str]) -> dict:
    """Modules that are loaded after `code`, and what the process used."""
    tail = (
        "; import json, sys, time; peak = [line for line in open('/proc/self/status') if 'VmHWM' in line]; "
        "print(json.dumps({'modules': sorted(sys.modules), 'cpu': time.process_time(), "
        "'peak': 1024 * int(peak[0].split()[1])}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + tail], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stderr.splitlines()[-1])


HELP = "from probatum.cli.application import application; application(['--help'], standalone_mode=False)"


@pytest.mark.parametrize("code", ["import probatum", "import probatum.core.protocol", HELP])
def test_nothing_heavy_is_loaded_by_import_or_help(code, environment):
    found = loaded(code, environment)["modules"]
    assert [name for name in HEAVY if name in found] == []
    assert "probatum" in found


def test_help_loads_no_command(environment):
    """Each command is imported when it is called."""
    found = loaded(HELP, environment)["modules"]
    ours = {name for name in found if name.startswith("probatum")}
    assert ours <= {
        "probatum",
        "probatum.cli",
        "probatum.cli.application",
        "probatum.core",
        "probatum.core.errors",
    }


def test_help_is_cheap(environment):
    """Under 0.30 CPU-seconds and 60 MB on a quiet machine; here with room for a loaded one."""
    empty, used = loaded("pass", environment), loaded(HELP, environment)
    assert used["cpu"] - empty["cpu"] < 0.6
    assert used["peak"] < 60e6
    assert len(used["modules"]) - len(empty["modules"]) < 250


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(probatum_here, command):
    done = probatum_here(command, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: ")
    assert command in probatum_here("--help").stdout


@pytest.mark.parametrize("arguments", [[], ["--help"], ["-h"]])
def test_help_lists_the_commands(probatum, arguments):
    done = probatum(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Commands:" in done.stdout


def test_the_version_is_told(probatum):
    assert probatum("--version").stdout.startswith("probatum 0.")


def test_the_module_can_be_run_with_python(environment, work):
    done = subprocess.run(
        [sys.executable, "-m", "probatum", "--version"],
        env=environment, cwd=work, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.split()[0]) == (0, "probatum")
