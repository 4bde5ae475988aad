"""Patches as a model hands them in: made whole, applied to texts, and graded with what the tests said.

Unified diffs alone (POSIX `diff -u`, git's headers let pass). Applied strictly: a hunk's context must stand
in the file, at its line or, where that is unique, elsewhere; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from probatum.core.errors import DataError

__all__ = ["PatchGrade", "PatchedFile", "apply_patch", "grade_patch", "normalise_patch", "read_patch"]

_HUNK = re.compile(r"@@ -(?P<old>\d+)(?:,(?P<old_count>\d+))? \+(?P<new>\d+)(?:,(?P<new_count>\d+))? @@")
_FENCE = re.compile(r"\A\s*```(?:diff|patch)?[ \t]*\n(?P<body>.*?)\n?```\s*\Z", re.DOTALL)
_ABSENT: Final = "/dev/null"


def normalise_patch(text: str) -> str:
    r"""A patch in the form in which tools take it: `\n` line ends, one at the end, no fence around it.

    Blank lines of context that lost their leading blank get it back where a hunk's counts call for them.
    A text without a hunk or a header is no patch, and becomes empty.

    >>> normalise_patch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b")
    '--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n'
    """
    flat = text.replace("\r\n", "\n").replace("\r", "\n")
    fenced = _FENCE.match(flat)
    if fenced is not None:
        flat = fenced["body"]
    lines = flat.split("\n")
    while lines and not lines[-1].strip() and not _wanted(lines[:-1]):
        lines.pop()
    if not any(_HUNK.match(line) or line.startswith(("diff --git ", "--- ")) for line in lines):
        return ""
    return "".join(f"{line}\n" for line in _restored(lines))


def _wanted(lines: Sequence[str]) -> bool:
    """Whether the last hunk still needs a line."""
    left = 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk is not None:
            left = int(hunk["old_count"] or 1) + int(hunk["new_count"] or 1)
        elif left > 0 and not line.startswith("\\"):
            left -= 1 if line.startswith(("+", "-")) else 2
    return left > 0


def _restored(lines: Sequence[str]) -> list[str]:
    """Empty lines inside a hunk as empty context."""
    found: list[str] = []
    left = 0
    for line in lines:
        hunk = _HUNK.match(line)
        if hunk is not None:
            left = int(hunk["old_count"] or 1) + int(hunk["new_count"] or 1)
        elif left > 0:
            line = line or " "  # noqa: PLW2901 - the line as it should have been
            left -= 0 if line.startswith("\\") else 1 if line.startswith(("+", "-")) else 2
        found.append(line)
    return found


@dataclass(frozen=True, kw_only=True)
class _Hunk:
    start: int
    """Line of the old file, from 0."""
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class PatchedFile:
    """What a patch does to one file."""

    old: str | None
    """`None` where the file is new."""
    new: str | None
    """`None` where it is deleted."""
    hunks: tuple[_Hunk, ...]


def read_patch(patch: str) -> tuple[PatchedFile, ...]:
    """The files that a patch touches.

    Raises:
        DataError: it is no unified diff, or a hunk does not have the lines that its header counts.
    """
    files: list[PatchedFile] = []
    lines = normalise_patch(patch).split("\n")[:-1]
    place = 0
    while place < len(lines):
        if not (
            lines[place].startswith("--- ") and place + 1 < len(lines) and lines[place + 1].startswith("+++ ")
        ):
            if _HUNK.match(lines[place]):
                raise DataError(
                    f"patch, line {place + 1}: a hunk without a file; begin it with '--- ' and '+++ '"
                )
            place += 1
            continue
        old, new = (_name(lines[place + offset]) for offset in (0, 1))
        place += 2
        hunks: list[_Hunk] = []
        while place < len(lines) and (header := _HUNK.match(lines[place])):
            hunk, place = _hunk(lines, place + 1, header)
            hunks.append(hunk)
        files.append(PatchedFile(old=old, new=new, hunks=tuple(hunks)))
    if not files:
        raise DataError("the patch touches no file: it is empty, or no unified diff; write it with `diff -u`")
    return tuple(files)


def _name(line: str) -> str | None:
    name = line[4:].split("\t", maxsplit=1)[0].strip().strip('"')
    if name == _ABSENT:
        return None
    return name[2:] if name[:2] in ("a/", "b/") else name


def _hunk(lines: Sequence[str], place: int, header: re.Match[str]) -> tuple[_Hunk, int]:
    first = place
    old_left, new_left = int(header["old_count"] or 1), int(header["new_count"] or 1)
    old: list[str] = []
    new: list[str] = []
    while place < len(lines) and (old_left > 0 or new_left > 0):
        sign, content = lines[place][:1], lines[place][1:]
        if sign not in ("+", "-", " ", "\\"):
            break
        if sign in ("-", " "):
            old.append(content)
            old_left -= 1
        if sign in ("+", " "):
            new.append(content)
            new_left -= 1
        place += 1
    while place < len(lines) and lines[place].startswith("\\"):
        place += 1
    if old_left or new_left:
        raise DataError(
            f"patch, line {first}: the hunk {header[0]!r} counts other lines than it has; write it again"
        )
    return _Hunk(start=max(0, int(header["old"]) - 1), old=tuple(old), new=tuple(new)), place


def apply_patch(patch: str, files: Mapping[str, str]) -> dict[str, str]:
    """The files after the patch; those that it does not touch stay.

    Raises:
        DataError: it is no patch, a file is not there, or a hunk's context is not there once.
    """
    result = dict(files)
    for one in read_patch(patch):
        if one.old is not None and one.old not in result:
            raise DataError(f"the patch changes {one.old!r}, which is not there; give that file")
        lines = [] if one.old is None else result[one.old].split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        shift = 0
        for hunk in one.hunks:
            at = _found(lines, hunk, shift, one.old or one.new)
            lines[at : at + len(hunk.old)] = hunk.new
            shift += len(hunk.new) - len(hunk.old)
        if one.old is not None and one.old != one.new:
            del result[one.old]
        if one.new is not None:
            result[one.new] = "".join(f"{line}\n" for line in lines)
    return result


def _found(lines: Sequence[str], hunk: _Hunk, shift: int, name: str | None) -> int:
    size, stated = len(hunk.old), hunk.start + shift
    if list(lines[stated : stated + size]) == list(hunk.old) and stated <= len(lines):
        return stated
    places = [at for at in range(len(lines) - size + 1) if list(lines[at : at + size]) == list(hunk.old)]
    if len(places) != 1 or not size:
        where = "nowhere" if not places else f"{len(places)} times"
        raise DataError(
            f"a hunk of {name!r} at line {hunk.start + 1} does not apply: its context stands {where}"
        )
    return places[0]


TestResult = Literal["pass", "fail", "error"]


@dataclass(frozen=True, kw_only=True)
class PatchGrade:
    """Whether a patch resolves its issue, and what is odd about the item."""

    resolved: bool
    submitted: bool
    reason: str
    lint: tuple[str, ...] = ()
    """What a person should look at: a fault of the item, not of the patch."""


def grade_patch(patch: str, *, tests_before: TestResult, tests_after: TestResult | None) -> PatchGrade:
    """The grade of a patch from its tests before and after it.

    Args:
        patch: as handed in; an empty one, or one that is no patch, is no submission.
        tests_before: the issue's tests without the patch. They must fail: else they show nothing.
        tests_after: with it; `None` where they were not run, `error` where they could not be.
    """
    lint = (
        ("the tests do not fail before the patch: they cannot show that it helps",)
        if tests_before == "pass"
        else ()
    )
    if not normalise_patch(patch):
        return PatchGrade(
            resolved=False, submitted=False, reason="no submission: the patch is empty", lint=lint
        )
    if tests_after is None:
        return PatchGrade(resolved=False, submitted=True, reason="the tests were not run", lint=lint)
    if tests_after == "pass":
        return PatchGrade(resolved=True, submitted=True, reason="the tests pass", lint=lint)
    ended = "fail" if tests_after == "fail" else "could not be run"
    return PatchGrade(resolved=False, submitted=True, reason=f"the tests {ended}", lint=lint)
