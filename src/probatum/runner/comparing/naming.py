"""Runs by what people call them: an id, `latest`, or the name of a model."""

from __future__ import annotations

from probatum.core.run import Run
from probatum.store import Store

__all__ = ["find_run", "letter"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def letter(place: int) -> str:
    """The name of the run at that place in a comparison: A, B, … Z, AA, AB and so on."""
    more, last = divmod(place, len(_LETTERS))
    return (letter(more - 1) if more else "") + _LETTERS[last]


def find_run(store: Store, name: str) -> Run:
    """The run of that id (or the beginning of it), `latest`, or the newest run of the model of that name.

    Raises:
        UsageError: there is none, or the beginning of an id is that of several.
    """
    of_model = [
        run for run in store.runs() if name in (run.model.name, f"{run.model.provider}/{run.model.name}")
    ]
    if of_model:
        return max(of_model, key=lambda run: run.updated)
    return store.run(name)
