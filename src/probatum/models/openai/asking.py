"""One request until there is an answer, or a reason to give up; and when to give up on the server."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from probatum.core.errors import ModelError
from probatum.core.records import Finish, Request, Response
from probatum.models.openai.answers import read_answer
from probatum.models.openai.failures import read_failure
from probatum.models.openai.lenient import loads
from probatum.models.openai.likelihood import Failed, Fetch, Scorer
from probatum.models.openai.pacing import Gate, backoff
from probatum.models.openai.payload import Dialect, Sent
from probatum.models.openai.settings import OpenAISettings, Secrets
from probatum.models.openai.transport import Received, Transport
from probatum.models.openai.verdicts import Adapt, Answer, Rejected, Transient, Unusable, Verdict

__all__ = ["Asker"]

LOST: Final = 5
"""Requests in a row that used up their attempts, with no answer in between: the server is gone."""

SLOW: Final = 20
"""The same for requests that ran into the timeout, once the server has shown that it answers: they may be
the hard ones."""

REFUSED: Final = 20
"""Requests in a row that were rejected: before any answer, or as forbidden: it is not about the request."""

_log = logging.getLogger("probatum.models.openai")


@dataclass
class _Health:
    """What is known of the server."""

    heard: bool = False
    """Something came back over HTTP."""
    answers: int = 0
    last_answer: float = float("-inf")
    """Time of the loop's clock."""
    lost: int = 0
    rejected: int = 0
    forbidden: int = 0
    other_names: set[str] = field(default_factory=set)


class Asker:
    """Asks one server, for all requests of one model. Lives in one event loop."""

    def __init__(
        self,
        name: str,
        settings: OpenAISettings,
        dialect: Dialect,
        transport: Transport,
        secrets: Secrets,
        *,
        scorer: Callable[[Fetch], Scorer],
        doubted: bool,
    ) -> None:
        """Asks nothing yet.

        Args:
            name: of the model.
            settings: pace and patience.
            dialect: how requests are written.
            transport: sends them.
            secrets: kept out of messages.
            scorer: makes what scores continuations.
            doubted: the user has been told already that another model may answer.
        """
        self._name = name
        self._settings = settings
        self._dialect = dialect
        self._transport = transport
        self._secrets = secrets
        self._gate = Gate(settings.concurrency)
        self._health = _Health()
        self._scorer = scorer(self.fetch)
        self._doubted = doubted
        self.sending: set[asyncio.Task[Any] | None] = set()
        """Tasks that wait for the server, rather than for their turn."""

    async def ask(self, request: Request) -> Response:
        """The response to `request`: an answer, or what kept it from coming.

        Raises:
            ModelError: no request can be answered.
        """
        if request.continuation is not None:
            started = asyncio.get_running_loop().time()
            response = await self._scorer.score(request)
            return replace(response, seconds=asyncio.get_running_loop().time() - started)
        clock = asyncio.get_running_loop().time
        started = clock()
        attempts = 0
        while True:
            await self._gate.enter()
            attempts += 1
            sent_at = clock()
            try:
                sent = self._dialect.write(request)
                verdict = await self._attempt(sent, request)
            finally:
                self._gate.leave()
            if isinstance(verdict, Answer):
                return self._answered(request, verdict, attempts, sent_at, clock())
            if isinstance(verdict, Adapt):
                if self._dialect.adapt(verdict.field, sent):
                    attempts -= 1
                    continue
                verdict = Rejected(reason=verdict.reason)
            verdict = self._weigh(verdict)
            if isinstance(verdict, Rejected):
                return self._failed(request, verdict.finish, verdict.reason, attempts, clock() - sent_at)
            delay = self._delay(verdict, attempts, sent_at, clock())
            most = min(self._settings.attempts, verdict.attempts or self._settings.attempts)
            if attempts >= most or clock() + delay > started + self._settings.deadline:
                self._give_up(verdict, started)
                reason = f"{verdict.reason} ({attempts} {'attempt' if attempts == 1 else 'attempts'})"
                return self._failed(request, verdict.finish, reason, attempts, clock() - sent_at)
            await asyncio.sleep(delay)

    async def fetch(self, address: str, body: Mapping[str, object]) -> dict[str, Any] | Failed:
        """What the server says at an address beside the interface, with the patience of `ask`.

        Raises:
            ModelError: no request can be answered.
        """
        clock = asyncio.get_running_loop().time
        content = json.dumps(body).encode("ascii")
        started = clock()
        attempts = 0
        while True:
            await self._gate.enter()
            attempts += 1
            sent_at = clock()
            try:
                told = await self._told(address, content)
            finally:
                self._gate.leave()
            if isinstance(told, dict):
                self._heard(clock())
                return told
            verdict = self._weigh(told)
            if isinstance(verdict, Rejected):
                return Failed(replace(verdict, reason=self._secrets.redact(verdict.reason)))
            delay = self._delay(verdict, attempts, sent_at, clock())
            most = min(self._settings.attempts, verdict.attempts or self._settings.attempts)
            if attempts >= most or clock() + delay > started + self._settings.deadline:
                self._give_up(verdict, started)
                return Failed(replace(verdict, reason=self._secrets.redact(verdict.reason)))
            await asyncio.sleep(delay)

    async def _told(self, address: str, content: bytes) -> dict[str, Any] | Transient | Rejected | Unusable:
        task = asyncio.current_task()
        self.sending.add(task)
        try:
            received = await self._transport.fetch(address, content)
        finally:
            self.sending.discard(task)
        if not isinstance(received, Received):
            return received
        self._health.heard = True
        if not 200 <= received.status < 300:  # noqa: PLR2004 - success
            failure = read_failure(received.status, received.headers, received.body, received.charset)
            return Rejected(reason=failure.reason or "") if isinstance(failure, (Adapt, Answer)) else failure
        try:
            value = loads(received.body, received.charset)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            return Rejected(reason="the body is no JSON object")
        return value

    def _heard(self, now: float) -> None:
        """The server is there, and answers."""
        health = self._health
        health.answers += 1
        health.last_answer = now
        health.lost = health.rejected = health.forbidden = 0
        self._gate.answered()

    async def _attempt(self, sent: Sent, request: Request) -> Verdict:
        task = asyncio.current_task()
        self.sending.add(task)
        try:
            received = await self._transport.post(sent.route, sent.body)
        finally:
            self.sending.discard(task)
        if not isinstance(received, Received):
            return received
        self._health.heard = True
        if 200 <= received.status < 300:  # noqa: PLR2004 - success
            sampling = request.sampling
            return read_answer(received.body, received.charset, sampling.stop, sampling.max_tokens)
        return read_failure(received.status, received.headers, received.body, received.charset)

    def _answered(
        self, request: Request, answer: Answer, attempts: int, sent_at: float, now: float
    ) -> Response:
        self._heard(now)
        return Response(
            request=request.key,
            text=answer.text,
            finish=answer.finish,
            stop=answer.stop,
            reasoning=answer.reasoning,
            prompt_tokens=answer.prompt_tokens,
            completion_tokens=answer.completion_tokens,
            reason=answer.reason,
            attempts=attempts,
            seconds=now - sent_at,
            model=self._served(answer),
        )

    def _served(self, answer: Answer) -> str | None:
        """Under which name the server answered, with its fingerprint; another than ours is told."""
        model = answer.model
        if not model:
            return answer.fingerprint
        served = model if answer.fingerprint is None else f"{model}@{answer.fingerprint}"
        if model == self._name:
            return served
        if _same(self._name, model):
            return served
        if model not in self._health.other_names:
            self._health.other_names.add(model)
            if not self._doubted:
                _log.warning("openai/%s: the server answers as %r", self._name, model)
        return f"{served} (asked for {self._name})"

    def _failed(
        self, request: Request, finish: Finish, reason: str, attempts: int, seconds: float
    ) -> Response:
        return Response(
            request=request.key,
            finish=finish,
            reason=self._secrets.redact(reason),
            attempts=attempts,
            seconds=seconds,
        )

    def _weigh(self, verdict: Transient | Rejected | Unusable) -> Transient | Rejected:
        """A failure in the light of what came before.

        Raises:
            ModelError: no request can be answered.
        """
        health = self._health
        if isinstance(verdict, Unusable):
            if verdict.certain or not health.answers:
                raise self._unusable(verdict.reason)
            health.forbidden += 1
            if health.forbidden >= REFUSED:
                raise self._unusable(f"{REFUSED} requests in a row failed, the last with: {verdict.reason}")
            return Rejected(reason=verdict.reason)
        if isinstance(verdict, Rejected):
            if verdict.finish is Finish.MODEL_ERROR and not health.answers:
                health.rejected += 1
                if health.rejected >= REFUSED:
                    raise self._unusable(
                        f"each of the first {REFUSED} requests was rejected, the last with: {verdict.reason}"
                    )
            return verdict
        if verdict.away and not health.heard:
            raise self._unusable(f"{verdict.reason} (is the server running, and base_url right?)")
        return verdict

    def _delay(self, failure: Transient, attempts: int, sent_at: float, now: float) -> float:
        """Seconds until the next attempt at this request.

        Raises:
            ModelError: the server wants us to wait longer than any request may take.
        """
        settings = self._settings
        wait = failure.wait
        if failure.congested:
            if wait is not None and wait > settings.deadline:
                raise self._unusable(
                    f"{failure.reason}: the server asks to wait {wait:.0f} s, more than "
                    f"deadline={settings.deadline:g} allows; run again later, what was answered is kept"
                )
            self._gate.congested(sent_at, now, wait)
            if wait:
                return 0.0  # the gate is closed for that long, for everybody
        return wait or backoff(attempts, settings.backoff, settings.backoff_limit)

    def _give_up(self, failure: Transient, started: float) -> None:
        """Counts a request that used up its attempts.

        Raises:
            ModelError: the server has gone away.
        """
        health = self._health
        if health.last_answer >= started:
            return  # others were answered meanwhile: it is about this request
        health.lost += 1
        patience = SLOW if failure.finish is Finish.TIMEOUT and health.answers else LOST
        if failure.away or health.lost >= patience:
            since = f"after {health.answers} answers" if health.answers else "and has answered nothing"
            raise self._unusable(f"the server has stopped answering {since}: {failure.reason}")

    def _unusable(self, reason: str) -> ModelError:
        return ModelError(self._secrets.redact(f"openai/{self._name}: {reason}"))


def _same(asked: str, told: str) -> bool:
    """Whether two names are one model's: with an organisation before it, a tag, or the date of a release."""
    short, long = sorted((name.lower().rsplit("/", 1)[-1] for name in (asked, told)), key=len)
    return re.fullmatch(re.escape(short) + r"([:@].+|-latest|-\d{4}.*|-\d{2}-\d{2})?", long) is not None
