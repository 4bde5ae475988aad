"""The evaluation card: every field that a reader needs to judge a number.

A field that is not known says "unknown"; none is left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from probatum.core.figures import figure
from probatum.core.moments import to_the_second
from probatum.core.protocol import SCORED_FORMS
from probatum.core.records import Estimate
from probatum.core.run import Run, TaskRun
from probatum.core.status import Status
from probatum.report.escaping import escape_markdown
from probatum.runner.invariants import run_faults
from probatum.runner.noise import noise_floor_of, told_noise
from probatum.runner.result import task_estimates
from probatum.scoring.audit import ExtractionAudit

__all__ = ["EXTRACTION_BOUNDS", "Card", "make_card", "shown_value"]

UNKNOWN = "unknown"

GENERATES_NOTHING = "none: likelihoods are compared, and nothing is generated"


EXTRACTION_BOUNDS = {
    "no_answer_right": "if every no_answer were right",
    "failures_right": "if every no_answer and truncated were right",
    "failures_reread": "if each of them were what the best marked reading makes of it",
    "disagreements_low": "if marked readings that differ were followed where that is worse",
    "disagreements_high": "if marked readings that differ were followed where that is better",
    "low": "at the worst of all this",
    "high": "at the best of all this",
}
"""Bound of an extraction audit → when the score would be it."""


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
            lines += [f"## {escape_markdown(title)}", ""]
            lines += [
                f"- **{escape_markdown(name)}**: {escape_markdown(shown_value(value))}"
                for name, value in fields.items()
            ]
            lines.append("")
        return "\n".join(lines)


def make_card(
    run: Run,
    *,
    decision: str | None = None,
    audits: Mapping[str, ExtractionAudit] | None = None,
    faults: Sequence[str] = (),
    contamination: Mapping[str, str] | None = None,
) -> Card:
    """The card of a run.

    Args:
        run: as the store has it.
        decision: what the evaluation is to decide, in the user's words.
        audits: task → audit of how its answers were read, where one was made.
        contamination: task → what an audit of a corpus found, in a line, where one was made.
        faults: invariants that the run's samples break, beside those that the record itself shows.
    """
    broken = tuple(dict.fromkeys((*run_faults(run), *faults)))
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
            "options": _known(_given(run.options)),
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
        if audits is not None and (audit := audits.get(task.task)) is not None:
            sections[f"{task.task}: extraction"] = _extraction(audit)
    sections["Validity"] = {
        "contamination audit": contamination or f"{UNKNOWN}: not made",
        "extraction audit": "made" if audits else f"{UNKNOWN}: not made",
        "execution date": f"{_known(to_the_second(run.created))} to {_known(to_the_second(run.updated))}",
        "state": run.state.value,
        "invariants": f"INVALID: {'; '.join(broken)}" if broken else _unbroken(run),
        "known limits": "; ".join(_limits(run)) or UNKNOWN,
    }
    return Card(run.id, sections)


def _unbroken(run: Run) -> str:
    """What no broken invariant says: nothing of a run that claims no numbers."""
    if not all(task.summary for task in run.tasks):
        return f"{UNKNOWN}: the run is {run.state.value}"
    return "all hold: counts add up, rates and intervals lie in their ranges"


def _model(run: Run) -> dict[str, object]:
    model = run.model
    systems = {
        UNKNOWN if _made_elsewhere(task) else _protocol(task).get("system") or "none" for task in run.tasks
    }
    return {
        "model": f"{model.provider}/{model.name}",
        "checkpoint": _known(model.revision),
        "weights digest": _known(model.weights),
        "tokenizer digest": _known(model.tokenizer),
        "template digest": _known(model.template),
        "system prompt": "; ".join(sorted(systems)),
        "adapters": UNKNOWN,
        "precision": _known(model.precision),
        "backend": _known(model.backend),
        "settings": model.settings or "none",
        "identity digest": model.digest,
    }


def _task_sections(run: Run, task: TaskRun) -> dict[str, dict[str, object]]:
    summary, origin = task.summary, task.origin
    made_elsewhere = _made_elsewhere(task)
    protocol = {} if made_elsewhere else _protocol(task)
    sampling = _fields(protocol.get("sampling"))
    scored = protocol.get("form") in SCORED_FORMS
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
            "gold answers": _golds(summary.get("golds")),
            "answers": _known(origin.get("answers")) if made_elsewhere else _asked(run),
            "licence": _task(task, "licence"),
            "citation": _task(task, "citation"),
        },
        f"{task.task}: recipe": {
            "task version": _task(task, "version"),
            "task digest": task.protocol,
            **({"task file": origin["task_file"]} if "task_file" in origin else {}),
            "form": _known(protocol.get("form")),
            "rules of another harness": protocol.get("compat") or "none",
            "few-shot ids and order": _shots(task),
            "decoding": GENERATES_NOTHING if scored else _known(_given(sampling)),
            "samples an item": _known(protocol.get("samples")),
            "seed": _known(protocol.get("seed")),
            "scoring": _component(task, "scorer"),
            "parser": _parser(task),
            "budgets": {
                "max_tokens": GENERATES_NOTHING if scored else _known(sampling.get("max_tokens")),
                "samples": task.planned,
            },
        },
        f"{task.task}: design": {
            "statistical unit": _task(task, "unit"),
            "denominators": _denominators(task),
            "missing-value policy": "in no rate, and widens the bounds from all wrong to all right: "
            + ", ".join(sorted(set(Status) - {Status.INVALID_ITEM} - _counted(task)))
            + "; listed, and in no bound: invalid_item",
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
            "noise floor": _noise(task),
            "multiple comparisons": "none corrected: each interval stands alone",
            "notes": summary.get("notes") or "none",
        }
        if summary
        else {"results": f"{UNKNOWN}: the run is {run.state.value}"},
    }


def _extraction(audit: ExtractionAudit) -> dict[str, object]:
    """What the score owes to how answers were read."""
    failed = ", ".join(
        f"{status} {audit.statuses[status]}"
        for status in ("no_answer", "truncated")
        if status in audit.statuses
    )
    rules = "; ".join(
        f"{each.rule} {each.samples}" + ("" if each.value is None else f" (score {each.value:.4f})")
        for each in audit.rules
    )
    fields: dict[str, object] = {
        "answers not read": f"{audit.failures} of {audit.samples} samples"
        + (f": {failed}" if failed else ""),
        "rules that decided": rules or "none",
    }
    if audit.left_out is not None:
        fields["other readings"] = f"none: {audit.left_out}"
    else:
        fields["marked readings that differ"] = f"in {audit.disagreements} of {audit.samples} samples"
        fields["score by other readings"] = "; ".join(
            f"{each.name} [{each.kind}] {each.value:.4f}" for each in audit.readings
        )
    if audit.value is not None:
        fields[f"score {audit.score!r} as read"] = f"{audit.value:.4f}"
    for name, words in EXTRACTION_BOUNDS.items():
        if name in audit.bounds:
            fields[f"score {words}"] = f"{audit.bounds[name]:.4f}"
    return fields


def _effect(estimate: Estimate) -> str:
    if estimate.value is None:
        return f"undefined ({'; '.join(estimate.warnings)})"
    low, high = estimate.low, estimate.high
    if low is not None and high is not None:
        interval = f"{100 * estimate.level:g}% interval [{figure(low)}, {figure(high)}]"
    else:
        interval = "no interval" if estimate.se is None else f"standard error {figure(estimate.se)}"
    parts = [
        figure(estimate.value),
        f"{interval} ({estimate.method})",
        f"n {estimate.n}",
        f"coverage {estimate.coverage:.4f}",
    ]
    if estimate.bounds is not None:
        parts.append(f"bounds [{estimate.bounds[0]:.4f}, {estimate.bounds[1]:.4f}]")
    if estimate.chance is not None:
        parts.append(f"chance {estimate.chance:.4f}")
    return ", ".join([*parts, *estimate.warnings])


def _noise(task: TaskRun) -> str:
    found = noise_floor_of(task)
    return (
        f"{UNKNOWN}: nothing was asked twice (--repeat-share)"
        if found is None
        else "; ".join(told_noise(found))
    )


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
    form = _fields(_protocol(task).get("task")).get(name)
    return UNKNOWN if form is None else _call(form)


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


def _made_elsewhere(task: TaskRun) -> bool:
    """Whether answers of a file were graded: the protocol says how, and not how they were asked for."""
    return "answers" in task.origin


def _shots(task: TaskRun) -> object:
    shots = task.summary.get("shots", UNKNOWN)
    return "none" if shots == [] else shots


def _policy(task: TaskRun) -> dict[str, Any]:
    return _fields(_fields(_protocol(task).get("task")).get("policy"))


def _counted(task: TaskRun) -> frozenset[Status]:
    """The statuses that the task's policy counts, read from its canonical form."""
    listed = _policy(task).get("counted", {}).get("set", [])
    names = {str(json.loads(one)).rpartition(".")[2] for one in listed}
    return frozenset(status for status in Status if status.name in names)


def _denominators(task: TaskRun) -> str:
    wrong = ", ".join(sorted(_counted(task) - {Status.SCORED})) or "nothing else"
    return f"{_policy(task).get('name', UNKNOWN)}: scored, and as wrong {wrong}; capability: scored alone"


def _given(choices: Mapping[str, object]) -> dict[str, object]:
    """The choices that were made; what is left to the task or to the seeds stands elsewhere."""
    return {name: value for name, value in choices.items() if value is not None}


def _known(value: object) -> object:
    return UNKNOWN if value in (None, "", {}, []) else value


def shown_value(value: object) -> str:
    """A field's value as one text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _golds(found: object) -> str:
    """What the task's own extraction and scoring made of the gold answers."""
    if not isinstance(found, Mapping):
        return UNKNOWN
    if found.get("left_out"):
        return f"not checked before the run: {found['left_out']}"
    unequal, undecided = (dict(found.get(name) or {}) for name in ("unequal", "undecided"))
    right = int(found.get("checked", 0)) - len(unequal)
    parts = [f"{right} of {found.get('checked')} equal themselves by the task's own extraction and scoring"]
    for words, listed in (("invalid", unequal), ("counted, and not confirmed", undecided)):
        parts += [f"{words}: {name!r} ({reason})" for name, reason in listed.items()]
    return "; ".join(parts)


def _asked(run: Run) -> str:
    """Where the answers were asked for."""
    source = run.options.get("answers_of")
    return "asked for in this run" if source is None else f"asked for in run {source}"
