"""`random/SEED`: a baseline that guesses.

It sees what any model sees: the prompt, and neither the item nor its answer. Where the prompt's last list of
options reads like one (lines `A. …`, `(B) …`, `C) …`, in order from A), it names one of its letters, each
with the same chance; elsewhere it names a whole number from 0 to 99. The guess follows from the seed, the
request and the sample, so that the same run gives the same guesses in any order.

It cannot guess an option that is asked for by its text, words, or code: there its score is that of a wrong
answer, not of chance.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Identity, Prompted, Request, Response
from probatum.core.seeds import derive_seed
from probatum.models.constant import cut_at_stop
from probatum.models.seam import Capabilities
from probatum.models.settings import read_settings

__all__ = ["RandomModel", "RandomSettings", "listed_letters", "load"]

OPTION: Final = re.compile(r"^[ \t]*[(\[（]?([A-Z])[)\].:：、．）][ \t]*\S", re.MULTILINE)

NUMBERS: Final = 100  # guesses are below it

RULE: Final = "1"
"""Counts up when guesses change: part of the identity."""


@dataclass(frozen=True, kw_only=True)
class RandomSettings:
    """Settings of `random/SEED`."""

    line: str = "Answer: {}"
    """What it writes, with `{}` for the guess; after a prompt that ends in a colon, the guess alone."""


def load(name: str, settings: Mapping[str, object]) -> RandomModel:
    """The model `random/SEED`.

    Raises:
        UsageError: the seed is no whole number, or the line has no place for the guess.
    """
    chosen = read_settings("random", settings, RandomSettings)
    try:
        seed = int(name)
    except ValueError:
        raise UsageError(
            f"'random/{name}': {name!r} is no seed: give a whole number, such as 'random/1'"
        ) from None
    if "{}" not in chosen.line:
        raise UsageError(
            f"setting line={chosen.line!r} of provider 'random' has no place for the guess: write {{}}"
        )
    return RandomModel(seed, chosen.line)


def listed_letters(text: str) -> tuple[str, ...]:
    """Letters of the last list of options in `text`: from A on, in order, at least two; else none."""
    best: tuple[str, ...] = ()
    run: list[str] = []
    for letter in OPTION.findall(text):
        if run and ord(letter) == ord(run[-1]) + 1:
            run.append(letter)
        else:
            run = [letter] if letter == "A" else []
        if len(run) > 1:
            best = tuple(run)
    return best


@dataclass(frozen=True)
class RandomModel:
    """Guesses."""

    seed: int
    line: str = "Answer: {}"

    @property
    def identity(self) -> Identity:
        """The seed, the line and the rule by which it guesses."""
        return Identity(provider="random", name=str(self.seed), revision=RULE, settings={"line": self.line})

    @property
    def capabilities(self) -> Capabilities:
        """Texts and messages alike."""
        return Capabilities(completion=True, chat=True, reproducible=True)

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers each request as it is pulled.

        Raises:
            ModelError: a continuation is to be scored.
        """
        for request in requests:
            if request.continuation is not None:
                raise ModelError("the model 'random' cannot score continuations: choose another model")
            text, stop = cut_at_stop(self._guess(request), request.sampling.stop)
            yield Response(request=request.key, text=text, stop=stop)

    def count_tokens(self, prompt: Prompted) -> int | None:
        """It has no tokens."""
        del prompt
        return None

    def close(self) -> None:
        """Nothing to give back."""

    def _guess(self, request: Request) -> str:
        prompt = request.prompt
        asked = prompt if isinstance(prompt, str) else prompt[-1].content if prompt else ""
        draw = random.Random(derive_seed(self.seed, request.key))  # noqa: S311 - a guess, and one to repeat
        letters = listed_letters(asked)
        guess = draw.choice(letters) if letters else str(draw.randrange(NUMBERS))
        return f" {guess}" if asked.rstrip().endswith((":", "：")) else self.line.replace("{}", guess)
