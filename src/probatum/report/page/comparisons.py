"""The sections that hold runs against each other: the summary of all, and the paired comparison."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final

from probatum.core.comparability import Comparability
from probatum.core.moments import to_the_second
from probatum.core.records import Estimate
from probatum.core.run import Run
from probatum.report.page.blocks import Block, Figure, Listing, Paragraph, Section, Table
from probatum.report.page.figures import Row, bars, forest
from probatum.report.page.gathering import TaskReport
from probatum.report.page.messages import Words
from probatum.report.page.sensitivity import PromptSensitivity, PromptVariant
from probatum.report.page.tasks import KINDS, interval_text, number, percent, status_kind, status_parts
from probatum.report.page.verdicts import verdict_text
from probatum.runner.comparing import Comparison, Contrast, PairComparison, Ranking
from probatum.runner.invariants import is_rate

__all__ = ["comparison_section", "sensitivity_section", "summary_section"]

LISTED: Final = 60
"""Differences of protocols and strata of a comparison that are listed."""

_KINDS: Final[Mapping[Comparability, str]] = {
    Comparability.SAME: "comparability_same",
    Comparability.NOTED: "comparability_noted",
    Comparability.REFUSED: "comparability_refused",
}

Named = Sequence[tuple[str, Run, Sequence[TaskReport]]]
"""Letter, run and tasks."""


def summary_section(named: Named, words: Words) -> Section:
    """The first result of every task of every run, and one plot a task where there are several runs."""
    columns = ("run", "model", "task", "measure", "value", "interval", "items", "coverage", "chance", "state")
    rows = [
        (
            letter,
            f"{run.model.provider}/{run.model.name}",
            task.record.task,
            *_headline(task, words),
            run.state.value,
        )
        for letter, run, tasks in named
        for task in tasks
    ]
    table = Table(
        caption=words("summary_caption"),
        columns=tuple(words(name) for name in columns),
        rows=tuple(rows),
        numbers=frozenset({4, 5, 6, 7, 8}),
    )
    blocks = (table, *_plots(named, words), *_endings(named, words))
    return Section("summary", 2, words("summary"), blocks)


def _headline(task: TaskReport, words: Words) -> tuple[str, ...]:
    first = next(iter(task.estimates), None)
    if first is None:
        return ("–",) * 6
    return (
        f"{first.name} [{first.denominator}]",
        words("undefined") if first.value is None else number(first.value),
        interval_text(first.low, first.high, words),
        str(first.n),
        number(first.coverage),
        number(first.chance),
    )


def _endings(named: Named, words: Words) -> Iterator[Block]:
    """A bar of statuses for each task of each run, and what is in the denominator of its rates."""
    found = [(letter, task) for letter, _, tasks in named for task in tasks if task.statuses]
    if not found:
        return
    rows = [(f"{letter} {task.record.task}", status_parts(task)) for letter, task in found]
    told = words("endings_text")
    yield Figure(bars(rows, title=words("endings"), description=told), told)
    cells = []
    for letter, task in found:
        counts = dict.fromkeys(KINDS, 0)
        for name, count in task.statuses.items():
            counts[status_kind(name, task)] += count
        shares = (f"{count} ({percent(count / task.graded)})" for count in counts.values())
        cells.append((letter, task.record.task, str(task.record.planned), str(task.graded), *shares))
    yield Table(
        caption=words("endings"),
        columns=(
            *(words(name) for name in ("run", "task", "planned", "graded")),
            *(words(f"endings_{name}") for name in KINDS),
        ),
        rows=tuple(cells),
        numbers=frozenset(range(2, 8)),
    )


def _plots(named: Named, words: Words) -> Iterator[Figure]:
    tasks: dict[str, list[tuple[str, Estimate]]] = {}
    for letter, run, found in named:
        for task in found:
            first = next(iter(task.estimates), None)
            if first is not None and first.value is not None:
                label = f"{letter} {run.model.provider}/{run.model.name}"
                tasks.setdefault(task.record.task, []).append((label, first))
    for name, found_estimates in tasks.items():
        first = found_estimates[0][1]
        level = f"{100 * first.level:g}%"
        chance = next((each.chance for _, each in found_estimates if each.chance is not None), None)
        picture = forest(
            [Row(label, each.value, each.low, each.high) for label, each in found_estimates],
            title=words("summary_figure", task=name, name=first.name),
            description=words("summary_figure_text", level=level),
            reference=None if chance is None else (chance, words("chance_line", chance=number(chance))),
            domain=(0.0, 1.0) if all(is_rate(each) for _, each in found_estimates) else None,
        )
        yield Figure(picture, words("summary_figure", task=name, name=first.name))


def comparison_section(comparison: Comparison | None, failed: str | None, words: Words) -> Section:
    """The comparison, or why there is none."""
    if comparison is None:
        blocks: tuple[Block, ...] = (Paragraph(words("comparison_failed", reason=failed or "")),)
    else:
        blocks = tuple(_blocks(comparison, words))
    return Section("comparison", 2, words("comparison"), blocks)


def _blocks(comparison: Comparison, words: Words) -> Iterator[Block]:
    yield Paragraph(words("comparison_text", level=f"{100 * comparison.level:g}%"))
    yield Table(
        caption=words("runs_caption"),
        columns=tuple(words(name) for name in ("letter", "run", "model", "updated")),
        rows=tuple(
            (each.letter, each.run, each.model, to_the_second(each.updated)) for each in comparison.runs
        ),
    )
    names = [_name(pair, words) for pair in comparison.pairs]
    verdicts = [verdict_text(pair.verdict, words) for pair in comparison.pairs]
    yield Listing(
        tuple(words("said", name=name, text=text) for name, text in zip(names, verdicts, strict=True))
    )
    made = {
        name: pair.contrast
        for name, pair in zip(names, comparison.pairs, strict=True)
        if pair.contrast is not None
    }
    if made:
        yield _figure(made, words("difference_figure"), words)
        yield _table(words("pairs_caption"), made, words, dict(zip(names, comparison.pairs, strict=True)))
    for name, pair in zip(names, comparison.pairs, strict=True):
        yield from _of_pair(name, pair, words)
    for ranking in comparison.rankings:
        yield from _ranking(ranking, words)
    if comparison.notes:
        yield Listing(comparison.notes)


def _kind(kind: Comparability, words: Words) -> str:
    return words(_KINDS[kind])


def _name(pair: PairComparison, words: Words) -> str:
    return words("pair_name", task=pair.task, a=pair.a, b=pair.b)


def _figure(contrasts: Mapping[str, Contrast], title: str, words: Words) -> Figure:
    rows = [
        Row(name, each.estimate.value, each.estimate.low, each.estimate.high)
        for name, each in islice(contrasts.items(), LISTED)
    ]
    level = next(iter(contrasts.values())).estimate.level
    told = words("forest_text", level=f"{100 * level:g}%")
    picture = forest(rows, title=title, description=told, reference=(0.0, words("zero_line")))
    return Figure(picture, told)


def _table(
    caption: str, contrasts: Mapping[str, Contrast], words: Words, pairs: Mapping[str, PairComparison] | None
) -> Table:
    names = ["pair" if pairs is not None else "slice", "items"]
    head = [words(name) for name in names]
    head += [words("mean_of_first"), words("mean_of_second")]
    head += [words(name) for name in ("difference", "interval", "p_adjusted", "test", "wins")]
    if pairs is not None:
        head += [words("detectable"), words("comparability")]
    rows = []
    for name, each in islice(contrasts.items(), LISTED):
        row = [
            name,
            str(each.estimate.n),
            number(each.mean_a),
            number(each.mean_b),
            "–" if each.estimate.value is None else f"{each.estimate.value:+.4f}",
            interval_text(each.estimate.low, each.estimate.high, words),
            "–" if each.p_adjusted is None else f"{each.p_adjusted:.3g}",
            each.test,
            f"{each.wins} / {each.losses} / {each.ties}",
        ]
        if pairs is not None:
            row += [number(pairs[name].detectable), _kind(pairs[name].comparability, words)]
        rows.append(tuple(row))
    return Table(
        caption=caption,
        columns=tuple(head),
        rows=tuple(rows),
        numbers=frozenset({1, 2, 3, 4, 5, 6}),
        folded=pairs is None,
    )


def _of_pair(name: str, pair: PairComparison, words: Words) -> Iterator[Block]:
    """What differs beside the models, notes, and the strata."""
    if pair.differences:
        yield Table(
            caption=f"{name}: {words('differences_caption')}",
            columns=(words("field"), words("comparability"), words("meaning"), pair.a, pair.b),
            rows=tuple(
                (
                    each.field,
                    _kind(each.kind, words),
                    each.meaning,
                    str(each.one)[:200],
                    str(each.other)[:200],
                )
                for each in pair.differences[:LISTED]
            ),
            folded=True,
        )
    warnings = pair.contrast.estimate.warnings if pair.contrast is not None else ()
    if notes := tuple(f"{name}: {note}" for note in (*pair.notes, *warnings)):
        yield Listing(notes)
    if pair.strata:
        strata = {each.name: each for each in pair.strata}
        caption = words("strata_caption", pair=name)
        yield _figure(strata, caption, words)
        yield _table(caption, strata, words, None)


def _ranking(ranking: Ranking, words: Words) -> Iterator[Block]:
    yield Table(
        caption=words("ranking_caption", task=ranking.task, n=ranking.n),
        columns=tuple(words(name) for name in ("run", "mean", "rank", "rank_interval")),
        rows=tuple(
            (row.run, number(row.mean), str(row.rank), f"{row.low} – {row.high}") for row in ranking.rows
        ),
        numbers=frozenset({1, 2, 3}),
    )
    yield Paragraph(words("groups_text", groups="; ".join(", ".join(group) for group in ranking.groups)))


def sensitivity_section(found: Sequence[PromptSensitivity], words: Words) -> Section:
    """How the score of one model hangs on the prompt."""
    blocks = (block for each in found for block in _sensitivity(each, words))
    return Section("sensitivity", 2, words("sensitivity"), (Paragraph(words("sensitivity_text")), *blocks))


def _sensitivity(found: PromptSensitivity, words: Words) -> Iterator[Block]:
    title = words("sensitivity_caption", task=found.task, model=found.model, score=found.score)
    level = f"{100 * found.variants[0].estimate.level:g}%"
    shares = all(each.estimate.value is not None and 0 <= each.estimate.value <= 1 for each in found.variants)
    picture = forest(
        [
            Row(_variant(each, words), each.estimate.value, each.estimate.low, each.estimate.high)
            for each in found.variants
        ],
        title=title,
        description=words("forest_text", level=level),
        domain=(0.0, 1.0) if shares else None,
    )
    yield Figure(picture, words("forest_text", level=level))
    yield Table(
        caption=title,
        columns=tuple(words(name) for name in ("run", "prompt_differs", "value", "interval", "items")),
        rows=tuple(
            (
                each.letter,
                ", ".join(each.differs) or words("prompt_first"),
                number(each.estimate.value),
                interval_text(each.estimate.low, each.estimate.high, words),
                str(each.estimate.n),
            )
            for each in found.variants
        ),
        numbers=frozenset({2, 3, 4}),
    )
    facts = (
        ("spread", number(found.spread)),
        ("prompt_deviation", number(found.deviation)),
        ("prompt_changed", f"{found.changed} / {found.items}"),
        ("prompt_test", "–" if found.p_value is None else f"{found.p_value:.3g} ({found.method})"),
    )
    yield Table(
        caption=words("sensitivity_facts", task=found.task),
        columns=(words("measure"), words("value")),
        rows=tuple((words(name), value) for name, value in facts),
        numbers=frozenset({1}),
    )


def _variant(each: PromptVariant, words: Words) -> str:
    return f"{each.letter} {', '.join(each.differs) or words('prompt_first')}"
