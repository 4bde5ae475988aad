"""Samples as an Arrow table. The only place of the runner that imports pyarrow."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pyarrow as pa

from probatum.core.run import Sample

__all__ = ["SCHEMA", "sample_table"]

SCHEMA = pa.schema(
    [
        ("task", pa.string()),
        ("item_id", pa.string()),
        ("position", pa.int64()),
        ("sample", pa.int64()),
        ("cluster", pa.string()),
        ("stratum", pa.string()),
        ("status", pa.string()),
        ("scores", pa.map_(pa.string(), pa.float64())),
        ("answer", pa.string()),
        ("targets", pa.list_(pa.string())),
        ("rule", pa.string()),
        ("reason", pa.string()),
        ("prompt", pa.string()),
        ("text", pa.string()),
        ("reasoning", pa.string()),
        ("finish", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("execution", pa.string()),
        ("cpu_seconds", pa.float64()),
    ]
)


def sample_table(samples: Iterable[Sample]) -> pa.Table:
    """One row a sample; of a sample with several requests, the first one's prompt and response.

    Lone surrogates, which Arrow cannot hold, are shown as escapes.
    """
    rows = [_row(sample) for sample in samples]
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def _row(sample: Sample) -> dict[str, object]:
    outcome, item = sample.outcome, sample.item
    request = sample.requests[0] if sample.requests else None
    response = sample.responses[0] if sample.responses else None
    prompt = None
    if request is not None:
        prompt = (
            request.prompt
            if isinstance(request.prompt, str)
            else msgspec.json.encode([[turn.role, _safe(turn.content)] for turn in request.prompt]).decode()
        )
    return {
        "task": sample.task,
        "item_id": _safe(item.id),
        "position": sample.position,
        "sample": outcome.sample,
        "cluster": _safe(item.cluster),
        "stratum": _safe(item.stratum),
        "status": outcome.status.value,
        "scores": list(outcome.scores.items()),
        "answer": _safe(outcome.answer),
        "targets": [_safe(target) for target in item.targets],
        "rule": outcome.rule,
        "reason": _safe(outcome.reason),
        "prompt": _safe(prompt),
        "text": _safe(response.text) if response else None,
        "reasoning": _safe(response.reasoning) if response else None,
        "finish": response.finish.value if response else None,
        "prompt_tokens": response.prompt_tokens if response else None,
        "completion_tokens": response.completion_tokens if response else None,
        "execution": outcome.execution.status.value if outcome.execution else None,
        "cpu_seconds": outcome.execution.cpu_seconds if outcome.execution else None,
    }


def _safe(text: str | None) -> str | None:
    return None if text is None else text.encode("utf-8", "backslashreplace").decode("utf-8")
