"""An HTTP server on loopback that fails as told, and counts what it was asked.

    def script(number, asked):          # number: 0, 1, … in the order of arrival
        return Reply(429, headers={"Retry-After": "0"}) if number == 0 else chat("Yes")

    with FaultServer(script) as server:
        ...  # server.base_url, server.posts

Written on bare streams: a library would refuse to send what broken servers send.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Asked:
    """A request as it arrived."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def prompt(self) -> str:
        body = self.body
        return body["prompt"] if "prompt" in body else body["messages"][-1]["content"]


@dataclass(frozen=True)
class Reply:
    """What to send back."""

    status: int = 200
    body: Any = b""
    """Bytes, or what becomes JSON."""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: int | None = None
    """Bytes of the body after which the connection is dropped, though more was announced."""
    raw: bytes | None = None
    """Sent instead of everything else; then the connection is dropped."""


def chat(text: Any, finish: Any = "stop", **message: Any) -> Reply:
    """A proper answer to a conversation."""
    return Reply(body=chat_body(text, finish, **message))


def chat_body(text: Any, finish: Any = "stop", **message: Any) -> dict[str, Any]:
    whole = {"role": "assistant", "content": text, **message}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "finish_reason": finish, "message": whole}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
    }


def error(
    status: int, message: str = "injected", headers: Mapping[str, str] | None = None, **more: Any
) -> Reply:
    """An error in OpenAI's form."""
    return Reply(status, {"error": {"message": message, "type": "error", **more}}, headers or {})


Script = Callable[[int, Asked], Reply]

MODELS = Reply(
    body={"object": "list", "data": [{"id": "m", "object": "model", "created": 1, "owned_by": "us"}]}
)


class FaultServer:
    """Runs in a thread from `with` to its end."""

    def __init__(
        self, script: Script, models: Reply | Callable[[str], Reply] = MODELS, port: int = 0
    ) -> None:
        self.script = script
        self.models = models
        self.posts: list[Asked] = []
        self.gets: list[Asked] = []
        self.inside = 0
        self.most_inside = 0
        self.connections = 0
        """Open ones."""
        self.opened = 0
        self.port = port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def prompts(self) -> list[str]:
        return [asked.prompt for asked in self.posts]

    def __enter__(self) -> Self:
        self._thread.start()
        self._run(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def stop(self) -> None:
        """Closes the port and every connection, as a server does that dies."""
        if self._server is not None:
            self._run(self._stop())

    def _run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        assert self._server is not None
        self._server.close()
        self._server = None
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.opened += 1
        try:
            while await self._one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self.connections -= 1
            self._tasks.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serves one request; `False` when the connection is to be dropped."""
        first = await reader.readexactly(1)
        if first == b"\x16":  # somebody speaks TLS
            return await self._send(writer, Reply(raw=b"HTTP/1.1 400 Bad Request\r\n\r\n"), reader)
        head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        pairs = [line.split(": ", 1) for line in head[1:] if line]
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(method, path, headers, body)
        if method == "GET":
            self.gets.append(asked)
            models = self.models
            return await self._send(writer, models(path) if callable(models) else models, reader)
        number = len(self.posts)
        self.posts.append(asked)
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            return await self._send(writer, self.script(number, asked), reader)
        finally:
            self.inside -= 1

    async def _send(self, writer: asyncio.StreamWriter, reply: Reply, reader: asyncio.StreamReader) -> bool:
        if reply.delay:
            await self._pause(reply.delay, reader)
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            return False
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        lines = [f"HTTP/1.1 {reply.status} X", f"Content-Length: {len(body)}"]
        named = {name.lower() for name in reply.headers}
        if "content-type" not in named:
            lines.append("Content-Type: application/json")
        lines += [f"{name}: {value}" for name, value in reply.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        writer.write(body if reply.cut is None else body[: reply.cut])
        await writer.drain()
        return reply.cut is None

    async def _pause(self, seconds: float, reader: asyncio.StreamReader) -> None:
        """Waits, and notices when the client goes away meanwhile."""
        with_client = asyncio.ensure_future(reader.read(1))
        try:
            done, _ = await asyncio.wait({with_client}, timeout=seconds)
            if done:
                raise ConnectionResetError
        finally:
            with_client.cancel()
            await asyncio.gather(with_client, return_exceptions=True)
