"""Any OpenAI-compatible server, as `openai/NAME`: chat and completions. See `docs/openai.md`."""

from __future__ import annotations

from probatum.models.openai.model import OpenAIModel, load
from probatum.models.openai.settings import OpenAISettings

__all__ = ["OpenAIModel", "OpenAISettings", "load"]
