"""Sums, products and powers of typed values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from probatum.scoring.math.forms import ONE, ZERO, Form
from probatum.scoring.math.lexer import Unreadable
from probatum.scoring.math.values import PAIR, Base, Clock, Collection, Matrix, Scalar, Value

__all__ = ["added", "divided", "form_of", "matrix_power", "negated", "times"]

_HIGHEST_POWER: Final = 16
"""Of a matrix; it is worked out by repeated products."""


def form_of(value: Value) -> Form:
    """The expression that a value is, where one is needed.

    Raises:
        Unreadable: it is none.
    """
    if isinstance(value, Scalar):
        if value.unit == "%":
            return value.form.scaled(Fraction(1, 100))
        return value.form
    if isinstance(value, Collection) and value.kind == "list" and not value.items:
        return ONE
    if isinstance(value, Clock) and not value.half and len(value.parts) == PAIR and value.parts[1]:
        return Form.of(Fraction(*value.parts))
    raise Unreadable("a number is expected here")


def added(one: Value, two: Value, sign: int) -> Value:
    """The sum, or with a negative sign the difference.

    Raises:
        Unreadable: there is none.
    """
    if isinstance(one, Matrix) and isinstance(two, Matrix):
        if _shape(one) != _shape(two):
            raise Unreadable("matrices of different shape")
        return Matrix(
            tuple(
                tuple(added(x, y, sign) for x, y in zip(left, right, strict=True))
                for left, right in zip(one.rows, two.rows, strict=True)
            )
        )
    left, right = form_of(one), form_of(two)
    unit = _common_unit(one, two)
    if unit:
        left, right = (
            one.form if isinstance(one, Scalar) else left,
            two.form if isinstance(two, Scalar) else right,
        )
    return Scalar(left + right if sign > 0 else left - right, unit=unit)


def _common_unit(one: Value, two: Value) -> str:
    """The unit of a sum, where both have the same."""
    if isinstance(one, Scalar) and isinstance(two, Scalar):
        if one.unit == two.unit:
            return one.unit
        if {one.unit, two.unit} - {"", "%", "°"}:
            raise Unreadable("a sum of different units")
    return ""


def negated(value: Value) -> Value:
    """The value with the other sign.

    Raises:
        Unreadable: it has none.
    """
    if isinstance(value, Scalar):
        return replace(value, form=-value.form)
    if isinstance(value, Matrix):
        return Matrix(tuple(tuple(negated(each) for each in row) for row in value.rows))
    if isinstance(value, Base):
        return replace(value, negative=not value.negative)
    raise Unreadable("a sign before what is no number")


def _shape(matrix: Matrix) -> tuple[int, int]:
    return len(matrix.rows), len(matrix.rows[0])


def times(one: Value, two: Value) -> Value:
    """The product.

    Raises:
        Unreadable: there is none.
    """
    if isinstance(one, Matrix) and isinstance(two, Matrix):
        return _matrix_product(one, two)
    for matrix, factor in ((one, two), (two, one)):
        if isinstance(matrix, Matrix):
            return Matrix(tuple(tuple(times(factor, each) for each in row) for row in matrix.rows))
    unit = one.unit if isinstance(one, Scalar) and one.unit == "°" else ""
    return Scalar(form_of(one) * form_of(two), unit=unit)


def divided(one: Value, two: Value) -> Value:
    """The quotient.

    Raises:
        Unreadable: there is none.
        ZeroDivisionError: the divisor is zero.
    """
    if isinstance(one, Matrix):
        return times(Scalar(form_of(two).to(-1)), one)
    return Scalar(form_of(one) / form_of(two))


def _matrix_product(one: Matrix, two: Matrix) -> Matrix:
    if _shape(one)[1] != _shape(two)[0]:
        raise Unreadable("matrices whose product is not defined")
    columns = list(zip(*two.rows, strict=True))
    rows = []
    for row in one.rows:
        cells: list[Value] = []
        for column in columns:
            total = ZERO
            for x, y in zip(row, column, strict=True):
                total += form_of(x) * form_of(y)
            cells.append(Scalar(total))
        rows.append(tuple(cells))
    return Matrix(tuple(rows))


def matrix_power(matrix: Matrix, exponent: int | None) -> Matrix:
    """A square matrix to a small positive power.

    Raises:
        Unreadable: another power.
    """
    if exponent is None or not 1 <= exponent <= _HIGHEST_POWER:
        raise Unreadable("such a power of a matrix")
    result = matrix
    for _ in range(exponent - 1):
        result = _matrix_product(result, matrix)
    return result
