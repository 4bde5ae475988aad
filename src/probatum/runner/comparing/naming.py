"""Runs by what people call them: an id, `latest`, or the name of a model."""

from __future__ import annotations

from collections.abc import Sequence

from probatum.core.run import Run
from probatum.store import Store

__all__ = ["find_run", "find_runs", "items_said", "letter"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(place: int) -> str:
    """The name of the run at that place in a comparison: A, B, … Z, AA, AB and so on."""
    more, last = divmod(place, len(_LETTERS))
    return (letter(more - 1) if more else "") + _LETTERS[last]


def find_run(store: Store, name: str) -> Run:
    """The newest run of the model of that name; else the run of that id, the beginning of it, or `latest`.

    Raises:
        UsageError: there is none, or the beginning of an id is that of several.
    """
    return _candidates(store, name)[0]


def find_runs(store: Store, names: Sequence[str], tasks: Sequence[str] = ()) -> list[Run]:
    """The runs of several names that belong together: a model's newest run of a task that all have.

    Args:
        store: where they lie.
        names: as `find_run` takes them.
        tasks: that are to be compared; none: any that all have, the one that was run last.

    Raises:
        UsageError: as `find_run`.
    """
    found = [_candidates(store, name) for name in names]
    shared = set.intersection(*({task.task for run in several for task in run.tasks} for several in found))
    wanted = shared & set(tasks) if tasks else shared
    if not wanted:
        return [several[0] for several in found]

    def newest(task: str) -> list[Run]:
        return [next(run for run in several if _has(run, task)) for several in found]

    chosen = max(sorted(wanted), key=lambda task: min(run.updated for run in newest(task)))
    return newest(chosen)


def _has(run: Run, task: str) -> bool:
    return any(one.task == task for one in run.tasks)


def _candidates(store: Store, name: str) -> list[Run]:
    """Runs of a name, the newest first."""
    of_model = [
        run for run in store.runs() if name in (run.model.name, f"{run.model.provider}/{run.model.name}")
    ]
    return sorted(of_model, key=lambda run: run.updated, reverse=True) or [store.run(name)]


def items_said(count: int) -> str:
    """So many items, in words.

    >>> items_said(1), items_said(1319)
    ('1 item', '1,319 items')
    """
    return f"{count:,} item" if count == 1 else f"{count:,} items"
