"""The arguments of an instruction: which a rule takes, and whether they are usable."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, cast

from probatum.scoring.rules.languages import Comparison, Language
from probatum.scoring.rules.records import InstructionError

__all__ = ["Given", "Parameter", "usable"]

Kind = Literal["count", "relation", "text", "texts", "character", "language", "mapping"]


@dataclass(frozen=True)
class Parameter:
    """One argument that a rule takes."""

    name: str
    kind: Kind
    optional: bool = False


@dataclass(frozen=True)
class Given:
    """Usable arguments, and the language that they and their rule are written in."""

    language: Language
    values: Mapping[str, object]

    def count(self, name: str) -> int:
        """A whole number, not negative."""
        return cast("int", self.values[name])

    def text(self, name: str) -> str:
        """A text that is not blank."""
        return str(self.values[name])

    def texts(self, name: str) -> tuple[str, ...]:
        """Texts of which none is blank."""
        return cast("tuple[str, ...]", self.values[name])

    def mapping(self, name: str) -> Mapping[str, str]:
        """Text → text."""
        return cast("Mapping[str, str]", self.values[name])

    def relation(self, name: str) -> Comparison:
        """The comparison that a relation of this language words."""
        return self.language.relations[self.text(name)]


def usable(
    identity: str, arguments: Mapping[str, object], parameters: Sequence[Parameter], language: Language
) -> Given:
    """The arguments that `parameters` ask for; `None` counts as not given, as data sets pad with it.

    Raises:
        InstructionError: one is missing, is of a wrong type or value, or is not known.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    known = {parameter.name for parameter in parameters}
    unknown = sorted(given.keys() - known)
    if unknown:
        names = ", ".join(sorted(known)) or "none"
        raise InstructionError(
            f"instruction {identity!r} takes no argument {unknown[0]!r} (it takes: {names}); mend the item"
        )
    values: dict[str, object] = {}
    for parameter in parameters:
        if parameter.name not in given:
            if parameter.optional:
                continue
            raise InstructionError(
                f"instruction {identity!r} lacks its argument {parameter.name!r}; mend the item"
            )
        values[parameter.name] = _usable_value(identity, parameter, given[parameter.name], language)
    return Given(language, values)


def _usable_value(identity: str, parameter: Parameter, value: object, language: Language) -> object:
    usable_one, wanted = _read(parameter.kind, value, language)
    if usable_one is None:
        raise InstructionError(
            f"instruction {identity!r}: argument {parameter.name!r} is {value!r}, and must be {wanted}; "
            "mend the item"
        )
    return usable_one


def _read(kind: Kind, value: object, language: Language) -> tuple[object | None, str]:
    """The usable form of a value, or `None`; and what it must be."""
    if kind == "relation":
        words = " or ".join(map(repr, language.relations))
        return (value if isinstance(value, str) and value in language.relations else None), words
    reader, wanted = _READERS[kind]
    return reader(value), wanted


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and value >= 0 else None


def _not_blank(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _texts(value: object) -> tuple[str, ...] | None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    found = tuple(_not_blank(each) for each in value)
    return tuple(each for each in found if each is not None) if found and None not in found else None


def _mapping(value: object) -> Mapping[str, str] | None:
    if not isinstance(value, Mapping) or not value:
        return None
    pairs = {name: text for name, text in value.items() if isinstance(name, str) and isinstance(text, str)}
    return pairs if len(pairs) == len(value) else None


def _character(value: object) -> str | None:
    one = _not_blank(value)
    return one if one is not None and len(one.strip()) == 1 else None


def _language(value: object) -> str | None:
    """A code such as `de` or `zh-cn`."""
    code = _not_blank(value)
    return code if code is not None and _CODE.fullmatch(code) else None


_CODE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?")
_READERS: Final[Mapping[Kind, tuple[Callable[[object], object | None], str]]] = {
    "count": (_whole_number, "a whole number that is not negative"),
    "text": (_not_blank, "a text that is not blank"),
    "texts": (_texts, "a list of texts, none of them blank"),
    "character": (_character, "one character"),
    "language": (_language, "an ISO 639-1 code such as 'de'"),
    "mapping": (_mapping, "an object whose names and values are texts"),
}
