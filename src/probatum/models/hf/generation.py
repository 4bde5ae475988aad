"""Generation: a prompt is computed once for all its samples, and all samples advance together.

The samples of a prompt are a *cohort*: they see the prompt's keys and values, which are held once, and each
its own. In a step every sample of every cohort is one row of the products with the weights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import torch

from probatum.core.records import Response
from probatum.models.decoding import Sample, Speller
from probatum.models.hf.attention import Attending, Form, Kept, capped, weights
from probatum.models.hf.network import Network
from probatum.models.hf.tree import Pass

__all__ = ["generate"]

ROWS: Final = 32
"""Samples that advance together at most."""


@dataclass(eq=False)
class _Cohort:
    """Samples of one prompt that began together, and so are equally long."""

    kept: Kept
    """Keys and values of the prompt."""
    length: int
    """Tokens of the prompt."""
    samples: list[Sample]
    own: dict[int, tuple[torch.Tensor, torch.Tensor]] = field(default_factory=dict)
    """Layer → keys and values of what was generated: (samples, shared heads, room, size)."""
    steps: int = 0


def generate(network: Network, samples: Sequence[Sample], speller: Speller) -> Iterator[Response]:
    """Generates every sample; yields their responses as they end.

    Prompts are taken in the order of their tokens: what one shares with the one before is not computed again.
    Where memory runs out, fewer samples advance together, and those that were under way begin again.

    Raises:
        ModelError: memory runs out even for one sample.
    """
    waiting = dict(enumerate(samples))
    together = ROWS
    while waiting:
        numbers = list(waiting)
        try:
            begun = [waiting[number].anew() for number in numbers]
            for place, response in _generate(network, begun, speller, together):
                del waiting[numbers[place]]
                yield response
        except (RuntimeError, MemoryError) as error:
            network.shrink(error)
            together = max(1, together // 2)


def _generate(
    network: Network, samples: Sequence[Sample], speller: Speller, together: int
) -> Iterator[tuple[int, Response]]:
    """Each sample's number and response."""
    numbers = {id(sample): number for number, sample in enumerate(samples)}
    ended = (
        _packed(network, samples, speller, together) if network.packed else _each(network, samples, speller)
    )
    for sample in ended:
        yield numbers[id(sample)], sample.response()


def _by_prompt(samples: Sequence[Sample]) -> dict[tuple[int, ...], list[Sample]]:
    found: dict[tuple[int, ...], list[Sample]] = {}
    for sample in samples:
        found.setdefault(tuple(sample.prompt), []).append(sample)
    return found


def _packed(network: Network, samples: Sequence[Sample], speller: Speller, together: int) -> Iterator[Sample]:
    """Samples as they end, up to `together` of them under way."""
    waiting = _by_prompt(samples)
    prompts = _Prompts(network)
    queue = sorted(waiting, reverse=True)
    active: list[_Cohort] = []
    while queue or active:
        while queue and (room := together - sum(len(cohort.samples) for cohort in active)) > 0:
            prompt = queue[-1]
            kept, logits = prompts.compute(prompt)
            taken, rest = waiting[prompt][:room], waiting[prompt][room:]
            waiting[prompt] = rest
            if not rest:
                queue.pop()
            going = [sample for sample in taken if not sample.accept(logits, speller)]
            yield from (sample for sample in taken if sample not in going)
            if going:
                active.append(_Cohort(kept, len(prompt), going))
        if active:
            yield from _step(network, active, speller)
            active = [cohort for cohort in active if cohort.samples]


class _Prompts:
    """Computes prompts one after the other; each takes over what it shares with the one before."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._tokens: tuple[int, ...] = ()
        self._kept = Kept()
        self._logits: Any = None

    def compute(self, prompt: tuple[int, ...]) -> tuple[Kept, Any]:
        """Keys and values of a prompt, and the logits after it."""
        if prompt == self._tokens:
            return self._kept, self._logits
        most = min(len(prompt) - 1, len(self._tokens))
        shared = next((place for place in range(most) if prompt[place] != self._tokens[place]), most)
        kept = self._kept.beginning(shared, len(prompt))
        hidden = None
        for begin in range(shared, len(prompt), self._network.budget):
            end = min(begin + self._network.budget, len(prompt))
            count = end - begin
            one = Pass(
                tokens=np.array(prompt[begin:end]),
                positions=np.arange(begin, end),
                stops=np.full(count, count),
                groups=((0, count),),
                prefix=begin,
                room=len(prompt),
                wanted=(),
            )
            hidden = self._network.hidden(one, kept)
        assert hidden is not None  # noqa: S101 - at least the last token is computed
        self._logits = self._network.logits(hidden[-1:])[0]
        self._tokens, self._kept = prompt, kept
        return kept, self._logits


def _step(network: Network, active: Sequence[_Cohort], speller: Speller) -> Iterator[Sample]:
    """One more token for every sample; yields those that end."""
    tokens = np.array([sample.token for cohort in active for sample in cohort.samples])
    positions = np.array([sample.position for cohort in active for sample in cohort.samples])
    hidden = network.rows(tokens, positions, _Step(active))
    logits = network.logits(hidden)
    row = 0
    for cohort in active:
        cohort.steps += 1
        going = []
        for place, sample in enumerate(cohort.samples):
            if sample.accept(logits[row], speller):
                yield sample
            else:
                going.append(place)
            row += 1
        if len(going) < len(cohort.samples):
            cohort.samples = [cohort.samples[place] for place in going]
            kept = torch.tensor(going, dtype=torch.long)
            cohort.own = {
                layer: (key[kept.to(key.device)], value[kept.to(value.device)])
                for layer, (key, value) in cohort.own.items()
            }


class _Step(Attending):
    """A step while the model computes it."""

    def __init__(self, cohorts: Sequence[_Cohort]) -> None:
        self._cohorts = cohorts

    def attend(
        self,
        layer: int,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        form: Form,
    ) -> torch.Tensor:
        output = query.new_empty((1, query.shape[2], query.shape[1], value.shape[3]))
        begin = 0
        for cohort in self._cohorts:
            rows = slice(begin, begin + len(cohort.samples))
            # (1, heads, samples, size) → (samples, heads, size)
            parts = [one[0, :, rows].transpose(0, 1) for one in (query, key, value)]
            output[0, rows] = _cohort_attention(cohort, layer, parts, form)
            begin = rows.stop
        return output


def _cohort_attention(
    cohort: _Cohort,
    layer: int,
    parts: Sequence[torch.Tensor],
    form: Form,
) -> torch.Tensor:
    """What the newest token of each sample sees, shape (samples, heads, size)."""
    query, key, value = parts
    samples, heads, size = query.shape
    keys, values = _own(cohort, layer, key, value)
    prompt_keys, prompt_values = cohort.kept.held(layer, cohort.length)
    shared = keys.shape[1]
    # Heads that share keys become rows: (shared, folds · samples, size) against the prompt's one copy.
    folded = query.view(samples, shared, heads // shared, size)
    rows = folded.permute(1, 2, 0, 3).reshape(shared, -1, size)
    to_prompt = (rows @ prompt_keys[0].transpose(1, 2)).view(shared, heads // shared, samples, -1)
    to_own = torch.einsum("nsfd,nstd->sfnt", folded, keys)
    products = capped(torch.cat([to_prompt, to_own], dim=-1), size, form)
    if form.window is not None and products.shape[-1] > form.window:
        products[..., : products.shape[-1] - form.window] = -torch.inf
    sinks = None if form.sinks is None else form.sinks.view(shared, -1, 1).expand(products.shape[:3])
    over_prompt, over_own = (
        weights(products, sinks).to(value.dtype).split([cohort.length, keys.shape[2]], dim=-1)
    )
    result = (over_prompt.reshape(shared, -1, cohort.length) @ prompt_values[0]).view(
        shared, heads // shared, samples, -1
    )
    result = result + torch.einsum("sfnt,nstd->sfnd", over_own, values)
    return result.permute(2, 0, 1, 3).reshape(samples, heads, -1)


def _own(
    cohort: _Cohort, layer: int, key: torch.Tensor, value: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values of what was generated, the newest token's written behind the others."""
    place = cohort.steps
    held = cohort.own.get(layer)
    if held is None or held[0].shape[2] <= place:
        held = cohort.own[layer] = (
            _roomier(held[0] if held else None, key, place),
            _roomier(held[1] if held else None, value, place),
        )
    held[0][:, :, place] = key
    held[1][:, :, place] = value
    return held[0][:, :, : place + 1], held[1][:, :, : place + 1]


def _roomier(held: torch.Tensor | None, like: torch.Tensor, place: int) -> torch.Tensor:
    samples, heads, size = like.shape
    grown = like.new_empty((samples, heads, max(32, 2 * place), size))
    if held is not None:
        grown[:, :, :place] = held[:, :, :place]
    return grown


def _each(network: Network, samples: Sequence[Sample], speller: Speller) -> Iterator[Sample]:
    """One sample after the other, by the model's own code: nothing hangs on the company."""
    for _, alike in sorted(_by_prompt(samples).items()):
        for sample in alike:
            _alone(network, sample, speller)
            yield sample


def _alone(network: Network, sample: Sample, speller: Speller) -> None:
    """With the model's own cache; a model that hands none out computes the whole text for every token."""
    text, tokens, cache = list(sample.prompt), list(sample.prompt), None
    with torch.inference_mode():
        while True:
            output = network.model(
                input_ids=torch.tensor([tokens], device=network.device),
                use_cache=network.hands_out_cache,
                **({"cache": cache} if network.hands_out_cache else {}),
                **network.only(1),
            )
            network.computed += len(tokens)
            if sample.accept(output.logits[0, -1].float().cpu().numpy(), speller):
                return
            text.append(sample.token)
            cache = getattr(output, "cache", None)
            tokens = text if cache is None else [sample.token]
