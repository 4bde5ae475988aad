"""A model, tasks and a broken component that tests share: real dataclasses behind the real seams.

model = FakeModel(reply=lambda request: "4")
run = evaluate(sums_task(), model=model, store=url, data_directory=write_sums(directory, 10))
model.asked            # every request that reached it, in order
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from probatum.core.protocol import Source, Task
from probatum.core.records import (
    Execution,
    Finish,
    Identity,
    Item,
    Outcome,
    Program,
    Prompted,
    Request,
    Response,
    Sampling,
)
from probatum.core.status import Status
from probatum.models import Capabilities
from probatum.models.settings import read_settings
from probatum.prompting import ChatPrompt, CompletionPrompt
from probatum.scoring import Rate

FILE = "sums.jsonl"
"""Name of the file that holds the rows of a tiny task."""


# ── models ──────────────────────────────────────────────────────────────────────────────────────────


def answer_sums(request: Request) -> str:
    """The right answer to `A+B=`, whatever stands before it."""
    left, right = re.findall(r"(\d+)\+(\d+)=", text_of(request.prompt))[-1]
    return str(int(left) + int(right))


def text_of(prompt: Prompted) -> str:
    """The text of a prompt, or of the last turn of a conversation."""
    return prompt if isinstance(prompt, str) else prompt[-1].content


Reply = Callable[[Request], "str | Response"]


@dataclass
class FakeModel:
    """Answers each request as it is pulled, and remembers what it was asked."""

    reply: Reply = answer_sums
    identity: Identity = field(default_factory=lambda: Identity(provider="fake", name="sums"))
    capabilities: Capabilities = field(default_factory=lambda: Capabilities(completion=True, chat=True))
    asked: list[Request] = field(default_factory=list)
    tokens: Callable[[Prompted], int] | None = None
    closed: bool = False

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        for request in requests:
            self.asked.append(request)
            yield response_to(request, self.reply(request))

    def count_tokens(self, prompt: Prompted) -> int | None:
        return None if self.tokens is None else self.tokens(prompt)

    def close(self) -> None:
        self.closed = True


@dataclass
class WindowedModel(FakeModel):
    """Holds `window` requests in flight and answers them backwards, as a batching backend may."""

    window: int = 8
    most_in_flight: int = 0

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        held: list[Request] = []
        for request in requests:
            self.asked.append(request)
            held.append(request)
            self.most_in_flight = max(self.most_in_flight, len(held))
            if len(held) == self.window:
                while held:
                    last = held.pop()
                    yield response_to(last, self.reply(last))
        for request in reversed(held):
            yield response_to(request, self.reply(request))


def response_to(request: Request, reply: str | Response) -> Response:
    """A reply as the response that names its request."""
    if isinstance(reply, Response):
        return replace(reply, request=request.key)
    return Response(request=request.key, text=reply, prompt_tokens=3, completion_tokens=1)


def failure(finish: Finish, reason: str = "told so") -> Response:
    """A reply that is none; the model sets which request it belongs to."""
    return Response(request="", finish=finish, reason=reason)


# ── tasks ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Row:
    """Two numbers to add."""

    id: str
    a: int
    b: int
    cluster: str | None = None


def to_item(row: Row) -> Item:
    return Item(
        id=row.id, fields={"a": row.a, "b": row.b}, targets=(str(row.a + row.b),), cluster=row.cluster
    )


def gold(item: Item) -> str:
    return item.targets[0]


def wrong(item: Item) -> str:
    return item.targets[0] + "1"


@dataclass(frozen=True)
class Verbatim:
    """Score `correct`: 1 where the text is the target; an empty text is no answer."""

    scores: tuple[str, ...] = field(default=("correct",), init=False)

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        (response,) = responses
        kept = {"item_id": item.id, "sample": sample}
        if response.finish not in (Finish.STOP, Finish.LENGTH):
            status = Status({Finish.REFUSAL: "refused"}.get(response.finish, response.finish.value))
            return Outcome(**kept, status=status, reason=response.reason)
        text = response.text.strip()
        if not text:
            return Outcome(**kept, status=Status.NO_ANSWER)
        return Outcome(
            **kept, status=Status.SCORED, scores={"correct": float(text in item.targets)}, answer=text
        )


@dataclass(frozen=True)
class Echo:
    """Grades by running the text as a program; score `passed`."""

    scores: tuple[str, ...] = field(default=("passed",), init=False)

    def program(self, item: Item, sample: int, responses: Sequence[Response]) -> Program | Outcome:
        (response,) = responses
        if response.finish not in (Finish.STOP, Finish.LENGTH):
            return Outcome(item_id=item.id, sample=sample, status=Status(response.finish.value))
        return Program(code=response.text, tests=f"check({item.targets[0]})")

    def verdict(
        self, item: Item, sample: int, responses: Sequence[Response], execution: Execution
    ) -> Outcome:
        del responses
        return Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores={"passed": float(execution.status == "passed")},
            execution=execution,
        )


QUESTION = "{{ a }}+{{ b }}="


def sums_task(name: str = "sums", **changes: object) -> Task:
    """A task of additions, whose rows `write_sums` writes."""
    task = Task(
        name=name,
        version=1,
        summary="additions",
        citation="none",
        source=Source(local=(FILE,)),
        row=Row,
        to_item=to_item,
        completion=CompletionPrompt(
            template=QUESTION, shot_template=QUESTION + "{{ target }}", separator="\n", stop=("\n",)
        ),
        chat=ChatPrompt(template=QUESTION, shot_answer="{{ target }}"),
        sampling=Sampling(max_tokens=8),
        scorer=Verbatim(),
        metrics=(Rate(),),
        gold=gold,
        wrong=wrong,
    )
    return replace(task, **changes)


def write_sums(directory: Path, count: int, *, file: str = FILE, first: int = 0) -> Path:
    """Writes `count` rows, no two alike; returns the directory, to be given as `data_directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    rows = [
        {"id": f"sum-{number}", "a": number, "b": 2 * number + 1} for number in range(first, first + count)
    ]
    (directory / file).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return directory


def threads() -> list[str]:
    """Names of the threads of ours that are alive."""
    return sorted(one.name for one in threading.enumerate() if one.name.startswith("probatum"))


# ── the same, for processes: as a package that adds a provider and a benchmark ──────────────────────

TASK = sums_task()


@dataclass(frozen=True)
class Settings:
    """Settings of the provider `fake`."""

    log: str
    """File to which the item and sample of every request are written, one line each, before it is answered."""
    delay: float = 0.0
    """Seconds that an answer takes."""
    api_key: str = ""
    fail: bool = False
    """Whether every answer is a permanent error."""


@dataclass
class LoggingModel(FakeModel):
    """A `FakeModel` whose requests are seen from outside its process."""

    settings: Settings = field(default_factory=lambda: Settings(log=os.devnull))

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        with Path(self.settings.log).open("a") as log:
            for request in requests:
                log.write(f"{request.item_id} {request.sample}\n")
                log.flush()
                time.sleep(self.settings.delay)
                reply = failure(Finish.MODEL_ERROR) if self.settings.fail else answer_sums(request)
                yield response_to(request, reply)


def load(name: str, settings: Mapping[str, object]) -> LoggingModel:
    """The provider `fake`."""
    chosen = read_settings("fake", settings, Settings)
    return LoggingModel(identity=Identity(provider="fake", name=name), settings=chosen)


def install_plugins(directory: Path) -> Path:
    """Writes a distribution that adds the provider `fake` and the task `sums`; returns its directory."""
    about = directory / "probatum_fakes-1.0.dist-info"
    about.mkdir(parents=True, exist_ok=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: probatum-fakes\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[probatum.models]\nfake = tests.fakes:load\n\n[probatum.benchmarks]\nsums = tests.fakes:TASK\n"
    )
    return directory
