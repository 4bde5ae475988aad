"""From an item to its requests: shots chosen, prompt rendered, a seed for each sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from probatum.core.errors import UsageError
from probatum.core.protocol import Prompt, Protocol, ScoredPrompt
from probatum.core.records import Item, Prompted, Request, Scoring
from probatum.core.seeds import derive_seed
from probatum.prompting.fewshot import ShotPool

__all__ = ["Plan", "plan_item", "scoring_under"]


@dataclass(frozen=True)
class Plan:
    """What is asked for one item: one tuple of requests a sample."""

    item: Item
    samples: tuple[tuple[Request, ...], ...]
    shots: tuple[str, ...] = ()
    """Ids of the shots shown, in order."""
    dropped: int = 0
    """Shots left out because the context was too small: whole ones, from the end."""


def plan_item(
    protocol: Protocol, item: Item, pool: ShotPool | None, fits: Callable[[Prompted, str | None], bool]
) -> Plan:
    """The requests of every sample of `item`.

    `fits` says whether a rendered prompt has room in the model's context together with its answer, or
    with the continuation that is scored. Whole shots are dropped until it does; a question that does not
    fit alone is asked as it is, and the backend answers that it does not fit. Where the rules of scoring cut
    what is too long from the left (lm-eval's do), no shot is dropped: the backend cuts.

    Raises:
        UsageError: the task has no prompt of this form, or too few shots.
        ProtocolError: a template asks for a field that the item has not.
    """
    task = protocol.task
    prompt = protocol.prompt
    if prompt is None:
        raise UsageError(f"task {task.name!r} has no {protocol.form} form; use --form {task.forms[0]}")
    shots: tuple[Item, ...] = ()
    if pool is not None:
        shots = pool.choose(item, protocol.shots, seed=protocol.seed, version=task.version)
    asking = _Asking(protocol, prompt, item)
    first = asking.requests(shots, 0)
    dropped = 0
    while shots and not all(_is_cut(one) or fits(one.prompt, one.continuation) for one in first):
        shots, dropped = shots[:-1], dropped + 1
        first = asking.requests(shots, 0)
    others = (asking.requests(shots, sample) for sample in range(1, protocol.samples))
    return Plan(item, (first, *others), tuple(shot.id for shot in shots), dropped)


def _is_cut(request: Request) -> bool:
    return request.continuation is not None and request.scoring.overflow != "refuse"


@dataclass(frozen=True)
class _Asking:
    """An item and the prompt that it is asked with."""

    protocol: Protocol
    prompt: Prompt
    item: Item

    def requests(self, shots: Sequence[Item], sample: int) -> tuple[Request, ...]:
        """The requests of one sample, in the order in which its scorer gets the responses."""
        system, item = self.protocol.system, self.item
        if not isinstance(self.prompt, ScoredPrompt):
            return (self._generating(self.prompt.render(item, shots, system), sample),)
        return tuple(
            Request(
                item_id=item.id,
                sample=sample,
                part=place,
                prompt=part.prompt,
                continuation=part.continuation,
                scoring=scoring_under(self.protocol.compat, part.scoring),
            )
            for place, part in enumerate(self.prompt.parts(item, shots, system))
        )

    def _generating(self, rendered: Prompted, sample: int) -> Request:
        sampling = self.protocol.sampling
        if sampling.temperature > 0:  # greedy decoding has nothing random: one answer under every seed
            seed = derive_seed(self.protocol.seed, "sample", self.item.id, sample)
            sampling = replace(sampling, seed=seed)
        return Request(item_id=self.item.id, sample=sample, prompt=rendered, sampling=sampling)


def scoring_under(compat: str | None, scoring: Scoring) -> Scoring:
    """How a continuation is scored, under the rules of another harness where they are asked for."""
    if compat is None:
        return scoring
    if scoring.rolling is not None:
        return replace(scoring, begin_twice=True)
    return replace(scoring, boundary="count", overflow="left_bare")
