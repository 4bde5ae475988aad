"""Agents: patches, tool calls, turns, ends of episodes, oracles."""

from __future__ import annotations

import re
from typing import Any

from probatum.core.errors import DataError
from probatum.core.status import Status
from probatum.scoring.episodes import ToolFault, end_of_episode, lint_oracle, read_tool_call, read_user_turn
from probatum.scoring.patches import apply_patch, grade_patch, normalise_patch, read_patch
from tests.cases.frame import Given, Said, agree, begins, operation


def grade_agrees(ours: Any, expected: Any) -> bool:
    """The verdict in words ("no submission -> fail (and item linted: …)"), or a truth value."""
    if isinstance(expected, bool):
        return bool(ours.resolved is expected)
    words = expected.casefold()
    verdict = any(
        begins(words, word) for word in (("pass", "resolved") if ours.resolved else ("fail", "unresolved"))
    )
    submitted = "no submission" not in words or not ours.submitted
    return verdict and submitted and ("lint" not in words or bool(ours.lint))


@operation("grade_patch", agrees=grade_agrees)
def graded(given: Given) -> Any:
    return grade_patch(
        given["patch"], tests_before=given["tests_before"], tests_after=given.get("tests_after")
    )


def before(patch: str) -> dict[str, str]:
    """The files that the patch was made of, as far as its hunks show them."""
    return {
        file.old: "".join(f"{line}\n" for hunk in file.hunks for line in hunk.old)
        for file in read_patch(patch)
        if file.old is not None
    }


def patch_agrees(ours: Any, expected: Any) -> bool:
    if isinstance(ours, str) and expected == ours:
        return True
    if not isinstance(expected, str) or "applies" not in expected:
        return False
    try:
        changed = apply_patch(ours, before(ours))
    except DataError:
        return False
    return bool(changed) and ours.endswith("\n") and not ours.endswith("\n\n")


@operation("normalise_patch", agrees=patch_agrees)
def normalised(given: Given) -> str:
    return normalise_patch(given["patch"])


@operation("lint_oracle")
def linted(given: Given) -> Said:
    found = lint_oracle(given["task"], given["gold_actions"], writing=given.get("write_tools"))
    return Said("lint", "; ".join(found)) if found else Said("ok")


def turn_agrees(ours: Any, expected: str) -> bool:
    words = expected.casefold()
    agents = "agent gets its turn" in words or "agent first" in words or "continue" in words
    return agents is (ours.next == "agent")


@operation("turns", agrees=turn_agrees)
def turns(given: Given) -> Any:
    return read_user_turn(given["user"], pending=given.get("pending_action", False))


def call_agrees(ours: Any, expected: Any) -> bool:
    if isinstance(ours, ToolFault):
        return (
            isinstance(expected, str)
            and bool(re.match(r"error|tool error|invalid", expected))
            and bool(ours.message)
        )
    return agree(dict(ours.arguments), expected)


@operation("tool_call", agrees=call_agrees)
def tool_call(given: Given) -> Any:
    name = given.get("name", given.get("tool", "tool"))
    known = next((given[key] for key in ("tools", "allowed", "available") if key in given), None)
    tools = None if known is None else dict.fromkeys(known, ())
    if "required" in given:
        tools = {**(tools or {}), name: given["required"]}
    return read_tool_call(name, given.get("arguments"), tools)


REASONS = {
    Status.TIMEOUT: "timeout",
    Status.TRUNCATED: "limit",
    Status.INFRA_ERROR: "error",
    Status.MODEL_ERROR: "token",
}
"""A word of the reason that a right value names."""


def end_agrees(ours: Any, expected: Any) -> bool:
    if isinstance(expected, bool):
        return bool(ours.success is expected)
    words = expected.casefold()
    if ours.status is Status.SCORED:
        return any(begins(words, word) for word in (("success", "pass") if ours.success else ("fail",)))
    named = [word for word in ("timeout", "limit") if word in words]
    fault = (
        words.startswith("error") or begins(words, "truncated") or begins(words, "incomplete") or bool(named)
    )
    return fault and all(word == REASONS.get(ours.status) for word in named)


@operation("episode_result", agrees=end_agrees)
def episode_result(given: Given) -> Any:
    return end_of_episode(
        given.get("reported"),
        tokens=given.get("tokens"),
        timed_out=given.get("exceeded_timeout", False),
        turns=given.get("turns"),
        turn_limit=given.get("max_turns"),
        error=given.get("error"),
    )
