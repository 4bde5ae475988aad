"""Faults of an item's instructions that can be seen without a model: some stop it, some want a look."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from probatum.scoring.rules.arguments import Given
from probatum.scoring.rules.catalogue import Prepared, prepare
from probatum.scoring.rules.detection import DETECTABLE, share_of_script
from probatum.scoring.rules.records import Edition, Instruction, InstructionError

__all__ = ["Flaw", "lint_instructions"]


@dataclass(frozen=True)
class Flaw:
    """One fault of an item's instructions."""

    kind: Literal["invalid", "impossible", "contradiction", "mismatch"]
    """`invalid`: no rule can check it. `impossible`: no response follows it. `contradiction`: no response
    follows two of them together. `mismatch`: prompt and arguments do not fit together, as far as seen."""
    id: str
    detail: str

    @property
    def stops(self) -> bool:
        """Whether the item must not be graded; a mismatch wants a look, since prompts are free text."""
        return self.kind != "mismatch"


def lint_instructions(
    prompt: str, instructions: Sequence[Instruction], *, edition: Edition = "probatum"
) -> tuple[Flaw, ...]:
    """The faults of an item's instructions, in their order.

    >>> asked = Instruction("length_constraints:number_words", {"relation": "at least", "num_words": 336})
    >>> lint_instructions("Write at least 400 words about rain.", [asked])[0].detail
    'number 336 is not in the prompt (400 is)'
    """
    flaws: list[Flaw] = []
    prepared: list[Prepared] = []
    if not instructions:
        flaws.append(Flaw("invalid", "", "there is no instruction: every response would follow them all"))
    for instruction in instructions:
        try:
            each = prepare(instruction)
        except InstructionError as error:
            flaws.append(Flaw("invalid", instruction.id, str(error)))
            continue
        prepared.append(each)
        flaws += _impossible(each, edition)
    flaws += _contradictions(prepared)
    flaws += _mismatches(prompt, prepared)
    return tuple(dict.fromkeys(flaws))


_PATTERNS: Final = ("keywords", "forbidden_words")


def _impossible(asked: Prepared, edition: Edition) -> Iterator[Flaw]:
    given, identity = asked.given, asked.instruction.id
    if "nth_paragraph" in given.values:
        number, paragraphs = given.count("nth_paragraph"), given.count("num_paragraphs")
        if not 1 <= number <= paragraphs:
            yield Flaw("impossible", identity, f"paragraph {number} of {paragraphs} is asked for")
    if "language" in given.values:
        code = given.text("language").lower().partition("-")[0]
        if code not in DETECTABLE:
            yield Flaw("invalid", identity, f"language {code!r} is none that the detector knows")
    for parameter in asked.rule.parameters:
        if parameter.kind == "relation" and parameter.name in given.values:
            bound = given.count(next(each.name for each in asked.rule.parameters if each.kind == "count"))
            comparison = given.relation(parameter.name)
            if comparison.sign == "<" and bound == 0:
                yield Flaw("impossible", identity, "fewer than 0 are asked for")
    if edition == "official":
        yield from _patterns(asked)


def _patterns(asked: Prepared) -> Iterator[Flaw]:
    """The published checkers take keywords as regular expressions."""
    texts = [text for name in _PATTERNS if name in asked.given.values for text in asked.given.texts(name)]
    if "keyword" in asked.given.values:
        texts.append(asked.given.text("keyword"))
    for text in texts:
        try:
            re.compile(text)
        except re.error as error:
            yield Flaw("invalid", asked.instruction.id, f"keyword {text!r} is no regular expression: {error}")


def _contradictions(prepared: Sequence[Prepared]) -> Iterator[Flaw]:
    yield from _texts_against_rules(prepared)
    yield from _counts_against_counts(prepared)
    kinds = {each.rule.id.rpartition(":")[2]: each for each in prepared}
    cased = [each for name, each in kinds.items() if name.endswith(("_capital", "_lowercase"))]
    if len({each.rule.id for each in cased}) > 1:
        yield Flaw("contradiction", cased[-1].instruction.id, "all capital and all lower case")
    for one, other in (("hiragana_only", "no_hiragana"), ("katakana_only", "no_katakana")):
        if one in kinds and other in kinds:
            yield Flaw("contradiction", kinds[one].instruction.id, f"with {kinds[other].instruction.id}")
    asked = {
        each.given.text("language").lower().partition("-")[0]: each
        for each in prepared
        if "language" in each.given.values
    }
    if len(asked) > 1:
        codes = " and ".join(map(repr, sorted(asked)))
        yield Flaw("contradiction", next(iter(asked.values())).instruction.id, f"languages {codes}")


_SPOILED: Final = frozenset(
    (
        "no_comma",
        "no_period",
        "no_digits",
        "no_accents",
        "no_hiragana",
        "no_katakana",
        "kansuuji",
        "forbidden_words",
        "ethel_or_cedilla",
        "hiragana_only",
        "katakana_only",
        "frequency",
        "letter_frequency",
        "number_words",
        "capital_word_frequency",
    )
)
"""Rules that a part of a text can break, whatever the rest is."""


def _texts_against_rules(prepared: Sequence[Prepared]) -> Iterator[Flaw]:
    """A text that the response must hold, and that breaks another rule by itself."""
    spoiled = [each for each in prepared if _kind(each) in _SPOILED and _may_be_spoiled(each)]
    for each in prepared:
        for text in _demanded(each):
            for other in spoiled:
                found = other.rule.probatum(text, other.given)
                if not found.followed and other is not each:
                    detail = f"{text[:60]!r} breaks {other.instruction.id} ({found.reason})"
                    yield Flaw("contradiction", each.instruction.id, detail)
    yield from _repeated_in_another_language(prepared)


def _kind(asked: Prepared) -> str:
    return asked.rule.id.rpartition(":")[2]


def _may_be_spoiled(asked: Prepared) -> bool:
    """Not where a number must only be reached: more text cannot break that."""
    relations = [each.name for each in asked.rule.parameters if each.kind == "relation"]
    return not relations or asked.given.relation(relations[0]).sign in {"<", "<="}


def _demanded(asked: Prepared) -> tuple[str, ...]:
    values = asked.given.values
    found = asked.given.texts("keywords") if "keywords" in values else ()
    found += tuple(asked.given.text(name) for name in ("end_phrase", "prompt_to_repeat") if name in values)
    if "keyword" in values and asked.given.count("frequency") > 0 and not _may_be_spoiled(asked):
        found += (asked.given.text("keyword"),)
    return found


def _repeated_in_another_language(prepared: Sequence[Prepared]) -> Iterator[Flaw]:
    """A request that is to be repeated in a response that is to be in another script alone."""
    for each in prepared:
        if "prompt_to_repeat" not in each.given.values:
            continue
        for other in prepared:
            if "language" in other.given.values:
                code = other.given.text("language")
                share = share_of_script(each.given.text("prompt_to_repeat"), code)
                if share < HALF:
                    detail = f"the request to repeat is not written as {code!r} is"
                    yield Flaw("contradiction", each.instruction.id, detail)


HALF: Final = 0.5


def _counts_against_counts(prepared: Sequence[Prepared]) -> Iterator[Flaw]:
    """Two bounds on one count that no number meets."""
    spans: dict[tuple[str, str], tuple[float, float]] = {}
    for each in prepared:
        name = next((p.name for p in each.rule.parameters if p.kind == "relation"), None)
        if name is None or name not in each.given.values:
            continue
        bound_name = next(p.name for p in each.rule.parameters if p.kind == "count")
        what = str(each.given.values.get("keyword") or each.given.values.get("letter") or "").lower()
        bound, sign = each.given.count(bound_name), each.given.relation(name).sign
        low, high = spans.get((each.rule.id, what), (0.0, float("inf")))
        low = max(low, {">=": bound, ">": bound + 1, "==": bound}.get(sign, 0))
        high = min(high, {"<": bound - 1, "<=": bound, "==": bound}.get(sign, float("inf")))
        spans[each.rule.id, what] = low, high
        if low > high:
            yield Flaw("contradiction", each.instruction.id, f"at least {low:g} and at most {high:g}")


_DIGITS: Final = re.compile(r"\d+")
_NUMBER_WORDS: Final[Mapping[str, int]] = {
    word: number
    for number, group in enumerate(
        (
            "zero cero zéro",
            "one once single una uno un une",
            "two twice both dos deux pair",
            "three thrice tres trois",
            "four cuatro quatre",
            "five cinco cinq",
            "six seis",
            "seven siete sept",
            "eight ocho huit",
            "nine nueve neuf",
            "ten diez dix",
            "eleven onze",
            "twelve dozen doce douze",
        )
    )
    for word in group.split()
}
_KANJI_DIGITS: Final = {sign: number for number, sign in enumerate("〇一二三四五六七八九十")}


def _mismatches(prompt: str, prepared: Sequence[Prepared]) -> Iterator[Flaw]:
    """Numbers and phrases of the arguments that the prompt does not have.

    A prompt may word a number otherwise ("a dozen", "no more than 199" for fewer than 200), so that this
    wants a look, and does not stop the item.
    """
    digits = [int(number) for number in _DIGITS.findall(prompt.replace(",", ""))]
    numbers = {*digits, *_worded(prompt)}
    for each in prepared:
        for parameter in each.rule.parameters:
            if parameter.name not in each.given.values:
                continue
            if parameter.kind == "count":
                wanted = each.given.count(parameter.name)
                if wanted > 1 and numbers and not numbers & {wanted - 1, wanted, wanted + 1}:
                    there = ", ".join(map(str, sorted(set(digits)) or sorted(numbers)))
                    yield Flaw(
                        "mismatch", each.instruction.id, f"number {wanted} is not in the prompt ({there} is)"
                    )
            else:
                yield from _absent(prompt, each, parameter.name)


def _worded(prompt: str) -> set[int]:
    found = {_NUMBER_WORDS[word] for word in re.findall(r"\w+", prompt.lower()) if word in _NUMBER_WORDS}
    return found | {_KANJI_DIGITS[sign] for sign in prompt if sign in _KANJI_DIGITS}


_QUOTED: Final = ("keyword", "first_word", "end_phrase", "keywords", "forbidden_words", "ending")


def _absent(prompt: str, each: Prepared, name: str) -> Iterator[Flaw]:
    if name not in _QUOTED:
        return
    folded = "".join(prompt.casefold().split())
    for text in _texts(each.given, name):
        if "".join(text.casefold().split()).rstrip(".") not in folded:
            yield Flaw("mismatch", each.instruction.id, f"{name} {text[:60]!r} is not in the prompt")


def _texts(given: Given, name: str) -> tuple[str, ...]:
    value = given.values[name]
    return given.texts(name) if isinstance(value, tuple) else (given.text(name),)
