"""The model seam: one batch method, and what a model says of itself.

    from probatum.models import load_model
    model = load_model("llamacpp/gemma-3-270m", {"threads": "2"})
    for response in model.answer(requests): ...

A backend may sort, batch and share prefixes as it likes, and answers in any order; each response
names its request. One failed request is a response whose `finish` says so, never an exception: only
a model that cannot be used at all raises `ModelError`.
"""

from __future__ import annotations

from probatum.models.loading import PROVIDERS, load_model
from probatum.models.seam import Capabilities, Model

__all__ = ["PROVIDERS", "Capabilities", "Model", "load_model"]
