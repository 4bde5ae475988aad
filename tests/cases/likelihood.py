"""Likelihood: pairs of context and continuation, scores of options, log-probabilities that a server gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from probatum.core.records import Item, Response
from probatum.core.status import Status
from probatum.models.pairs import check_prompt_logprobs, encode_pair, sum_logprobs
from probatum.prompting.joining import join_answer, move_blanks
from probatum.scoring.options import LABELS, Normalisation, OptionLikelihood
from tests.cases.frame import Given, NotMappedError, Said, operation, refusal


def longest_match(vocabulary: Mapping[str, int]) -> Any:
    names = sorted(vocabulary, key=len, reverse=True)

    def encode(text: str) -> list[int]:
        tokens = []
        while text:
            name = next((name for name in names if text.startswith(name)), None)
            if name is None:
                raise NotMappedError(f"the vocabulary has no token for {text!r}")
            tokens.append(vocabulary[name])
            text = text[len(name) :]
        return tokens

    return encode


@operation("encode_pair")
def pair(given: Given) -> Any:
    if given.get("tokenizer", "longest match") != "longest match":
        raise NotMappedError(f"the tokenizer {given['tokenizer']!r}")
    encode = longest_match(given["vocab"])

    def encoded() -> dict[str, Any]:
        found = encode_pair(encode, given["context"], given["continuation"])
        return {"context_ids": found.context, "continuation_ids": found.continuation, "flag": found.flag}

    return refusal(encoded)


@operation("build_pair")
def build_pair(given: Given) -> dict[str, str]:
    context, continuation = move_blanks(given["context"], given["continuation"])
    return {"context": context, "continuation": continuation}


@operation("join", "render_mc")
def join(given: Given) -> str:
    before, after = ("assistant_prefix", "option") if "option" in given else ("prompt", "answer")
    delimiter = {"delimiter": given["target_delimiter"]} if "target_delimiter" in given else {}
    return join_answer(given[before], given[after], **delimiter)


@operation("score_continuation")
def score_continuation(given: Given) -> float:
    """A model that is a table of "next|all before" → log-probability."""
    table = given["cond_logprob"]

    def logprob(seen: tuple[int, ...], token: int) -> float:
        return float(table.get(f"{token}|{','.join(map(str, seen))}", table["other"]))

    return sum_logprobs(logprob, given["context_ids"], given["continuation_ids"])


def graded(
    logprobs: Sequence[float | Sequence[float] | None],
    texts: Sequence[str],
    primary: Normalisation,
    gold: int | Sequence[int] = 0,
    apart: Sequence[float] | None = None,
) -> Any:
    """What the scorer of runs makes of the options' log-probabilities, one response an option."""
    every = [*logprobs, *(apart or ())]
    golds = (gold,) if isinstance(gold, int) else gold
    responses = [
        Response(
            request="r",
            logprobs=None if each is None else tuple(each) if isinstance(each, Sequence) else (float(each),),
        )
        for each in every
    ]
    scorer = OptionLikelihood(primary=primary, unconditional=apart is not None)
    item = Item(id="q", fields={}, choices=tuple(texts), targets=tuple(LABELS[each] for each in golds))
    return scorer.grade(item, 0, responses)


def winner(outcome: Any) -> Any:
    """The place of the likeliest option; several where they tie."""
    if outcome.status is not Status.SCORED:
        return Said("error", outcome.reason)
    places = [LABELS.index(label) for label in outcome.answer.split(",")]
    return places[0] if len(places) == 1 else places


def texts_of(given: Given, count: int) -> list[str]:
    """The options, or different texts of the given lengths."""
    if "options" in given:
        return list(given["options"])
    lengths = given["lengths"] if "lengths" in given else [1] * count
    return [LABELS[place] * length for place, length in enumerate(lengths)]


@operation("mc_score")
def mc_score(given: Given) -> Any:
    logprobs = given["logprobs"]
    outcome = graded(logprobs, texts_of(given, len(logprobs)), "sum", given["gold"])
    if outcome.status is not Status.SCORED:
        return Said("error", outcome.reason)
    return {"acc": outcome.scores["correct"], "tie": "," in outcome.answer, "pred": winner(outcome)}


@operation("mc_norm")
def mc_norm(given: Given) -> Any:
    logprobs = given["logprobs"]
    texts = texts_of(given, len(logprobs))
    apart = given.get("unconditional")
    names: dict[str, Normalisation] = {
        "raw": "sum",
        "sum": "sum",
        "per_char": "per_character",
        "per_byte": "per_byte",
    }
    names |= {
        "normalised": "per_character",
        "acc": "sum",
        "acc_norm": "per_character",
        "per_character": "per_character",
    }
    if apart is not None:
        names["pmi"] = "pmi"
    if isinstance(logprobs[0], Sequence):
        names["per_token"] = "per_token"
    found = {name: winner(graded(logprobs, texts, kind, apart=apart)) for name, kind in names.items()}
    return next((each for each in found.values() if isinstance(each, Said)), found)


@operation("mc_prob", "mc_probability")
def mc_prob(given: Given) -> Any:
    logprobs = given["logprobs"]
    outcome = graded(logprobs, texts_of(given, len(logprobs)), "sum", given["gold"])
    if outcome.status is not Status.SCORED:
        return Said("error", outcome.reason)
    return outcome.scores["probability"]


@operation("mc_pmi")
def mc_pmi(given: Given) -> Any:
    """Log-likelihoods with and without the question."""
    logprobs, apart = given["logprobs"], given["unconditional"]
    if len(logprobs) != len(apart):
        return Said("error", f"{len(apart)} unconditional log-likelihoods for {len(logprobs)} options")
    return winner(graded(logprobs, texts_of(given, len(logprobs)), "pmi", apart=apart))


@operation("mc_norm_tokens")
def mc_norm_tokens(given: Given) -> Any:
    """One response an option carries its token log-probabilities; fewer of them are no scores."""
    logprobs = given["logprobs"]
    lists = [(each,) for each in logprobs[: given["n_token_lists"]]]
    return winner(graded(lists, texts_of(given, len(logprobs)), "per_token"))


@operation("check_prompt_logprobs")
def prompt_logprobs(given: Given) -> Any:
    return refusal(lambda: check_prompt_logprobs(given["prompt_tokens"], given["returned"]) or Said("ok"))
