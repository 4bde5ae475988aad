"""Tasks that are tables: questions and answers in a file of rows, a prompt, and a scorer by name.

What needs a rule of its own (rows that are nested, programs, judges) is a benchmark in Python.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import msgspec

from probatum.benchmarks._choices import LISTED, METRICS, scorers
from probatum.benchmarks._choices import gold as choice_gold
from probatum.benchmarks._choices import wrong as choice_wrong
from probatum.core.errors import ProtocolError, UsageError
from probatum.core.protocol import Form, Prompt, Source, Task
from probatum.core.records import Item, Sampling
from probatum.extraction import FinalNumber, MathAnswer, ShortAnswer
from probatum.prompting import ChatPrompt, CompletionPrompt, OptionsPrompt, names_read
from probatum.scoring import (
    AnswerIncluded,
    ExactMatch,
    MathMatch,
    NumberMatch,
    Rate,
    Tolerance,
    loose_text,
    squad_text,
    verbatim,
)

__all__ = ["declared_task"]

Scalar = str | int | float
_OF_ITEMS: Final = frozenset({"choices", "labels", "target", "targets"})
"""Names that a template may read of every item."""
_COMPARE: Final = {"loose": loose_text, "squad": squad_text, "verbatim": verbatim}
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Declared(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The keys of a TOML file that declares a task."""

    name: str
    data: str | list[str]
    """Files of rows beside it: JSON lines, JSON, CSV, TSV or Parquet."""
    prompt: str
    scorer: Literal["exact", "number", "choice", "math", "includes"]
    answer: str = "answer"
    """Column of the right answer, or of a list of them."""
    choices: str | list[str] | None = None
    """Column of the list of options, or a column for each."""
    id: str | None = None
    """Column that names a row; without one a digest of what is asked does."""
    cluster: str | None = None
    stratum: str | None = None
    columns: dict[str, str] = {}
    """Name in the template → column of the file, where that is called otherwise."""
    chat: str | None = None
    answer_line: str = "Answer:"
    stop: tuple[str, ...] | None = None
    """Where a continued text ends; by default with its line where the prompt ends in the answer line (what
    follows there is a question that the model made up), else with its paragraph."""
    compare: Literal["loose", "squad", "verbatim"] = "loose"
    tolerance: str | None = None
    shots: int = 0
    shot_data: str | list[str] | None = None
    shots_drawn: bool = True
    samples: int = 1
    max_tokens: int = 256
    temperature: float = 0.0
    version: int = 1
    summary: str | None = None
    citation: str = "unknown"
    licence: str = "unknown"
    population: str = "unknown"
    unit: str = "item"
    languages: tuple[str, ...] = ("en",)
    chance: float | None = None


@dataclass(frozen=True)
class TableItem:
    """From a row of the table to its item; fields of the row are named here."""

    fields: tuple[str, ...]
    answer: str
    id: str | None = None
    choices: str | tuple[str, ...] | None = None
    cluster: str | None = None
    stratum: str | None = None

    def __call__(self, row: Any) -> Item:
        """The item; without an id of its own it is named after what is asked."""
        asked = {name: getattr(row, name) for name in self.fields}
        answer = getattr(row, self.answer)
        if isinstance(self.choices, str):
            choices = tuple(map(_written, getattr(row, self.choices)))
        else:
            choices = tuple(_written(getattr(row, name)) for name in self.choices or ())
        return Item(
            id=_digest([asked, choices]) if self.id is None else _written(getattr(row, self.id)),
            fields=asked,
            targets=tuple(map(_written, answer if isinstance(answer, (list, tuple)) else (answer,))),
            choices=choices,
            cluster=None if self.cluster is None else _written(getattr(row, self.cluster)),
            stratum=None if self.stratum is None else _written(getattr(row, self.stratum)),
        )


def _written(value: Scalar) -> str:
    return value if isinstance(value, str) else repr(value)


def _digest(asked: object) -> str:
    text = json.dumps(asked, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


@dataclass(frozen=True)
class Gold:
    """The answer line with the first right answer."""

    line: str

    def __call__(self, item: Item) -> str:
        """As the task asks for it."""
        return f"{self.line} {item.targets[0]}"


@dataclass(frozen=True)
class Wrong:
    """The answer line with something that is no right answer."""

    line: str
    candidates: tuple[str, ...] = ("987654321", "123454321", "777777777")

    def __call__(self, item: Item) -> str:
        """The first candidate that is in no right answer; few items have all of them."""
        right = " ".join(item.targets)
        found = next((one for one in self.candidates if one not in right), self.candidates[0])
        return f"{self.line} {found}"


def declared_task(raw: Mapping[str, object], file: str) -> Task:
    """The task that a table of keys declares.

    Args:
        raw: as decoded from TOML.
        file: what messages call it.

    Raises:
        UsageError: a key is missing, unknown or of another kind, or two do not go together; names the field.
    """
    where = f"task file {file!r}"
    declared = _keys(raw, where)
    try:
        return _task(declared, where)
    except ProtocolError as error:
        raise UsageError(f"{where}: {error}") from error


def _keys(raw: Mapping[str, object], where: str) -> Declared:
    names = Declared.__struct_fields__
    if "prompt" not in raw and "tasks" in raw:
        raise UsageError(f"{where} is a file of a run, by its key 'tasks'; give it to --config")
    for name in raw:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
            raise UsageError(f"{where}: unknown field {name!r}: {hint}")
    try:
        return msgspec.convert(raw, Declared)
    except msgspec.ValidationError as error:
        message = str(error)
        if missing := re.fullmatch(r"Object missing required field `(\w+)`", message):
            raise UsageError(f"{where}: field {missing[1]!r} is missing; add it") from None
        said, _, path = message.partition(" - at `$.")
        raise UsageError(
            f"{where}: field {path.rstrip('`') or '?'!r}: {said[:1].lower()}{said[1:]}; mend it"
        ) from None


def _refuse(where: str, name: str, problem: str) -> UsageError:
    return UsageError(f"{where}: field {name!r}: {problem}")


def _check(declared: Declared, where: str) -> None:
    """Raises `UsageError` for keys that do not go together: one that would be passed over is refused."""
    chooses = declared.scorer == "choice"
    if chooses and declared.choices is None:
        raise _refuse(where, "choices", "missing; scorer 'choice' needs the column of the options")
    for name, given, belongs in (
        ("choices", declared.choices is not None, chooses),
        ("tolerance", declared.tolerance is not None, declared.scorer == "number"),
        ("compare", declared.compare != "loose", declared.scorer == "exact"),
        ("shot_data", declared.shot_data is not None, declared.shots > 0),
    ):
        if given and not belongs:
            because = f"scorer {declared.scorer!r}" if name != "shot_data" else f"shots = {declared.shots}"
            raise _refuse(where, name, f"means nothing with {because}; leave it out")
    if declared.shots < 0 or (declared.shots and declared.shot_data is None):
        raise _refuse(where, "shots", f"{declared.shots} examples need a shot_data to take them from")
    if not declared.answer_line.strip():
        raise _refuse(
            where, "answer_line", f"{declared.answer_line!r} is empty; give a mark such as 'Answer:'"
        )
    if not declared.data:
        raise _refuse(where, "data", "is empty; name the file of the rows")
    if declared.max_tokens < 1 or declared.temperature < 0:
        name = "max_tokens" if declared.max_tokens < 1 else "temperature"
        raise _refuse(where, name, f"{getattr(declared, name)!r} is too small")


def _task(declared: Declared, where: str) -> Task:
    _check(declared, where)
    read: set[str] = set()
    for name in ("prompt", "chat"):
        template = getattr(declared, name)
        if template is not None:
            read |= _variables(template, name, where)
    row, to_item = _table(declared, sorted(read - _OF_ITEMS), where)
    prompts = _choice_prompts(declared) if declared.scorer == "choice" else _prompts(declared)
    line = declared.answer_line
    parts: dict[str, Any] = {"scorer": scorers(prompts, (line,)), "metrics": METRICS}
    parts |= {"gold": choice_gold if line == "Answer:" else Gold(line), "wrong": choice_wrong}
    if declared.scorer != "choice":
        scorer = _scorer(declared)
        parts = {"scorer": scorer, "metrics": (Rate(score=scorer.scores[0]),)}
        parts |= {"gold": Gold(line), "wrong": Wrong(line)}
    parts |= {str(form): prompt for form, prompt in prompts.items()}
    return Task(
        name=declared.name,
        version=declared.version,
        summary=declared.summary or f"rows of {_first(declared.data)}, scored by {declared.scorer}",
        citation=declared.citation,
        source=Source(local=_files(declared.data)),
        row=row,
        to_item=to_item,
        sampling=Sampling(max_tokens=declared.max_tokens, temperature=float(declared.temperature)),
        shots=declared.shots,
        shot_source=None if declared.shot_data is None else Source(local=_files(declared.shot_data)),
        shots_drawn=declared.shots_drawn,
        samples=declared.samples,
        chance=declared.chance,
        unit=declared.unit,
        languages=declared.languages,
        population=declared.population,
        licence=declared.licence,
        **parts,
    )


def _files(data: str | list[str]) -> tuple[str, ...]:
    return (data,) if isinstance(data, str) else tuple(data)


def _first(data: str | list[str]) -> str:
    return _files(data)[0]


def _variables(template: str, name: str, where: str) -> frozenset[str]:
    try:
        return names_read(template)
    except ProtocolError as error:
        raise _refuse(where, name, str(error)) from error


def _table(declared: Declared, read: list[str], where: str) -> tuple[type, TableItem]:
    """The type of a row, and how an item is made of one."""
    columns: dict[str, str] = {}
    kinds: dict[str, Any] = {}

    def take(column: str, kind: object) -> str:
        """The field of a column: of its own name where that can be one."""
        name = next((name for name, other in declared.columns.items() if other == column), column)
        if not _IDENTIFIER.fullmatch(name) or name.startswith("_"):
            name = f"column_{_digest(column)}"
        columns[name] = declared.columns.get(name, column)
        kinds.setdefault(name, kind)
        return name

    if unused := next((name for name in declared.columns if name not in read), None):
        raise _refuse(where, "columns", f"{unused!r} is read by no template; leave it out")
    answer = take(declared.answer, Scalar | list[Scalar])
    choices: str | tuple[str, ...] | None = None
    if isinstance(declared.choices, str):
        choices = take(declared.choices, list[Scalar])
    elif declared.choices is not None:
        choices = tuple(take(column, Scalar) for column in declared.choices)
    named = {
        name: take(column, Scalar)
        for name in ("id", "cluster", "stratum")
        if (column := getattr(declared, name)) is not None
    }
    fields = tuple(take(declared.columns.get(name, name), Any) for name in read)
    row = dataclasses.make_dataclass(
        "Row",
        [(name, kinds[name], field(metadata={"column": column})) for name, column in columns.items()],
        frozen=True,
        kw_only=True,
        namespace={"__module__": __name__},  # Python 3.11 and 3.12 fill it in differently
    )
    return row, TableItem(fields=fields, answer=answer, choices=choices, **named)


def _bare(declared: Declared) -> str:
    """The question without the answer line at its end."""
    stripped = declared.prompt.rstrip()
    return stripped.removesuffix(declared.answer_line.strip()).rstrip()


def _stop(declared: Declared, asked: str) -> tuple[str, ...]:
    if declared.stop is not None:
        return declared.stop
    return ("\n",) if asked.rstrip().endswith(declared.answer_line.strip()) else ("\n\n",)


def _prompts(declared: Declared) -> dict[Form, Prompt]:
    line = declared.answer_line
    return {
        "completion": CompletionPrompt(
            template=declared.prompt,
            shot_template=declared.prompt.rstrip() + " {{ target }}",
            stop=_stop(declared, declared.prompt),
        ),
        "chat": ChatPrompt(
            template=declared.chat or f"{_bare(declared)}\n\nEnd with the line: {line} …",
            shot_answer=f"{line} {{{{ target }}}}",
        ),
    }


def _choice_prompts(declared: Declared) -> dict[Form, Prompt]:
    line, question = declared.answer_line, _bare(declared)
    listed = question if re.search(r"\bchoices\b", question) else question + LISTED
    asked = f"{listed}\n{line}"
    return {
        "letters": OptionsPrompt(
            template=asked, continuation=" {{ label }}", shot_template=asked + " {{ label }}"
        ),
        "chat": ChatPrompt(
            template=declared.chat or f"{listed}\n\nEnd with the line: {line} … (the letter alone)",
            shot_answer=f"{line} {{{{ target }}}}",
        ),
        "completion": CompletionPrompt(
            template=asked, shot_template=asked + " {{ target }}", stop=_stop(declared, asked)
        ),
    }


def _scorer(declared: Declared) -> Any:
    marks = (declared.answer_line,)
    if declared.scorer == "number":
        tolerance = None if declared.tolerance is None else Tolerance(absolute=declared.tolerance)
        return NumberMatch(FinalNumber(declared=marks), tolerance=tolerance)
    if declared.scorer == "math":
        return MathMatch(MathAnswer(declared=marks))
    if declared.scorer == "includes":
        return AnswerIncluded(ShortAnswer(declared=marks, loose=True))
    return ExactMatch(ShortAnswer(declared=marks), normaliser=_COMPARE[declared.compare])
