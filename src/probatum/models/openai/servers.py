"""What a server tells of itself: which engine, which weights, which template. Asked once, best effort."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from probatum.core.errors import ModelError
from probatum.core.records import Prompted
from probatum.models.openai.lenient import loads
from probatum.models.openai.settings import Endpoint, OpenAISettings, Secrets
from probatum.models.openai.transport import Received, Transport
from probatum.models.openai.verdicts import Transient, Unusable, one_line

__all__ = ["Server", "count_tokens", "look"]

SECONDS: Final = 10.0
"""For each question."""

ATTEMPTS: Final = 3
PAUSE: Final = 0.3
"""Seconds between them, times their number."""

OWNERS: Final[Mapping[str, str]] = {
    "llamacpp": "llamacpp",
    "vllm": "vllm",
    "sglang": "sglang",
    "library": "ollama",
}
"""`owned_by` of an entry of `/v1/models` → engine."""

TELLING: Final = (
    "root",
    "parent",
    "meta",
    "canonical_slug",
    "hugging_face_id",
    "quantization",
    "max_model_len",
)
"""Fields of an entry that say which model it is. `created` and `permission` change with every start."""

FEW: Final = 8
"""Entries of a list that is a server's own models, rather than a catalogue that changes daily."""

CHATML: Final = (
    "{%- for message in messages -%}\n  {{- '<|im_start|>' + message.role + '\n' + message.content + "
    "'<|im_end|>\n' -}}\n{%- endfor -%}\n{%- if add_generation_prompt -%}\n  "
    "{{- '<|im_start|>assistant\n' -}}\n"
    "{%- endif -%}"
)
"""What llama.cpp applies, without a word, to a model that brings no template."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """What was learnt."""

    engine: str | None = None
    backend: str | None = None
    """Name and version."""
    revision: str | None = None
    template: str | None = None
    """SHA-256."""
    borrowed_template: bool = False
    """The template is the engine's, not the model's: it is a base model."""
    context_tokens: int | None = None
    special: Mapping[str, str] = field(default_factory=dict)
    """How the tokens that `begin` and `end` a text are written, where the engine tells."""
    told: Mapping[str, object] = field(default_factory=dict)
    """Goes into the identity."""
    warnings: tuple[str, ...] = ()


async def look(
    name: str, endpoint: Endpoint, transport: Transport, secrets: Secrets, settings: OpenAISettings
) -> Server:
    """Asks the server what it is.

    Args:
        name: of the model.
        endpoint: where it is.
        transport: asks.
        secrets: kept out of messages.
        settings: the engine, where it is set, and the form.

    Raises:
        ModelError: nobody is there.
    """
    listed = await _get(endpoint.address("models"), transport, first=(name, secrets))
    entries = [entry for entry in _list(listed) if isinstance(entry.get("id"), str)]
    own = next((entry for entry in entries if name in _names(entry)), None)
    served = sorted({entry["id"] for entry in entries})
    warnings: list[str] = []
    told: dict[str, object] = {}
    if entries and own is None:
        few = ", ".join(map(repr, served)) if len(served) <= FEW else f"{len(served)} other models"
        warnings.append(f"the server does not list {name!r} but {one_line(few)}: another model may answer")
        if len(served) <= FEW:
            told["served"] = served
    entry = own or (entries[0] if len(entries) == 1 else None)
    found = (
        settings.engine if settings.engine != "auto" else _engine(entry or (entries[0] if entries else None))
    )
    told["listed"] = None if not entries else own is not None
    if entry is not None:
        told.update({field: entry[field] for field in TELLING if entry.get(field) is not None})
    server = await _details(found, name, endpoint, transport)
    meta = told.get("meta")
    told = json.loads(json.dumps(told), parse_constant=str)  # NaN has no digest
    context = (entry or {}).get("max_model_len") or (meta.get("n_ctx") if isinstance(meta, dict) else None)
    if server.borrowed_template and settings.api == "chat":
        warnings.append("the model has no chat template: the server applies ChatML")
    return Server(
        engine=found if found != "other" else None,
        backend=server.backend or found,
        revision=server.revision or _snapshot(told.get("root")),
        template=server.template,
        borrowed_template=server.borrowed_template,
        context_tokens=server.context_tokens or _positive(context),
        special=server.special,
        told={**told, **server.told},
        warnings=tuple(warnings),
    )


async def _details(engine: str | None, name: str, endpoint: Endpoint, transport: Transport) -> Server:
    """What the engine tells beside the interface."""
    routes = {"llamacpp": "props", "vllm": "version", "sglang": "get_model_info", "ollama": "api/tags"}
    address = endpoint.beside(routes[engine]) if engine in routes else None
    answer = await _get(address, transport) if address is not None else None
    if not isinstance(answer, dict):
        return Server()
    if engine == "llamacpp":
        return _llamacpp(answer)
    if engine == "vllm":
        return Server(backend=f"vllm {answer['version']}" if answer.get("version") else None)
    if engine == "sglang":
        told = {
            key: answer[key] for key in ("model_path", "weight_version") if isinstance(answer.get(key), str)
        }
        return Server(told=told)
    models = answer.get("models")
    for model in models if isinstance(models, list) else []:
        if isinstance(model, dict) and model.get("name") in (name, f"{name}:latest"):
            digest = model.get("digest")
            return Server(revision=digest if isinstance(digest, str) else None)
    return Server()


def _llamacpp(props: Mapping[str, Any]) -> Server:
    template = props.get("chat_template")
    template = template if isinstance(template, str) and template else None
    generation = props.get("default_generation_settings")
    context = generation.get("n_ctx") if isinstance(generation, dict) else None
    build = props.get("build_info")
    return Server(
        backend=f"llama.cpp {build}" if build else None,
        template=hashlib.sha256(template.encode("utf-8", "surrogatepass")).hexdigest() if template else None,
        borrowed_template=template is not None and template.strip() == CHATML,
        context_tokens=_positive(context),
        special={
            name: props[key]
            for name, key in (("begin", "bos_token"), ("end", "eos_token"))
            if isinstance(props.get(key), str) and props[key]
        },
        told={"model_path": props["model_path"]} if isinstance(props.get("model_path"), str) else {},
    )


async def count_tokens(
    prompt: Prompted, name: str, engine: str | None, endpoint: Endpoint, transport: Transport
) -> int | None:
    """Tokens of the rendered prompt, from engines that count them: llama.cpp and vLLM."""
    text = prompt if isinstance(prompt, str) else None
    messages = [] if isinstance(prompt, str) else [vars(message) for message in prompt]
    if engine == "vllm":
        shown: dict[str, object] = {"messages": messages} if text is None else {"prompt": text}
        counted = await _post("tokenize", {"model": name, **shown}, endpoint, transport)
        count = counted.get("count")
        return count if type(count) is int else None
    if engine != "llamacpp":
        return None
    if text is None:
        text = (await _post("apply-template", {"messages": messages}, endpoint, transport)).get("prompt")
        if not isinstance(text, str):
            return None
    asked = {"content": text, "add_special": True, "parse_special": True}
    tokens = (await _post("tokenize", asked, endpoint, transport)).get("tokens")
    return len(tokens) if isinstance(tokens, list) else None


async def _post(
    route: str, body: Mapping[str, object], endpoint: Endpoint, transport: Transport
) -> dict[str, Any]:
    """What the engine says beside the interface; empty where it says nothing."""
    address = endpoint.beside(route)
    if address is None:
        return {}
    received = await transport.ask(address, SECONDS, json.dumps(body).encode("ascii"))
    if not isinstance(received, Received) or received.status != 200:  # noqa: PLR2004 - success
        return {}
    try:
        value = loads(received.body, received.charset)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


async def _get(
    address: str, transport: Transport, first: tuple[str, Secrets] | None = None
) -> dict[str, Any] | list[Any] | None:
    """JSON of that address, or `None`. With `first`, that nobody is there is an error."""
    for attempt in range(1, ATTEMPTS + 1):
        received = await transport.ask(address, SECONDS)
        if first is not None and isinstance(received, (Transient, Unusable)):
            away = isinstance(received, Transient) and received.away
            if away or (isinstance(received, Unusable) and received.certain):
                name, secrets = first
                hint = " (is the server running, and base_url right?)" if away else ""
                raise ModelError(secrets.redact(f"openai/{name}: {received.reason}{hint}"))
        if isinstance(received, Received) and received.status < 500 and received.status not in {408, 429}:  # noqa: PLR2004 - server errors
            if received.status != 200:  # noqa: PLR2004 - success
                return None
            try:
                value = loads(received.body, received.charset)
            except ValueError:
                return None
            return value if isinstance(value, (dict, list)) else None
        await asyncio.sleep(PAUSE * attempt)
    return None


def _positive(value: object) -> int | None:
    return value if type(value) is int and value > 0 else None


def _list(answer: dict[str, Any] | list[Any] | None) -> list[dict[str, Any]]:
    entries = answer.get("data") if isinstance(answer, dict) else answer
    return [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []


def _names(entry: Mapping[str, Any]) -> set[object]:
    aliases = entry.get("aliases")
    more = {alias for alias in aliases if isinstance(alias, str)} if isinstance(aliases, list) else set()
    return {entry["id"], *more}


def _engine(entry: Mapping[str, Any] | None) -> str | None:
    owner = entry.get("owned_by") if entry is not None else None
    return OWNERS.get(owner) if isinstance(owner, str) else None


def _snapshot(root: object) -> str | None:
    """The commit, where the weights lie in the cache of the hub."""
    match = re.search(r"/snapshots/([0-9a-f]{40})(/|$)", root) if isinstance(root, str) else None
    return match[1] if match else None
