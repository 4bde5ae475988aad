"""A run written down as a TOML file."""

from __future__ import annotations

import difflib
import tomllib
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec

from probatum.core.errors import UsageError

__all__ = ["RunFile", "read_run_file"]


class Written(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The keys of a run file; every one may be left out."""

    tasks: list[str] = []
    model: str | None = None
    store: str | None = None
    settings: dict[str, object] = {}
    limit: int | None = None
    samples: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    shots: int | None = None
    form: str | None = None
    system: str | None = None
    seed: int | None = None
    level: float | None = None
    minimum_answered: float | None = None
    workers: int | None = None
    data_directory: str | None = None


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
        raise UsageError(f"run file {str(path)!r} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"run file {str(path)!r} is not UTF-8 (byte {error.start}); save it as UTF-8"
        ) from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"run file {str(path)!r} is no valid TOML: {error}") from None
    if "allow_code_execution" in raw:
        raise UsageError(
            f"run file {str(path)!r}: allow_code_execution: consent cannot be given in a file; "
            "give --allow-code-execution to the command"
        )
    for name in raw:
        if name not in Written.__struct_fields__:
            known = ", ".join(Written.__struct_fields__)
            near = difflib.get_close_matches(name, Written.__struct_fields__, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {known}"
            raise UsageError(f"run file {str(path)!r}: unknown key {name!r}: {hint}")
    if isinstance(raw.get("tasks"), str):
        raw["tasks"] = [name.strip() for name in raw["tasks"].split(",")]
    try:
        written = msgspec.convert(raw, Written)
    except msgspec.ValidationError as error:
        raise UsageError(f"run file {str(path)!r}: {error}") from None
    options = {
        name: value
        for name in Written.__struct_fields__
        if name not in {member.name for member in fields(RunFile)}
        and (value := getattr(written, name)) is not None
    }
    if "data_directory" in options:
        options["data_directory"] = Path(str(options["data_directory"]))
    settings: dict[str, object] = dict(written.settings)
    return RunFile(tuple(written.tasks), written.model, written.store, settings, options)
