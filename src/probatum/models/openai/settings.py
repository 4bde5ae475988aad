"""What the user may set, where the server is, and the secrets that must not be shown."""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Annotated, Any, Final, Literal
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from msgspec import Meta

from probatum.core.errors import UsageError
from probatum.models.settings import nearest, read_settings

__all__ = ["PUBLIC_URL", "Endpoint", "OpenAISettings", "Secrets", "read_openai_settings"]

PUBLIC_URL: Final = "https://api.openai.com/v1"

PROVIDER: Final = "openai"

RESERVED: Final = frozenset(
    {
        *("model", "messages", "prompt", "stream", "n", "best_of", "echo"),
        *("stop", "temperature", "top_p", "seed", "max_tokens", "max_completion_tokens"),
    }
)
"""Fields of the body that follow from the request: setting them aside would falsify the record."""

OMITTABLE: Final = ("temperature", "top_p", "top_k", "seed", "stop", "max_tokens")

SENSITIVE: Final = re.compile(
    r"auth|key|token|secret|cookie|signature|credential|password|^sig$|^code$", re.IGNORECASE
)
"""Names of headers and of query parameters whose values are never shown."""


def _default_url() -> str:
    return os.environ.get("OPENAI_BASE_URL") or PUBLIC_URL


@dataclass(frozen=True, kw_only=True)
class OpenAISettings:
    """Settings of `openai/NAME`. The key is not among them: see `Secrets`."""

    base_url: str = field(default_factory=_default_url)
    """Root of the interface, `/v1` included where the server has it; default `$OPENAI_BASE_URL`."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key, where `api_key` is not given."""
    api: Literal["auto", "chat", "completions"] = "auto"
    """Which form the server answers; `auto` takes texts and conversations alike."""
    engine: Literal["auto", "llamacpp", "vllm", "sglang", "ollama", "other"] = "auto"
    """What serves the model; `auto` asks the server. Decides which sampling defaults are switched off."""
    concurrency: Annotated[int, Meta(ge=1, le=4096)] = 32
    """Most requests in flight; fewer while the server says that it is too much."""
    timeout: Annotated[float, Meta(gt=0)] = 600.0
    """Seconds for one attempt, from sending to the last byte."""
    connect_timeout: Annotated[float, Meta(gt=0)] = 15.0
    """Seconds to open a connection."""
    attempts: Annotated[int, Meta(ge=1, le=100)] = 10
    """Most attempts at one request."""
    deadline: Annotated[float, Meta(gt=0)] = 1800.0
    """Seconds for all attempts at one request, waiting included; no longer wait is begun."""
    backoff: Annotated[float, Meta(ge=0)] = 0.5
    """Seconds: attempt n waits a random time in [0, backoff · 2ⁿ⁻¹], unless the server says how long."""
    backoff_limit: Annotated[float, Meta(ge=0)] = 60.0
    """Seconds: upper limit of that interval."""
    context_tokens: Annotated[int, Meta(ge=1)] | None = None
    """Prompt and answer together, where the server does not tell."""
    max_tokens_field: Literal["auto", "max_tokens", "max_completion_tokens"] = "auto"
    """Name under which a chat request limits its answer; `auto` changes it once if the server objects."""
    stop_limit: Annotated[int, Meta(ge=0)] | None = None
    """Most stop strings to send (the rest is cut here); by default what the server is known to take."""
    send_seed: bool = True
    """Whether sampling seeds are sent."""
    likelihood: Literal["auto", "echo", "no"] = "auto"
    """How continuations are scored: `auto` by llama.cpp's, vLLM's or SGLang's own way, `echo` by the old way
    of the interface, where the server honours it."""
    omit: tuple[str, ...] = ()
    """Decoding settings that this model does not take and that are left to it; part of its identity."""
    body: dict[str, Any] = field(default_factory=dict)
    """More fields of the request's body, as JSON; part of the model's identity."""
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    """More headers, as JSON."""
    organization: str | None = None
    project: str | None = None


@dataclass(frozen=True)
class Endpoint:
    """Where requests go."""

    url: SplitResult
    """Without user, password and fragment; the query, if any, is sent with every request."""

    def address(self, route: str) -> str:
        """The whole URL of a route below the root, such as `chat/completions`."""
        return urlunsplit(self.url._replace(path=f"{self.url.path}/{route}"))

    def beside(self, route: str) -> str | None:
        """The URL of a route beside `/v1`, where a server keeps what is not part of this interface."""
        if not self.url.path.endswith("/v1"):
            return None
        return urlunsplit(self.url._replace(path=f"{self.url.path.removesuffix('/v1')}/{route}"))

    @property
    def shown(self) -> str:
        """The root as it may be printed and stored: sensitive query values are left out."""
        query = [
            (name, "***" if SENSITIVE.search(name) else value)
            for name, value in parse_qsl(self.url.query, keep_blank_values=True)
        ]
        return urlunsplit(self.url._replace(query=urlencode(query, safe="*")))

    @property
    def host(self) -> str:
        """Host name in lower case."""
        return (self.url.hostname or "").lower()

    @property
    def public(self) -> bool:
        """Whether this is OpenAI's own service, or Azure's."""
        return self.host == "api.openai.com" or self.host.endswith(".openai.azure.com")


class Secrets:
    """What authorizes us. Not a dataclass, so that nothing prints, compares or stores it by accident."""

    __slots__ = ("_hidden", "key", "login")

    def __init__(self, key: str | None, login: str | None, hidden: Iterable[str]) -> None:
        self.key = key
        self.login = login
        """`user:password` of the URL."""
        whole = {text for text in (key, login, *hidden) if text}
        self._hidden = tuple(sorted(whole, key=len, reverse=True))

    def __repr__(self) -> str:
        return "Secrets(***)"

    def __reduce__(self) -> str:
        raise TypeError("secrets are not pickled")

    @property
    def authorization(self) -> str | None:
        """Value of the header of that name; `None` where nothing authorizes us."""
        if self.key:
            return f"Bearer {self.key}"
        if self.login:
            return "Basic " + base64.b64encode(self.login.encode()).decode("ascii")
        return None

    def redact(self, text: str) -> str:
        """`text` without any secret in it: servers quote keys and URLs in their errors."""
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return re.sub(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}", r"\1 ***", text)


def read_openai_settings(given: Mapping[str, object]) -> tuple[OpenAISettings, Endpoint, Secrets]:
    """The settings, where the server is, and the secrets, each checked.

    Args:
        given: setting → value; `headers` and `body` as mappings or JSON text, `omit` with commas.

    Raises:
        UsageError: an unknown setting, or a value that cannot be used; secrets are not quoted.
    """
    rest = dict(given)
    api_key = rest.pop("api_key", None)
    if api_key is not None and not isinstance(api_key, str):
        raise UsageError(
            f"setting api_key of provider {PROVIDER!r} must be text, not {type(api_key).__name__}"
        )
    _name_api_key(rest)
    for name in ("body", "headers"):
        if name in rest:
            rest[name] = _object(name, rest[name])
    _check_headers(rest.get("headers", {}))
    if isinstance(rest.get("omit"), str):
        rest["omit"] = [part.strip() for part in str(rest["omit"]).split(",") if part.strip()]
    login, url = _split_login(rest.get("base_url"))
    if url is not None:
        rest["base_url"] = url
    settings = read_settings(PROVIDER, rest, OpenAISettings)
    _check(settings)
    if login is None:
        login, url = _split_login(settings.base_url)
    endpoint = _endpoint(url or settings.base_url)
    key = api_key if api_key is not None else os.environ.get(settings.api_key_env)
    key = _checked_key((key or "").strip() or None)
    if key is None and login is None and endpoint.host == "api.openai.com" and not settings.headers:
        raise UsageError(
            f"no key for {endpoint.shown}: set the environment variable {settings.api_key_env}, "
            "or give -M base_url=URL for another server"
        )
    return settings, endpoint, Secrets(key, login, _hidden(endpoint, settings))


def _name_api_key(rest: Mapping[str, object]) -> None:
    """Lets a misspelt `api_key` be told without quoting what stands behind it."""
    known = {item.name for item in fields(OpenAISettings)} | {"api_key"}
    for name in rest:
        if name not in known:
            raise UsageError(
                f"provider {PROVIDER!r} has no setting {name!r}{nearest(name, known)} "
                f"(settings: {', '.join(sorted(known))})"
            )


def _object(name: str, value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except ValueError as error:
        raise UsageError(
            f"setting {name} of provider {PROVIDER!r} must be a JSON object such as "
            f'\'{{"NAME": "VALUE"}}\': {error}'
        ) from None
    if not isinstance(found, dict):
        raise UsageError(f"setting {name} of provider {PROVIDER!r} must be a JSON object, not {found!r:.40}")
    return found


def _check_headers(headers: object) -> None:
    pairs = headers.items() if isinstance(headers, Mapping) else [(headers, None)]
    for name, value in pairs:
        if not isinstance(name, str) or not isinstance(value, str):
            raise UsageError(f"setting headers of provider {PROVIDER!r} must map names to texts")
        if re.search(r"[\r\n\0]", name + value) or not name.isascii():
            raise UsageError(
                f"header {name!r} of provider {PROVIDER!r} has a character that no header may have"
            )


def _check(settings: OpenAISettings) -> None:
    for name in sorted(RESERVED & set(settings.body)):
        raise UsageError(
            f"setting body of provider {PROVIDER!r} may not hold {name!r}: it follows from the request; "
            "use the option of the run, or -M omit=… to leave it to the server"
        )
    for name in settings.omit:
        if name not in OMITTABLE:
            raise UsageError(
                f"setting omit of provider {PROVIDER!r} has {name!r}{nearest(name, OMITTABLE)} "
                f"(known: {', '.join(OMITTABLE)})"
            )


def _split_login(url: object) -> tuple[str | None, str | None]:
    """User and password of a URL, and the URL without them."""
    if not isinstance(url, str):
        return None, None
    head, mark, rest = url.partition("//")
    authority, slash, path = rest.partition("/")
    login, at, host = authority.rpartition("@")
    return (login, f"{head}{mark}{host}{slash}{path}") if mark and at else (None, url)


def _endpoint(url: str) -> Endpoint:
    try:
        parts = urlsplit(url.strip())
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(
            f"setting base_url={url!r} of provider {PROVIDER!r} is no address of a server: "
            "give one such as http://127.0.0.1:8080/v1"
        )
    path = parts.path.rstrip("/")
    for route in ("/chat/completions", "/completions"):
        if path.endswith(route):
            raise UsageError(
                f"setting base_url of provider {PROVIDER!r} must end before {route!r}: "
                f"give {urlunsplit(parts._replace(path=path.removesuffix(route), query='', fragment=''))!r}"
            )
    return Endpoint(parts._replace(path=path, fragment=""))


def _checked_key(key: str | None) -> str | None:
    if key is not None and (not key.isascii() or not key.isprintable()):
        raise UsageError(
            f"the key of provider {PROVIDER!r} has characters that no key may have: set it again"
        )
    return key


def _hidden(endpoint: Endpoint, settings: OpenAISettings) -> list[str]:
    query = parse_qsl(endpoint.url.query)
    pairs = [*query, *settings.headers.items()]
    return [value for name, value in pairs if SENSITIVE.search(name) and len(value) > 3]  # noqa: PLR2004 - "1"
