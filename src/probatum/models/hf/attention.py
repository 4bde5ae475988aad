"""Attention over a packed row of subtrees, as transformers' models call it.

transformers looks its attention up by name. Under the name that is registered here it gets a function that
knows of the pass in progress: which tokens of the row see each other, and the keys and values that earlier
passes have kept. The models' own code, projections and position embeddings included, stays as it is, and no
cache of transformers is in use.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from typing import Protocol as Interface

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from probatum.models.hf.tree import Pass

__all__ = [
    "NAME",
    "Attending",
    "Form",
    "Kept",
    "Running",
    "UnsupportedAttentionError",
    "attending",
    "capped",
    "weights",
]

NAME: Final = "probatum_tree"


class Form(NamedTuple):
    """How a layer attends."""

    scale: float | None
    """Of the products; `None` is one over the root of their size."""
    window: int | None
    """Tokens that a sliding window holds."""
    cap: float | None
    """Where products are capped."""
    sinks: torch.Tensor | None = None
    """Of each head the product with a token that is nowhere (GPT-OSS): it takes weight, and adds nothing."""


Held = tuple[torch.Tensor, torch.Tensor]
"""Keys and values."""

MASK_VALUES: Final = 1 << 22
"""Values of a mask at once, for all heads that share keys: 16 MB in single precision."""

_local = threading.local()


class UnsupportedAttentionError(Exception):
    """The model's attention is of a kind that packed passes cannot compute."""


class Kept:
    """Keys and values of the trunk, layer by layer: (1, heads, tokens, size)."""

    def __init__(self) -> None:
        self._layers: dict[int, Held] = {}
        self._rows: dict[tuple[int, int, int], Held] = {}
        """Room for the prefix and one group, which all layers of a form use one after the other."""

    def clear(self) -> None:
        """Gives the memory back."""
        self._layers.clear()
        self._rows.clear()

    def held(self, layer: int, length: int) -> Held:
        """The first `length`, as views."""
        key, value = self._layers[layer]
        return key[:, :, :length], value[:, :, :length]

    def beginning(self, length: int, room: int) -> Kept:
        """Another that begins with a copy of the first `length`, with room for so many."""
        other = Kept()
        if length:
            for layer in self._layers:
                other.write(layer, 0, self.held(layer, length), room)
        return other

    def write(self, layer: int, start: int, new: Held, room: int) -> Held:
        """Puts keys and values behind the first `start`; returns all up to their end, as views.

        `room` is how many there will be before anything else is written: no more is allocated.
        """
        held = self._layers[layer] = _with_room(self._layers.get(layer), new, start, room)
        return _written(held, start, new)

    def follow(self, layer: int, length: int, longest: int) -> Following:
        """The first `length` in a place where groups of at most `longest` can stand behind them."""
        key, value = self.held(layer, length)
        form = (key.shape[1], key.shape[3], value.shape[3])
        row = self._rows[form] = _with_room(self._rows.get(form), (key, value), 0, length + longest)
        _written(row, 0, (key, value))
        return Following(row, length)


@dataclass(frozen=True)
class Following:
    """A prefix, and behind it one group after the other."""

    row: Held
    length: int

    def group(self, new: Held) -> Held:
        """Prefix and group, as views that the next group changes."""
        return _written(self.row, self.length, new)


def _written(held: Held, start: int, new: Held) -> Held:
    end = start + new[0].shape[2]
    for into, values in zip(held, new, strict=True):
        into[:, :, start:end] = values
    return held[0][:, :, :end], held[1][:, :, :end]


def _with_room(held: Held | None, like: Held, start: int, room: int) -> Held:
    """Keys and values with at least so much room, the first `start` of them those of `held`."""
    if held is not None and held[0].shape[2] >= room:
        return held
    key, value = (one.new_empty((*one.shape[:2], room, one.shape[3])) for one in like)
    if held is not None and start:
        key[:, :, :start] = held[0][:, :, :start]
        value[:, :, :start] = held[1][:, :, :start]
    return key, value


class Attending(Interface):
    """What computes the attention of a row of tokens while the model computes the rest."""

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        form: Form,
    ) -> torch.Tensor:
        """The attention of one layer.

        Args:
            layer: its number.
            query: (1, heads, n, size).
            key: (1, shared heads, n, size).
            value: (1, shared heads, n, size).
            form: how.

        Returns:
            (1, n, heads, size)
        """
        ...


class Running(Attending):
    """One pass while the model computes it."""

    def __init__(self, one: Pass, kept: Kept) -> None:
        self._pass = one
        self._kept = kept
        self._stops = torch.from_numpy(one.stops)
        self._positions = torch.from_numpy(one.positions)
        self._masks: dict[tuple[int, int | None, torch.dtype, torch.device], torch.Tensor] = {}

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        form: Form,
    ) -> torch.Tensor:
        """Each group on its own, after the prefix."""
        one = self._pass
        output = query.new_empty((1, query.shape[2], query.shape[1], value.shape[3]))
        following = None
        if one.prefix and not one.keeps:
            longest = max(end - begin for begin, end in one.groups)
            following = self._kept.follow(layer, one.prefix, longest)
        for number, (begin, end) in enumerate(one.groups):
            own = slice(begin, end)
            keys, values = key[:, :, own], value[:, :, own]
            if following is not None:
                keys, values = following.group((keys, values))
            elif one.keeps:
                keys, values = self._kept.write(layer, one.prefix, (keys, values), one.room)
            mask = self._mask(number, form.window, query)
            folds = query.shape[1] // keys.shape[1]
            rows = max(1, MASK_VALUES // (mask.shape[1] * folds))
            for first in range(0, end - begin, rows):
                part = slice(begin + first, min(begin + first + rows, end))
                seen = mask[first : first + rows]
                output[:, part] = _attended(query[:, :, part], keys, values, seen, form).transpose(1, 2)
        return output

    def _mask(self, group: int, window: int | None, like: torch.Tensor) -> torch.Tensor:
        """0 where a token of the group is seen and -inf where not, shape (n, prefix + n)."""
        place = (group, window, like.dtype, like.device)
        if place not in self._masks:
            begin, end = self._pass.groups[group]
            rows = torch.arange(begin, end)
            seen = (rows[None, :] <= rows[:, None]) & (rows[:, None] < self._stops[None, begin:end])
            seen = torch.cat([torch.ones(end - begin, self._pass.prefix, dtype=torch.bool), seen], dim=1)
            if window is not None:
                positions = self._positions[begin:end]
                all_positions = torch.cat([torch.arange(self._pass.prefix), positions])
                seen &= positions[:, None] - all_positions[None, :] < window
            mask = torch.zeros(seen.shape, dtype=like.dtype).masked_fill_(~seen, -torch.inf)
            self._masks[place] = mask.to(like.device)
        return self._masks[place]


def _attended(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor,
    form: Form,
) -> torch.Tensor:
    """Attention of one group, shape (1, heads, n, size).

    Heads that share keys are laid one below the other as more rows of one head: no key is copied, and every
    kernel of torch knows this form.
    """
    _, heads, length, size = query.shape
    shared = key.shape[1]
    folds = heads // shared
    rows = query.reshape(1, shared, folds * length, size)
    folded = mask.repeat(folds, 1) if folds > 1 else mask
    if form.cap is None and form.sinks is None:
        result = scaled_dot_product_attention(rows, key, value, attn_mask=folded, scale=form.scale)
    else:
        products = capped(rows @ key.transpose(2, 3), size, form) + folded
        sinks = None if form.sinks is None else form.sinks.view(1, shared, folds).repeat_interleave(length, 2)
        result = weights(products, sinks).to(value.dtype) @ value
    return result.reshape(1, heads, length, value.shape[3])


def capped(products: torch.Tensor, size: int, form: Form) -> torch.Tensor:
    """Products of queries and keys of `size` numbers, scaled and capped."""
    products = products * (size**-0.5 if form.scale is None else form.scale)
    return products if form.cap is None else torch.tanh(products / form.cap) * form.cap


def weights(products: torch.Tensor, sinks: torch.Tensor | None) -> torch.Tensor:
    """What each key weighs, in single precision; `sinks` has the shape of `products` without the last."""
    if sinks is None:
        return torch.softmax(products, dim=-1, dtype=torch.float32)
    with_sink = torch.cat([products, sinks.to(products.dtype).unsqueeze(-1)], dim=-1)
    return torch.softmax(with_sink, dim=-1, dtype=torch.float32)[..., :-1]


@contextmanager
def attending(one: Attending) -> Iterator[None]:
    """While it lasts, it computes the attention of this thread's models."""
    _local.attending = one
    try:
        yield
    finally:
        _local.attending = None


def _attend(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    *,
    scaling: float | None = None,
    sliding_window: int | None = None,
    softcap: float | None = None,
    s_aux: torch.Tensor | None = None,
    **more: Any,
) -> tuple[torch.Tensor, None]:
    """What transformers calls."""
    current: Attending | None = getattr(_local, "attending", None)
    if current is None:
        raise UnsupportedAttentionError("attention outside a pass")
    unknown = [name for name in ("position_bias", "head_mask") if more.get(name) is not None]
    layer = getattr(module, "layer_idx", None)
    if unknown or attention_mask is not None or not isinstance(layer, int):
        raise UnsupportedAttentionError(f"attention with {', '.join(unknown) or 'a mask of its own'}")
    return current.attend(layer, query, key, value, Form(scaling, sliding_window, softcap, s_aux)), None


AttentionInterface.register(NAME, _attend)
