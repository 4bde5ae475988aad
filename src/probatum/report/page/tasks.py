"""The sections of one task: results, statuses, slices, curves, failures, examples, notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from probatum.core.records import Estimate
from probatum.core.run import Run
from probatum.core.status import Status
from probatum.report.page.blocks import Block, Examples, Figure, Listing, Paragraph, Section, Table
from probatum.report.page.examples import GROUPS
from probatum.report.page.figures import Band, Row, bar, curve, forest
from probatum.report.page.gathering import Count, TaskReport
from probatum.report.page.messages import Words
from probatum.runner.invariants import is_rate
from probatum.runner.noise import noise_floor_of

__all__ = [
    "KINDS",
    "TaskPage",
    "interval_text",
    "number",
    "percent",
    "status_kind",
    "status_parts",
    "task_sections",
]

SLICES_SHOWN: Final = 400
SLICES_DRAWN: Final = 80
NOTHING: Final = "–"
"""Stands in a cell that has no number; a column of nothing else is left out."""
_PASS_AT: Final = re.compile(r"pass@(\d+)")
_COLOUR: Final = {"scored": "good", "wrong": "wrong", "missing": "missing", "broken": "broken"}
KINDS: Final = {"scored": "as_scored", "wrong": "as_wrong", "missing": "as_missing", "broken": "as_invalid"}
"""What a policy makes of a status → the message that says so."""


@dataclass(frozen=True, kw_only=True)
class TaskPage:
    """One task of one run on the page."""

    run: Run
    letter: str
    task: TaskReport
    words: Words
    examples: int
    """Most examples of each group, as asked for."""

    @property
    def anchor(self) -> str:
        """Beginning of the ids of its sections: no name of a task is in it."""
        return f"run-{self.letter}-task-{[one.task for one in self.run.tasks].index(self.task.record.task)}"

    @property
    def name(self) -> str:
        """The task."""
        return self.task.record.task


def task_sections(page: TaskPage) -> Iterator[Section]:
    """The sections in order; what there is nothing to say of is left out."""
    words = page.words
    yield Section(page.anchor, 3, words("task_title", task=page.name), tuple(_validity(page)))
    parts = (
        ("results", _results),
        ("noise", _noise),
        ("statuses", _statuses),
        ("slices", _slices),
        ("passk", _pass_at_k),
        ("calibration", _calibration),
        ("lengths", _lengths),
        ("positions", _positions),
        ("failures", _failures),
        ("examples", _examples),
        ("contamination", _contamination),
        ("notes", _notes),
    )
    for name, make in parts:
        if blocks := tuple(make(page)):
            yield Section(f"{page.anchor}-{name}", 4, words(name), blocks)


def number(value: float | None, digits: int = 4) -> str:
    """A number of a table; nothing where there is none."""
    if value is None:
        return NOTHING
    return f"{value:.{digits}f}" if abs(value) < 1e6 else f"{value:.6g}"  # noqa: PLR2004 - fits a cell


def percent(share: float) -> str:
    """A share as per cent."""
    return f"{100 * share:.1f}%"


def interval_text(low: float | None, high: float | None, words: Words) -> str:
    """`[low, high]`, or that there is none."""
    return words("no_interval") if low is None or high is None else f"[{number(low)}, {number(high)}]"


def _level(page: TaskPage) -> str:
    level = next((each.level for each in page.task.estimates), 0.95)
    return f"{100 * level:g}%"


def _validity(page: TaskPage) -> Iterator[Block]:
    if page.task.faults:
        yield Paragraph(page.words("invalid_run", run=page.run.id), "bad")
        yield Listing(page.task.faults, "bad")
    if not page.task.record.summary:
        yield Paragraph(
            page.words(
                "unfinished",
                run=page.run.id,
                state=page.run.state.value,
                graded=page.task.graded,
                planned=page.task.record.planned,
                task=page.name,
            ),
            "bad",
        )


def _results(page: TaskPage) -> Iterator[Block]:
    task, words = page.task, page.words
    if not task.estimates:
        return
    yield Paragraph(words("results_text", level=_level(page), clusters=_clusters(page)))
    yield _estimates_table(task.estimates, words("results_caption", task=page.name), words)
    yield from _forest_of(task.estimates, words("results_caption", task=page.name), page)
    known = task.chance is not None
    yield Paragraph(words("chance_known", chance=number(task.chance)) if known else words("chance_unknown"))


def _clusters(page: TaskPage) -> str:
    items, clusters = (page.task.record.summary.get(name) for name in ("units", "clusters"))
    if items == clusters:
        return page.words("clusters_own")
    return page.words("clusters_some", items=items, clusters=clusters)


def _estimates_table(estimates: Sequence[Estimate], caption: str, words: Words) -> Table:
    names = (
        "measure",
        "value",
        "interval",
        "items",
        "clusters",
        "coverage",
        "missing_span",
        "chance",
        "p_chance",
        "denominator",
        "method",
    )
    rows = [_estimate_row(each, words) for each in estimates]
    kept = [place for place in range(len(names)) if any(row[place] != NOTHING for row in rows)]
    return Table(
        caption=caption,
        columns=tuple(words(names[place]) for place in kept),
        rows=tuple(tuple(row[place] for place in kept) for row in rows),
        numbers=frozenset(new for new, old in enumerate(kept) if 1 <= old < 9),  # noqa: PLR2004 - see the names
    )


def _estimate_row(each: Estimate, words: Words) -> tuple[str, ...]:
    return (
        each.name,
        words("undefined") if each.value is None else number(each.value),
        interval_text(each.low, each.high, words),
        str(each.n),
        NOTHING if each.clusters is None else str(each.clusters),
        number(each.coverage),
        NOTHING if each.bounds is None else f"{number(each.bounds[0])} … {number(each.bounds[1])}",
        number(each.chance),
        NOTHING if each.p_chance is None else f"{each.p_chance:.3g}",
        each.denominator,
        each.method,
    )


def _forest_of(estimates: Sequence[Estimate], title: str, page: TaskPage) -> Iterator[Figure]:
    """One plot of the shares: they have a scale in common, and nothing else has one with them."""
    rows = [
        Row(each.name, each.value, each.low, each.high)
        for each in estimates
        if is_rate(each) and each.value is not None
    ]
    if not rows:
        return
    chance = next((each.chance for each in estimates if each.chance is not None), None)  # strata have none
    words = page.words
    reference = None if chance is None else (chance, words("chance_line", chance=number(chance)))
    picture = forest(
        rows,
        title=title,
        description=words("forest_text", level=_level(page)),
        reference=reference,
        domain=(0.0, 1.0),
    )
    yield Figure(picture, words("forest_text", level=_level(page)))


def _noise(page: TaskPage) -> Iterator[Block]:
    """How far the model agreed with itself, where a share was asked twice."""
    words, found = page.words, noise_floor_of(page.task.record)
    if found is None:
        return
    counts = {name: getattr(found, name) for name in ("samples", "of", "requests", "answered")}
    yield Paragraph(words("noise_text", **counts))
    claimed = "_claimed" if found.reproducible and found.decoding != "scored" else ""
    yield Paragraph(words(f"noise_{found.decoding}{claimed}"))
    likely, change = found.log_probabilities, found.change
    told = (found.text, found.answer, found.score, None if likely is None else likely.top, change)
    estimates = [each for each in told if each is not None]
    if estimates:
        yield _estimates_table(estimates, words("noise"), words)
    if found.noise is not None:
        yield Table(
            caption=words("noise_numbers"),
            columns=tuple(words(name) for name in ("measure", "noise_floor", "noise_most", "standard_error")),
            rows=(
                (
                    found.score_name or NOTHING,
                    number(found.noise),
                    number(found.noise_high),
                    number(found.standard_error),
                ),
            ),
            numbers=frozenset({1, 2, 3}),
        )
    if likely is not None:
        yield Table(
            caption=words("noise_likely", n=likely.requests),
            columns=tuple(words(name) for name in ("median_difference", "largest_difference")),
            rows=((f"{likely.median_difference:.2g}", f"{likely.max_difference:.2g}"),),
            numbers=frozenset({0, 1}),
        )
    if found.something_changed:
        yield Paragraph(words("noise_changed"), "bad")


def _statuses(page: TaskPage) -> Iterator[Block]:
    task, words = page.task, page.words
    if not task.statuses:
        return
    whole = task.graded
    kinds = {name: status_kind(name, task) for name in task.statuses}
    policy = next((each.denominator for each in task.estimates), "end_to_end")
    yield Paragraph(words("statuses_text", planned=task.record.planned, graded=whole, policy=policy))
    parts = status_parts(task)
    told = ", ".join(f"{name} {percent(count / whole)}" for name, count, _ in parts)
    yield Figure(bar(parts, title=words("statuses_figure", task=page.name), description=told), told)
    yield Table(
        caption=words("statuses_caption", task=page.name),
        columns=tuple(words(name) for name in ("status", "samples", "share", "counted_as", "meaning")),
        rows=tuple(
            (name, str(count), percent(count / whole), words(KINDS[kinds[name]]), words.status(Status(name)))
            for name, count in task.statuses.items()
        ),
        numbers=frozenset({1, 2}),
        swatches=tuple(colour for _, _, colour in parts),
    )


def status_parts(task: TaskReport) -> list[tuple[str, int, str]]:
    """Status, count, and the colour of what the policy makes of it."""
    return [(name, count, _COLOUR[status_kind(name, task)]) for name, count in task.statuses.items()]


def status_kind(name: str, task: TaskReport) -> str:
    """What the task's policy makes of a status: a key of `KINDS`."""
    status = Status(name)
    if status is Status.SCORED:
        return "scored"
    if status is Status.INVALID_ITEM:
        return "broken"
    return "wrong" if status in task.counted else "missing"


def _slices(page: TaskPage) -> Iterator[Block]:
    slices, words = page.task.slices, page.words
    if not slices:
        return
    yield Paragraph(words("slices_text", count=len(slices)))
    yield from _forest_of(slices[:SLICES_DRAWN], words("slices_caption"), page)
    yield _estimates_table(slices[:SLICES_SHOWN], words("slices_caption"), words)
    if len(slices) > SLICES_SHOWN:
        yield Paragraph(words("slices_cut", shown=SLICES_SHOWN, count=len(slices)))


def _pass_at_k(page: TaskPage) -> Iterator[Block]:
    words = page.words
    drawn = [
        (int(match[1]), each)
        for each in page.task.estimates
        if (match := _PASS_AT.fullmatch(each.name)) and each.value is not None
    ]
    found = sorted(drawn, key=lambda pair: pair[0])
    if len(found) < 2:  # noqa: PLR2004 - a curve; one k stands among the results
        return
    yield Paragraph(words("passk_text"))
    points = [Band(k, each.value or 0.0, each.low, each.high) for k, each in found]
    picture = curve(
        points,
        title=words("passk"),
        description=words("passk_text"),
        axes=(words("passk_k"), words("share_right")),
    )
    yield Figure(picture, words("forest_text", level=_level(page)))
    yield Table(
        caption=words("passk"),
        columns=(words("passk_k"), words("value"), words("interval"), words("items")),
        rows=tuple(
            (str(k), number(each.value), interval_text(each.low, each.high, words), str(each.n))
            for k, each in found
        ),
        numbers=frozenset({1, 2, 3}),
    )


def _calibration(page: TaskPage) -> Iterator[Block]:
    words, table = page.words, page.task.reliability
    if table is None:
        return
    yield Paragraph(words("calibration_text", n=table.n))
    filled = [each for each in table if each.count]
    points = [
        Band(each.confidence or 0.0, each.accuracy or 0.0, each.accuracy_low, each.accuracy_high)
        for each in filled
    ]
    picture = curve(
        points,
        title=words("reliability"),
        description=words("calibration_text", n=table.n),
        axes=(words("confidence"), words("share_right")),
        x_domain=(0.0, 1.0),
        diagonal=True,
    )
    yield Figure(picture, words("reliability"))
    yield Table(
        caption=words("reliability"),
        columns=tuple(
            words(name) for name in ("bin", "samples", "mean_confidence", "share_right", "interval")
        ),
        rows=tuple(
            (
                f"({each.low:g}, {each.high:g}]",
                str(each.count),
                number(each.confidence),
                number(each.accuracy),
                interval_text(each.accuracy_low, each.accuracy_high, words),
            )
            for each in filled
        ),
        numbers=frozenset({1, 2, 3, 4}),
    )
    yield from _risk(page)


def _risk(page: TaskPage) -> Iterator[Block]:
    words, risk = page.words, page.task.risk
    if risk is None:
        return
    told = words("risk_text", shown=len(risk.points), reachable=risk.reachable)
    picture = curve(
        [Band(point.coverage, point.risk) for point in risk.points],
        title=words("risk"),
        description=told,
        axes=(words("answered"), words("error")),
        x_domain=(0.0, 1.0),
    )
    yield Figure(picture, told)
    tenths = [
        next((point for point in risk.points if point.coverage >= share / 10 - 1e-9), risk.points[-1])
        for share in range(1, 11)
    ]
    yield Table(
        caption=words("risk_caption"),
        columns=(words("answered"), words("error"), words("threshold")),
        rows=tuple(
            (percent(point.coverage), number(point.risk), number(point.threshold))
            for point in dict.fromkeys(tenths)
        ),
        numbers=frozenset({1, 2}),
    )


def _lengths(page: TaskPage) -> Iterator[Block]:
    words, found = page.words, page.task.lengths
    if found is None:
        return
    unit = words(f"unit_{found.unit}")
    told = words("lengths_text", samples=found.samples, unit=unit)
    yield Paragraph(told)
    points = [
        Band(each.mean_length, each.estimate.value or 0.0, each.estimate.low, each.estimate.high)
        for each in found.bins
    ]
    axes = (words("length_axis", unit=unit), words("mean_score"))
    yield Figure(curve(points, title=words("lengths"), description=told, axes=axes), words("lengths"))
    yield Table(
        caption=words("lengths"),
        columns=tuple(words(name) for name in ("length", "samples", "mean_length", "mean_score", "interval")),
        rows=tuple(
            (
                f"{each.low} – {each.high}",
                str(each.samples),
                f"{each.mean_length:.1f}",
                number(each.estimate.value),
                interval_text(each.estimate.low, each.estimate.high, words),
            )
            for each in found.bins
        ),
        numbers=frozenset({1, 2, 3, 4}),
    )


def _positions(page: TaskPage) -> Iterator[Block]:
    words, rows = page.words, page.task.positions
    if not rows:
        return
    yield Paragraph(words("positions_text"))
    yield Table(
        caption=words("positions"),
        columns=tuple(words(name) for name in ("place", "chosen", "right_here", "found_here")),
        rows=tuple(
            (
                str(row.get("label")),
                str(row.get("chosen")),
                str(row.get("right")),
                number(_real(row.get("found"))),
            )
            for row in rows
        ),
        numbers=frozenset({1, 2, 3}),
    )


def _real(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _failures(page: TaskPage) -> Iterator[Block]:
    task, words = page.task, page.words
    if not task.graded:
        return
    if not task.reasons:
        yield Paragraph(words("failures_none"))
    tables = (
        ("reasons_caption", "reason", task.reasons),
        ("rules_caption", "rule", task.rules),
        ("executions_caption", "ended", task.executions),
    )
    for caption, head, counts in tables:
        if counts:
            yield _count_table(words(caption), words(head), counts, page)


def _count_table(caption: str, head: str, counts: Sequence[Count], page: TaskPage) -> Table:
    words, whole = page.words, page.task.graded
    valued = any(each.value is not None for each in counts)
    return Table(
        caption=caption,
        columns=(head, words("samples"), words("share"), *((words("mean_score"),) if valued else ())),
        rows=tuple(
            (
                each.name,
                str(each.samples),
                percent(each.samples / whole),
                *((number(each.value),) if valued else ()),
            )
            for each in counts
        ),
        numbers=frozenset({1, 2, 3}),
    )


def _examples(page: TaskPage) -> Iterator[Block]:
    task, words = page.task, page.words
    if not task.groups:
        return
    if page.examples < 1:
        yield Paragraph(words("examples_none"))
        return
    yield Paragraph(
        words("examples_text", most=page.examples, shown=len(task.examples), total=sum(task.groups.values()))
    )
    if task.examples_cut:
        yield Paragraph(words("examples_cut"))
    for group in (group for group in GROUPS if task.groups.get(group)):
        shown = tuple(each for each in task.examples if each.group == group)
        known = f"group_{group}" if group in GROUPS[:4] else None
        name = group if known is None else words(known)
        yield Examples(words("group", group=name, shown=len(shown), total=task.groups[group]), shown)


def _contamination(page: TaskPage) -> Iterator[Block]:
    words, found = page.words, page.task.contamination
    if found is None:
        yield Paragraph(words("contamination_text", task=page.name))
        return
    audit = found.audit
    yield Paragraph(words("corpus_text", n=audit.n, unit=audit.unit, documents=audit.documents))
    rows = [row for row in found.rows if row.items]
    yield Table(
        caption=words("corpus_caption"),
        columns=tuple(words(name) for name in ("overlap", "items", "mean_score", "interval")),
        rows=tuple(
            (
                row.kind.value,
                str(row.items),
                NOTHING if row.estimate is None else number(row.estimate.value),
                NOTHING
                if row.estimate is None
                else interval_text(row.estimate.low, row.estimate.high, words),
            )
            for row in rows
        ),
        numbers=frozenset({1, 2, 3}),
    )
    if found.unknown:
        yield Paragraph(words("corpus_unknown", count=found.unknown), "bad")


def _notes(page: TaskPage) -> Iterator[Block]:
    warnings = [
        f"{each.name}: {warning}"
        for each in (*page.task.estimates, *page.task.slices)
        for warning in each.warnings
    ]
    texts = tuple(dict.fromkeys([*page.task.notes, *warnings]))[:200]
    yield Listing(texts) if texts else Paragraph(page.words("notes_none"))
