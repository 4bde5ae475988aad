"""`replay/FILE`: answers recorded elsewhere, so that grading needs no model.

JSON lines (also gzipped): `item_id` or `task_id`; the answer as `text`, `completion` or `response`; and,
where they are known, `sample`, `part`, `finish`, `stop`, `reasoning`, `reason`, `prompt_tokens`,
`completion_tokens`. Other fields are left alone. Without `sample`, the rows of an item are its samples in
their order. An answer is found by item, sample and part: what the prompt was, the file cannot say.

A request without a recorded answer gets a response that finished with `infra_error`: no model was asked, so
that nothing is known of what it would have said. It is in no rate; it lowers the coverage and widens the
bounds.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from probatum.core.errors import DataError, ModelError
from probatum.core.records import ANSWERS, Finish, Identity, Prompted, Request, Response
from probatum.models.seam import Capabilities
from probatum.models.settings import read_settings

__all__ = ["ReplayModel", "load", "read_answers"]

NAMES: Final = ("item_id", "task_id")
TEXTS: Final = ("text", "completion", "response")

Place = tuple[str, int, int]
"""Item, sample, part."""


@dataclass(frozen=True, kw_only=True)
class ReplaySettings:
    """There are none."""


def load(name: str, settings: Mapping[str, object]) -> ReplayModel:
    """The model `replay/FILE`.

    Raises:
        ModelError: the file cannot be read.
        DataError: a row is no answer; names file, line and field.
    """
    read_settings("replay", settings, ReplaySettings)
    path = Path(name).expanduser()
    try:
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(
            f"answers {str(path)!r} cannot be read: {error.strerror or error}; give 'replay/FILE.jsonl'"
        ) from error
    return ReplayModel(path, hashlib.sha256(content).hexdigest(), read_answers(path, content))


def read_answers(path: Path, content: bytes) -> dict[Place, Response]:
    """The answers of a file, by item, sample and part; their `request` is still empty.

    Raises:
        DataError: as `load` does.
    """
    try:
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} is damaged or not UTF-8: {error}; write it again") from error
    answers: dict[Place, Response] = {}
    counted: dict[tuple[str, int], int] = {}  # rows so far of an item and part that do not say their sample
    numbered: set[tuple[str, int]] = set()
    for number, line in enumerate(text.split("\n"), 1):  # `splitlines` would cut at U+2028
        if not line.strip():
            continue
        row = _Row(f"{str(path)!r}, line {number}", line)
        of = (row.item(), row.count("part") or 0)
        sample = row.count("sample")
        if sample is None:
            sample = counted[of] = counted.get(of, -1) + 1
        else:
            numbered.add(of)
        if of in numbered and of in counted:
            raise row.wrong("sample", f"item {of[0]!r} has rows with and without it; number all or none")
        place = (of[0], sample, of[1])
        if place in answers:
            raise row.wrong("sample", f"item {of[0]!r} has sample {sample} twice; drop one")
        answers[place] = row.response()
    if not answers:
        raise DataError(f"{str(path)!r} holds no answer; give a file of answers")
    return answers


class _Row:
    """One line of the file."""

    def __init__(self, where: str, line: str) -> None:
        self._where = where
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: no valid JSON: {error}; mend the line") from error
        if not isinstance(fields, dict):
            raise DataError(f"{where}: {type(fields).__name__} where an object is expected; mend the line")
        self._fields: dict[str, Any] = fields

    def wrong(self, field: str, problem: str) -> DataError:
        """The error that says what is wrong with a field."""
        return DataError(f"{self._where}, field {field!r}: {problem}")

    def item(self) -> str:
        for name in NAMES:
            value = self._fields.get(name)
            if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
                return str(value)
        raise self.wrong(NAMES[0], "names no item; add it (or 'task_id')")

    def count(self, field: str) -> int | None:
        value = self._fields.get(field)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.wrong(field, f"{value!r} is no count; give a whole number from 0")
        return value

    def response(self) -> Response:
        finish = self._finish()
        held = [(name, self._fields[name]) for name in TEXTS if self._fields.get(name) is not None]
        if len(held) > 1:
            raise self.wrong(held[1][0], f"stands beside {held[0][0]!r}; keep one of them")
        if not held and finish in ANSWERS - {Finish.REFUSAL, Finish.FILTERED}:
            hint = "; whole programs are for 'probatum grade'" if "solution" in self._fields else ""
            raise self.wrong(TEXTS[0], f"there is no answer; give one of {', '.join(TEXTS)}{hint}")
        if held and not isinstance(held[0][1], str):
            raise self.wrong(held[0][0], f"{type(held[0][1]).__name__} where a text is expected")
        return Response(
            request="",
            text=held[0][1] if held else "",
            finish=finish,
            stop=self._text("stop"),
            reasoning=self._text("reasoning"),
            reason=self._text("reason"),
            prompt_tokens=self.count("prompt_tokens"),
            completion_tokens=self.count("completion_tokens"),
        )

    def _finish(self) -> Finish:
        value = self._fields.get("finish")
        if value is None:
            return Finish.STOP
        try:
            return Finish(value)
        except ValueError:
            known = ", ".join(finish.value for finish in Finish)
            raise self.wrong("finish", f"{value!r} is none of {known}") from None

    def _text(self, field: str) -> str | None:
        value = self._fields.get(field)
        if value is not None and not isinstance(value, str):
            raise self.wrong(field, f"{type(value).__name__} where a text is expected")
        return value


@dataclass(frozen=True)
class ReplayModel:
    """Gives the answers of a file."""

    path: Path
    digest: str
    """SHA-256 of the file's bytes."""
    answers: Mapping[Place, Response]

    @property
    def identity(self) -> Identity:
        """The file by its digest: another content is another model."""
        return Identity(provider="replay", name=self.path.name, revision=self.digest)

    @property
    def capabilities(self) -> Capabilities:
        """Texts and messages alike: it looks at neither."""
        return Capabilities(completion=True, chat=True, reproducible=True)

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers each request as it is pulled."""
        for request in requests:
            recorded = self.answers.get((request.item_id, request.sample, request.part))
            if recorded is not None:
                yield replace(recorded, request=request.key)
                continue
            reason = f"{self.path.name} holds no answer to item {request.item_id!r}, sample {request.sample}"
            yield Response(request=request.key, finish=Finish.INFRA_ERROR, reason=reason)

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Cannot tell."""
        del prompt
        return None

    def close(self) -> None:
        """Nothing to give back."""
