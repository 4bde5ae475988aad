"""Runs a file of cases through the adapters, and compares what they return with the right values.

An adapter takes a case's input and returns what our API makes of it:

    @operation("extract_boxed", unused=("gold",))
    def boxed(given):
        found = extract_boxed(given["text"])
        return found.answer if found else None

- `given[...]` of a missing key is `NotMappedError`, and so is a key that the adapter neither read nor
  declared as `unused`: an input that it does not understand never counts as passed.
- The return value is compared with `expected["value"]` by `agree`; an adapter whose right values are
  written in another way (`"31 / correct"`) hands its own comparison as `agrees`.
- Where the right value is prose ("fail (tests not completed)"), the adapter returns `Said("fail")`:
  the prose must begin with that word, or offer it behind "or".
- A refusal that is the right outcome is asked for: `refusal(lambda: …)` returns what the call
  returned, or `Said("error", message)`.
"""

from __future__ import annotations

import importlib
import json
import math
import numbers
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from probatum.core.errors import ProbatumError

Agrees = Callable[[Any, Any], bool]


class NotMappedError(Exception):
    """An operation, or an input of it, that no adapter understands."""


@dataclass(frozen=True)
class Said:
    """An outcome in words, which the right value's prose must begin with or offer."""

    word: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.word} ({self.detail})" if self.detail else self.word


class Given(dict[str, Any]):
    """A case's input, which knows what was read of it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__(values)
        self.read = {"op"}

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def __missing__(self, key: str) -> Any:
        raise NotMappedError(f"the input has no {key!r}")

    def __contains__(self, key: object) -> bool:
        self.read.add(str(key))
        return super().__contains__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)

    def peek(self, key: str) -> Any:
        """The value, without its counting as read."""
        return super().get(key)

    def unread(self) -> list[str]:
        return sorted(set(self) - self.read)


@dataclass(frozen=True)
class Operation:
    run: Callable[[Given], Any]
    agrees: Agrees
    unused: frozenset[str]


@dataclass(frozen=True)
class Verdict:
    """What became of one case."""

    case: str
    area: str
    state: str
    """`passed`, `failed` or `not_mapped`."""
    ours: str = ""
    expected: str = ""


OPERATIONS: dict[tuple[str | None, str], Operation] = {}


def operation(
    *names: str, area: str | None = None, unused: Iterable[str] = (), agrees: Agrees | None = None
) -> Callable[[Callable[[Given], Any]], Callable[[Given], Any]]:
    """Registers an adapter under operation names; for one area only, if it is named."""

    def register(run: Callable[[Given], Any]) -> Callable[[Given], Any]:
        for name in names:
            if (area, name) in OPERATIONS:
                raise ValueError(f"operation {name!r} of area {area!r} has two adapters")
            OPERATIONS[area, name] = Operation(run, agrees or agree, frozenset(unused))
        return run

    return register


def load_adapters() -> None:
    """Imports every module of this package, once."""
    package = __name__.rpartition(".")[0]
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        if not module.name.startswith(("test_", "__main__")):
            try:
                importlib.import_module(f"{package}.{module.name}")
            except ImportError as missing:  # its operations are not mapped; the others are
                sys.stderr.write(f"tests/cases/{module.name}.py: {missing}\n")


def refusal(call: Callable[[], Any]) -> Any:
    """What `call` returns; where ours refuses, that it does."""
    try:
        return call()
    except ProbatumError as refused:
        return Said("error", str(refused))


def agree(ours: Any, expected: Any) -> bool:
    """Whether a value of ours is the right one: by kind, to the digits printed, without surplus."""
    if isinstance(ours, Said):
        return isinstance(expected, str) and begins(expected, ours.word)
    if isinstance(expected, bool) or isinstance(ours, bool):
        return ours is expected
    if isinstance(expected, numbers.Real) and isinstance(ours, numbers.Real):
        return _close(float(ours), expected)
    if isinstance(expected, Mapping) and isinstance(ours, Mapping):
        return all(key in ours and agree(ours[key], value) for key, value in expected.items())
    if _is_list(expected) and _is_list(ours):
        return len(ours) == len(expected) and all(map(agree, ours, expected))
    return type(ours) is type(expected) and bool(ours == expected)


def begins(prose: str, word: str) -> bool:
    """Whether prose begins with a word, or offers it as an alternative."""
    offered = re.split(r"\bor\b|/|->|;", prose.casefold())
    return any(
        part.strip(" ('\"").startswith(word.casefold()) and not _goes_on(part.strip(" ('\""), word)
        for part in offered
    )


def _goes_on(part: str, word: str) -> bool:
    return part[len(word) : len(word) + 1].isalnum()


def _close(ours: float, expected: Any) -> bool:
    """Integers exactly; other numbers to the digits that are printed, four decimals at least."""
    if isinstance(expected, int):
        return ours == expected
    if not math.isfinite(expected) or not math.isfinite(ours):
        return ours == expected
    decimals = max(4, len(repr(expected).partition(".")[2]) if "e" not in repr(expected) else 4)
    return abs(ours - expected) <= 0.5000001 * 10.0**-decimals


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


REMARKS = frozenset({"note", "notes", "why", "comment", "remark", "symptom", "question", "lang"})
"""What any case may say for people; an adapter may read it all the same."""
SEVERAL = ("texts", "responses", "preds", "outputs", "completions", "codes", "cases")
"""Fields that are several inputs rather than one that is a list."""
_MANY = "_many"


def find_operation(area: str, name: str) -> Operation | None:
    """The adapter of an operation; of one over several inputs, that of the single one, and the other way."""
    known = OPERATIONS.get((area, name)) or OPERATIONS.get((None, name))
    if known is not None or name.endswith(_MANY):
        single = None if known else find_operation(area, name.removesuffix(_MANY))
        return known or (single and Operation(_over(single), _each(single), single.unused))
    several = OPERATIONS.get((area, name + _MANY)) or OPERATIONS.get((None, name + _MANY))
    return several and Operation(_alone(several), _as_one(several), several.unused)


def _over(single: Operation) -> Callable[[Given], list[Any]]:
    """Once for each element of the one list that stands for a field in the plural."""

    def run(given: Given) -> list[Any]:
        plural = [name for name in given if name[-1:] == "s" and _is_list(given.peek(name))]
        plural = [name for name in SEVERAL if name in plural][:1] or plural
        if len(plural) != 1:
            raise NotMappedError(f"{len(plural)} lists of several inputs: {', '.join(plural)}")
        shared = {name: given[name] for name in given if name not in ("op", plural[0])}
        each = [one if isinstance(one, Mapping) else {plural[0][:-1]: one} for one in given[plural[0]]]
        return [single.run(Given({**shared, **one})) for one in each]

    return run


def _each(single: Operation) -> Agrees:
    def agrees(ours: Any, expected: Any) -> bool:
        return _is_list(expected) and len(ours) == len(expected) and all(map(single.agrees, ours, expected))

    return agrees


def _alone(several: Operation) -> Callable[[Given], Any]:
    """One text as the only one of several."""

    def run(given: Given) -> Any:
        shared = {name: given[name] for name in given if name not in ("op", "text")}
        return several.run(Given({**shared, "texts": [given["text"]]}))

    return run


def _as_one(several: Operation) -> Agrees:
    return lambda ours, expected: several.agrees(ours, [expected])


def judge(case: Mapping[str, Any]) -> Verdict:
    """Runs one case."""
    name, area = case["id"], case["area"]
    given, expected = Given(case["input"]), case["expected"]["value"]
    known = find_operation(area, given["op"])
    shown = _shown(expected)
    if known is None:
        return Verdict(name, area, "not_mapped", f"operation {given['op']!r}", shown)
    try:
        ours = known.run(given)
        passed = known.agrees(ours, expected)
    except NotMappedError as reason:
        return Verdict(name, area, "not_mapped", f"operation {given['op']!r}: {reason}", shown)
    except Exception as raised:  # noqa: BLE001 - whatever our API raises is the case's failure
        return Verdict(name, area, "failed", f"{type(raised).__name__}: {raised}".replace("\n", " "), shown)
    surplus = set(given.unread()) - known.unused - REMARKS
    if surplus:
        reason = f"operation {given['op']!r} does not know {', '.join(map(repr, sorted(surplus)))}"
        return Verdict(name, area, "not_mapped", reason, shown)
    return Verdict(name, area, "passed" if passed else "failed", _shown(ours), shown)


def _shown(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return repr(value)


def read_cases(path: Path) -> list[dict[str, Any]]:
    """The cases of a JSON lines file, in order."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
