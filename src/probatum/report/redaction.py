"""Samples without their texts: each is replaced by its SHA-256, so that equal texts can still be told.

Of a run the folders of the machine go as well. What is short enough to be guessed is not hidden: whoever
suspects that an answer was "B" can check it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any, Final

from probatum.core.canonical import digest_json
from probatum.core.records import Execution, Item, Message, Outcome, Request, Response
from probatum.core.run import Run, Sample, TaskRun

__all__ = ["redacted_run", "redacted_sample", "text_digest", "without_places"]

HIDDEN: Final = "…"
"""Stands for the folders that a file lies in."""
_URL: Final = re.compile(r"(file|sqlite[\w+]*):/{2,}(.*)", re.DOTALL)


def text_digest(text: str) -> str:
    """What stands for a text.

    >>> text_digest("B")
    'sha256:df7e70e5021544f4834bbee64a9e3789febc4be81470df629cad6ddb03320a5c'
    """
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()}"


def redacted_sample(sample: Sample) -> Sample:
    """The sample with digests for the texts of the data set, of the prompts and of the model.

    Ids, clusters, strata, statuses, scores, rules, counts and times stay. Numbers of tokens go, since a
    tokenizer makes text of them.
    """
    return replace(
        sample,
        item=_item(sample.item),
        requests=tuple(_request(each) for each in sample.requests),
        responses=tuple(None if each is None else _response(each) for each in sample.responses),
        outcome=_outcome(sample.outcome),
    )


def redacted_run(run: Run) -> Run:
    """The run without what its notes on gold answers quote of the data set, and `without_places`."""
    placeless = without_places(run)
    return replace(placeless, tasks=tuple(_task(task) for task in placeless.tasks))


def without_places(run: Run) -> Run:
    """The run without the folders of the machine that made it: of data, task files and settings.

    The names of the files stay, and so do their digests. The recipe and the model have no such place (a task
    file is part of the one by its content, the file of weights of the other by its name and digest), and must
    stay as they are: their digests are those of the run.
    """
    placed = ("data_directory", "settings")
    return replace(
        run,
        options={name: _placeless(value) if name in placed else value for name, value in run.options.items()},
        tasks=tuple(replace(task, origin=_placeless(task.origin)) for task in run.tasks),
    )


def hidden_place(text: str) -> str:
    """A text that is an absolute path without its folders; any other text as it is.

    What has no suffix is a folder, and loses its name: it may be that of a person. A text of one name after a
    slash, such as `/no_think`, need not be a path.

    >>> hidden_place("/home/ann/rows.csv"), hidden_place("/home/ann"), hidden_place("C:/data/a.toml")
    ('…/rows.csv', '…', '…/a.toml')
    >>> hidden_place("/no_think"), hidden_place("a/b.csv")
    ('/no_think', 'a/b.csv')
    """
    url = _URL.fullmatch(text)
    if url is not None:
        return f"{url[1]}:///{hidden_place('/' + url[2])}"
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(text)
        if path.is_absolute() and len(path.parts) > 2:  # noqa: PLR2004 - the root, and one name
            return f"{HIDDEN}/{path.name}" if path.suffix else HIDDEN
    return text


def _placeless(value: Any) -> Any:
    """JSON data with `hidden_place` of every text in it."""
    if isinstance(value, str):
        return hidden_place(value)
    if isinstance(value, Mapping):
        return {name: _placeless(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_placeless(part) for part in value]
    return value


def _task(task: TaskRun) -> TaskRun:
    golds = task.summary.get("golds")
    if not isinstance(golds, Mapping):
        return task
    hidden = {
        name: {item: text_digest(str(reason)) for item, reason in part.items()}
        if isinstance(part, Mapping)
        else part
        for name, part in golds.items()
    }
    return replace(task, summary={**task.summary, "golds": hidden})


def _maybe(text: str | None) -> str | None:
    return None if text is None else text_digest(text)


def _item(item: Item) -> Item:
    return replace(
        item,
        fields={name: f"sha256:{digest_json(value)}" for name, value in item.fields.items()},
        targets=tuple(map(text_digest, item.targets)),
        choices=tuple(map(text_digest, item.choices)),
        invalid=_maybe(item.invalid),
    )


def _request(request: Request) -> Request:
    prompt = request.prompt
    hidden = (
        text_digest(prompt)
        if isinstance(prompt, str)
        else tuple(Message(turn.role, text_digest(turn.content)) for turn in prompt)
    )
    return replace(request, prompt=hidden, continuation=_maybe(request.continuation))


def _response(response: Response) -> Response:
    return replace(
        response,
        text=text_digest(response.text),
        reasoning=_maybe(response.reasoning),
        reason=_maybe(response.reason),
        tokens=None,
    )


def _outcome(outcome: Outcome) -> Outcome:
    execution = None if outcome.execution is None else _execution(outcome.execution)
    return replace(outcome, answer=_maybe(outcome.answer), reason=_maybe(outcome.reason), execution=execution)


def _execution(execution: Execution) -> Execution:
    return replace(
        execution,
        message=_maybe(execution.message),
        stdout=text_digest(execution.stdout),
        stderr=text_digest(execution.stderr),
    )
