"""From the writing of a mathematical answer to tokens: LaTeX, plain text and Unicode signs alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from probatum.scoring.math.units import is_unit_word

__all__ = ["Token", "Unreadable", "clean", "tokens_of"]

LONGEST: Final = 4_000
"""Characters of an answer that is read; a longer one is text."""
_MOST_TOKENS: Final = 1_500
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


_UNICODE: Final = {
    ord(sign): writing
    for sign, writing in {
        "−": "-", "–": "-", "—": "-", "﹣": "-", "×": r"\times ", "÷": r"\div ", "·": r"\cdot ", "∙": r"\cdot ",
        "⋅": r"\cdot ", "≤": r"\le ", "≥": r"\ge ", "⩽": r"\le ", "⩾": r"\ge ", "≦": r"\le ", "≧": r"\ge ",
        "≠": r"\ne ", "≈": r"\approx ", "≡": r"\equiv ", "∞": r"\infty ", "π": r"\pi ", "√": r"\sqrt ",
        "∪": r"\cup ", "∩": r"\cap ", "∅": r"\emptyset ", "∈": r"\in ", "±": r"\pm ", "∓": r"\mp ",
        "，": ",", "、": ",", "；": ";", "。": ".", "’": "'", "′": "'", "∣": "|", "⟨": r"\langle ", "⟩": r"\rangle ",
        "∠": r"\angle ", "△": r"\triangle ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "º": "°", "˚": "°", "ℯ": "e",
        "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
        "⅕": r"\frac{1}{5}", "⅖": r"\frac{2}{5}", "⅗": r"\frac{3}{5}", "⅘": r"\frac{4}{5}", "⅙": r"\frac{1}{6}",
        "⅚": r"\frac{5}{6}", "⅛": r"\frac{1}{8}", "⅜": r"\frac{3}{8}", "⅝": r"\frac{5}{8}", "⅞": r"\frac{7}{8}",
        "\u200b": "", "\ufeff": "", "\u2061": "", "\u3000": " ", "\u2009": " ", "\u202f": " ", "∖": r"\setminus ",
        **{chr(0x2460 + n): rf"\text{{circled{n + 1}}}" for n in range(20)},
        "％": "%", "﹪": "%", "＄": "$", "｛": "{", "｝": "}",
        **{chr(0xFF01 + n): chr(0x21 + n) for n in range(94)},
        **{sign: rf"\{name} " for sign, name in zip(
            "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΦΨΩ",
            ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"], strict=True)},
    }.items()
}  # fmt: skip
_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_LOWERED: Final = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_RAISED_RUN: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+")
_LOWERED_RUN: Final = re.compile(r"[₀₁₂₃₄₅₆₇₈₉]+")
_TWICE: Final = re.compile(r"\\\\(?=[a-zA-Z({\[%$])")
_LOST_LEFT: Final = re.compile(r"\\le(?=\s?[(\[].*\\right)", re.DOTALL)
_CIRCLED: Final = re.compile(r"\\textcircled\s?\{(\d{1,2})\}")
_DELIMITERS: Final = re.compile(r"\\[()\[\]]|(?<!\\)\$+")
_AMOUNT: Final = re.compile(
    r"^\s*([-+]?)\s*\$\s*(?=\d[\d,.]*\s*$)|^\s*([-+]?)\s*\$\s*(?=[\d,.]+(?:\s[a-z ]+)?$)"
)


def clean(text: str) -> str:
    r"""The writing without what surrounds mathematics: `$`, `\(`, a full stop, emphasis.

    >>> clean(r"\(\frac{1}{2}\).")
    '\\frac{1}{2}'
    """
    if not text.isascii():
        text = _RAISED_RUN.sub(lambda run: "^{" + run[0].translate(_RAISED) + "}", text)
        text = _LOWERED_RUN.sub(lambda run: "_{" + run[0].translate(_LOWERED) + "}", text)
        text = text.translate(_UNICODE)
    if "$" in text or "\\" in text:
        if "$" in text:
            text = _AMOUNT.sub(r"\1\2\\$", text) if text.count("$") == 1 else text
        if "\\\\" in text and "\\begin" not in text:
            text = _TWICE.sub(lambda _: "\\", text)
        if text.startswith("\\le"):  # \\left, as a published data set spells it
            text = _LOST_LEFT.sub(r"\\left", text, count=1)
        if "\\textcircled" in text:
            text = _CIRCLED.sub(r"\\text{circled\1}", text)
        text = _DELIMITERS.sub(" ", text)
    text = text.strip().strip("*`").strip()
    while text and text[-1] in ".,;:" and not text.endswith("\\" + text[-1]):
        text = text[:-1].rstrip()
    return text


_TEXT = (
    "text|textbf|textit|textrm|textnormal|textsf|texttt|mbox|hbox|mathrm|mathbf|mathit|mathsf|mathtt|mathop"
    "|operatorname\\*?|boldsymbol|bm|rm|bf|emph|mathcal|mathscr|mathfrak|mathbb|vec|hat|bar|tilde|dot|ddot"
    "|overrightarrow|widehat|underline"
)
_TOKEN: Final = re.compile(
    rf"""(?P<space>(?:[\s~\u00a0]|\\[,;:!>\ \n]|\\(?:left|right)\s{{0,4}}\.(?![0-9])
         |\\(?:qquad|quad)|\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|left|right|middle|hfill
         |[bB]igg?[lrm]?|hline|large|Large|bigl|bigr|,)(?![a-zA-Z]))+)
    |(?P<grouped>[1-9]\d{{0,2}}(?:(?:,\\!\s?|\{{,\}}|\\,|\\\ |,\\\s)\d{{3}})+(?!\d)(?:\.\d+)?)
    |(?P<commas>[1-9]\d{{0,2}}(?:,\d{{3}})+(?![\d])(?:\.\d+)?)
    |(?P<blanks>[1-9]\d{{0,2}}(?:[ \u00a0]\d{{3}})+(?![\d])(?:\.\d+)?)
    |(?P<clock>\d{{1,2}}:[0-5]\d(?::[0-5]\d)?(?![\d:.])(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:\\overline\s?\{{(?P<repeat>\d{{1,40}})\}}|[eE][-+]?\d{{1,6}}(?![\d.a-zA-Z]))?)
    |(?P<text>\\(?P<font>{_TEXT})\s{{0,4}}(?:\{{(?P<inside>(?:[^{{}}]|\{{[^{{}}]{{0,80}}\}}){{0,300}})\}}
         |(?<=vec\ )(?P<bare>[a-zA-Z])))
    |\\(?:boxed|fbox)(?=\s{{0,4}}\{{)
    |(?P<begin>\\begin\s?\{{(?P<opened>[a-zA-Z*]{{1,20}})\}}(?:\{{[lcr|\s]{{0,40}}\}})?)
    |(?P<end>\\end\s?\{{[a-zA-Z*]{{1,20}}\}})
    |(?P<command>\\(?:[a-zA-Z]+|.))
    |(?P<letters>[a-zA-Z]+)
    |(?P<foreign>[^\W\d_]+)
    |(?P<relation><=|>=|=<|=>|!=|==|:=|[<>=])
    |(?P<sign>\*\*|.)""",
    re.VERBOSE | re.DOTALL,
)

_RELATIONS: Final = {
    "<": "<", ">": ">", "=": "=", "==": "=", ":=": "=", "<=": "<=", "=<": "<=", ">=": ">=", "=>": ">=",
    "!=": "!=", "lt": "<", "gt": ">", "le": "<=", "leq": "<=", "leqslant": "<=", "leqq": "<=", "ge": ">=",
    "geq": ">=", "geqslant": ">=", "geqq": ">=", "ne": "!=", "neq": "!=", "approx": "~", "simeq": "~", "cong": "~",
    "sim": "~", "equiv": "=", "in": "in", "to": "to", "rightarrow": "to", "mapsto": "to", "Rightarrow": "to",
    "implies": "to", "eq": "=",
}  # fmt: skip
_FUNCTION_NAMES: Final = {
    **{name: name for name in ["sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "ln", "lg", "log", "gcd", "lcm", "max", "min"]},
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "tg": "tan", "ctg": "cot", "cosec": "csc",
}  # fmt: skip
_GREEK: Final = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "vartheta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "varrho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "varphi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Upsilon",
        "Phi",
        "Psi",
        "Omega",
        "ell",
        "hbar",
        "partial",
        "nabla",
        "angle",
        "triangle",
        "aleph",
    ]
)
_STRUCTURES: Final = frozenset(
    [
        "frac",
        "dfrac",
        "tfrac",
        "cfrac",
        "sqrt",
        "binom",
        "dbinom",
        "tbinom",
        "pi",
        "infty",
        "emptyset",
        "varnothing",
        "oslash",
        "sum",
        "prod",
        "overline",
        "lvert",
        "rvert",
        "lfloor",
        "rfloor",
        "lceil",
        "rceil",
        "langle",
        "rangle",
        "circ",
        "degree",
        "percent",
        "pmod",
        "bmod",
        "mod",
        "lbrace",
        "rbrace",
        "lbrack",
        "rbrack",
        "vert",
        "mid",
        "Vert",
        "not",
    ]
)
_SYNONYMS: Final = {
    "cup": "set", "cap": "set", "setminus": "set", "backslash": "set", "bigcup": "set",
    "times": "*", "cdot": "*", "ast": "*", "div": "/", "slash": "/", "pm": "pm", "mp": "mp",
    "land": "join", "lor": "join", "wedge": "join", "vee": "join", "prime": "'", "colon": ":", "mathrm": "skip",
    "quad": "skip", "ldots": "dots", "dots": "dots", "cdots": "dots", "dotsc": "dots",
    "displaystyle": "skip", "nonumber": "skip", "because": "skip", "therefore": "skip", "rm": "skip", "bf": "skip",
}  # fmt: skip
_JOINS: Final = {"and": "and", "or": "or", "和": "and", "与": "and", "且": "and", "及": "and", "或": "or",
                 "以及": "and", "或者": "or", "并且": "and", "et": "and", "und": "and", "y": "and"}  # fmt: skip
_WORDS: Final = frozenset(
    [
        "no",
        "yes",
        "is",
        "the",
        "all",
        "odd",
        "even",
        "none",
        "not",
        "any",
        "to",
        "if",
        "then",
        "for",
        "of",
        "a",
        "an",
        "real",
        "true",
        "false",
        "never",
        "always",
        "undefined",
        "each",
        "day",
        "pm",
        "am",
        "cup",
        "box",
    ]
)
"""Short words that are no products of variables."""
_CURRENCIES: Final = {"$": "dollar", "€": "euro", "£": "sterling", "¥": "yuan", "￥": "yuan", "₹": "rupee"}


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
            if kind == "commas" and self.depth:
                at = self._number(text, at)
            else:
                at = self._take(kind, match)
            self.spaced = False
        return self.found

    def add(self, kind: str, text: str, value: Fraction | None = None) -> None:
        self.found.append(Token(kind, text, value, self.spaced))

    def _number(self, text: str, at: int) -> int:
        end = text.find(",", at)
        self.add("number", text[at:end], Fraction(text[at:end]))
        return end

    def _take(self, kind: str, match: re.Match[str]) -> int:
        writing = match[0]
        if match["clock"]:
            self.add("clock", match["clock"])
        elif match["number"]:
            self.add("number", writing, _value(match))
        elif kind in {"grouped", "commas", "blanks"}:
            digits = re.sub(r"[^\d.]", "", writing)
            if len(digits) > _LONGEST_NUMBER:
                raise Unreadable("a number of too many digits")
            self.add("number", writing, Fraction(digits))
        elif match["text"]:
            self._text(match["font"], match["inside"] if match["inside"] is not None else match["bare"])
        elif match["begin"]:
            self.inside += 1
            self.add("begin", match["opened"].rstrip("*"))
        elif kind == "end":
            self.inside -= 1
            self.add("end", writing)
        elif kind == "command":
            if self.inside > 0 and (writing[1].isdigit() or writing[1] in "-."):
                self.add("row", writing)  # a row's end that lost a backslash: 1\\2 for 1\\\\2
                return match.end() - 1
            self._command(writing[1:], match.end())
        elif kind == "letters":
            self._letters(writing)
        elif kind == "foreign":
            self._foreign(writing)
        elif kind == "relation":
            self.add("relation", _RELATIONS[writing])
        elif kind == "sign":
            self._sign(writing)
        return match.end()

    def _sign(self, sign: str) -> None:
        if sign in "([{":
            self.depth += sign != "{"
        elif sign in ")]":
            self.depth = max(0, self.depth - 1)
        if sign in _CURRENCIES:
            self.add("currency", _CURRENCIES[sign])
        elif sign == "**":
            self.add("^", sign)
        else:
            self.add(sign, sign)

    def _command(self, name: str, end: int) -> None:
        if name in _RELATIONS:
            self.add("relation", _RELATIONS[name])
        elif name in _FUNCTION_NAMES:
            self.add("function", _FUNCTION_NAMES[name])
        elif name in _STRUCTURES:
            self.add("command", name)
        elif name in _SYNONYMS:
            kind = _SYNONYMS[name]
            if kind == "join":
                self.add("join", "and" if name in {"land", "wedge"} else "or")
            elif kind != "skip":
                self.add(kind, name)
        elif name in _GREEK:
            self.add("name", name)
        elif name in {"{", "}"}:
            self.depth = max(0, self.depth + (1 if name == "{" else -1))
            self.add("\\" + name, name)
        elif name == "$":
            self.add("currency", "dollar")
        elif name in {"%", "\\", "&", "#", "|", "_"}:
            self.add({"\\": "row", "|": "Vert", "%": "%"}.get(name, name), name)
        elif not name.isalpha() or self.text[end : end + 1] in {"{", "["} or len(name) > 20:  # noqa: PLR2004
            raise Unreadable(f"the command \\{name[:20]} is not known")
        else:
            self.add("name", name)

    def _text(self, font: str, inside: str) -> None:
        words = re.sub(r"[\s~]+|\\[,; ]", " ", inside).strip()
        if not words:
            return
        if words == "min" and self._after_number():
            self.add("word", words)
            return
        if font == "mathbb":
            self.add("field" if words in "RCQZN" else "name", words)
        elif words.strip(" ,").lower() in _JOINS:
            self.add("join", _JOINS[words.strip(" ,").lower()])
        elif font in {"vec", "overrightarrow", "hat", "bar", "tilde", "dot", "ddot", "widehat"}:
            self.add("name", f"{font} {words}")
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
        elif words in _FUNCTION_NAMES:
            self.add("function", _FUNCTION_NAMES[words])
        else:
            self.add("word", words)

    def _after_number(self) -> bool:
        return bool(self.found) and self.found[-1].kind in {"number", "}", ")"}

    def _letters(self, letters: str) -> None:
        lower = letters.lower()
        if len(letters) == 1:
            self.add("name", letters)
        elif lower in _JOINS:
            self.add("join", _JOINS[lower])
        elif letters == "min" and self.spaced and self._after_number():
            self.add("word", letters)
        elif letters in _FUNCTION_NAMES:
            self.add("function", _FUNCTION_NAMES[letters])
        elif lower in {"pi", "infty", "infinity", "inf", "oo", "sqrt"}:
            self.add("command", {"pi": "pi", "sqrt": "sqrt"}.get(lower, "infty"))
        elif letters in _GREEK and len(letters) > 3:  # noqa: PLR2004 - `mu`, `nu`, `xi` are products
            self.add("name", letters)
        elif self.spaced and self.found and self.found[-1].kind == "word":  # words go on
            self.add("word", letters)
        elif (
            (lower in _WORDS and not letters.isupper())
            or is_unit_word(letters)
            or (len(letters) > 3 and not letters.isupper())
        ):
            self._word(letters)
        else:
            self._split(letters)

    def _word(self, letters: str) -> None:
        """`or` may stand without blanks between two answers: W(x)=1orW(x)=-1."""
        for join in ("or", "and"):
            if letters.startswith(join) and len(letters) == len(join) + 1:
                self.add("join", join)
                self.add("name", letters[-1])
                return
        self.add("word", letters)

    def _split(self, letters: str) -> None:
        if letters[:2] == "or" and len(letters) == 3 and letters[2].isupper():  # noqa: PLR2004 - 1orW(x)
            self.add("join", "or")
            letters = letters[2:]
        for letter in letters:
            self.add("name", letter)
            self.spaced = False

    def _foreign(self, letters: str) -> None:
        for join in ("或者", "以及", "并且", "或", "和", "且", "与", "及"):
            if letters == join:
                self.add("join", _JOINS[join])
                return
        self.add("word", letters)


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
