"""The model that a server answers for: the synchronous side."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Iterator, Mapping
from queue import Empty
from typing import TYPE_CHECKING, Final

from probatum.core.errors import ModelError
from probatum.core.records import Identity, Prompted, Request, Response
from probatum.models.openai.background import Background
from probatum.models.openai.exchange import Exchange, Exhausted
from probatum.models.openai.feeding import Feeder
from probatum.models.openai.payload import Dialect
from probatum.models.openai.settings import SENSITIVE, Endpoint, OpenAISettings, Secrets, read_openai_settings
from probatum.models.seam import Capabilities

if TYPE_CHECKING:
    from probatum.models.openai.asking import Asker
    from probatum.models.openai.servers import Server
    from probatum.models.openai.transport import Transport

__all__ = ["OpenAIModel", "load"]

_log = logging.getLogger("probatum.models.openai")

LOOK_AHEAD: Final = 2
"""Requests that stand ready beside those in flight, at least. After Ctrl-C they are still waited for."""

WATCH_SECONDS: Final = 5.0
"""How often somebody who waits looks whether the loop is alive."""

END_SECONDS: Final = 5.0
"""Longest that the end of `answer` waits for connections to close."""


def load(name: str, settings: Mapping[str, object]) -> OpenAIModel:
    """The model `openai/NAME` of any OpenAI-compatible server; nothing is asked before it is used.

    Args:
        name: of the model, as the server calls it.
        settings: fields of `OpenAISettings`, and `api_key`.

    Raises:
        UsageError: a setting that cannot be used, or no key for a server that needs one.
    """
    return OpenAIModel(name, *read_openai_settings(settings))


class OpenAIModel:
    """Sends requests to a server, as many at once as it copes with. See `docs/openai.md`.

    Safe to use from several threads; all calls share the limit of concurrency.
    """

    def __init__(self, name: str, settings: OpenAISettings, endpoint: Endpoint, secrets: Secrets) -> None:
        self.name = name
        self.settings = settings
        self._endpoint = endpoint
        self._secrets = secrets
        self._lock = threading.Lock()
        self._background: Background | None = None
        self._transport: Transport | None = None
        self._asker: Asker | None = None
        self._server: Server | None = None
        self._exchanges: set[Exchange] = set()
        self._closed = False

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r}, base_url={self._endpoint.shown!r})"

    @property
    def identity(self) -> Identity:
        """Which model answers, as far as the server tells; asks it once, briefly.

        Raises:
            ModelError: nobody is there.
        """
        server = self._look()
        return Identity(
            provider="openai",
            name=self.name,
            revision=server.revision,
            template=server.template,
            backend=server.backend,
            settings=self._identifying(server),
        )

    def _identifying(self, server: Server) -> dict[str, object]:
        """Settings that change answers; no secret is among them."""
        settings = self.settings
        found: dict[str, object] = {
            "base_url": self._endpoint.shown,
            "api": settings.api,
            "send_seed": settings.send_seed,
            "omit": list(settings.omit),
            "body": settings.body,
            "headers": {
                name: "***" if SENSITIVE.search(name) else value for name, value in settings.headers.items()
            },
            "neutral": dict(self._dialect(server).neutral),
            "server": dict(server.told),
        }
        if settings.likelihood != "auto":
            found["likelihood"] = settings.likelihood
        if server.warnings:
            found["warnings"] = list(server.warnings)
        return found

    @property
    def capabilities(self) -> Capabilities:
        """What it can be asked for. With `api=auto` both forms, except where one is known not to work.

        Raises:
            ModelError: nobody is there.
        """
        from probatum.models.openai.likelihood import scores  # noqa: PLC0415 - aiohttp loads slowly

        api, server = self.settings.api, self._look()
        return Capabilities(
            completion=api == "completions" or (api == "auto" and not self._endpoint.public),
            chat=api == "chat" or (api == "auto" and not server.borrowed_template),
            score=scores(server.engine, self.settings),
            context_tokens=self.settings.context_tokens or server.context_tokens,
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers every request once, in the order of arrival.

        Requests are pulled in a thread of their own, whenever there is room for more: `concurrency` of
        them and a quarter as many again (at least two) are outstanding at most. An exception of the iterable
        is raised here: what has arrived is yielded before, what is in flight is dropped.

        Raises:
            ModelError: no request can be answered. What was yielded before stands.
        """
        background, exchange = self._open()
        concurrency = self.settings.concurrency
        feeder = Feeder(
            requests,
            room=concurrency + max(LOOK_AHEAD, concurrency // 4),
            put=exchange.put,
            ended=lambda total, error: exchange.arrived.put(Exhausted(total, error)),
        )
        received = 0
        total: int | None = None
        try:
            while total is None or received < total:
                arrived = _wait(exchange, background)
                if isinstance(arrived, Exhausted):
                    if arrived.error is not None:
                        yield from _drain(exchange)
                        raise arrived.error
                    total = arrived.total
                    continue
                received += len(arrived)
                yield from arrived
                feeder.make_room(len(arrived))
        finally:
            feeder.stop()
            self._exchanges.discard(exchange)
            if background.call(exchange.close, None):
                exchange.ended.wait(END_SECONDS)

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Tokens of the rendered prompt, by the server's own count; `None` where the engine has none.

        llama.cpp and vLLM count; the interface itself has no way to ask.
        """
        from probatum.models.openai.servers import count_tokens  # noqa: PLC0415 - aiohttp loads slowly

        engine = self._look().engine
        background, transport = self._start()
        return background.run(count_tokens(prompt, self.name, engine, self._endpoint, transport))

    def close(self) -> None:
        """Closes connections and ends the thread; who still waits for answers gets a `ModelError`."""
        with self._lock:
            self._closed = True
            background = self._background
            self._background = self._transport = self._asker = None
        if background is None:
            return
        for exchange in tuple(self._exchanges):
            error = ModelError(f"openai/{self.name}: the model was closed while it was answering")
            background.call(exchange.close, error)
            exchange.ended.wait(END_SECONDS)
        background.stop()

    def _start(self) -> tuple[Background, Transport]:
        """The loop and the connections; made when they are first needed."""
        from probatum.models.openai.transport import Transport  # noqa: PLC0415 - aiohttp loads slowly

        with self._lock:
            if self._closed:
                raise ModelError(f"openai/{self.name}: the model was closed: load it again")
            if self._background is None or self._transport is None:
                background = Background(f"openai/{self.name}")

                async def connect() -> Transport:
                    return Transport(self._endpoint, self.settings, self._secrets)

                self._transport = background.run(connect())
                background.at_end.append(self._transport.close)
                self._background = background
            return self._background, self._transport

    def _look(self) -> Server:
        from probatum.models.openai.servers import look  # noqa: PLC0415 - aiohttp loads slowly

        background, transport = self._start()
        with self._lock:
            if self._server is None:
                self._server = background.run(
                    look(self.name, self._endpoint, transport, self._secrets, self.settings)
                )
                for warning in self._server.warnings:
                    _log.warning("openai/%s: %s", self.name, warning)
            return self._server

    def _dialect(self, server: Server) -> Dialect:
        return Dialect.first(self.name, self.settings, public=self._endpoint.public, engine=server.engine)

    def _open(self) -> tuple[Background, Exchange]:
        from probatum.models.openai.asking import Asker  # noqa: PLC0415 - aiohttp loads slowly
        from probatum.models.openai.likelihood import Scorer  # noqa: PLC0415 - aiohttp loads slowly

        server = self._look()
        background, transport = self._start()
        with self._lock:
            if self._asker is None:
                self._asker = Asker(
                    self.name,
                    self.settings,
                    self._dialect(server),
                    transport,
                    self._secrets,
                    scorer=lambda fetch: Scorer(self.name, self.settings, self._endpoint, server, fetch),
                    doubted=server.told.get("listed") is False,
                )
            exchange = Exchange(background.loop, self._asker, self.settings.concurrency)
            self._exchanges.add(exchange)
        return background, exchange


def _wait(exchange: Exchange, background: Background) -> list[Response] | Exhausted:
    """The next responses, or the end of the requests."""
    while True:
        try:
            arrived = exchange.arrived.get(timeout=WATCH_SECONDS)
        except Empty:
            if background.alive:
                continue
            raise ModelError("the event loop of an openai model has ended: load the model again") from None
        if isinstance(arrived, BaseException):
            raise arrived
        return arrived


def _drain(exchange: Exchange) -> Iterator[Response]:
    """What has arrived already."""
    while not exchange.arrived.empty():
        arrived = exchange.arrived.get()
        if isinstance(arrived, list):
            yield from arrived
