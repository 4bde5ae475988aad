"""Requests and programs with their long texts apart.

Samples of one item differ by their seed alone, and the items of a task share system prompt and tests:
a long text is kept once, and what holds it refers to it by digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeAlias

from msgspec import Struct

from probatum.core.records import Limits, Message, Program, Prompted, Request, Sampling, Scoring
from probatum.store.encoding import text_digest

__all__ = ["StoredProgram", "StoredRequest", "Texts"]

LONG: Final = 200
"""Characters; what is shorter is no longer than two digests and a row."""

Texts: TypeAlias = dict[bytes, str]
"""Digest → long text."""


class Text(Struct, frozen=True, omit_defaults=True):
    """A short text itself, or the digest of a long one."""

    text: str | None = None
    digest: bytes | None = None

    @classmethod
    def of(cls, text: str, texts: Texts) -> Text:
        """The stored form; a long text is added to `texts`."""
        if len(text) < LONG:
            return cls(text)
        digest = text_digest(text)
        texts[digest] = text
        return cls(digest=digest)

    def read(self, texts: Mapping[bytes, str]) -> str:
        """The text itself."""
        return texts[self.digest] if self.digest is not None else self.text or ""


class StoredRequest(Struct, frozen=True, omit_defaults=True):
    """A request without the item that asks: what its digest covers."""

    prompt: tuple[tuple[str | None, Text], ...]
    """Roles and contents; a prompt that is a text alone has no role."""
    sampling: Sampling
    continuation: Text | None = None
    scoring: Scoring = Scoring()

    @classmethod
    def of(cls, request: Request, texts: Texts) -> StoredRequest:
        """The stored form; long texts are added to `texts`."""
        prompt: tuple[tuple[str | None, Text], ...]
        if isinstance(request.prompt, str):
            prompt = ((None, Text.of(request.prompt, texts)),)
        else:
            prompt = tuple((message.role, Text.of(message.content, texts)) for message in request.prompt)
        continuation = None if request.continuation is None else Text.of(request.continuation, texts)
        return cls(
            prompt=prompt, sampling=request.sampling, continuation=continuation, scoring=request.scoring
        )

    def long_texts(self) -> Iterable[bytes]:
        """Digests of the texts that `request` needs."""
        parts = [content for _, content in self.prompt]
        if self.continuation is not None:
            parts.append(self.continuation)
        return _digests(parts)

    def request(self, texts: Mapping[bytes, str], item_id: str, sample: int, part: int) -> Request:
        """The request as it was asked."""
        prompt: Prompted = tuple(
            Message(role, content.read(texts)) for role, content in self.prompt if role is not None
        )
        if self.prompt and not prompt:
            prompt = self.prompt[0][1].read(texts)
        return Request(
            item_id=item_id,
            sample=sample,
            part=part,
            prompt=prompt,
            continuation=None if self.continuation is None else self.continuation.read(texts),
            sampling=self.sampling,
            scoring=self.scoring,
        )


class StoredProgram(Struct, frozen=True):
    """A program, its long tests apart: they are the same for every sample of an item."""

    code: str
    tests: Text
    entry_points: tuple[str, ...]
    mode: str
    language: str
    limits: Limits

    @classmethod
    def of(cls, program: Program, texts: Texts) -> StoredProgram:
        """The stored form; long tests are added to `texts`."""
        return cls(
            code=program.code,
            tests=Text.of(program.tests, texts),
            entry_points=program.entry_points,
            mode=program.mode,
            language=program.language,
            limits=program.limits,
        )

    def long_texts(self) -> Iterable[bytes]:
        """Digests of the texts that `program` needs."""
        return _digests((self.tests,))

    def program(self, texts: Mapping[bytes, str]) -> Program:
        """The program as it ran."""
        return Program(
            code=self.code,
            tests=self.tests.read(texts),
            entry_points=self.entry_points,
            mode=self.mode,
            language=self.language,
            limits=self.limits,
        )


def _digests(parts: Iterable[Text]) -> list[bytes]:
    return [part.digest for part in parts if part.digest is not None]
