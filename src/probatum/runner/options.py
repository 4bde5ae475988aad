"""What a user may choose for a run, with every default in sight."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal
from urllib.parse import urlsplit, urlunsplit

from probatum.core.errors import UsageError
from probatum.core.protocol import FORMS
from probatum.runner.limits import LIMIT_WORDS, parse_limit

__all__ = ["Options", "check_names"]

SECRET: Final = re.compile(
    r"api[_-]?key|secret|passw|authori[sz]ation|headers|cookie|credential|bearer|(^|[_-])(key|token)$",
    re.IGNORECASE,
)
"""Settings whose value is written down nowhere."""


@dataclass(frozen=True)
class Range:
    """The numbers that an option may be."""

    words: str
    low: float = -math.inf
    high: float = math.inf
    whole: bool = True
    open_ends: frozenset[float] = frozenset()
    """Ends that are themselves out of range."""

    def holds(self, value: object) -> bool:
        """Whether `value` is a finite number of the range; a truth value is none."""
        if isinstance(value, bool) or not isinstance(value, int if self.whole else (int, float)):
            return False
        finite = not isinstance(value, float) or math.isfinite(value)
        return finite and self.low <= value <= self.high and value not in self.open_ends


MOST: Final = 2**62
"""Larger whole numbers fit no counter."""
MOST_SAMPLES: Final = 100_000
"""All samples of an item are planned at once."""

_SHARE: Final = Range("a number from 0 to 1", 0, 1, whole=False)
_POSITIVE: Final = Range("a whole number, 1 or more", 1, MOST)
_COUNT: Final = Range("a whole number, 0 or more", 0, MOST)

RANGES: Final[Mapping[str, Range]] = {
    "samples": Range(f"a whole number from 1 to {MOST_SAMPLES:,}", 1, MOST_SAMPLES),
    "temperature": Range("a number, 0 or more", 0, whole=False),
    "top_p": Range("a number above 0, up to 1", 0, 1, whole=False, open_ends=frozenset({0})),
    "top_k": _COUNT,
    "max_tokens": _POSITIVE,
    "shots": _COUNT,
    "seed": Range("a whole number"),
    "level": Range("a number between 0 and 1, such as 0.95", 0, 1, whole=False, open_ends=frozenset({0, 1})),
    "minimum_answered": _SHARE,
    "repeat_share": _SHARE,
    "workers": _POSITIVE,
    "cpu_seconds": Range("a number above 0, up to 86400", 0, 86_400, whole=False, open_ends=frozenset({0})),
}
ALWAYS_SET: Final = frozenset({"seed", "level", "minimum_answered", "repeat_share"})
"""Options that no task decides: `None` is no choice there."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """Settings of a run; `None` leaves the choice to the task (or, for `form`, to the model)."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Of the model, as `-M key=value` gives them."""
    limit: float | None = None
    """Only the first so many items of each task; a number below 1 is a share of them."""
    samples: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    shots: int | None = None
    form: str | None = None
    """`letters`, `continuations`, `text`, `chat` or `completion`."""
    rotate: bool = False
    """Ask each question once for every cyclic order of its options."""
    compat: Literal["lm_eval"] | None = None
    """Score continuations by the rules of another harness, its faults included."""
    system: str | None = None
    seed: int = 0
    level: float = 0.95
    """Confidence level of the intervals."""
    minimum_answered: float = 0.99
    """Share of samples without a fault below which a run is incomplete (exit status 3)."""
    repeat_share: float = 0.0
    """Share of the samples that are asked a second time, to see how far the model agrees with itself. The
    second answers are in no score."""
    allow_code_execution: bool = False
    workers: int | None = None
    """Programs that run at the same time; `None` is the number of cores."""
    cpu_seconds: float | None = None
    """CPU time that a program may use; `None` is ten times what the reference solution takes, at least half a
    second, where the task has solutions that pass."""
    deduplicate: bool = True
    """Execute equal programs once, and take from the store what ran before."""
    data_directory: Path | None = None
    """Where data sets lie; `None` is `PROBATUM_DATA`."""

    def __post_init__(self) -> None:
        if self.limit is not None:
            if not isinstance(self.limit, (int, float)):
                raise UsageError(f"limit {self.limit!r} cannot be used: give {LIMIT_WORDS}")
            object.__setattr__(self, "limit", parse_limit(self.limit))
        for name, allowed in RANGES.items():
            value = getattr(self, name)
            if value is None and name not in ALWAYS_SET:
                continue
            if not allowed.holds(value):
                raise UsageError(f"{name} {value!r} cannot be used: give {allowed.words}")
            if not allowed.whole:  # 0 and 0.0 are the same choice, and must be the same recipe
                object.__setattr__(self, name, float(value))
        self._check_texts()
        for name in ("allow_code_execution", "deduplicate", "rotate"):
            if not isinstance(getattr(self, name), bool):  # "no" would be a yes
                raise UsageError(f"{name} {getattr(self, name)!r} cannot be used: give True or False")

    def _check_texts(self) -> None:
        if not isinstance(self.system, (str, NoneType)):
            raise UsageError(f"system {self.system!r} cannot be used: give a text")
        if self.system is not None and not _is_unicode(self.system):
            raise UsageError(f"system {self.system!r} cannot be used: it is not UTF-8; write it as that")
        directory: object = self.data_directory
        if isinstance(directory, str):
            object.__setattr__(self, "data_directory", Path(directory))
        elif not isinstance(directory, (Path, NoneType)):
            raise UsageError(f"data_directory {directory!r} cannot be used: give a path")
        if self.form is not None and self.form not in FORMS:
            raise UsageError(f"form {self.form!r} is unknown: use {', '.join(FORMS)}")
        if self.compat not in (None, "lm_eval"):
            raise UsageError(f"compat {self.compat!r} is unknown: use 'lm_eval'")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Names of all options."""
        return tuple(option.name for option in fields(cls))

    def plain(self) -> dict[str, Any]:
        """As JSON data, defaults included; settings that look like secrets are left out."""
        plain = asdict(self)
        plain["data_directory"] = None if self.data_directory is None else str(self.data_directory)
        plain["settings"] = {name: _shown(name, value) for name, value in self.settings.items()}
        return plain


def _shown(name: str, value: object) -> object:
    """A setting as it may be written down: no secret, and no user or query of an address."""
    if SECRET.search(name):
        return "(withheld)"
    if isinstance(value, str) and "://" in value:
        parts = urlsplit(value)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    if isinstance(value, Mapping):
        return {str(key): _shown(str(key), inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown(name, inner) for inner in value]
    return value


def _is_unicode(text: str) -> bool:
    """Whether no half of a character stands alone: what a shell hands over in another encoding has such."""
    return not any("\ud800" <= sign <= "\udfff" for sign in text)


def check_names(choices: Iterable[str]) -> None:
    """Raises `UsageError` for a name that is no option, with the nearest one."""
    names = Options.names()
    for name in choices:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise UsageError(f"unknown option {name!r}: {hint}")
