"""One short file a benchmark, found by listing this folder; third parties use entry points.

A file `name.py` defines one `TASK`; one whose name begins with `_` is a part of others. An entry point
of the group `probatum.benchmarks` names a `Task`.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import pkgutil
from collections.abc import Mapping
from functools import lru_cache

from probatum.core.errors import UsageError
from probatum.core.protocol import Task

__all__ = ["declared_task", "find_task", "task_names"]

ENTRY_POINTS = "probatum.benchmarks"


@lru_cache(maxsize=1)
def _own() -> frozenset[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return frozenset(name for name in names if not name.startswith("_"))


@lru_cache(maxsize=1)
def _foreign() -> dict[str, importlib.metadata.EntryPoint]:
    return {entry.name: entry for entry in importlib.metadata.entry_points(group=ENTRY_POINTS)}


def task_names() -> tuple[str, ...]:
    """Names of all benchmarks, our own and installed ones, sorted. Imports none of them."""
    return tuple(sorted(_own() | _foreign().keys()))


def declared_task(raw: Mapping[str, object], file: str) -> Task:
    """The task that a table of keys declares; see `benchmarks._declared`, which is imported by the first one.

    Raises:
        UsageError: a key that is missing, unknown or of another kind.
    """
    found: Task = importlib.import_module(f"{__name__}._declared").declared_task(raw, file)
    return found


def find_task(name: str) -> Task:
    """The benchmark of that name.

    Raises:
        UsageError: there is none (the nearest names are offered), or a plug-in does not give a task.
    """
    if name in _own():
        task = importlib.import_module(f"{__name__}.{name}").TASK
    elif name in _foreign():
        try:
            task = _foreign()[name].load()
        except Exception as error:
            raise UsageError(f"task {name!r}: its plug-in cannot be loaded: {error!r}") from error
    else:
        near = difflib.get_close_matches(name, task_names(), n=3)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else "see `probatum tasks`"
        if ":" in name or "." in name:
            hint = (
                "a task of your own is named by its file, such as path/to/task.py:NAME, "
                f"or where its package declares one, as {ENTRY_POINTS!r}"
            )
        raise UsageError(f"unknown task {name!r}: {hint}")
    if not isinstance(task, Task):
        raise UsageError(f"task {name!r}: its file gives a {type(task).__name__}, not a Task")
    return task
