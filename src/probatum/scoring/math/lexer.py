"""From the writing of a mathematical answer to tokens: LaTeX, plain text and Unicode signs alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from probatum.scoring.math.units import is_unit_word
from probatum.scoring.math.vocabulary import (
    CURRENCIES,
    FUNCTION_NAMES,
    GREEK,
    JOINS,
    REFUSED,
    RELATIONS,
    SHORT_WORDS,
    STRUCTURES,
    SYNONYMS,
    TEXT_COMMANDS,
    UNICODE,
)

__all__ = ["Token", "Unreadable", "clean", "tokens_of"]

LONGEST: Final = 4_000
"""Characters of an answer that is read; a longer one is text."""
_MOST_TOKENS: Final = 1_500
_LONGEST_NAME: Final = 20
"""Letters of a command that is taken for a name."""
_SHORT: Final = 3
"""Letters that may be a product of variables; more in a row are a word."""
_LONGEST_NUMBER: Final = 1_000
"""Digits; a longer run of digits is text."""


class Unreadable(Exception):  # noqa: N818 - not an error: the answer is text, then
    """The whole of the answer is no mathematical expression of a kind that is known here."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the writing."""

    kind: str
    """number, name, function, command, relation, set, join, word, begin, end, or the sign itself."""
    text: str
    """For a command, without the backslash."""
    value: Fraction | None = None
    spaced: bool = False
    """Whether blanks stand before it."""


_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_LOWERED: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISED_RUN: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_LOWERED_RUN: Final = re.compile(r"[₀₁₂₃₄₅₆₇₈₉]+")
_TWICE: Final = re.compile(r"\\\\(?:(?P<name>[a-zA-Z]+)|(?=[({\[%$]))")
_PHRASE: Final = re.compile(r"\s+[a-z]{3,}")
_COMMANDS: Final = (
    STRUCTURES
    | GREEK
    | RELATIONS.keys()
    | FUNCTION_NAMES.keys()
    | SYNONYMS.keys()
    | set(TEXT_COMMANDS.split("|"))
    | {"left", "right", "begin", "end", "quad", "qquad", "boxed", "fbox", "displaystyle", "overline"}
)
_LOST_LEFT: Final = re.compile(r"\\le(?=\s?[(\[].*\\right)", re.DOTALL)
_CIRCLED: Final = re.compile(r"\\textcircled\s?\{(\d{1,2})\}")
_INFIX: Final = re.compile(
    r"\{(?P<top>(?:[^{}\\]|\\(?!over\b|choose\b)[a-zA-Z]+){1,60})\\(?P<name>choose|over)(?![a-zA-Z])"
    r"(?P<under>[^{}]{1,60})\}"
)
"""Plain TeX: `{5 \\choose 2}`, `{1 \\over 2}`."""
_INFIX_NAMES: Final = {"choose": "\\binom", "over": "\\frac"}
_ABOUT: Final = re.compile(
    r"^(?:\\(?:approx|simeq|thickapprox)(?![a-zA-Z])\s{0,4}|(?:about|approximately|approx\.|roughly)\s{1,4})"
    r"(?=\\?[$(]?\\?[-+\d.\\])",
    re.IGNORECASE,
)
"""Before a number alone, which is compared as it is written."""
_DELIMITERS: Final = re.compile(r"\\[()\[\]]|(?<!\\)\$+")
_AMOUNT: Final = re.compile(
    r"^\s*([-+]?)\s*\$\s*(?=\d[\d,.]*\s*$)|^\s*([-+]?)\s*\$\s*(?=[\d,.]+(?:\s[a-z ]+)?$)"
)


def _once(found: re.Match[str]) -> str:
    """A command whose backslash was escaped once more; before any other word it ends a line."""
    name = found["name"]
    return found[0] if name and name not in _COMMANDS else "\\" + (name or "")


def clean(text: str) -> str:
    r"""The writing without what surrounds mathematics: `$`, `\(`, a full stop, emphasis.

    >>> clean(r"\(\frac{1}{2}\).")
    '\\frac{1}{2}'
    """
    if not text.isascii():
        text = _RAISED_RUN.sub(lambda run: "^{" + run[0].translate(_RAISED) + "}", text)
        text = _LOWERED_RUN.sub(lambda run: "_{" + run[0].translate(_LOWERED) + "}", text)
        text = text.translate(UNICODE)
    if "$" in text or "\\" in text:
        if "$" in text:
            text = _AMOUNT.sub(r"\1\2\\$", text) if text.count("$") == 1 else text
        if "\\\\" in text and "\\begin" not in text:
            text = _TWICE.sub(_once, text)
        if text.startswith("\\le"):  # \\left, as a published data set spells it
            text = _LOST_LEFT.sub(r"\\left", text, count=1)
        if "\\textcircled" in text:
            text = _CIRCLED.sub(r"\\text{circled\1}", text)
        if "\\choose" in text or "\\over" in text:
            text = _INFIX.sub(lambda m: f"{_INFIX_NAMES[m['name']]}{{{m['top']}}}{{{m['under']}}}", text)
        text = _DELIMITERS.sub(" ", text)
    text = _ABOUT.sub("", text.strip().strip("*`").strip(), count=1)
    if "." in text or "\\dot" in text:
        text = _periodic(text)
    end = len(text)
    while end and (text[end - 1].isspace() or (text[end - 1] in ".,;:" and text[end - 2 : end - 1] != "\\")):
        end -= 1
    return text[:end]


_DOTTED: Final = re.compile(
    r"(?<=\.)(?P<plain>\d*)\\dot\s?\{?(?P<first>\d)\}?(?:(?P<between>\d*)\\dot\s?\{?(?P<last>\d)\}?)?"
)
"""A period between dots, as China and Britain write it."""
_BRACKETED: Final = re.compile(r"(?<![\d.])(\d+\.|0\.\d{1,40})\((\d{1,40})\)(?![\d^(])")
"""A period in brackets, as in `0.1(6)`."""
_GOES_ON: Final = re.compile(r"\.(?P<digits>\d{1,200})\s?(?:\.{3,}|…|\\[lc]?dots)$")
_PERIOD: Final = re.compile(r"\d*?(?P<period>\d{1,20}?)(?P=period)+")
_LONG_ENOUGH: Final = 3
"""Digits that show a period."""


def _periodic(text: str) -> str:
    r"""Decimals that go on for ever, as `\overline` has them; other dots that go on are kept."""
    text = _BRACKETED.sub(r"\1\\overline{\2}", text)
    text = _DOTTED.sub(
        lambda m: f"{m['plain']}\\overline{{{m['first']}{m['between'] or ''}{m['last'] or ''}}}", text
    )
    found = _GOES_ON.search(text)
    if found is None:
        return re.sub(r",\s*\.{3,}$", r", \\ldots", text)
    shown = _PERIOD.fullmatch(found["digits"])
    if shown is None or len(found["digits"]) < _LONG_ENOUGH:
        return text[: found.end("digits")] + r"\ldots"
    return text[: found.end("digits")] + rf"\overline{{{shown['period']}}}"


_TOKEN: Final = re.compile(
    rf"""(?P<space>(?:[\s~\u00a0]|\\[,;:!>\ \n]|\\(?:left|right)\s{{0,4}}\.(?![0-9])
         |\\(?:qquad|quad)|\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|left|right|middle|hfill
         |[bB]igg?[lrm]?|hline|large|Large|bigl|bigr|,)(?![a-zA-Z]))+)
    |(?P<grouped>[1-9]\d{{0,2}}(?:(?:,\\!\s?|\{{,\}}|\\,|\\\ |,\\\s)\d{{3}})+(?!\d)(?:\.\d+)?)
    |(?P<commas>[1-9]\d{{0,2}}(?:,\d{{3}})+(?![\d])(?:\.\d+)?)
    |(?P<blanks>[1-9]\d{{0,2}}(?:[ \u00a0]\d{{3}})+(?![\d])(?:\.\d+)?)
    |(?P<clock>\d{{1,2}}:[0-5]\d(?::[0-5]\d)?(?![\d:.])(?:\s?(?P<half>[apAP])\.?\s?[mM]\b\.?)?)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)
         (?:\\overline\s?\{{(?P<repeat>\d{{1,40}})\}}|[eE][-+]?\d{{1,6}}(?![\d.a-zA-Z]))?)
    |(?P<text>\\(?P<font>{TEXT_COMMANDS})\s{{0,4}}(?:\{{(?P<inside>(?:[^{{}}]|\{{[^{{}}]{{0,80}}\}}){{0,300}})\}}
         |(?<=vec\ )(?P<bare>[a-zA-Z])))
    |\\(?:boxed|fbox)(?=\s{{0,4}}\{{)
    |(?P<begin>\\begin\s?\{{(?P<opened>[a-zA-Z*]{{1,20}})\}}(?:\{{[lcr|\s]{{0,40}}\}})?)
    |(?P<end>\\end\s?\{{[a-zA-Z*]{{1,20}}\}})
    |(?P<command>\\(?:[a-zA-Z]+|.))
    |(?P<letters>[a-zA-Z]+)
    |(?P<foreign>(?:或者|以及|并且|[或和且与及])(?=[a-zA-Z])|[^\W\d_]+)
    |&(?=\s*(?:[=<>&]|\\(?:le|ge|leq|geq|ne|neq|approx|lt|gt)(?![a-zA-Z])))
    |(?P<relation><=|>=|=<|=>|!=|==|:=|[<>=])
    |(?P<sign>\*\*|.)""",
    re.VERBOSE | re.DOTALL,
)


class _Lexer:
    def __init__(self, text: str) -> None:
        self.text = text
        self.found: list[Token] = []
        self.depth = 0
        self.spaced = False
        self.inside = 0
        """Environments that are open."""

    def run(self) -> list[Token]:
        at, text = 0, self.text
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None or len(self.found) > _MOST_TOKENS:
                raise Unreadable("too long")
            kind = match.lastgroup or ""
            if kind == "space":
                self.spaced = True
                at = match.end()
                continue
            at = self._take(kind, match)
            self.spaced = False
        return self.found

    def add(self, kind: str, text: str, value: Fraction | None = None) -> None:
        self.found.append(Token(kind, text, value, self.spaced))

    def _take(self, kind: str, match: re.Match[str]) -> int:
        """Adds what was found, and says where to go on."""
        writing = match[0]
        if kind in {"grouped", "commas", "blanks"}:
            return self._grouped(kind, match)
        if kind == "command":
            if self.inside > 0 and (writing[1].isdigit() or writing[1] in "-."):
                self.add("row", writing)  # a row's end that lost a backslash: 1\\2 for 1\\\\2
                return match.end() - 1
            self._command(writing[1:], match.end())
        elif kind in _TAKERS:
            _TAKERS[kind](self, match)
        return match.end()

    def _grouped(self, kind: str, match: re.Match[str]) -> int:
        """A number with its thousands apart; a bare comma in brackets separates elements instead."""
        end = match.end()
        digits = re.sub(r"[^\d.]", "", match[0])
        if kind == "commas" and self.depth:
            end = self.text.index(",", match.start())
            digits = self.text[match.start() : end]
        if len(digits) > _LONGEST_NUMBER:
            raise Unreadable("a number of too many digits")
        self.add("number", self.text[match.start() : end], Fraction(digits))
        return end

    def environment(self, match: re.Match[str]) -> None:
        self.inside += 1 if match["opened"] else -1
        self.add("begin" if match["opened"] else "end", (match["opened"] or "").rstrip("*"))

    def sign(self, sign: str) -> None:
        if sign in "([{":
            self.depth += sign != "{"
        elif sign in ")]":
            self.depth = max(0, self.depth - 1)
        if sign in CURRENCIES:
            self.add("currency", CURRENCIES[sign])
        elif sign == "¢":
            self.add("word", "cents")
        elif sign == "**":
            self.add("^", sign)
        else:
            self.add(sign, sign)

    def _command(self, name: str, end: int) -> None:
        if name in RELATIONS:
            self.add("relation", RELATIONS[name])
        elif name in FUNCTION_NAMES:
            self.add("function", FUNCTION_NAMES[name])
        elif name in STRUCTURES:
            self.add("command", name)
        elif name in GREEK:
            self.add("name", name)
        elif name in SYNONYMS:
            self._synonym(name)
        elif not name.isalpha():
            self._escaped(name)
        elif self.text[end : end + 1] in {"{", "["} or len(name) > _LONGEST_NAME or name in REFUSED:
            raise Unreadable(f"the command \\{name[:20]} is not known")
        else:
            self.add("name", name)

    def _synonym(self, name: str) -> None:
        kind = SYNONYMS[name]
        if kind == "join":
            self.add("join", "and" if name in {"land", "wedge"} else "or")
        elif kind != "skip":
            self.add(kind, name)

    def _escaped(self, sign: str) -> None:
        if sign in {"{", "}"}:
            self.depth = max(0, self.depth + (1 if sign == "{" else -1))
        kinds = {
            "{": "\\{",
            "}": "\\}",
            "$": "currency",
            "\\": "row",
            "|": "Vert",
            "%": "%",
            "&": "&",
            "#": "#",
            "_": "_",
        }
        if sign not in kinds:
            raise Unreadable(f"the command \\{sign} is not known")
        self.add(kinds[sign], "dollar" if sign == "$" else sign)

    def text_command(self, font: str, inside: str) -> None:
        words = re.sub(r"[\s~]+|\\[,; ]", " ", inside).strip()
        if not words:
            return
        if words == "min" and self._after_number():
            self.add("word", words)
            return
        if font == "mathbb":
            self.add("field" if words in "RCQZN" else "name", words)
        elif words.strip(" ,").lower() in JOINS:
            self.add("join", JOINS[words.strip(" ,").lower()])
        elif font in {"vec", "overrightarrow", "hat", "bar", "tilde", "dot", "ddot", "widehat"}:
            self.add("name", f"{'vec' if font == 'overrightarrow' else font} {words}")
        elif re.fullmatch(r"[-+\d.,/ :]+|[a-zA-Z]", words):
            text = (
                font.startswith("text")
                or font in {"mbox", "hbox"}
                or (self._after_number() and font != "mathbf")
            )
            if text and words.isalpha() and words not in "ei":
                self.add("word", words)
            else:
                self.found += _Lexer(words).run()
        elif words in FUNCTION_NAMES:
            self.add("function", FUNCTION_NAMES[words])
        else:
            self.add("word", words)

    def _after_number(self) -> bool:
        return bool(self.found) and self.found[-1].kind in {"number", "}", ")"}

    def _after_per(self) -> bool:
        return [each.kind for each in self.found[-2:]] == ["word", "/"]

    def letters(self, letters: str, end: int) -> None:
        lower = letters.lower()
        if len(letters) == 1:
            self.add("name", letters)
        elif lower in JOINS:
            self.add("join", JOINS[lower])
        elif letters == "min" and ((self.spaced and self._after_number()) or self._after_per()):
            self.add("word", letters)
        elif letters in FUNCTION_NAMES:
            self.add("function", FUNCTION_NAMES[letters])
        elif lower in {"pi", "infty", "infinity", "inf", "oo", "sqrt"}:
            self.add("command", {"pi": "pi", "sqrt": "sqrt"}.get(lower, "infty"))
        elif letters in GREEK and len(letters) > _SHORT:
            self.add("name", letters)
        elif self._is_word(letters, end):
            self._word(letters)
        else:
            self._split(letters)

    def _is_word(self, letters: str, end: int) -> bool:
        """Whether letters in a row are a word, rather than a product of variables."""
        if self.spaced and self.found and self.found[-1].kind == "word":  # words go on
            return True
        if self.spaced and self._after_number() and _PHRASE.match(self.text, end):  # 10 red apples
            return True
        if is_unit_word(letters):
            return True
        return not letters.isupper() and (letters.lower() in SHORT_WORDS or len(letters) > _SHORT)

    def _word(self, letters: str) -> None:
        """`or` may stand without blanks between two answers: W(x)=1orW(x)=-1."""
        for join in ("or", "and"):
            if letters.startswith(join) and len(letters) == len(join) + 1:
                self.add("join", join)
                self.add("name", letters[-1])
                return
        self.add("word", letters)

    def _split(self, letters: str) -> None:
        if letters[:2] == "or" and len(letters) == _SHORT and letters[2].isupper():
            self.add("join", "or")
            letters = letters[2:]
        for letter in letters:
            self.add("name", letter)
            self.spaced = False

    def foreign(self, letters: str) -> None:
        for join in ("或者", "以及", "并且", "或", "和", "且", "与", "及"):
            if letters == join:
                self.add("join", JOINS[join])
                return
        self.add("word", letters)


_TAKERS: Final[dict[str, Callable[[_Lexer, re.Match[str]], None]]] = {
    "clock": lambda lexer, match: lexer.add("clock", match["clock"]),
    "number": lambda lexer, match: lexer.add("number", match[0], _value(match)),
    "text": lambda lexer, match: lexer.text_command(match["font"], match["inside"] or match["bare"] or ""),
    "begin": _Lexer.environment,
    "end": _Lexer.environment,
    "letters": lambda lexer, match: lexer.letters(match[0], match.end()),
    "foreign": lambda lexer, match: lexer.foreign(match[0]),
    "relation": lambda lexer, match: lexer.add("relation", RELATIONS[match[0]]),
    "sign": lambda lexer, match: lexer.sign(match[0]),
}


def _value(match: re.Match[str]) -> Fraction:
    digits, repeat = match["number"], match["repeat"]
    if repeat is not None:
        digits = digits[: digits.index("\\")]
    if len(digits) > _LONGEST_NUMBER:
        raise Unreadable("a number of too many digits")
    mantissa, _, exponent = digits.lower().partition("e")
    value = Fraction(mantissa.rstrip(".") if mantissa.endswith(".") else mantissa)
    if exponent:
        if abs(int(exponent)) > _LONGEST_NUMBER:
            raise Unreadable("an exponent that is too large")
        value *= Fraction(10) ** int(exponent)
    if repeat is not None:
        places = len(digits.partition(".")[2])
        value += Fraction(int(repeat), (10 ** len(repeat) - 1) * 10**places)
    return value


def tokens_of(text: str) -> list[Token]:
    """The tokens of a cleaned writing.

    Raises:
        Unreadable: it is too long, or a command in it is not known.
    """
    if len(text) > LONGEST:
        raise Unreadable(f"more than {LONGEST} characters")
    return _Lexer(text).run()
