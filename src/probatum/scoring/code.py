"""Code that passes the benchmark's tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from probatum.core.protocol import Form
from probatum.core.records import Execution, ExecutionStatus, Item, Limits, Outcome, Program, Response
from probatum.core.status import Status
from probatum.extraction import (
    Extraction,
    PythonCode,
    assemble_answer,
    assemble_completion,
    assemble_method,
)
from probatum.extraction.code import continues
from probatum.scoring.answers import invalid_item, read, unanswered

__all__ = ["PassesTests"]

Given = Literal["completion", "answer", "program"]
"""What a response holds: the continuation of the prompt, code within an answer, a whole program."""


@dataclass(frozen=True, kw_only=True)
class PassesTests:
    """Score `passed`: 1 where the program passes the benchmark's tests, else 0.

    A `completion` (of a base model) is executed as it stands behind the prompt, were it empty. An
    `answer` (of a chat model) is searched for code; without any it is `no_answer`. A `program` is
    executed alone, as files of solutions have it.
    """

    tests: str = "{test}\ncheck({entry_point})"
    """Test code; `{name}` stands for the item's field of that name, lists one entry a line."""
    entry_point: str | None = "{entry_point}"
    """Name that the tests call, as a template too; `None` where there is none."""
    prompt: str = "{prompt}"
    """Source that the program begins with, as a template; empty where the prompt is no code."""
    given: Given = "completion"
    call: Literal["function", "method"] = "function"
    """`method`: the entry point may be one of a class; each call of the tests gets a fresh instance."""
    extractor: PythonCode = field(default_factory=PythonCode)
    stop: tuple[str, ...] = ()
    """Cuts completions that a backend or another harness did not cut."""
    mode: Literal["split", "joint"] = "split"
    mode_field: str | None = None
    """Field that says an item's own mode, where the item has it: tests that use classes need `joint`."""
    limits: Limits = field(default_factory=Limits)
    cpu_field: str | None = None
    """Field that says an item's own limit of CPU seconds, where the item has it: its reference is slow."""
    calibrated: bool = True
    """Whether a run allows max(0.5 s, 10 × the CPU time of the reference solution), measured on its machine,
    in place of `limits.cpu_seconds`, which then is for items whose reference solution does not pass."""
    gold_given: Given | None = None
    """What the task's gold answer is, where that is not what a response holds."""
    scores: tuple[str, ...] = field(default=("passed",), init=False)

    def for_form(self, form: Form) -> PassesTests:
        """Answers of a conversation are searched for code; continuations are not."""
        return self.reading("answer") if form == "chat" and self.given == "completion" else self

    def reading(self, given: Given, stop: Sequence[str] = ()) -> PassesTests:
        """This scorer for responses that hold something else, and are cut at these strings, too."""
        return replace(self, given=given, gold_given=self.gold_given or self.given, stop=(*self.stop, *stop))

    def reference(self, item: Item, answer: str) -> Program | None:
        """The program of the task's gold answer."""
        plain = replace(self, given=self.gold_given or self.given, stop=())
        found = plain.program(item, 0, [Response(request="", text=answer)])
        return found if isinstance(found, Program) else None

    def program(self, item: Item, sample: int, responses: Sequence[Response]) -> Program | Outcome:
        """The whole program of one sample, or its outcome where there is nothing to run."""
        try:
            tests, prompt = _fill(self.tests, item), _fill(self.prompt, item)
            entry_point = _fill(self.entry_point, item) if self.entry_point is not None else None
        except KeyError as error:
            return invalid_item(item, sample, f"the item has no field {error.args[0]!r}")
        if not tests.strip():
            return invalid_item(item, sample, "the item has no tests")
        code = self._code(item, sample, responses, prompt, entry_point)
        if isinstance(code, Outcome):
            return code
        if self.call == "method" and entry_point:
            code = assemble_method(code, entry_point)
        return Program(
            code=code,
            tests=tests,
            entry_points=(entry_point,) if entry_point else (),
            mode=self._mode(item),
            limits=self._limits(item),
        )

    def _mode(self, item: Item) -> str:
        return self.mode if self.mode_field is None else str(item.fields.get(self.mode_field, self.mode))

    def _limits(self, item: Item) -> Limits:
        """The wall clock is a backstop: it never binds before the CPU limit on a machine shared by ten."""
        own = None if self.cpu_field is None else item.fields.get(self.cpu_field)
        if not isinstance(own, (int, float)):
            return self.limits
        wall = max(self.limits.wall_seconds, 10 * own)
        return replace(self.limits, cpu_seconds=float(own), wall_seconds=float(wall))

    def _code(
        self, item: Item, sample: int, responses: Sequence[Response], prompt: str, entry_point: str | None
    ) -> str | Outcome:
        if self.given == "answer":
            found = read(item, sample, responses, self.extractor)
            if isinstance(found, Outcome):
                return found
            goes_on = continues(prompt, responses[-1].text, entry_point)
            return goes_on or assemble_answer(prompt, found.answer, entry_point)
        nothing = unanswered(item, sample, responses)
        if nothing is not None:
            return nothing
        text = responses[-1].text
        return text if self.given == "program" else assemble_completion(prompt, text, self.stop)

    def verdict(
        self, item: Item, sample: int, responses: Sequence[Response], execution: Execution
    ) -> Outcome:
        """1 for a program that passed, 0 for one that did not; our own failure is `infra_error`."""
        if execution.status is ExecutionStatus.SANDBOX_ERROR:
            return Outcome(
                item_id=item.id,
                sample=sample,
                status=Status.INFRA_ERROR,
                reason=execution.message or execution.detail or "the sandbox failed",
                execution=execution,
            )
        found = self._found(item, responses)
        passed = execution.status is ExecutionStatus.PASSED
        return Outcome(
            item_id=item.id,
            sample=sample,
            status=Status.SCORED,
            scores={"passed": float(passed)},
            answer=found.answer,
            rule=found.rule,
            span=found.span,
            reason=None if passed else _reason(execution),
            execution=execution,
        )

    def _found(self, item: Item, responses: Sequence[Response]) -> Extraction:
        text = responses[-1].text
        if self.given == "answer":
            found = self.extractor.extract(text, item)
            if isinstance(found, Extraction):
                return found
        end = len(assemble_completion("", text, self.stop)) if self.given == "completion" else len(text)
        return Extraction(text[:end], self.given, (0, end))


def _reason(execution: Execution) -> str:
    """One line: how the program failed."""
    parts = (execution.status.value, execution.detail, execution.message)
    return " ".join(": ".join(part for part in parts if part).split())[:300]


_FIELD = re.compile(r"\{([A-Za-z_]\w*)\}")


def _fill(template: str, item: Item) -> str:
    """The template with the item's fields; other braces stay as they are.

    Raises:
        KeyError: the item has no such field.
    """
    return _FIELD.sub(lambda match: _shown(item.fields[match[1]]), template)


def _shown(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return "\n".join(str(each) for each in value)
    return str(value)
