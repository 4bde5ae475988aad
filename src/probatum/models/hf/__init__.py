"""Causal language models of transformers, as `hf/DIRECTORY` or `hf/OWNER/NAME@REVISION`. See `docs/hf.md`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from probatum.core.errors import UsageError
from probatum.models.hf.settings import HFSettings
from probatum.models.settings import read_settings
from probatum.models.threads import sleeping_threads

if TYPE_CHECKING:
    from probatum.models.hf.model import HFModel

__all__ = ["HFSettings", "load"]


def load(name: str, settings: Mapping[str, object]) -> HFModel:
    """The model `hf/NAME`: a directory that transformers can load, or a repository of the hub.

    Raises:
        UsageError: the extra is not installed, no such name, or a setting that cannot be used.
        ModelError: the model cannot be had, or is none that continues text.
    """
    chosen = read_settings("hf", settings, HFSettings)
    try:
        with sleeping_threads():
            module = import_module("probatum.models.hf.model")  # torch takes seconds to import
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"torch", "transformers", "tokenizers"}:
            raise
        raise UsageError(
            f"models of the provider 'hf' need the package {error.name!r}: pip install 'probatum[hf]'"
        ) from error
    model: HFModel = module.open_model(name, chosen)
    return model
