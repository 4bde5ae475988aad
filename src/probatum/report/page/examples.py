"""Examples: samples whole, their texts bounded around what was read, for people to check."""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from probatum.core.records import Prompted, Response
from probatum.core.run import Sample
from probatum.core.status import Status

__all__ = ["GROUPS", "Chooser", "Example", "Option", "Piece", "clip", "group_of", "make_example"]

RIGHT, WRONG, PARTLY, MEASURED = "right", "wrong", "partly", "measured"
GROUPS: Final = (
    RIGHT,
    WRONG,
    PARTLY,
    MEASURED,
    *(status.value for status in Status if status is not Status.SCORED),
)
"""What examples are grouped by: what a scored answer got, and every other status."""
MOST: Final = 4000
"""Characters of one text that an example shows."""
SHORT: Final = 300
"""Characters of names, targets and reasons."""
AROUND: Final = 600
"""Characters kept before and after what was read."""


@dataclass(frozen=True)
class Piece:
    """A part of a text as it is shown."""

    kind: str
    """`text`; `read`: what the extraction took; `cut`: left out, `text` is empty."""
    text: str
    left_out: int = 0
    """Characters that a `cut` stands for."""


@dataclass(frozen=True)
class Option:
    """A continuation that was scored."""

    text: str
    log_likelihood: float | None
    tokens: int | None


@dataclass(frozen=True, kw_only=True)
class Example:
    """One sample for people."""

    group: str
    item_id: str
    sample: int
    status: str
    stratum: str | None
    targets: tuple[str, ...]
    choices: tuple[str, ...]
    prompt: tuple[tuple[str, tuple[Piece, ...]], ...]
    """Role (empty where the prompt is one text) and content of each turn."""
    output: tuple[Piece, ...]
    reasoning: tuple[Piece, ...]
    options: tuple[Option, ...]
    finish: str | None
    answer: str | None
    rule: str | None
    span: tuple[int, int] | None
    reason: str | None
    scores: Mapping[str, float]
    execution: tuple[str, ...]
    """How the program ended, in parts."""
    cut_tokens: int | None
    """Tokens of the prompt that the model did not see."""

    @property
    def size(self) -> int:
        """About how many bytes it takes on a page: no text that needs escaping takes more than six each."""
        texts = [piece.text for _, pieces in self.prompt for piece in pieces]
        texts += [piece.text for pieces in (self.output, self.reasoning) for piece in pieces]
        texts += [*self.targets, *self.choices, *(option.text for option in self.options), *self.execution]
        texts += [self.item_id, self.stratum or "", self.answer or "", self.rule or "", self.reason or ""]
        return 2000 + sum(_bytes(text) for text in texts)


def _bytes(text: str) -> int:
    plain = text.encode("utf-8", "backslashreplace")
    return len(plain) + 5 * sum(plain.count(sign) for sign in b"<>&\"'") + 5 * (len(text) - _seen(text))


def _seen(text: str) -> int:
    return len(text) if text.isprintable() else sum(map(str.isprintable, text))


class Chooser:
    """Keeps a few samples of each group: those whose ids have the smallest digests.

    So none is picked for its looks, and the same ones are shown every time.
    """

    def __init__(self, task: str, most: int) -> None:
        self.task, self.most = task, most
        self.counts: dict[str, int] = {}
        self._kept: dict[str, list[tuple[int, int, Sample]]] = {}
        self._order = 0

    def add(self, sample: Sample, group: str) -> None:
        """Looks at one sample."""
        self.counts[group] = self.counts.get(group, 0) + 1
        if self.most < 1:
            return
        name = f"{self.task}\x1f{sample.item.id}\x1f{sample.outcome.sample}".encode("utf-8", "surrogatepass")
        rank = -int.from_bytes(hashlib.sha256(name).digest()[:8], "big")
        self._order += 1
        kept = self._kept.setdefault(group, [])
        if len(kept) < self.most:
            heapq.heappush(kept, (rank, self._order, sample))
        elif rank > kept[0][0]:
            heapq.heapreplace(kept, (rank, self._order, sample))

    def examples(self, budget: int) -> tuple[tuple[Example, ...], bool]:
        """The examples group by group, and whether some were left out because `budget` bytes are used up.

        Groups take turns, so that no group of long texts pushes another one out.
        """
        groups = [group for group in GROUPS if group in self._kept]
        waiting = {group: [each[2] for each in sorted(self._kept[group], reverse=True)] for group in groups}
        shown: dict[str, list[Example]] = {group: [] for group in groups}
        for turn in range(max(map(len, waiting.values()), default=0)):
            for group in groups:
                if turn >= len(waiting[group]):
                    continue
                example = make_example(waiting[group][turn], group)
                budget -= example.size
                if budget < 0:
                    return tuple(each for one in groups for each in shown[one]), True
                shown[group].append(example)
        return tuple(each for one in groups for each in shown[one]), False


def group_of(status: Status, score: float | None) -> str:
    """The group of a sample, by its status and the task's first score."""
    if status is not Status.SCORED:
        return status.value
    if score is None or not 0 <= score <= 1:
        return MEASURED
    return RIGHT if score == 1 else WRONG if score == 0 else PARTLY


def make_example(sample: Sample, group: str) -> Example:
    """A sample with every text bounded."""
    outcome, item = sample.outcome, sample.item
    last = next((each for each in reversed(sample.responses) if each is not None), None)
    request = sample.requests[-1] if sample.requests else None
    scored = request is not None and request.continuation is not None
    execution = outcome.execution
    return Example(
        group=group,
        item_id=_short(item.id),
        sample=outcome.sample,
        status=outcome.status.value,
        stratum=None if item.stratum is None else _short(item.stratum),
        targets=tuple(_short(target) for target in item.targets[:8]),
        choices=tuple(_short(choice) for choice in item.choices[:26]),
        prompt=() if request is None else _turns(request.prompt),
        output=() if last is None or scored else clip(last.text, outcome.span),
        reasoning=() if last is None or not last.reasoning else clip(last.reasoning),
        options=_options(sample) if scored else (),
        finish=None if last is None else last.finish.value,
        answer=None if outcome.answer is None else _short(outcome.answer, 1000),
        rule=outcome.rule,
        span=outcome.span,
        reason=None if outcome.reason is None else _short(outcome.reason, 1000),
        scores=dict(list(outcome.scores.items())[:20]),
        execution=()
        if execution is None
        else tuple(
            _short(part, 1000)
            for part in (execution.status.value, execution.detail, execution.message, execution.isolation)
            if part
        ),
        cut_tokens=None if last is None else last.cut_tokens,
    )


def _turns(prompt: Prompted) -> tuple[tuple[str, tuple[Piece, ...]], ...]:
    if isinstance(prompt, str):
        return (("", clip(prompt)),)
    most = max(MOST // max(len(prompt), 1), 400)
    return tuple((message.role, clip(message.content, most=most)) for message in prompt[-10:])


def _options(sample: Sample) -> tuple[Option, ...]:
    pairs = list(zip(sample.requests, sample.responses, strict=False))[:40]
    return tuple(
        Option(_short(request.continuation or "", 500), _log_likelihood(response), _tokens(response))
        for request, response in pairs
    )


def _log_likelihood(response: Response | None) -> float | None:
    return None if response is None or response.logprobs is None else math.fsum(response.logprobs)


def _tokens(response: Response | None) -> int | None:
    return None if response is None or response.logprobs is None else len(response.logprobs)


def _short(text: str, most: int = SHORT) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def clip(text: str, span: tuple[int, int] | None = None, most: int = MOST) -> tuple[Piece, ...]:
    """The text in pieces: its beginning, its end and what surrounds the span; the rest is cut, and counted.

    >>> [(piece.kind, piece.text) for piece in clip("so B it is", (3, 4))]
    [('text', 'so '), ('read', 'B'), ('text', ' it is')]
    """
    length = len(text)
    if span is not None and not 0 <= span[0] <= span[1] <= length:
        span = None
    kept = [(0, length)]
    if length > most:
        room = most - (2 * AROUND if span is not None else 0)
        head, tail = max(room // 3, 0), max(2 * room // 3, 0)
        kept = [(0, head), (length - tail, length)]
        if span is not None:
            end = min(span[1], span[0] + most)  # what was read may itself be long
            kept = _joined([*kept, (max(span[0] - AROUND, 0), min(end + AROUND, length))])
    return tuple(_pieces(text, kept, span))


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _pieces(text: str, kept: Sequence[tuple[int, int]], span: tuple[int, int] | None) -> Any:
    at = 0
    for start, end in kept:
        if start > at:
            yield Piece("cut", "", start - at)
        marks = [start, *(min(max(edge, start), end) for edge in span or ()), end]
        for place in range(len(marks) - 1):
            part = text[marks[place] : marks[place + 1]]
            if part:
                yield Piece("read" if span is not None and place == 1 else "text", part)
        at = end
