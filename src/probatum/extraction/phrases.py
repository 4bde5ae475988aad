"""Phrases in which people name their answer, in the languages that benchmarks are written in."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable
from functools import lru_cache

__all__ = [
    "answer_phrases",
    "corrected",
    "corrections",
    "names_choice",
    "number_phrases",
    "on_condition",
    "renewed",
]

_BLANK = r"[^\S\n]"

_IS = (
    rf"[\s*_`\"”'’]{{0,4}}(?:\b(?:is|are|was|be|equals?|becomes?|seems{_BLANK}to{_BLANK}be"
    rf"|appears{_BLANK}to{_BLANK}be|comes{_BLANK}to)\b|=|:|->|→|⇒)"
)
_OF = (
    rf"(?:{_BLANK}\([^()\n]{{0,60}}\))?"
    rf"(?:{_BLANK}(?:to|for|of|that|from|in|among|here|given|choice|option|which)\b[^.!?\n:=]{{0,80}}?)?"
)
"""`the answer to the second question is`."""

_ENGLISH = (rf"\banswers?\b{_OF}{_IS}",)
_CHOICE = (
    rf"\b(?:choice|option|selection|alternative|response|statement|letter)\b{_OF}{_IS}",
    (
        rf"\b(?:correct|right|true|valid|best|chosen)\s(?:choice|option|alternative|statement|letter)s\b"
        rf"{_OF}{_IS}"
    ),
)

_LEFT = (
    (
        r"\b(?:only|last|remaining)\s(?:remaining |possible |plausible |viable )?"
        r"(?:one|possibility|option|choice|answer|letter)(?: left| remaining)?\sis\b"
    ),
    (
        r"\b(?:leaves|leaving)(?: us)?(?: with)?(?: only| just)?(?: option| choice)?"
        r"(?=[ *_`$(]{1,4}[A-Z0-9][)*_`$]{0,3}(?:[.;!]|,? (?:as|which)\b|\s?(?:\n|$)))"
    ),
)
"""What is left when the others are put aside."""

_NAMED = (
    *_ENGLISH,
    # German, French
    r"\b(?:antwort(?:möglichkeit)?|lösung|ergebnis|option)\b(?: ist| lautet| wäre|:)|\brichtig ist\b",
    r"\b(?:réponse|solution|option|résultat)\b(?: correcte| exacte| finale| juste)?(?: est|\s?:)",
    # Spanish, Portuguese, Italian
    (
        r"\b(?:respuesta|opción|solución|resultado|resposta|alternativa|opção|solução"
        r"|risposta|opzione|soluzione)\b"
        r"(?: correct[ao]s?| corret[ao]| certa| final[e]?| giusta| esatta)?(?: es| é| è|\s?:)"
    ),
    # Russian, Ukrainian, Polish, Dutch, Turkish, Indonesian, Vietnamese, Swahili
    r"(?:ответ|вариант|відповідь|варіант)(?:\s?[:—–-]|\s(?:это|це|є)\b)",
    r"\b(?:odpowied[źz]|odpowiedzią)\b(?: to| jest|:)|\bantwoord\b(?: is|:)|\bcevap\b\s?:|\bcevabı\b",
    (
        r"\bjawaban(?:nya)?\b(?: yang benar)?(?: adalah|:)|(?:đáp án|câu trả lời)(?: đúng)?(?: là|:)"
        r"|\bjibu\b(?: ni|:)"
    ),
    # Swedish, Danish, Norwegian, Finnish, Czech, Croatian, Romanian, Hungarian, Greek, Hebrew, Persian
    r"\b(?:svar(?:et)? (?:är|er)|vastaus on|odpověď (?:je|zní)|odgovor je|răspuns(?:ul)?(?: corect)? este)\b",
    r"\b(?:helyes )?válasz(?: a| az)?(?:\s?:)?(?= [\W\d_]{0,3}[^\W_]{1,2}\b)|\bαπάντηση είναι(?: η| το)?\b",
    r"התשובה(?: הנכונה)?(?: היא)|پاسخ(?: صحیح| درست)?(?: گزینه| برابر است با|:)",
    # Chinese, Japanese, Korean
    (
        r"(?:答案|选项|選項|结果|結果|结论|得数)(?:应该|应当|应|應該|就|便|只能|显然|分别)?"
        r"(?:是|为|為|選择|选|選|：|:|=)"
    ),
    r"(?:答え|正解|正答|解答|回答)(?:は|：|:)|(?:정답|답)(?:은|는|:)",
    # Arabic, Hindi, Bengali, Thai
    r"(?:الإجابة|الجواب)(?: الصحيحة| الصحيح)?(?: هي| هو|:)|उत्तर(?: है|:)|উত্তর(?: হল|:)|คำตอบ(?:คือ| คือ|:)",
    r"\\text\{(?:the )?(?:final )?answer(?: is)?:?\s?\}|####|</?(?:final_)?answer>",
    r"[\"'](?:final|correct|best|chosen|selected)?_?(?:answer|choice|option|letter|label)[\"']\s?:",
)

_CHOSEN = (
    (
        r"\b(?:I|we)(?:['’](?:d|ll|m|ve))?(?: would| will| am| have| can| must| shall"
        r"| think it['’]?s| believe it['’]?s)?(?: \w{1,12}ly)?(?: to)? "
        r"(?:choose|chose|pick|picked|select|selected|go with|going with|went with|opt for|choosing|picking"
        r"|selecting|settle on|vote for|conclude|answer|say|think it is|believe it is)\b"
    ),
    r"\b(?:must|should|would|has to) be(?= \(?[A-Z0-9]{1,2}\)?(?:[.;!]|\s*(?:\n|$)))",
    (
        r"\b(?:therefore|thus|hence|so),?(?: it(?:['’]s| is| must be))?:?"
        r"(?=[ *_`$(]{1,6}[A-Z0-9]{1,2}[)*_`$]{0,4}(?:[.;!]|\s?(?:\n|$)))"
    ),
    r"\b(?:choose|select|pick|option) (?=\(?[A-Z0-9]\)?[.!]?\s{0,3}$)",
    r"(?:选择|選擇|选|選)(?![项項])(?:的是)?(?:：|:)?",
    r"\b(?:je choisis|ich wähle|elijo|escolho|scelgo)\b",
)
_REFUSED = re.compile(r"(?:不能|不应|不該|不该|不会|不可|不|勿|别|非|未|没|误|排除|错)(?:应|能|该)?$")
"""Before 选: the option is ruled out."""


@lru_cache(maxsize=1)
def _numbers() -> re.Pattern[str]:
    return _alternatives(*_NAMED)


def _alternatives(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in patterns), re.IGNORECASE)


@lru_cache(maxsize=2)
def _choices(strong: bool) -> re.Pattern[str]:
    return _alternatives(*_NAMED) if strong else _alternatives(*_CHOICE, *_CHOSEN, *_LEFT)


_ANSWER = (
    (
        r"\b(?:final |correct |right |short )?answer(?: to the question| here)?[\s*_]{0,4}(?:\bis\b|:|=)"
        r"(?:\s?that\b)?:?"
    ),
    (
        r"\b(?:antwort|lösung)\b(?: ist| lautet|:)|\bréponse\b(?: est|\s?:)"
        r"|\b(?:respuesta|resposta|risposta)\b(?: es| é| è|:)"
    ),
    (
        r"ответ\s?[:—–-]|(?:答案|正确答案)(?:应该|应当|应|就)?(?:是|为|為|：|:)|(?:答え|正解|正答)(?:は|：|:)"
        r"|정답(?:은|:)"
    ),
)


@lru_cache(maxsize=1)
def _answers() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{each})" for each in _ANSWER), re.IGNORECASE)


_LAST = 1000
"""Phrases looked at, from the end: a text with more of them repeats itself."""


_GAP = re.compile(r"[\s*_`:：]{0,12}")
"""Between a phrase and what it announces: the answer may stand on the next line."""

_DISOWNED = re.compile(
    r"(?:\b(?:wrong|incorrect|false|mistaken|erroneous|tempting|naive|initial|previous|earlier"
    r"|falsche|mauvaise|fausse)\s(?:\w{1,12}\s)?|错误的?|不正确的?"
    r"|\b(?:at first|first|initially|originally),?\s"
    r"|\b(?:first|initially|originally),?\s(?:(?:I|we|one)\s)?(?:thought|believed|guessed|assumed|said|had)\b"
    r"[^.!?\n]{0,30}|\b(?:might|may|could|would|tempt(?:ing|ed) to|people|students?|many|some)"
    r"\s(?:\w{1,12}\s)?(?:think|say|guess|believe|assume|conclude|argue|claim)\b[^.!?\n]{0,30}"
    r"|\b(?:if|suppose|unless|whether|assuming)\s(?:that\s)?(?:the\s)?(?:\w{1,12}\s)?)\Z",
    re.IGNORECASE,
)
"""Before a phrase: what it announces is somebody else's answer, an earlier one, or a wrong one."""

_SUBJECT = (
    r"(?:\b(?:answer|choice|option|solution|result|antwort|lösung|réponse|respuesta|resposta|risposta)\b"
    r"|答案|选项)"
)
_NOT = (
    r"(?:\b(?:not|neither|cannot|nicht|pas|no es|non è|não é)\b|n['’]t\b|不是|并非|不应该?是)"
)  # fmt: skip
_NEGATIONS = (
    "not",
    "Not",
    "NOT",
    "n't",
    "n’t",
    "either",
    "icht",
    " pas",
    "no es",
    "non è",
    "não é",
    "不是",
    "并非",
    "不应",
)
"""Without one of these there is no contrast: a quick look before the slow one."""
_BUT = (
    r"(?:\b(?:but|rather|instead)\b(?:\s(?:is|rather|it is|it['’]s))?"
    r"|[;,–—-]\s?(?:it|that)(?:['’]s|\s(?:is|must be|should be|has to be))"
    r"|而(?:应该?)?是|，\s?(?:应该?)?是|\bsondern\b|\bmais\b(?:\sc['’]est)?|\bsino\b|\bmas\b(?:\ssim)?|\bbensì\b)"
)


@lru_cache(maxsize=1)
def _contrast() -> re.Pattern[str]:
    """`the answer is not A, but`: what follows is the answer."""
    return re.compile(rf"{_SUBJECT}[^.!?。！？\n]{{0,40}}?{_NOT}[^.!?。！？\n]{{1,60}}?{_BUT}", re.IGNORECASE)


def _ends(pattern: re.Pattern[str], folded: str) -> list[int]:
    """Where what the phrases announce may begin, in order."""
    matches = deque(pattern.finditer(folded), _LAST)
    ends = [match.end() for match in matches if not _disowned(folded, match.start())]
    if any(each in folded for each in _NEGATIONS):
        ends += [match.end() for match in deque(_contrast().finditer(folded), _LAST)]
    return sorted({gap.end() if (gap := _GAP.match(folded, end)) else end for end in ends})


def _disowned(folded: str, start: int) -> bool:
    return start > 0 and _DISOWNED.search(folded, max(0, start - 70), start) is not None


def answer_phrases(folded: str) -> list[int]:
    """Where a short answer may stand that a phrase announces."""
    return _ends(_answers(), folded)


def number_phrases(folded: str) -> list[int]:
    """Where a number may stand that a phrase names as the answer."""
    return _ends(_numbers(), folded)


def names_choice(folded: str, *, strong: bool) -> list[int]:
    """Where a choice may stand that a phrase names.

    The strong ones call it the answer; the others choose it, or call it the option.
    """
    if strong:
        return _ends(_choices(strong), folded)
    return [
        match.end()
        for match in deque(_choices(strong).finditer(folded), _LAST)
        if not _disowned(folded, match.start())
        and (
            match[0][0] not in "选選" or not _REFUSED.search(folded, max(0, match.start() - 4), match.start())
        )
    ]


_TAKES_BACK = re.compile(
    r"\b(?:wait(?:,?\s?no)?|actually|correction|scratch that|oops|I mean(?:t)?|mistake|my bad|error|sorry)\b"
    r"|(?:[?,…—–]|\.{3})\s{0,2}no\b"
    r"|更正|不对|不對|错了|等等|等一下|说错",
    re.IGNORECASE,
)
_RENEWS = re.compile(
    r"\b(?:it(?:['’]s| is| should be| must be| has to be| would be)|(?:that|this) should be|make (?:it|that)"
    r"|(?:it|this) should (?:read|say)|correct(?:ed)? (?:value|answer|result|option) is)[\s:]{0,3}"
    r"|(?:应该?是|应为)[\s：:]{0,3}",
    re.IGNORECASE,
)
_DIRECTLY = re.compile(r"[^\w\n]{0,4}")
_NEAR = 120
"""Characters behind the words that take an answer back, in which the other one is announced."""


def corrections(folded: str, start: int) -> list[int]:
    """Where another answer may stand, behind words that take back the one before `start`.

    Directly behind them (`wait, B`), or behind `it should be` a little later.
    """
    found: list[int] = []
    for match in deque(_TAKES_BACK.finditer(folded, start), _LAST):
        directly = _DIRECTLY.match(folded, match.end())
        found.append(directly.end() if directly else match.end())
        found += [each.end() for each in _RENEWS.finditer(folded, match.end(), match.end() + _NEAR)]
    return sorted(set(found))


_STARTS_AGAIN = re.compile(
    r"\b(?:wait|actually|scratch that|oops|I meant|my (?:mistake|bad|error)"
    r"|I (?:misread|miscounted|miscalculated|made an? (?:\w{1,12} )?(?:mistake|error|slip)"
    r"|was (?:wrong|mistaken)))\b"
    r"|(?:^|[\n。！？!?，,…])\s{0,3}(?:不对|不對|错了|等等|等一下|更正)|说错了|我(?:算|看|弄)错",
    re.IGNORECASE,
)
"""The writer's own answer is taken back; an error alone may be that of an option."""
_ON_CONDITION = re.compile(r"[\s)\]*_`$.]{0,4}(?:only )?(?:if|when|unless|provided)\b", re.IGNORECASE)


def renewed(folded: str, start: int, announced: Callable[[], list[int]]) -> list[int]:
    """Those of `announced` behind `start` that come after words that take back the answer before `start`.

    `Answer: B. No wait, I misread. Answer: C` announces C.
    """
    back = _STARTS_AGAIN.search(folded, start)
    return [] if back is None else [each for each in announced() if each > back.end()]


def on_condition(folded: str, end: int) -> bool:
    """Whether what ends there holds under a condition only (`the answer is B only if`)."""
    return _ON_CONDITION.match(folded, end) is not None


_CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|sorry|hmm|mistake|reconsider(?:ing)?|on second thought|recheck"
    r"|re-check|double.check|let me check|however|instead|scratch that|oops|rather|revis(?:e|ed|ing))\b"
    r"|\bno[,.:;]|\bbut (?:the|my|it|now|in fact|really)\b"
    r"|\b(?:that|this|which|it)(?:['’]s|\s(?:is|was)) (?:wrong|incorrect|false|not (?:right|correct|true))\b"
    r"|\b(?:final|finally|therefore|thus|hence|in conclusion|in summary|overall|ultimately)\b"
    r"|更正|不对|不對|等等|重新|其实|其實|错了|修正|最终|最后|因此|所以|综上|故",
    re.IGNORECASE,
)


def corrected(folded: str, start: int, end: int) -> bool:
    """Whether words between two candidates say that the second replaces or concludes the first."""
    return _CORRECTION.search(folded, start, end) is not None
