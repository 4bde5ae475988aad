"""IFEval and its sisters: verdicts on every instruction, strict and loose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probatum.scoring.rules import PublishedRow, join_published, replicate

from .files import Data
from .rows import Difference, Family, Finding, Rate, Row, holds

__all__ = ["FAMILIES"]


def _ifeval(row: Row, data: Data) -> Finding:
    """By the edition that follows the published checkers; the one that mends their faults beside it."""
    outputs, inputs = _files(row)
    stored = data.lines(outputs)
    loose = "_loose" in outputs
    rows = join_published(data.lines(inputs), [_under(each, loose=loose) for each in stored])
    official, own = replicate(rows), replicate(rows, edition="probatum")
    numbers = dict(official.accuracies)
    known = [each for each in official.differences if each.reason is not None]
    unknown = [each for each in official.differences if each.reason is None]
    if "strict" not in stored[0]:
        reading = "loose" if loose else "strict"
        numbers |= {"prompt": numbers[f"prompt_{reading}"], "inst": numbers[f"inst_{reading}"]}
    explained = None
    if known and not unknown and _adds_up(rows, row.value):
        explained = (
            f"every one of the {len(known)} differing verdicts has its reason in the list; "
            "the stored verdicts add up to the published numbers"
        )
    return Finding(
        numbers={name: Rate(value / 100) if name != "n" else int(value) for name, value in numbers.items()},
        checks=(("verdicts that differ without a known reason", 0, len(unknown)),),
        material="raw outputs",
        ours={name: value for name, value in own.accuracies.items() if name != "n"},
        differences=_listed(official.differences, "published rule") + _listed(own.differences, "mended rule"),
        explained=explained,
        notes=(f"{len(official.differences)} of {_verdicts(rows)} verdicts differ under the published rule",),
    )


def _files(row: Row) -> tuple[str, str]:
    outputs = next(each for each in row.inputs if "input_data" not in each)
    inputs = next((each for each in row.inputs if "input_data" in each), None)
    return outputs, inputs or "ifeval/input_data_541.jsonl"


def _under(each: Mapping[str, Any], *, loose: bool) -> Mapping[str, Any]:
    """A file of one reading has its verdicts under the name of both."""
    if not loose:
        return each
    bare = {name: value for name, value in each.items() if name != "follow_instruction_list"}
    return {**bare, "loose": each["follow_instruction_list"]}


def _adds_up(rows: Sequence[PublishedRow], published: Mapping[str, float]) -> bool:
    """Whether the stored verdicts, taken as they are, give the published accuracies."""
    for reading in ("strict", "loose"):
        verdicts = [getattr(each, reading) for each in rows]
        if any(each is None for each in verdicts):
            continue
        flat = [one for each in verdicts for one in each]
        for name, values in (
            (f"prompt_{reading}", [all(each) for each in verdicts]),
            (f"inst_{reading}", flat),
        ):
            found = 100 * sum(values) / len(values)
            if name in published and abs(found - published[name]) > 1e-9:
                return False
    return True


def _verdicts(rows: Sequence[PublishedRow]) -> int:
    return sum(len(each) for row in rows for each in (row.strict, row.loose) if each is not None)


def _listed(differences: Sequence[Any], by: str) -> list[Difference]:
    return [
        Difference(
            f"{each.key} {each.id} ({each.reading})",
            "followed" if each.published else "not followed",
            f"{'followed' if each.ours else 'not followed'} ({by})",
            each.reason or "no known reason",
        )
        for each in differences
    ]


FAMILIES = (Family("IFEval", holds("ifeval/"), _ifeval),)
