"""The command line: one file a command, imported when it is called."""

from __future__ import annotations

from probatum.cli.application import main

__all__ = ["main"]
