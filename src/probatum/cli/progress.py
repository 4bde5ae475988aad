"""The progress line: rate, time left, statuses so far. On stderr, and only on a terminal."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from probatum.runner.progress import Progress

__all__ = ["shown_progress"]

INTERVAL = 0.25  # seconds between two looks at the counters


@contextlib.contextmanager
def shown_progress(*, enabled: bool) -> Iterator[Progress]:
    """Counters for the runner, shown while it runs."""
    progress = Progress()
    if not enabled:
        yield progress
        return
    bar = Bar(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TimeRemainingColumn(),
        TextColumn("{task.fields[statuses]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    ended = threading.Event()
    with bar:
        thread = threading.Thread(
            target=_watch, args=(bar, progress, ended), name="probatum-progress", daemon=True
        )
        thread.start()
        try:
            yield progress
        finally:
            ended.set()
            thread.join()


def _watch(bar: Bar, progress: Progress, ended: threading.Event) -> None:
    line = bar.add_task("starting", total=None, rate="", statuses="")
    name = ""
    while not ended.wait(INTERVAL):
        if not progress.task:
            continue
        if progress.task != name:
            name = progress.task
            bar.reset(line, total=progress.planned, description=name)
        speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
        statuses = "  ".join(f"{status.value} {count}" for status, count in progress.statuses.most_common(4))
        description = "finishing what is in flight; Ctrl-C again stops at once" if progress.stopping else name
        bar.update(
            line,
            description=description,
            completed=progress.done,
            rate=f"{speed:.1f}/s" if speed else "",
            statuses=f"{statuses}  asked {progress.asked}  reused {progress.reused}",
        )
