"""HTTP by aiohttp: one connection pool, one attempt at a time, every exception turned into a verdict.

Imported when the first request is sent: aiohttp takes 0.3 CPU-seconds to load.
"""

from __future__ import annotations

import asyncio
import errno
import io
import ssl
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from probatum.core.records import Finish
from probatum.models.openai.settings import Endpoint, OpenAISettings, Secrets
from probatum.models.openai.verdicts import Transient, Unusable, one_line

__all__ = ["Received", "Transport"]

LARGEST: Final = 64 << 20
"""Bytes of a body; more is no answer."""

LARGE: Final = 1 << 20
"""Bytes of a request above which aiohttp wants a stream."""

EXHAUSTED: Final = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS})
"""This machine has no more sockets."""


@dataclass(frozen=True, slots=True)
class Received:
    """A response as it came."""

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    charset: str | None


class Transport:
    """Sends requests to one server. Made and used inside one event loop."""

    def __init__(self, endpoint: Endpoint, settings: OpenAISettings, secrets: Secrets) -> None:
        self._endpoint = endpoint
        self._secrets = secrets
        self._headers = _headers(settings, secrets)
        self._proxy = _proxy(endpoint)
        self._urls: dict[str, URL] = {}
        self._limits = aiohttp.ClientTimeout(total=settings.timeout, sock_connect=settings.connect_timeout)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def post(self, route: str, body: bytes) -> Received | Transient | Unusable:
        """One attempt: a response, whatever its status, or why there is none."""
        url = self._urls.get(route)
        if url is None:
            url = self._urls[route] = URL(self._endpoint.address(route), encoded=True)
        data = body if len(body) < LARGE else io.BytesIO(body)
        return await self._send("POST", url, data, self._limits)

    async def fetch(self, address: str, body: bytes) -> Received | Transient | Unusable:
        """One attempt at an address beside the interface, with all the time that an answer may take."""
        url = self._urls.get(address)
        if url is None:
            url = self._urls[address] = URL(address, encoded=True)
        return await self._send("POST", url, body, self._limits)

    async def ask(
        self, address: str, seconds: float, body: bytes | None = None
    ) -> Received | Transient | Unusable:
        """Asks for something small, within that time: a GET, or a POST where there is a body."""
        limits = aiohttp.ClientTimeout(total=seconds)
        return await self._send("GET" if body is None else "POST", URL(address, encoded=True), body, limits)

    async def close(self) -> None:
        """Closes every connection."""
        await self._session.close()
        await asyncio.sleep(0)  # lets the transports of the connections see it

    async def _send(
        self, method: str, url: URL, data: bytes | io.BytesIO | None, limits: aiohttp.ClientTimeout
    ) -> Received | Transient | Unusable:
        try:
            async with self._session.request(
                method,
                url,
                data=data,
                headers=self._headers,
                proxy=self._proxy,
                allow_redirects=False,  # a redirected POST may arrive as a GET, and elsewhere
                timeout=limits,
            ) as response:
                content = await _read(response)
                if content is None:
                    return Transient(
                        reason=f"the body is longer than {LARGEST >> 20} MiB",
                        finish=Finish.MODEL_ERROR,
                        attempts=1,
                    )
                return Received(response.status, response.headers, content, response.charset)
        except (OSError, aiohttp.ClientError, asyncio.TimeoutError, ValueError) as error:  # noqa: UP041 - aiohttp's
            return self._explain(error)

    def _explain(  # noqa: C901, PLR0911 - a table of exceptions
        self, error: Exception
    ) -> Transient | Unusable:
        """What an exception of the transport means."""
        server = self._endpoint.shown
        words = one_line(self._secrets.redact(str(error) or type(error).__name__))
        if isinstance(error, (aiohttp.InvalidURL, aiohttp.NonHttpUrlClientError)):
            return Unusable(reason=f"{server} is no address of a server: {words}")
        if isinstance(error, (aiohttp.ClientSSLError, ssl.SSLError)):
            return Unusable(reason=f"no secure connection to {server}: {words} (https for an http server?)")
        if isinstance(error, aiohttp.ClientProxyConnectionError):
            return Transient(reason=f"the proxy cannot be reached: {words}", away=True)
        if isinstance(error, aiohttp.ClientHttpProxyError):
            return Unusable(reason=f"the proxy refuses: {words}", certain=False)
        if isinstance(error, aiohttp.ConnectionTimeoutError):
            return Transient(reason=f"no connection to {server} in time: {words}", away=True)
        if isinstance(error, TimeoutError):
            return Transient(reason="no answer within the timeout", finish=Finish.TIMEOUT)
        if isinstance(error, aiohttp.ClientConnectorError):
            if error.os_error.errno in EXHAUSTED:
                return Transient(reason=f"this machine has no free socket: {words}", congested=True)
            why = error.os_error.strerror or words
            return Transient(reason=f"no connection to {server}: {why}", away=True)
        if isinstance(error, ValueError):
            return Unusable(reason=f"{server} cannot be asked: {words}", certain=False)
        if isinstance(error, aiohttp.ClientResponseError):
            return Transient(reason=f"no valid HTTP from {server}: {words}", finish=Finish.MODEL_ERROR)
        return Transient(reason=f"the connection broke: {words}")


async def _read(response: aiohttp.ClientResponse) -> bytes | None:
    """The body, or `None` where it is too long."""
    length = response.content_length
    if length is not None and response.headers.get("Content-Encoding") is None:
        return None if length > LARGEST else await response.read()
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
    return b"".join(parts)


def _headers(settings: OpenAISettings, secrets: Secrets) -> CIMultiDict[str]:
    headers = CIMultiDict(
        {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "probatum",
        }
    )
    if secrets.authorization is not None:
        headers["Authorization"] = secrets.authorization
    if settings.organization is not None:
        headers["OpenAI-Organization"] = settings.organization
    if settings.project is not None:
        headers["OpenAI-Project"] = settings.project
    headers.update(settings.headers)
    return headers


def _proxy(endpoint: Endpoint) -> str | None:
    """The proxy of the environment, looked up once: aiohttp would look for every request."""
    address = urlsplit(endpoint.address(""))
    if proxy_bypass(address.netloc):
        return None
    proxies = getproxies()
    return proxies.get(address.scheme) or proxies.get("all")
