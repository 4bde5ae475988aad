"""Task and Protocol: the frozen recipe, made of frozen components.

A `Task` is what a benchmark defines; a `Protocol` is one task as one run asks it. The digest of a
protocol covers every field, defaults included (see `core.canonical`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, runtime_checkable
from typing import Protocol as Interface

from probatum.core.canonical import PLACE, WHERE_SET, digest
from probatum.core.errors import ProtocolError
from probatum.core.records import (
    DEFAULT_SCORING,
    Estimate,
    Execution,
    Item,
    Mark,
    Outcome,
    Program,
    Prompted,
    Response,
    Sampling,
    Scoring,
)
from probatum.core.status import END_TO_END, Status

__all__ = [
    "FORMS",
    "SCORED_FORMS",
    "CalibratedScorer",
    "CompatPrompt",
    "CompatScorer",
    "Form",
    "FormScorer",
    "Hub",
    "Merge",
    "Metric",
    "Part",
    "Policy",
    "ProgramScorer",
    "Prompt",
    "Protocol",
    "ScoredPrompt",
    "Scorer",
    "Source",
    "Task",
    "TaskFile",
    "ToItem",
]

Form = Literal["letters", "continuations", "text", "chat", "completion"]
"""How the model is asked. Three forms score what stands there and generate nothing: `letters` (the label
of each option, after a question that lists them), `continuations` (the text of each option) and `text`
(a whole text). Two generate: `chat` (a conversation) and `completion` (a text to continue)."""

FORMS: Final[tuple[Form, ...]] = ("letters", "continuations", "text", "chat", "completion")
"""In the order in which a run takes the first that task and model both can, if the task prefers none."""

SCORED_FORMS: Final[frozenset[Form]] = frozenset({"letters", "continuations", "text"})
"""Forms that need log-probabilities, and have nothing random."""


ToItem = Callable[[Any], "Item | tuple[Item, ...]"]
"""From a row to what it asks."""


@dataclass(frozen=True, kw_only=True)
class Hub:
    """A data set of the Hugging Face hub, pinned to a commit."""

    repository: str
    """`owner/name`."""
    revision: str
    """40 hex digits; a branch would let the rows change under the name."""
    files: tuple[str, ...]
    """Paths in the repository: Parquet, JSON lines, JSON or CSV, read in this order."""


@dataclass(frozen=True, kw_only=True)
class Merge:
    """Joins rows of several files: later files add columns to the rows of the first."""

    column: str
    """What names a row; every file has it, and the first file's value stands."""
    name: Callable[[Any], str] | None = None
    """From the value of that column to what must be equal, where the files write it differently."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where the rows come from; resolved in this order: data directory, Python package, hub."""

    local: tuple[str, ...] = ()
    """Paths under the data directory, read in order as one table; glob patterns allowed."""
    package: str | None = None
    """`module:path/in/package` of a Python package that ships the set."""
    hub: Hub | None = None
    columns: tuple[str, ...] = ()
    """Names of the columns where rows are lists: CSV without a header, JSON arrays of arrays."""
    select: Callable[[Any], bool] | None = None
    """Which rows (instances of the task's row type) belong: a split that stands in a column."""
    merge: Merge | None = None
    """Where the files hold parts of the same rows, rather than rows after one another."""
    nonfinite: bool = False
    """Reads `NaN`, `Infinity` and `-Infinity`, which are not JSON and which Python writes all the same.
    The task must make text of them: an item is plain JSON data."""
    beside: Path | None = field(default=None, metadata=PLACE)
    """Directory of the file that declares the task, where `local` is looked for, too. Not in the digest."""


class Prompt(Interface):
    """Renders an item, after its shots, into what the model is asked."""

    @property
    def stop(self) -> tuple[str, ...]:
        """Stop strings that go with this form."""
        ...

    def render(self, item: Item, shots: Sequence[Item], system: str | None) -> Prompted:
        """The text to be continued, or the conversation to be answered."""
        ...


@dataclass(frozen=True, kw_only=True)
class Part:
    """One of the texts that a sample is asked with."""

    prompt: Prompted
    continuation: str
    """What is scored after the prompt."""
    scoring: Scoring = DEFAULT_SCORING


@runtime_checkable
class ScoredPrompt(Prompt, Interface):
    """A prompt whose continuations are scored: several texts a sample, in an order that the scorer knows."""

    def parts(self, item: Item, shots: Sequence[Item], system: str | None) -> tuple[Part, ...]:
        """What is scored, after the shots."""
        ...


@runtime_checkable
class Scorer(Interface):
    """Grades text alone. `scores` names the keys that every scored outcome carries."""

    @property
    def scores(self) -> tuple[str, ...]:
        """Keys of the scores."""
        ...

    def grade(self, item: Item, sample: int, responses: Sequence[Response]) -> Outcome:
        """The verdict on one sample from what the model said."""
        ...


@runtime_checkable
class ProgramScorer(Interface):
    """Grades by running code: first says what to run, then reads how it went."""

    @property
    def scores(self) -> tuple[str, ...]:
        """Keys of the scores."""
        ...

    def program(self, item: Item, sample: int, responses: Sequence[Response]) -> Program | Outcome:
        """What to run, or the outcome where there is nothing to run."""
        ...

    def verdict(
        self, item: Item, sample: int, responses: Sequence[Response], execution: Execution
    ) -> Outcome:
        """Reads how the program ended."""
        ...


@runtime_checkable
class CalibratedScorer(ProgramScorer, Interface):
    """A scorer of programs that knows the reference solution's program, whose CPU time limits the others'."""

    @property
    def calibrated(self) -> bool:
        """Whether it does so in this task."""
        ...

    def reference(self, item: Item, answer: str) -> Program | None:
        """The program of the task's gold answer; `None` where there is none."""
        ...


@runtime_checkable
class FormScorer(Interface):
    """A scorer that reads answers of a conversation otherwise than continuations of a text."""

    def for_form(self, form: Form) -> Scorer | ProgramScorer:
        """The scorer of that form."""
        ...


@runtime_checkable
class CompatScorer(Scorer, Interface):
    """A scorer that knows the rules of other harnesses, too."""

    def for_compat(self, compat: Literal["lm_eval"]) -> Scorer:
        """It by the rules of that harness, their faults included."""
        ...


@runtime_checkable
class CompatPrompt(Prompt, Interface):
    """A prompt that knows how other harnesses ask."""

    def for_compat(self, compat: Literal["lm_eval"]) -> Prompt:
        """What that harness asks instead."""
        ...


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Which statuses count as wrong in the end-to-end rate. Part of the protocol."""

    name: str = "end_to_end"
    counted: frozenset[Status] = END_TO_END
    """`scored` with its score, all others here as wrong; what is left out is bounded."""

    def __post_init__(self) -> None:
        if Status.SCORED not in self.counted:
            raise ProtocolError(f"policy {self.name!r} counts no `scored` answers; add Status.SCORED to it")
        if Status.INVALID_ITEM in self.counted:
            raise ProtocolError(
                f"policy {self.name!r} counts broken items as wrong; take Status.INVALID_ITEM out of it"
            )


class Metric(Interface):
    """From the marks of one task to estimates."""

    def estimate(self, marks: Sequence[Mark], task: Task, level: float) -> tuple[Estimate, ...]:
        """Estimates at that confidence level, each with its denominator and its bounds."""
        ...


@dataclass(frozen=True, kw_only=True)
class TaskFile:
    """The file that declares a task of one's own. Its content is part of the recipe, its place is not."""

    sha256: str
    """Of the file's bytes."""
    imports: tuple[tuple[str, str], ...] = ()
    """Python files beside it that it imports: path from its directory, SHA-256."""
    path: Path = field(metadata=PLACE)
    """Where it was read."""

    def plain(self) -> dict[str, object]:
        """As JSON data, the place included."""
        return {"path": str(self.path), "sha256": self.sha256, "imports": [list(one) for one in self.imports]}


@dataclass(frozen=True, kw_only=True)
class Task:
    """What a benchmark defines."""

    name: str
    version: int
    """Raised whenever the same model could get another score."""
    summary: str
    """One line for people."""
    citation: str
    source: Source
    row: type
    """Frozen dataclass that a row must fit; rows are checked before any model call."""
    to_item: ToItem
    """A row (an instance of `row`) to an item, or to several (the questions of a passage)."""
    completion: Prompt | None = None
    """For models that continue text."""
    chat: Prompt | None = None
    """For models that answer messages."""
    letters: Prompt | None = None
    """Log-likelihood of the options' labels."""
    continuations: Prompt | None = None
    """Log-likelihood of the options' texts."""
    text: Prompt | None = None
    """Log-likelihood of whole texts."""
    preferred: Form | None = None
    """Form to take where the user names none and the model can; `None`: the first of `FORMS`."""
    sampling: Sampling = field(default_factory=Sampling)
    """Temperature and token budget if the user says nothing; stop strings come from the prompt."""
    scorer: Scorer | ProgramScorer
    metrics: tuple[Metric, ...]
    gold: Callable[[Item], str]
    """The text of a perfect answer: it must score 1 through the same path."""
    gold_fails: Literal["invalid", "counted"] = "invalid"
    """An item whose gold answer does not score 1 is left out as broken; or it is named and stays in the
    count, as where the published score counts it."""
    wrong: Callable[[Item], str]
    """The text of a known-bad answer: it must score 0."""
    shots: int = 0
    shot_source: Source | None = None
    """Pool of few-shot items, apart from the asked ones; `None` where the task takes no shots."""
    shots_drawn: bool = True
    """Whether shots are drawn for each item; `False` shows the first ones of the pool, in order."""
    shots_of_stratum: bool = False
    """Whether an item is shown only shots of its own stratum (its subject, its language)."""
    samples: int = 1
    chance: float | None = None
    """Score of a blind guess; `None` where there is none to speak of."""
    unit: str = "item"
    """The statistical unit: what a fresh draw of this benchmark would draw."""
    policy: Policy = field(default_factory=Policy)
    languages: tuple[str, ...] = ("en",)
    population: str = "unknown"
    """What the items stand for."""
    licence: str = "unknown"
    file: TaskFile | None = field(default=None, metadata=WHERE_SET)
    """The file that declares it, where it is one of the user's own: set by whoever reads that file."""

    @property
    def executes_code(self) -> bool:
        """Whether grading runs code that a model wrote."""
        return isinstance(self.scorer, ProgramScorer)

    def prompt(self, form: Form) -> Prompt | None:
        """The prompt of that form, where the task has one."""
        prompts = {
            "letters": self.letters,
            "continuations": self.continuations,
            "text": self.text,
            "chat": self.chat,
            "completion": self.completion,
        }
        return prompts[form]

    @property
    def forms(self) -> tuple[Form, ...]:
        """The forms that it can be asked in, the preferred one first."""
        has = [form for form in FORMS if self.prompt(form) is not None]
        return tuple(sorted(has, key=lambda form: form != self.preferred))


@dataclass(frozen=True, kw_only=True)
class Protocol:
    """One task as one run asks it: the whole recipe, frozen."""

    task: Task
    form: Form
    shots: int
    samples: int
    sampling: Sampling
    """With the stop strings of the form; seeds are derived, see `seed`."""
    system: str | None = None
    seed: int = 0
    """Run seed: everything random is derived from (seed, item id, sample index)."""
    rotate: bool = False
    """Asks each question once for every cyclic order of its options."""
    compat: Literal["lm_eval"] | None = None
    """Asks and scores by the rules of another harness, its faults included."""

    @cached_property
    def scorer(self) -> Scorer | ProgramScorer:
        """The task's scorer, for this form, by the rules of the other harness where one is named."""
        scorer = self.task.scorer
        if isinstance(scorer, FormScorer):
            scorer = scorer.for_form(self.form)
        if self.compat is not None and isinstance(scorer, CompatScorer):
            return scorer.for_compat(self.compat)
        return scorer

    @cached_property
    def prompt(self) -> Prompt | None:
        """The task's prompt of this form, as the other harness asks it where one is named."""
        prompt = self.task.prompt(self.form)
        if self.compat is not None and isinstance(prompt, CompatPrompt):
            return prompt.for_compat(self.compat)
        return prompt

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every field, defaults included; functions by name and source.

        Raises:
            ProtocolError: a component has no canonical form.
        """
        return digest(self)
