"""From what a user names to what a run needs: tasks, their form, their frozen protocols."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar

from probatum.benchmarks import find_task
from probatum.core.errors import UsageError
from probatum.core.protocol import FORMS, SCORED_FORMS, Form, Protocol, Task
from probatum.core.records import Sampling
from probatum.core.run import TaskRun
from probatum.models.seam import Model
from probatum.runner.cpu_limits import with_cpu_seconds
from probatum.runner.limits import task_names
from probatum.runner.options import Options
from probatum.runner.task_checks import check_task
from probatum.runner.task_files import is_task_file, load_task_file, trusted

Number = TypeVar("Number", int, float)
TaskNames = str | os.PathLike[str] | Task | Sequence[str | os.PathLike[str] | Task]
"""What a user may name tasks by: names by commas, files, objects."""

__all__ = ["TaskNames", "protocol_for", "resolve_tasks", "stored_task"]


def resolve_tasks(tasks: TaskNames) -> tuple[Task, ...]:
    """Tasks by name (`"humaneval,gsm8k"`), by file (`"my/sums.py"`), as objects, or mixed; each once.

    Raises:
        UsageError: an unknown name (the nearest is offered), a file that defines none, a `Task` that
            cannot be run, none at all, or two tasks of one name.
    """
    named = [tasks] if isinstance(tasks, (str, os.PathLike, Task)) else list(tasks)
    found: list[Task] = []
    for one in named:
        if isinstance(one, Task):
            check_task(one)
            found.append(one)
        elif isinstance(one, (str, os.PathLike)):
            found += [task for name in _cut(os.fspath(one)) for task in _by_name(name)]
        else:
            raise UsageError(f"{one!r} is no task: give a name, a file, or a Task")
    if not found:
        raise UsageError(f"no task is named in {tasks!r}; `probatum tasks` lists what there is")
    names = [task.name for task in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        places = [str(task.file.path) for task in found if task.name == twice and task.file is not None]
        if len(set(places)) > 1:
            raise UsageError(
                f"{' and '.join(places)} both define a task {twice!r}; give each a name of its own"
            )
        raise UsageError(f"task {twice!r} is named twice; name it once")
    return tuple(found)


def _cut(names: str) -> list[str]:
    """Names by commas; a file whose name has a comma in it is one name."""
    return [names] if "," in names and Path(names).is_file() else task_names(names)


def _by_name(name: str) -> tuple[Task, ...]:
    if is_task_file(name):
        return load_task_file(name)
    found = find_task(name)
    check_task(found)
    return (found,)


def stored_task(record: TaskRun, own: Mapping[str, Task] | None = None) -> Task:
    """The task of today that a run of then belongs to: the one given, that of its file, or that of its name.

    Args:
        record: of the run.
        own: tasks by name that come first: those whose file has moved, or that were given as objects.

    Raises:
        UsageError: there is none; says what to do.
    """
    if own is not None and record.task in own:
        return own[record.task]
    held = record.origin.get("task_file")
    if not isinstance(held, Mapping):
        try:
            return find_task(record.task)
        except UsageError as error:
            raise UsageError(
                f"{error}. If it is a task of your own, give it again: its file by --task FILE, or "
                "rescore(tasks=…) in Python"
            ) from None
    return _task_of_file(record.task, Path(str(held.get("path"))))


def _task_of_file(name: str, path: Path) -> Task:
    """The task of a file that a store names."""
    was = f"task {name!r} was defined in {str(path)!r}"
    try:
        there, ours = path.is_file(), path.is_file() and trusted(path)
    except OSError as error:
        raise UsageError(f"{was}, which cannot be read: {error.strerror}; name a copy: --task FILE") from None
    if not there:
        raise UsageError(
            f"{was}, which is not there any more; put the file back, or name where it is now: --task FILE"
        )
    if not ours:
        raise UsageError(
            f"{was}, which others own or can write to, and would be executed because a store names it; "
            f"if it is yours, say so: --task {path}"
        )
    found = {task.name: task for task in load_task_file(path)}
    if name not in found:
        raise UsageError(
            f"{was}, which has {', '.join(map(repr, found))} today and no {name!r}; name the file that "
            "has it: --task FILE"
        )
    return found[name]


def protocol_for(task: Task, model: Model, options: Options) -> Protocol:
    """The frozen recipe of this task for this model under these options.

    Raises:
        UsageError: task and model have no form in common, or an option does not fit the task.
    """
    form = _form(task, model, options)
    sampling = Sampling() if form in SCORED_FORMS else _sampling(task, form, options)
    samples = _or(options.samples, 1 if form in SCORED_FORMS else task.samples)
    if form in SCORED_FORMS:
        _nothing_random(form, samples, options)
    elif samples > 1 and sampling.temperature == 0 and model.identity.provider != "replay":
        raise UsageError(
            f"{samples} samples at temperature 0 are {samples} times the same answer; "
            "use --temperature above 0, or --samples 1"
        )
    shots = _or(options.shots, task.shots)
    if shots and task.shot_source is None:
        raise UsageError(
            f"task {task.name!r} takes no few-shot examples (--shots {shots}); leave --shots out"
        )
    if options.system is not None and form != "chat":
        does = "continues texts here" if form == "completion" else f"is asked as {form} here"
        raise UsageError(
            f"a system prompt ({options.system[:40]!r}) needs a conversation, and {model.identity.name!r} "
            f"{does}; leave --system out, or use --form chat with a model that can chat"
        )
    return Protocol(
        task=with_cpu_seconds(task, options.cpu_seconds),
        form=form,
        shots=shots,
        samples=samples,
        sampling=sampling,
        system=options.system,
        seed=options.seed,
        rotate=options.rotate,
        compat=_compat(form, options),
    )


def _sampling(task: Task, form: Form, options: Options) -> Sampling:
    prompt, default = task.prompt(form), task.sampling
    return replace(
        default,
        stop=prompt.stop if prompt is not None else (),
        temperature=_or(options.temperature, default.temperature),
        top_p=_or(options.top_p, default.top_p),
        top_k=_or(options.top_k, default.top_k),
        max_tokens=_or(options.max_tokens, default.max_tokens),
    )


def _nothing_random(form: Form, samples: int, options: Options) -> None:
    """Refuses options of generated text where nothing is generated."""
    if samples > 1:
        raise UsageError(f"{samples} samples of a likelihood are all the same; leave --samples out")
    for name in ("temperature", "top_p", "top_k", "max_tokens"):
        if (value := getattr(options, name)) is not None:
            raise UsageError(
                f"{name} {value!r} means nothing where {form} are scored and no text is generated; "
                f"leave it out, or use --form chat or completion"
            )


def _compat(form: Form, options: Options) -> Literal["lm_eval"] | None:
    if options.compat is not None and options.rotate:
        raise UsageError(
            f"compat {options.compat!r} asks each question once, in its own order: figures over rotations "
            "would not be its own; leave --rotate or --compat out"
        )
    if options.compat is None or form in SCORED_FORMS:
        return options.compat
    raise UsageError(f"compat {options.compat!r} is of likelihoods, and the form is {form!r}; leave it out")


def _or(chosen: Number | None, default: Number) -> Number:
    return default if chosen is None else chosen


def _form(task: Task, model: Model, options: Options) -> Form:
    """The form asked for; else the first of the task's that the model can."""
    able = model.capabilities
    can: dict[Form, bool] = dict.fromkeys(SCORED_FORMS, able.score)
    can |= {"chat": able.chat, "completion": able.completion}
    asked = next((form for form in FORMS if form == options.form), None)
    if asked is not None and not can[asked]:
        reasons = {
            "chat": "it has no chat template: a base model continues texts",
            "completion": "it only answers messages",
        }
        reason = reasons.get(asked, "it gives no log-probabilities of a given text")
        other = next((form for form in task.forms if can[form]), None)
        hint = "choose another model" if other is None else f"use --form {other}"
        raise UsageError(
            f"model {model.identity.name!r} cannot be asked in the form {asked!r}: {reason}; {hint}"
        )
    if asked is not None:
        if task.prompt(asked) is not None:
            return asked
        raise UsageError(
            f"task {task.name!r} has no form {asked!r}: it can be asked as "
            f"{' and '.join(task.forms) or 'nothing'}; use one of these, or leave --form out"
        )
    for form in task.forms:
        if can[form]:
            return form
    raise UsageError(
        f"task {task.name!r} can be asked as {' and '.join(task.forms) or 'nothing'}, and model "
        f"{model.identity.name!r} cannot; choose another model"
    )
