"""A run in a notebook: an HTML table in which every text is shown and none is obeyed."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping
from typing import Final

from probatum.core.figures import figure
from probatum.core.records import Estimate
from probatum.core.run import Run

__all__ = ["run_html"]

COLUMNS: Final = ("task", "metric", "n", "value", "interval", "method", "coverage", "bounds", "chance")


def run_html(
    run: Run,
    estimates: Mapping[str, Iterable[Estimate]],
    statuses: Mapping[str, Mapping[str, int]],
    noise: Mapping[str, Iterable[str]] | None = None,
    faults: Iterable[str] = (),
) -> str:
    """The table, without style and script of its own.

    Args:
        run: whose id, model and state stand above it.
        estimates: task → estimates, in order.
        statuses: task → status → count.
        noise: task → what asking twice showed, line by line.
        faults: invariants that the run breaks; they stand above its numbers.
    """
    model = f"{run.model.provider}/{run.model.name}"
    head = f"run <code>{_shown(run.id)}</code> · {_shown(model)} · {_shown(run.state.value)}"
    rows = [_row(task, one) for task, several in estimates.items() for one in several]
    counts = [
        f"<li>{_shown(task)}: "
        + (", ".join(f"{_shown(status)} {count}" for status, count in found.items()) or "no sample")
        + "</li>"
        for task, found in statuses.items()
    ]
    counts += [
        f"<li>{_shown(task)}: {_shown(line)}</li>" for task, lines in (noise or {}).items() for line in lines
    ]
    names = "".join(f"<th>{name}</th>" for name in COLUMNS)
    broken = "".join(
        f"<p><strong>INVALID, do not use these numbers</strong>: {_shown(fault)}</p>" for fault in faults
    )
    return (
        f"<p>{head}</p>{broken}<table><thead><tr>{names}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"<ul>{''.join(counts)}</ul>"
    )


def _row(task: str, estimate: Estimate) -> str:
    interval = "-"
    if estimate.low is not None and estimate.high is not None:
        interval = f"[{figure(estimate.low)}, {figure(estimate.high)}] {100 * estimate.level:g}%"
    bounds = "-" if estimate.bounds is None else f"{estimate.bounds[0]:.4f} … {estimate.bounds[1]:.4f}"
    cells = (
        task,
        f"{estimate.name} [{estimate.denominator}]",
        str(estimate.n),
        "cannot tell" if estimate.value is None else figure(estimate.value),
        interval,
        estimate.method,
        f"{estimate.coverage:.4f}",
        bounds,
        "-" if estimate.chance is None else f"{estimate.chance:.4f}",
    )
    title = f' title="{_shown("; ".join(estimate.warnings))}"' if estimate.warnings else ""
    return f"<tr{title}>" + "".join(f"<td>{_shown(cell)}</td>" for cell in cells) + "</tr>"


def _shown(text: str) -> str:
    """Escaped, and with signs that steer a terminal or turn the direction of writing by their numbers."""
    return html.escape("".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text))
