"""SQuAD's two scores, by the rules of its official script.

Rajpurkar et al. 2016, arXiv:1606.05250, section 6.1; Rajpurkar et al. 2018, arXiv:1806.03822 (no answer).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from probatum.scoring.exact import squad_text

__all__ = ["Tokens", "squad_exact", "token_f1"]

Tokens = Literal["words", "characters", "mixed"]
"""What one token is, see `token_f1`."""

_EAST_ASIAN = re.compile(
    "[\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Han characters, hiragana and katakana: written without blanks between words."""


def squad_exact(prediction: str, targets: Sequence[str]) -> bool:
    """Whether the prediction equals a target after SQuAD's normalisation.

    Other than in `exact_match`, two empty texts are equal: in SQuAD 2.0 they mean "no answer".

    Raises:
        ValueError: there is no target.
    """
    _some(targets)
    return squad_text(prediction) in {squad_text(target) for target in targets}


def token_f1(prediction: str, targets: Sequence[str], tokens: Tokens = "words") -> float:
    """Best F1 over the targets of the tokens that prediction and target share, each as often as in both.

    Where one of the two has no token the score is 1 if the other has none either, else 0. `words` are
    split at white space, so that Chinese text is one word; `characters` leaves white space out, and each
    character is a token; `mixed` takes each Chinese or Japanese character as a token, and what stands
    between them as words.

    >>> token_f1("The cat sat", ["a cat sat down"])
    0.8

    Raises:
        ValueError: there is no target, or `tokens` is none of the three.
    """
    _some(targets)
    if tokens not in get_args(Tokens):
        raise ValueError(f"tokens {tokens!r} is none of {', '.join(map(repr, get_args(Tokens)))}")
    said = _tokens(prediction, tokens)
    return max(_f1(said, _tokens(target, tokens)) for target in targets)


def _some(targets: Sequence[str]) -> None:
    if not targets:
        raise ValueError("there is no target to compare with")


def _tokens(text: str, kind: Tokens) -> Counter[str]:
    normal = squad_text(text)
    if kind == "mixed":
        return Counter(_EAST_ASIAN.sub(r" \g<0> ", normal).split())
    words = normal.split()
    return Counter(words if kind == "words" else "".join(words))


def _f1(said: Counter[str], wanted: Counter[str]) -> float:
    if not said or not wanted:
        return float(said == wanted)
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total())
