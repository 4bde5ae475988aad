"""Answers that follow an item's instructions: IFEval has none, and a rule that no text passes is a fault.

The text says nothing; it is put together from the instructions alone, and shows that they can be followed
together, and that their rules let such a text pass.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from typing import Any, Final

from probatum.core.records import Item

__all__ = ["followed"]

SENTENCES: Final[Mapping[str, str]] = {
    "ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق",
    "bg": "Всички хора се раждат свободни и равни по достойнство и права",
    "bn": "সমস্ত মানুষ স্বাধীনভাবে সমান মর্যাদা এবং অধিকার নিয়ে জন্মগ্রহণ করে",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren",
    "en": "the light of the morning sun is on a small garden and birds sing in trees while people walk by",
    "es": "todos los seres humanos nacen libres e iguales en dignidad y derechos y viven con sus hijos",
    "fa": "تمام افراد بشر آزاد به دنیا می‌آیند و از لحاظ حیثیت و حقوق با هم برابرند",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan",
    "fr": "tous les enfants sont libres et ils vont dans le jardin avec un chien pour jouer sous la pluie",
    "gu": "પ્રતિષ્ઠા અને અધિકારોની દૃષ્ટિએ સર્વ માનવો જન્મથી સ્વતંત્ર અને સમાન હોય છે",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti",
    "ja": "すべての人間は自由である",
    "kn": "ಎಲ್ಲಾ ಮಾನವರೂ ಸ್ವತಂತ್ರರಾಗಿಯೇ ಜನಿಸಿದ್ದಾರೆ ಹಾಗೂ ಘನತೆ ಮತ್ತು ಹಕ್ಕುಗಳಲ್ಲಿ ಸಮಾನರಾಗಿದ್ದಾರೆ",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다",
    "ml": "മനുഷ്യരെല്ലാവരും തുല്യാവകാശങ്ങളോടും അന്തസ്സോടും സ്വാതന്ത്ര്യത്തോടുംകൂടി ജനിച്ചിട്ടുള്ളവരാണ്",
    "mr": "सर्व मानवी व्यक्ती जन्मतः स्वतंत्र आहेत व त्यांना समान प्रतिष्ठा व समान अधिकार आहेत",
    "ne": "सबै व्यक्तिहरू जन्मजात स्वतन्त्र हुन् ती सबैको समान अधिकार र महत्व छ",
    "pa": "ਸਾਰਾ ਮਨੁੱਖੀ ਪਰਿਵਾਰ ਆਪਣੀ ਮਹਿਮਾ ਸ਼ਾਨ ਅਤੇ ਹੱਕਾਂ ਦੇ ਪੱਖੋਂ ਜਨਮ ਤੋਂ ਹੀ ਆਜ਼ਾਦ ਹੈ",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах",
    "sw": "Watu wote wamezaliwa huru na hadhi na haki zao ni sawa",
    "ta": "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்",
    "te": "ప్రతిపత్తిస్వత్వముల విషయమున మానవులెల్లరును జన్మతః స్వతంత్రులును సమానులును నగుదురు",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ",
    "ur": "تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền lợi",
    "zh": "人人生而自由在尊严和权利上一律平等",
}
"""A sentence for each language that is asked for, without signs; most are of the Universal Declaration."""
OPTIONS: Final = {"en": "My answer is yes.", "es": "Sí.", "fr": "Oui.", "ja": "はい、そうです。"}
TITLES: Final = {"en": "<<{}>>", "es": "<<{}>>", "fr": "##{}##", "ja": "『{}』"}
QUOTES: Final = {"en": '"{}"', "es": '"{}"', "fr": '"{}"', "ja": "「{}」"}
TRIES: Final = 12
_LEAST: Final = frozenset({"at least", "al menos", "au moins", "以上"})


@dataclass(frozen=True)
class Asked:
    """An item's instructions by kind, and the language that they are written in."""

    language: str
    kinds: Mapping[str, Sequence[Mapping[str, Any]]]
    shift: int = 0
    """Where the words of the filler begin."""

    def shifted(self, shift: int) -> Asked:
        """The same, with other filler."""
        return replace(self, shift=shift)

    @classmethod
    def of(cls, item: Item) -> Asked:
        """Reads an item."""
        kinds: dict[str, list[Mapping[str, Any]]] = {}
        language = "en"
        ids: Any = item.fields["instruction_id_list"]
        arguments: Any = item.fields["kwargs"]
        for identity, given in zip(ids, arguments, strict=True):
            if identity.count(":") == 2:  # noqa: PLR2004 - language:group:kind
                language = identity.partition(":")[0]
            kinds.setdefault(identity.rpartition(":")[2], []).append(given)
        return cls(language, kinds)

    def __contains__(self, kind: str) -> bool:
        return kind in self.kinds

    def values(self, kind: str, name: str) -> list[Any]:
        """That argument of every instruction of that kind."""
        return [given[name] for given in self.kinds.get(kind, ())]

    def least(self, kind: str, name: str, relation: str | None = "relation") -> int:
        """The largest number that must be reached; 0 where there is none."""
        given = self.kinds.get(kind, ())
        bound = [each[name] for each in given if relation is None or each.get(relation, "以上") in _LEAST]
        return max(bound, default=0)

    def most(self, kind: str) -> bool:
        """Whether an upper bound is asked for."""
        return any(
            value not in _LEAST
            for given in self.kinds.get(kind, ())
            for name, value in given.items()
            if name.endswith("relation")
        )


def followed(item: Item, follows: Callable[[str], bool]) -> str:
    """A text that follows every instruction of the item: the first that `follows`, or the last tried.

    Several are tried, since a language detector takes one sentence for another language, and not the next.
    """
    asked = Asked.of(item)
    text = ""
    for shift in range(TRIES):
        text = _composed(asked.shifted(shift))
        if follows(text):
            break
    return text


def _composed(asked: Asked) -> str:
    if "constrained_response" in asked and len(asked.kinds) == 1:
        return OPTIONS[asked.language]
    text = _body(asked)
    if "two_responses" in asked:
        text = f"{text}\n******\n{' '.join(_words(asked)[:1] * 2)} {_filler(asked)}"
    text = _in_case(asked, "\n".join(line for line in [*_head(asked), text, *_tail(asked)] if line))
    if "json_format" in asked:
        text = json.dumps(" ".join(text.split()), ensure_ascii=False)
    if "quotation" not in asked:
        return text
    if "number_bullet_lists" in asked:  # a quotation mark before a bullet would hide it
        text = f"{_words(asked)[0]}\n{text}"
    return QUOTES[asked.language].format(text)


def _in_case(asked: Asked, text: str) -> str:
    if any(kind.endswith("_capital") for kind in asked.kinds):
        return text.upper()
    return text.lower() if any(kind.endswith("_lowercase") for kind in asked.kinds) else text


def _head(asked: Asked) -> Iterable[str]:
    yield from asked.values("repeat_prompt", "prompt_to_repeat")
    if "title" in asked:
        yield TITLES[asked.language].format(_words(asked)[0])
    if "constrained_response" in asked:
        yield OPTIONS[asked.language]


def _tail(asked: Asked) -> Iterable[str]:
    for marker in asked.values("postscript", "postscript_marker"):
        yield f"{marker} {_words(asked)[0]}"
    yield from asked.values("end_checker", "end_phrase")


def _words(asked: Asked) -> list[str]:
    """Words of the asked language that no instruction forbids."""
    if asked.language == "ja" and "response_language" not in asked:
        return [next((text for kind, text in _JAPANESE.items() if kind in asked), "すべて")]
    language = next(iter(asked.values("response_language", "language")), asked.language)
    found = SENTENCES[language.partition("-")[0]].split()
    found = found[asked.shift % len(found) :] + found[: asked.shift % len(found)]
    barred = [word.lower() for words in asked.values("forbidden_words", "forbidden_words") for word in words]
    barred += [word.lower() for word in asked.values("frequency", "keyword")]
    letters = [str(letter).lower() for letter in asked.values("letter_frequency", "letter")]
    kept = [
        word
        for word in found
        if word.lower() not in barred
        and not (asked.most("letter_frequency") and any(letter in word.lower() for letter in letters))
    ]
    return kept or found


def _body(asked: Asked) -> str:
    """The middle of the text: keywords, marks, lists, then as many paragraphs, sentences, words as asked."""
    pieces = [*_marks(asked), *_lists(asked)]
    filler = _filler(asked)
    count = next(iter(asked.values("number_paragraphs", "num_paragraphs")), 1)
    text = "\n".join(piece for piece in [*pieces, filler] if piece)
    if count > 1:
        more = [_words(asked)[0]] * (count - 1)
        return "\n***\n".join([text, *more])
    for given in asked.kinds.get("nth_paragraph_first_word", ()):
        paragraphs = [_words(asked)[0]] * given["num_paragraphs"]
        number = given["nth_paragraph"] - 1
        paragraphs[-1 if number != given["num_paragraphs"] - 1 else 0] = text
        blank = "" if asked.language == "ja" else " "
        paragraphs[number] = given["first_word"] + blank + paragraphs[number]
        return "\n\n".join(paragraphs)
    return text


def _marks(asked: Asked) -> Iterable[str]:
    word = _words(asked)[0]
    yield " ".join(word for words in asked.values("existence", "keywords") for word in words)
    for given in asked.kinds.get("frequency", ()):
        if given["relation"] in _LEAST:
            yield " ".join([given["keyword"]] * given["frequency"])
    for given in asked.kinds.get("letter_frequency", ()):
        if given["let_relation"] in _LEAST:
            yield given["letter"] * given["let_frequency"]
    yield " ".join([f"[{word}]"] * asked.least("number_placeholders", "num_placeholders"))
    marked = f"《{word}》" if asked.language == "ja" else f"*{word}*"
    yield " ".join([marked] * asked.least("number_highlighted_sections", "num_highlights"))
    capital = asked.least("capital_word_frequency", "capital_frequency", "capital_relation")
    yield " ".join([word.upper()] * capital)
    yield from _regional_marks(asked)


def _regional_marks(asked: Asked) -> Iterable[str]:
    """What only Spanish, French and Japanese instructions ask for."""
    if "question_marks" in asked:
        yield "¿qué?"
    if "exclamation_marks" in asked:
        yield "¡eso!"
    for kind, word in (("enie", "niño"), ("dieresis", "pingüino")):
        yield " ".join([word] * asked.least(kind, "let_frequency", None))
    yield " ".join(["así"] * asked.least("tildes", "num_words"))
    if "informal_address" in asked:
        yield "tu es avec ton chien"
    for words in asked.values("accents", "word_to_accentuate"):
        yield " ".join(words.values())
    yield "漢" * asked.least("kanji", "kanji_limit")


def _lists(asked: Asked) -> Iterable[str]:
    word = _words(asked)[0]
    for count in asked.values("number_bullet_lists", "num_bullets"):
        yield from [f"・{word}" if asked.language == "ja" else f"* {word}"] * count
    for count in asked.values("number_numbered_lists", "num_items"):
        yield from (f"{number}. {word}" for number in range(1, count + 1))
    for given in asked.kinds.get("multiple_sections", ()):
        for number in range(1, given["num_sections"] + 1):
            sign = given["section_spliter"]
            yield f"第{number}{sign}" if asked.language == "ja" else f"{sign} {number}"


def _filler(asked: Asked) -> str:
    """Sentences, with as many words as asked for."""
    sentences = asked.least("number_sentences", "num_sentences")
    words = asked.least("number_words", "num_words")
    if asked.language == "ja":
        return _japanese_filler(asked, sentences)
    detected = "response_language" in asked or any(kind.endswith("_capital") for kind in asked.kinds)
    if detected and not words and not sentences and "number_words" not in asked:
        return " ".join(_words(asked) * 8)
    if not sentences and not words:
        short = "number_words" in asked or asked.most("letter_frequency")
        return " ".join(_words(asked)[:5] if short else _words(asked) * 2)
    sentences = max(sentences, 1)
    each = max(-(-words // sentences), 5)
    return " ".join(_sentence(_words(asked), each) for _ in range(sentences))


def _sentence(words: Sequence[str], length: int) -> str:
    chosen = list(islice(cycle(words), length))
    return " ".join([chosen[0].capitalize(), *chosen[1:]]) + "."


_JAPANESE: Final[Mapping[str, str]] = {
    "hiragana_only": "ひらがな",
    "katakana_only": "カタカナ",
    "no_hiragana": "漢字",
    "furigana": "かな",
}


def _japanese_filler(asked: Asked, sentences: int) -> str:
    if "response_language" in asked:
        return " ".join(_words(asked) * 2)
    word, ending = _words(asked)[0], "".join(asked.values("sentence_unified_end", "ending"))
    count = max(sentences, asked.least("nominal_ending", "count", None), 1)
    letters = asked.least("number_letters", "num_letters")
    text = word * max(1, -(-letters // (len(word) * count)))
    return "".join([f"{text}{ending}\n" if "no_period" in asked else f"{text}{ending}。"] * count).strip()
