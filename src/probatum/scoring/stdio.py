"""Programs that read stdin and write stdout: output compared by declared rules, and a scorer of examples."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from fractions import Fraction
from typing import Literal

from probatum.core.errors import ProtocolError
from probatum.core.protocol import Form
from probatum.core.records import Execution, Item, Limits, Outcome, Program, Response
from probatum.extraction import PythonCode
from probatum.scoring import output_comparison
from probatum.scoring.answers import invalid_item
from probatum.scoring.code import Given, PassesTests
from probatum.scoring.output_comparison import first_difference, said

__all__ = ["OutputComparison", "OutputRules", "PassesExamples", "compare_output"]

EDITION = 1
"""Raised whenever some output is judged otherwise than before: a digest of fields cannot see that."""

_TOLERANCE = re.compile(r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")


@dataclass(frozen=True, kw_only=True)
class OutputRules:
    """When two outputs are equal. The default: equal lines, but for blanks and empty lines at ends."""

    layout: Literal["exact", "lines", "words", "stream"] = "lines"
    """`exact`: character for character. `lines`: blanks at the end of a line and empty lines at the end
    do not count, nor does a carriage return. `words`: lines of words, however many blanks part them.
    `stream`: words, wherever lines break."""
    order: Literal["kept", "any"] = "kept"
    """`any`: lines (of a stream: words) in any order."""
    multiplicity: bool = True
    """Whether it counts how often a line occurs, where the order is free."""
    case: Literal["kept", "folded", "yes_no"] = "kept"
    """`yes_no`: the case of "yes" and "no" alone does not count."""
    numbers: Literal["text", "value"] = "text"
    """`value`: words that are numbers are compared by value, exactly: 1.50 is 1.5, 007 is 7."""
    absolute: str = "0"
    """Tolerance of values, a decimal; the wider of the two counts."""
    relative: str = "0"
    """The same as a share of the expected value's size."""
    integers: Literal["exact", "tolerant"] = "exact"
    """`exact`: the tolerance does not reach an expected integer, of whatever size."""
    nan_equal: bool = True
    """Whether NaN equals NaN, where values are compared. It equals nothing else."""
    edition: int = EDITION

    def __post_init__(self) -> None:
        tolerances: tuple[tuple[str, object], ...] = (
            ("absolute", self.absolute),
            ("relative", self.relative),
        )
        for name, value in tolerances:  # an item's own rules may hold anything
            if not isinstance(value, str) or not _TOLERANCE.fullmatch(value):
                raise ProtocolError(f"{name} tolerance {value!r}: give a decimal as text, not negative")
        tolerant = self.numbers == "value"
        if not tolerant and (Fraction(self.absolute) or Fraction(self.relative)):
            raise ProtocolError('a tolerance compares values: give numbers="value" with it')
        if tolerant and self.layout not in ("words", "stream"):
            raise ProtocolError(f'layout {self.layout!r} has no words: give "words" or "stream" for values')
        for name, value, known in (
            ("layout", self.layout, ("exact", "lines", "words", "stream")),
            ("order", self.order, ("kept", "any")),
            ("case", self.case, ("kept", "folded", "yes_no")),
            ("numbers", self.numbers, ("text", "value")),
            ("integers", self.integers, ("exact", "tolerant")),
        ):
            if value not in known:
                raise ProtocolError(f"{name} {value!r} is none of {', '.join(known)}")
        if self.layout == "exact" and (self.order, self.case) != ("kept", "kept"):
            raise ProtocolError("exact output has its order and its case: choose another layout")


@dataclass(frozen=True, slots=True)
class OutputComparison:
    """Whether two outputs are equal, and where they differ first if not."""

    equal: bool
    line: int | None = None
    """Line of the expected output, from 1; `None` where the order is free."""
    word: int | None = None
    """Word of that line, from 1, where words are compared."""
    expected: str | None = None
    """What is expected there, cut to 60 characters."""
    actual: str | None = None
    """What is written there."""
    reason: str | None = None
    """One line that tells all of it."""


def compare_output(actual: str, expected: str, rules: OutputRules | None = None) -> OutputComparison:
    r"""Compares what a program wrote with what it should have written.

    >>> compare_output("3 4 \n5\n\n", "3 4\n5").equal
    True
    >>> near = OutputRules(layout="words", numbers="value", absolute="1e-6", relative="1e-6")
    >>> compare_output("0.33333333", "0.333333", near).equal, compare_output("1000001", "1000000", near).equal
    (True, False)
    >>> compare_output("1 2\n3 5\n", "1 2\n3 4\n", OutputRules(layout="words")).reason
    "line 2, word 2: the words differ (expected '4', got '5')"
    """
    found = first_difference(actual, expected, asdict(rules or OutputRules()))
    if found is None:
        return OutputComparison(equal=True)
    line, word, wanted, written, _ = found
    return OutputComparison(
        equal=False, line=line or None, word=word or None, expected=wanted, actual=written, reason=said(found)
    )


_RUN = """

for number, (given, wanted) in enumerate(EXAMPLES, 1):
    ran = run_program(given)
    assert ran.exit_code == 0, f"example {number}: exit code {ran.exit_code} {ran.stderr[-400:]}".strip()
    difference = first_difference(ran.stdout, wanted, RULES)
    assert difference is None, f"example {number}: {said(difference)}"
"""
_FIELD = "__examples__"


@dataclass(frozen=True, kw_only=True)
class PassesExamples:
    """Score `passed`: 1 where the program writes what is expected for every input, else 0.

    The program runs once for each example, in the sandbox, with its input on stdin. It must end with exit
    status 0 and have written what the rules call equal. Outputs are compared outside the program's
    process; neither expected outputs nor later inputs are ever in its memory.
    """

    inputs: str = "inputs"
    """Field of the item: texts for stdin."""
    outputs: str = "outputs"
    """Field of the item: as many expected outputs."""
    rules: OutputRules = field(default_factory=OutputRules)
    rules_field: str | None = None
    """Field of the item, if it has it, with rules of its own: names and values of `OutputRules`."""
    given: Given = "answer"
    """What a response holds, as in `PassesTests`."""
    prompt: str = ""
    """Source that the program begins with, as a template of the item's fields."""
    extractor: PythonCode = field(default_factory=lambda: PythonCode(entry_point=None))
    stop: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    """Of each run."""
    cpu_field: str | None = None
    """Field that says an item's own limit of CPU seconds, where the item has it."""
    calibrated: bool = True
    """As in `PassesTests`. The reference solution is measured over all its runs, and the limit is of each."""
    gold_given: Given | None = None
    """What the task's gold answer is, where that is not what a response holds."""
    scores: tuple[str, ...] = field(default=("passed",), init=False)

    def program(self, item: Item, sample: int, responses: Sequence[Response]) -> Program | Outcome:
        """The program with its examples as tests, or the outcome where there is nothing to run."""
        try:
            tests = self._tests(item)
        except (ValueError, ProtocolError) as error:
            return invalid_item(item, sample, str(error))
        filled = replace(item, fields={**item.fields, _FIELD: tests})
        return self._runner().program(filled, sample, responses)

    def verdict(
        self, item: Item, sample: int, responses: Sequence[Response], execution: Execution
    ) -> Outcome:
        """1 for a program that wrote what it should, 0 for one that did not; our failure is ours."""
        return self._runner().verdict(item, sample, responses, execution)

    def for_form(self, form: Form) -> PassesExamples:
        """Answers of a conversation are searched for code; continuations are not."""
        return self.reading("answer") if form == "chat" and self.given == "completion" else self

    def reading(self, given: Given, stop: Sequence[str] = ()) -> PassesExamples:
        """This scorer for responses that hold something else, and are cut at these strings, too."""
        return replace(self, given=given, stop=(*self.stop, *stop), gold_given=self.gold_given or self.given)

    def reference(self, item: Item, answer: str) -> Program | None:
        """The program of the task's gold answer."""
        plain = replace(self, given=self.gold_given or self.given, stop=())
        found = plain.program(item, 0, [Response(request="", text=answer)])
        return found if isinstance(found, Program) else None

    def _runner(self) -> PassesTests:
        return PassesTests(
            tests=f"{{{_FIELD}}}",
            entry_point=None,
            prompt=self.prompt,
            given=self.given,
            extractor=self.extractor,
            stop=self.stop,
            limits=self.limits,
            cpu_field=self.cpu_field,
        )

    def _tests(self, item: Item) -> str:
        """The comparison's source, the examples, and the loop over them."""
        inputs, outputs = self._texts(item, self.inputs), self._texts(item, self.outputs)
        if len(inputs) != len(outputs) or not inputs:
            raise ValueError(
                f"{len(inputs)} inputs in {self.inputs!r} and {len(outputs)} outputs in {self.outputs!r}: "
                "an item needs as many of both, and at least one"
            )
        rules = asdict(self._rules(item))
        examples = list(zip(inputs, outputs, strict=True))
        return f"{inspect.getsource(output_comparison)}\nRULES = {rules!r}\nEXAMPLES = {examples!r}{_RUN}"

    def _texts(self, item: Item, name: str) -> list[str]:
        found = item.fields.get(name)
        if not isinstance(found, (list, tuple)) or not all(isinstance(each, str) for each in found):
            raise ValueError(f"field {name!r} is no list of texts")
        return list(found)

    def _rules(self, item: Item) -> OutputRules:
        own = item.fields.get(self.rules_field) if self.rules_field is not None else None
        if own is None:
            return self.rules
        known = {each.name for each in fields(OutputRules)} - {"edition"}
        if not isinstance(own, Mapping) or not set(own) <= known:
            raise ValueError(f"field {self.rules_field!r} is {own!r}: rules are {', '.join(sorted(known))}")
        return replace(self.rules, **own)
