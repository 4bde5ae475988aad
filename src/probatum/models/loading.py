"""Finds a model by its name `provider/name`. A provider's module is imported only when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

from probatum.core.errors import ModelError, UsageError
from probatum.models.seam import Model
from probatum.models.settings import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["ENTRY_POINT_GROUP", "PROVIDERS", "load_model", "provider_names"]

Factory = Callable[[str, Mapping[str, object]], Model]

PROVIDERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "constant": "probatum.models.constant",
        "hf": "probatum.models.hf",
        "llamacpp": "probatum.models.llamacpp",
        "openai": "probatum.models.openai",
        "random": "probatum.models.random_choice",
        "replay": "probatum.models.replay",
    }
)
"""Provider → the module whose `load(name, settings)` makes the model."""

ENTRY_POINT_GROUP: Final = "probatum.models"
"""Entry points of this group add providers: name = provider, object = `load(name, settings)`."""


def load_model(model: str, settings: Mapping[str, object] | None = None) -> Model:
    """The model called `provider/name`, ready to answer.

    Args:
        model: such as `llamacpp/gemma-3-270m`; the name may hold slashes (`replay//tmp/answers.jsonl`).
        settings: the provider's settings, as strings (`-M key=value`) or typed.

    Raises:
        UsageError: no such provider, no name, or a setting that cannot be used.
        ModelError: the model cannot be had (no file, no server).
    """
    provider, slash, name = model.partition("/")
    if not slash or not provider:
        known = provider_names()
        likely, hint = (provider, "") if provider in known else ("PROVIDER", nearest(provider, known))
        raise UsageError(
            f"model {model!r} must be named PROVIDER/NAME, such as '{likely}/NAME' or "
            f"'llamacpp/gemma-3-270m'{hint} (providers: {', '.join(known)})"
        )
    factory = _factory(provider)
    if not name.strip():
        raise UsageError(f"model {model!r} has no name after the slash: give '{provider}/NAME'")
    return factory(name, dict(settings or {}))


def provider_names() -> tuple[str, ...]:
    """Every provider there is: ours, and those that installed packages add."""
    return tuple(sorted({*PROVIDERS, *(point.name for point in _entry_points())}))


def _entry_points() -> tuple[EntryPoint, ...]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - 20 ms, needed by other packages' models only

    return tuple(entry_points(group=ENTRY_POINT_GROUP))


def _factory(provider: str) -> Factory:
    if provider in PROVIDERS:  # a package cannot take the place of one of ours
        return cast("Factory", import_module(PROVIDERS[provider]).load)
    points = [point for point in _entry_points() if point.name == provider]
    if not points:
        known = provider_names()
        raise UsageError(
            f"unknown model provider {provider!r}{nearest(provider, known)} (providers: {', '.join(known)})"
        )
    if len({point.value for point in points}) > 1:
        rivals = ", ".join(
            sorted(f"{point.dist.name if point.dist else '?'} ({point.value})" for point in points)
        )
        raise UsageError(
            f"model provider {provider!r} is claimed by several packages: {rivals}; uninstall all but one"
        )
    try:
        return cast("Factory", points[0].load())
    except (ImportError, AttributeError) as error:
        raise ModelError(
            f"model provider {provider!r} ({points[0].value}) cannot be imported: {error}"
        ) from error
