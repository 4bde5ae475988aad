"""The options of a question: labels with their texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from probatum.core.errors import UsageError
from probatum.extraction.characters import fold
from probatum.extraction.numbers import parse_number

__all__ = ["Choices", "Options", "default_labels", "label_key", "text_key", "unique_texts", "unique_values"]

Options = str | Sequence[str] | Mapping[str, str]
"""Labels as one string ("ABCD"), the options' texts (labelled A, B, C, …), or label → text."""


def default_labels(count: int) -> tuple[str, ...]:
    """Letters A … Z, then AA, AB, … as labels of so many options.

    >>> default_labels(28)[-3:]
    ('Z', 'AA', 'AB')
    """
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    pairs = (first + second for first in alphabet for second in alphabet)
    return tuple(alphabet[:count]) + tuple(next(pairs) for _ in range(count - len(alphabet)))


@dataclass(frozen=True, slots=True)
class Choices:
    """Labels with their texts, as they are searched for."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    """One for each label; empty where only the label is known."""

    @classmethod
    def of(cls, options: Options) -> Choices:
        """From what the caller has.

        Raises:
            UsageError: no option, an empty label, or two labels that differ in case or width alone.
        """
        if isinstance(options, str):
            return _choices(tuple(options), ("",) * len(options))
        if isinstance(options, Mapping):
            return _choices(tuple(options), tuple(options.values()))
        return _choices(default_labels(len(options)), tuple(options))


@lru_cache(maxsize=4096)
def _choices(labels: tuple[str, ...], texts: tuple[str, ...]) -> Choices:
    """Checked once, however many answers are read by them."""
    keys = [label_key(label) for label in labels]
    if not labels or not all(keys) or len(set(keys)) != len(keys):
        raise UsageError(
            f"options with labels {labels!r}: give at least one, none empty, no two that differ in case only"
        )
    return Choices(labels, texts)


def label_key(label: str) -> str:
    """A label without its case and width: what makes two labels one."""
    return fold(label).strip().casefold()


def unique_texts(choices: Choices) -> dict[str, str]:
    """Normalised text → label, for texts that name one option only."""
    keys = [text_key(text) for text in choices.texts]
    return {
        key: label for key, label in zip(keys, choices.labels, strict=True) if key and keys.count(key) == 1
    }


def unique_values(choices: Choices) -> dict[Fraction, str]:
    """Value → label, where every text is a number and no two are equal: `42.0` names the option `42`."""
    values = [parse_number(text) for text in choices.texts if text]
    if len(values) < len(choices.texts) or None in values or len(set(values)) < len(values):
        return {}
    return {value: label for value, label in zip(values, choices.labels, strict=True) if value is not None}


def text_key(text: str) -> str:
    """An option's text without case, width, blanks and what decorates its ends."""
    return " ".join(fold(text).casefold().split()).strip(" .,;:!?。，；：！？\"'“”‘’()[]{}$*_`")
