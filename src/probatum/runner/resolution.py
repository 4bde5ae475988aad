"""From what a user names to what a run needs: tasks, their form, their frozen protocols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from probatum.benchmarks import find_task
from probatum.core.errors import UsageError
from probatum.core.protocol import Form, Protocol, Task
from probatum.models.seam import Model
from probatum.runner.options import Options

Number = TypeVar("Number", int, float)

__all__ = ["protocol_for", "resolve_tasks"]


def resolve_tasks(tasks: str | Task | Sequence[str | Task]) -> tuple[Task, ...]:
    """Tasks by name (`"humaneval,gsm8k"`), as objects, or mixed; each once.

    Raises:
        UsageError: an unknown name (the nearest is offered), none, or the same task twice.
    """
    named = [tasks] if isinstance(tasks, (str, Task)) else list(tasks)
    found: list[Task] = []
    for one in named:
        if isinstance(one, Task):
            found.append(one)
        else:
            found += [find_task(name.strip()) for name in one.split(",") if name.strip()]
    if not found:
        raise UsageError(f"no task is named in {tasks!r}; `probatum tasks` lists what there is")
    names = [task.name for task in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"task {twice!r} is named twice; name it once")
    return tuple(found)


def protocol_for(task: Task, model: Model, options: Options) -> Protocol:
    """The frozen recipe of this task for this model under these options.

    Raises:
        UsageError: task and model have no form in common, or an option does not fit the task.
    """
    form = _form(task, model, options)
    prompt = task.prompt(form)
    default = task.sampling
    sampling = replace(
        default,
        stop=prompt.stop if prompt is not None else (),
        temperature=_or(options.temperature, default.temperature),
        top_p=_or(options.top_p, default.top_p),
        top_k=_or(options.top_k, default.top_k),
        max_tokens=_or(options.max_tokens, default.max_tokens),
    )
    samples = _or(options.samples, task.samples)
    if samples > 1 and sampling.temperature == 0 and model.identity.provider != "replay":
        raise UsageError(
            f"{samples} samples at temperature 0 are {samples} times the same answer; "
            "use --temperature above 0, or --samples 1"
        )
    shots = _or(options.shots, task.shots)
    if shots and task.shot_source is None:
        raise UsageError(
            f"task {task.name!r} takes no few-shot examples (--shots {shots}); leave --shots out"
        )
    if options.system is not None and form == "completion":
        raise UsageError(
            f"a system prompt ({options.system[:40]!r}) needs a conversation, and {model.identity.name!r} "
            "continues texts here; leave --system out, or use --form chat with a model that can chat"
        )
    return Protocol(
        task=task,
        form=form,
        shots=shots,
        samples=samples,
        sampling=sampling,
        system=options.system,
        seed=options.seed,
    )


def _or(chosen: Number | None, default: Number) -> Number:
    return default if chosen is None else chosen


def _form(task: Task, model: Model, options: Options) -> Form:
    """The form asked for; else chat where model and task both can, else completion."""
    able = model.capabilities
    can: dict[Form, bool] = {"chat": able.chat, "completion": able.completion}
    asked: Form | None = None
    if options.form is not None:
        asked = "chat" if options.form == "chat" else "completion"
    if asked is not None and not can[asked]:
        hint = "it has no chat template: a base model continues texts; use --form completion"
        if asked == "completion":
            hint = "it only answers messages; use --form chat"
        raise UsageError(f"model {model.identity.name!r} cannot be asked in the form {asked!r}: {hint}")
    for form in (asked,) if asked is not None else ("chat", "completion"):
        if can[form] and task.prompt(form) is not None:
            return form
    has = " and ".join(form for form in ("chat", "completion") if task.prompt(form) is not None)
    raise UsageError(
        f"task {task.name!r} can be asked as {has or 'nothing'}, and model {model.identity.name!r} "
        "cannot; choose another model"
    )
