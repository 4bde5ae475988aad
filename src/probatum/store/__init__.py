"""The store: responses and executions under their digests, runs and their outcomes."""

from __future__ import annotations

from probatum.store.seam import Store

__all__ = ["Store"]
