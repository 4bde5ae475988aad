"""From tokens to typed values: the whole of an answer, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from probatum.scoring.math.arithmetic import added, divided, form_of, matrix_power, negated, times
from probatum.scoring.math.cursor import END, Cursor
from probatum.scoring.math.forms import IMAGINARY, ONE, PI, ZERO, E, Form, function, substitute, variable
from probatum.scoring.math.functions import (
    FUNCTIONS,
    absolute,
    binomial,
    double_factorial,
    factorial_of,
    power,
    root,
)
from probatum.scoring.math.lexer import Token, Unreadable
from probatum.scoring.math.regions import (
    EVERYTHING,
    NOTHING,
    Unordered,
    inequalities,
    intersect,
    subtract,
    unite,
)
from probatum.scoring.math.structures import (
    INFINITY,
    as_region,
    equation,
    grouped,
    infinite,
    interval,
    joined,
    member,
)
from probatum.scoring.math.units import changes_number, take_scale
from probatum.scoring.math.values import (
    PAIR,
    Base,
    Clock,
    Collection,
    Matrix,
    Ratio,
    Region,
    Scalar,
    Text,
    Value,
)

__all__ = ["Parser"]

_LONGEST_DIGITS: Final = 40
"""Digits of a number in another base."""
_LOWEST_BASE, _HIGHEST_BASE = 2, 36
"""Bases that have digits."""
_LONGEST_SUM: Final = 200
"""Summands up to which a finite sum is worked out."""
_STARTS: Final = frozenset({"number", "name", "function", "(", "[", "\\{", "{", "begin", "field"})
_START_COMMANDS: Final = frozenset(
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
        "sum",
        "prod",
        "overline",
        "lvert",
        "lfloor",
        "lceil",
    ]
)
_IN_UNITS: Final = frozenset({"^", "{", "/", "*", "-", "("})
"""What a unit has before a digit or a single letter: m^2, km/h."""
_APPLIED: Final = frozenset("fgFG")
"""Letters that are functions before a parenthesis, whatever stands in it."""
_PERHAPS_APPLIED: Final = frozenset("hpquvwyABCDGHIJKLMNPQRSTUVWXYZ")
"""Letters that are functions before a single name or number in parentheses."""
_MATRICES: Final = frozenset(("pmatrix", "bmatrix", "matrix", "Bmatrix", "smallmatrix", "array"))
_SYSTEMS: Final = frozenset(("cases", "aligned", "align", "split", "gathered"))
"""Environments that hold equations below each other."""


class Parser(Cursor):
    """Recursive descent over one answer; every method reads from where the last one stopped."""

    # -- lists

    def whole(self) -> Value:
        """The value of the whole answer.

        Raises:
            Unreadable: it does not parse to its end.
        """
        value = self.listed()
        if self.token is not END:
            raise Unreadable(f"{self.token.text[:20]!r} is left over")
        return value

    def listed(self) -> Value:
        """Values by commas, semicolons, `and`, `or`."""
        groups: list[list[Value]] = [self.element()]
        joins: list[str] = []
        while (join := self.take(",", ";", "join", "row")) is not None:
            while self.next_is("join", ",", "row"):
                join = self.expect("join", ",", "row")
            if self.token is END:
                break
            sign = join.text if join.kind == "join" else {"row": ","}.get(join.kind, join.kind)
            joins.append(sign)
            if sign == ";":
                groups.append(self.element())
            else:
                groups[-1] += self.element()
        if "," in joins and ";" in joins:
            return Collection("list", tuple(grouped(group) for group in groups))
        items = [item for group in groups for item in group]
        if len(items) == 1:
            return items[0]
        together = joined(items, joins)
        return together if together is not None else Collection("list", tuple(items))

    def element(self) -> list[Value]:
        """One value, or two where it holds ±."""
        start, before = self.at, self.doubled
        self.doubled, self.sign = False, 1
        found = [self.relation()]
        if self.doubled:
            self.at, self.sign = start, -1
            found.append(self.relation())
            self.sign = 1
        self.doubled = before
        return found

    # -- relations

    def relation(self) -> Value:
        """An expression, or a chain of expressions with relations between them."""
        values, signs = [self.united()], list[str]()
        while (sign := self.take("relation")) is not None:
            if sign.text == "to":
                raise Unreadable("an arrow")
            signs.append(sign.text)
            values.append(self.united())
        if not signs:
            return values[0]
        while len(signs) > 1 and signs[-1] == "~":  # x = 1/3 ≈ 0.33: the exact value counts
            signs.pop()
            values.pop()
        kinds = set(signs)
        if kinds <= {"=", "~"}:
            return equation(values)
        if kinds == {"in"} and len(values) == PAIR:
            return member(values[0], values[1])
        if kinds <= {"<", ">", "<=", ">=", "!="}:
            return inequalities([form_of(each) for each in values], signs)
        raise Unreadable("a mixed chain of relations")

    def united(self) -> Value:
        """Sets with ∪, ∩ and ∖ between them; a ratio."""
        value = self.summed()
        if self.next_is(":"):
            return self.ratio(value)
        while (sign := self.take("set")) is not None:
            left, right = as_region(value), as_region(self.summed())
            try:
                if sign.text in {"cup", "bigcup"}:
                    value = unite([left, right])
                elif sign.text == "cap":
                    value = intersect(left, right)
                else:
                    value = subtract(left, right)
            except Unordered:
                if sign.text != "cup":
                    raise Unreadable("sets whose ends have no order") from None
                value = Region((*left.parts, *right.parts))
        return value

    def ratio(self, first: Value) -> Value:
        """A : b : c."""
        parts = [form_of(first)]
        while self.take(":"):
            parts.append(form_of(self.summed()))
        return Ratio(tuple(parts))

    # -- arithmetic

    def summed(self) -> Value:
        """Terms with + and − between them."""
        value = self.signed()
        while self.next_is("+", "-", "pm"):
            sign = self._sign()
            value = added(value, self.product(), sign)
        return value

    def _sign(self) -> int:
        token = self.expect("+", "-", "pm")
        if token.kind == "pm":
            self.doubled = True
            return self.sign if token.text == "pm" else -self.sign
        return 1 if token.kind == "+" else -1

    def signed(self) -> Value:
        """A term with its signs."""
        sign = 1
        for _ in range(6):
            if not self.next_is("+", "-", "pm"):
                break
            sign *= self._sign()
        value = self.product()
        return value if sign > 0 else negated(value)

    def product(self) -> Value:
        """Factors, with or without signs between them, and the unit after a number."""
        money = self.take("currency")
        value = self.power()
        while True:
            if self.take("*"):
                value = times(value, self.factor())
            elif self.next_is("/") and not self._unit_follows():
                self.at += 1
                value = divided(value, self.factor())
            elif self._starts() and not self._unit_follows():
                if self._mixed(value):
                    continue_with = self.power()
                    value = added(value, continue_with, 1)
                else:
                    value = times(value, self.power())
            else:
                break
        if money is not None and isinstance(value, Scalar):
            value = replace(value, unit=money.text)
        return self._unit(value)

    def factor(self) -> Value:
        """A factor that may have a sign of its own."""
        if self.next_is("+", "-", "pm"):
            sign = self._sign()
            value = self.power()
            return value if sign > 0 else negated(value)
        return self.power()

    def _starts(self) -> bool:
        token = self.token
        if token.kind == "[" and self.brackets:  # the end of [0, 1[
            return False
        if token.kind in _STARTS:
            previous = self.tokens[self.at - 1] if self.at else END
            return not (token.kind == "number" and previous.kind == "number" and not self._fraction_follows())
        if token.kind == "command":
            return token.text in _START_COMMANDS
        return token.kind in {"|", "Vert"} and self.bars == 0

    def _fraction_follows(self) -> bool:
        return (
            self.after().kind == "/"
            and self.after(2).kind == "number"
            and self.tokens[self.at - 1].text.isdigit()
            and self.token.spaced
        )

    def _mixed(self, value: Value) -> bool:
        r"""3\frac{1}{2} and 3 1/2 are mixed numbers."""
        previous = self.tokens[self.at - 1]
        if previous.kind != "number" or not previous.text.isdigit() or not isinstance(value, Scalar):
            return False
        if value.form.integer is None or value.form.integer != int(previous.text):
            return False
        if self.next_is("number"):
            numerator, denominator = self.token.value, self.after(2).value
            if numerator is None or not denominator:
                raise Unreadable("a fraction without a denominator")
            self.tokens[self.at : self.at + 3] = [Token("number", "", numerator / denominator)]
            return numerator < denominator
        if self.token.kind != "command" or self.token.text not in {"frac", "dfrac", "tfrac", "cfrac"}:
            return False
        start = self.at
        fraction = self.nested(self.power)
        self.at = start
        inside = fraction.form.constant if isinstance(fraction, Scalar) else None
        return inside is not None and 0 < inside < 1

    def _unit_follows(self) -> bool:
        """A word, or a single letter after a number and a blank (5 m, at the very end)."""
        if self.next_is("word", "currency"):
            return True
        if self.next_is("("):  # 9 (apples)
            return self.after().kind == "word"
        if self.next_is("/"):
            return self.at > 0 and self.after().kind == "word"
        return False

    def _unit(self, value: Value) -> Value:
        if self.next_is("%") and isinstance(value, Scalar):
            self.at += 1
            if self.ends():
                return replace(value, unit="%")
            return Scalar(value.form.scaled(Fraction(1, 100)))
        if not self._unit_follows() or not isinstance(value, Scalar | Base | Clock | Text | Collection):
            return value
        scale, unit = take_scale(self._words())
        if not isinstance(value, Scalar) and scale != 1:
            raise Unreadable("a number is expected here")
        if changes_number(unit):
            raise Unreadable(f"{unit[:30]!r} changes what the number says")
        return (
            replace(value, form=value.form.scaled(scale), unit=unit) if isinstance(value, Scalar) else value
        )

    def _words(self) -> str:
        """The words of a unit or a noun, up to the end of the value."""
        words: list[str] = []
        while self.next_is("word", "currency", "/", "^", "number", "*", "name", "(", ")", "{", "}", "-", "'"):
            if self.next_is(")", "{", "}", "'") and not words:
                break
            token = self.token
            opener = {")": "(", "}": "{"}.get(token.kind)
            if opener is not None and not any(word.strip() == opener for word in words):
                break
            if token.kind in {"number", "name"} and self.tokens[self.at - 1].kind not in _IN_UNITS:
                raise Unreadable("a number or a name among words")
            words.append((" " if token.spaced or token.kind == "word" else "") + token.text)
            self.at += 1
        if not self.ends():
            raise Unreadable("words between mathematics")
        return re.sub(r"[{}]|^\(|\)$", "", "".join(words).strip()).strip()

    def power(self) -> Value:
        """A base with exponents, factorials and degree signs behind it."""
        value = self.atom()
        while True:
            if self.take("^"):
                if self.token.text == "circ" or self.next_is("°"):
                    self.at += 1
                    value = self._degrees(value)
                elif self.next_is("{") and self.after().text == "circ" and self.after(2).kind == "}":
                    self.at += 3
                    value = self._degrees(value)
                else:
                    value = self._raised(value)
            elif self.next_is("°") or (self.token.kind == "command" and self.token.text == "degree"):
                self.at += 1
                value = self._degrees(value)
            elif self.next_is("!"):
                value = self._factorial(form_of(value))
            elif self.next_is("%") and not self._closes(1):
                self.at += 1
                value = Scalar(form_of(value).scaled(Fraction(1, 100)))
            else:
                return value

    def _closes(self, ahead: int) -> bool:
        start = self.at
        self.at += ahead
        ends = self.ends() or self.next_is("word")
        self.at = start
        return ends

    def _degrees(self, value: Value) -> Value:
        if self.next_is("name") and self.token.text in "CF" and self.at + 1 == len(self.tokens):
            unit = "°" + self.expect("name").text
        elif self.next_is("word") and self.token.text in "CF":
            unit = "°" + self.expect("word").text
        else:
            unit = "°"
        return Scalar(form_of(value), unit=unit)

    def _raised(self, value: Value) -> Value:
        sign = 1
        while self.next_is("-", "+"):
            sign *= self._sign()
        exponent = self.nested(self.argument) if not self.next_is("name", "number") else self._single()
        if self.take("^"):  # 2^3^2 is 2^(3^2)
            base = exponent
            exponent = self.nested(lambda: self._raised(base))
        form = form_of(exponent)
        if isinstance(value, Matrix):
            return matrix_power(value, form.integer)
        return Scalar(power(form_of(value), form if sign > 0 else -form))

    def _factorial(self, form: Form) -> Value:
        """`n!` and the double factorial `n!!`."""
        signs = 0
        while self.take("!"):
            signs += 1
        if signs > PAIR:
            raise Unreadable("a factorial of more than two signs")
        return Scalar(factorial_of(form) if signs == 1 else double_factorial(form))

    def _single(self) -> Value:
        """One letter or digit as an exponent; a number in plain text counts whole (2^10)."""
        return self.nested(self.atom)

    # -- atoms

    def atom(self) -> Value:
        """The smallest part.

        Raises:
            Unreadable: nothing that could be one stands here.
        """
        token = self.token
        read = _ATOMS.get(token.kind)
        if read is None:
            raise Unreadable(f"{token.text[:20]!r} begins no expression")
        self.at += 1
        return read(self, token)

    def number(self, token: Token) -> Value:
        """A number; with a subscript, digits in a base."""
        if token.value is None:
            raise Unreadable("a number without a value")
        if self.next_is("_"):
            return self.base(token.text)
        if token.text.isdigit() and self.next_is("name") and self._base_ahead():
            digits = token.text
            while not self.next_is("_"):
                digits += self.expect("name", "number").text
            return self.base(digits)
        return Scalar(Form.of(token.value), decimal="." in token.text)

    def _base_ahead(self) -> bool:
        """Letters are digits of a base where a numeric subscript follows them: 2A_{16}."""
        ahead = 0
        while (
            self.after(ahead).kind in {"name", "number"}
            and not self.after(ahead).spaced
            and ahead < _LONGEST_DIGITS
        ):
            text = self.after(ahead).text
            if not (text.isdigit() or (len(text) == 1 and text in "ABCDEFabcdef")):
                return False
            ahead += 1
        if self.after(ahead).kind != "_":
            return False
        base = self.after(ahead + 1) if self.after(ahead + 1).kind != "{" else self.after(ahead + 2)
        return base.text == "16"

    def base(self, digits: str) -> Value:
        """The base after the digits."""
        self.expect("_")
        grouped = self.take("{")
        while self.take("("):
            pass
        name = self.expect("number", "word")
        base = name.value.numerator if name.value is not None else _BASES.get(name.text.lower())
        while self.take(")"):
            pass
        if grouped:
            self.expect("}")
        if base is None or not _LOWEST_BASE <= base <= _HIGHEST_BASE or not digits.isalnum():
            raise Unreadable("no base")
        return Base(digits.lstrip("0").upper() or "0", int(base))

    def name(self, token: Token) -> Value:
        """A variable, a constant, or a function applied to something."""
        text = token.text
        if text in {"angle", "triangle"}:
            return Scalar(function(text, form_of(self.nested(self.named_points))))
        if self.next_is("_"):
            return self._indexed(text)
        text += self._primes()
        if self.next_is("(") and self._applies(text):
            return Scalar(function(text, *map(form_of, self._arguments())))
        constant = _CONSTANTS.get(text) if text not in self.indices else None
        return Scalar(constant if constant is not None else variable(text))

    def _primes(self) -> str:
        primes = ""
        while self.take("'"):
            primes += "'"
        if self.next_is("^") and (
            self.after().kind == "'" or (self.after().kind == "{" and self.after(2).kind == "'")
        ):
            self.at += 1
            grouped = self.take("{")
            while self.take("'"):
                primes += "'"
            if grouped:
                self.expect("}")
        return primes

    def named_points(self) -> Value:
        """The letters after ∠ and △, as one name."""
        letters = ""
        while self.next_is("name") and len(self.token.text) == 1 and self.token.text.isupper():
            letters += self.expect("name").text
            if self.take("_"):
                letters += f"_{form_of(self.argument()).key}"
        if not letters:
            return self.argument()
        return Scalar(variable(letters))

    def _indexed(self, name: str) -> Value:
        self.expect("_")
        if self.next_is("{"):
            self.at += 1
            index = self._index_in_braces()
        else:
            token = self.expect("number", "name", "word")
            index = Form.of(token.value) if token.value is not None else variable(token.text)
        combination = self._combination(name, index)
        if combination is not None:
            return combination
        name += self._primes()
        if index.constant is not None:
            full = f"{name}_{index.constant}"
            if self.next_is("(") and self._applies(name):
                return Scalar(function(full, *map(form_of, self._arguments())))
            return Scalar(variable(full))
        return Scalar(function(f"{name}_", index))

    def _combination(self, name: str, index: Form) -> Value | None:
        """C_5^2 and A_5^2, as combinations and arrangements are written in China."""
        start, n = self.at, index.integer
        if name not in {"C", "A"} or n is None or self.take("^") is None:
            return None
        k = form_of(self.nested(self.argument)).integer
        if k is None or not 0 < k <= n or n < PAIR:
            self.at = start
            return None
        chosen = binomial(Form.of(n), Form.of(k))
        return Scalar(chosen if name == "C" else chosen * factorial_of(Form.of(k)))

    def _index_in_braces(self) -> Form:
        """An index: an expression, or a row of names that mean nothing but themselves (S_{ABC}, a_{i,j})."""
        start = self.at
        try:
            inside = self.nested(self.listed)
            self.expect("}")
            if isinstance(inside, Scalar):
                return inside.form
        except Unreadable:
            self.at = start
        words = ""
        while not self.next_is("}", "end of text"):
            words += self.token.text
            self.at += 1
        self.expect("}")
        return variable(words)

    def _applies(self, name: str) -> bool:
        if name.rstrip("'") in _APPLIED or name in {"phi", "varphi", "psi", "Phi"} or "'" in name:
            return True
        if name not in _PERHAPS_APPLIED and self.after().text not in {"t", "0"}:
            return False
        return self.after().kind in {"name", "number", "word"} and self.after(2).kind == ")"

    def _arguments(self) -> tuple[Value, ...]:
        self.expect("(")
        items = self._items(")")
        self.expect(")")
        return tuple(items)

    def _items(self, *closers: str) -> list[Value]:
        """Values up to a closing sign, which is left."""
        self.deeper()
        bars, self.bars = self.bars, 0
        items: list[Value] = []
        while not self.next_is(*closers):
            items.append(self.relation())
            if self.take(",", ";") is None:
                break
        self.bars = bars
        self.depth -= 1
        return items

    def parenthesis(self, _: Token) -> Value:
        """A group, a tuple, or an interval that is open on the left."""
        items = self._items(")", "]")
        closer = self.expect(")", "]")
        if closer.kind == "]":
            return interval(items, low_closed=False, high_closed=True)
        if len(items) == 1:
            return items[0]
        if len(items) == PAIR and (infinite(items[0]) or infinite(items[1])):
            return interval(items, low_closed=False, high_closed=False)
        return Collection("tuple", tuple(items))

    def bracket(self, _: Token) -> Value:
        """A group, a list in brackets, or an interval that is closed on the left."""
        self.brackets += 1
        items = self._items(")", "]")
        self.brackets -= 1
        closer = self.expect(")", "]", "[")
        if closer.kind in {")", "["}:
            return interval(items, low_closed=True, high_closed=False)
        if len(items) == 1:
            return items[0]
        if len(items) == PAIR and (infinite(items[0]) or infinite(items[1])):
            return interval(items, low_closed=True, high_closed=True)
        return Collection("bracket", tuple(items))

    def outward(self, _: Token) -> Value:
        """]a, b[ and ]a, b]: an interval as it is written in French."""
        self.brackets += 1
        items = self._items("]")
        self.brackets -= 1
        closer = self.expect("[", "]")
        return interval(items, low_closed=False, high_closed=closer.kind == "]")

    def angled(self, _: Token) -> Value:
        """⟨a, b⟩ is a vector."""
        items: list[Value] = []
        while not (self.token.kind == "command" and self.token.text == "rangle"):
            items.append(self.nested(self.relation))
            if self.take(",", ";") is None:
                break
        if self.expect("command").text != "rangle":
            raise Unreadable("an angle bracket that is not closed")
        return Collection("tuple", tuple(items))

    def braces(self, _: Token) -> Value:
        """A set by its elements or by a condition."""
        closer = "\\}"
        if self.take(closer):
            return NOTHING
        if self.next_is("begin"):
            return self._system_in_brace()
        if self._condition_follows():
            self.at += 2
            region = self.nested(self.listed)
            self.expect(closer)
            return region
        items: list[Value] = []
        while not self.next_is(closer):
            items += self._element_inside()
            if self.take(",", ";", "join") is None:
                break
        self.expect(closer)
        return Collection("set", tuple(items))

    def _system_in_brace(self) -> Value:
        r"""\left\{ before an array of equations, which nothing closes."""
        value = self.nested(self.atom)
        if self.take("\\}"):
            return Collection("set", (value,))
        if not isinstance(value, Matrix) or len(value.rows[0]) != 1:
            raise Unreadable("a brace that is not closed")
        return Collection("list", tuple(row[0] for row in value.rows))

    def _element_inside(self) -> list[Value]:
        self.deeper()
        bars, self.bars = self.bars, 0
        sign = self.sign
        found = self.element()
        self.bars, self.sign = bars, sign
        self.depth -= 1
        return found

    def _condition_follows(self) -> bool:
        if not self.next_is("name"):
            return False
        sign = self.after()
        return sign.kind in {"|", ":"} or (sign.kind == "command" and sign.text in {"mid", "vert"})

    def group(self, _: Token) -> Value:
        """Braces that only group."""
        if self.take("}"):
            return self.atom() if self._starts() else Collection("list", ())
        bars, self.bars = self.bars, 0
        value = self.nested(self._list_inside)
        self.bars = bars
        self.expect("}")
        return value

    def _list_inside(self) -> Value:
        sign, doubled = self.sign, self.doubled
        start = self.at
        value = self.relation()
        if not self.next_is(",", ";", "join"):
            return value
        self.at, self.sign, self.doubled = start, sign, doubled
        value = self.listed()
        self.sign = sign
        return value

    def bar(self, token: Token) -> Value:
        """|x|."""
        self.bars += 1
        value = self.nested(self.summed)
        self.bars -= 1
        if not (token.kind == self.token.kind or self.token.text in {"rvert", "vert", "Vert"}):
            raise Unreadable("a bar that is not closed")
        self.at += 1
        return Scalar(absolute(form_of(value)))

    def field(self, token: Token) -> Value:
        """ℝ; other fields of numbers are names."""
        if token.text == "R":
            return EVERYTHING
        return Text(f"the field {token.text}".casefold())

    def word(self, token: Token) -> Value:
        """Words alone, such as a name or an option's letter."""
        words = [token.text]
        while (following := self.take("word", "name", "number")) is not None:
            words.append(following.text)
        return Text(" ".join(words).casefold().strip(" ()."))

    def clock(self, token: Token) -> Value:
        """12:30, perhaps with the half of the day."""
        found = re.fullmatch(r"(\d+):(\d+)(?::(\d+))?\s*(?:([ap]).*)?", token.text.lower(), re.DOTALL)
        if found is None:
            raise Unreadable("no time of day")
        half = found[4] or ""
        if not half and self.next_is("word"):
            said = re.fullmatch(r"([ap])\.?\s?m\.?", self.token.text.strip().lower())
            if said is not None:
                self.at += 1
                half = said[1]
        return Clock(tuple(int(part) for part in found.group(1, 2, 3) if part is not None), half)

    # -- commands

    def command(self, token: Token) -> Value:
        """A structure of LaTeX."""
        if token.text in _CONSTANTS:
            return Scalar(_CONSTANTS[token.text])
        read = _COMMANDS.get(token.text)
        if read is None:
            raise Unreadable(f"\\{token.text} is not expected here")
        return read(self, token)

    def fraction(self, _: Token) -> Value:
        r"""\frac with its two arguments."""
        top, under = self.nested(self.argument), self.nested(self.argument)
        return divided(top, under)

    def binomial(self, _: Token) -> Value:
        r"""\binom with its two arguments."""
        top, under = form_of(self.nested(self.argument)), form_of(self.nested(self.argument))
        return Scalar(binomial(top, under))

    def empty(self, _: Token) -> Value:
        """The empty set."""
        return NOTHING

    def overlined(self, _: Token) -> Value:
        """A conjugate, or the segment between two points."""
        return Scalar(function("overline", form_of(self.nested(self.argument))))

    def floored(self, token: Token) -> Value:
        """⌊x⌋ and ⌈x⌉."""
        inside = form_of(self.nested(self.summed))
        if self.expect("command").text != "r" + token.text[1:]:
            raise Unreadable("a bracket that is not closed")
        return Scalar(FUNCTIONS["floor" if token.text == "lfloor" else "ceil"](inside))

    def argument(self) -> Value:
        r"""What a command takes: a group, or one digit or letter (\frac12)."""
        if self.take("{"):
            return self.group(self.token)
        token = self.token
        if token.kind == "number" and token.text.isdigit() and len(token.text) > 1:
            self.tokens[self.at : self.at + 1] = [
                Token("number", digit, Fraction(int(digit))) for digit in token.text
            ]
        if token.kind in {"number", "name", "command"}:
            self.at += 1
            if token.kind == "number":
                digit = self.tokens[self.at - 1]
                return Scalar(Form.of(digit.value or 0), decimal="." in digit.text)
            if token.kind == "name" and token.text not in {"e", "i"}:
                return Scalar(variable(token.text))
            return self.name(token) if token.kind == "name" else self.command(token)
        return self.atom()

    def square_root(self, _: Token) -> Value:
        """√, with an index in brackets."""
        index = Form.of(2)
        if self.take("["):
            index = form_of(self.nested(self.summed))
            self.expect("]")
        return Scalar(root(form_of(self.nested(self.argument)), index))

    def applied(self, token: Token) -> Value:
        """A function with its exponent, base and argument."""
        name, exponent, base = token.text, None, None
        for _ in range(2):
            if self.take("^"):
                exponent = form_of(self.nested(self.factor_of_exponent))
            elif name == "log" and self.take("_"):
                base = form_of(self.nested(self.argument))
        if name in {"gcd", "lcm", "max", "min"}:
            return Scalar(FUNCTIONS[name](*map(form_of, self._arguments_of_extreme())))
        inside = self.nested(self._argument_of_function)
        form = form_of(inside)
        if isinstance(inside, Scalar) and inside.unit == "°":
            form = (form * PI).scaled(Fraction(1, 180))
        inverse = exponent is not None and exponent.constant == -1 and name in {"sin", "cos", "tan"}
        value = FUNCTIONS["arc" + name if inverse else name](form)
        if base is not None:
            value = FUNCTIONS["ln"](form) / FUNCTIONS["ln"](base)
        return Scalar(value.raised(exponent) if exponent is not None and not inverse else value)

    def factor_of_exponent(self) -> Value:
        """An exponent with a sign."""
        if self.next_is("-"):
            self.at += 1
            return negated(self.argument())
        return self.argument()

    def _arguments_of_extreme(self) -> tuple[Value, ...]:
        if self.next_is("("):
            return self._arguments()
        self.expect("\\{")
        items = self._items("\\}")
        self.expect("\\}")
        return tuple(items)

    def _argument_of_function(self) -> Value:
        """A group, or factors up to the next sign or function: sin 2x cos x."""
        if self.next_is("("):
            return self.power()
        value = self.power()
        while self._starts() and not self.next_is("function", "(", "\\{", "begin"):
            value = times(value, self.power())
        if self.next_is("/") and self.after().kind == "number":
            self.at += 1
            value = divided(value, self.power())
        return value

    def series(self, token: Token) -> Value:
        """A sum or a product over an index; finite ones are worked out."""
        name = token.text
        self.expect("_")
        self.expect("{")
        index = self.expect("name").text
        if self.expect("relation").text != "=":
            raise Unreadable("a sum over a set")
        low = form_of(self.nested(self.summed))
        self.expect("}")
        self.expect("^")
        high = form_of(self.nested(self.argument))
        self.indices.append(index)
        body = form_of(self.nested(self.product))
        self.indices.pop()
        first, last = low.integer, high.integer
        if first is None or last is None or last - first > _LONGEST_SUM:
            depth = sum(each.startswith("#") for each in body.variables)
            own = variable(f"#{depth}")
            return Scalar(function(name, low, high, substitute(body, index, own, FUNCTIONS), own))
        total = ZERO if name == "sum" else ONE
        for number in range(first, last + 1):
            each = substitute(body, index, Form.of(number), FUNCTIONS)
            total = total + each if name == "sum" else total * each
        return Scalar(total)

    def matrix(self, token: Token) -> Value:
        r"""Rows by `\\`, cells by `&`."""
        if token.text in _SYSTEMS:
            return self.system()
        if token.text not in _MATRICES:
            raise Unreadable(f"the environment {token.text[:20]}")
        rows: list[tuple[Value, ...]] = []
        row: list[Value] = []
        while not self.next_is("end"):
            row.append(self.nested(self.relation))
            if self.take("&"):
                continue
            self.take(",")
            rows.append(tuple(row))
            row = []
            if not self.take("row"):
                break
        self.expect("end")
        if row or not rows or len({len(each) for each in rows}) != 1:
            raise Unreadable("a matrix whose rows differ in length")
        return Matrix(tuple(rows))

    def system(self) -> Value:
        """Equations below each other; a value with its condition beside it is not read."""
        items: list[Value] = []
        while not self.next_is("end"):
            items.append(self.nested(self.relation))
            self.take(",", ";")
            if not self.take("row"):
                break
        self.expect("end")
        return Collection("list", tuple(items)) if len(items) > 1 else items[0]


_BASES: Final = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "sixteen": 16,
}  # fmt: skip

_CONSTANTS: Final = {"e": E, "i": IMAGINARY, "pi": PI, "infty": INFINITY}
_COMMANDS: Final[dict[str, Callable[[Parser, Token], Value]]] = {
    **dict.fromkeys(("frac", "dfrac", "tfrac", "cfrac"), Parser.fraction),
    **dict.fromkeys(("binom", "dbinom", "tbinom"), Parser.binomial),
    **dict.fromkeys(("emptyset", "varnothing", "oslash"), Parser.empty),
    **dict.fromkeys(("sum", "prod"), Parser.series),
    **dict.fromkeys(("lfloor", "lceil"), Parser.floored),
    **dict.fromkeys(("lvert", "vert"), Parser.bar),
    "sqrt": Parser.square_root,
    "overline": Parser.overlined,
    "langle": Parser.angled,
}

_ATOMS: Final[dict[str, Callable[[Parser, Token], Value]]] = {
    "number": Parser.number,
    "name": Parser.name,
    "function": Parser.applied,
    "command": Parser.command,
    "(": Parser.parenthesis,
    "[": Parser.bracket,
    "]": Parser.outward,
    "{": Parser.group,
    "\\{": Parser.braces,
    "|": Parser.bar,
    "Vert": Parser.bar,
    "begin": Parser.matrix,
    "field": Parser.field,
    "word": Parser.word,
    "clock": Parser.clock,
}
