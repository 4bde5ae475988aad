"""Every rule passes a text that follows it and fails one that does not, in both editions."""

from __future__ import annotations

from typing import Any

import pytest

from probatum.scoring.rules import Instruction, check_instructions, rule_ids

pytest.importorskip("langdetect", reason="needs the extra [ifeval]")
pytest.importorskip("punkt", reason="needs the extra [ifeval]")
pytest.importorskip("nltk", reason="needs the extra [ifeval]")

ENGLISH = (
    "the history of this old town is a long story and many people who live here know only a small part of it "
    "since the best books about it were lost in a great fire"
)
SPANISH = "la historia de esta ciudad es muy larga y muchas personas que viven aquí no la conocen porque los libros se perdieron en un gran incendio"
FRENCH = "la ville est très ancienne et les gens qui habitent ici ne connaissent pas son histoire parce que les livres ont disparu dans un grand incendie"
GERMAN = "Die Stadt ist sehr alt und die meisten Leute kennen ihre Geschichte nicht mehr."

Case = tuple[str, dict[str, Any], list[str], list[str]]
CASES: list[Case] = [
    (
        "keywords:existence",
        {"keywords": ["Art", "free time"]},
        ["In my free time I make art."],
        ["Art.", "Free time."],
    ),
    (
        "keywords:frequency",
        {"keyword": "art", "frequency": 2, "relation": "at least"},
        ["Art, art."],
        ["One art."],
    ),
    (
        "keywords:frequency",
        {"keyword": "art", "frequency": 2, "relation": "less than"},
        ["One art."],
        ["Art, art."],
    ),
    (
        "keywords:forbidden_words",
        {"forbidden_words": ["bad", "so so"]},
        ["A badge."],
        ["Bad!", "It is so so."],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "q", "let_frequency": 2, "let_relation": "at least"},
        ["Quite quick"],
        ["Quiet"],
    ),
    (
        "keywords:letter_frequency",
        {"letter": "E", "let_frequency": 1, "let_relation": "less than"},
        ["A man"],
        ["A hen"],
    ),
    ("language:response_language", {"language": "de"}, [GERMAN], [ENGLISH, SPANISH]),
    ("change_case:english_capital", {}, [ENGLISH.upper()], [ENGLISH, GERMAN, SPANISH.upper()]),
    ("change_case:english_lowercase", {}, [ENGLISH], [ENGLISH.capitalize(), SPANISH]),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "at least"},
        ["STOP it NOW."],
        ["Stop it NOW.", "Stop It Now"],
    ),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 1, "capital_relation": "less than"},
        ["Nothing Here"],
        ["NASA flew"],
    ),
    (
        "length_constraints:number_words",
        {"num_words": 3, "relation": "at least"},
        ["One, two three."],
        ["One; two!"],
    ),
    (
        "length_constraints:number_words",
        {"num_words": 3, "relation": "less than"},
        ["One; two!"],
        ["One two three"],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        ["It rains. We go."],
        ["Dr. Lee sleeps."],
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "less than"},
        ["Dr. Lee sleeps."],
        ["It rains. We go."],
    ),
    (
        "length_constraints:number_paragraphs",
        {"num_paragraphs": 2},
        ["One\n***\nTwo", "***\nOne\n***\nTwo\n***"],
        ["One", "One\n***\n***\nTwo"],
    ),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "beta"},
        ["alpha one\n\nBeta, two", "alpha\n\n'beta' two"],
        ["beta one\n\nalpha two", "alpha\n\nbeta\n\ngamma", "alpha beta", "alpha\n\nbetas"],
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        ["[name] lives at [home address]"],
        ["[name]", "name"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.S."},
        ["Bye.\nP.S. Call me.", "Bye.\n\np. s. Call"],
        ["Bye.", "PS call"],
    ),
    (
        "detectable_content:postscript",
        {"postscript_marker": "P.P.S"},
        ["Bye.\nP.P.S. Call me."],
        ["Bye.\nP.S. Call"],
    ),
    (
        "detectable_format:number_bullet_lists",
        {"num_bullets": 2},
        ["* one\n* two", "- one\n  - two"],
        ["* one", "1. one\n2. two"],
    ),
    ("detectable_format:constrained_response", {}, ["My answer is yes."], ["Yes.", "My answer is unknown."]),
    (
        "detectable_format:number_highlighted_sections",
        {"num_highlights": 2},
        ["*one* and *two*", "**one** **two**"],
        ["*one*", "none"],
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        ["Section 1\na\nSection 2\nb"],
        ["Section 1\na", "Section one\nSection two", "Section X\na\nSection X\nb"],
    ),
    (
        "detectable_format:json_format",
        {},
        ['{"a": [1, 2]}', '```json\n{"a": 1}\n```'],
        ["{'a': 1}", 'Here: {"a": 1}'],
    ),
    ("detectable_format:title", {}, ["<<A day>>\nText"], ["<A day>", "<<>>", "<<a\nb>>"]),
    (
        "combination:two_responses",
        {},
        ["One.\n******\nTwo."],
        ["One.", "One.\n******\nOne.", "A******B******C"],
    ),
    (
        "combination:repeat_prompt",
        {"prompt_to_repeat": "Write a poem."},
        ["Write a poem.\nRoses"],
        ["Roses", ""],
    ),
    (
        "startend:end_checker",
        {"end_phrase": "Any questions?"},
        ["Done. Any questions?", '"Any questions?"\n'],
        ["Any questions? No."],
    ),
    ("startend:quotation", {}, ['"All of it."'], ['"All" of it', "All of it", '"']),
    ("punctuation:no_comma", {}, ["One. Two."], ["One, two."]),
    ("es:change_case:spanish_capital", {}, [SPANISH.upper()], [SPANISH, ENGLISH.upper()]),
    ("es:change_case:spanish_lowercase", {}, [SPANISH], [SPANISH.upper(), ENGLISH]),
    ("es:punctuation:question_marks", {}, ["¿Qué hora es?"], ["Qué hora es?", "¿?"]),
    ("es:punctuation:exclamation_marks", {}, ["¡Qué bien!"], ["Qué bien!", "¡!"]),
    ("es:special_character:enie", {"let_frequency": 2}, ["El niño y la niña."], ["El niño", "niño niña año"]),
    (
        "es:special_character:dieresis",
        {"let_frequency": 1},
        ["El pingüino."],
        ["El pinguino", "pingüino cigüeña"],
    ),
    ("es:special_character:tildes", {"num_words": 2, "relation": "al menos"}, ["Está allí."], ["Esta allí."]),
    (
        "es:special_character:tildes",
        {"num_words": 1, "relation": "como máximo"},
        ["Esta allí."],
        ["Está allí."],
    ),
    (
        "es:length_constraints:number_words",
        {"num_words": 2, "relation": "como máximo"},
        ["Uno dos."],
        ["Uno dos tres."],
    ),
    (
        "es:length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "como máximo"},
        ["Llueve. Nos vamos."],
        ["Llueve. Vamos. Ya."],
    ),
    (
        "es:change_case:capital_word_frequency",
        {"capital_frequency": 1, "capital_relation": "como máximo"},
        ["La OTAN."],
        ["La OTAN y la ONU."],
    ),
    (
        "es:startend:end_checker",
        {"end_phrase": "Un saludo"},
        ["Hasta luego.\nUn saludo."],
        ["Un saludo y adiós."],
    ),
    (
        "es:length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 1, "first_word": "En mi opinión"},
        ["En mi opinión, sí.\n\nFin."],
        ["Opino que sí.\n\nFin."],
    ),
    (
        "es:detectable_content:number_placeholders",
        {"num_placeholders": 1, "relation": "al menos"},
        ["[dirección]"],
        ["dirección"],
    ),
    ("es:detectable_content:postscript", {"postscript_marker": "P.D."}, ["Adiós.\nP.D. Llama."], ["Adiós."]),
    ("es:detectable_format:constrained_response", {}, ["Quizás."], ["Claro."]),
    ("es:detectable_format:title", {}, ["<<Un día>>"], ["Un día"]),
    ("es:startend:quotation", {}, ['"Todo."'], ["Todo."]),
    ("fr:change_case:french_capital", {}, [FRENCH.upper()], [FRENCH, GERMAN.upper()]),
    ("fr:change_case:french_lowercase", {}, [FRENCH], [FRENCH.upper(), SPANISH]),
    (
        "fr:detectable_content:informal_address",
        {},
        ["Tu dois venir avec ton chien."],
        ["Vous devez venir.", "Il vient."],
    ),
    ("fr:detectable_content:no_digits", {}, ["Deux chats."], ["2 chats.", "٣ chats"]),
    (
        "fr:special_character:accents",
        {"word_to_accentuate": {"ecole": "école"}},
        ["L'école est loin."],
        ["L'ecole est loin."],
    ),
    (
        "fr:special_character:ethel_or_cedilla",
        {"forbidden_char": "ç"},
        ["Un garcon."],
        ["Un garçon.", "Ça va"],
    ),
    ("fr:special_character:no_accents", {}, ["Un garcon mange."], ["Déjà", "À table"]),
    (
        "fr:length_constraints:number_words",
        {"num_words": 2, "relation": "moins de"},
        ["Oui."],
        ["Oui, bien sûr."],
    ),
    (
        "fr:length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "au moins"},
        ["Il pleut. Je pars."],
        ["Il pleut."],
    ),
    ("fr:detectable_format:title", {}, ["##hymne à la joie##"], ["<<hymne>>", "## hymne"]),
    ("fr:detectable_format:constrained_response", {}, ["Peut-être."], ["Bien sûr."]),
    ("fr:startend:quotation", {}, ['"Tout."', "« Tout. »"], ["Tout."]),
    (
        "fr:detectable_content:postscript",
        {"postscript_marker": "p.-s."},
        ["Adieu.\nP.-S. Appelle."],
        ["Adieu."],
    ),
    ("ja:language:response_language", {"language": "fr"}, [FRENCH], ["日本語で書きます。"]),
    (
        "ja:length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "以上"},
        ["雨です。行きます。"],
        ["雨です。"],
    ),
    (
        "ja:length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "未満"},
        ["彼は「雨だ。」と言った。"],
        ["雨です。行きます。"],
    ),
    (
        "ja:length_constraints:number_letters",
        {"num_letters": 5, "relation": "以上"},
        ["雨が降ります"],
        ["雨です"],
    ),
    ("ja:length_constraints:number_paragraphs", {"num_paragraphs": 2}, ["雨\n***\n雪"], ["雨"]),
    (
        "ja:length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "雪"},
        ["雨です。\n\n雪です。", "雨\n\n「雪」です"],
        ["雪です。\n\n雨です。"],
    ),
    ("ja:detectable_content:number_placeholders", {"num_placeholders": 1}, ["[名前]さん"], ["名前さん"]),
    (
        "ja:detectable_content:postscript",
        {"postscript_marker": "追伸"},
        ["では。\n追伸 電話して。"],
        ["では。"],
    ),
    ("ja:detectable_format:number_bullet_lists", {"num_bullets": 2}, ["・雨\n・雪"], ["・雨", "雨\n雪"]),
    (
        "ja:detectable_format:number_numbered_lists",
        {"num_items": 2},
        ["1. 雨\n2. 雪"],
        ["1. 雨", "・雨\n・雪"],
    ),
    ("ja:detectable_format:constrained_response", {}, ["はい、そうです。"], ["はい"]),
    (
        "ja:detectable_format:number_highlighted_sections",
        {"num_highlights": 1},
        ["《雨》です"],
        ["*雨*です", "《》"],
    ),
    (
        "ja:detectable_format:multiple_sections",
        {"section_spliter": "章", "num_sections": 2},
        ["第1章\n雨\n第２章\n雪"],
        ["第1章\n雨"],
    ),
    ("ja:detectable_format:json_format", {}, ['{"雨": 1}'], ["雨"]),
    ("ja:detectable_format:title", {}, ["『雨』"], ["「雨」", "『』"]),
    (
        "ja:keywords:letter_frequency",
        {"letter": "か", "let_frequency": 2, "let_relation": "以上"},
        ["かカ"],
        ["か"],
    ),
    ("ja:letters:furigana", {}, ["雨（あめ）です"], ["雨です", "雨（アメ）です"]),
    ("ja:letters:kanji", {"kanji_limit": 2, "relation": "未満"}, ["雨です"], ["雨と雪です"]),
    ("ja:letters:no_hiragana", {}, ["雨、雪"], ["雨と雪"]),
    ("ja:letters:hiragana_only", {}, ["あめです。"], ["雨です。", "アメです", "rainです"]),
    ("ja:letters:no_katakana", {}, ["雨です"], ["アメです", "ｱﾒです"]),
    ("ja:letters:katakana_only", {}, ["アメデス。"], ["雨デス", "アメです"]),
    ("ja:letters:kansuuji", {}, ["三匹"], ["3匹", "３匹"]),
    ("ja:punctuation:no_period", {}, ["雨です"], ["雨です。"]),
    ("ja:punctuation:no_comma", {}, ["雨です。"], ["雨、雪"]),
    ("ja:startend:quotation", {}, ["「雨です。」"], ["雨です。"]),
    (
        "ja:startend:end_checker",
        {"end_phrase": "質問はありますか。"},
        ["以上です。質問はありますか。"],
        ["質問はありますか。はい。"],
    ),
    (
        "ja:startend:sentence_unified_end",
        {"ending": "です"},
        ["雨です。「雪だ。」雪です。"],
        ["雨です。雪だ。"],
    ),
    ("ja:combination:repeat_prompt", {"prompt_to_repeat": "詩を書いて。"}, ["詩を書いて。\n雨"], ["雨"]),
    ("ja:combination:two_responses", {}, ["雨******雪"], ["雨"]),
]
JAPANESE_WORDS: list[Case] = [
    ("ja:keywords:existence", {"keywords": ["天気"]}, ["天気がいい"], ["雨です"]),
    (
        "ja:keywords:frequency",
        {"keyword": "天気", "frequency": 2, "relation": "以上"},
        ["天気と天気"],
        ["天気です"],
    ),
    ("ja:keywords:forbidden_words", {"forbidden_words": ["天気"]}, ["雨です"], ["天気です"]),
    ("ja:detectable_format:nominal_ending", {"count": 1}, ["今日は雨。"], ["今日は雨です。"]),
]
SHARED = {
    "keywords:existence",
    "keywords:frequency",
    "keywords:forbidden_words",
    "keywords:letter_frequency",
    "language:response_language",
    "length_constraints:number_paragraphs",
    "length_constraints:nth_paragraph_first_word",
    "detectable_content:number_placeholders",
    "detectable_format:number_bullet_lists",
    "detectable_format:number_highlighted_sections",
    "detectable_format:multiple_sections",
    "detectable_format:json_format",
    "detectable_content:postscript",
    "combination:repeat_prompt",
    "combination:two_responses",
    "punctuation:no_comma",
    "startend:end_checker",
    "change_case:capital_word_frequency",
}
"""Rules that Spanish and French take over from English as they are, words of relations aside."""


def strict(identity: str, arguments: dict[str, Any], text: str, edition: Any) -> bool:
    return check_instructions(text, [Instruction(identity, arguments)], edition=edition).strict


@pytest.mark.parametrize("edition", ["probatum", "official"])
@pytest.mark.parametrize(("identity", "arguments", "good", "bad"), CASES, ids=[case[0] for case in CASES])
def test_a_rule_passes_what_follows_it_and_fails_what_does_not(
    identity: str, arguments: dict[str, Any], good: list[str], bad: list[str], edition: str
) -> None:
    if identity == "change_case:english_capital" and edition == "official":
        good = []  # the published detector leaves words in capitals out; see the faults below
    assert {text: strict(identity, arguments, text, edition) for text in good} == dict.fromkeys(good, True)
    assert {text: strict(identity, arguments, text, edition) for text in bad} == dict.fromkeys(bad, False)


@pytest.mark.parametrize("edition", ["probatum", "official"])
@pytest.mark.parametrize(("identity", "arguments", "good", "bad"), JAPANESE_WORDS)
def test_japanese_words(
    identity: str, arguments: dict[str, Any], good: list[str], bad: list[str], edition: str
) -> None:
    pytest.importorskip("janome", reason="needs the extra [ifeval-ja]")
    assert all(strict(identity, arguments, text, edition) for text in good)
    assert not any(strict(identity, arguments, text, edition) for text in bad)


def test_every_rule_has_a_good_and_a_bad_text() -> None:
    tested = {identity for identity, _, good, bad in (*CASES, *JAPANESE_WORDS) if good and bad}
    taken_over = {f"{language}:{name}" for language in ("es", "fr") for name in SHARED}
    assert set(rule_ids()) - tested - taken_over == set()
    assert {name for name in SHARED if name not in tested} == set()


def test_there_are_25_rules_in_english_and_as_many_as_their_data_sets_use_elsewhere() -> None:
    counts = {
        language: sum(one.startswith(f"{language}:") for one in rule_ids()) for language in ("es", "fr", "ja")
    }
    assert sum(identity.count(":") == 1 for identity in rule_ids()) == 25
    assert counts == {"es": 30, "fr": 30, "ja": 33}


FAULTS: list[tuple[str, dict[str, Any], str, bool]] = [
    ("keywords:existence", {"keywords": ["art"]}, "Start.", True),
    ("keywords:existence", {"keywords": ["a.c"]}, "abc", True),
    (
        "keywords:frequency",
        {"keyword": "art", "frequency": 2, "relation": "at least"},
        "Start each part with art.",
        True,
    ),
    ("keywords:forbidden_words", {"forbidden_words": ["C#"]}, "I like C# a lot.", True),
    (
        "change_case:english_capital",
        {},
        "ROSES, TULIPS, DAISIES.",
        False,
    ),
    ("change_case:english_lowercase", {}, "inscriptions", False),
    (
        "change_case:capital_word_frequency",
        {"capital_frequency": 2, "capital_relation": "less than"},
        "I'M here.",
        False,
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 2, "relation": "at least"},
        "Read parts A through L. Then stop.",
        False,
    ),
    (
        "length_constraints:number_sentences",
        {"num_sentences": 3, "relation": "at least"},
        "- We eat bread at home\n- We drink tea at work\n- We sleep very well",
        False,
    ),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 1}, "This is ***very*** good.", False),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "beta"},
        "\n\nalpha one\n\nbeta two",
        False,
    ),
    (
        "detectable_content:number_placeholders",
        {"num_placeholders": 2},
        "- [ ] milk [1], see [here](http://x.org)",
        True,
    ),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "The U.S. and Jap.s. trade", True),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "Bye.\nP.S.", True),
    ("detectable_format:number_bullet_lists", {"num_bullets": 1}, "* one\n---\n*in italics*", False),
    ("detectable_format:constrained_response", {}, "My answer is yes. My answer is no.", True),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 1}, "* one * two", True),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "SECTION", "num_sections": 2},
        "SECTION I\na\nSECTION II\nb",
        False,
    ),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1\nas told in section of Section 1",
        True,
    ),
    ("detectable_format:json_format", {}, '{"a": NaN}', True),
    ("combination:two_responses", {}, "Tea.\n******\n*tea.*", True),
    ("startend:end_checker", {"end_phrase": "Peace"}, "No more Peace.", False),
    ("startend:end_checker", {"end_phrase": "art"}, "Start", True),
    ("startend:quotation", {}, "“All of it.”", False),
    ("punctuation:no_comma", {}, "一，二", True),
    ("language:response_language", {"language": "zh"}, "今天天气很好我们去公园散步然后回家吃饭", False),
    (
        "fr:detectable_content:informal_address",
        {},
        "Tu sais, vous devez me donner votre nom et vos clés.",
        True,
    ),
    ("fr:special_character:accents", {"word_to_accentuate": {"ecole": "école"}}, "Je pars.", True),
    ("fr:special_character:no_accents", {}, "de\u0301ja", True),
    ("ja:detectable_format:number_bullet_lists", {"num_bullets": 1}, "- 雨", False),
    (
        "ja:detectable_content:postscript",
        {"postscript_marker": "P.P.S."},
        "では。\nP. P. S. 電話して。",
        False,
    ),
    (
        "ja:detectable_format:multiple_sections",
        {"section_spliter": "章", "num_sections": 1},
        "第一章\n雨",
        False,
    ),
    ("ja:letters:furigana", {}, "人々（ひとびと）です", False),
    ("ja:letters:hiragana_only", {}, "123", True),
    ("ja:startend:sentence_unified_end", {"ending": "です"}, "雨です。\n雪です。\n", False),
    ("ja:length_constraints:number_letters", {"num_letters": 3, "relation": "以上"}, "雨\n\n", True),
]
"""Where the editions differ: rule, arguments, text, verdict of the published checker."""


@pytest.mark.parametrize(
    ("identity", "arguments", "text", "published"), FAULTS, ids=[f"{f[0]}-{f[2][:20]!r}" for f in FAULTS]
)
def test_a_fault_of_the_published_checker_is_kept_in_one_edition_and_mended_in_the_other(
    identity: str, arguments: dict[str, Any], text: str, published: bool
) -> None:
    assert strict(identity, arguments, text, "official") is published
    assert strict(identity, arguments, text, "probatum") is not published
