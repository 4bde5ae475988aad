"""The evaluation card: every field that a reader needs to judge a number.

A field that is not known says "unknown"; none is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from probatum.core.records import Estimate
from probatum.core.run import Run, TaskRun
from probatum.runner.result import task_estimates

__all__ = ["Card", "make_card"]

UNKNOWN = "unknown"


@dataclass(frozen=True)
class Card:
    """Sections of a card: title → field → value, in order."""

    run: str
    sections: Mapping[str, Mapping[str, object]]

    def plain(self) -> dict[str, Any]:
        """As JSON data."""
        return {"run": self.run, "sections": self.sections}

    def markdown(self) -> str:
        """As Markdown: a heading a section, a line a field."""
        lines = [f"# Evaluation card of run {self.run}", ""]
        for title, fields in self.sections.items():
            lines += [f"## {_escape(title)}", ""]
            lines += [f"- **{_escape(name)}**: {_escape(_shown(value))}" for name, value in fields.items()]
            lines.append("")
        return "\n".join(lines)


def make_card(run: Run, *, decision: str | None = None) -> Card:
    """The card of a run. `decision` says what the evaluation is to decide, in the user's words."""
    sections: dict[str, dict[str, object]] = {
        "Decision": {
            "decision": decision or UNKNOWN,
            "target population": "; ".join(f"{task.task}: {_task(task, 'population')}" for task in run.tasks),
        },
        "Model": _model(run),
        "Harness": {
            "harness version": _known(run.environment.get("probatum")),
            "commit": _known(run.environment.get("commit")),
            "run protocol digest": _known(run.options.get("protocol_digest")),
            "python": _known(run.environment.get("python")),
            "platform": _known(run.environment.get("platform")),
            "dependencies": _known(run.environment.get("dependencies")),
            "options": run.options,
            "answers taken from run": run.options.get("answers_of", "none: asked in this run"),
        },
        "Tools and permissions": {
            "tools": "none",
            "retrieval": "none",
            "network": "none for executed code; the model's provider for its answers",
            "code execution": "allowed" if run.options.get("allow_code_execution") else "not allowed",
            "isolation of executed code": run.environment.get("isolation") or "none: no code was executed",
        },
        "Judges": {
            "judge": "none",
            "verifier": ", ".join(sorted({_component(task, "scorer") for task in run.tasks})),
            "guard": "none",
            "thresholds": "none",
        },
    }
    for task in run.tasks:
        sections |= _task_sections(run, task)
    sections["Validity"] = {
        "contamination audit": f"{UNKNOWN}: not made",
        "execution date": f"{run.created} to {run.updated}",
        "state": run.state.value,
        "known limits": "; ".join(_limits(run)) or UNKNOWN,
    }
    return Card(run.id, sections)


def _model(run: Run) -> dict[str, object]:
    model = run.model
    systems = {str(_protocol(task).get("system")) for task in run.tasks}
    return {
        "model": f"{model.provider}/{model.name}",
        "checkpoint": _known(model.revision),
        "weights digest": _known(model.weights),
        "tokenizer digest": _known(model.tokenizer),
        "template digest": _known(model.template),
        "system prompt": "none" if systems == {"None"} else "; ".join(sorted(systems)),
        "adapters": UNKNOWN,
        "precision": _known(model.precision),
        "backend": _known(model.backend),
        "settings": model.settings or "none",
        "identity digest": model.digest,
    }


def _task_sections(run: Run, task: TaskRun) -> dict[str, dict[str, object]]:
    protocol, summary, origin = _protocol(task), task.summary, task.origin
    sampling = _fields(protocol.get("sampling"))
    return {
        f"{task.task}: data": {
            "dataset": _known(origin.get("location")),
            "kind of source": _known(origin.get("kind")),
            "revision": _known(origin.get("revision")),
            "split": origin.get("split", UNKNOWN),
            "time window": UNKNOWN,
            "files": _known(origin.get("files")),
            "items digest": task.items,
            "requests digest": _known(task.requests),
            "licence": _task(task, "licence"),
            "citation": _task(task, "citation"),
        },
        f"{task.task}: recipe": {
            "task version": _task(task, "version"),
            "task digest": task.protocol,
            "form": _known(protocol.get("form")),
            "few-shot ids and order": summary.get("shots") or "none",
            "decoding": sampling or UNKNOWN,
            "samples an item": _known(protocol.get("samples")),
            "seed": _known(protocol.get("seed")),
            "scoring": _component(task, "scorer"),
            "parser": _parser(task),
            "budgets": {
                "max_tokens": _known(sampling.get("max_tokens")),
                "samples": task.planned,
            },
        },
        f"{task.task}: design": {
            "statistical unit": _task(task, "unit"),
            "denominators": "end_to_end: scored, and as wrong what the policy counts; capability: scored",
            "missing-value policy": _policy(task),
            "samples": task.planned,
            "items": _known(summary.get("units")),
            "clusters": _known(summary.get("clusters")),
            "trials an item": _known(protocol.get("samples")),
            "slice weights": "every item counts once; no slice is weighted",
            "statuses": summary.get("statuses") or UNKNOWN,
        },
        f"{task.task}: results": {
            **{
                f"{estimate.name} [{estimate.denominator}]": _effect(estimate)
                for estimate in task_estimates(task)
            },
            "multiple comparisons": "none corrected: each interval stands alone",
            "notes": summary.get("notes") or "none",
        }
        if summary
        else {"results": f"{UNKNOWN}: the run is {run.state.value}"},
    }


def _effect(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"undefined ({'; '.join(estimate.warnings)})"
    low, high = estimate.low, estimate.high
    interval = "no interval" if low is None or high is None else f"[{low:.4f}, {high:.4f}]"
    parts = [
        f"{estimate.value:.4f}",
        f"{estimate.level:.0%} interval {interval} ({estimate.method})",
        f"n {estimate.n}",
        f"coverage {estimate.coverage:.4f}",
    ]
    if estimate.bounds is not None:
        parts.append(f"bounds [{estimate.bounds[0]:.4f}, {estimate.bounds[1]:.4f}]")
    if estimate.chance is not None:
        parts.append(f"chance {estimate.chance:.4f}")
    return ", ".join([*parts, *estimate.warnings])


def _limits(run: Run) -> list[str]:
    notes = [f"{task.task}: {note}" for task in run.tasks for note in _list(task.summary.get("notes"))]
    return [*notes, "an item is public once it is asked of a hosted model"]


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _protocol(task: TaskRun) -> dict[str, Any]:
    return _fields(task.recipe.get("protocol"))


def _fields(component: Any) -> dict[str, Any]:
    """The fields of a component's canonical form."""
    return dict(component["fields"]) if isinstance(component, Mapping) and "fields" in component else {}


def _task(task: TaskRun, name: str) -> object:
    return _known(_fields(_protocol(task).get("task")).get(name))


def _component(task: TaskRun, name: str) -> str:
    """A component as `Name(field=value, …)`, from its canonical form."""
    return _call(_fields(_protocol(task).get("task")).get(name))


def _call(form: Any) -> str:
    if isinstance(form, Mapping) and "is" in form:
        inside = ", ".join(f"{name}={_call(value)}" for name, value in form["fields"].items())
        return f"{str(form['is']).rpartition('.')[2]}({inside})"
    if isinstance(form, Mapping) and "function" in form:
        return str(form["function"]).rpartition(".")[2]
    if isinstance(form, Mapping):
        return "{" + ", ".join(f"{name}: {_call(value)}" for name, value in form.items()) + "}"
    if isinstance(form, list):
        return "[" + ", ".join(map(_call, form)) + "]"
    return json.dumps(form, ensure_ascii=False)


def _parser(task: TaskRun) -> str:
    scorer = _fields(_fields(_protocol(task).get("task")).get("scorer"))
    found = {name: value for name, value in scorer.items() if name in ("extractor", "scorers", "extract")}
    return "; ".join(_call(value) for value in found.values()) or _component(task, "scorer")


def _policy(task: TaskRun) -> str:
    policy = _fields(_fields(_protocol(task).get("task")).get("policy"))
    return (
        f"{policy.get('name', UNKNOWN)}: wrong unless scored; judge, verifier and machine failures are in no "
        "rate and widen the bounds"
    )


def _known(value: object) -> object:
    return UNKNOWN if value in (None, "", {}, []) else value


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _escape(text: str) -> str:
    """Text that cannot end a line or open markup of Markdown or HTML."""
    flat = " ".join(text.split())
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return flat
