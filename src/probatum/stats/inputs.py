"""The one place where arrays from outside are checked: aligned, finite, in range, with the sizes named."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Floats",
    "Integers",
    "Labels",
    "aligned_scores",
    "binary",
    "check_bounds",
    "check_choice",
    "check_level",
    "check_probability",
    "check_size",
    "counts_of",
    "encode",
    "finite",
    "generator",
    "numbers_or_none",
    "picked",
    "positive_weights",
    "prior_of",
    "probabilities",
    "scores_of",
    "sum_by",
    "table_of",
    "whole",
]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_MOST = 2**63 - 1
_LARGEST = 1e150
"""Of a score: its square is still a number."""
Labels = Sequence[Any] | npt.NDArray[Any]
"""One hashable label an observation."""


def finite(value: object, name: str, *, minimum: float | None = None) -> float:
    """One finite number, that is at least `minimum`."""
    if isinstance(value, str | bytes):
        raise ValueError(f"{name} must be a number, not {_shown(value)}")  # noqa: TRY004 - misuse is ValueError here
    try:
        number = float(value)  # type: ignore[arg-type]  # refused below
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a number, not {_shown(value)}") from None
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, not {number!r}")
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {minimum:g}, not {number!r}")
    return number


def _shown(value: object) -> str:
    """A value for a message of one line, however long it is."""
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python prints
        return f"an integer of {value.bit_length()} bits" if isinstance(value, int) else "a value"
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:60]}…"  # noqa: PLR2004 - a line


def check_level(level: float) -> float:
    """A confidence level, in (0, 1)."""
    value = finite(level, "level")
    if not 0 < value < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level!r}")
    return value


def check_probability(value: float, name: str) -> float:
    """A probability, in [0, 1]."""
    number = finite(value, name)
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must lie in [0, 1], not {value!r}")
    return number


def check_choice(value: str, choices: Iterable[str], name: str) -> str:
    """One of a closed set of names."""
    known = tuple(choices)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def check_bounds(bounds: tuple[float, float]) -> tuple[float, float]:
    """The range that scores can take: low < high, finite."""
    try:
        low, high = (finite(bound, "a bound") for bound in bounds)
    except (TypeError, ValueError, OverflowError):
        low = high = 0.0
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(f"bounds must be two finite numbers in ascending order, not {bounds!r}")
    return low, high


def whole(value: object, name: str, *, minimum: int = 0) -> int:
    """An integer that is at least `minimum`; booleans and fractions are refused."""
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be an integer, not {value!r}")  # noqa: TRY004 - misuse is ValueError here
    try:
        number = operator.index(value)  # type: ignore[arg-type]  # refused below
    except TypeError:
        raise ValueError(f"{name} must be an integer, not {_shown(value)}") from None
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {_shown(number)}")
    if number > _MOST:
        raise ValueError(f"{name} must be below 2^63, not {_shown(number)}")
    return number


def check_size(values: Sequence[Any] | npt.NDArray[Any], n: int, name: str, against: str = "scores") -> None:
    """As many values as there are observations."""
    try:
        size = len(values)
    except TypeError:
        raise ValueError(f"{name} must be a sequence of {n}, not {_shown(values)}") from None
    if size != n:
        raise ValueError(f"{size} {name} do not match {n} {against}; give one for each")


def scores_of(values: npt.ArrayLike, name: str = "scores", *, empty: bool = False) -> Floats:
    """A one-dimensional array of finite numbers, of shape (n,).

    Raises:
        ValueError: nothing is there, a value is missing or not finite, or the shape is another.
    """
    array = numbers_or_none(values)
    if array is None:
        raise ValueError(f"{name} must be numbers; leave out what is missing and count it apart")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not shape {array.shape}")
    if array.size == 0 and not empty:
        raise ValueError(f"{name} are empty: 0 values")
    if not np.isfinite(array).all():
        bad = int(np.count_nonzero(~np.isfinite(array)))
        raise ValueError(
            f"{bad} of {array.size} {name} are not finite; leave out what is missing and count it apart"
        )
    if array.size and float(np.abs(array).max()) > _LARGEST:
        raise ValueError(f"{name} must be at most {_LARGEST:g} in size, not {float(np.abs(array).max()):g}")
    return array


def numbers_or_none(values: object) -> Floats | None:
    """An array of floats; `None` where something is a text or a date, which numpy would read as numbers."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biufO":
            return None
        listed = values.ravel().tolist() if values.dtype.kind == "O" else []
    else:
        listed = list(values) if isinstance(values, list | tuple) else []
    if any(isinstance(each, str | bytes) for each in listed):
        return None
    try:
        plain = np.asarray(values)
        return None if plain.dtype.kind in "USMmc" else np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None


def aligned_scores(
    a: npt.ArrayLike, b: npt.ArrayLike, names: tuple[str, str] = ("a", "b")
) -> tuple[Floats, Floats]:
    """Two arrays of scores of the same length, one entry an item in the same order."""
    first, second = (scores_of(values, name, empty=True) for values, name in zip((a, b), names, strict=True))
    if len(first) != len(second) or not len(first):
        raise ValueError(
            f"{names[0]} and {names[1]} must be aligned and not empty: {len(first)} and {len(second)} values"
        )
    return first, second


def probabilities(values: npt.ArrayLike, name: str = "probabilities") -> Floats:
    """Finite probabilities in [0, 1], of shape (n,)."""
    array = scores_of(values, name)
    if array.min() < 0 or array.max() > 1:
        outside = array[(array < 0) | (array > 1)]
        raise ValueError(f"{name} must lie in [0, 1]: {outside.size} do not, e.g. {float(outside[0])!r}")
    return array


def binary(values: npt.ArrayLike, name: str = "labels") -> Floats:
    """Labels that are 0 or 1 (or booleans), of shape (n,)."""
    array = scores_of(values, name)
    odd = array[(array != 0) & (array != 1)]
    if odd.size:
        raise ValueError(f"{name} must be 0 or 1: {odd.size} are not, e.g. {float(odd[0])!r}")
    return array


def positive_weights(values: npt.ArrayLike | None, n: int, name: str = "weights") -> Floats | None:
    """Weights ≥ 0 with a positive sum, of shape (n,), or `None`."""
    if values is None:
        return None
    array = scores_of(values, name)
    check_size(array, n, name)
    if array.min() < 0 or array.sum() <= 0:
        raise ValueError(f"{name} must not be negative and must not all be 0")
    return array


def generator(seed: object) -> np.random.Generator:
    """The random numbers of a seed, which is a whole number."""
    return np.random.default_rng(whole(seed, "seed"))


def prior_of(prior: Sequence[float]) -> tuple[float, float]:
    """The two positive parameters of a beta prior."""
    try:
        a, b = (finite(number, "prior") for number in prior)
    except (TypeError, ValueError, OverflowError):
        a = b = np.nan
    if not (0 < a < np.inf and 0 < b < np.inf):
        raise ValueError(f"prior must be two positive numbers, not {_shown(prior)}")
    return a, b


def table_of(values: object, name: str, shape: str = "(rows, columns)") -> Floats:
    """A two-dimensional array of finite numbers that is not empty."""
    array = numbers_or_none(values)
    if array is None:
        raise ValueError(f"{name} must be numbers of the shape {shape}; rows of one length, nothing missing")
    if array.ndim != 2 or not array.size:  # noqa: PLR2004 - a table
        raise ValueError(f"{name} must have the shape {shape} and not be empty, not {array.shape}")
    if not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).sum())
        raise ValueError(f"{bad} of {array.size} numbers of {name} are not finite; leave out what is missing")
    return array


def counts_of(values: npt.ArrayLike, name: str, *, negative: bool = False) -> Integers:
    """Whole numbers ≥ 0 (or any, with `negative`), of any shape."""
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{name} must be whole numbers in rows of one length") from None
    if array.dtype.kind == "f" and np.isfinite(array).all() and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers, not {_shown(values)}")
    if array.size and array.min() < 0 and not negative:
        raise ValueError(f"{name} must not be negative: {int(array.min())}")
    return array.astype(np.int64, copy=False)


def encode(labels: Labels, n: int, name: str) -> tuple[Integers, int]:
    """Labels as codes 0 … k-1 of shape (n,), and k.

    A missing label (`None` or NaN) is an error: any silent choice would move the number.
    """
    check_size(labels, n, name)
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iubUS" and labels.ndim == 1:
        values, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.int64, copy=False), len(values)
    if isinstance(labels, Mapping):
        raise ValueError(f"{name} must be a sequence in the order of the scores, not a mapping")  # noqa: TRY004 - misuse is ValueError here
    known: dict[Hashable, int] = {}
    listed = labels.tolist() if isinstance(labels, np.ndarray) else labels
    try:
        codes = np.fromiter((known.setdefault(label, len(known)) for label in listed), np.int64, count=n)
    except TypeError:
        raise ValueError(f"{name} must be hashable labels, one for each, not {_shown(labels)}") from None
    absent = [known[label] for label in known if label is None or label != label]  # noqa: PLR0124 - NaN
    if absent:
        count = int(np.isin(codes, absent).sum())
        raise ValueError(f"{count} of {n} observations have no label in {name}; give every one a label")
    return codes, len(known)


def picked(labels: Labels | None, kept: npt.NDArray[np.int64]) -> list[Any] | None:
    """The labels at these positions, whatever the kind of sequence."""
    if labels is None:
        return None
    listed = list(labels)
    return [listed[i] for i in kept.tolist()]


def sum_by(codes: Integers, values: Floats, count: int) -> Floats:
    """Σ of the values of each code 0 … count-1, of shape (count,)."""
    return np.asarray(np.bincount(codes, values, minlength=count), dtype=np.float64)
