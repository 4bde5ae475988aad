"""What tests of likelihood code need: a real model, made in seconds without a download (`tiny_model`)."""

from __future__ import annotations

from probatum.testing.tiny import tiny_model

__all__ = ["tiny_model"]
