"""What the user may set of `hf/NAME`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated, Literal

from msgspec import Meta

__all__ = ["HFSettings"]


@dataclass(frozen=True, kw_only=True)
class HFSettings:
    """Settings of `hf/DIRECTORY` and `hf/OWNER/NAME@REVISION`."""

    dtype: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Precision of weights and products; `auto` is float32 on a CPU and bfloat16 on a GPU."""
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1`; `auto` is the first GPU or else the CPU; `map` spreads layers over GPUs."""
    attention: Literal["auto", "packed", "plain"] = "auto"
    """`packed` computes shared beginnings once, `plain` every sequence alone by the model's own code; `auto`
    is `packed` where it gives the same numbers as `plain` on a trial when the model is loaded."""
    threads: Annotated[int, Meta(ge=1, le=512)] | None = None
    """By default the cores that this process may use. Sums may differ in their last bits."""
    context_tokens: Annotated[int, Meta(ge=16)] | None = None
    """By default what the model was trained for."""
    batch_tokens: Annotated[int, Meta(ge=16, le=1 << 20)] | None = None
    """Tokens computed at once; by default 512 on a CPU and 8,192 on a GPU. Halved when memory runs out."""
    special_tokens: bool = True
    """Whether `<eos>` and its like in a prompt are read as the tokens they name, rather than as letters."""
    today: date | None = None
    """The day that a chat template is told; by default it is told none, so that a prompt stays the same."""
    trust_remote_code: bool = False
    """Whether Python code that comes with the model may run on this machine."""
