"""Models in GGUF files, as `llamacpp/gemma-3-270m` or `llamacpp/PATH.gguf`. See `docs/models.md`."""

from __future__ import annotations

from probatum.models.llamacpp.model import LlamaModel, load
from probatum.models.llamacpp.settings import LlamaSettings

__all__ = ["LlamaModel", "LlamaSettings", "load"]
