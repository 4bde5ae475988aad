"""Runs for the tests of the report: real ones, of tiny tasks, kept in a real store."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from probatum.core.records import Finish, Item, Outcome, Request, Response
from probatum.core.status import Status
from probatum.runner import EvaluatedRun, evaluate
from probatum.scoring import Rate
from tests.fakes import FakeModel, Row, failure, sums_task

Reply = Callable[[Request], "str | Response"]


def item_with_stratum(row: Row) -> Item:
    """The cluster of the row is its stratum."""
    return Item(
        id=row.id,
        fields={"a": row.a, "b": row.b},
        targets=(str(row.a + row.b),),
        stratum=row.cluster,
    )


@dataclass(frozen=True)
class Sure:
    """Right where the text ends with the target; as sure as the number before it says, in per cent."""

    scores: tuple[str, ...] = field(default=("correct", "confidence"), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        sure, _, answer = responses[0].text.partition(" ")
        return Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores={"correct": float(answer in item.targets), "confidence": int(sure) / 100},
            answer=answer,
            rule="after the number",
            span=(len(sure) + 1, len(responses[0].text)),
        )


def sure_gold(item: Item) -> str:
    """A right answer, said with certainty."""
    return f"100 {item.targets[0]}"


def made_run(directory: Path, replies: Sequence[str | Response], model: str = "m", **changes) -> EvaluatedRun:
    """A run of as many sums as there are replies, each answered by its own."""
    options = {key: changes.pop(key) for key in ("samples", "temperature", "system") if key in changes}
    ids = changes.pop("ids", [f"sum-{number}" for number in range(len(replies))])
    strata = changes.pop("strata", [None] * len(replies))
    data = directory / "data"
    data.mkdir(exist_ok=True)
    rows = [
        {"id": one, "a": number, "b": 1000 + number, "cluster": stratum}
        for number, (one, stratum) in enumerate(zip(ids, strata, strict=True))
    ]
    (data / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def reply(request: Request) -> str | Response:
        asked = request.prompt if isinstance(request.prompt, str) else request.prompt[-1].content
        return replies[int(asked.partition("+")[0].split("\n")[-1])]

    task = sums_task(**{"to_item": item_with_stratum, "metrics": (Rate(),), "chance": 0.25, **changes})
    fake = FakeModel(reply=reply)
    fake.identity = replace(fake.identity, name=model)
    return evaluate(task, model=fake, store=f"sqlite:///{directory}/s.db", data_directory=data, **options)


def right(number: int) -> str:
    """The right answer to the sum of that number."""
    return str(1000 + 2 * number)


EVERY_ENDING: list[str | Response] = [
    right(0),
    "no",
    "",
    failure(Finish.REFUSAL, "I would rather not"),
    failure(Finish.FILTERED, "withheld"),
    failure(Finish.CONTEXT_OVERFLOW, "too long"),
    failure(Finish.TIMEOUT, "too slow"),
    failure(Finish.MODEL_ERROR, "no such model"),
    failure(Finish.INFRA_ERROR, "the line is down"),
]
"""An answer for each way in which a sample of these tasks ends."""
