"""A run written down as a TOML file."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from probatum.core.errors import UsageError
from probatum.runner import Options

__all__ = ["RunFile", "read_run_file"]


class Written(msgspec.Struct, kw_only=True):
    """The keys of a run file that are no options; every one may be left out."""

    tasks: list[str] = []
    model: str | None = None
    store: str | None = None
    settings: dict[str, object] = {}


OPTIONS = tuple(name for name in Options.names() if name not in ("allow_code_execution", "settings"))
KEYS = (*Written.__struct_fields__, *OPTIONS)


@dataclass(frozen=True)
class RunFile:
    """A run file as read."""

    tasks: tuple[str, ...] = ()
    model: str | None = None
    store: str | None = None
    settings: dict[str, object] = field(default_factory=dict)
    options: dict[str, object] = field(default_factory=dict)

    def choices(self) -> dict[str, Any]:
        """The options that the file sets."""
        return dict(self.options)


def read_run_file(path: Path) -> RunFile:
    """Reads a run file. Consent to execute code cannot be given in a file: it is the caller's.

    Raises:
        UsageError: the file is not there, is no TOML, or has a key or a value that does not fit.
    """
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(
            f"run file {str(path)!r} cannot be read: {error.strerror}; name a TOML file"
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"run file {str(path)!r} is not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"run file {str(path)!r} is no valid TOML: {error}; mend it") from None
    if "allow_code_execution" in raw:
        raise UsageError(
            f"run file {str(path)!r}: allow_code_execution: consent cannot be given in a file; "
            "give --allow-code-execution to the command"
        )
    if "prompt" in raw or "scorer" in raw:
        raise UsageError(f"run file {str(path)!r} declares a task: name it as one, `probatum run {path}`")
    for name in raw:
        if name not in KEYS:
            near = difflib.get_close_matches(name, KEYS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(KEYS)}"
            raise UsageError(f"run file {str(path)!r}: unknown key {name!r}: {hint}")
    if isinstance(raw.get("tasks"), str):
        raw["tasks"] = [name.strip() for name in raw["tasks"].split(",")]
    options = {name: raw[name] for name in OPTIONS if name in raw}
    try:
        written = msgspec.convert(raw, Written)
        Options(**options)
    except (msgspec.ValidationError, UsageError) as error:
        raise UsageError(f"run file {str(path)!r}: {error}") from None
    settings: dict[str, object] = dict(written.settings)
    return RunFile(tuple(written.tasks), written.model, written.store, settings, options)
