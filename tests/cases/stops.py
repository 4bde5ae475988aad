"""Stop strings."""

from __future__ import annotations

import re
from typing import Any

from probatum.core.records import Finish
from probatum.extraction.stops import check_stops, cut_at_stop, stops_within
from probatum.runner.emptiness import emptiness
from tests.cases.frame import Given, Said, operation, refusal


def text_or_fields(ours: Any, expected: Any) -> bool:
    """Right values give the text alone, or the text with what else was noted."""
    if isinstance(expected, str):
        return bool(ours["text"] == expected)
    return all(key in ours and ours[key] == value for key, value in expected.items())


@operation("apply_stops", unused=("chat",), agrees=text_or_fields)
def apply_stops(given: Given) -> Any:
    cut = cut_at_stop(
        given["text"], tuple(given["stops"] or ()), stopped=given.get("finish_reason") == Finish.STOP
    )
    noted = {"flag": "partial stop marker removed"} if cut.partial else {}
    return {"text": cut.text, "stripped": cut.text.strip(), **noted}


@operation("apply_stops_to_generation", unused=("prompt",), agrees=text_or_fields)
def apply_stops_to_generation(given: Given) -> Any:
    """Only what was generated is handed over: the prompt is no part of a response."""
    return {"text": cut_at_stop(given["generation"], tuple(given["stops"])).text}


@operation("validate_stops")
def validate_stops(given: Given) -> Any:
    return refusal(lambda: check_stops(tuple(given["stops"])) or Said("accepted"))


def flags(ours: str | None, expected: Any) -> bool:
    """A run that is flagged, with the share that the right value names; or one that is not."""
    share = re.search(r"\d+%", str(expected))
    if "not flagged" in str(expected) or share is None:
        return ours is None
    return ours is not None and ours.startswith(share[0])


@operation("empty_rate", agrees=flags)
def empty_rate(given: Given) -> str | None:
    return emptiness(given["outputs"]).note(given["threshold"])


def conflicts(ours: list[Any], expected: Any) -> bool:
    """A stop string that some gold answer holds, where the right value tells of one."""
    if isinstance(expected, str):
        return bool(ours) == (not expected.startswith(("ok", "no lint")))
    return ours == expected


@operation("lint_stops", agrees=conflicts)
def lint_stops(given: Given) -> list[Any]:
    golds = given["golds"] if "golds" in given else [given["gold"]]
    return [stop for gold in golds for stop in stops_within(gold, tuple(given["stops"]))]
