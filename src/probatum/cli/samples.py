"""`--samples-out`: one JSON line a sample, in the order of the items (design §5)."""

from __future__ import annotations

import contextlib
import errno
import math
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from probatum.core.errors import UsageError
from probatum.core.records import Response
from probatum.core.run import Sample
from probatum.core.strictjson import strict_text
from probatum.runner import EvaluatedRun

__all__ = ["sample_file"]


Order = Sequence[tuple[str, int]]
Writer = Callable[..., None]


def _nothing(run: EvaluatedRun, order: Order | None = None) -> None:
    del run, order


def _ordered(samples: Iterable[Sample], order: Order) -> Iterator[Sample]:
    """Samples in a given order of item and sample; those that it does not name come last."""
    found: dict[tuple[str, int], list[Sample]] = {}  # one for each task
    for sample in samples:
        found.setdefault((sample.outcome.item_id, sample.outcome.sample), []).append(sample)
    for key in order:
        yield from found.pop(key, ())
    for left in found.values():
        yield from left


@contextlib.contextmanager
def sample_file(path: Path | None) -> Iterator[Writer]:
    """A function that writes a run's samples; the file is tried *before* anything is paid for.

    Written beside and renamed: an old file stays whole until the new one is. What is no file (a pipe, a
    device) is written to as it is, and a link stays one.

    Raises:
        UsageError: the file cannot be written.
    """
    if path is None:
        yield _nothing
        return
    try:
        target = path.resolve()
        beside = _tried(target)
    except (OSError, RuntimeError) as error:  # links that lead to one another
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{str(path)!r} cannot be written: {why}; choose another file") from None

    def write(run: EvaluatedRun, order: Order | None = None) -> None:
        samples = run.each_sample() if order is None else _ordered(run.each_sample(), order)
        try:
            with beside.open("w", encoding="ascii", newline="\n") as stream:
                for sample in samples:
                    stream.write(strict_text(_line(sample)) + "\n")
            if beside != target:
                beside.replace(target)
        except OSError as error:
            raise UsageError(
                f"{str(path)!r} cannot be written: {error.strerror}; the run itself is kept in the store"
            ) from None

    try:
        yield write
    finally:
        if beside != target:
            beside.unlink(missing_ok=True)


def _tried(target: Path) -> Path:
    """Where to write: a new file beside the target, or the target itself where that is no file."""
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if target.exists() and not target.is_file():
        if not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return target
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    beside.touch()
    return beside


def _line(sample: Sample) -> dict[str, Any]:
    outcome = sample.outcome
    response = sample.responses[0] if sample.responses else None
    return {
        "task": sample.task,
        "item_id": outcome.item_id,
        "sample": outcome.sample,
        "status": outcome.status.value,
        "scores": dict(outcome.scores),
        "answer": outcome.answer,
        "rule": outcome.rule,
        "span": outcome.span,
        "execution": _execution(sample),
        "reason": outcome.reason,
        "text": response.text if response else None,
        "finish": response.finish.value if response else None,
        "prompt_tokens": response.prompt_tokens if response else None,
        "completion_tokens": response.completion_tokens if response else None,
        "likelihoods": _likelihoods(sample),
        "request": [request.digest for request in sample.requests],
    }


def _likelihoods(sample: Sample) -> list[dict[str, Any] | None] | None:
    """What each continuation came to, in the order of `request`; `None` where a text was generated.

    Of multiple choice the options in order; where there is `pmi`, then those without the question.
    """
    if all(request.continuation is None for request in sample.requests):
        return None
    return [_likelihood(response) for response in sample.responses]


def _likelihood(response: Response | None) -> dict[str, Any] | None:
    if response is None or response.logprobs is None:
        return None
    return {
        "log_likelihood": math.fsum(response.logprobs),
        "tokens": len(response.logprobs),
        "bytes": response.scored_bytes,
        "greedy": response.greedy,
        "prompt_tokens": response.prompt_tokens,
        "cut_tokens": response.cut_tokens,
        "reason": response.reason,
    }


def _execution(sample: Sample) -> dict[str, Any] | None:
    execution = sample.outcome.execution
    if execution is None:
        return None
    return {
        "status": execution.status.value,
        "detail": execution.detail,
        "message": execution.message,
        "cpu_seconds": execution.cpu_seconds,
        "wall_seconds": execution.wall_seconds,
        "peak_rss_bytes": execution.peak_rss_bytes,
        "isolation": execution.isolation,
        "verdict_trust": execution.verdict_trust,
        "stdout": execution.stdout,
        "stderr": execution.stderr,
    }
