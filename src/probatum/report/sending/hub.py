"""Results in the metadata of a model on the Hugging Face hub: written to a file, never uploaded.

Two formats, both of `huggingface_hub`: `model-index` in the front matter of a model's `README.md`
(https://huggingface.co/docs/hub/model-cards), and a list in `.eval_results/*.yaml`
(https://huggingface.co/docs/hub/eval-results), which has room for a value and a note, and for sets of the hub
alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from probatum.core.errors import UsageError
from probatum.core.figures import figure
from probatum.core.moments import to_the_second
from probatum.core.records import Estimate
from probatum.core.run import TaskRun
from probatum.report.card import make_card
from probatum.report.redaction import redacted_run, without_places
from probatum.report.sending.figures import check_valid
from probatum.runner import EvaluatedRun
from probatum.runner.invariants import task_fields
from probatum.runner.result import task_estimates

__all__ = ["EVAL_RESULTS", "hub_text"]

EVAL_RESULTS: Final = ".eval_results"
"""The folder of a model's repository whose files have the second format."""


def hub_text(run: EvaluatedRun, path: Path, *, redact: bool = False) -> str:
    """The text of a file for the hub.

    Args:
        run: with its store.
        path: says which: `.md` is a model card with the evaluation card as its text; `.yaml` in a folder
            `.eval_results` the second format; any other `.yaml` the metadata of a model card.
        redact: hides what notes quote of the data set; the folders of this machine never stand in it.

    Raises:
        UsageError: another name, a run that is invalid, or nothing to tell.
    """
    if path.suffix not in (".md", ".yaml", ".yml"):
        raise UsageError(f"{str(path)!r} does not say what to write for the hub: end it with .md or .yaml")
    check_valid(run)
    # it stands in the `utils` of theirs without being listed there
    from huggingface_hub.utils import yaml_dump  # type: ignore[attr-defined]  # noqa: PLC0415 - takes 0.13 s

    if path.suffix != ".md" and path.absolute().parent.name == EVAL_RESULTS:
        return yaml_dump(_entries(run), sort_keys=False)
    metadata = yaml_dump(_model_index(run), sort_keys=False)
    if path.suffix != ".md":
        return metadata
    record = redacted_run(run.record) if redact else without_places(run.record)
    return f"---\n{metadata}---\n\n{make_card(record, faults=run.faults).markdown()}"


def _model_index(run: EvaluatedRun) -> dict[str, Any]:
    from huggingface_hub import EvalResult, ModelCardData  # noqa: PLC0415 - 0.13 s, and the hub alone needs it

    results = [
        EvalResult(
            task_type="text-generation",
            task_name=task.task,
            dataset_type=_dataset(task) or task.task,
            dataset_name=task.task,
            dataset_split=_text(task.origin.get("split")),
            dataset_revision=_revision(task),
            metric_type=each.name,
            metric_name=f"{each.name} [{each.denominator}]",
            metric_value=each.value,
            metric_args=_defence(run, task, each),
        )
        for task, each in _told(run)
    ]
    card = ModelCardData(model_name=run.record.model.name, eval_results=results, ignore_metadata_errors=False)
    metadata: dict[str, Any] = card.to_dict()  # type: ignore[no-untyped-call]  # they did not annotate it
    return metadata


def _told(run: EvaluatedRun) -> Iterator[tuple[TaskRun, Estimate]]:
    """Estimates that have a value; strata stand in the report.

    Raises:
        UsageError: there is none.
    """
    found = [
        (task, each)
        for task in run.record.tasks
        for each in task_estimates(task)
        if each.value is not None and "/" not in each.name
    ]
    if not found:
        raise UsageError(f"run {run.id} is {run.record.state.value} and has no result to write down")
    yield from found


def _defence(run: EvaluatedRun, task: TaskRun, each: Estimate) -> dict[str, Any]:
    """What a reader needs to judge the value: it has no other place in the format."""
    found = {
        "low": each.low,
        "high": each.high,
        "level": each.level,
        "method": each.method,
        "n": each.n,
        "clusters": each.clusters,
        "denominator": each.denominator,
        "coverage": each.coverage,
        "bounds": None if each.bounds is None else list(each.bounds),
        "chance": each.chance,
        "protocol": task.protocol,
        "items": task.items,
        "requests": task.requests,
        "statuses": dict(run.statuses[task.task]),
        "run": run.id,
        "probatum": run.record.environment.get("probatum"),
    }
    return {name: value for name, value in found.items() if value is not None}


def _entries(run: EvaluatedRun) -> list[dict[str, Any]]:
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml  # noqa: PLC0415 - as above

    firsts: dict[str, tuple[TaskRun, Estimate]] = {}
    for task, each in _told(run):
        firsts.setdefault(task.task, (task, each))
    entries = []
    for task, each in firsts.values():
        dataset = _dataset(task)
        if dataset is None:
            raise UsageError(
                f"task {task.task!r} names no data set of the hub, and {EVAL_RESULTS} takes no other: write "
                "a .yaml elsewhere, or a .md"
            )
        entries.append(
            EvalResultEntry(
                dataset_id=dataset,
                task_id=task.task,
                value=each.value,
                dataset_revision=_revision(task),
                date=to_the_second(run.record.updated),
                notes=_note(task, each),
            )
        )
    found: list[dict[str, Any]] = eval_result_entries_to_yaml(entries)
    return found


def _note(task: TaskRun, each: Estimate) -> str:
    interval = "" if each.low is None or each.high is None else f" [{figure(each.low)}, {figure(each.high)}]"
    return (
        f"{each.name} [{each.denominator}], {100 * each.level:g}% interval{interval}, n {each.n}, coverage "
        f"{each.coverage:.4f}, protocol {task.protocol[:16]}, probatum"
    )


def _hub(task: TaskRun) -> Mapping[str, Any]:
    """The set of the hub that the recipe names as a source; the origin says whether rows came from there."""
    source = task_fields(task).get("source")
    hub = source.get("fields", {}).get("hub") if isinstance(source, Mapping) else None
    return hub["fields"] if isinstance(hub, Mapping) and "fields" in hub else {}


def _dataset(task: TaskRun) -> str | None:
    return _text(_hub(task).get("repository"))


def _revision(task: TaskRun) -> str | None:
    """Of the rows, where they came from the hub; of others it is not known."""
    return _text(task.origin.get("revision")) if task.origin.get("kind") == "hub" else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
