"""The tokenizer of a model directory, as `probatum.models.likelihood` asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

__all__ = ["HFVocabulary"]

CUT: Final = re.compile(r"(?<=\n)(?=[0-9A-Za-z\u3400-\u9fff])")
"""Places at which a text may fall into lines, if no token spans them."""

SENTINEL: Final = "a"
"""Stands behind a line where more follows: some tokenizers look one character ahead."""

PROBES: Final = (
    "A\nB",
    "The cat sat.\nA. one\nB. 2\n\nQ: why?\n\n\n3\n4 5\n",
    "  x\n  \ny \t\n0\r\nz",
    "中文\n问题：\n答案\n\n甲 \n乙",
    'def f(x):\n    return x\n\n\nprint(f("a"))\n',
    "<s>\nfoo</s>\n\nbar",
)

BYTE: Final = re.compile(r"<0x([0-9A-Fa-f]{2})>")

RECENT: Final = 8
"""Texts that are remembered whole: the options of a question follow each other."""

LINES: Final = 1 << 12
"""Lines that are remembered, of 1 kB each: those of the shots come again, those of a question do not."""

BYTE_LEVEL_SPACES: Final = "ĠĊĉč▁"
"""How vocabularies write white space; they count as letters elsewhere."""


class HFVocabulary:
    """Text to tokens, whole or line by line.

    A benchmark's prompts repeat their lines many times over. Where no token of the vocabulary spans a line
    break and the letter after it, the tokens of a text are those of its lines: then each distinct line is
    tokenised once. That it holds is read from the vocabulary and tried on examples; where it does not, a
    text is tokenised as a whole.
    """

    def __init__(self, tokenizer: Any, *, special: bool) -> None:
        """`special`: whether names of special tokens in a text are read as such."""
        self.tokenizer = tokenizer
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        self._special = special
        if self._backend is not None:
            self._backend.no_padding()
            self._backend.no_truncation()
        self.begin: int | None = tokenizer.bos_token_id
        self.end: int | None = tokenizer.eos_token_id
        self.opening = self._read_opening()
        self._lines: dict[str, list[int]] = {}
        self._recent: dict[str, list[int]] = {}
        self._after = self._whole(SENTINEL)
        self.by_line = self._backend is not None and self._falls_into_lines()

    def encode(self, text: str) -> list[int]:
        """Tokens of a text, none added.

        Raises:
            UnicodeEncodeError: the text holds half of a surrogate pair.
        """
        if text in self._recent:
            return self._recent[text]
        if len(self._recent) >= RECENT:
            self._recent.clear()
        self._recent[text] = found = self._tokens(text)
        return found

    def _tokens(self, text: str) -> list[int]:
        if not self.by_line:
            text.encode()
            return self._whole(text)
        *lines, last = CUT.split(text)
        found: list[int] = []
        for line in lines:
            found += self._line(line, more=True)
        return found + self._line(last, more=False)

    def bytes_before(self, text: str, tokens: Sequence[int], count: int) -> int:
        """UTF-8 bytes of `text` before its token number `count`.

        A character whose bytes are several tokens counts whole for the first of them.
        """
        own = self._whole(text)
        skipped = len(tokens) - len(own)  # beginning tokens that are no part of the text
        place = count - skipped
        if place <= 0:
            return 0
        if self._backend is None:
            return len(self.tokenizer.decode(own[:place], clean_up_tokenization_spaces=False).encode())
        offsets = self._backend.encode(text, add_special_tokens=False).offsets
        end = offsets[place - 1][1]
        return len(text[: min(end, offsets[place][0]) if place < len(offsets) else end].encode())

    def text(self, tokens: Sequence[int]) -> str:
        """What tokens stand for, special ones left out."""
        decoded = self.tokenizer.decode(
            list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        return str(decoded)

    def pieces(self) -> Callable[[int], bytes]:
        """Token → the bytes that it stands for, none for a special one."""
        special = set(self.tokenizer.all_special_ids)
        read = _reader(self._backend)
        known: dict[int, bytes] = {}

        def piece(token: int) -> bytes:
            if token not in known:
                written = self.tokenizer.convert_ids_to_tokens(token)
                known[token] = b"" if token in special or written is None else read(written)
            return known[token]

        return piece

    def named(self, token: int | None) -> str:
        """How the tokenizer writes a special token."""
        return "" if token is None else str(self.tokenizer.convert_ids_to_tokens(token) or "")

    # ── within ──────────────────────────────────────────────────────────────────────────────────

    def _whole(self, text: str) -> list[int]:
        if self._backend is not None:
            self._backend.encode_special_tokens = not self._special  # transformers' own calls reset it
            ids: list[int] = self._backend.encode(text, add_special_tokens=False).ids
            return ids
        return list(
            self.tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not self._special)
        )

    def _line(self, line: str, *, more: bool) -> list[int]:
        key = line + SENTINEL if more else line
        found = self._lines.get(key)
        if found is None:
            line.encode()
            found = self._whole(key)
            if more:
                found = found[: len(found) - len(self._after)]
            if len(self._lines) >= LINES:
                self._lines.clear()
            self._lines[key] = found
        return found

    def _read_opening(self) -> tuple[int, ...]:
        """What the tokenizer puts before a text by itself."""
        bare = list(self.tokenizer.encode("a", add_special_tokens=False))
        full = list(self.tokenizer.encode("a", add_special_tokens=True))
        for place in range(len(full) - len(bare) + 1):
            if full[place : place + len(bare)] == bare:
                return tuple(full[:place])
        return ()

    def _falls_into_lines(self) -> bool:
        assert self._backend is not None  # noqa: S101 - for the type checker
        if type(self._backend.model).__name__ not in {"BPE", "Unigram"}:
            return False
        added = self.tokenizer.added_tokens_decoder.values()
        if any(token.lstrip and token.content[:1].isalnum() for token in added):
            return False
        vocabulary: Mapping[str, int] = self._backend.get_vocab(with_added_tokens=True)
        if any(map(_spans_lines, vocabulary)):
            return False
        self.by_line = True
        return all(self._tokens(probe) == self._whole(probe) for probe in PROBES)


def _reader(backend: Any) -> Callable[[str], bytes]:
    """How the vocabulary writes bytes, turned round: GPT-2's letters, or SentencePiece's signs."""
    if backend is not None and "ByteLevel" in str(backend.decoder):
        letters = {letter: byte for byte, letter in _byte_letters().items()}

        def by_letters(written: str) -> bytes:
            if all(letter in letters for letter in written):
                return bytes(letters[letter] for letter in written)
            return written.encode()

        return by_letters

    def by_signs(written: str) -> bytes:
        if (found := BYTE.fullmatch(written)) is not None:
            return bytes([int(found[1], 16)])
        return written.replace("▁", " ").encode()

    return by_signs


def _byte_letters() -> dict[int, str]:
    """GPT-2's letter of each byte: the printable ones are themselves, the others follow from U+0100 on."""
    printable = [
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    ]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(256 + place) for place, byte in enumerate(others)
    }


def _spans_lines(token: str) -> bool:
    for place, character in enumerate(token[:-1]):
        after = token[place + 1]
        if character in "\nĊ" and after.isalnum() and after not in BYTE_LEVEL_SPACES:
            return True
    return False
