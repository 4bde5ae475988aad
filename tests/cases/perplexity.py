"""Perplexity: units, the first token, windows, documents that are cut or empty."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from probatum import stats
from probatum.core.records import Rolling, Scoring
from probatum.models.likelihood import NotScorableError, plan
from tests.cases.frame import Given, NotMappedError, Said, agree, operation
from tests.cases.statistics import refused


@operation("bpb")
def bpb(given: Given) -> Any:
    count = given["bytes"] if "bytes" in given else len(given["text"].encode())
    return refused(lambda: stats.bits_per_byte(-given["sum_logprob_nats"], count))


def identities_hold(ours: dict[str, Any], expected: Any) -> bool:
    names = {name: value for name, value in expected.items() if name != "identity"}
    return agree(ours, names) and math.isclose(2 ** ours["bpb"], ours["byte_ppl"], rel_tol=1e-12)


@operation("ppl_identity", agrees=identities_hold)
def ppl_identity(given: Given) -> dict[str, Any]:
    loss, octets = -given["sum_logprob_nats"], given["bytes"]
    found = stats.corpus_perplexity([loss], [given.get("tokens", octets)], [octets])
    return {
        "bpb": found.bits_per_byte,
        "byte_ppl": found.byte_perplexity,
        "token_ppl": found.value,
        "ppl": found.value,
    }


@operation("bpb_bpc")
def bpb_bpc(given: Given) -> dict[str, Any]:
    text, loss = given["text"], -given["sum_logprob_nats"]
    octets = len(text.encode())
    by_character = stats.corpus_perplexity([loss], [len(text)], [octets])
    assert by_character.nll_per_unit is not None
    return {
        "chars": len(text),
        "bytes": octets,
        "bpb": by_character.bits_per_byte,
        "bpc": by_character.nll_per_unit / math.log(2),
    }


class Vocabulary:
    """Characters as tokens, with the special tokens of a case."""

    def __init__(self, begin: int | None = None, end: int | None = None, *, adds: bool = False) -> None:
        self.begin, self.end = begin, end
        self.opening = (begin,) if adds and begin is not None else ()

    def encode(self, text: str) -> list[int]:
        return [1000 + ord(letter) for letter in text]

    def bytes_before(self, text: str, tokens: list[int], count: int) -> int:
        assert len(tokens) >= len(text)
        return len(text[:count].encode())


@operation("prefix_token")
def prefix_token(given: Given) -> list[Any]:
    """What the first token of a text is scored after."""

    def first(bos: int | None, eos: int | None) -> Any:
        try:
            found = plan("", "text", Scoring(), Vocabulary(bos, eos), 100)
        except NotScorableError as error:
            return Said("error", error.reason)
        return found.stretches[0].seen[0]

    return [first(case["bos"], case["eos"]) for case in given["cases"]]


def windows_agree(ours: dict[str, Any], expected: Any) -> bool:
    explicit = expected.get("bos_in_every_window", "explicit option")
    rest = {name: value for name, value in expected.items() if name != "bos_in_every_window"}
    if explicit != "explicit option":
        raise NotMappedError(f"the beginning token is {explicit!r}")
    return agree(ours, rest) and ours["with_begin"] == ours["windows"] and ours["with_begin_by_default"] == 1


@operation("rolling_windows", agrees=windows_agree)
def rolling_windows(given: Given) -> dict[str, Any]:
    """Windows over a text of so many tokens, without and with the beginning token in each."""
    count, window, begin = given["n_tokens"], given["max_len"], 1
    text = "".join(chr(0x4E00 + place) for place in range(count))

    def rolled(*, each: bool) -> Any:
        rolling = Rolling(window=window, stride=given.get("stride"), begin_each=each)
        return plan("", text, Scoring(rolling=rolling), Vocabulary(begin), window)

    plain, every = rolled(each=False), rolled(each=True)
    scored = Counter(token for stretch in plain.stretches for token in stretch.scored)
    return {
        "scored": scored.total(),
        "each_once": set(scored.values()) == {1} and len(scored) == count,
        "windows": len(every.stretches),
        "with_begin": sum(stretch.seen[:1] == (begin,) for stretch in every.stretches),
        "with_begin_by_default": sum(stretch.seen[:1] == (begin,) for stretch in plain.stretches),
    }


@operation("doc_ppl")
def doc_ppl(given: Given) -> dict[str, Any]:
    """A document of which only the last tokens fit: the loss is divided by what was scored."""
    tokens, room = given["doc_tokens"], given["max_len"]
    name = next((name for name in given if name.startswith("sum_logprob")), None)
    if name is None:
        raise NotMappedError("no loss is given")
    scored = min(tokens, room)
    found = stats.corpus_perplexity([-given[name]], [scored], unscored=[tokens - scored])
    flags = [
        f"truncated: {count} tokens unscored" for name, count in found.missing.items() if "cut off" in name
    ]
    return {"nll_per_token": found.nll_per_unit, "ppl": found.value, "flag": "; ".join(flags) or None}


def corpus_agrees(ours: Any, expected: Any) -> bool:
    if isinstance(ours, Said):
        return agree(ours, expected)
    return agree(ours if isinstance(expected, dict) else ours["value"], expected)


@operation("corpus_ppl", agrees=corpus_agrees)
def corpus_ppl(given: Given) -> Any:
    docs = given["docs"]

    def found() -> dict[str, Any]:
        whole = stats.corpus_perplexity([loss for loss, _ in docs], [count for _, count in docs])
        return {"value": whole.value, "skipped": sum(whole.missing.values()), "n": whole.n}

    return refused(found)


@operation("word_ppl", "token_ppl", "byte_ppl", "char_ppl", "word_perplexity", "byte_perplexity")
def unit_ppl(given: Given) -> Any:
    """The loss over the units that the operation names, counted on the raw text or given."""
    unit = given["op"].partition("_")[0]
    counted = {"word": "words", "token": "tokens", "byte": "bytes", "char": "chars"}[unit]
    if counted in given:
        count = given[counted]
    elif unit == "token":
        raise NotMappedError("the tokens are not counted")
    else:
        text = given["text"]
        count = {"word": len(text.split()), "byte": len(text.encode()), "char": len(text)}[unit]
    return refused(lambda: stats.corpus_perplexity([-given["sum_logprob_nats"]], [count]).value)
