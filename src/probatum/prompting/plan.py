"""From an item to its requests: shots chosen, prompt rendered, a seed for each sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from probatum.core.errors import UsageError
from probatum.core.protocol import Protocol
from probatum.core.records import Item, Prompted, Request
from probatum.core.seeds import derive_seed
from probatum.prompting.fewshot import ShotPool

__all__ = ["Plan", "plan_item"]


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
    protocol: Protocol, item: Item, pool: ShotPool | None, fits: Callable[[Prompted], bool]
) -> Plan:
    """The requests of every sample of `item`.

    `fits` says whether a rendered prompt and its answer have room in the model's context. Whole
    shots are dropped until it does; a question that does not fit alone is asked as it is, and the
    backend answers that it does not fit.

    Raises:
        UsageError: the task has no prompt of this form, or too few shots.
        ProtocolError: a template asks for a field that the item has not.
    """
    task = protocol.task
    prompt = task.prompt(protocol.form)
    if prompt is None:
        other = "chat" if protocol.form == "completion" else "completion"
        raise UsageError(f"task {task.name!r} has no {protocol.form} form; use --form {other}")
    shots: tuple[Item, ...] = ()
    if pool is not None:
        shots = pool.choose(item, protocol.shots, seed=protocol.seed, version=task.version)
    rendered = prompt.render(item, shots, protocol.system)
    dropped = 0
    while shots and not fits(rendered):
        shots, dropped = shots[:-1], dropped + 1
        rendered = prompt.render(item, shots, protocol.system)
    samples = tuple((_request(protocol, item, rendered, sample),) for sample in range(protocol.samples))
    return Plan(item, samples, tuple(shot.id for shot in shots), dropped)


def _request(protocol: Protocol, item: Item, rendered: Prompted, sample: int) -> Request:
    sampling = protocol.sampling
    if sampling.temperature > 0:  # greedy decoding has nothing random: one answer under every seed
        sampling = replace(sampling, seed=derive_seed(protocol.seed, "sample", item.id, sample))
    return Request(item_id=item.id, sample=sample, prompt=rendered, sampling=sampling)
