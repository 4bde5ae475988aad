"""Everything that is settled before the first model call: rows read and checked, recipe frozen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice

from probatum.core.canonical import canonical
from probatum.core.errors import UsageError
from probatum.core.protocol import Protocol
from probatum.core.records import Item, Message, Prompted
from probatum.core.run import TaskRun
from probatum.datasets import Dataset, load_items
from probatum.models.seam import Model
from probatum.prompting import Plan, ShotPool, plan_item
from probatum.prompting.rotation import rotations
from probatum.runner.gold import GoldCheck, GoldChecker
from probatum.runner.limits import items_within
from probatum.runner.options import Options
from probatum.runner.task_changes import file_origin

__all__ = ["Prepared", "prepare"]


@dataclass
class Prepared:
    """One task, ready to be asked."""

    protocol: Protocol
    dataset: Dataset
    pool: ShotPool | None
    record: TaskRun
    limit: int | None
    model: Model
    golds: GoldCheck = field(default_factory=GoldCheck)
    shots_dropped: int = 0
    """Items whose shots did not all fit; counted while planning."""
    chosen: set[tuple[str, ...]] = field(default_factory=set)
    """The different few-shot choices met while planning, ids in order; at most two are kept."""

    @property
    def shots_shown(self) -> object:
        """The ids shown, in order, where they are the same for all items; else how they are chosen."""
        if not self.protocol.shots:
            return []
        if len(self.chosen) == 1:
            return list(next(iter(self.chosen)))
        if self.protocol.task.shots_drawn:
            return f"{self.protocol.shots} drawn for each item by seed {self.protocol.seed}"
        return f"the first {self.protocol.shots} of the pool that are not the item itself"

    def items(self) -> Iterator[tuple[int, Item]]:
        """Positions and items within the limit, streamed; broken ones included."""
        return enumerate(self._asked())

    def _asked(self) -> Iterator[Item]:
        for item in islice(self.dataset, self.limit):
            if self.protocol.rotate and item.id not in self.dataset.invalid:
                yield from rotations(item)
            else:
                yield item

    def plans(self) -> Iterator[tuple[int, Plan]]:
        """What is asked for each item, planned as it is pulled; broken items are left out."""
        for position, item in self.items():
            if item.id in self.dataset.invalid:
                continue
            plan = plan_item(self.protocol, item, self.pool, self._fits)
            if plan.dropped:
                self.shots_dropped += 1
            if len(self.chosen) <= 1:
                self.chosen.add(plan.shots)
            yield position, plan

    def invalid(self) -> Iterator[tuple[int, Item, str]]:
        """Broken items within the limit: position, item, reason."""
        if self.dataset.invalid:
            for position, item in self.items():
                if (reason := self.dataset.invalid.get(item.id)) is not None:
                    yield position, item, reason

    def sound(self) -> Iterator[Item]:
        """The other items within the limit."""
        return (item for _, item in self.items() if item.id not in self.dataset.invalid)

    def _fits(self, prompt: Prompted, continuation: str | None) -> bool:
        """Whether prompt and answer, or prompt and continuation, have room in the context.

        At least half of the context is left to the prompt, whatever budget an answer has.
        """
        context = self.model.capabilities.context_tokens
        if context is None:
            return True
        room = context
        if continuation is None:
            room -= min(self.protocol.sampling.max_tokens, context // 2)
        elif isinstance(prompt, str):
            prompt += continuation
        else:
            prompt = (*prompt, Message("assistant", continuation))
        texts = [prompt] if isinstance(prompt, str) else [message.content for message in prompt]
        framing = 16 * len(texts)  # start, role and end tokens
        if sum(len(text.encode("utf-8", "replace")) for text in texts) + framing <= room:
            return True  # no token is shorter than a byte
        tokens = self.model.count_tokens(prompt)
        return tokens is None or tokens <= room


def _without_options(dataset: Dataset) -> dict[str, str]:
    """What is broken by the rules of lm-eval: it asks whatever has options, an option twice included."""
    asked = {item.id for item in dataset if item.invalid is None and (item.choices or item.targets)}
    return {item: reason for item, reason in dataset.invalid.items() if item not in asked}


def _strata(dataset: Dataset, limit: int | None) -> dict[str, int]:
    """How many strata the items within the limit are of, and the whole set; nothing where there is no limit.

    The first fifty questions of a benchmark in subjects are all of its first one.
    """
    if limit is None or limit >= dataset.count:
        return {}
    order = [item.stratum for item in dataset]
    used, whole = (len(set(part) - {None}) for part in (order[:limit], order))
    return {"strata_used": used, "strata_in_set": whole} if whole else {}


def prepare(protocol: Protocol, options: Options, model: Model) -> Prepared:
    """Reads and checks all rows of a task, with their gold answers, and writes down its digests.

    Raises:
        DataError: rows that cannot be used, or a source that is not to be had.
        ProtocolError: the recipe has no canonical form.
    """
    task = protocol.task
    dataset = load_items(task.source, task.row, task.to_item, data_directory=options.data_directory)
    hasher = hashlib.sha256()
    golds = GoldChecker(protocol)
    invalid = dict(dataset.invalid) if protocol.compat is None else _without_options(dataset)
    count = valid = broken_items = 0
    limit = items_within(options.limit, dataset.count)
    for item in islice(dataset, limit):
        hasher.update(bytes.fromhex(item.digest))
        count += 1
        broken = invalid.get(item.id) or golds.check(item)
        if broken is None:
            valid += len(rotations(item)) if protocol.rotate else 1
        else:
            invalid[item.id] = broken
            broken_items += 1
    if protocol.rotate and valid == count - broken_items:
        raise UsageError(f"task {task.name!r} has no options to rotate; leave --rotate out")
    dataset = replace(dataset, invalid=invalid)
    pool = None
    if protocol.shots and task.shot_source is not None:
        prompt = protocol.prompt
        shown = load_items(task.shot_source, task.row, task.to_item, data_directory=options.data_directory)
        shots = tuple(item for item in shown if item.id not in shown.invalid)
        if prompt is not None:
            fixed, drawn = ((), shots) if task.shots_drawn else (shots, ())
            pool = ShotPool(prompt, fixed, drawn, by_stratum=task.shots_of_stratum)
            asked = (one for one in islice(dataset, limit) if one.id not in dataset.invalid)
            pool.check(asked, protocol.shots, seed=protocol.seed, version=task.version)
    record = TaskRun(
        task=task.name,
        protocol=protocol.digest,
        recipe={"protocol": canonical(protocol)},
        items=hasher.hexdigest(),
        planned=valid * protocol.samples + broken_items,
        origin={
            **dataset.origin,
            "items_in_set": dataset.count,
            "items_used": count,
            **_strata(dataset, limit),
            **file_origin(task),
        },
    )
    return Prepared(protocol, dataset, pool, record, limit, model, golds.found)
