"""Stop strings."""

from __future__ import annotations

import re
from typing import Any

from probatum.core.records import Finish
from probatum.extraction.stops import check_stops, cut_at_stop, stops_within
from probatum.runner.emptiness import emptiness
from tests.cases.frame import Given, Said, agree, operation, refusal


def text_or_fields(ours: Any, expected: Any) -> bool:
    """Right values give the text alone, or the text with what else was noted; or that there is an error."""
    if isinstance(ours, Said):
        return agree(ours, expected)
    if isinstance(expected, str):
        return bool(ours["text"] == expected)
    return all(key in ours and ours[key] == value for key, value in expected.items())


def stops_of(given: Given) -> tuple[str, ...]:
    """One or several; none is none."""
    stops = given["stops"] if "stops" in given else given["until"]
    ends = tuple(given[name] for name in ("eos", "eos_token") if given.get(name))
    return ((stops,) if isinstance(stops, str) else tuple(stops or ())) + ends


@operation("apply_stops", unused=("chat", "special_tokens", "skip_special_tokens"), agrees=text_or_fields)
def apply_stops(given: Given) -> Any:
    def cut() -> Any:
        found = cut_at_stop(given["text"], stops_of(given), stopped=given.get("finish_reason") == Finish.STOP)
        noted = {"flag": "partial stop marker removed"} if found.partial else {}
        return {"text": found.text, "stripped": found.text.strip(), **noted}

    return refusal(cut)


@operation("apply_stops_many", agrees=lambda ours, expected: all(map(text_or_fields, ours, expected)))
def apply_stops_many(given: Given) -> list[Any]:
    shared = {name: given[name] for name in given if name not in ("op", "texts")}
    return [apply_stops(Given({**shared, "text": text})) for text in given["texts"]]


@operation("apply_stops_to_generation", unused=("prompt",), agrees=text_or_fields)
def apply_stops_to_generation(given: Given) -> Any:
    """Only what was generated is handed over: the prompt is no part of a response."""
    return {"text": cut_at_stop(given["generation"], stops_of(given)).text}


@operation("validate_stops")
def validate_stops(given: Given) -> Any:
    return refusal(lambda: check_stops(stops_of(given)) or Said("accepted"))


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
