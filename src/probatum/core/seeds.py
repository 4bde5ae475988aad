"""Seeds that depend on what is asked, never on the order of asking."""

from __future__ import annotations

import hashlib

__all__ = ["derive_seed"]


def derive_seed(run_seed: int, *names: object) -> int:
    """A seed in [0, 2³¹) from the run seed and names (item id, sample index, purpose).

    Independent of iteration order, concurrency, `--limit` and sharding; the range fits every
    backend (llama.cpp takes 32 bits, and some servers take a signed integer).
    """
    text = "\x1f".join([str(run_seed), *map(str, names)])
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:4]) >> 1
